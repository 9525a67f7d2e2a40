// Checks a parsed Program and completes it in place: resolves names and types, inserts conversions, folds constants,
// and turns call statements into task calls. Every rule of the language that can be judged without a mapping is judged
// here.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/sequoia/syntax/ast.h"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace strata::sequoia {

/// REQUIRES: `program` comes from parse(). Whether it is right is told by diagnostics.hasErrors().
void check(Program& program, DiagnosticEngine& diagnostics);

/// The checker itself; only its own files use it.
class Checker {
public:
  Checker(Program& program, DiagnosticEngine& diagnostics) : program_(program), diagnostics_(diagnostics) {}
  void run();

private:
  struct Symbol {
    enum class Kind { Variable, Typedef, Enumerator } kind = Kind::Variable;
    Variable* variable = nullptr;
    const Type* type = nullptr;
    int64_t value = 0;
    Location location;
  };
  struct Scope {
    std::unordered_map<std::string_view, Symbol> names;
    std::unordered_map<std::string_view, Type*> tags;
  };
  class ScopeGuard;

  // Names and types: check_declarations.cpp.
  void topLevel(TopLevel& item);
  void declareTypedefs(TypeSyntax* syntax, const std::vector<Declarator>& names);
  void declareTask(TaskVariant& variant);
  void declareFunction(Function& function);
  void compareSignatures(const TaskVariant& variant);
  void checkSizeParameters(TaskVariant& variant);
  void parameterExtents(TaskVariant& variant, Variable& parameter);
  void collectSizeParameters(TaskVariant& variant, Expr* expr);
  const Type* resolve(TypeSyntax* syntax);
  const Type* defineRecord(TypeSyntax* syntax, Type* type);
  const Type* memberType(const Declarator& member);
  void defineEnum(TypeSyntax* syntax);
  const Type* objectType(TypeSyntax* syntax, const Location& where);
  bool declare(std::string_view name, Symbol symbol);
  const Symbol* find(std::string_view name) const;
  std::vector<std::string> visibleNames(bool variablesOnly) const;
  void undeclared(std::string_view name, const Location& where);

  // Statements: check_statements.cpp.
  void functionBody(Function& function);
  void taskBody(TaskVariant& variant);
  void statement(Stmt*& stmt);
  void declaration(Stmt& stmt);
  void localVariable(Variable& variable);
  void tunable(Variable& variable);

  // Initial values in braces: check_initializers.cpp.
  struct InitialPlace;
  struct BracedValues;
  void initialValues(Variable& variable);
  void initialElements(InitialPlace& place, BracedValues& values);
  void initialMembers(InitialPlace& place, BracedValues& values);
  void initialPart(InitialPlace& place, BracedValues& values);
  void initialStore(const InitialPlace& place, Expr* initial);
  Expr* partOf(const InitialPlace& place);

  void switchStatement(Stmt& stmt);
  void returnStatement(Stmt& stmt);
  void expressionStatement(Stmt*& stmt);
  Expr* condition(Expr* expr);

  // Tasks: check_tasks.cpp, check_blocks.cpp.
  void mapStatement(Stmt& stmt);
  Expr* rangeBound(const Loop& loop, Expr* bound, std::string_view what, const Type* type);
  void taskCall(Stmt& stmt, Task& task);
  Argument taskArgument(Expr* value, const Variable& parameter, Stmt& call);
  Expr* scalarArgument(Expr* value, const Variable& parameter, const Task& task);
  Expr* arrayArgument(Expr* value, const Variable& parameter, const Task& task);
  void reduceArgument(Argument& argument, Expr* combinerName, const Variable& parameter, Stmt& call);
  void checkScalarAliases(const Stmt& call);
  /// Iterations that run in parallel write no variable of the task; `where` says what `expr` is.
  void checkIterationWrites(const Expr* expr, const char* where);
  void checkBlockAliases(const Stmt& stmt);
  void checkIterationAliases(const Stmt& call);
  void checkIterationShares(const Stmt& call, const Argument& written, const Loop& loop);
  void copyStatement(Stmt& stmt);
  Callsite* addCallsite(Task& callee, bool isCombiner, Stmt& stmt, const Location& where);
  bool requireInner(std::string_view what, const Location& where);
  /// Turns an argument into a Block; null (with a message) when it is none.
  Expr* block(Expr* expr);
  void blockRange(BlockRange& range, const Extent& extent);
  bool checkArrayWritable(const Variable& array, const Location& where, std::string_view how);

