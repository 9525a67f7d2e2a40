// The top of a file: types, inline functions, tasks; and the parser's handling of tokens and errors.
#include "compiler/sequoia/syntax/parser.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(syntaxError, Error, "sequoia-syntax", "expected {0}, found {1}");
STRATA_DIAGNOSTIC(nestedTooDeep, Error, "sequoia-nesting", "nested more than {0} levels deep");
STRATA_DIAGNOSTIC(forbiddenKeyword, Error, "sequoia-unsupported-keyword", "Sequoia does not have '{0}'");
STRATA_DIAGNOSTIC(forbiddenPointer, Error, "sequoia-pointer", "Sequoia has no pointers");
STRATA_DIAGNOSTIC(plainFunction, Error, "sequoia-plain-function", "'{0}' is neither a task nor an inline function");
STRATA_DIAGNOSTIC(globalVariable, Error, "sequoia-global-variable", "'{0}' is declared outside of a task");
STRATA_DIAGNOSTIC(badTypeSpecifier, Error, "sequoia-type-specifier", "'{0}' does not name a type");
STRATA_DIAGNOSTIC(misspeltType, Error, "sequoia-misspelt-type", "'{0}' stands where a type is needed, and names none");

namespace {} // namespace

Parser::Parser(const std::vector<Token>& tokens, Program& program, DiagnosticEngine& diagnostics)
    : ExpressionReader(tokens, diagnostics, syntaxError), program_(program) {}

void Parser::refuseNesting() {
  diagnostics_.report(nestedTooDeep, token().location, deepestNesting);
  at_ = tokens_.size() - 1; // what follows would only repeat this
  throw SyntaxError();
}

const Token& Parser::expectName(std::string_view what) {
  if (!isName()) {
    refuseKeyword();
    DiagnosticBuilder report = reportWanted(what);
    // A keyword in the place of a name, and not one that begins something else.
    const bool standsAsName = is(";", 1) || is(",", 1) || is(")", 1) || is("=", 1) || is("[", 1) || is("(", 1);
    if (token().kind == TokenKind::Keyword && standsAsName)
      report.help("'" + std::string(token().text) + "' is a keyword; take another name");
    throw SyntaxError();
  }
  return take();
}

void Parser::failType(std::string_view wanted, const std::vector<std::string>& words) {
  refuseKeyword();
  if (!isName())
    fail(wanted);
  std::vector<std::string> names = {"char",   "short",    "int",   "long",   "float", "double",
                                    "signed", "unsigned", "const", "struct", "union", "enum"};
  names.insert(names.end(), words.begin(), words.end());
  for (const auto& scope : typedefs_)
    names.insert(names.end(), scope.begin(), scope.end());
  if (at_ == reportedAt_)
    throw SyntaxError();
  reportedAt_ = at_;
  DiagnosticBuilder report = diagnostics_.report(misspeltType, token().location, token().text);
  static constexpr std::pair<std::string_view, const char*> ofC[] = {{"size_t", "long"},
                                                                     {"ssize_t", "long"},
                                                                     {"ptrdiff_t", "long"},
                                                                     {"bool", "int"},
                                                                     {"_Bool", "int"},
                                                                     {"int8_t", "char"},
                                                                     {"uint8_t", "unsigned char"},
                                                                     {"int16_t", "short"},
                                                                     {"int32_t", "int"},
                                                                     {"int64_t", "long"},
                                                                     {"uint16_t", "unsigned short"},
                                                                     {"uint32_t", "unsigned int"},
                                                                     {"uint64_t", "unsigned long"}};
  for (auto [type, instead] : ofC)
    if (token().text == type) {
      report.help("Sequoia has no type " + std::string(type) + ": take " + instead + ", or make one with typedef");
      throw SyntaxError();
    }
  if (!nearestName(token().text, names).empty())
    proposeName(report, token().text, names);
  else if (token(1).text == "=")
    report.help("the type stands before the name: int " + std::string(token().text));
  throw SyntaxError();
}

void Parser::refuseKeyword() {
  static constexpr std::pair<std::string_view, const char*> instead[] = {
      {"auto", "leave the word out: a variable of a task lives as long as the task anyway"},
      {"extern", "tasks share no variables: pass it as an argument; what other languages compute is a task<ext>"},
      {"goto", "use loops with break and continue, or an inline function with return"},
      {"register", "leave the word out: the compiler keeps variables in registers by itself"},
      {"static",
       "a task keeps nothing from call to call: pass it as an inout argument; a constant is a const, an enum or "
       "a #define"},
      {"volatile", "leave the word out: nobody else writes the variables of a task while it runs"}};
  for (auto [word, help] : instead) {
    if (is(word)) {
      diagnostics_.report(forbiddenKeyword, token().location, word).help(help);
      throw SyntaxError();
    }
  }
}

