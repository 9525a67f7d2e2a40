// The segments in their order, and the declarations of target, config and data in each of the three forms.
#include "compiler/hbir/syntax/form.h"
#include "compiler/hbir/syntax/parser.h"

namespace strata::hbir {

STRATA_DIAGNOSTIC(mixedForms, Error, "hbir-mixed-forms", "{0} belongs to form {1}, and this program is in form {2}");
STRATA_DIAGNOSTIC(segmentMissing, Error, "hbir-segment-missing", "the program has no {0}");
STRATA_DIAGNOSTIC(segmentRepeated, Error, "hbir-segment-repeated", "segment '{0}' stands here a second time");
STRATA_DIAGNOSTIC(segmentOrder, Error, "hbir-segment-order",
                  "segment '{0}' stands after segment '{1}'; the order is target, config, data, code");
STRATA_DIAGNOSTIC(unknownSegment, Error, "hbir-unknown-segment",
                  "'{0}' is no segment: there are target, config, data, code");
STRATA_DIAGNOSTIC(repetitionOrder, Error, "hbir-repetition-order",
                  "the repetition of group '{0}' stands before its name");
STRATA_DIAGNOSTIC(tileArrays, Error, "hbir-tile-arrays", "a target has one tile array; this one has {0}");
STRATA_DIAGNOSTIC(fieldRepeated, Error, "hbir-field-repeated", "'{0}' is given twice");
STRATA_DIAGNOSTIC(fieldMissing, Error, "hbir-field-missing", "{0} '{1}' has no {2}");
STRATA_DIAGNOSTIC(badUnit, Error, "hbir-size-unit", "'{0}' is not a number of bytes: {1}");

namespace {

constexpr std::string_view segmentNames[] = {"target", "config", "data", "code"};

} // namespace

void parse(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics) {
  FormEvidence evidence = detectForm(tokens);
  tree.form = evidence.form;
  tree.formWhere = evidence.where;
  tree.formReason = evidence.reason;
  tree.end = tokens.back().location;
  std::vector<Token> repaired = tokens;
  if (tokens.size() > 1)
    repairBraces(diagnostics.sources().buffer(tree.file).text(), repaired, diagnostics,
                 [](std::string_view text, const Location& last) {
                   Token brace;
                   brace.kind = TokenKind::Punctuator;
                   brace.text = text;
                   brace.location = {last.buffer, last.end, last.end};
                   return brace;
                 });
  Parser(repaired, tree, diagnostics).run();
}

void Parser::run() {
  try {
    segments();
  } catch (const TooDeep&) {
    return; // it is reported; what follows it is not read
  }
}

void Parser::mixed(const Location& where, Form form, std::string_view what) {
  // The first says it, and the rest of the program is likely to be as mixed; behind other mistakes the form may be
  // taken for the wrong one.
  if (mixed_ || hasReported())
    return;
  mixed_ = true;
  DiagnosticBuilder builder = diagnostics_.report(mixedForms, where, what, formName(form), formName(tree_.form));
  if (tree_.formWhere.valid())
    builder.label(tree_.formWhere, "taken for form " + formName(tree_.form) + " because " + tree_.formReason);
  else
    builder.note("it was taken for form " + formName(tree_.form) + " because " + tree_.formReason);
}

void Parser::notAForm(const Location& where, std::string_view what, bool ok, Form form) {
  if (!ok)
    mixed(where, form, what);
}

void Parser::skipBraces() {
  size_t depth = 0;
  do {
    depth = depth + is("{") - is("}");
    take();
  } while (depth && !atEnd());
}

void Parser::segments() {
  Location seen[4];
  int last = -1;
  std::string form = "the program was taken for form " + formName(tree_.form) + " because " + tree_.formReason;
  while (!atEnd()) {
    int found = -1;
    for (int i = 0; i < 4; ++i)
      if (is(segmentNames[i]))
        found = i;
    if (found < 0 || !is("{", 1)) {
      if (found < 0) {
        DiagnosticBuilder builder = diagnostics_.report(unknownSegment, token().location, token().text.substr(0, 40));
        proposeName(builder.note(form), token().text, {std::begin(segmentNames), std::end(segmentNames)});
      } else {
        const Location after = placeOfMissing(token().location, token(1).location, false, diagnostics_.sources());
        diagnostics_.report(unknownSegment, after, token(1).text.substr(0, 40))
            .note("'{' begins the segment " + std::string(segmentNames[found]));
      }
      while (!atEnd() && !is("{"))
        take();
      if (!atEnd())
        skipBraces();
      continue;
    }
    const Token& name = take();
    if (seen[found].valid()) {
      diagnostics_.report(segmentRepeated, name.location, name.text).label(seen[found], "the first one").note(form);
      skipBraces();
      accept(";");
      continue;
    }
    seen[found] = name.location;
    if (found == 0)
      tree_.target = name.location;
    if (found < last)
      diagnostics_.report(segmentOrder, name.location, name.text, segmentNames[last])
          .label(seen[last], "this one should come later")
          .note(form);
    last = std::max(last, found);
    segment(segmentNames[found]);
    accept(";");
  }
  std::string missing, empty;
  for (int i = 0; i < 4; ++i)
    if (!seen[i].valid()) {
      missing += (missing.empty() ? "segment '" : ", '") + std::string(segmentNames[i]) + "'";
      empty += (empty.empty() ? "" : " ") + std::string(segmentNames[i]) + " { }";
    }
  if (seen[0].valid() && tree_.tiles.size() != 1 && !hasReported())
    diagnostics_
        .report(tileArrays, tree_.tiles.empty() ? seen[0] : tree_.tiles[1].name.where,
                tree_.tiles.empty() ? std::string("none") : std::to_string(tree_.tiles.size()))
        .help("write it as 'tile t[4][4];'");
  // After other errors it may only seem to be missing, as behind a brace that is not closed.
  if (!missing.empty() && !hasReported())
    diagnostics_.report(segmentMissing, tree_.end, missing)
        .note(form)
        .help("write '" + empty + "' if there is nothing to say in it");
}

template <typename Function>
void Parser::items(std::string_view segment, Function&& item) {
  const size_t open = at_;
  expect("{", segment);
  while (!is("}") && !atEnd()) {
    size_t start = item_ = at_;
    int nested = nesting_;
    try {
      item();
    } catch (const SyntaxError&) {
      nesting_ = nested;
      if (at_ == start)
        take();
      recover(start);
    }
  }
  expectClosing("}", open, "segment '" + std::string(segment) + "'");
}

void Parser::segment(std::string_view name) {
  try {
    items(name, [&] {
      if (accept(";"))
        return;
      if (name == "target")
        targetItem();
      else if (name == "config")
        configItem();
      else if (name == "data")
        dataItem();
      else
        codeItem();
    });
  } catch (const SyntaxError&) {
    return; // the file ended
  }
}

// ---- target ----

void Parser::targetItem() {
  if (is("memory")) {
    tree_.memories.push_back(memory());
    return;
  }
  if (!accept("tile"))
    failWord("'memory' or 'tile'", {"memory", "tile"});
  TileSyntax tile;
  tile.name = expectName("the name of the tile array");
  tile.extents = bracketed("the extent");
  if (accept("{")) {
    const size_t open = at_ - 1;
    while (!is("}") && !atEnd()) {
      item_ = at_;
      if (!is("memory"))
        failWord("'memory' or '}'", {"memory"});
      tile.memories.push_back(memory());
    }
    expectClosing("}", open, "the memories of the tile");
  } else if (!is(";")) {
    fail("';' or '{' after the tile array");
  }
  accept(";");
  tree_.tiles.push_back(std::move(tile));
}

MemorySyntax Parser::memory() {
  take();
  MemorySyntax memory;
  memory.name = expectName("the name of the memory");
  memory.extents = bracketed("the number of memories");
  const size_t open = at_;
  expect("{", "the memory");
  bool seen[2] = {};
  while (!is("}") && !atEnd()) {
    item_ = at_;
    bool isSize = is("size");
    if (!isSize && !is("width"))
      failWord("'size', 'width' or '}'", {"size", "width"});
    const Token& field = take();
    bool& given = seen[isSize ? 0 : 1];
    if (given)
      diagnostics_.report(fieldRepeated, field.location, field.text);
    given = true;
    bool colon = accept(":");
    if (tree_.form != Form::C && colon != (tree_.form == Form::B))
      mixed(field.location, colon ? Form::B : Form::A,
            colon ? "a field of a memory with ':'" : "a field of a memory without ':'");
    std::optional<int64_t> value;
    Location where = token().location;
    if (!accept("?"))
      value = memoryNumber(field.text);
    (isSize ? memory.size : memory.width) = value;
    (isSize ? memory.sizeWhere : memory.widthWhere) = where;
    if (!is("}") && !accept(";") && !accept(","))
      expect(";", "the field");
  }
  expectClosing("}", open, "the fields of the memory");
  accept(";");
  for (bool isSize : {true, false})
    if (!seen[isSize ? 0 : 1])
      diagnostics_.report(fieldMissing, memory.name.where, "memory", memory.name.text, isSize ? "size" : "width")
          .help("write '?' when it is not known");
  return memory;
}

int64_t Parser::memoryNumber(std::string_view field) {
  if (token().kind != TokenKind::Integer)
    fail("a number of bytes, as 64K, or '?', after '" + std::string(field) + "'");
  const Token& number = take();
  std::string_view unit = number.unit;
  if (unit.size() == 2 && unit[1] == 'B')
    unit.remove_suffix(1);
  int shift = unit.empty() || unit == "B" ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  int64_t bytes = 0;
  if (shift < 0)
    diagnostics_.report(badUnit, number.location, number.text, "the units are B, K, M and G");
  else if (number.integer == 0)
    diagnostics_.report(badUnit, number.location, number.text, "it must be positive");
  else if (__builtin_mul_overflow(number.integer, int64_t{1} << shift, &bytes))
    diagnostics_.report(badUnit, number.location, number.text, "it does not fit in 64 bits");
  return bytes > 0 ? bytes : 1;
}

// ---- config ----

void Parser::configItem() {
  if (is("group") && tree_.form == Form::A) {
    tree_.groups.push_back(group());
    return;
  }
  if (is("group") && !tree_.arrangements.empty()) {
    mixed(token().location, Form::A, "a group outside of 'arrange'");
    throw SyntaxError();
  }
  if (!is("arrange"))
    failWord(tree_.form == Form::A ? "'group'" : "'arrange'", {tree_.form == Form::A ? "group" : "arrange"});
  if (tree_.form == Form::A) {
    mixed(token().location, Form::B, "'arrange'");
    throw SyntaxError();
  }
  take();
  ArrangeSyntax arrange;
  arrange.tiles = expectName("the name of the tile array");
  arrange.sizes = sizeNames();
  tree_.arrangements.push_back(arrange);
  expect("as", "the tile array");
  const size_t open = at_;
  expect("{", "'as'");
  while (!is("}") && !atEnd()) {
    item_ = at_;
    if (!is("group"))
      failWord("'group' or '}'", {"group"});
    tree_.groups.push_back(group());
  }
  expectClosing("}", open, "the groups");
  accept(";");
}

GroupSyntax* Parser::group() {
  Nesting nesting(*this);
  take();
  GroupSyntax* result = tree_.newGroup();
  if (tree_.form == Form::A)
    groupOfFormA(*result);
  else
    groupOfArrangement(*result);
  return result;
}

void Parser::groupOfFormA(GroupSyntax& result) {
  if (is("["))
    mixed(token().location, Form::C, "a repeated group"), throw SyntaxError();
  result.name = expectName("the name of the group");
  if (is("at") || is("("))
    mixed(token().location, is("(") ? Form::C : Form::B, "a group with 'at'"), throw SyntaxError();
  result.extents = bracketed("the extent");
  const size_t open = at_;
  expect("{", "the group");
  while (!is("}") && !atEnd()) {
    item_ = at_;
    if (is("group")) {
      result.children.push_back(group());
      continue;
    }
    if (!is("tile"))
      failWord("'tile', 'group' or '}'", {"tile", "group"});
    const Token& word = take();
    if (result.tile)
      diagnostics_.report(fieldRepeated, word.location, "tile");
    result.tile = path();
    expect(";", "the tiles of the group");
  }
  expectClosing("}", open, "the group");
  accept(";");
}

void Parser::groupOfArrangement(GroupSyntax& result) {
  while (accept("[")) {
    const size_t open = at_ - 1;
    NameSyntax index = expectName("the name of an index");
    expect("in", "the index");
    result.repeats.emplace_back(index, expression());
    expectClosing("]", open, "the number of groups");
  }
  result.name = expectName("the name of the group");
  if (is("[") && is("in", 2)) {
    diagnostics_.report(repetitionOrder, token().location, result.name.text)
        .help("write it as 'group[i in n] " + std::string(result.name.text) + " at …', with n the number of groups");
    throw SyntaxError();
  }
  if (is("[") || is("{"))
    mixed(token().location, Form::A, "a group without 'at'"), throw SyntaxError();
  result.sizes = sizeNames();
  expect("at", "the group");
  const size_t parenthesis = at_;
  expect("(", "'at'");
  result.ranges[0] = range();
  expect(",", "the rows");
  result.ranges[1] = range();
  expectClosing(")", parenthesis, "the columns");
  if (accept("{")) {
    const size_t open = at_ - 1;
    while (!is("}") && !atEnd()) {
      item_ = at_;
      if (is("tile"))
        mixed(token().location, Form::A, "'tile' in a group"), throw SyntaxError();
      if (!is("group"))
        failWord("'group' or '}'", {"group"});
      result.children.push_back(group());
    }
    expectClosing("}", open, "the groups");
  }
  accept(";");
}

RangeSyntax Parser::range() {
  RangeSyntax result;
  Location begin = token().location;
  if (!is(":"))
    result.low = expression();
  if (accept(":")) {
    result.isRange = true;
    if (!is(",") && !is(")"))
      result.high = expression();
  }
  result.where = from(begin);
  return result;
}

std::vector<NameSyntax> Parser::sizeNames() {
  std::vector<NameSyntax> result;
  if (!accept("("))
    return result;
  const size_t open = at_ - 1;
  result.push_back(expectName("a name for the number of rows"));
  expect(",", "the rows");
  result.push_back(expectName("a name for the number of columns"));
  expectClosing(")", open, "the columns");
  return result;
}

// ---- data ----

bool Parser::startsType() const {
  return is("int") || is("float") || is("bool");
}

ScalarType Parser::type(std::string_view what) {
  if (is("double") || is("long") || is("char") || is("unsigned")) {
    reportWanted(std::string(what) + " (int, float or bool)")
        .help("HBIR has no type " + std::string(token().text) + ": take " + (is("double") ? "float" : "int"));
    throw SyntaxError();
  }
  if (!startsType())
    failWord(std::string(what) + " (int, float or bool)", {"int", "float", "bool"});
  std::string_view word = take().text;
  return word == "int" ? ScalarType::Int : word == "float" ? ScalarType::Float : ScalarType::Bool;
}

void Parser::dataItem() {
  if (is("in") || is("out")) {
    const Token& word = take();
    return array(NameSyntax{word.text, word.location});
  }
  if (token().kind == TokenKind::Word && is(":", 1))
    return array(std::nullopt);
  if (accept("const") || is("int")) {
    accept("int");
  } else if (startsType()) {
    fail("a constant of type int");
  }
  ConstantSyntax constant;
  constant.name = expectName("a constant or an array");
  if (is("[") || startsType()) {
    reportWanted("'=' after the constant, or ':' after the name of an array")
        .help("an array's type stands behind its name: '" + std::string(constant.name.text) + " : int[n] = …'");
    throw SyntaxError();
  }
  expect("=", "the constant");
  constant.value = expression();
  expect(";", "the constant");
  tree_.constants.push_back(constant);
}

void Parser::array(std::optional<NameSyntax> direction) {
  ArraySyntax result;
  result.direction = direction;
  result.name = expectName("the name of the array");
  expect(":", "the name");
  result.type = type("the type of the elements");
  result.extents = bracketed("the extent");
  if (is("=")) {
    notAForm(result.name.where, "an array with '= block[…]'", tree_.form == Form::A, Form::A);
    layoutOfFormA(result);
  } else {
    locationAndLayout(result);
  }
  tree_.arrays.push_back(std::move(result));
}

void Parser::layoutOfFormA(ArraySyntax& array) {
  take();
  if (!is("block"))
    failWord("'block' after '='", {"block"});
  take();
  array.hasPieces = true;
  array.pieces = bracketed("the number of pieces");
  const size_t open = at_;
  expect("{", "the pieces");
  while (!is("}") && !atEnd()) {
    item_ = at_;
    if (is(".", 1)) {
      if (array.location)
        diagnostics_.report(fieldRepeated, token().location, "the place");
      array.location = path();
    } else {
      array.flags.push_back(expectName("a place, as target.g, or a flag"));
    }
    if (!is("}") && !accept(";") && !accept(","))
      expect(";", "the field");
  }
  expectClosing("}", open, "the flags");
  accept(";");
  if (!array.location)
    diagnostics_.report(fieldMissing, array.name.where, "array", array.name.text, "place")
        .help("name a memory or a group: 'target.g[x];'");
}

void Parser::locationAndLayout(ArraySyntax& array) {
  const size_t open = at_;
  expect("{", "the type of the array");
  bool layout = false;
  while (!is("}") && !atEnd()) {
    item_ = at_;
    bool isLocation = is("location");
    if (!isLocation && !is("layout"))
      failWord("'location', 'layout' or '}'", {"location", "layout"});
    const Token& field = take();
    expect(":", "the field");
    if (isLocation ? array.location.has_value() : layout)
      diagnostics_.report(fieldRepeated, field.location, field.text);
    if (isLocation) {
      array.location = path();
    } else {
      array.flags.push_back(expectName("block, chunked, striped, strided or replicated"));
      layout = true;
    }
    if (!is("}") && !accept(",") && !accept(";"))
      fail("',' after the field");
  }
  expectClosing("}", open, "the fields of the array");
  accept(";");
  if (!array.location || !layout)
    diagnostics_.report(fieldMissing, array.name.where, "array", array.name.text,
                        array.location ? "layout" : "location");
}

} // namespace strata::hbir
