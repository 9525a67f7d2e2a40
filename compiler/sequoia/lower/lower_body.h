// The lowering of one body (a leaf's kernel, an inner task's function, or a function that stands between them):
// expressions, C's statements, and in control code task calls, blocks and iterations. One object a body; it owns
// nothing that outlives it.
#pragma once

#include "compiler/cfamily/lower/lower_control.h"
#include "compiler/sequoia/check/tunable_uses.h"
#include "compiler/sequoia/lower/lower_module.h"

namespace strata::sequoia {

/// What a variable is in the body: a value that never changes, storage, or an array.
struct Binding {
  mlir::Value value;   // of the variable's type
  mlir::Value index;   // the same as an index: loop variables, size parameters, tunables that are settled later
  mlir::Value storage; // a block of rank 0
  mlir::Value block;   // arrays
  llvm::SmallVector<mlir::Value, 2> extents;
  bool nonNegative = false; // known without running, for what sums without overflow are made of
  cfamily::Range range;     // of a number's value, whatever overflows
};

/// The names that expressions are evaluated under: an instance for the tunables, and what variables are.
struct Environment {
  const Instance* instance = nullptr;
  llvm::DenseMap<const Variable*, Binding> bindings;
};

/// One argument of a task call, evaluated in the caller.
struct CallValue {
  mlir::Value scalar;                       // an `in` scalar
  mlir::Value view;                         // an array, or the storage of a scalar that is written
  llvm::SmallVector<mlir::Value, 2> counts; // extents of the view
  std::string name;                         // what messages call it
  std::optional<mlir::Location> place;      // the argument as the program writes it
};

class BodyLowering : cfamily::ControlLowering {
public:
  /// `function` is the mapping record's entry to fill; null for kernels.
  BodyLowering(ModuleLowering& module, uint32_t instance, mapping::FunctionPlacement* function);

  /// The kernel of a leaf; with `byReference`, scalars are blocks too.
  void lowerKernel(const std::string& symbol, bool byReference);
  /// The function of an inner task.
  void lowerFunction(const std::string& symbol, bool byReference, bool isEntry);
  /// A function that calls the instance with its own arguments, with the copies of a task call.
  void lowerWrapper(const std::string& symbol, bool byReference, bool isEntry);

private:
  using Values = llvm::SmallVector<mlir::Value, 2>;
  using Range = cfamily::Range;
  using Scalar = cfamily::Scalar;
  using ArithmeticLowering::comparison;

  // Small builders, at the current place (lower_values.cpp).
  Value zeroOf(mlir::Type type);
  /// A variable's value, narrowed from or widened to an index.
  Value fromIndex(Value index, const Type* type);
  Value toIndex(Value value, const Type* type);
  /// Uninitialized, as long as the body (or the parallel iteration) runs.
  Value storageFor(const Variable& variable);
  void at(const Location& location) { place_ = module_.place(location); }
  /// The place of an argument, with its text as the name.
  mlir::Location namedPlace(const Expr* expr) const;
  Value dimension(Value block, unsigned dimension);
  Binding arrayBinding(Value block, const Variable& array);
  /// What a scalar is; one whose declaration was jumped over gets storage now.
  Binding& bindingOf(const Variable* variable);

  // Expressions (lower_expressions.cpp).
  Value value(const Expr* expr);
  /// As an i1.
  Value condition(const Expr* expr);
  void effect(const Expr* expr);
  Value variableValue(const Expr* expr);
  Value unary(const Expr* expr);
  Value binary(const Expr* expr);
  Value comparison(const Expr* expr);
  Value logical(const Expr* expr);
  Value conditional(const Expr* expr);
  Value assignment(const Expr* expr);
  /// Marks the product that an operand of a sum is, if it is one, for contraction with the sum.
  bool contractWith(const Expr* operand);
  Value increment(const Expr* expr);
  /// Notes that a sum, difference or product of signed integers may not leave their type: C does not say what it is
  /// then.
  Value mayNotOverflow(const Type* type, Value result, Value left, Value right);
  /// Whether evaluating it twice, or without need, changes nothing and cannot fail.
  bool isPlain(const Expr* expr);

