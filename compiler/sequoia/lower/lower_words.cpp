// Objects as words: the members of unions, which share their bytes, and structs that are too large to be values, which
// stay in memory as rows of words. A word is an integer of the object's alignment, so that no scalar lies in two; what
// is smaller than a word is cut out of it and put into it by shifts.
#include "compiler/sequoia/lower/lower_body.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Value;

STRATA_DIAGNOSTIC(localStructs, Error, "sequoia-local-structs",
                  "the large structs that '{0}' keeps beside its arrays take {1} bytes with '{2}'; {3} is the most");

/// Large structs that are no arrays lie on the stack.
static constexpr uint64_t mostLocalBytes = 256 << 10;

BodyLowering::Offset BodyLowering::offsetOf(llvm::ArrayRef<Step> path) {
  Offset offset;
  for (const Step& step : path) {
    if (!step.container->isCArray())
      offset.bytes += step.container->fields[step.field].offset;
    else if (step.index)
      offset.terms.emplace_back(step.index, step.container->element->size);
    else
      offset.bytes += step.field * step.container->element->size;
  }
  return offset;
}

/// Where in its words a scalar lies.
struct BodyLowering::Position {
  std::optional<uint64_t> constantWord;
  Value word; // an index, when the number is no constant
  unsigned constantShift = 0;
  Value shift; // bits, as an integer of a word's type, when they are no constant
};

BodyLowering::Position BodyLowering::positionOf(const Words& words, const Offset& offset) {
  Position position;
  const uint64_t width = words.bytes;
  bool aligned = true;
  for (const auto& [index, stride] : offset.terms)
    aligned &= stride % width == 0;
  if (offset.terms.empty()) {
    position.constantWord = offset.bytes / width;
    position.constantShift = static_cast<unsigned>(offset.bytes % width * 8);
    return position;
  }
  auto scaled = [&](uint64_t unit) {
    Value sum = indexConstant(static_cast<int64_t>(offset.bytes / unit));
    for (const auto& [index, stride] : offset.terms)
      sum = add(sum, multiply(index, indexConstant(static_cast<int64_t>(stride / unit))));
    return sum;
  };
  if (aligned) {
    position.word = scaled(width);
    position.constantShift = static_cast<unsigned>(offset.bytes % width * 8);
    return position;
  }
  Value bytes = scaled(1);
  Value unit = indexConstant(static_cast<int64_t>(width));
  position.word = folded<arith::DivUIOp>(bytes, unit);
  Value bits = multiply(folded<arith::RemUIOp>(bytes, unit), indexConstant(8));
  position.shift =
      make<arith::IndexCastOp>(builder_.getIntegerType(static_cast<unsigned>(width * 8)), bits).getResult();
  return position;
}

Value BodyLowering::loadWord(const Words& words, const Position& position) {
  if (words.storage) {
    Values indices(words.indices);
    indices.push_back(position.word ? position.word : indexConstant(static_cast<int64_t>(*position.constantWord)));
    return make<memref::LoadOp>(words.storage, indices);
  }
  auto type = llvm::cast<svm::RecordType>(words.record.getType());
  auto field = [&](unsigned number) -> Value {
    return make<svm::FieldOp>(type.getFieldTypes()[number], words.record, static_cast<int64_t>(number));
  };
  if (position.constantWord)
    return field(static_cast<unsigned>(*position.constantWord));
  Value chosen = field(0);
  for (unsigned each = 1; each < type.getFieldTypes().size(); ++each) {
    Value here = compare(arith::CmpIPredicate::eq, position.word, indexConstant(each));
    chosen = make<arith::SelectOp>(here, field(each), chosen);
  }
  return chosen;
}

void BodyLowering::storeWord(Words& words, const Position& position, Value value) {
  if (words.storage) {
    Values indices(words.indices);
    indices.push_back(position.word ? position.word : indexConstant(static_cast<int64_t>(*position.constantWord)));
    make<memref::StoreOp>(value, words.storage, indices);
    return;
  }
  auto type = llvm::cast<svm::RecordType>(words.record.getType());
  if (position.constantWord) {
    words.record =
        make<svm::WithFieldOp>(type, words.record, value, static_cast<int64_t>(*position.constantWord)).getResult();
    return;
  }
  Values fields;
  for (unsigned each = 0; each < type.getFieldTypes().size(); ++each) {
    Value old = make<svm::FieldOp>(type.getFieldTypes()[each], words.record, static_cast<int64_t>(each));
    Value here = compare(arith::CmpIPredicate::eq, position.word, indexConstant(each));
    fields.push_back(make<arith::SelectOp>(here, value, old));
  }
  words.record = make<svm::RecordOp>(type, fields);
}

