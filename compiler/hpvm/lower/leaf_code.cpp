// LLVM's cloning, and a replacement for each call.
#include "compiler/hpvm/lower/leaf_code.h"

#include "compiler/hpvm/graph/calls.h"
#include "compiler/hpvm/graph/places.h"
#include "compiler/ir/barrier_check.h"
#include "compiler/raise/raise.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/GlobalStatus.h"

namespace strata::hpvm {

STRATA_DIAGNOSTIC(nodeUnknown, Error, "hpvm-query",
                  "{0} is asked about a node that is not seen to be this one or one around it");
STRATA_DIAGNOSTIC(noDimension, Error, "hpvm-dimension", "{0} asks for dimension {1} of a node of {2} dimensions");
STRATA_DIAGNOSTIC(dimensionUnknown, Error, "hpvm-dimension-constant",
                  "{0} is asked for a dimension that is not a constant");

llvm::Value* makeAtomic(llvm::CallBase& call) {
  using Op = llvm::AtomicRMWInst;
  const std::string callee = calleeOf(call);
  const llvm::StringRef name = llvm::StringRef(callee).drop_front(std::string_view("__hpvm__atomic_").size());
  auto* type = llvm::Type::getInt32Ty(call.getContext());
  const auto order = llvm::AtomicOrdering::SequentiallyConsistent;
  llvm::Value* at = call.getArgOperand(0);
  if (name == "cmpxchg") {
    auto* pair = new llvm::AtomicCmpXchgInst(at, call.getArgOperand(1), call.getArgOperand(2), llvm::Align(4), order,
                                             order, llvm::SyncScope::System, &call);
    return llvm::ExtractValueInst::Create(pair, {0}, "", &call);
  }
  const auto operation = llvm::StringSwitch<Op::BinOp>(name)
                             .Cases("add", "inc", Op::Add)
                             .Cases("sub", "dec", Op::Sub)
                             .Case("min", Op::Min)
                             .Case("max", Op::Max)
                             .Case("umin", Op::UMin)
                             .Case("umax", Op::UMax)
                             .Case("xchg", Op::Xchg)
                             .Case("and", Op::And)
                             .Case("or", Op::Or)
                             .Default(Op::Xor);
  llvm::Value* value = call.arg_size() > 1 ? call.getArgOperand(1) : llvm::ConstantInt::get(type, 1);
  return new Op(operation, at, value, llvm::Align(4), order, llvm::SyncScope::System, &call);
}

namespace {

class LeafMaker {
public:
  LeafMaker(const LeafNode& leaf, const LeafUse& use, DiagnosticEngine& diagnostics)
      : leaf_(leaf), use_(use), diagnostics_(diagnostics), context_(leaf.function->getContext()) {}

