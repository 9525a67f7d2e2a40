// A function of a register is called through a place on the stack, one for each type of register and function of the
// program: what calls what for how many lanes is the same on every processor.
#include "compiler/target/host/lane_calls.h"

#include "runtime/core/lane_functions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace strata::host {
namespace {

class LaneCalls {
public:
  explicit LaneCalls(ModuleOp program)
      : program_(program), pointer_(LLVM::LLVMPointerType::get(program.getContext())) {}

  void run() {
    SmallVector<Operation*> calls;
    program_.walk([&](Operation* op) {
      if (isa<math::MathDialect>(op->getDialect()) && op->getNumResults() == 1 && op->getNumOperands() == 1)
        if (auto type = dyn_cast<VectorType>(op->getResult(0).getType()); type && !symbolOf(op, type).empty())
          calls.push_back(op);
    });
    for (Operation* op : calls)
      replace(op, cast<VectorType>(op->getResult(0).getType()));
  }

private:
  /// "strata_lanes_exp_f32"; empty for what is an instruction, or becomes some.
  static std::string symbolOf(Operation* op, VectorType type) {
    const StringRef name = op->getName().stripDialect();
#define STRATA_IS_LANES(NAME)                                                                                          \
  if (name == #NAME)                                                                                                   \
    return std::string("strata_lanes_" #NAME) + (type.getElementType().isF64() ? "_f64" : "_f32");
    STRATA_LANE_FUNCTIONS(STRATA_IS_LANES)
#undef STRATA_IS_LANES
    return {};
  }

  LLVM::LLVMFuncOp function(StringRef symbol, Type number) {
    if (auto known = program_.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
      return known;
    OpBuilder builder = OpBuilder::atBlockBegin(program_.getBody());
    return builder.create<LLVM::LLVMFuncOp>(
        program_.getLoc(), symbol,
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(program_.getContext()), {pointer_, number}));
  }

  void replace(Operation* op, VectorType type) {
    const Location place = op->getLoc();
    auto around = op->getParentOfType<FunctionOpInterface>();
    OpBuilder builder(op);
    Value& slot = slots_[{around, type}];
    if (!slot) {
      OpBuilder first = OpBuilder::atBlockBegin(&around.getFunctionBody().front());
      Value one = first.create<LLVM::ConstantOp>(place, first.getI64IntegerAttr(1));
      slot = first.create<LLVM::AllocaOp>(place, pointer_, type, one, /*alignment=*/64);
    }
    builder.create<LLVM::StoreOp>(place, op->getOperand(0), slot);
    Value count = builder.create<LLVM::ConstantOp>(place, builder.getI64IntegerAttr(type.getNumElements()));
    builder.create<LLVM::CallOp>(place, function(symbolOf(op, type), builder.getI64Type()), ValueRange{slot, count});
    Value made = builder.create<LLVM::LoadOp>(place, type, slot);
    op->getResult(0).replaceAllUsesWith(made);
    op->erase();
  }

  ModuleOp program_;
  const Type pointer_;
  llvm::DenseMap<std::pair<Operation*, Type>, Value> slots_;
};

} // namespace

void callLaneFunctions(ModuleOp program) {
  LaneCalls(program).run();
}

} // namespace strata::host