Value BodyLowering::readBits(const Words& words, const Offset& offset, uint64_t bytes) {
  Position position = positionOf(words, offset);
  Value word = loadWord(words, position);
  if (bytes == words.bytes)
    return word;
  if (position.shift)
    word = make<arith::ShRUIOp>(word, position.shift);
  else if (position.constantShift)
    word = make<arith::ShRUIOp>(word, integer(word.getType(), position.constantShift));
  return make<arith::TruncIOp>(builder_.getIntegerType(static_cast<unsigned>(bytes * 8)), word);
}

void BodyLowering::writeBits(Words& words, const Offset& offset, uint64_t bytes, Value bits) {
  Position position = positionOf(words, offset);
  if (bytes == words.bytes)
    return storeWord(words, position, bits);
  mlir::Type type = builder_.getIntegerType(words.bytes * 8);
  Value word = loadWord(words, position);
  if (auto load = word.getDefiningOp<memref::LoadOp>())
    load->setAttr(svm::SvmDialect::remainderAttr, builder_.getUnitAttr());
  Value wide = make<arith::ExtUIOp>(type, bits);
  Value mask = integer(type, (uint64_t(1) << (bytes * 8)) - 1);
  Value shift = position.shift           ? position.shift
                : position.constantShift ? integer(type, position.constantShift)
                                         : Value();
  if (shift) {
    wide = make<arith::ShLIOp>(wide, shift);
    mask = folded<arith::ShLIOp>(mask, shift);
  }
  Value kept = make<arith::AndIOp>(word, folded<arith::XOrIOp>(mask, integer(type, ~uint64_t(0))));
  storeWord(words, position, make<arith::OrIOp>(kept, wide));
}

Value BodyLowering::readObject(const Words& words, const Offset& offset, const Type* type) {
  if (type->isArithmetic()) {
    Value bits = readBits(words, offset, type->size);
    return type->isInteger() ? bits : make<arith::BitcastOp>(module_.typeOf(type), bits).getResult();
  }
  auto record = llvm::cast<svm::RecordType>(module_.typeOf(type));
  Values fields;
  auto part = [&](uint64_t at, const Type* partType) {
    Offset inner = offset;
    inner.bytes += at;
    fields.push_back(partType ? readObject(words, inner, partType) : readBits(words, inner, type->alignment));
  };
  for (uint64_t word = 0; type->kind == TypeKind::Union && word < type->size / type->alignment; ++word)
    part(word * type->alignment, nullptr);
  for (uint64_t element = 0; type->isCArray() && element < type->count; ++element)
    part(element * type->element->size, type->element);
  if (type->kind == TypeKind::Struct)
    for (const Field& field : type->fields)
      part(field.offset, field.type);
  return make<svm::RecordOp>(record, fields);
}

void BodyLowering::writeObject(Words& words, const Offset& offset, const Type* type, Value value) {
  if (type->isArithmetic()) {
    if (type->isFloating())
      value = make<arith::BitcastOp>(builder_.getIntegerType(type->bits()), value);
    return writeBits(words, offset, type->size, value);
  }
  auto record = llvm::cast<svm::RecordType>(module_.typeOf(type));
  for (unsigned number = 0; number < record.getFieldTypes().size(); ++number) {
    Value part = make<svm::FieldOp>(record.getFieldTypes()[number], value, static_cast<int64_t>(number));
    Offset inner = offset;
    if (type->kind == TypeKind::Union) {
      inner.bytes += number * type->alignment;
      writeBits(words, inner, type->alignment, part);
    } else if (type->isCArray()) {
      inner.bytes += number * type->element->size;
      writeObject(words, inner, type->element, part);
    } else {
      inner.bytes += type->fields[number].offset;
      writeObject(words, inner, type->fields[number].type, part);
    }
  }
}