  // Arithmetic of C (lower_operators.cpp).
  Value operation(const Expr* expr, const Type* type, Value left, const Expr* leftText, Value right,
                  const Expr* rightText, bool contract);
  Value convert(Value value, const Type* from, const Type* to);
  Value builtin(const Expr* expr);

  // Integers as indices (lower_index.cpp).
  Value index(const Expr* expr);
  bool isNonNegative(const Expr* expr);
  /// What is known of an integer's value.
  Range rangeOf(const Expr* expr);
  /// The same of what index() gives, where sums of ints do not overflow.
  Range indexRangeOf(const Expr* expr);
  /// Sums and products over loop variables, sizes and tunables, of a signed type.
  bool isIndexText(const Expr* expr);
  /// The value of an expression without conversions that keep it.
  const Expr* withoutWidening(const Expr* expr);

  // Things that can be assigned, and parts of records (lower_places.cpp).
  struct Step {
    const Type* container = nullptr;
    unsigned field = 0;
    Value index; // of a C array, when it is not a constant
  };
  struct Target {
    const Type* root = nullptr; // of what `storage` holds at `indices`
    const Type* type = nullptr; // of the part that the path leads to
    Value storage;
    Values indices;
    llvm::SmallVector<Step, 2> path;
  };
  Target target(const Expr* expr);
  Target target(const Variable& variable);
  Value read(const Target& target);
  void write(const Target& target, Value value);
  Value fieldOf(Value record, const Step& step);
  Value withField(Value record, llvm::ArrayRef<Step> path, const Type* type, Value value);
  Step memberIndex(const Expr* expr);
  Values elementIndices(const Expr* expr);

  // Unions and large structs (lower_words.cpp).
  struct Offset {
    uint64_t bytes = 0;
    llvm::SmallVector<std::pair<Value, uint64_t>, 2> terms; // indices, and the bytes that each counts for
  };
  struct Words {
    Value storage; // memory, with the words as the last dimension
    Values indices;
    Value record; // else a record of words
    unsigned bytes = 1;
  };
  struct Position;
  static Offset offsetOf(llvm::ArrayRef<Step> path);
  Position positionOf(const Words& words, const Offset& offset);
  Value loadWord(const Words& words, const Position& position);
  void storeWord(Words& words, const Position& position, Value value);
  Value readBits(const Words& words, const Offset& offset, uint64_t bytes);
  void writeBits(Words& words, const Offset& offset, uint64_t bytes, Value bits);
  Value readObject(const Words& words, const Offset& offset, const Type* type);
  void writeObject(Words& words, const Offset& offset, const Type* type, Value value);
  static Words wordsAt(const Target& target);
  /// Where a large object is that an expression gives.
  Target object(const Expr* expr);
  Target newObject(const Type* type, const Location& where, std::string_view name);
  void copyObject(const Target& to, const Target& from);
  void clearObject(const Target& object);
  /// A large object as a block of its words.
  Value objectView(const Expr* expr);

  // Statements (lower_statements.cpp).
  void statement(const Stmt* stmt);
  void sequence(const std::vector<Stmt*>& statements);
  void declaration(const Stmt& stmt);
  void ifStatement(const Stmt& stmt);
  using Choice = std::pair<uint64_t, const SwitchSection*>; // by its value, from the highest bit on
  void switchStatement(const Stmt& stmt);
  void switchInOrder(const Stmt& stmt, Value chosen, unsigned jumps);
  void switchApart(const Stmt& stmt, Value chosen);
  /// An i1: the value is one of those of cases.
  Value isOneOf(Value chosen, const std::vector<int64_t>& values);
  void jump(Jump kind);
  /// An i1: none of these jumps is under way.
  Value noJump(unsigned jumps);

