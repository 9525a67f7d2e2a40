// The syntax tree of an HBIR program, the same for all three forms: what was written, nothing resolved. A SyntaxTree
// owns every node; names point into the source buffer, which must outlive it. Written by the parser, then only read.
#pragma once

#include "base/source/source.h"
#include "compiler/hbir/syntax/words.h"

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::hbir {

enum class ExprKind : uint8_t { Integer, Real, Boolean, Name, Element, Unary, Binary, Conditional, Call };

struct Expr {
  ExprKind kind = ExprKind::Integer;
  Location where;
  int64_t integer = 0; // Integer; Boolean as 0 or 1
  double real = 0;
  Operator op = Operator::Add;
  std::vector<std::string_view> names; // Name, Element: a dotted name; Call: one name
  std::vector<Expr*> operands;         // indices of an Element, arguments of a Call
  uint16_t depth = 1;
};

/// "target.t.x_max".
std::string dottedName(const std::vector<std::string_view>& names);

struct NameSyntax {
  std::string_view text;
  Location where;
};

/// A place or a group with indices: config.tg[x][0], t.top_half.row[x].col[3], target.g[x].
struct PathSyntax {
  struct Part {
    NameSyntax name;
    std::vector<Expr*> indices;
  };
  std::vector<Part> parts;
  Location where;
};

struct MemorySyntax {
  NameSyntax name;
  std::vector<Expr*> extents;
  std::optional<int64_t> size, width; // nothing: unknown
  Location sizeWhere, widthWhere;
};

struct TileSyntax {
  NameSyntax name;
  std::vector<Expr*> extents;
  std::vector<MemorySyntax> memories;
};

/// Form B and C: `low : high`, or one expression; in a range either end may be left out.
struct RangeSyntax {
  Expr* low = nullptr;
  Expr* high = nullptr;
  bool isRange = false;
  Location where;
};

struct GroupSyntax {
  NameSyntax name;
  std::vector<Expr*> extents;                        // form A
  std::optional<PathSyntax> tile;                    // form A: tile target.t[x][y];
  std::vector<std::pair<NameSyntax, Expr*>> repeats; // form C: [i in n]
  std::vector<NameSyntax> sizes;                     // form C: (rows, cols)
  std::array<RangeSyntax, 2> ranges;                 // forms B and C
  std::vector<GroupSyntax*> children;
};

/// Forms B and C.
struct ArrangeSyntax {
  NameSyntax tiles;
  std::vector<NameSyntax> sizes;
};

struct ConstantSyntax {
  NameSyntax name;
  Expr* value = nullptr;
};

struct ArraySyntax {
  NameSyntax name;
  ScalarType type = ScalarType::Int;
  std::vector<Expr*> extents;
  std::optional<NameSyntax> direction; // `in` or `out` before the name
  bool hasPieces = false;              // form A's block[..][..], as against location and layout
  std::vector<Expr*> pieces;
  std::optional<PathSyntax> location;
  std::vector<NameSyntax> flags; // chunked, host, …; the word after `layout :`
};

struct Stmt {
  StatementKind kind = StatementKind::Compound;
  Location where;
  ScalarType type = ScalarType::Int; // Declare
  NameSyntax name;                   // Declare; the variable of Range
  std::vector<Expr*> extents;        // Declare
  Expr* target = nullptr;
  Expr* value = nullptr;
  Expr* upper = nullptr;
  Expr* condition = nullptr;
  std::optional<Operator> compound;
  Stmt* first = nullptr;
  Stmt* next = nullptr;
  std::vector<Stmt*> body, otherwise;
  std::optional<NameSyntax> format; // Print: the text between the quotes
  std::vector<Expr*> arguments;
};

struct ParameterSyntax {
  NameSyntax name;
  ScalarType type = ScalarType::Int;
};

struct ExternSyntax {
  NameSyntax name;
  std::vector<ParameterSyntax> parameters;
  std::optional<ScalarType> result;
};

struct BlockSyntax {
  PathSyntax path;
  std::vector<Stmt*> body;
};

/// One thing of the code segment; exactly one pointer is set.
struct CodeItem {
  Stmt* statement = nullptr;
  BlockSyntax* block = nullptr;
  ExternSyntax* function = nullptr;
};

class SyntaxTree {
public:
  BufferId file;
  Form form = Form::A;
  Location formWhere;     // what the form was told by
  std::string formReason; // in words
  Location target;        // the word of the target segment
  Location end;           // the end of the file

  std::vector<MemorySyntax> memories;
  std::vector<TileSyntax> tiles;
  std::vector<ArrangeSyntax> arrangements; // forms B and C
  std::vector<GroupSyntax*> groups;
  std::vector<ConstantSyntax> constants;
  std::vector<ArraySyntax> arrays;
  std::vector<CodeItem> code;

  Expr* newExpr(ExprKind kind, const Location& where);
  Stmt* newStmt(StatementKind kind, const Location& where);
  GroupSyntax* newGroup() { return &groupNodes_.emplace_back(); }
  BlockSyntax* newBlock() { return &blockNodes_.emplace_back(); }
  ExternSyntax* newExtern() { return &externNodes_.emplace_back(); }

private:
  std::deque<Expr> exprNodes_;
  std::deque<Stmt> stmtNodes_;
  std::deque<GroupSyntax> groupNodes_;
  std::deque<BlockSyntax> blockNodes_;
  std::deque<ExternSyntax> externNodes_;
};

/// 'A', 'B' or 'C'.
std::string formName(Form form);

} // namespace strata::hbir
