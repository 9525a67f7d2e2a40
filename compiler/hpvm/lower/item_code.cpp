// A buffer on the stack holds the struct, whose fields lie at any address.
#include "compiler/hpvm/lower/item_code.h"

#include "llvm/IR/Instructions.h"

namespace strata::hpvm {

uint64_t packedBytes(const llvm::Type* type) {
  if (type->isPointerTy() || type->isDoubleTy())
    return 8;
  return type->isFloatTy() ? 4 : (type->getIntegerBitWidth() + 7) / 8;
}

namespace {

class ItemCode {
public:
  ItemCode(llvm::Module& module, const std::vector<llvm::Type*>& fields)
      : module_(module), context_(module.getContext()), fields_(fields) {}

  llvm::Function* next(const std::string& name) {
    llvm::SmallVector<llvm::Type*> types{word()};
    types.append(fields_.size() + 1, pointer());
    llvm::Function* made = begin(types, name);
    auto* take = llvm::BasicBlock::Create(context_, "", made);
    auto* end = llvm::BasicBlock::Create(context_, "", made);
    auto* more = llvm::CallInst::Create(
        module_.getOrInsertFunction("strata_hpvm_next", llvm::Type::getInt32Ty(context_), word(), pointer()),
        {made->getArg(0), buffer_}, "", block_);
    auto* byte = llvm::CastInst::CreateTruncOrBitCast(more, llvm::Type::getInt8Ty(context_), "", block_);
    new llvm::StoreInst(byte, made->getArg(made->arg_size() - 1), block_);
    auto* isMore = new llvm::ICmpInst(block_, llvm::CmpInst::ICMP_NE, more, llvm::ConstantInt::get(more->getType(), 0));
    llvm::BranchInst::Create(take, end, isMore, block_);
    block_ = take;
    uint64_t offset = 0;
    for (unsigned field = 0; field < fields_.size(); ++field) {
      auto* value = new llvm::LoadInst(stored(field), at(offset), "", false, llvm::Align(1), block_);
      new llvm::StoreInst(loaded(field, value), made->getArg(1 + field), block_);
      offset += packedBytes(fields_[field]);
    }
    llvm::BranchInst::Create(end, block_);
    llvm::ReturnInst::Create(context_, end);
    return made;
  }

  llvm::Function* deliver(const std::string& name) {
    llvm::SmallVector<llvm::Type*> types{word()};
    for (llvm::Type* field : fields_)
      types.push_back(field->isPointerTy() ? word() : field);
    llvm::Function* made = begin(types, name);
    uint64_t offset = 0;
    for (unsigned field = 0; field < fields_.size(); ++field) {
      llvm::Value* value = made->getArg(1 + field);
      if (value->getType() != stored(field)) // C's bool is a byte
        value = llvm::CastInst::CreateZExtOrBitCast(value, stored(field), "", block_);
      new llvm::StoreInst(value, at(offset), false, llvm::Align(1), block_);
      offset += packedBytes(fields_[field]);
    }
    llvm::CallInst::Create(
        module_.getOrInsertFunction("strata_hpvm_deliver", llvm::Type::getVoidTy(context_), word(), pointer()),
        {made->getArg(0), buffer_}, "", block_);
    llvm::ReturnInst::Create(context_, block_);
    return made;
  }

private:
  llvm::Type* word() const { return llvm::Type::getInt64Ty(context_); }
  llvm::Type* pointer() const { return llvm::PointerType::getUnqual(context_); }

  llvm::Function* begin(llvm::ArrayRef<llvm::Type*> types, const std::string& name) {
    auto* made = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context_), types, false),
                                        llvm::GlobalValue::ExternalLinkage, name, module_);
    block_ = llvm::BasicBlock::Create(context_, "", made);
    uint64_t bytes = 1;
    for (const llvm::Type* field : fields_)
      bytes += packedBytes(field);
    buffer_ = new llvm::AllocaInst(llvm::ArrayType::get(llvm::Type::getInt8Ty(context_), bytes), 0, "", block_);
    return made;
  }

  llvm::Value* at(uint64_t offset) {
    return llvm::GetElementPtrInst::Create(llvm::Type::getInt8Ty(context_), buffer_,
                                           {llvm::ConstantInt::get(word(), offset)}, "", block_);
  }

  /// The type of a field in the struct, and the value that is handed on.
  llvm::Type* stored(unsigned field) const {
    llvm::Type* type = fields_[field];
    return type->isPointerTy() ? word() : type->isIntegerTy(1) ? llvm::Type::getInt8Ty(context_) : type;
  }
  llvm::Value* loaded(unsigned field, llvm::Value* value) {
    return fields_[field]->isIntegerTy(1) ? llvm::CastInst::CreateTruncOrBitCast(value, fields_[field], "", block_)
                                          : value;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const std::vector<llvm::Type*>& fields_;
  llvm::BasicBlock* block_ = nullptr;
  llvm::Value* buffer_ = nullptr;
};

} // namespace

llvm::Function* makeNext(llvm::Module& module, const std::vector<llvm::Type*>& fields, const std::string& name) {
  return ItemCode(module, fields).next(name);
}

llvm::Function* makeDeliver(llvm::Module& module, const std::vector<llvm::Type*>& fields, const std::string& name) {
  return ItemCode(module, fields).deliver(name);
}

} // namespace strata::hpvm
