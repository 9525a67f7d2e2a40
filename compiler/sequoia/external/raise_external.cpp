// A copy of the code is raised: there, the functions of sequoia.h that find an element have bodies without loops. An
// array of several dimensions is one of a single dimension to the body, from its first element to its last, since that
// is how C reaches it.
#include "compiler/sequoia/external/raise_external.h"

#include "compiler/ir/locations.h"
#include "compiler/ir/verify_logical.h"
#include "compiler/mapping/logical_module.h"
#include "compiler/raise/clean.h"
#include "compiler/raise/raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;

using mlir::Value;
using strata::svm::KernelOp;

namespace strata::sequoia::external {

STRATA_DIAGNOSTIC(notRaised, Remark, "sequoia-not-raised", "external task '{0}' runs as LLVM code: {1}");

namespace {

/// What fits the stack of any processor beside what the program's own code has there.
constexpr uint64_t mostLocal = 64 << 10;

/// Functions of the C text around external tasks (external.cpp).
constexpr const char *checkIndex = "strata.check_index", *checkLayout = "strata.check_layout";

class ExternalRaiser {
public:
  ExternalRaiser(const ExternalCode& code, KernelOp kernel, DiagnosticEngine& diagnostics)
      : task_(*code.task), kernel_(kernel), diagnostics_(diagnostics), builder_(kernel.getContext()) {}

  /// False where a remark says why not.
  bool run(llvm::Module& module) {
    function_ = module.getFunction(raisedPrefix + task_.instance);
    if (!function_)
      return false;
    prepare(module);
    raise::clean(*function_);
    if (localBytes() > mostLocal)
      return refuse("its variables take more than " + std::to_string(mostLocal) + " bytes");
    raise::Raising raising(*function_, arguments_);
    if (!raising.analyze())
      return refuse(raising.refusal());
    if (!checkBlocks(raising))
      return false;
    // In the place of the old one, under its name.
    builder_.setInsertionPoint(kernel_);
    raised_ = mlir::cast<KernelOp>(builder_.clone(*kernel_));
    raised_.removeLlvmAttr();
    if (write(raising) && isValid()) {
      kernel_.erase();
      return true;
    }
    raised_.erase();
    return false;
  }

private:
  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(kernel_.getLoc(), std::forward<Arguments>(arguments)...);
  }
  Value index(int64_t value) { return make<arith::ConstantIndexOp>(value); }

  bool refuse(const std::string& why, const llvm::Instruction* at = nullptr) {
    const Location place = at ? placeOf(*at) : Location();
    diagnostics_.report(notRaised, place.valid() ? place : task_.where, task_.instance, why);
    return false;
  }
  bool refuse(const raise::Refusal& refusal) { return refuse("it has " + refusal.what, refusal.at); }

  /// In the user's file; invalid where an instruction is of the text around it.
  Location placeOf(const llvm::Instruction& instruction) const {
    SourceManager& sources = diagnostics_.sources();
    for (const llvm::DILocation* at = instruction.getDebugLoc(); at; at = at->getInlinedAt()) {
      llvm::SmallString<256> full(at->getDirectory());
      llvm::sys::path::append(full, at->getFilename());
      for (const std::string& name : {at->getFilename().str(), std::string(full)})
        if (const BufferId buffer = sources.find(name); buffer.valid() && at->getLine())
          return sources.at(buffer, at->getLine(), std::max(at->getColumn(), 1u));
    }
    return {};
  }

  // ---- the function ----

  int symbol() { return static_cast<int>(symbols_++); }

