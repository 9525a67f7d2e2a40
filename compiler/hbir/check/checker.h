// Makes a checked Program from a syntax tree: resolves names, computes sizes, gives every expression a type, and
// reports what the language does not allow. One Checker checks one program; internal to this folder.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hbir/check/frontend.h"
#include "compiler/hbir/layout/places.h"
#include "compiler/hbir/syntax/ast.h"

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace strata::hbir {

/// What a program calls the coordinates of a tile, and the greatest of each plus one.
inline constexpr std::string_view coordinateNames[] = {"x", "y", "z", "w"};
inline constexpr std::string_view maximumNames[] = {"x_max", "y_max", "z_max", "w_max"};

/// Sets Statement::waits of every loop of a program whose code is complete.
void markWaitingLoops(Program& program);

class Checker {
public:
  Checker(const SyntaxTree& tree, Program& program, DiagnosticEngine& diagnostics, const ReadOptions& options,
          const Mapping* mapping)
      : tree_(tree), program_(program), diagnostics_(diagnostics), options_(options), mapping_(mapping) {}
  void run();

private:
  /// A name of an index expression; reports what it cannot resolve.
  using Resolve = std::function<std::optional<IndexExpression>(const Expr& name)>;
  struct GroupFacts {
    const GroupSyntax* syntax = nullptr;
    size_t repeats = 0;                                 // how many of its indices number repetitions
    std::vector<std::pair<std::string, int64_t>> sizes; // form C: the names that its children see
    std::vector<int64_t> extents;                       // of its tiles
  };
  /// One variable of a block's group: it runs, is fixed by the path, or is of no meaning for the block.
  struct PathIndex {
    const Group* group = nullptr;
    GroupIndex index;
    bool fixed = false;
    int64_t value = 0;
    unsigned number = 0;
    std::string bound; // the name that the path gives it
  };
  struct BlockScope {
    CodeBlock* block = nullptr;
    const BlockSyntax* syntax = nullptr;
    std::vector<const Group*> chain; // outermost first
    std::vector<PathIndex> indices;
    std::vector<size_t> coordinates; // those of `indices` that x, y, … mean
    std::map<std::string, const Symbol*, std::less<>> symbols;
    bool csizeReported = false;
  };
  using Names = std::vector<std::string_view>;

  // Names and constants: check_names.cpp.
  void declare(std::string_view name, const Location& where, std::string_view what);
  bool unknown(const Location& where, std::string_view name, const std::vector<std::string>& candidates,
               std::string note = "");
  std::optional<IndexExpression> index(const Expr& expr, const Resolve& resolve, bool roundDown);
  std::optional<int64_t> constant(const Expr& expr, const Resolve& resolve, bool roundDown = false);
  std::optional<int64_t> dataConstant(const Expr& expr);
  std::optional<IndexExpression> resolveInTarget(const Expr& name);
  std::optional<IndexExpression> resolveInData(const Expr& name);
  std::optional<int64_t> targetField(const Names& names, const Location& where);
  std::optional<int64_t> memoryField(const MemoryClass& memory, const Names& names, const Location& where);
  std::vector<int64_t> extents(const std::vector<Expr*>& list, const Resolve& resolve, std::string_view what);
  const Constant* findConstant(std::string_view name, const Location& where);

  // target and config: check_target.cpp, check_config.cpp.
  void target();
  void memory(const MemorySyntax& syntax, bool local);
  void config();
  void groupOfFormA(const GroupSyntax& syntax, Group* parent);
  void tileOfGroup(const GroupSyntax& syntax, Group& group);
  void groupOfArrangement(const GroupSyntax& syntax, Group* parent);
  void extentsOfArrangement(const GroupSyntax& syntax, Group& group, const Resolve& resolve,
                            std::vector<IndexExpression>& origin);
  std::optional<IndexExpression> resolveInArrangement(const Expr& name, const Group& group);
  Group& newGroup(const GroupSyntax& syntax, Group* parent);
  void moveGroups();
  const Group* findGroup(const std::vector<PathSyntax::Part>& parts, size_t from, bool report);

  // data: check_data.cpp.
  void data();
  void constants();
  void array(const ArraySyntax& syntax);
  std::optional<LayoutKind> flags(const ArraySyntax& syntax, Array& array, bool& global, bool& local);
  std::optional<Place> place(const PathSyntax& path);
  std::optional<Layout> layout(const Array& array, LayoutKind kind, std::vector<int64_t> pieces, const PathSyntax& path,
                               bool inMapping);
  std::optional<IndexExpression> indexedInstance(const Place& place, const std::vector<int64_t>& pieces,
                                                 const std::vector<Expr*>& indices, const PathSyntax& path);
  void applyHomes();

  // Mappings: check_mapping.cpp.
  void mappingKeepsCopies();

  // code: check_blocks.cpp.
  void code();
  void externFunction(const ExternSyntax& syntax);
  void refuseWaiting(const std::vector<StatementPtr>& list);
  void block(const BlockSyntax& syntax);
  bool bindPath(const BlockSyntax& syntax, size_t from);
  bool bindIndex(const Expr& expr, PathIndex& index);
  ExpressionPtr indexValue(size_t position, std::string_view name, const Location& where);
  ExpressionPtr blockName(std::string_view name, const Location& where, bool explicitOnly);
  ExpressionPtr groupField(const Names& names, const Location& where);
  ExpressionPtr csize(const Location& where);
  std::vector<std::string> visibleNames() const;

  // Statements: check_statements.cpp.
  void statements(const std::vector<Stmt*>& list, std::vector<StatementPtr>& into);
  void scoped(const std::vector<Stmt*>& list, std::vector<StatementPtr>& into);
  StatementPtr statement(const Stmt& syntax);
  StatementPtr declaration(const Stmt& syntax, bool global);
  StatementPtr assignment(const Stmt& syntax);
  StatementPtr forLoop(const Stmt& syntax);
  StatementPtr rangeLoop(const Stmt& syntax);
  StatementPtr print(const Stmt& syntax);
  ExpressionPtr assignable(const Expr& syntax);
  void fitsTile(const Stmt& syntax, const std::vector<int64_t>& extents);
  Symbol& newSymbol(SymbolKind kind, std::string_view name, const Location& where);

  // Expressions: check_expressions.cpp. Null after an error.
  ExpressionPtr value(const Expr& syntax);
  ExpressionPtr valueOrCall(const Expr& syntax);
  ExpressionPtr condition(const Expr& syntax);
  ExpressionPtr name(const Expr& syntax);
  ExpressionPtr element(const Expr& syntax);
  ExpressionPtr unary(const Expr& syntax);
  ExpressionPtr binary(const Expr& syntax);
  ExpressionPtr combine(Operator op, ExpressionPtr left, ExpressionPtr right, const Location& where);
  ExpressionPtr conditional(const Expr& syntax);
  ExpressionPtr call(const Expr& syntax);
  ExpressionPtr builtinCall(const Expr& syntax);
  /// Whether it is an array with its indices in parentheses, which is reported.
  bool refuseArrayCall(const Expr& syntax);
  /// Whether no array that is taken for a value or a function has been reported in the statement at hand.
  bool isFirstOfStatement();
  const Symbol* findSymbol(std::string_view name) const;
  static ExpressionPtr convert(ExpressionPtr value, ScalarType type);
  static ExpressionPtr integer(int64_t value, const Location& where);

  // printf: check_print.cpp.
  void format(const Stmt& syntax, Statement& result);

  const SyntaxTree& tree_;
  Program& program_;
  DiagnosticEngine& diagnostics_;
  const ReadOptions& options_;
  const Mapping* mapping_;

  std::map<std::string, Location, std::less<>> declared_; // constants, arrays, externs, globals
  std::unordered_map<const MemoryClass*, std::vector<int64_t>> memoryExtents_;
  std::unordered_map<const Group*, GroupFacts> groups_;
  std::map<std::pair<const Group*, std::string_view>, const Group*> groupNames_;
  std::map<std::string, const Symbol*, std::less<>> arraySymbols_;
  std::map<std::string, int64_t, std::less<>> blockSizes_; // of arrays as the program declares them
  std::map<std::string, const Constant*, std::less<>> constantsByName_;
  const Stmt* statement_ = nullptr;                            // the one at hand
  const Stmt* reportedStatement_ = nullptr;                    // in which an array was reported that is no value
  std::set<std::string, std::less<>> unknownNames_;            // those that have been reported
  std::set<std::string_view> wrongConstants_;                  // those whose value has been reported
  std::unordered_map<const Array*, Layout> declaredLayouts_;   // of arrays that the mapping places otherwise
  std::vector<std::pair<const Group*, Location>> movedGroups_; // with the mapping's statement
  std::vector<std::map<std::string, const Symbol*, std::less<>>> scopes_;
  BlockScope* block_ = nullptr;
  unsigned loops_ = 0;
};

} // namespace strata::hbir
