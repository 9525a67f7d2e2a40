// printf and print: formats against their arguments.
#include "compiler/cfamily/syntax/literal.h"
#include "compiler/hbir/check/checker.h"

#include <cctype>

namespace strata::hbir {

STRATA_DIAGNOSTIC(badFormat, Error, "hbir-print-format", "'{0}' in the format: {1}");
STRATA_DIAGNOSTIC(argumentType, Error, "hbir-print-type", "'{0}' prints {1}, and this is {2}");
STRATA_DIAGNOSTIC(valueCount, Error, "hbir-print-count", "the format prints {0} values, and there are {1}");
STRATA_DIAGNOSTIC(badEscape, Error, "hbir-print-escape", "unknown escape '\\{0}' in the format");
STRATA_DIAGNOSTIC(zeroInFormat, Error, "hbir-print-zero", "a format has no character 0");

namespace {

const char* withArticle(ScalarType type) {
  return type == ScalarType::Int ? "an int" : type == ScalarType::Float ? "a float" : "a bool";
}

} // namespace

StatementPtr Checker::print(const Stmt& syntax) {
  auto result = std::make_unique<Statement>();
  result->kind = StatementKind::Print;
  result->where = syntax.where;
  bool ok = true;
  for (const Expr* each : syntax.arguments) {
    ExpressionPtr made = value(*each);
    ok &= made != nullptr;
    result->arguments.push_back({std::move(made), ""});
  }
  if (!ok)
    return nullptr;
  if (syntax.format) {
    format(syntax, *result);
    return result;
  }
  // print(a, b): the values on a line of their own.
  for (PrintItem& item : result->arguments) {
    item.conversion = item.value->type == ScalarType::Float ? "%g" : "%d";
    result->text.emplace_back(&item == &result->arguments[0] ? "" : " ");
  }
  result->text.emplace_back("\n");
  return result;
}

void Checker::format(const Stmt& syntax, Statement& result) {
  std::string_view text = syntax.format->text;
  auto at = [&](size_t begin, size_t end) {
    // The token's location has the quotes, its text has not.
    const Location& whole = syntax.format->where;
    return Location{whole.buffer, whole.begin + 1 + static_cast<uint32_t>(begin),
                    whole.begin + 1 + static_cast<uint32_t>(end)};
  };
  std::string piece;
  size_t used = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\\') {
      size_t begin = i++;
      std::optional<char> value = cfamily::readEscape(text, i);
      if (!value) {
        diagnostics_.report(badEscape, at(begin, std::min(begin + 2, text.size())), text.substr(begin + 1, 1));
        return;
      }
      if (*value == '\0') {
        diagnostics_.report(zeroInFormat, at(begin, i)).help("print it with %c");
        return;
      }
      piece += *value;
      continue;
    }
    if (text[i] != '%') {
      piece += text[i++];
      continue;
    }
    if (text.substr(i, 2) == "%%") {
      piece += '%';
      i += 2;
      continue;
    }
    size_t begin = i++;
    std::string conversion = "%";
    while (i < text.size() && std::string_view("-+ #0").find(text[i]) != std::string_view::npos)
      conversion += text[i++];
    size_t longest = 0;
    for (bool precision : {false, true}) {
      if (precision && (i >= text.size() || text[i] != '.'))
        break;
      if (precision)
        conversion += text[i++];
      size_t digits = 0;
      for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])); ++digits)
        conversion += text[i++];
      longest = std::max(longest, digits);
    }
    while (i < text.size() && text[i] == 'l')
      ++i;
    char letter = i < text.size() ? text[i++] : '\0';
    std::string_view shown = text.substr(begin, i - begin);
    bool ints = letter && std::string_view("diuxc").find(letter) != std::string_view::npos;
    bool floats = letter && std::string_view("feg").find(letter) != std::string_view::npos;
    if ((!ints && !floats) || longest > 3 || conversion.size() > 16) {
      diagnostics_.report(badFormat, at(begin, i), shown,
                          ints || floats ? "it is too wide" : "no such conversion; there are d i u x c f e g and %%");
      return;
    }
    if (used < result.arguments.size()) {
      PrintItem& item = result.arguments[used];
      if (floats != (item.value->type == ScalarType::Float)) {
        diagnostics_
            .report(argumentType, item.value->where, shown, floats ? "a float" : "an int",
                    withArticle(item.value->type))
            .label(at(begin, i), "it is printed here");
        return;
      }
      if (item.value->type == ScalarType::Bool && letter != 'd') {
        diagnostics_.report(argumentType, item.value->where, shown, "an int", "a bool")
            .label(at(begin, i), "it is printed here")
            .help("print a bool with %d");
        return;
      }
      item.conversion = conversion + letter;
    }
    ++used;
    result.text.push_back(std::move(piece));
    piece.clear();
  }
  result.text.push_back(std::move(piece));
  if (used != result.arguments.size())
    diagnostics_.report(valueCount, syntax.where, used, result.arguments.size());
}

} // namespace strata::hbir