  /// Makes a function of it that can be read by itself, and says what its arguments are.
  void prepare(llvm::Module& module) {
    for (unsigned rank = 1; rank <= 9; ++rank) {
      llvm::Function* element = module.getFunction("sqElmt" + std::to_string(rank) + "D");
      llvm::Function* rowMajor = module.getFunction(rowMajorPrefix + std::to_string(rank) + "D");
      if (element && rowMajor && element->getFunctionType() == rowMajor->getFunctionType())
        element->replaceAllUsesWith(rowMajor);
    }
    if (llvm::Function* check = module.getFunction(checkIndex)) {
      check->deleteBody();
      check->setComdat(nullptr);
    }
    for (const char* name : {checkIndex, checkLayout})
      if (llvm::Function* check = module.getFunction(name)) {
        check->setOnlyAccessesInaccessibleMemory();
        check->setDoesNotThrow();
      }
    using Kind = raise::Argument::Kind;
    for (mlir::Type type : kernel_.getArgumentTypes()) {
      const auto block = mlir::dyn_cast<mlir::MemRefType>(type);
      if (!block) {
        if (type.isIndex())
          arguments_.push_back({.kind = Kind::Known, .known = {{symbol()}}});
        else
          arguments_.push_back({.kind = Kind::Scalar});
        continue;
      }
      function_->addParamAttr(static_cast<unsigned>(arguments_.size()), llvm::Attribute::NoAlias);
      arguments_.push_back({.kind = Kind::Block,
                            .element = raise::numberType(block.getElementType(), module.getContext()),
                            .hasElements = true});
      for (int64_t dimension = 0; dimension < block.getRank(); ++dimension)
        arguments_.push_back({.kind = Kind::Known, .known = {{symbol()}}, .isSmall = true});
      for (int64_t dimension = 0; dimension < block.getRank(); ++dimension)
        arguments_.push_back({.kind = Kind::Known, .known = {{symbol()}}});
    }
    for (llvm::Argument& argument : function_->args()) {
      argument.removeAttr(llvm::Attribute::SExt);
      argument.removeAttr(llvm::Attribute::ZExt);
    }
  }

  uint64_t localBytes() const {
    uint64_t bytes = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(*function_))
      if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
        if (const auto size = variable->getAllocationSize(function_->getParent()->getDataLayout());
            size && !size->isScalable())
          bytes += size->getFixedValue();
    return bytes;
  }

  mlir::Type typeOf(const llvm::Type* type) {
    if (type->isFloatTy())
      return builder_.getF32Type();
    if (type->isDoubleTy())
      return builder_.getF64Type();
    return builder_.getIntegerType(type->getIntegerBitWidth());
  }

  /// What the function loads and stores has to be what the arrays hold, and what the task says of them.
  bool checkBlocks(const raise::Raising& raising) {
    unsigned parameter = 0;
    for (auto [position, type] : llvm::enumerate(kernel_.getArgumentTypes())) {
      const auto array = mlir::dyn_cast<mlir::MemRefType>(type);
      const std::string name = "'" + kernel_.argumentName(static_cast<unsigned>(position)) + "'";
      if (array && array != svm::viewType(static_cast<unsigned>(array.getRank()), array.getElementType()))
        return refuse(name + " is laid out in a way of its own");
      const raise::MemoryBlock* block = array ? raising.blockOf(parameter) : nullptr;
      if (block && block->element && typeOf(block->element) != array.getElementType())
        return refuse("it takes the elements of " + name + " for others than they are");
      if (block && block->isWritten && kernel_.access(static_cast<unsigned>(position)) == svm::Access::Read)
        return refuse("it stores to " + name + ", which its task only reads");
      if (!array && !type.isIndex() && typeOf(function_->getArg(parameter)->getType()) != type)
        return refuse("it takes " + name + " for another number than it is");
      parameter += array ? 1 + 2 * static_cast<unsigned>(array.getRank()) : 1;
    }
    return true;
  }

  // ---- the kernel ----

