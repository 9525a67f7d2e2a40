// Every access is looked at once for the type of its block's elements, and once more for its index in such elements.
#include "compiler/raise/blocks.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace strata::raise {

namespace {

/// A constant is copied to the kernel.
constexpr uint64_t mostConstantBytes = uint64_t(1) << 20;

class MemoryFinder {
public:
  MemoryFinder(Analyses& analyses, Indices& indices, const ElementTypes& elements, Refusal& refusal)
      : analyses_(analyses), indices_(indices), elements_(elements), refusal_(refusal) {}

  std::optional<Memory> run() {
    for (llvm::Instruction& instruction : llvm::instructions(analyses_.function))
      if (!find(instruction))
        return std::nullopt;
    passTypesOn();
    for (auto& [base, block] : memory_.blocks)
      if (const auto known = elements_.find(base);
          known != elements_.end() &&
          (!block.element || (known->second.isFixed && bytesOf(known->second.type) < bytesOf(block.element))))
        block.element = known->second.type;
    passTypesOn();
    narrowElements();
    for (const auto& [base, block] : memory_.blocks)
      if (block.isWritten && llvm::isa<llvm::GlobalVariable>(base)) {
        refusal_.refuse("a store to a constant", nullptr);
        return std::nullopt;
      }
    for (llvm::Instruction& instruction : llvm::instructions(analyses_.function))
      if (llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction) &&
          !analyses_.isAssumption(instruction) && !locate(instruction))
        return std::nullopt;
    return std::move(memory_);
  }

private:
  uint64_t bytesOf(llvm::Type* type) const { return analyses_.layout.getTypeStoreSize(type).getFixedValue(); }

  static bool isElement(llvm::Type* type) {
    return type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(8) || type->isIntegerTy(16) ||
           type->isIntegerTy(32) || type->isIntegerTy(64);
  }

  /// The block that a pointer points into; null on a refusal.
  MemoryBlock* blockOf(const llvm::Value* pointer, const llvm::Instruction& user) {
    const llvm::Value* base = indices_.baseOf(pointer);
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(base);
    const auto* constant = llvm::dyn_cast<llvm::GlobalVariable>(base);
    if (constant && (!constant->isConstant() || !constant->hasDefinitiveInitializer()))
      constant = nullptr;
    if (!variable && !constant && !llvm::isa<llvm::Argument>(base)) {
      refusal_.refuse(llvm::isa<llvm::LoadInst>(base)                          ? "a pointer that is loaded from memory"
                      : llvm::isa<llvm::PHINode, llvm::SelectInst>(base)       ? "a pointer that is chosen as it runs"
                      : llvm::isa<llvm::GlobalValue, llvm::ConstantExpr>(base) ? "a variable outside of functions"
                                                                               : "a pointer of unknown origin",
                      &user);
      return nullptr;
    }
    MemoryBlock& block = memory_.blocks[base];
    if (constant) {
      block.bytes = analyses_.layout.getTypeAllocSize(constant->getValueType()).getFixedValue();
      if (block.bytes > mostConstantBytes) {
        refusal_.refuse("a constant of more than " + std::to_string(mostConstantBytes) + " bytes", &user);
        return nullptr;
      }
    }
    if (variable) {
      const auto size = variable->getAllocationSize(analyses_.layout);
      if (!size || size->isScalable() || !variable->isStaticAlloca()) {
        refusal_.refuse("a local variable whose size is no constant", variable);
        return nullptr;
      }
      block.bytes = size->getFixedValue();
    }
    return &block;
  }

