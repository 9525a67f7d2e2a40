// A search along the control flow from each return. An edge is not taken where a branch asks again what is known: of a
// value that this way has set, or of a condition that guards the return.
#include "compiler/hpvm/graph/after_return.h"

#include "compiler/hpvm/graph/calls.h"
#include "compiler/hpvm/graph/places.h"
#include "compiler/hpvm/graph/ways.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

namespace strata::hpvm {

namespace {

/// Whether a value is loaded from where the other one is stored.
bool isStoredWhere(const llvm::Value* loaded, const llvm::Value* stored) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(loaded);
  return load && llvm::any_of(load->getPointerOperand()->users(), [&](const llvm::User* user) {
           const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
           return store && store->getPointerOperand() == load->getPointerOperand() &&
                  store->getValueOperand() == stored;
         });
}

/// Whether two values are computed alike. What is loaded from one place counts as one value: a program that asks twice
/// means the same.
bool isAlike(const llvm::Value* one, const llvm::Value* other, unsigned depth = 0) {
  if (one == other || isStoredWhere(one, other) || isStoredWhere(other, one))
    return true;
  const auto* a = llvm::dyn_cast<llvm::Instruction>(one);
  const auto* b = llvm::dyn_cast<llvm::Instruction>(other);
  if (!a || !b || depth == 8 || llvm::isa<llvm::PHINode, llvm::CallBase, llvm::AllocaInst>(a) ||
      !a->isSameOperationAs(b))
    return false;
  for (unsigned operand = 0; operand < a->getNumOperands(); ++operand)
    if (!isAlike(a->getOperand(operand), b->getOperand(operand), depth + 1))
      return false;
  return true;
}

/// What a condition is where another one is known; nothing where that does not tell.
std::optional<bool> follows(const llvm::Value* condition, const llvm::Value* known, bool isTrue,
                            const llvm::DataLayout& layout) {
  using namespace llvm::PatternMatch;
  llvm::Value* inner = nullptr;
  if (match(condition, m_Not(m_Value(inner)))) {
    const auto value = follows(inner, known, isTrue, layout);
    return value ? std::optional(!*value) : std::nullopt;
  }
  if (match(known, m_Not(m_Value(inner))))
    return follows(condition, inner, !isTrue, layout);
  if (isAlike(condition, known))
    return isTrue;
  const auto *one = llvm::dyn_cast<llvm::CmpInst>(condition), *other = llvm::dyn_cast<llvm::CmpInst>(known);
  if (one && other && one->getOpcode() == other->getOpcode() && one->getPredicate() == other->getInversePredicate() &&
      isAlike(one->getOperand(0), other->getOperand(0)) && isAlike(one->getOperand(1), other->getOperand(1)))
    return !isTrue;
  if (one && other && one->isIntPredicate() && other->isIntPredicate() &&
      isAlike(one->getOperand(0), other->getOperand(0))) {
    const auto* limit = llvm::dyn_cast<llvm::ConstantInt>(one->getOperand(1));
    const auto* knownLimit = llvm::dyn_cast<llvm::ConstantInt>(other->getOperand(1));
    if (limit && knownLimit) {
      using Range = llvm::ConstantRange;
      const Range asked = Range::makeExactICmpRegion(one->getPredicate(), limit->getValue());
      const Range values = Range::makeExactICmpRegion(isTrue ? other->getPredicate() : other->getInversePredicate(),
                                                      knownLimit->getValue());
      if (asked.contains(values))
        return true;
      if (asked.intersectWith(values).isEmptySet())
        return false;
    }
  }
  return llvm::isImpliedCondition(known, condition, layout, isTrue);
}

class Search {
public:
  Search(llvm::Function& leaf, SourceManager& sources)
      : leaf_(leaf), sources_(sources), layout_(leaf.getParent()->getDataLayout()), dominators_(leaf) {}

