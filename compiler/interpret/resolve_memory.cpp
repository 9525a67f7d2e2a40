// Memory: the memref dialect. Views and reshapes become copies of slots and integer arithmetic on extents and strides.
#include "compiler/interpret/resolver.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace strata::interpret {

/// Where the parts of a block stand behind its first slot.
static Slot extentAt(Slot block, unsigned dimension) {
  return block + 2 + dimension;
}
static Slot strideAt(Slot block, unsigned rank, unsigned dimension) {
  return block + 2 + rank + dimension;
}

SmallVector<Slot> Resolver::mixed(ArrayRef<OpFoldResult> values) {
  SmallVector<Slot> list;
  for (OpFoldResult value : values) {
    if (std::optional<int64_t> known = isa<Attribute>(value) ? getConstantIntValue(value) : std::nullopt)
      list.push_back(constant(static_cast<uint64_t>(*known)));
    else
      list.push_back(slot(cast<Value>(value)));
  }
  return list;
}

void Resolver::resolveMake(Operation* op, MemRefType type, ValueRange extents, MakeKind kind) {
  SmallVector<uint32_t> list;
  unsigned dynamic = 0;
  for (int64_t extent : type.getShape())
    list.push_back(ShapedType::isDynamic(extent) ? slot(extents[dynamic++]) : constant(static_cast<uint64_t>(extent)));
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  bool strided = !type.getLayout().isIdentity() && succeeded(getStridesAndOffset(type, strides, offset)) &&
                 !ShapedType::isDynamicShape(strides) && !ShapedType::isDynamic(offset);
  if (strided && offset != 0)
    return unsupported(op, " with an offset");
  // A layout that the type leaves open is dense.
  if (strided)
    for (int64_t stride : strides)
      list.push_back(constant(static_cast<uint64_t>(stride)));
  Slot block = slot(op->getResult(0));
  auto made = dyn_cast<svm::BlockOp>(op);
  auto named = svm::SvmDialect::nameAttr.of(op);
  auto label = static_cast<uint32_t>(name(named ? named.getValue() : made ? made.getLabel().value_or("") : ""));
  uint32_t at = here();
  Instruction& make = emit(Opcode::Make, block, label, static_cast<uint32_t>(type.getRank()), 0,
                           static_cast<int64_t>(svm::RecordType::sizeInBytes(type.getElementType())));
  make.small = static_cast<uint8_t>(kind);
  make.shift = static_cast<uint8_t>(svm::distributionOf(type) ? MakeForm::Distributed : MakeForm::Plain);
  setPool(at, list);
}

void Resolver::resolveAccess(Operation* op, bool isLoad, Value block, Value value, ArrayRef<Slot> indices) {
  static constexpr Opcode loads[] = {Opcode::Load0, Opcode::Load1, Opcode::Load2, Opcode::LoadMany};
  static constexpr Opcode stores[] = {Opcode::Store0, Opcode::Store1, Opcode::Store2, Opcode::StoreMany};
  size_t rank = std::min<size_t>(indices.size(), 3);
  Slot source = slot(block), element = slot(value);
  uint32_t at = here();
  auto bytes = svm::RecordType::sizeInBytes(cast<MemRefType>(block.getType()).getElementType());
  emit(isLoad ? loads[rank] : stores[rank], element, source, 0, 0, static_cast<int64_t>(bytes));
  const bool isRest = svm::SvmDialect::remainderAttr.isOn(op);
  if (!isLoad)
    program_.code[at].small = isRest ? StoresRest : 0;
  else
    program_.code[at].small =
        static_cast<uint8_t>((svm::SvmDialect::awaitedAttr.isOn(op) ? LoadWaits : 0) | (isRest ? LoadsRest : 0) |
                             (svm::SvmDialect::keptAttr.isOn(op) ? LoadKeeps : 0) |
                             (svm::SvmDialect::comparedAttr.isOn(op) ? LoadCompares : 0));
  if (rank < 3) {
    program_.code[at].c = rank > 0 ? indices[0] : 0;
    program_.code[at].d = rank > 1 ? indices[1] : 0;
  } else {
    setPool(at, indices);
  }
}

void Resolver::resolveSubView(memref::SubViewOp view) {
  ViewShape shape;
  shape.sourceRank = static_cast<unsigned>(view.getSourceType().getRank());
  llvm::SmallBitVector dropped = view.getDroppedDims();
  for (unsigned dimension = 0; dimension < shape.sourceRank; ++dimension)
    if (!dropped.test(dimension))
      shape.kept.push_back(dimension);
  SmallVector<uint32_t> list;
  for (const auto& part : {view.getMixedOffsets(), view.getMixedSizes(), view.getMixedStrides()})
    llvm::append_range(list, mixed(part));
  program_.views.push_back(std::move(shape));
  Slot source = slot(view.getSource()), result = slot(view.getResult());
  emit(Opcode::View, result, source, 0, 0, static_cast<int64_t>(program_.views.size() - 1));
  setPool(here() - 1, list);
}

