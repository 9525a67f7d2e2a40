// The lowering of one piece of code to a structured kernel: expressions, statements, loops. Ints are computed as
// indices, which have 64 bits, so that subscripts stay sums and products of loop variables. One object a kernel; it
// owns nothing that outlives it.
#pragma once

#include "compiler/cfamily/lower/lower_control.h"
#include "compiler/hbir/lower/lower_module.h"

#include "llvm/ADT/DenseMap.h"

#include <unordered_set>

namespace strata::hbir {

class BodyLowering : cfamily::ControlLowering {
public:
  /// `variables` are those of a block of code; null for the code outside groups.
  BodyLowering(ModuleLowering& module, const KernelPlan& plan, const std::vector<GroupIndex>* variables);
  /// `cleared` are filled with zeros before the body begins.
  void lower(const std::vector<StatementPtr>& body, const std::vector<const SharedBlock*>& cleared,
             const Location& location);

private:
  using Values = llvm::SmallVector<mlir::Value, 4>;
  using Operand = cfamily::Operand;
  using Range = cfamily::Range;
  using Scalar = cfamily::Scalar;
  using ArithmeticLowering::comparison;
  using ArithmeticLowering::zero;

  /// What a name is in the code.
  struct Binding {
    Value value;   // one that never changes
    Range range;   // of an int's value
    Value storage; // a block of rank 0, or an array
  };

  // Builders at the current place (lower_values.cpp).
  void at(const Location& location) { place_ = module_.place(location); }
  Value zero(ScalarType type);
  /// Between the form in which values are computed and that in which they are stored.
  Value toStored(Value value, ScalarType type);
  Value fromStored(Value value, ScalarType type);
  /// What storing it and reading it back makes of an int.
  Value narrowed(Value value, Range range);
  void fill(Value array, llvm::ArrayRef<int64_t> extents, ScalarType type);

  /// What is known about an int (lower_ranges.cpp).
  Range rangeOf(const Expression& expression);

  // Expressions (lower_expressions.cpp).
  Value value(const Expression& expression);
  Value variable(const Expression& expression);
  Value unary(const Expression& expression);
  Value binary(const Expression& expression);
  Value comparison(const Expression& expression);
  Value logical(const Expression& expression);
  Value conditional(const Expression& expression);
  Value cast(const Expression& expression);
  Value call(const Expression& expression);
  /// Whether it cannot fail and has no effect, so that it may be evaluated without need.
  bool isPlain(const Expression& expression);
  /// Marks the product that an operand of a sum is, if it is one, for contraction with the sum.
  bool contractWith(const Expression& operand);

  // Which of the shared lowering's operations an operator is: ints are computed with 64 bits, as indices.
  static Scalar computed(ScalarType type) { return type == ScalarType::Int ? Scalar::Long : Scalar::Float; }
  /// An operand of an operator, with its range where it is an int.
  Operand operandOf(const Expression& expression);
  Value operation(Operator op, ScalarType type, const Operand& left, const Operand& right, bool contract);
  Value builtin(const Expression& expression);

  // Places (lower_expressions.cpp).
  struct Place {
    Value storage;
    Values indices;
  };
  Place placeOf(const Expression& expression);
  Value read(const Place& place, const Expression& expression);
  void write(const Place& place, const Symbol* symbol, ScalarType type, Value value);

  // Statements (lower_statements.cpp).
  void statement(const Statement& statement);
  void sequence(const std::vector<StatementPtr>& statements);
  void declare(const Statement& statement);
  void assign(const Statement& statement);
  void ifStatement(const Statement& statement);
  void longChain(const Statement& statement);
  void print(const Statement& statement);
  Value noJump(unsigned jumps);
  void clear(const SharedBlock& block);

  // Loops (lower_loops.cpp).
  struct Counted;
  void loop(const Statement& statement);
  std::optional<Counted> counted(const Statement& statement);
  int64_t stepOf(const Statement* next, const Symbol* symbol);
  bool isInvariant(const Expression& expression, const Statement& loop);
  void countedLoop(const Statement& statement, const Counted& counted);
  void generalLoop(const Statement& statement);
  void rangeLoop(const Statement& statement);
  void bindLoopVariable(const Statement& loop, const Symbol* symbol, Value index, Range range);

  // Loops that wait (lower_waits.cpp).
  void beginWaiting(const Statement& loop);
  void noteChange();
  bool isWatched(const Symbol* symbol) const;
  void watch(const Place& place, Value stored);
  Value awaited(const Symbol* symbol, Value loaded);
  Value assignedValue(const Symbol* symbol, const Expression& expression);
  Operand assignedOperand(const Symbol* symbol, const Expression& expression);
  void endRound();

  Binding& bindingOf(const Symbol* symbol);
  Value tileId();

  ModuleLowering& module_;
  const KernelPlan& plan_;
  const CodeFacts& facts_;
  const std::vector<GroupIndex>* variables_;
  llvm::DenseMap<const void*, Value> shared_; // blocks by array or global variable
  llvm::DenseMap<const Symbol*, Binding> bindings_;
  Values indices_; // of the block's variables
  Value tile_;     // the number of the tile; null outside groups
  Value breakFlag_, finishFlag_;
  llvm::DenseSet<const Expression*> contracted_; // products that are operands of sums

  std::vector<const Symbol*> scope_;         // local variables that are in scope, in order
  bool startsWait_ = false;                  // what is computed is for a variable that decides about the end of one
  std::vector<const Statement*> waiting_;    // the loops around that wait, outermost first
  std::unordered_set<const void*> deciding_; // what decides about the outermost one
  Value changedFlag_;                        // what others read may have changed since the last poll
  Values hidden_;                            // of counting loops within the outermost one: positions and bounds
  llvm::DenseMap<const Symbol*, const Statement*> declaredIn_; // arrays that a loop that waits makes: the innermost one
};

/// Local arrays of this many bytes in all are kept on the stack of the processor that runs the code.
inline constexpr int64_t largestStack = 16 << 10;

/// Bytes of an array; INT64_MAX when that is no 64-bit number.
int64_t bytesOf(ScalarType type, const std::vector<int64_t>& extents);
/// Which of a kernel's local arrays its callers make.
std::vector<const Symbol*> buffersOf(const CodeFacts& facts);

} // namespace strata::hbir