  std::optional<AfterReturn> from(llvm::CallBase& call) {
    collectGuards(*call.getParent());
    std::optional<AfterReturn> found;
    const auto goesOn = [&](const Way& way) {
      // An invoke ends its block.
      const bool isFirst = way.block == call.getParent() && !way.before;
      for (const llvm::Instruction* each = isFirst ? call.getNextNode() : &way.block->front(); each && !found;
           each = each->getNextNode())
        if (std::string what = workOf(*each); !what.empty())
          found = AfterReturn{&call, each, std::move(what)};
      return !found;
    };
    followWays(*call.getParent(), goesOn, [&](const Way& way, const llvm::Value* condition) -> std::optional<bool> {
      if (way.before)
        condition = condition->DoPHITranslation(way.block, way.before);
      for (const auto& [known, isTrue] : guards_)
        if (const auto value = follows(condition, known, isTrue, layout_))
          return value;
      return std::nullopt;
    });
    return found;
  }

private:
  /// The conditions that hold in a block.
  void collectGuards(llvm::BasicBlock& block) {
    guards_.clear();
    for (llvm::BasicBlock& other : leaf_) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(other.getTerminator());
      if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
        continue;
      for (unsigned number : {0, 1})
        if (dominators_.dominates(llvm::BasicBlockEdge(&other, branch->getSuccessor(number)), &block))
          guards_.emplace_back(branch->getCondition(), number == 0);
    }
  }

  /// What an instruction does that matters; empty: nothing.
  std::string workOf(const llvm::Instruction& instruction) const {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    switch (kindOf(instruction)) {
    case CallKind::None:
      break;
    case CallKind::Return:
      return "gives its outputs once more";
    case CallKind::Barrier:
    case CallKind::Atomic:
    case CallKind::Allocate:
      return "calls " + calleeOf(*call);
    default:
      return "";
    }
    const auto isOwn = [](const llvm::Value* pointer) {
      return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
    };
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      return isOwn(store->getPointerOperand()) ? "" : "writes memory";
    if (const auto* fill = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction))
      return isOwn(fill->getRawDest()) ? "" : "writes memory";
    if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction))
      return "writes memory";
    if (!call || llvm::isa<llvm::IntrinsicInst>(call) || !call->mayWriteToMemory() || isOfLifetime(*call))
      return "";
    const std::string callee = calleeOf(*call);
    return callee.empty() ? "calls a function" : "calls '" + callee + "'";
  }

  /// Whether a call ends the lifetime of a variable, or is none of the program's text.
  bool isOfLifetime(const llvm::CallBase& call) const {
    const std::string callee = calleeOf(call);
    const llvm::StringRef name = callee;
    if (name == "free" || name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv") || name.starts_with("__cxa_") ||
        name.starts_with("__clang_") || name.starts_with("__ubsan_") || name.starts_with("_ZSt9terminate") ||
        name.ends_with("D0Ev") || name.ends_with("D1Ev") || name.ends_with("D2Ev"))
      return true;
    // What the compiler calls at the end of a block stands where the block ends, or is left.
    const Location at = call.getDebugLoc() ? placeOf(call, sources_) : Location();
    if (!at.valid())
      return true;
    const std::string_view text = sources_.buffer(at.buffer).text().substr(at.begin);
    return text.starts_with("}") || text.starts_with("return");
  }

  llvm::Function& leaf_;
  SourceManager& sources_;
  const llvm::DataLayout& layout_;
  llvm::DominatorTree dominators_;
  std::vector<std::pair<const llvm::Value*, bool>> guards_;
};

} // namespace

std::optional<AfterReturn> afterReturn(llvm::Function& leaf, const std::vector<llvm::CallBase*>& returns,
                                       SourceManager& sources) {
  Search search(leaf, sources);
  for (llvm::CallBase* each : returns)
    if (auto found = search.from(*each))
      return found;
  return std::nullopt;
}

} // namespace strata::hpvm
