// Writes the body of a function as structured operations (arith, math, memref, scf). Private to raising.
#pragma once

#include "compiler/ir/svm.h"
#include "compiler/raise/raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/FloatingPointMode.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IntrinsicInst.h"

namespace strata::raise {

/// The verifier of logical programs takes 256; around a body are the loops over its instances.
inline constexpr unsigned mostDepth = 100;

class Body {
public:
  Body(Analyses& analyses, CountedLoops& loops, Indices& indices, Memory& memory, Refusal& refusal,
       mlir::OpBuilder& builder, const Places& places, const std::map<std::string, CallWriter>& calls)
      : analyses_(analyses), loops_(loops), indices_(indices), memory_(memory), refusal_(refusal), builder_(builder),
        places_(places), calls_(calls), place_(builder.getUnknownLoc()) {}

  void setValue(const llvm::Value* value, mlir::Value given) { values_[value] = given; }
  void setBlock(const llvm::Value* value, mlir::Value given) { blocks_[value] = given; }
  void setSymbols(mlir::ArrayRef<mlir::Value> symbols) { symbols_.assign(symbols.begin(), symbols.end()); }
  bool write(mlir::OpBuilder& variables);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using BasicBlock = llvm::BasicBlock;

  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }
  bool refuse(std::string what, const llvm::Instruction* at) { return refusal_.refuse(std::move(what), at); }

  // Values (body_values.cpp).
  mlir::Type typeOf(const llvm::Type* type);
  mlir::Type typeOf(const llvm::Value* value);
  mlir::Value valueOf(const llvm::Value* value);
  mlir::Value index(int64_t value);
  mlir::Value zero(mlir::Type type);
  mlir::Value asIndex(mlir::Value value, Widening widening);
  mlir::Value valueOf(const Atom* atom);
  mlir::Value valueOf(const Polynomial& polynomial);
  mlir::Value valueOf(const llvm::SCEV* expression);
  mlir::Value fold(const llvm::SCEVNAryExpr* expression,
                   llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> operation);

  // Straight code (body_operations.cpp).
  mlir::Value tableOf(const llvm::GlobalVariable& constant, const MemoryBlock& block, mlir::OpBuilder& variables);
  Values indicesOf(const Access& access);
  mlir::Value as(mlir::Type type, mlir::Value value);
  mlir::Value load(const Access& access, mlir::Type type);
  void store(const Access& access, mlir::Value value);
  bool writeInstruction(llvm::Instruction& instruction);
  mlir::Value operation(llvm::Instruction& instruction);
  mlir::Value comparison(llvm::ICmpInst& compared);
  bool compareAddresses(llvm::ICmpInst& compared);
  mlir::arith::FastMathFlagsAttr flagsOf(const llvm::Instruction& instruction);
  template <typename Op>
  mlir::Value floating(llvm::Instruction& instruction, unsigned operands) {
    Values given;
    for (unsigned number = 0; number < operands; ++number)
      given.push_back(valueOf(instruction.getOperand(number)));
    auto made = make<Op>(mlir::TypeRange{typeOf(instruction.getType())}, given);
    made.setFastmathAttr(flagsOf(instruction));
    return made;
  }
  mlir::Value writeAtomic(llvm::Instruction& change, svm::AtomicKind kind, const llvm::Value* value,
                          const llvm::Value* expected);

  // Calls (body_calls.cpp).
  bool writeCall(llvm::CallInst& call);
  bool writeBulk(llvm::MemIntrinsic& bulk);
  mlir::Value filling(const llvm::Value* byte, mlir::Type element);

