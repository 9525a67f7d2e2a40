// A checked HBIR program: every size and constant is a number, every name points to what it means, every expression has
// a type. The checker (check/checker.h) makes it from the syntax tree, whichever of the three forms the file was
// written in; views, layouts and the lowering read it. A Program owns every node; pointers between nodes live as long
// as it does. Immutable once made.
#pragma once

#include "base/source/source.h"
#include "compiler/cfamily/check/builtin.h"
#include "compiler/hbir/program/index_expression.h"
#include "compiler/hbir/syntax/words.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::hbir {

// ---- target ----

/// A class of memory: `count` instances, or `count` in every tile.
struct MemoryClass {
  std::string name;
  int64_t count = 1;
  std::optional<int64_t> size;  // bytes of an instance; nothing: unknown
  std::optional<int64_t> width; // bytes of an access
  bool local = false;           // belongs to a tile
  Location where;
};

struct Target {
  std::string tiles; // the name of the tile array
  std::vector<int64_t> extents;
  Location where;
  std::deque<MemoryClass> memories; // global ones first, in text order
};

// ---- config ----

/// One index of a group: a dimension of its tiles (x, y), or the number of a repeated group (form C's `[i in n]`).
struct GroupIndex {
  std::string name;
  int64_t extent = 0; // it runs over [0, extent)
};

/// A named set of tiles, perhaps inside another. Variables of its expressions are the indices of its ancestors from the
/// outermost inwards, and then its own.
struct Group {
  std::string name;
  const Group* parent = nullptr;
  std::vector<GroupIndex> indices;
  /// The coordinates of its tiles in the target, one for each dimension of the target; empty for a group that only
  /// holds others.
  std::vector<IndexExpression> tile;
  std::vector<const Group*> children;
  Location where;
  Location moved{}; // the mapping's statement that places it, if one does
};

/// Every variable of a group's expressions, in order.
std::vector<GroupIndex> variablesOf(const Group& group);
/// "tg", "top_half.row".
std::string pathOf(const Group& group);

// ---- data ----

/// Which instance of which memory holds which element. Pieces have ceil(n / pieces) elements a dimension, so that the
/// last one that has any takes what is left.
struct Layout {
  LayoutKind kind = LayoutKind::Block;
  /// How many pieces: for Block one number for each dimension of the array that is cut (a trailing dimension without
  /// one stays whole); else their product counts.
  std::vector<int64_t> pieces;
  const MemoryClass* memory = nullptr;
  /// The number of the instance that holds a piece, by the coordinates of the piece among `pieces` as variables. For a
  /// local memory: the number of its tile, counted by rows over the whole target, times the memories a tile has, plus
  /// the one meant.
  IndexExpression instance;
  const Group* group = nullptr; // when the program names a group as the location
  Location where;
};

struct Array {
  std::string name;
  ScalarType type = ScalarType::Int;
  std::vector<int64_t> extents;
  Direction direction = Direction::Temporary;
  Layout layout;
  Location where;
};

/// A named number of the data segment. Values given on the command line have been put in.
struct Constant {
  std::string name;
  int64_t value = 0;
  Location where;
};

// ---- code ----

enum class SymbolKind : uint8_t {
  Array,  // of the data segment: `array`
  Global, // one copy that all tiles share; an array when `extents` are not empty
  Local,  // of one tile and one execution of its declaration; static array when `extents` are not empty
  Index,  // a variable that a block's path binds (x, y, row.x): number `number` of the block's variables
  TileId, // the number of the executing tile among those of the block
};

struct Symbol {
  SymbolKind kind = SymbolKind::Local;
  std::string name;
  ScalarType type = ScalarType::Int;
  std::vector<int64_t> extents; // of Array, Global and Local arrays
  const Array* array = nullptr;
  unsigned number = 0;
  Location where;
};
/// The same for every mention of one variable or array.
const void* keyOf(const Symbol& symbol);

struct Extern {
  std::string name;
  std::vector<ScalarType> parameters;
  std::optional<ScalarType> result; // nothing: void
  Location where;
};

using cfamily::Builtin;
using cfamily::builtinName;

enum class ExpressionKind : uint8_t {
  Integer,     // `integer`
  Real,        // `real`
  Boolean,     // `integer`: 0 or 1
  Variable,    // `symbol`, which is no array
  Element,     // `symbol`; operands are the indices, ints, as many as the symbol has extents
  Unary,       // `op`
  Binary,      // `op`; both operands have one type, for comparisons too; shifts are of ints
  Conditional, // condition, value if so, value otherwise
  Cast,        // the operand converted to `type`: implicit conversions are written out
  Call,        // `callee`; operands have the parameters' types
  BuiltinCall  // `builtin`; operands have the type of the result
};

/// Int expressions are computed with 64 bits; a value that is stored, passed to a call or converted keeps the low 32.
/// Division rounds towards zero and `%` takes the sign of the dividend, as in C.
struct Expression {
  ExpressionKind kind = ExpressionKind::Integer;
  ScalarType type = ScalarType::Int; // of no meaning for a call of a void function
  int64_t integer = 0;
  double real = 0;
  Operator op = Operator::Add;
  Builtin builtin = Builtin::Sqrt;
  const Symbol* symbol = nullptr;
  const Extern* callee = nullptr;
  std::vector<std::unique_ptr<Expression>> operands;
  Location where;
};
using ExpressionPtr = std::unique_ptr<Expression>;

/// How a printed value is written: C's conversions, already checked against the type.
struct PrintItem {
  ExpressionPtr value;
  std::string conversion; // "%d", "%8.3f", …; ints as %d %i %u %x %c, floats as %f %e %g, bools as %d
};

struct Statement {
  StatementKind kind = StatementKind::Compound;
  const Symbol* symbol = nullptr;
  ExpressionPtr target, value, upper, condition;
  std::optional<Operator> compound;
  std::unique_ptr<Statement> first, next;
  std::vector<std::unique_ptr<Statement>> body, otherwise;
  std::vector<std::string> text;
  std::vector<PrintItem> arguments;
  /// Of While and For: another tile's write may end it, and the tile's own work is not shown to. `awaited` is the
  /// shared data that decides what it does, `deciding` the own data that decides about the end.
  bool waits = false;
  std::vector<const Symbol*> awaited, deciding;
  Location where;
};
using StatementPtr = std::unique_ptr<Statement>;

/// Code that every tile of a set executes.
struct CodeBlock {
  const Group* group = nullptr;
  std::string path; // as written, for people: "config.tg[x][0]"
  /// The tiles: all values of `variables` (each over [0, extent)), each at the coordinates given by `tile`. No two
  /// values give the same tile.
  std::vector<GroupIndex> variables;
  std::vector<IndexExpression> tile;
  std::vector<StatementPtr> body;
  Location where;
};

struct Program {
  Form form = Form::A;
  Target target;
  std::deque<Group> groups; // a parent stands before its children; the rest is in text order
  std::deque<Constant> constants;
  std::deque<Array> arrays;
  std::deque<Extern> externs;
  std::deque<Symbol> symbols; // every symbol of the code
  std::vector<const Symbol*> globals;
  std::vector<StatementPtr> start; // the code outside groups, in order; runs once, before all blocks
  std::vector<CodeBlock> blocks;   // in text order
};

} // namespace strata::hbir