  llvm::Function* make(const std::string& name, bool keepsLines) {
    const unsigned before = diagnostics_.errorCount();
    llvm::Function& own = *leaf_.function;
    llvm::SmallVector<llvm::Type*> types;
    llvm::SmallVector<unsigned> starts;
    for (llvm::Argument& argument : own.args()) {
      starts.push_back(types.size());
      const bool isAddress = use_.isAddress[argument.getArgNo()];
      types.push_back(isAddress ? word() : argument.getType());
      if (argument.getType()->isPointerTy() && !isAddress)
        types.append(2, word());
    }
    const size_t launch = types.size(), levels = launch + leaf_.allocates;
    size_t count = 0;
    for (unsigned dimensions : use_.dimensions)
      count += 2 * size_t(dimensions);
    types.append(levels - launch + count, word());
    isLast_ = types.size();
    if (anyOutput()) {
      types.push_back(llvm::Type::getInt1Ty(context_));
      types.push_back(word());
    }
    const size_t outputs = types.size();
    for (bool wanted : use_.last)
      if (wanted)
        types.push_back(llvm::PointerType::getUnqual(context_));
    for (bool wanted : use_.each)
      if (wanted) {
        types.push_back(llvm::PointerType::getUnqual(context_));
        types.append(2, word());
      }
    made_ = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context_), types, false),
                                   llvm::GlobalValue::ExternalLinkage, name, own.getParent());
    llvm::ValueToValueMapTy values;
    auto* begin = llvm::BasicBlock::Create(context_, "", made_);
    for (llvm::Argument& argument : own.args()) {
      llvm::Value* given = made_->getArg(starts[argument.getArgNo()]);
      if (use_.isAddress[argument.getArgNo()])
        given = llvm::CastInst::Create(llvm::Instruction::IntToPtr, given, argument.getType(), "", begin);
      values[&argument] = given;
    }
    llvm::SmallVector<llvm::ReturnInst*> returns;
    llvm::CloneFunctionInto(made_, &own, values, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
    auto* body = llvm::cast<llvm::BasicBlock>(values[&own.getEntryBlock()]);
    llvm::BranchInst::Create(body, begin);
    llvm::MergeBlockIntoPredecessor(body); // so that its variables are those of the first block
    // What is said of arguments holds for C's convention of calls, and not for the kernels' one.
    made_->setAttributes(llvm::AttributeList::get(context_, made_->getAttributes().getFnAttrs(), {}, {}));
    if (!keepsLines)
      llvm::stripDebugInfo(*made_);
    made_->setComdat(nullptr);
    made_->removeFnAttr(llvm::Attribute::NoInline);
    made_->addFnAttr(llvm::Attribute::AlwaysInline);
    for (llvm::ReturnInst* each : returns)
      if (each->getReturnValue()) {
        llvm::ReturnInst::Create(context_, nullptr, each);
        each->eraseFromParent();
      }
    launch_ = launch;
    levels_ = levels;
    outputs_ = outputs;
    replaceCalls(values);
    clearOutputs(&*made_->getEntryBlock().getFirstInsertionPt());
    return diagnostics_.errorCount() == before ? made_ : nullptr;
  }

private:
  llvm::Type* word() const { return llvm::Type::getInt64Ty(context_); }
  bool anyOutput() const { return llvm::is_contained(use_.last, true) || llvm::is_contained(use_.each, true); }