void Resolver::resolveReinterpret(memref::ReinterpretCastOp cast) {
  Slot source = slot(cast.getSource()), result = slot(cast.getResult());
  SmallVector<std::pair<Slot, Slot>> pairs{{result, source}};
  Slot to = result + 1;
  for (const auto& part : {cast.getMixedOffsets(), cast.getMixedSizes(), cast.getMixedStrides()})
    for (Slot from : mixed(part))
      pairs.emplace_back(to++, from);
  copy(pairs);
}

void Resolver::resolveExpand(memref::ExpandShapeOp op) {
  unsigned sourceRank = op.getSrcType().getRank(), rank = op.getResultType().getRank();
  Slot source = slot(op.getSrc()), result = slot(op.getResult());
  OpBuilder builder(op);
  SmallVector<Slot> extents = mixed(getMixedValues(op.getStaticOutputShape(), op.getOutputShape(), builder));
  SmallVector<std::pair<Slot, Slot>> pairs{{result, source}, {result + 1, source + 1}};
  for (auto [from, group] : llvm::enumerate(op.getReassociationIndices())) {
    Slot stride = strideAt(source, sourceRank, static_cast<unsigned>(from));
    for (int64_t dimension : llvm::reverse(group)) {
      pairs.emplace_back(extentAt(result, static_cast<unsigned>(dimension)), extents[dimension]);
      pairs.emplace_back(strideAt(result, rank, static_cast<unsigned>(dimension)), stride);
      stride = integer(Opcode::MulI, stride, extents[dimension]);
    }
  }
  for (unsigned dimension = 0; dimension < rank && sourceRank == 0; ++dimension) { // a single element
    pairs.emplace_back(extentAt(result, dimension), constant(1));
    pairs.emplace_back(strideAt(result, rank, dimension), constant(1));
  }
  copy(pairs);
}

void Resolver::resolveCollapse(memref::CollapseShapeOp op) {
  unsigned sourceRank = op.getSrcType().getRank(), rank = op.getResultType().getRank();
  Slot source = slot(op.getSrc()), result = slot(op.getResult());
  SmallVector<std::pair<Slot, Slot>> pairs{{result, source}, {result + 1, source + 1}};
  for (auto [to, group] : llvm::enumerate(op.getReassociationIndices())) {
    Slot extent = constant(1);
    // The stride is that of the innermost dimension that has more than one element.
    Slot stride = newSlots(1);
    emit(Opcode::Copy, stride, strideAt(source, sourceRank, static_cast<unsigned>(group.back())));
    Slot found = newSlots(1);
    emit(Opcode::Copy, found, constant(0));
    for (int64_t dimension : llvm::reverse(group)) {
      Slot each = extentAt(source, static_cast<unsigned>(dimension));
      extent = integer(Opcode::MulI, extent, each);
      Slot candidate = integer(Opcode::NotEqual, each, constant(1));
      Slot first = integer(Opcode::LessUnsigned, found, candidate);
      emit(Opcode::Select, stride, first, strideAt(source, sourceRank, static_cast<unsigned>(dimension)), stride, 1);
      emit(Opcode::OrI, found, found, candidate);
    }
    pairs.emplace_back(extentAt(result, static_cast<unsigned>(to)), extent);
    pairs.emplace_back(strideAt(result, rank, static_cast<unsigned>(to)), stride);
  }
  copy(pairs);
}