  // Loops of C (lower_loops.cpp).
  struct CountedStatement;
  void loop(const Stmt& stmt);
  void generalLoop(const Stmt& stmt);
  std::optional<CountedStatement> countedLoop(const Stmt& stmt);
  bool isInvariant(const Expr* expr, const Stmt& loop);
  void lowerCounted(const Stmt& stmt, const CountedStatement& counted);
  void loopBody(const Stmt& stmt);

  // Inline functions (lower_functions.cpp).
  Value callFunction(const Expr* expr);
  Value objectArgument(const Expr* expr);

  // Signatures (lower_instances.cpp).
  using Frame = mapping::LogicalModule;
  bool isBlock(const Variable& parameter, bool byReference) {
    return parameter.isArray() || parameter.direction != Direction::In || byReference || module_.isWide(parameter.type);
  }
  /// `hidden` is what an instance is given beside its arguments: nothing, what callers of a kernel make, or the counts
  /// of selections.
  enum class Hidden { Nothing, CallerMade, Counts };
  /// Without extents.
  std::vector<Frame::Argument> signature(bool byReference, Hidden hidden);
  void bindArguments(mlir::Block& entry, bool byReference, Hidden hidden);
  void bindSizes(Environment& environment, const TaskVariant& variant,
                 llvm::function_ref<Value(size_t parameter, size_t dimension)> extent);
  void checkEntrySizes();
  void placeArguments(bool byReference, unsigned arrayLevelFloor, bool isEntry);
  void spreadArguments();
  void gatherArguments();
  mlir::func::FuncOp beginFunction(const std::string& symbol, bool byReference, bool isEntry);
  void makeLocalArrays();
  void makePassedScalars();

  // Task calls (lower_calls.cpp).
  void taskCall(const Stmt& stmt);
  CallValue argumentValue(const Argument& argument, const Variable& parameter);
  void callTargets(const ResolvedCallsite& site, const std::string& label, const std::vector<CallValue>& arguments,
                   bool isApart);
  /// `isApart`: the operands are told apart by a scope around.
  void callInstance(const ResolvedTarget& target, const std::string& label, const std::vector<CallValue>& arguments,
                    bool isApart);
  void checkSizes(const TaskVariant& callee, const std::vector<CallValue>& arguments, llvm::StringRef taskName);
  void checkPreconditions(const Instance& callee, llvm::function_ref<mlir::ValueRange(const Variable*)> extentsOf);
  void checkPitches(const Instance& callee, llvm::function_ref<Value(const Variable*)> blockOf);
  std::string statedAt(const SizeBound& bound) const;
  /// FILE:LINE of a place in the mapping, behind `before`; nothing of a mapping made by Strata.
  std::string mappedAt(const char* before, const Location& where) const;
  /// Which tunables a divisor consists of, with their values: the help of a division by zero; empty without any.
  std::string tunablesIn(const Expr* divisor) const;
  Value linear(const LinearSize& size);
  /// A block of 64-bit words.
  Value makeWords(const llvm::Twine& label, int64_t count, unsigned level);
  Value makeBlock(const llvm::Twine& label, mlir::MemRefType type, mlir::ValueRange extents, unsigned level,
                  uint32_t instance, const Variable& array);
  void move(Value from, Value to) { make<svm::MoveOp>(mlir::Type(), from, to, mlir::ValueRange()); }
  const ResolvedCallsite& resolved(const Callsite& site) const;

  // Which target a callsite selects (lower_selection.cpp).
  Value targetHolds(const ResolvedTarget& target);
  Value boundHolds(const SizeBound& bound, mlir::ValueRange extents);
  bool isCountedAt(const ResolvedCallsite& site) const;
  /// Selects at a place in program order, and counts what was selected.
  Value select(const ResolvedCallsite& site);
  /// Selects for the callsites in a nest of iterations, before it begins.
  void selectBefore(const Stmt& map);
  void makeCounts();