  // Expressions: check_expressions.cpp, check_operators.cpp.
  Expr* value(Expr* expr);
  Expr* valueOfAnyKind(Expr* expr);
  Expr* name(Expr* expr);
  Expr* subscript(Expr* expr);
  Expr* element(Expr* expr, Expr* base, const std::vector<Expr*>& indices);
  Expr* member(Expr* expr);
  Expr* unary(Expr* expr);
  Expr* binary(Expr* expr);
  Expr* logical(Expr* expr);
  Expr* conditional(Expr* expr);
  Expr* assign(Expr* expr);
  Expr* increment(Expr* expr);
  Expr* call(Expr* expr);
  Expr* builtinCall(Expr* expr);
  /// Whether it is an inline function, or one of the language's own.
  bool isFunction(std::string_view name) const;
  std::vector<std::string> taskNames() const;
  /// Reports a name that is called as a task: a variant's names its task, and else the nearest of `names` is proposed.
  void reportNoTask(const DiagnosticKind& kind, std::string_view name, const Location& where,
                    const std::vector<std::string>& names);
  Expr* explicitCast(Expr* expr);
  Expr* sizeofExpr(Expr* expr);
  /// Checks that a checked expression may be written, and notes the write.
  bool writable(Expr* target, std::string_view how);
  Expr* integerValue(Expr* expr, std::string_view what);
  Expr* longValue(Expr* expr, std::string_view what);
  std::optional<int64_t> constantInteger(Expr* expr, std::string_view what);
  Expr* convert(Expr* expr, const Type* type);
  Expr* convertTo(Expr* expr, const Type* type, std::string_view what);
  bool isParameterExpression(const Expr* expr) const;
  Expr* wrong(Expr* expr);

  Program& program_;
  DiagnosticEngine& diagnostics_;
  std::vector<Scope> scopes_{1};
  std::unordered_map<std::string_view, Task*> tasks_;
  std::unordered_map<std::string_view, Function*> functions_;
  std::set<const Function*> definedFunctions_;
  std::set<std::pair<std::string_view, std::string_view>> unsolvedSizes_; // task and size parameter, each reported once
  std::set<std::pair<std::string_view, std::string>> reportedSignatures_; // task and how its variants differ
  std::set<std::string_view> reportedIncomplete_; // structs and unions without members, each reported once
  bool lacksReduction_ = false;          // the call at hand is in a mapreduce and reduces nothing, which is reported
  const Stmt* statement_ = nullptr;      // the one at hand
  const Stmt* arrayStatement_ = nullptr; // in which an array was reported that is no value
  std::set<std::string_view> reportedFunctions_; // unknown functions, each reported once
  std::set<std::string_view> reportedNames_;     // undeclared names of the body at hand, so that each is reported once
  TaskVariant* variant_ = nullptr;
  Function* function_ = nullptr;
  std::vector<Loop*> maps_;
  int loops_ = 0, switches_ = 0;
  /// How many objects of a name each list of the variant has: what a mapping numbers them by.
  std::map<std::pair<const void*, std::string_view>, uint32_t> lexnums_;
  uint32_t nextLexnum(const void* list, std::string_view name) { return lexnums_[{list, name}]++; }
};

class Checker::ScopeGuard {
public:
  explicit ScopeGuard(Checker& checker) : checker_(checker) { checker_.scopes_.emplace_back(); }
  ~ScopeGuard() { checker_.scopes_.pop_back(); }

private:
  Checker& checker_;
};

} // namespace strata::sequoia