  /// Calls are looked at in the leaf, which has their places, and replaced in the copy.
  void replaceCalls(llvm::ValueToValueMapTy& values) {
    llvm::SmallVector<llvm::CallBase*> replaced;
    for (llvm::Instruction& instruction : llvm::instructions(*leaf_.function)) {
      const CallKind kind = kindOf(instruction);
      if (kind == CallKind::None)
        continue;
      auto& call = llvm::cast<llvm::CallBase>(instruction);
      auto* copy = llvm::cast_or_null<llvm::CallBase>(values.lookup(&call));
      if (!copy)
        continue;
      if (llvm::Value* value = meaning(call, *copy, kind)) {
        if (auto* made = llvm::dyn_cast<llvm::Instruction>(value))
          made->setDebugLoc(copy->getDebugLoc());
        copy->replaceAllUsesWith(value);
      }
      replaced.push_back(copy);
    }
    // An invoke goes on at its normal end.
    for (llvm::CallBase* call : llvm::reverse(replaced)) {
      if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(call)) {
        llvm::BranchInst::Create(invoke->getNormalDest(), invoke);
        invoke->getUnwindDest()->removePredecessor(invoke->getParent());
      }
      if (!call->use_empty())
        call->replaceAllUsesWith(llvm::PoisonValue::get(call->getType())); // handles, which nothing needs any more
      call->eraseFromParent();
    }
  }

  /// What a call gives; null for those that give nothing.
  llvm::Value* meaning(llvm::CallBase& call, llvm::CallBase& copy, CallKind kind) {
    switch (kind) {
    case CallKind::InstanceId:
    case CallKind::Instances:
    case CallKind::Dimensions:
      return query(call, kind);
    case CallKind::Return:
      giveOutputs(call, copy);
      return nullptr;
    case CallKind::Allocate:
      return allocate(copy);
    case CallKind::Node:
    case CallKind::Parent:
      return handle(call);
    case CallKind::Barrier:
      if (use_.dimensions.front() == 0)
        return nullptr; // the only instance
      {
        llvm::FunctionCallee barrier =
            runtime(raise::barrierFunction, llvm::Type::getVoidTy(context_), {llvm::PointerType::getUnqual(context_)});
        auto* wait = llvm::CallInst::Create(barrier, {barrierCheck(call)}, "", &copy);
        // Instances come to it together, or not: what holds one is not copied (graph/clean.cpp).
        auto* declared = llvm::cast<llvm::Function>(barrier.getCallee());
        declared->setConvergent();
        declared->addFnAttr(llvm::Attribute::NoDuplicate);
        wait->setConvergent();
        wait->addFnAttr(llvm::Attribute::NoMerge);
        return nullptr;
      }
    case CallKind::Atomic:
      return makeAtomic(copy);
    case CallKind::Math:
      return math(copy);
    default:
      return nullptr;
    }
  }

  /// A StrataCheck of runtime/abi.h: what is said when not all instances come to a barrier.
  llvm::Constant* barrierCheck(const llvm::CallBase& call) {
    llvm::Module& module = *made_->getParent();
    auto* pointer = llvm::PointerType::getUnqual(context_);
    const auto constant = [&](llvm::Constant* value) {
      auto* made = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::InternalLinkage, value, "strata.barrier");
      made->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
      return made;
    };
    const auto text = [&](llvm::StringRef value) {
      return constant(llvm::ConstantDataArray::getString(context_, value));
    };
    const auto number = [&](unsigned value) { return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value); };
    std::string file;
    LineColumn at;
    if (const Location place = placeOf(call, diagnostics_.sources()); place.valid()) {
      file = diagnostics_.sources().buffer(place.buffer).name();
      at = diagnostics_.sources().lineColumn(place);
    }
    auto* type = llvm::StructType::get(
        context_, {pointer, pointer, pointer, pointer, number(0)->getType(), number(0)->getType()});
    return constant(
        llvm::ConstantStruct::get(type, {text(svm::barrierCode), text(svm::barrierMessage(nodeName(*leaf_.function))),
                                         text(svm::barrierHelp), text(file), number(at.line), number(at.column)}));
  }

  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters) {
    return made_->getParent()->getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
  }

  /// How many nodes outwards a handle is; nothing where that is not seen.
  static std::optional<unsigned> levelOf(const llvm::Value* handle) {
    unsigned level = 0;
    for (;; ++level) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(handle->stripPointerCasts());
      const CallKind kind = call ? kindOf(*call) : CallKind::None;
      if (kind == CallKind::Node)
        return level;
      if (kind != CallKind::Parent)
        return std::nullopt;
      handle = call->getArgOperand(0);
    }
  }

  /// Handles tell nodes apart, and from null, which is around the root.
  llvm::Value* handle(llvm::CallBase& call) {
    auto* pointer = llvm::PointerType::getUnqual(context_);
    const std::optional<unsigned> level = levelOf(&call);
    if (!level)
      diagnostics_.report(nodeUnknown, placeOf(call, diagnostics_.sources()), calleeOf(call))
          .help("give it what __hpvm__getNode() gives, or __hpvm__getParentNode() of that");
    if (!level || *level >= use_.dimensions.size())
      return llvm::ConstantPointerNull::get(pointer);
    return llvm::ConstantExpr::getIntToPtr(llvm::ConstantInt::get(word(), *level + 1), pointer);
  }

  llvm::Value* query(llvm::CallBase& call, CallKind kind) {
    const Location at = placeOf(call, diagnostics_.sources());
    const std::optional<unsigned> level = levelOf(call.getArgOperand(0));
    if (!level || *level >= use_.dimensions.size()) {
      diagnostics_.report(nodeUnknown, at, calleeOf(call))
          .help("give it what __hpvm__getNode() gives, or __hpvm__getParentNode() of that");
      return nullptr;
    }
    const unsigned dimensions = use_.dimensions[*level];
    if (kind == CallKind::Dimensions)
      return llvm::ConstantInt::get(call.getType(), dimensions);
    int dimension = dimensionOf(call);
    if (dimension < 0) {
      const auto* number = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
      if (!number) {
        diagnostics_.report(dimensionUnknown, at, calleeOf(call)).help("write one call for each dimension");
        return nullptr;
      }
      dimension = static_cast<int>(std::min<uint64_t>(number->getZExtValue(), 1u << 30));
    }
    if (static_cast<unsigned>(dimension) >= dimensions) {
      diagnostics_.report(noDimension, at, calleeOf(call), dimension, dimensions)
          .help("a dimension is one of those that the node is created with, counted from 0");
      return nullptr;
    }
    size_t parameter = levels_;
    for (unsigned outer = 0; outer < *level; ++outer)
      parameter += 2 * size_t(use_.dimensions[outer]);
    parameter += (kind == CallKind::Instances ? dimensions : 0) + static_cast<unsigned>(dimension);
    return made_->getArg(static_cast<unsigned>(parameter));
  }

  /// Outputs that are wanted of every instance are zero where a path through the leaf returns nothing.
  void clearOutputs(llvm::Instruction* first) {
    if (leaf_.returnsAlways())
      return;
    unsigned parameter = static_cast<unsigned>(outputs_ + static_cast<size_t>(llvm::count(use_.last, true)));
    for (unsigned output = 0; output < use_.each.size(); ++output)
      if (use_.each[output]) {
        storeEach(llvm::Constant::getNullValue(leaf_.outputs[output]), parameter, first);
        parameter += 3;
      }
  }

  void storeEach(llvm::Value* value, unsigned parameter, llvm::Instruction* where) {
    auto* at = llvm::GetElementPtrInst::Create(value->getType(), made_->getArg(parameter),
                                               {made_->getArg(static_cast<unsigned>(isLast_ + 1))}, "", where);
    new llvm::StoreInst(value, at, where);
  }

  /// Stores what is wanted of the outputs.
  void giveOutputs(llvm::CallBase& call, llvm::CallBase& copy) {
    if (!anyOutput())
      return;
    // Constants take the type that another return tells.
    auto value = [&](unsigned output) -> llvm::Value* {
      llvm::Value* given = copy.getArgOperand(output + 1);
      llvm::Type* type = leaf_.outputs[output];
      if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(given))
        return llvm::ConstantInt::get(type, number->getValue().sextOrTrunc(type->getIntegerBitWidth()));
      if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(given)) {
        llvm::APFloat narrowed = number->getValueAPF();
        bool isInexact = false;
        narrowed.convert(type->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
        return llvm::ConstantFP::get(type, narrowed);
      }
      return given;
    };
    unsigned parameter = static_cast<unsigned>(outputs_);
    // The last instance's values first, in a block of their own.
    llvm::BasicBlock* after = nullptr;
    llvm::Instruction* where = &copy;
    if (llvm::is_contained(use_.last, true)) {
      llvm::BasicBlock* before = copy.getParent();
      after = before->splitBasicBlock(&copy);
      auto* then = llvm::BasicBlock::Create(context_, "", made_, after);
      before->getTerminator()->eraseFromParent();
      llvm::BranchInst::Create(then, after, made_->getArg(static_cast<unsigned>(isLast_)), before);
      where = llvm::BranchInst::Create(after, then);
    }
    for (unsigned output = 0; output < use_.last.size(); ++output)
      if (use_.last[output])
        new llvm::StoreInst(value(output), made_->getArg(parameter++), where);
    for (unsigned output = 0; output < use_.each.size(); ++output)
      if (use_.each[output]) {
        storeEach(value(output), parameter, &copy);
        parameter += 3;
      }
  }

  llvm::Value* allocate(llvm::CallBase& copy) {
    auto* pointer = llvm::PointerType::getUnqual(context_);
    auto* launch = llvm::CastInst::Create(llvm::Instruction::IntToPtr, made_->getArg(static_cast<unsigned>(launch_)),
                                          pointer, "", &copy);
    return llvm::CallInst::Create(runtime("strata_hpvm_allocate", pointer, {pointer, word()}),
                                  {launch, copy.getArgOperand(0)}, "", &copy);
  }

  llvm::Value* math(llvm::CallBase& copy) {
    const std::string callee = calleeOf(copy);
    const llvm::StringRef name = llvm::StringRef(callee).drop_front(std::string_view("__hpvm__").size());
    const auto intrinsic = llvm::StringSwitch<llvm::Intrinsic::ID>(name)
                               .Case("floor", llvm::Intrinsic::floor)
                               .Case("sin", llvm::Intrinsic::sin)
                               .Case("cos", llvm::Intrinsic::cos)
                               .Default(llvm::Intrinsic::sqrt);
    auto* type = llvm::Type::getFloatTy(context_);
    llvm::Value* value = llvm::CallInst::Create(llvm::Intrinsic::getDeclaration(made_->getParent(), intrinsic, {type}),
                                                {copy.getArgOperand(0)}, "", &copy);
    if (name == "rsqrt")
      value = llvm::BinaryOperator::CreateFDiv(llvm::ConstantFP::get(type, 1.0), value, "", &copy);
    return value;
  }

  const LeafNode& leaf_;
  const LeafUse& use_;
  DiagnosticEngine& diagnostics_;
  llvm::LLVMContext& context_;
  llvm::Function* made_ = nullptr;
  size_t launch_ = 0, levels_ = 0, isLast_ = 0, outputs_ = 0; // numbers of parameters
};

} // namespace

