// The code segment: external functions, code blocks, and statements outside of groups.
#include "compiler/hbir/syntax/parser.h"

namespace strata::hbir {

STRATA_DIAGNOSTIC(externType, Error, "hbir-extern-type",
                  "an external function takes and gives single values; '{0}' is none");

/// name(.name | [ … ])* {
bool Parser::startsBlock() const {
  if (token().kind != TokenKind::Word)
    return false;
  size_t i = at_ + 1, depth = 0;
  for (; i < tokens_.size(); ++i) {
    const Token& each = tokens_[i];
    if (each.kind == TokenKind::Text || each.text == ";" || each.text == "}")
      return false;
    if (each.text == "[") {
      ++depth;
    } else if (each.text == "]") {
      if (depth-- == 0)
        return false;
    } else if (depth == 0) {
      if (each.text == "{")
        return true;
      if (each.text != "." && !(each.kind == TokenKind::Word && tokens_[i - 1].text == "."))
        return false;
    }
  }
  return false;
}

void Parser::codeItem() {
  if (is("extern"))
    return externFunction();
  if (startsBlock())
    return block();
  std::vector<Stmt*> statements;
  statement(statements);
  for (Stmt* each : statements)
    tree_.code.push_back({each, nullptr, nullptr});
}

void Parser::block() {
  BlockSyntax* result = tree_.newBlock();
  result->path = path();
  bool config = result->path.parts[0].name.text == "config";
  notAForm(result->path.where,
           config ? "a code block whose path begins with 'config'"
                  : "a code block whose path does not begin with 'config'",
           config == (tree_.form == Form::A), config ? Form::A : Form::B);
  result->body = braces();
  tree_.code.push_back({nullptr, result, nullptr});
  accept(";");
}

void Parser::externFunction() {
  take();
  ExternSyntax* result = tree_.newExtern();
  result->name = expectName("the name of the external function");
  auto scalar = [&] {
    ScalarType found = type("a type");
    if (is("*") || is("[")) {
      diagnostics_.report(externType, token().location, is("*") ? "a pointer" : "an array");
      throw SyntaxError();
    }
    return found;
  };
  const size_t open = at_;
  expect("(", "the name");
  while (!is(")")) {
    ParameterSyntax parameter;
    parameter.name = expectName("the name of a parameter");
    expect(":", "the parameter");
    parameter.type = scalar();
    result->parameters.push_back(parameter);
    if (!accept(","))
      break;
  }
  expectClosing(")", open, "the parameters");
  if (accept(":") && !accept("void"))
    result->result = scalar();
  expect(";", "the external function");
  tree_.code.push_back({nullptr, nullptr, result});
}

} // namespace strata::hbir