void Parser::refusePointer() {
  if (!is("*"))
    return;
  diagnostics_.report(forbiddenPointer, token().location)
      .help("pass large data as an array with a size for each dimension, float A[N], and a result as an out argument");
  throw SyntaxError();
}

void Parser::run() {
  while (token().kind != TokenKind::End) {
    size_t start = at_;
    try {
      topLevel();
    } catch (const SyntaxError&) {
      nesting_ = 0;
      typedefs_.resize(1);
      hidden_.resize(1);
      recover(start);
      if (at_ == start || is("}"))
        take();
    }
  }
}

void Parser::topLevel() {
  item_ = at_;
  if (accept(";"))
    return;
  refuseKeyword();
  const Location begin = token().location;
  const bool isVoid = accept("void");
  if (is("task")) {
    if (!isVoid)
      reportWanted("'void' before 'task'").help("a task begins with 'void task'");
    take();
    return taskOrPrototype();
  }
  if (isVoid && isName() && !nearestName(token().text, {"task"}).empty() && !is("(", 1))
    failWord("'task' after 'void'", {"task"});
  if (isVoid)
    --at_;
  if (is("inline"))
    return inlineFunction();
  bool isTypedef = accept("typedef");
  if (!startsType())
    failType("a task, an inline function, or a type", {"void", "inline", "typedef"});
  TopLevel item;
  item.kind = isTypedef ? TopLevel::Kind::Typedef : TopLevel::Kind::Type;
  item.type = typeSpecifier();
  if (isTypedef) {
    item.typedefs = typedefNames(item.type);
  } else if (item.type->isDefinition && !is(";") && (is("void") || is("task") || mayFollowMissing(false))) {
    missingAfterDefinition(*item.type);
  } else if (!accept(";")) {
    refusePointer();
    if (is("task")) {
      diagnostics_.report(syntaxError, begin, "'void' before 'task'", "'" + std::string(tokens_[item_].text) + "'")
          .help("a task returns nothing: give it an out argument for its result");
      take();
      return taskOrPrototype();
    }
    const Token& name = expectName("a name");
    if (is("(")) {
      diagnostics_.report(plainFunction, name.location, name.text)
          .help("write 'void task " + std::string(name.text) + "(…)', or 'inline' for a function of scalars");
    } else {
      diagnostics_.report(globalVariable, name.location, name.text)
          .note("a task sees its arguments and its own variables only")
          .help("use an enum or #define for a constant, or pass it as an argument");
    }
    throw SyntaxError();
  }
  program_.topLevel.push_back(std::move(item));
}

void Parser::missingAfterDefinition(const TypeSyntax& type) {
  const char* word = type.form == TypeSyntax::Form::Enum ? "enum" : type.scalar == TypeKind::Union ? "union" : "struct";
  const Location& brace = tokens_[at_ - 1].location;
  if (brace.begin == brace.end)
    return; // the brace is missing too, which has been said
  diagnostics_.report(syntaxError, {brace.buffer, brace.end, brace.end},
                      std::string("';' after ") + (type.name.empty() ? "this " : "") + word +
                          (type.name.empty() ? "" : " ") + std::string(type.name),
                      describe(token()));
  reportedAt_ = at_;
}

Declarator Parser::declarator(TypeSyntax* type, std::string_view what) {
  refusePointer();
  const Token& name = expectName(what);
  Declarator result;
  result.name = name.text;
  result.location = name.location;
  result.type = type;
  result.extents = arrayExtents();
  return result;
}

std::vector<Declarator> Parser::typedefNames(TypeSyntax* type) {
  std::vector<Declarator> names;
  do {
    names.push_back(declarator(type, "a name for the type"));
    typedefs_.back().insert(names.back().name);
  } while (accept(","));
  expect(";", "the typedef");
  return names;
}

void Parser::taskOrPrototype() {
  TaskVariant* variant = program_.newVariant();
  if (accept("<")) {
    if (token().text == "inner")
      variant->kind = TaskKind::Inner;
    else if (token().text == "leaf")
      variant->kind = TaskKind::Leaf;
    else if (token().text == "ext")
      variant->kind = TaskKind::External;
    else
      failWord("inner, leaf or ext", {"inner", "leaf", "ext"});
    take();
    expect(">", "the type of the task");
  }
  const Token& taskName = expectName("the task's name");
  variant->taskName = taskName.text;
  variant->location = taskName.location;
  if (variant->kind != TaskKind::Prototype) {
    expect("::", "the task's name (a task with a type is a variant, and needs a name of its own)");
    variant->name = expectName("the variant's name").text;
    variant->location = from(taskName.location);
  }
  const size_t open = at_;
  expect("(", "the task's name");
  if (is("void") && is(")", 1))
    take();
  if (!is(")")) {
    do
      variant->parameters.push_back(parameter(true));
    while (accept(","));
  }
  expectClosing(")", open, "the parameters");
  if (variant->kind == TaskKind::Inner || variant->kind == TaskKind::Leaf) {
    if (!is("{"))
      fail("the body of the task");
    variant->body = compound();
  } else {
    expect(";", variant->kind == TaskKind::External ? "an external task, which has no body" : "the prototype");
  }
  TopLevel item;
  item.kind = TopLevel::Kind::Task;
  item.task = variant;
  program_.topLevel.push_back(std::move(item));
}