void Resolver::resolveGlobal(memref::GetGlobalOp op) {
  auto type = cast<MemRefType>(op.getType());
  auto symbol = module_.lookupSymbol<memref::GlobalOp>(op.getName());
  Type element = type.getElementType();
  if (!symbol || !scalarWidth(element) || !type.getLayout().isIdentity())
    return unsupported(op, " of this global");
  constexpr int64_t most = int64_t(1) << 30; // its initial value is kept in memory
  int64_t elements = 1;
  for (int64_t extent : type.getShape())
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > most)
      return unsupported(op, " of a global of more than 2^30 elements");
  auto [entry, isNew] = globalIndex_.try_emplace(op.getName(), static_cast<int64_t>(program_.globals.size()));
  if (isNew) {
    GlobalData data;
    data.elements = type.getNumElements();
    data.elementBytes = svm::RecordType::sizeInBytes(element);
    if (auto initial = dyn_cast_or_null<DenseElementsAttr>(symbol.getInitialValueAttr())) {
      data.bytes.resize(static_cast<size_t>(data.elements) * data.elementBytes);
      char* to = data.bytes.data();
      auto put = [&](const APInt& value) {
        uint64_t bits = value.getZExtValue();
        std::memcpy(to, &bits, data.elementBytes);
        to += data.elementBytes;
      };
      if (isa<FloatType>(element))
        for (const APFloat& value : initial.getValues<APFloat>())
          put(value.bitcastToAPInt());
      else
        for (const APInt& value : initial.getValues<APInt>())
          put(value);
    }
    program_.globals.push_back(std::move(data));
  }
  Slot block = slot(op.getResult());
  unsigned rank = static_cast<unsigned>(type.getRank());
  emit(Opcode::Global, block, 0, 0, 0, entry->second);
  SmallVector<std::pair<Slot, Slot>> pairs;
  uint64_t stride = 1;
  for (unsigned dimension = rank; dimension-- > 0;) {
    auto extent = static_cast<uint64_t>(type.getDimSize(dimension));
    pairs.emplace_back(extentAt(block, dimension), constant(extent));
    pairs.emplace_back(strideAt(block, rank, dimension), constant(stride));
    stride *= extent;
  }
  copy(pairs);
}

/// The arith operation that a read-modify-write does; empty for a plain assignment.
static StringRef atomicOperation(arith::AtomicRMWKind kind) {
  switch (kind) {
  case arith::AtomicRMWKind::addf:
    return "arith.addf";
  case arith::AtomicRMWKind::addi:
    return "arith.addi";
  case arith::AtomicRMWKind::maximumf:
    return "arith.maximumf";
  case arith::AtomicRMWKind::maxs:
    return "arith.maxsi";
  case arith::AtomicRMWKind::maxu:
    return "arith.maxui";
  case arith::AtomicRMWKind::minimumf:
    return "arith.minimumf";
  case arith::AtomicRMWKind::mins:
    return "arith.minsi";
  case arith::AtomicRMWKind::minu:
    return "arith.minui";
  case arith::AtomicRMWKind::mulf:
    return "arith.mulf";
  case arith::AtomicRMWKind::muli:
    return "arith.muli";
  case arith::AtomicRMWKind::ori:
    return "arith.ori";
  case arith::AtomicRMWKind::andi:
    return "arith.andi";
  case arith::AtomicRMWKind::maxnumf:
    return "arith.maxnumf";
  case arith::AtomicRMWKind::minnumf:
    return "arith.minnumf";
  case arith::AtomicRMWKind::assign:
    break;
  }
  return {};
}

void Resolver::resolveAtomic(memref::AtomicRMWOp op) {
  SmallVector<Slot> indices;
  for (Value index : op.getIndices())
    indices.push_back(slot(index));
  operand_ = AtomicAccess;
  resolveAccess(op, true, op.getMemref(), op.getResult(), indices);
  Slot old = slot(op.getResult()), changed = slot(op.getValue());
  if (StringRef name = atomicOperation(op.getKind()); !name.empty()) {
    unsigned width = scalarWidth(op.getValue().getType());
    PureFunction function = namedFunction(name, op.getValue().getType());
    if (!function)
      return unsupported(op, " on such types");
    changed = scalar(function, width, old, changed);
  }
  static constexpr Opcode stores[] = {Opcode::Store0, Opcode::Store1, Opcode::Store2, Opcode::StoreMany};
  size_t rank = std::min<size_t>(indices.size(), 3);
  auto bytes = svm::RecordType::sizeInBytes(op.getMemRefType().getElementType());
  emit(stores[rank], changed, slot(op.getMemref()), rank > 0 ? indices[0] : 0, rank > 1 ? indices[1] : 0,
       static_cast<int64_t>(bytes));
  if (rank == 3)
    setPool(here() - 1, indices);
}

void Resolver::noteIndexSource(Value index) {
  while (Operation* conversion = index.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp>(conversion))
      break;
    index = conversion->getOperand(0);
  }
  auto load = index.getDefiningOp<memref::LoadOp>();
  if (!load || load.getIndices().size() != 1)
    return;
  const Slot position = slot(load.getIndices()[0]), block = slot(load.getMemRef());
  if (position & ConstantMark)
    return;
  program_.indexSources[here() - 1] = {
      position, block, static_cast<uint32_t>(svm::RecordType::sizeInBytes(load.getMemRefType().getElementType()))};
}

