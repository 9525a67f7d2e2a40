// Reads mapping files: `group NAME at (row, column);` and `array NAME = layout[pieces] over place;`.
#include "compiler/hbir/mapping/mapping.h"

#include "compiler/hbir/layout/places.h"
#include "compiler/hbir/syntax/lexer.h"
#include "compiler/hbir/syntax/parser.h"

#include <algorithm>

namespace strata::hbir {

STRATA_DIAGNOSTIC(mapNumber, Error, "hbir-map-number", "{0} is {1}; it must be at least {2}");
STRATA_DIAGNOSTIC(mapTooLarge, Error, "hbir-map-too-large", "the numbers of pieces multiply to 2^62 or more");

namespace {

class Reader {
public:
  Reader(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics)
      : parser_(tokens, tree, diagnostics), diagnostics_(diagnostics) {}

  void run(Mapping& mapping) {
    while (!parser_.atEnd()) {
      size_t start = parser_.position();
      try {
        statement(mapping);
      } catch (const Parser::SyntaxError&) {
        if (parser_.position() == start || parser_.is("}"))
          parser_.take();
        parser_.recover(start);
      }
    }
  }

private:
  void statement(Mapping& mapping) {
    Location begin = parser_.token().location;
    if (parser_.accept("group")) {
      Mapping::Move move;
      move.group = parser_.expectName("the name of a group");
      parser_.expect("at", "the group");
      parser_.expect("(", "'at'");
      do
        move.at.push_back(number("a coordinate", 0));
      while (parser_.accept(","));
      parser_.expect(")", "the coordinates");
      parser_.expect(";", "the group");
      move.where = parser_.from(begin);
      mapping.moves.push_back(std::move(move));
      return;
    }
    if (!parser_.accept("array"))
      parser_.failWord("'group' or 'array'", {"group", "array"});
    Mapping::Home home;
    home.array = parser_.expectName("the name of an array");
    parser_.expect("=", "the array");
    static constexpr std::pair<std::string_view, LayoutKind> kinds[] = {{"block", LayoutKind::Block},
                                                                        {"chunked", LayoutKind::Chunked},
                                                                        {"striped", LayoutKind::Striped},
                                                                        {"strided", LayoutKind::Striped},
                                                                        {"replicated", LayoutKind::Replicated}};
    auto kind =
        std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& each) { return parser_.is(each.first); });
    if (kind == std::end(kinds))
      parser_.failWord("block, chunked, striped or replicated", {"block", "chunked", "striped", "replicated"});
    parser_.take();
    home.kind = kind->second;
    Location pieces = parser_.token().location;
    while (parser_.accept("[")) {
      home.pieces.push_back(number("a number of pieces", 1));
      parser_.expect("]", "the number of pieces");
    }
    if (!productOf(home.pieces)) {
      diagnostics_.report(mapTooLarge, parser_.from(pieces));
      home.pieces.clear();
    }
    parser_.expect("over", "the layout");
    home.over = parser_.path();
    parser_.expect(";", "the place");
    home.where = parser_.from(begin);
    mapping.homes.push_back(std::move(home));
  }

  int64_t number(std::string_view what, int64_t least) {
    bool negative = parser_.accept("-");
    const Token& token = parser_.token();
    if (token.kind != TokenKind::Integer || !token.unit.empty())
      parser_.fail(what);
    parser_.take();
    int64_t value = negative ? -token.integer : token.integer;
    if (value < least)
      diagnostics_.report(mapNumber, token.location, what, value, least);
    return std::max(value, least);
  }

  Parser parser_;
  DiagnosticEngine& diagnostics_;
};

} // namespace

std::optional<Mapping> readMapping(BufferId file, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  auto tree = std::make_shared<SyntaxTree>();
  tree->file = file;
  std::vector<Token> tokens = tokenize(file, diagnostics);
  Mapping mapping;
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  Reader(tokens, *tree, diagnostics).run(mapping);
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  mapping.tree = std::move(tree);
  return mapping;
}

} // namespace strata::hbir