void Parser::inlineFunction() {
  take();
  refuseKeyword();
  Function& function = program_.functions.emplace_back();
  if (accept("void")) {
    function.resultSyntax = nullptr;
  } else {
    if (!startsType())
      failType("the type of the result");
    function.resultSyntax = typeSpecifier();
    refusePointer();
  }
  const Token& name = expectName("the function's name");
  function.name = name.text;
  function.location = name.location;
  const size_t open = at_;
  expect("(", "the function's name");
  if (is("void") && is(")", 1))
    take();
  if (!is(")")) {
    do
      function.parameters.push_back(parameter(false));
    while (accept(","));
  }
  expectClosing(")", open, "the parameters");
  if (!is("{"))
    fail("the body of the function");
  TopLevel item;
  item.kind = TopLevel::Kind::Function;
  item.function = &function;
  function.body = compound();
  program_.topLevel.push_back(std::move(item));
}

Variable* Parser::parameter(bool isTask) {
  Variable* variable = program_.newVariable();
  variable->kind = isTask ? VariableKind::Parameter : VariableKind::FunctionParameter;
  if (isTask) {
    if (accept("in"))
      variable->direction = Direction::In;
    else if (accept("out"))
      variable->direction = Direction::Out;
    else if (accept("inout"))
      variable->direction = Direction::InOut;
    else
      failWord("in, out or inout before the type of the argument", {"in", "out", "inout"});
  }
  refuseKeyword();
  if (!startsType())
    failType("the type of the argument");
  variable->typeSyntax = typeSpecifier();
  variable->isConst = variable->typeSyntax->isConst;
  refusePointer();
  const Token& name = expectName("the argument's name");
  variable->name = name.text;
  variable->location = name.location;
  for (Expr* extent : arrayExtents())
    variable->extents.push_back({extent, {}});
  return variable;
}

std::vector<Expr*> Parser::arrayExtents() {
  std::vector<Expr*> extents;
  while (accept("[")) {
    const size_t open = at_ - 1;
    if (is("]")) {
      reportWanted("the size of the dimension").help("name it: with x[N], N is the number of elements in the body");
      throw SyntaxError();
    }
    extents.push_back(conditional());
    expectClosing("]", open, "the size of the dimension");
  }
  return extents;
}

bool Parser::startsType(size_t ahead) const {
  for (std::string_view word : {"char", "const", "double", "enum", "float", "int", "long", "short", "signed", "struct",
                                "union", "unsigned", "void"})
    if (is(word, ahead))
      return true;
  if (!isName(ahead))
    return false;
  for (size_t scope = typedefs_.size(); scope-- > 0;) {
    if (hidden_[scope].contains(token(ahead).text))
      return false;
    if (typedefs_[scope].contains(token(ahead).text))
      return true;
  }
  return false;
}

