// Call by call: the functions of hpvm.h take the same things in other orders, and say with calls what the reference
// says with attributes, metadata and results.
#include "compiler/hpvm/intrinsics/read_ir.h"

#include "compiler/hpvm/graph/places.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"

namespace strata::hpvm {

STRATA_DIAGNOSTIC(unknownIntrinsic, Error, "hpvm-ir-intrinsic", "{0} is no intrinsic of HPVM");
STRATA_DIAGNOSTIC(wrongArguments, Error, "hpvm-ir-arguments",
                  "{0} is called with other arguments than the reference gives it");

namespace {

/// Targets as hpvm.h numbers them.
enum Target : unsigned { None, Cpu, Gpu, Cudnn, Tensor, CpuOrGpu };

class IntrinsicReplacer {
public:
  IntrinsicReplacer(llvm::Module& module, DiagnosticEngine& diagnostics)
      : module_(module), context_(module.getContext()), diagnostics_(diagnostics) {}

  bool run() {
    const unsigned before = diagnostics_.errorCount();
    readHints();
    llvm::SmallVector<llvm::CallBase*> calls;
    for (llvm::Function& function : module_)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && nameOf(*call).starts_with("llvm.hpvm."))
          calls.push_back(call);
    for (llvm::CallBase* call : calls)
      replace(*call);
    if (diagnostics_.errorCount() != before)
      return false;
    for (llvm::Function* node : nodes_)
      describe(*node);
    for (llvm::Function& function : llvm::make_early_inc_range(module_))
      if (function.getName().starts_with("llvm.hpvm.") && function.use_empty())
        function.eraseFromParent();
    return true;
  }

private:
  static llvm::StringRef nameOf(const llvm::CallBase& call) {
    const auto* callee = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
    return callee ? callee->getName() : "";
  }
  llvm::Type* pointer() { return llvm::PointerType::getUnqual(context_); }
  llvm::Type* integer(unsigned bits) { return llvm::Type::getIntNTy(context_, bits); }
  llvm::Value* number(uint64_t value) { return llvm::ConstantInt::get(integer(32), value); }