  // Functions of integers (body_integers.cpp). Null: it is none of them.
  mlir::Value integerFunction(llvm::CallInst& call);
  /// The result, and whether it does not fit.
  std::pair<mlir::Value, mlir::Value> withOverflow(llvm::WithOverflowInst& call);
  mlir::Value integer(mlir::Type type, const llvm::APInt& value);
  mlir::Value integer(mlir::Type type, uint64_t value);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value left, mlir::Value right);
  mlir::Value leavesType(bool isSum, mlir::Value left, mlir::Value right, mlir::Value result);
  mlir::Value saturating(bool isSum, bool hasSign, mlir::Value left, mlir::Value right);
  mlir::Value funnelShift(bool isLeft, mlir::Value high, mlir::Value low, const llvm::Value* by);
  mlir::Value reversed(mlir::Value value, unsigned smallest);

  // Functions of real numbers (body_reals.cpp). Null: it is none of them.
  mlir::Value realFunction(llvm::CallInst& call);
  llvm::StringRef libraryFunction(const llvm::CallInst& call) const;
  mlir::Value callLibrary(llvm::StringRef name, llvm::CallInst& call);
  mlir::Value real(mlir::Type type, double value);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value left, mlir::Value right);
  mlir::Value bitsOfReal(mlir::Value value);
  mlir::Value extremeNumber(bool isLeast, const llvm::CallInst& call);
  mlir::Value extreme(bool isLeast, mlir::Value left, mlir::Value right);
  mlir::Value wholeNumber(mlir::Value value, mlir::Type type);
  mlir::Value nearestInside(mlir::Value value, mlir::Type type, bool hasSign);
  mlir::Value powerOfTwo(mlir::Value exponent);
  mlir::Value scaled(mlir::Value value, mlir::Value exponent);
  std::pair<mlir::Value, mlir::Value> fractionAndExponent(mlir::Value value);
  mlir::Value integerPower(mlir::Value base, const llvm::Value* given);
  mlir::Value isOfClass(mlir::Value value, llvm::FPClassTest classes);

  // Choices (body_control.cpp).

  /// A run of blocks: which edges leave it, and the values that leave on them. `from` is null where the phis of `to`
  /// have their values: on the exits of a loop.
  struct Run {
    llvm::function_ref<bool(BasicBlock* from, BasicBlock* to)> isEnd;
    llvm::function_ref<Values(BasicBlock* from, BasicBlock* to)> leaving;
    llvm::SmallVector<mlir::Type> types; // of what leaves
    llvm::Loop* loop = nullptr;          // that it is in
  };
  using Left = std::optional<Values>; // nothing on a refusal
  using Arm = llvm::function_ref<Left(Run&)>;

  Left run(BasicBlock* block, Run& run);
  Left follow(BasicBlock* from, BasicBlock* to, Run& run);
  Left choose(BasicBlock* at, BasicBlock* meeting, mlir::Value condition, Arm then, Arm otherwise, Run& run);
  BasicBlock* within(BasicBlock* meeting, const Run& run);
  BasicBlock* meetingOf(BasicBlock* block, const Run& run);
  BasicBlock* meetingOf(llvm::ArrayRef<std::pair<mlir::Value, BasicBlock*>> exits, const Run& run);
  void enter(BasicBlock* from, BasicBlock* to);
  bool isCarried(const llvm::PHINode& phi) { return bool(typeOf(&phi)) && !isFollowed(phi); }
  bool isFollowed(const llvm::PHINode& phi);
  mlir::Value incoming(llvm::PHINode& phi, BasicBlock* from);

  // Loops (body_loops.cpp).

  /// Where a loop goes on: the first whose flag is set, the last otherwise.
  using Exits = std::vector<std::pair<mlir::Value, BasicBlock*>>;
  bool writeLoop(llvm::Loop* loop, Exits& exits);
  bool writeFor(llvm::Loop* loop, const CountedLoop& counted, Exits& exits);
  bool boundsOf(const CountedLoop& counted, mlir::Value& lower, mlir::Value& upper);
  bool leaveFor(llvm::Loop* loop, const CountedLoop& counted, mlir::scf::ForOp made,
                llvm::ArrayRef<llvm::PHINode*> carried, llvm::ArrayRef<llvm::Value*> kept);
  bool writeWhile(llvm::Loop* loop, Exits& exits);
  bool isDerived(llvm::PHINode& phi, const llvm::Loop* loop, const CountedLoop& counted);
  Left goOn(BasicBlock* head, llvm::ArrayRef<std::pair<mlir::Value, BasicBlock*>> exits, Run& run);

  Analyses& analyses_;
  CountedLoops& loops_;
  Indices& indices_;
  Memory& memory_;
  Refusal& refusal_;
  mlir::OpBuilder& builder_;
  const Places& places_;
  const std::map<std::string, CallWriter>& calls_;
  mlir::Location place_;
  llvm::DenseMap<const llvm::Value*, mlir::Value> values_, blocks_;
  llvm::DenseMap<const llvm::Value*, std::pair<mlir::Value, mlir::Value>> pairs_; // of calls with two results
  llvm::DenseMap<const llvm::Loop*, mlir::Value> variables_;                      // of the counted loops around
  Values symbols_;
  size_t written_ = 0, mostWritten_ = 0;
  unsigned depth_ = 0; // of loops and choices around
};

} // namespace strata::raise