// ---- objects that are no values ----

BodyLowering::Words BodyLowering::wordsAt(const Target& target) {
  Words words;
  words.storage = target.storage;
  words.indices = target.indices;
  words.bytes = static_cast<unsigned>(target.root->alignment);
  return words;
}

/// Copies a large object word by word. Both are of one type; as a part of a larger one it may begin anywhere in a word.
void BodyLowering::copyObject(const Target& to, const Target& from) {
  const Type* type = to.type;
  Words target = wordsAt(to), source = wordsAt(from);
  Offset targetOffset = offsetOf(to.path), sourceOffset = offsetOf(from.path);
  auto loop = make<scf::ForOp>(indexConstant(0), indexConstant(static_cast<int64_t>(type->size / type->alignment)),
                               indexConstant(1));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  for (Offset* offset : {&targetOffset, &sourceOffset})
    offset->terms.emplace_back(loop.getInductionVar(), type->alignment);
  Value bits = readBits(source, sourceOffset, type->alignment);
  writeBits(target, targetOffset, type->alignment, bits);
}

void BodyLowering::clearObject(const Target& object) {
  auto loop = make<scf::ForOp>(indexConstant(0), indexConstant(ModuleLowering::wordsIn(object.type)), indexConstant(1));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  Values indices(object.indices);
  indices.push_back(loop.getInductionVar());
  make<memref::StoreOp>(zeroOf(module_.wordOf(object.type)), object.storage, indices);
}

Value BodyLowering::objectView(const Expr* expr) {
  Target given = object(expr);
  at(expr->location);
  if (!given.path.empty()) {
    Target copy = newObject(expr->type, expr->location, "an argument");
    copyObject(copy, given);
    return copy.storage;
  }
  if (given.indices.empty())
    return given.storage;
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  for (Value position : given.indices) {
    offsets.push_back(position);
    sizes.push_back(builder_.getIndexAttr(1));
    strides.push_back(builder_.getIndexAttr(1));
  }
  offsets.push_back(builder_.getIndexAttr(0));
  sizes.push_back(indexConstant(ModuleLowering::wordsIn(expr->type)));
  strides.push_back(builder_.getIndexAttr(1));
  mlir::MemRefType type = svm::viewType(1, module_.wordOf(expr->type));
  return make<memref::SubViewOp>(type, given.storage, offsets, sizes, strides);
}

BodyLowering::Target BodyLowering::newObject(const Type* type, const Location& where, std::string_view name) {
  Target target;
  target.root = target.type = type;
  auto words = static_cast<int64_t>(type->size / type->alignment);
  localBytes_ += type->size;
  if (localBytes_ > mostLocalBytes) {
    if (localBytes_ - type->size <= mostLocalBytes)
      module_.diagnostics.report(localStructs, where, instance_.variant->taskName, localBytes_, name, mostLocalBytes)
          .help("make it an array of one element, which lies where the mapping puts the arrays");
    words = 1; // the program is not executed
  }
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(allocations_);
  target.storage = make<memref::AllocaOp>(mlir::MemRefType::get({words}, module_.wordOf(type)));
  return target;
}

BodyLowering::Target BodyLowering::object(const Expr* expr) {
  Deeper deeper(*this);
  at(expr->location);
  switch (expr->kind) {
  case ExprKind::Assign:
    assignment(expr);
    return target(expr->operands[0]);
  case ExprKind::Comma:
    effect(expr->operands[0]);
    return object(expr->operands[1]);
  case ExprKind::Conditional: {
    Value holds = condition(expr->operands[0]);
    at(expr->location);
    Target chosen = newObject(expr->type, expr->location, "?:");
    auto branch = make<scf::IfOp>(holds, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    copyObject(chosen, object(expr->operands[1]));
    builder_.setInsertionPointToStart(branch.elseBlock());
    copyObject(chosen, object(expr->operands[2]));
    return chosen;
  }
  case ExprKind::Call: {
    Target result;
    result.root = result.type = expr->type;
    result.storage = callFunction(expr);
    return result;
  }
  default:
    return target(expr);
  }
}

} // namespace strata::sequoia