  /// A function of hpvm.h with these fixed parameters.
  llvm::FunctionCallee function(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters,
                                bool isVariadic = false) {
    return module_.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, isVariadic));
  }

  /// Module metadata lists the functions for each target.
  void readHints() {
    const std::pair<const char*, Target> lists[] = {{"hpvm_hint_cpu", Cpu},          {"hpvm_hint_gpu", Gpu},
                                                    {"hpvm_hint_cpu_gpu", CpuOrGpu}, {"hpvm_hint_cudnn", Cudnn},
                                                    {"hpvm_hint_promise", Tensor},   {"hpvm_hint_tensor", Tensor}};
    for (const auto& [name, target] : lists)
      if (const llvm::NamedMDNode* list = module_.getNamedMetadata(name))
        for (const llvm::MDNode* entry : list->operands())
          for (const llvm::MDOperand& operand : entry->operands())
            if (auto* value = llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(operand.get()))
              if (auto* node = llvm::dyn_cast<llvm::Function>(value->getValue()->stripPointerCasts()))
                hints_[node] = target;
  }

  void addNode(llvm::Value* value) {
    if (auto* node = llvm::dyn_cast<llvm::Function>(value->stripPointerCasts()))
      nodes_.insert(node);
  }

  /// The arguments of a call, each an integer of these bits (0: a pointer). Empty where they are others (reported).
  std::vector<llvm::Value*> take(llvm::CallBase& call, llvm::ArrayRef<unsigned> bits) {
    std::vector<llvm::Value*> taken;
    bool isRight = call.arg_size() == bits.size();
    for (unsigned argument = 0; isRight && argument < bits.size(); ++argument) {
      llvm::Value* given = call.getArgOperand(argument);
      isRight = bits[argument] ? given->getType()->isIntegerTy(bits[argument]) : given->getType()->isPointerTy();
      if (isRight && bits[argument] == 1)
        given = llvm::CastInst::Create(llvm::Instruction::ZExt, given, integer(32), "", call.getIterator());
      if (auto* constant = llvm::dyn_cast<llvm::CastInst>(given); constant && isRight && bits[argument] == 1)
        if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(constant->getOperand(0))) {
          constant->eraseFromParent();
          given = number(known->getZExtValue());
        }
      taken.push_back(given);
    }
    if (isRight)
      return taken;
    diagnostics_.report(wrongArguments, placeOf(call, diagnostics_.sources()), nameOf(call).str());
    return {};
  }

  void replace(llvm::CallBase& call) {
    const llvm::StringRef name = nameOf(call).drop_front(std::string_view("llvm.hpvm.").size());
    llvm::Type* nothing = llvm::Type::getVoidTy(context_);
    using Bits = std::vector<unsigned>;
    const auto plain = [&](const std::string& to, llvm::Type* result, const Bits& bits,
                           llvm::ArrayRef<unsigned> order = {}) {
      const std::vector<llvm::Value*> given = take(call, bits);
      if (given.empty() && !bits.empty())
        return;
      std::vector<llvm::Value*> arguments;
      for (unsigned argument = 0; argument < given.size(); ++argument)
        arguments.push_back(given[order.empty() ? argument : order[argument]]);
      become(call, to, result, arguments, false);
    };
    if (name.starts_with("createNode")) {
      const unsigned dimensions = llvm::StringSwitch<unsigned>(name.drop_front(10))
                                      .Case("", 0)
                                      .Case("1D", 1)
                                      .Case("2D", 2)
                                      .Case("3D", 3)
                                      .Default(4);
      Bits bits{0};
      bits.insert(bits.end(), dimensions, 64);
      std::vector<llvm::Value*> given = dimensions < 4 ? take(call, bits) : std::vector<llvm::Value*>();
      if (dimensions == 4)
        unknown(call);
      if (given.empty())
        return;
      addNode(given.front());
      given.insert(given.begin(), number(dimensions));
      return become(call, "__hpvm__createNodeND", pointer(), given, true);
    }
    if (name == "launch") {
      const std::vector<llvm::Value*> given = take(call, {0, 0, 1});
      if (given.empty())
        return;
      addNode(given.front());
      return become(call, "__hpvm__launch", pointer(), {given[2], given[0], given[1]}, true);
    }
    if (name == "createEdge")
      return plain("__hpvm__edge", pointer(), {0, 0, 1, 32, 32, 1});
    if (name == "bind.input")
      return plain("__hpvm__bindIn", nothing, {0, 32, 32, 1});
    if (name == "bind.output")
      return plain("__hpvm__bindOut", nothing, {0, 32, 32, 1});
    if (name == "getNode")
      return plain("__hpvm__getNode", pointer(), {});
    if (name == "getParentNode")
      return plain("__hpvm__getParentNode", pointer(), {0});
    if (name == "getNumDims")
      return plain("__hpvm__getNumDims", integer(32), {0});
    for (const char* query : {"getNodeInstanceID", "getNumNodeInstances"})
      for (const char* dimension : {"x", "y", "z"})
        if (name == std::string(query) + "." + dimension)
          return plain("__hpvm__" + std::string(query) + "_" + dimension, integer(64), {0});
    if (name == "malloc")
      return plain("__hpvm__malloc", pointer(), {64});
    if (name == "barrier")
      return plain("__hpvm__barrier", nothing, {});
    if (name.starts_with("atomic."))
      return plain("__hpvm__atomic_" + name.drop_front(7).str(), integer(32), {0, 32});
    if (llvm::is_contained({"floor", "rsqrt", "sqrt", "sin", "cos"}, name)) {
      if (call.arg_size() == 1 && call.getArgOperand(0)->getType()->isFloatTy())
        return become(call, "__hpvm__" + name.str(), llvm::Type::getFloatTy(context_), {call.getArgOperand(0)}, false);
      diagnostics_.report(wrongArguments, placeOf(call, diagnostics_.sources()), nameOf(call).str());
      return;
    }
    if (name == "init" || name == "cleanup")
      return plain("__hpvm__" + name.str(), nothing, {});
    if (name == "trackMemory")
      return plain("llvm_hpvm_track_mem", nothing, {0, 64});
    if (name == "untrackMemory")
      return plain("llvm_hpvm_untrack_mem", nothing, {0});
    if (name == "requestMemory")
      return plain("llvm_hpvm_request_mem", nothing, {0, 64});
    if (name == "wait")
      return plain("__hpvm__wait", nothing, {0});
    if (name == "push")
      return plain("__hpvm__push", nothing, {0, 0});
    if (name == "pop")
      return plain("__hpvm__pop", pointer(), {0});
    unknown(call);
  }

  void unknown(llvm::CallBase& call) {
    diagnostics_.report(unknownIntrinsic, placeOf(call, diagnostics_.sources()), nameOf(call).str());
  }

  /// Puts another call in the place of one. The first argument alone is fixed of variadic functions.
  void become(llvm::CallBase& call, const std::string& name, llvm::Type* result, std::vector<llvm::Value*> arguments,
              bool isVariadic) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* argument : arguments)
      types.push_back(argument->getType());
    if (isVariadic)
      types.resize(1);
    if (call.getType() != result && !(call.getType()->isVoidTy() || call.use_empty())) {
      diagnostics_.report(wrongArguments, placeOf(call, diagnostics_.sources()), nameOf(call).str());
      return;
    }
    auto* made = llvm::CallInst::Create(function(name, result, types, isVariadic), arguments, "", call.getIterator());
    made->setDebugLoc(call.getDebugLoc());
    if (!call.use_empty())
      call.replaceAllUsesWith(made);
    if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call)) {
      auto* jump = llvm::BranchInst::Create(invoke->getNormalDest(), invoke->getIterator());
      jump->setDebugLoc(call.getDebugLoc());
      invoke->getUnwindDest()->removePredecessor(invoke->getParent());
    }
    call.eraseFromParent();
  }

  /// What a node function says of itself: its target, what it does to memory, and its outputs.
  void describe(llvm::Function& node) {
    if (node.isDeclaration())
      return;
    llvm::Instruction* first = &*node.getEntryBlock().getFirstInsertionPt();
    const llvm::DebugLoc at = first->getDebugLoc();
    const auto insert = [&](llvm::FunctionCallee callee, llvm::ArrayRef<llvm::Value*> arguments) {
      llvm::CallInst::Create(callee, arguments, "", first->getIterator())->setDebugLoc(at);
    };
    const auto hint = hints_.find(&node);
    llvm::Type* nothing = llvm::Type::getVoidTy(context_);
    insert(function("__hpvm__hint", nothing, {integer(32)}), {number(hint == hints_.end() ? Cpu : hint->second)});
    std::vector<llvm::Value*> in, out;
    for (llvm::Argument& argument : node.args())
      if (argument.getType()->isPointerTy()) {
        if (node.getAttributes().hasParamAttr(argument.getArgNo(), "in"))
          in.push_back(&argument);
        if (node.getAttributes().hasParamAttr(argument.getArgNo(), "out"))
          out.push_back(&argument);
      }
    std::vector<llvm::Value*> listed{number(in.size())};
    listed.insert(listed.end(), in.begin(), in.end());
    listed.push_back(number(out.size()));
    listed.insert(listed.end(), out.begin(), out.end());
    insert(function("__hpvm__attributes", nothing, {integer(32)}, true), listed);
    const bool isInternal = llvm::any_of(llvm::instructions(node), [](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      return call && nameOf(*call) == "__hpvm__createNodeND";
    });
    for (llvm::BasicBlock& block : node)
      if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) {
        if (!isInternal)
          giveOutputs(*end);
        // What goes on to other nodes is what calls give.
        if (end->getReturnValue())
          end->setOperand(0, llvm::PoisonValue::get(end->getReturnValue()->getType()));
      }
  }

  void giveOutputs(llvm::ReturnInst& end) {
    llvm::Value* value = end.getReturnValue();
    if (!value)
      return;
    std::vector<llvm::Value*> outputs;
    if (auto* type = llvm::dyn_cast<llvm::StructType>(value->getType()))
      for (unsigned field = 0; field < type->getNumElements(); ++field)
        outputs.push_back(llvm::ExtractValueInst::Create(value, field, "", end.getIterator()));
    else
      outputs.push_back(value);
    if (outputs.empty())
      return;
    outputs.insert(outputs.begin(), number(outputs.size()));
    auto* call =
        llvm::CallInst::Create(function("__hpvm__return", llvm::Type::getVoidTy(context_), {integer(32)}, true),
                               outputs, "", end.getIterator());
    call->setDebugLoc(end.getDebugLoc());
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  DiagnosticEngine& diagnostics_;
  llvm::SetVector<llvm::Function*> nodes_;
  llvm::DenseMap<const llvm::Function*, Target> hints_;
};

} // namespace

bool replaceIntrinsics(llvm::Module& module, DiagnosticEngine& diagnostics) {
  return IntrinsicReplacer(module, diagnostics).run();
}

} // namespace strata::hpvm