TypeSyntax* Parser::typeSpecifier() {
  Location begin = token().location;
  bool isConst = false;
  int words = 0, longs = 0, shorts = 0, isSigned = 0, isUnsigned = 0, chars = 0, ints = 0, floats = 0, doubles = 0,
      voids = 0;
  TypeSyntax* other = nullptr;
  for (;;) {
    refuseKeyword();
    if (accept("const")) {
      isConst = true;
      continue;
    }
    static constexpr std::string_view names[] = {"long", "short", "signed", "unsigned", "char",
                                                 "int",  "float", "double", "void"};
    int* counts[] = {&longs, &shorts, &isSigned, &isUnsigned, &chars, &ints, &floats, &doubles, &voids};
    bool found = false;
    for (size_t i = 0; i < std::size(names) && !other && !found; ++i) {
      if (accept(names[i])) {
        ++*counts[i];
        ++words;
        found = true;
      }
    }
    if (found)
      continue;
    if (words == 0 && !other && (is("struct") || is("union"))) {
      other = recordSpecifier();
    } else if (words == 0 && !other && is("enum")) {
      other = enumSpecifier();
    } else if (words == 0 && !other && isName() && startsType()) {
      other = program_.newTypeSyntax();
      other->form = TypeSyntax::Form::Named;
      other->name = take().text;
      other->location = from(begin);
    } else {
      break;
    }
  }
  if (other) {
    other->isConst = isConst;
    return other;
  }
  TypeSyntax* type = program_.newTypeSyntax();
  type->location = from(begin);
  type->isConst = isConst;
  int kinds = chars + floats + doubles + voids + (shorts > 0) + (longs > 0 && !doubles);
  bool bad = words == 0 || kinds > 1 || longs > 2 || shorts > 1 || isSigned + isUnsigned > 1 || ints > 1 ||
             ((floats || doubles || voids) && (isSigned || isUnsigned || ints || longs)) || (chars && ints);
  if (bad) {
    bool longDouble = doubles == 1 && longs == 1;
    diagnostics_.report(badTypeSpecifier, type->location, longDouble ? "long double" : "this combination of words");
    throw SyntaxError();
  }
  if (voids)
    type->scalar = TypeKind::Void;
  else if (floats)
    type->scalar = TypeKind::Float;
  else if (doubles)
    type->scalar = TypeKind::Double;
  else if (chars)
    type->scalar = isUnsigned ? TypeKind::UnsignedChar : isSigned ? TypeKind::SignedChar : TypeKind::Char;
  else if (shorts)
    type->scalar = isUnsigned ? TypeKind::UnsignedShort : TypeKind::Short;
  else if (longs == 2)
    type->scalar = isUnsigned ? TypeKind::UnsignedLongLong : TypeKind::LongLong;
  else if (longs == 1)
    type->scalar = isUnsigned ? TypeKind::UnsignedLong : TypeKind::Long;
  else
    type->scalar = isUnsigned ? TypeKind::UnsignedInt : TypeKind::Int;
  return type;
}

TypeSyntax* Parser::recordSpecifier() {
  Nesting nesting(*this);
  TypeSyntax* type = program_.newTypeSyntax();
  type->form = TypeSyntax::Form::Record;
  type->location = token().location;
  type->scalar = take().text == "union" ? TypeKind::Union : TypeKind::Struct;
  if (isName())
    type->name = take().text;
  else if (!is("{"))
    fail("a name or '{'");
  type->location = from(type->location);
  if (!accept("{"))
    return type;
  type->isDefinition = true;
  while (!is("}")) {
    const size_t start = at_;
    try {
      members(*type);
    } catch (const SyntaxError&) {
      if (token().kind != TokenKind::End && !is("void"))
        recover(start); // what follows are members still
      if (token().kind == TokenKind::End || is("void"))
        throw; // unless the end of them is missing: no member is void
    }
  }
  take();
  return type;
}

void Parser::members(TypeSyntax& type) {
  item_ = at_;
  refuseKeyword();
  if (!startsType())
    failType("a member or '}'");
  TypeSyntax* memberType = typeSpecifier();
  do {
    type.members.push_back(declarator(memberType, "the member's name"));
  } while (accept(","));
  expect(";", "the member");
}

TypeSyntax* Parser::enumSpecifier() {
  TypeSyntax* type = program_.newTypeSyntax();
  type->form = TypeSyntax::Form::Enum;
  type->location = take().location;
  if (isName())
    type->name = take().text;
  else if (!is("{"))
    fail("a name or '{'");
  type->location = from(type->location);
  if (!accept("{"))
    return type;
  const size_t open = at_ - 1;
  type->isDefinition = true;
  while (!is("}")) {
    const Token& name = expectName("an enumerator");
    Declarator member;
    member.name = name.text;
    member.location = name.location;
    if (accept("="))
      member.value = conditional();
    type->members.push_back(std::move(member));
    if (!accept(","))
      break;
  }
  expectClosing("}", open, "the enumerators");
  return type;
}

void parse(const std::vector<Token>& tokens, Program& program, DiagnosticEngine& diagnostics) {
  std::vector<Token> repaired = tokens;
  // Behind a comment that is not closed every brace is missing.
  if (tokens.size() > 1 && tokens[tokens.size() - 2].kind != TokenKind::Wrong) {
    const std::string_view last = tokens[tokens.size() - 2].text;
    const char* begin = tokens[0].text.data();
    repairBraces(std::string_view(begin, static_cast<size_t>(last.data() + last.size() - begin)), repaired, diagnostics,
                 [](std::string_view text, const Location& last) {
                   Token brace;
                   brace.kind = TokenKind::Punctuator;
                   brace.code = spelling(text);
                   brace.text = text;
                   brace.location = {last.buffer, last.end, last.end};
                   return brace;
                 });
  }
  Parser(repaired, program, diagnostics).run();
}

} // namespace strata::sequoia