llvm::Function* makeLeaf(const LeafNode& leaf, const LeafUse& use, const std::string& name,
                         DiagnosticEngine& diagnostics, bool keepsLines) {
  return LeafMaker(leaf, use, diagnostics).make(name, keepsLines);
}

std::string leafModule(llvm::Module& module, const std::vector<llvm::Function*>& functions) {
  llvm::SetVector<const llvm::GlobalValue*> kept(functions.begin(), functions.end());
  // What functions and the constants that go with them refer to.
  llvm::SmallVector<const llvm::Constant*> open;
  llvm::SmallPtrSet<const llvm::Constant*, 32> seen;
  for (size_t number = 0; number < kept.size(); ++number) {
    if (const auto* function = llvm::dyn_cast<llvm::Function>(kept[number])) {
      for (const llvm::Instruction& instruction : llvm::instructions(*function))
        for (const llvm::Use& operand : instruction.operands())
          if (const auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get()))
            open.push_back(constant);
    } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(kept[number]))
      open.push_back(variable->getInitializer());
    while (!open.empty()) {
      const llvm::Constant* each = open.pop_back_val();
      if (!seen.insert(each).second)
        continue;
      if (const auto* function = llvm::dyn_cast<llvm::Function>(each)) {
        if (!function->isDeclaration())
          kept.insert(function);
      } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(each)) {
        if (variable->hasLocalLinkage() && variable->hasInitializer())
          kept.insert(variable);
      } else
        for (const llvm::Use& operand : each->operands())
          if (const auto* part = llvm::dyn_cast<llvm::Constant>(operand.get()))
            open.push_back(part);
    }
  }
  llvm::ValueToValueMapTy values;
  std::unique_ptr<llvm::Module> copy =
      llvm::CloneModule(module, values, [&](const llvm::GlobalValue* each) { return kept.contains(each); });
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(copy->globals()))
    if (variable.getName().starts_with("llvm.") || (variable.isDeclaration() && variable.use_empty()))
      variable.eraseFromParent();
  for (llvm::Function& function : llvm::make_early_inc_range(*copy))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  // A constant of which nothing but the elements is asked may as well be the leaf's own: then it is known here, and in
  // a program that is written out.
  for (llvm::GlobalVariable& variable : copy->globals()) {
    const llvm::GlobalVariable* original = module.getGlobalVariable(variable.getName(), true);
    llvm::GlobalStatus uses;
    if (!variable.isDeclaration() || !original || !original->isConstant() || !original->hasDefinitiveInitializer() ||
        original->isThreadLocal() || original->getInitializer()->needsRelocation() ||
        llvm::GlobalStatus::analyzeGlobal(&variable, uses) || uses.IsCompared)
      continue;
    variable.setInitializer(const_cast<llvm::Constant*>(original->getInitializer()));
    variable.setConstant(true);
    variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    variable.setVisibility(llvm::GlobalValue::DefaultVisibility);
    variable.setComdat(nullptr);
  }
  copy->setModuleInlineAsm("");
  llvm::StripDebugInfo(*copy);
  std::string text;
  llvm::raw_string_ostream stream(text);
  copy->print(stream, nullptr);
  return text;
}

} // namespace strata::hpvm
