// Calls of the runtime: declares its functions in a program, and makes the constants that they are given, which are as
// the C structures of runtime/abi.h.
#include "compiler/ir/locations.h"
#include "compiler/target/host/storage.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {

using mlir::Location;

Value RuntimeCalls::call(OpBuilder& builder, Location location, StringRef name, Type result, ValueRange arguments) {
  auto* context = builder.getContext();
  LLVM::LLVMFuncOp& function = functions_[name];
  if (!function)
    function = program_.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(program_.getBody());
    SmallVector<Type> types(arguments.getTypes());
    function = builder.create<LLVM::LLVMFuncOp>(
        program_.getLoc(), name,
        LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(context), types));
    SmallVector<Attribute> passthrough{builder.getStringAttr("nounwind")};
    if (name == "strata_fail")
      passthrough.append({builder.getStringAttr("noreturn"), builder.getStringAttr("cold")});
    function.setPassthroughAttr(builder.getArrayAttr(passthrough));
  }
  auto call = builder.create<LLVM::CallOp>(location, function, arguments);
  return result ? call.getResult() : Value();
}

LLVM::GlobalOp RuntimeCalls::global(StringRef prefix, Type type, bool isText, StringRef text) {
  OpBuilder builder(program_.getContext());
  builder.setInsertionPointToStart(program_.getBody());
  return builder.create<LLVM::GlobalOp>(program_.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                        (prefix + std::to_string(next_++)).str(),
                                        isText ? Attribute(builder.getStringAttr(text)) : Attribute());
}

Value RuntimeCalls::text(OpBuilder& builder, Location location, StringRef text) {
  LLVM::GlobalOp& known = texts_[text];
  if (!known) {
    std::string terminated = text.str();
    terminated.push_back('\0');
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
    known = global("strata.text.", type, true, terminated);
  }
  return builder.create<LLVM::AddressOfOp>(location, known);
}

Value RuntimeCalls::null(OpBuilder& builder, Location location) {
  return builder.create<LLVM::ZeroOp>(location, LLVM::LLVMPointerType::get(builder.getContext()));
}

Value RuntimeCalls::structure(OpBuilder& builder, Location location, StringRef prefix, StringRef key,
                              ArrayRef<Type> types, llvm::function_ref<SmallVector<Value>(OpBuilder&)> fields) {
  LLVM::GlobalOp& known = structures_[(prefix + key).str()];
  if (!known) {
    auto type = LLVM::LLVMStructType::getLiteral(program_.getContext(), types);
    known = global(prefix, type, false, "");
    OpBuilder inside(program_.getContext());
    inside.createBlock(&known.getInitializerRegion());
    Value value = inside.create<LLVM::UndefOp>(location, type);
    for (auto [position, field] : llvm::enumerate(fields(inside)))
      value =
          inside.create<LLVM::InsertValueOp>(location, value, field, ArrayRef<int64_t>{static_cast<int64_t>(position)});
    inside.create<LLVM::ReturnOp>(location, value);
  }
  return builder.create<LLVM::AddressOfOp>(location, known);
}

Value RuntimeCalls::check(OpBuilder& builder, Location location, StringRef code, StringRef message, StringRef help) {
  FilePlace place = filePlace(location);
  std::string key =
      (code + "|" + message + "|" + help + "|" + place.file + "|" + Twine(place.line) + "|" + Twine(place.column))
          .str();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), word = builder.getI32Type();
  return structure(builder, location, "strata.check.", key, {pointer, pointer, pointer, pointer, word, word},
                   [&](OpBuilder& inside) {
                     auto number = [&](unsigned value) {
                       return inside
                           .create<LLVM::ConstantOp>(location, inside.getI32Type(), static_cast<int64_t>(value))
                           .getResult();
                     };
                     return SmallVector<Value>{text(inside, location, code),
                                               text(inside, location, message),
                                               help.empty() ? null(inside, location) : text(inside, location, help),
                                               text(inside, location, place.file),
                                               number(place.line),
                                               number(place.column)};
                   });
}

SmallVector<Value> RuntimeCalls::numbers(OpBuilder& builder, Location location, ArrayRef<Type> types,
                                         ArrayRef<int64_t> values) {
  SmallVector<Value> made;
  for (auto [type, value] : llvm::zip_equal(types, values))
    made.push_back(builder.create<LLVM::ConstantOp>(location, type, value));
  return made;
}

Value RuntimeCalls::way(OpBuilder& builder, Location location, StringRef block, uint32_t from, uint32_t to,
                        ArrayRef<uint32_t> links) {
  std::string key = (block + "|" + Twine(from) + "|" + Twine(to)).str();
  for (uint32_t link : links)
    key += "|" + std::to_string(link);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), word = builder.getI32Type();
  return structure(builder, location, "strata.way.", key, {pointer, word, word, pointer, word}, [&](OpBuilder& inside) {
    const SmallVector<Type> words(links.size(), word);
    const SmallVector<int64_t> values(links.begin(), links.end());
    Value list = links.empty() ? null(inside, location)
                               : structure(inside, location, "strata.links.", key, words,
                                           [&](OpBuilder& within) { return numbers(within, location, words, values); });
    const SmallVector<Value> ends = numbers(inside, location, {word, word, word}, {from, to, int64_t(links.size())});
    return SmallVector<Value>{text(inside, location, block), ends[0], ends[1], list, ends[2]};
  });
}

Value RuntimeCalls::streamPlace(OpBuilder& builder, Location location, StringRef stream, uint32_t memory,
                                uint32_t fifo) {
  const std::string key = (stream + "|" + Twine(memory) + "|" + Twine(fifo)).str();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), word = builder.getI32Type();
  return structure(builder, location, "strata.stream.", key, {word, word, pointer, pointer}, [&](OpBuilder& inside) {
    SmallVector<Value> fields = numbers(inside, location, {word, word}, {memory, fifo});
    fields.push_back(text(inside, location, ("wait for room in " + stream).str()));
    fields.push_back(text(inside, location, ("wait for an element of " + stream).str()));
    return fields;
  });
}

Value RuntimeCalls::parts(OpBuilder& builder, Location location, const StrataParts& parts) {
  const std::string key = (Twine(parts.processor) + "|" + Twine(parts.is_concurrent) + "|" + Twine(parts.parts) + "|" +
                           Twine(parts.first) + "|" + Twine(parts.width) + "|" + Twine(parts.has_handles))
                              .str();
  Type word = builder.getI32Type(), number = builder.getI64Type();
  const SmallVector<Type> types{word, word, number, number, number, word};
  return structure(builder, location, "strata.parts.", key, types, [&](OpBuilder& inside) {
    return numbers(inside, location, types,
                   {parts.processor, parts.is_concurrent, parts.parts, parts.first, parts.width, parts.has_handles});
  });
}

} // namespace strata::host