bool Resolver::resolveMemory(Operation* op) {
  auto slotsOfIndices = [&](ValueRange values) {
    SmallVector<Slot> list;
    for (Value value : values)
      list.push_back(slot(value));
    return list;
  };
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    resolveAccess(op, true, load.getMemRef(), load.getResult(), slotsOfIndices(load.getIndices()));
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    resolveAccess(op, false, store.getMemRef(), store.getValueToStore(), slotsOfIndices(store.getIndices()));
    if (operand_ && store.getIndices().size() == 1)
      noteIndexSource(store.getIndices()[0]);
  } else if (auto make = dyn_cast<memref::AllocaOp>(op)) {
    resolveMake(op, make.getType(), make.getDynamicSizes(), MakeKind::Automatic);
  } else if (auto make = dyn_cast<memref::AllocOp>(op)) {
    resolveMake(op, make.getType(), make.getDynamicSizes(), MakeKind::Heap);
  } else if (auto make = dyn_cast<svm::BlockOp>(op)) {
    resolveMake(op, make.getBlock().getType(), make.getExtents(), MakeKind::Block);
  } else if (auto found = dyn_cast<svm::MemoryAtOp>(op)) {
    Slot block = slot(found.getBlock()), address = slot(found.getAddress()), extent = slot(found.getExtent());
    emit(Opcode::MemoryAt, block, address, extent, static_cast<uint32_t>(name(found.getLabel().value_or(""))),
         static_cast<int64_t>(svm::RecordType::sizeInBytes(found.getBlock().getType().getElementType())));
  } else if (auto apart = dyn_cast<svm::ApartOp>(op)) {
    SmallVector<uint32_t> shapes;
    for (MemRefType type : {apart.getFirst().getType(), apart.getSecond().getType()}) {
      shapes.push_back(static_cast<uint32_t>(type.getRank()));
      shapes.push_back(static_cast<uint32_t>(svm::RecordType::sizeInBytes(type.getElementType())));
    }
    Slot result = slot(apart.getIsApart()), first = slot(apart.getFirst()), second = slot(apart.getSecond());
    emit(Opcode::AreApart, result, first, second);
    setPool(here() - 1, shapes);
  } else if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
    emit(Opcode::Dealloc, slot(dealloc.getMemref()));
  } else if (auto view = dyn_cast<memref::SubViewOp>(op)) {
    resolveSubView(view);
  } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
    Slot source = slot(dim.getSource()), index = slot(dim.getIndex());
    emit(Opcode::Dimension, slot(dim.getResult()), source, index, 0,
         cast<MemRefType>(dim.getSource().getType()).getRank());
  } else if (isa<memref::CastOp, memref::MemorySpaceCastOp>(op)) {
    auto from = cast<MemRefType>(op->getOperand(0).getType()), to = cast<MemRefType>(op->getResult(0).getType());
    Slot source = slot(op->getOperand(0));
    for (unsigned i = 0; i < to.getRank(); ++i)
      if (from.isDynamicDim(i) && !to.isDynamicDim(i))
        emit(Opcode::CheckExtent, extentAt(source, i), 0, 0, 0, to.getDimSize(i));
    alias(op->getResult(0), source);
  } else if (auto reinterpret = dyn_cast<memref::ReinterpretCastOp>(op)) {
    resolveReinterpret(reinterpret);
  } else if (auto dense = dyn_cast<memref::CopyOp>(op)) {
    auto type = cast<MemRefType>(dense.getSource().getType());
    Slot source = slot(dense.getSource()), target = slot(dense.getTarget());
    emit(Opcode::Move, source, target, static_cast<uint32_t>(type.getRank()), 0,
         static_cast<int64_t>(svm::RecordType::sizeInBytes(type.getElementType())));
  } else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    Slot source = slot(metadata.getSource()), base = slot(metadata.getBaseBuffer());
    copy({{base, source}, {base + 1, constant(0)}});
    unsigned rank = static_cast<unsigned>(metadata.getSource().getType().getRank());
    alias(metadata.getOffset(), source + 1);
    for (unsigned i = 0; i < rank; ++i) {
      alias(metadata.getSizes()[i], extentAt(source, i));
      alias(metadata.getStrides()[i], strideAt(source, rank, i));
    }
  } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    resolveExpand(expand);
  } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    resolveCollapse(collapse);
  } else if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    Slot source = slot(transpose.getIn()), result = slot(transpose.getResult());
    AffineMap map = transpose.getPermutation();
    unsigned rank = map.getNumResults();
    SmallVector<std::pair<Slot, Slot>> pairs{{result, source}, {result + 1, source + 1}};
    for (unsigned to = 0; to < rank; ++to) {
      pairs.emplace_back(extentAt(result, to), extentAt(source, map.getDimPosition(to)));
      pairs.emplace_back(strideAt(result, rank, to), strideAt(source, rank, map.getDimPosition(to)));
    }
    copy(pairs);
  } else if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    resolveGlobal(global);
  } else if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op)) {
    resolveAtomic(atomic);
  } else if (!isa<memref::AssumeAlignmentOp, memref::PrefetchOp>(op)) {
    return false;
  }
  return true;
}

} // namespace strata::interpret