  // Array blocks (lower_blocks.cpp).
  struct View {
    Value block;
    Values counts;
  };
  View viewOf(const Expr* block);
  View rangeView(const Expr* block);
  /// A block whose elements are brought together beside its array, and where they come from: a view with strides, or
  /// the indices. `operand`: which of the call or copy around it is.
  struct Staged {
    const Expr* block = nullptr;
    View elements, origin;
    std::optional<size_t> operand;
    Value nearIndices; // set: control touches neither the array nor its indices, of which this is a copy beside control
  };
  /// `level`: control's. What it cannot gather itself is brought together where it keeps its own, by a move for each
  /// element.
  Staged gathered(const Expr* block, bool fill, const std::string& label, std::optional<size_t> operand,
                  std::optional<int64_t> bound, unsigned level);
  void scatter(const Staged& staged);
  /// A block beside the array of so many elements, in which a block of it is brought together.
  View stagingBlock(const Expr* block, mlir::ValueRange counts, const std::string& label, std::optional<int64_t> bound);
  static bool isIndexed(const Expr* block) { return !block->operands.empty(); }
  void copyStatement(const Stmt& stmt);
  /// Copies between an indexed block's elements and the staged block, element by element.
  void exchange(const Staged& staging, bool toStaged);
  /// A move that reads or writes elements of an operand of the call or copy around.
  void moveOperand(Value from, Value to, size_t operand);

  // Tunables that divide (lower_tunables.cpp).
  /// The body of a task's function. With tunables that are settled when it begins there are two: one for their largest
  /// values, which most sizes are multiples of, and one for what is settled.
  void functionBody();
  /// Finds the largest values by which all divisions come out; they are what the tunables are bound to.
  void settleTunables();
  bool settlesTunables() const;
  /// Whether something is divided by a product with a tunable.
  bool hasProduct(const Variable* tunable) const;
  /// Whether such a product is larger than what it divides.
  Value exceedsAny(const Variable* tunable);
  Value formulaValue(const Formula& formula);
  /// Whether a division leaves nothing.
  Value comesOut(const ExactDivision& division);
  /// The same of all that such tunables are settled by.
  Value allComeOut();
  /// A division that the mapping made by Strata takes to leave nothing; null: this is none.
  const ExactDivision* exactDivision(const Expr* expr);
  /// Checks such a division where it stands.
  void checkExact(const Expr* division);
  void checkCovers(const Stmt& stmt, const Variable* counter, const Expr* end, Value upper);

  // Iterations (lower_maps.cpp).
  void mapStatement(const Stmt& stmt);
  Value mapBound(const Expr* bound, const Loop& loop);
  void parallelLoop(const Stmt& stmt, Value lower, Value upper, mlir::StringAttr label);
  void bindLoopVariable(const Variable* variable, Value iteration, bool nonNegative);
  void prepareReductions(const Stmt& call, unsigned level, std::vector<Staged>& staged);
  static bool isPlainView(const Argument& argument);
  void placeLoop(const Loop& loop, const std::string& label);

  ModuleLowering& module_;
  uint32_t number_;
  const Instance& instance_;
  mapping::FunctionPlacement* function_;
  Environment own_;
  Environment* names_ = &own_;
  Value counts_;                              // how often each counted instance has been selected
  std::map<const Callsite*, Value> selected_; // the position of the selected target, or -1
  Value breakFlag_, continueFlag_, returnFlag_, returned_;
  llvm::DenseSet<const Expr*> contracted_; // products that are operands of sums
  std::optional<TunableUses> uses_;        // of the variant, when asked for
  size_t inlined_ = 0, nested_ = 0, copies_ = 0;
  uint64_t localBytes_ = 0; // of large structs on the stack
  size_t depth_ = 0;        // of expressions, through inline functions
  struct Deeper {
    explicit Deeper(BodyLowering& body) : depth(body.depth_) { ++depth; }
    ~Deeper() { --depth; }
    size_t& depth;
  };
  std::vector<std::pair<Value, Value>> spread_; // an entry point's arrays at a virtual level, and where they go back to
  std::map<const Argument*, View> reductions_;  // of the mapreduce around: private copies
};

/// "A", or "A#1" for the second of that name.
std::string labelOf(std::string_view name, uint32_t lexnum);
mlir::arith::CmpIPredicate predicateOf(Relation relation);

} // namespace strata::sequoia
