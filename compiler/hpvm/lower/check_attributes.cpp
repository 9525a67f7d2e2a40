// A copy of the leaf with the functions that it calls inlined, and its variables as values, shows what is written.
#include "compiler/hpvm/lower/check_attributes.h"

#include "compiler/hpvm/graph/calls.h"
#include "compiler/hpvm/graph/places.h"
#include "compiler/raise/clean.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <set>

namespace strata::hpvm {

STRATA_DIAGNOSTIC(notListed, Error, "hpvm-attributes-write",
                  "leaf '{0}' writes what '{1}' points to, which its attributes list as read only");

/// Whether an atomic operation leaves what it finds: a way to read.
static bool onlyReads(const llvm::CallBase& call) {
  const llvm::StringRef name = call.getCalledFunction() ? call.getCalledFunction()->getName() : "";
  const auto* operand = call.arg_size() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1)) : nullptr;
  if (!operand)
    return false;
  return (operand->isZero() &&
          (name.ends_with("_add") || name.ends_with("_sub") || name.ends_with("_or") || name.ends_with("_xor"))) ||
         (operand->isMinusOne() && name.ends_with("_and"));
}

/// Where an instruction writes; null where it does not.
static const llvm::Value* writtenBy(const llvm::Instruction& instruction) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return store->getPointerOperand();
  if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return change->getPointerOperand();
  if (const auto* change = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return change->getPointerOperand();
  if (const auto* bulk = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
    return bulk->getRawDest();
  if (kindOf(instruction) == CallKind::Atomic)
    if (const auto& call = llvm::cast<llvm::CallBase>(instruction); !onlyReads(call))
      return call.getArgOperand(0);
  return nullptr;
}

/// The attributes of a leaf with some arguments more among those that are written.
static std::string attributesWith(const LeafNode& leaf, const std::set<unsigned>& written) {
  std::string text = "__hpvm__attributes(";
  for (const std::vector<bool>* list : {&leaf.isRead, &leaf.isWritten}) {
    const bool isWritten = list == &leaf.isWritten;
    unsigned count = 0;
    std::string names;
    for (unsigned number = 0; number < list->size(); ++number)
      if ((*list)[number] || (isWritten && written.contains(number))) {
        ++count;
        names += ", " + argumentName(*leaf.function, number);
      }
    text += (isWritten ? ", " : "") + std::to_string(count) + names;
  }
  return text + ")";
}

bool keepsToAttributes(const LeafNode& leaf, DiagnosticEngine& diagnostics) {
  const bool isAnyReadOnly = llvm::any_of(leaf.function->args(), [&](const llvm::Argument& argument) {
    return argument.getType()->isPointerTy() && !leaf.isWritten[argument.getArgNo()];
  });
  if (!isAnyReadOnly)
    return true;
  llvm::ValueToValueMapTy values;
  llvm::Function* copy = llvm::CloneFunction(leaf.function, values);
  raise::clean(*copy);
  std::vector<bool> isReported(copy->arg_size());
  for (const llvm::Instruction& instruction : llvm::instructions(*copy)) {
    const llvm::Value* pointer = writtenBy(instruction);
    if (!pointer)
      continue;
    llvm::SmallVector<const llvm::Value*> objects;
    llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
    // Of several, whichever it is, none may be written.
    const auto isReadOnly = [&](const llvm::Value* object) {
      const auto* own = llvm::dyn_cast<llvm::Argument>(object);
      return own && !leaf.isWritten[own->getArgNo()];
    };
    if (objects.empty() || !llvm::all_of(objects, isReadOnly))
      continue;
    std::set<unsigned> written;
    for (const llvm::Value* object : objects)
      written.insert(llvm::cast<llvm::Argument>(object)->getArgNo());
    if (llvm::all_of(written, [&](unsigned number) { return isReported[number]; }))
      continue;
    std::string names;
    for (unsigned number : written) {
      isReported[number] = true;
      names += (names.empty() ? "'" : " and '") + argumentName(*leaf.function, number) + "'";
    }
    const std::string name = argumentName(*leaf.function, *written.begin());
    diagnostics.report(notListed, placeOf(instruction, diagnostics.sources()), nodeName(*leaf.function), name)
        .label(placeOf(*leaf.function, diagnostics.sources()), "the leaf")
        .help("list " + names + " among those that are written too: " + attributesWith(leaf, written));
  }
  copy->eraseFromParent();
  return !llvm::is_contained(isReported, true);
}

} // namespace strata::hpvm