  bool write(raise::Raising& raising) {
    mlir::Block* body = mapping::LogicalModule::makeBody(raised_);
    builder_.setInsertionPointToStart(body);
    auto end = make<svm::ReturnOp>();
    builder_.setInsertionPoint(end);
    std::vector<Value> values, symbols;
    for (Value argument : body->getArguments()) {
      const auto block = mlir::dyn_cast<mlir::MemRefType>(argument.getType());
      if (block && block.getRank()) {
        describe(argument, block, values, symbols);
        continue;
      }
      if (argument.getType().isIndex())
        symbols.push_back(argument);
      values.push_back(argument);
    }
    setCalls(raising);
    mlir::Operation* front = builder_.getInsertionBlock()->empty() ? end.getOperation() : &body->front();
    mlir::OpBuilder variables(front);
    const auto placeIn = [&](const llvm::Instruction& instruction) {
      const Location place = placeOf(instruction);
      return place.valid() ? locationAt(diagnostics_.sources(), place, *kernel_.getContext())
                           : mlir::Location(kernel_.getLoc());
    };
    if (!raising.write(builder_, variables, values, symbols, placeIn))
      return refuse(raising.refusal());
    if (raising.reliesOnSmall())
      checkExtents(body);
    return true;
  }

  /// An array as the function takes it: from its first element on, with extents and pitches.
  void describe(Value array, mlir::MemRefType type, std::vector<Value>& values, std::vector<Value>& symbols) {
    const auto rank = static_cast<unsigned>(type.getRank());
    std::vector<Value> extents, pitches;
    for (unsigned dimension = 0; dimension < rank; ++dimension)
      extents.push_back(make<memref::DimOp>(array, static_cast<int64_t>(dimension)));
    pitches.push_back(extents.front());
    if (rank > 1) {
      auto layout = make<memref::ExtractStridedMetadataOp>(array);
      std::vector<Value> strides(layout.getStrides().begin(), layout.getStrides().end());
      strides.back() = index(1);
      for (unsigned dimension = 1; dimension < rank; ++dimension)
        pitches.push_back(dimension + 1 == rank
                              ? strides[dimension - 1]
                              : pitchOf(strides[dimension - 1], strides[dimension], extents[dimension]));
      array = flat(array, type, layout.getOffset(), extents, strides);
    }
    values.push_back(array);
    values.resize(values.size() + 2 * rank);
    llvm::append_range(symbols, extents);
    llvm::append_range(symbols, pitches);
  }

  /// The quotient of two strides; where there are no elements, any will do.
  Value pitchOf(Value outer, Value inner, Value extent) {
    Value none = make<arith::CmpIOp>(arith::CmpIPredicate::eq, inner, index(0));
    Value divisor = make<arith::SelectOp>(none, index(1), inner);
    Value rest = make<arith::RemUIOp>(outer, divisor);
    check(make<arith::CmpIOp>(arith::CmpIPredicate::eq, rest, index(0)), "sequoia-external-layout",
          "a block for an external task has rows {0} elements apart, which is no multiple of {1}", {outer, inner});
    return make<arith::SelectOp>(none, extent, make<arith::DivUIOp>(outer, divisor));
  }

  Value flat(Value array, mlir::MemRefType type, Value offset, mlir::ArrayRef<Value> extents,
             mlir::ArrayRef<Value> strides) {
    Value last = index(0), isEmpty = make<arith::ConstantIntOp>(0, 1);
    for (auto [extent, stride] : llvm::zip(extents, strides)) {
      last = make<arith::AddIOp>(last, make<arith::MulIOp>(make<arith::SubIOp>(extent, index(1)), stride));
      isEmpty =
          make<arith::OrIOp>(isEmpty, make<arith::CmpIOp>(arith::CmpIPredicate::eq, extent, index(0)).getResult());
    }
    Value size = make<arith::SelectOp>(isEmpty, index(0), make<arith::AddIOp>(last, index(1)));
    return make<memref::ReinterpretCastOp>(svm::viewType(1, type.getElementType()), array, mlir::OpFoldResult(offset),
                                           mlir::ArrayRef<mlir::OpFoldResult>(size),
                                           mlir::ArrayRef<mlir::OpFoldResult>(builder_.getIndexAttr(1)));
  }

  void check(Value condition, const char* code, const std::string& message, mlir::ValueRange values) {
    make<svm::CheckOp>(condition, builder_.getStringAttr(code), builder_.getStringAttr(message), mlir::StringAttr(),
                       values);
  }