  bool find(llvm::Instruction& instruction) {
    if (analyses_.isAssumption(instruction))
      return true;
    if (auto bulk = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      MemoryBlock* to = blockOf(bulk->getRawDest(), instruction);
      if (!to)
        return false;
      to->isWritten = true;
      if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(bulk)) {
        MemoryBlock* from = blockOf(transfer->getRawSource(), instruction);
        if (!from)
          return false;
        from->isRead = true;
      }
      return !bulk->isVolatile() || refusal_.refuse("a volatile access", &instruction);
    }
    llvm::Type* type = nullptr;
    const llvm::Value* pointer = nullptr;
    bool isSimple = true, writes = false;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      type = load->getType(), pointer = load->getPointerOperand(), isSimple = load->isSimple();
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      type = store->getValueOperand()->getType(), pointer = store->getPointerOperand(), isSimple = store->isSimple();
      writes = true;
    } else if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      type = change->getType(), pointer = change->getPointerOperand(), isSimple = !change->isVolatile();
      writes = true;
    } else if (const auto* change = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      type = change->getNewValOperand()->getType(), pointer = change->getPointerOperand();
      isSimple = !change->isVolatile(), writes = true;
    } else if (llvm::isa<llvm::FenceInst>(instruction)) {
      return refusal_.refuse("a fence", &instruction);
    } else {
      return true;
    }
    if (!isSimple)
      return refusal_.refuse("a volatile or atomic access", &instruction);
    if (type->isPointerTy())
      return refusal_.refuse("a pointer that is kept in memory", &instruction);
    if (!isElement(type))
      return refusal_.refuse("an access of more than one number", &instruction);
    MemoryBlock* block = blockOf(pointer, instruction);
    if (!block)
      return false;
    (writes ? block->isWritten : block->isRead) = true;
    if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) {
      if (!type->isIntegerTy(32) && !type->isIntegerTy(64))
        return refusal_.refuse("an atomic operation on other than integers of 32 or 64 bits", &instruction);
      block->isRead = true;
      block->isChanged = true;
    }
    if (!block->element || bytesOf(type) < bytesOf(block->element))
      block->element = type;
    else if (block->element != type && bytesOf(block->element) == bytesOf(type))
      block->element = integerOf(bytesOf(type));
    return true;
  }

  llvm::Type* integerOf(uint64_t bytes) const {
    return llvm::Type::getIntNTy(analyses_.function.getContext(), static_cast<unsigned>(8 * bytes));
  }

  /// Arrays that are only copied have the elements of what they are copied to or from.
  void passTypesOn() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (llvm::Instruction& instruction : llvm::instructions(analyses_.function))
        if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
          llvm::Type*& to = memory_.blocks[indices_.baseOf(transfer->getRawDest())].element;
          llvm::Type*& from = memory_.blocks[indices_.baseOf(transfer->getRawSource())].element;
          if (!to != !from) {
            (to ? from : to) = to ? to : from;
            changed = true;
          }
        }
    }
  }

  /// Integers that lie at odd places, as words do in an array of bytes, are made of smaller elements.
  void narrowElements() {
    const auto narrow = [&](const llvm::Value* pointer, const Polynomial& at) {
      MemoryBlock& block = memory_.blocks[indices_.baseOf(pointer)];
      if (!block.element || !block.element->isIntegerTy() || block.isChanged)
        return;
      uint64_t bytes = bytesOf(block.element);
      while (bytes > 1 && !at.dividedBy(static_cast<int64_t>(bytes)))
        bytes /= 2;
      block.element = integerOf(bytes);
    };
    for (llvm::Instruction& instruction : llvm::instructions(analyses_.function)) {
      if (analyses_.isAssumption(instruction))
        continue;
      if (const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction))
        narrow(pointer, indices_.bytesOf(pointer));
      if (auto* bulk = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
        const auto narrowAll = [&](const llvm::Value* pointer) {
          narrow(pointer, indices_.bytesOf(pointer));
          narrow(pointer, indices_.of(bulk->getLength(), Widening::Unsigned));
        };
        narrowAll(bulk->getRawDest());
        if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(bulk))
          narrowAll(transfer->getRawSource());
      }
    }
  }

  bool locate(llvm::Instruction& instruction) {
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    llvm::Type* type = pointer ? llvm::getLoadStoreType(&instruction) : nullptr;
    if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      pointer = change->getPointerOperand(), type = change->getType();
    else if (const auto* change = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      pointer = change->getPointerOperand(), type = change->getNewValOperand()->getType();
    const MemoryBlock& block = memory_.blocks[indices_.baseOf(pointer)];
    if (block.isChanged && !block.element->isIntegerTy())
      return refusal_.refuse("an atomic operation on floating-point numbers", &instruction);
    const uint64_t bytes = bytesOf(block.element);
    const auto parts = static_cast<unsigned>(bytesOf(type) / bytes);
    if (parts > 1 && (block.isChanged || !analyses_.layout.isLittleEndian()))
      return refusal_.refuse("accesses of several sizes to the elements of one array", &instruction);
    auto index = indices_.bytesOf(pointer).dividedBy(static_cast<int64_t>(bytes));
    if (!index)
      return refusal_.refuse("an address that is no multiple of the element's size", &instruction);
    memory_.accesses[&instruction] = {indices_.baseOf(pointer), std::move(*index), parts};
    return true;
  }

  Analyses& analyses_;
  Indices& indices_;
  const ElementTypes& elements_;
  Refusal& refusal_;
  Memory memory_;
};

} // namespace

std::optional<Memory> findMemory(Analyses& analyses, Indices& indices, const ElementTypes& elements, Refusal& refusal) {
  return MemoryFinder(analyses, indices, elements, refusal).run();
}

} // namespace strata::raise