  /// Indices in 32 bits are taken to be extents that fit them.
  void checkExtents(mlir::Block* body) {
    constexpr int64_t mostSmall = int64_t(1) << 30;
    builder_.setInsertionPointToStart(body);
    for (Value argument : body->getArguments()) {
      const auto block = mlir::dyn_cast<mlir::MemRefType>(argument.getType());
      for (int64_t dimension = 0; block && dimension < block.getRank(); ++dimension) {
        Value extent = make<memref::DimOp>(argument, dimension);
        check(make<arith::CmpIOp>(arith::CmpIPredicate::slt, extent, index(mostSmall)), "sequoia-index-bits",
              "external task '" + task_.instance +
                  "' keeps an index in 32 bits, and an array has {0} elements in a dimension; less than 2^30 are "
                  "possible so",
              extent);
      }
    }
  }

  void setCalls(raise::Raising& raising) {
    raising.setCall(checkIndex, [](mlir::OpBuilder& builder, mlir::Location place, mlir::ArrayRef<Value> given) {
      Value inside = builder.create<arith::CmpIOp>(place, arith::CmpIPredicate::ult, given[0], given[2]);
      builder.create<svm::CheckOp>(
          place, inside, builder.getStringAttr("sequoia-index"),
          builder.getStringAttr("an external task asks for index {0} in dimension {1}, which has {2} elements"),
          mlir::StringAttr(), given);
      return std::string();
    });
    raising.setCall(checkLayout, [](mlir::OpBuilder&, mlir::Location, mlir::ArrayRef<Value> given) {
      return mlir::matchPattern(given.front(), mlir::m_NonZero())
                 ? std::string()
                 : std::string("an array whose order of dimensions is not known");
    });
  }

  /// Whether the kernel keeps the rules of programs, which C does not know.
  bool isValid() {
    mlir::ModuleOp program = raised_->getParentOfType<mlir::ModuleOp>();
    mlir::OwningOpRef<mlir::ModuleOp> alone = mlir::ModuleOp::create(program.getLoc());
    alone->getOperation()->setAttrs(program->getAttrs());
    mlir::OpBuilder into = mlir::OpBuilder::atBlockEnd(alone->getBody());
    for (auto table : program.getOps<memref::GlobalOp>())
      into.clone(*table);
    into.clone(*raised_);
    std::string problem;
    mlir::ScopedDiagnosticHandler quiet(raised_.getContext(), [&](mlir::Diagnostic& diagnostic) {
      if (problem.empty())
        problem = diagnostic.str();
      return mlir::success();
    });
    if (mlir::succeeded(mlir::verify(*alone)) && mlir::succeeded(svm::verifyLogical(*alone)))
      return true;
    return refuse("its kernel would break a rule: " + problem);
  }

  const ExternalTask& task_;
  KernelOp kernel_, raised_;
  DiagnosticEngine& diagnostics_;
  mlir::OpBuilder builder_;
  llvm::Function* function_ = nullptr;
  std::vector<raise::Argument> arguments_; // of the function
  unsigned symbols_ = 0;
};

} // namespace

void raiseExternal(mlir::ModuleOp program, const ExternalCode& code, const llvm::Module& module,
                   DiagnosticEngine& diagnostics) {
  KernelOp kernel = kernelOf(program, code.task->instance);
  if (code.hasStructs) {
    diagnostics.report(notRaised, code.task->where, code.task->instance, "it takes structs");
    return;
  }
  program.getContext()
      ->loadDialect<arith::ArithDialect, mlir::math::MathDialect, memref::MemRefDialect, mlir::scf::SCFDialect>();
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  ExternalRaiser(code, kernel, diagnostics).run(*copy);
}

void removeRaisedForms(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.getName().starts_with(raisedPrefix) || function.getName().starts_with(rowMajorPrefix))
      function.eraseFromParent();
  if (llvm::Function* check = module.getFunction(checkLayout); check && check->use_empty())
    check->eraseFromParent();
}

} // namespace strata::sequoia::external
