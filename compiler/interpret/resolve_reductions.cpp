// Reductions of parallel loops. Without splitting, all iterations combine into one copy, one after another. With
// Options::splitReductions the iterations are divided into three parts with copies of their own, as on a machine, and
// the parts are combined in several orders, which have to agree (combiners.cpp).
#include "compiler/interpret/resolver.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/svm.h"
#include "compiler/transform/combiner_identity.h"

using namespace mlir;

namespace strata::interpret {

/// How many parts a reduction is tried with: two for each other's order, and a third for which are combined first.
static constexpr uint64_t TriedParts = 3;

static void addNumbers(Type type, uint32_t offset, std::vector<ElementNumber>& numbers, size_t& scalars,
                       const std::optional<transform::ElementwiseCombiner>& combiner) {
  if (auto record = dyn_cast<svm::RecordType>(type)) {
    uint64_t at = 0;
    for (Type field : record.getFieldTypes()) {
      at = llvm::alignTo(at, svm::RecordType::alignmentInBytes(field));
      addNumbers(field, offset + static_cast<uint32_t>(at), numbers, scalars, combiner);
      at += svm::RecordType::sizeInBytes(field);
    }
    return;
  }
  if (type.isF32() || type.isF64())
    numbers.push_back({offset, type.getIntOrFloatBitWidth(), combiner && scalars < combiner->operations.size()});
  ++scalars;
}

int64_t Resolver::numbersOf(Type element, svm::CombinerAttr combiner) {
  auto kernel = symbols_.lookup<svm::KernelOp>(combiner.getFunction().getValue());
  auto known = kernel && kernel.isStructured() ? transform::elementwiseCombiner(kernel) : std::nullopt;
  ElementNumbers numbers;
  size_t scalars = 0;
  addNumbers(element, 0, numbers.numbers, scalars, known);
  program_.elementNumbers.push_back(std::move(numbers));
  return static_cast<int64_t>(program_.elementNumbers.size() - 1);
}

/// The scalars of an element, as they lie in it.
static void addScalars(Type type, uint32_t offset, std::vector<ElementScalar>& scalars) {
  if (auto record = dyn_cast<svm::RecordType>(type)) {
    uint64_t at = 0;
    for (Type field : record.getFieldTypes()) {
      at = llvm::alignTo(at, svm::RecordType::alignmentInBytes(field));
      addScalars(field, offset + static_cast<uint32_t>(at), scalars);
      at += svm::RecordType::sizeInBytes(field);
    }
    return;
  }
  scalars.push_back({offset, static_cast<uint32_t>(svm::RecordType::sizeInBytes(type)), isa<FloatType>(type)});
}

/// The bytes of an element that combining passes over.
static void addIdentity(Type type, uint32_t offset, const transform::ElementwiseCombiner& combiner, size_t& scalar,
                        std::vector<char>& bytes) {
  if (auto record = dyn_cast<svm::RecordType>(type)) {
    uint64_t at = 0;
    for (Type field : record.getFieldTypes()) {
      at = llvm::alignTo(at, svm::RecordType::alignmentInBytes(field));
      addIdentity(field, offset + static_cast<uint32_t>(at), combiner, scalar, bytes);
      at += svm::RecordType::sizeInBytes(field);
    }
    return;
  }
  const TypedAttr value = transform::identityOf(combiner.operations[scalar++], type);
  const APInt bits =
      isa<FloatAttr>(value) ? cast<FloatAttr>(value).getValue().bitcastToAPInt() : cast<IntegerAttr>(value).getValue();
  const uint64_t number = bits.getZExtValue();
  std::memcpy(bytes.data() + offset, &number, svm::RecordType::sizeInBytes(type));
}

/// One reduction of a loop that is tried in several orders.
struct Resolver::TriedReduction {
  mlir::Value operand;
  Slot copy = 0;
  MemRefType type;
  uint32_t position = 0; ///< among the loop's reductions, from 1
  unsigned callee = 0;   ///< the combiner
  int64_t orders = 0;    ///< index into the program's
  Slot whole = 0;        ///< the copies of all parts, one behind the other
  std::array<Slot, TriedParts> parts{};
  std::optional<transform::ElementwiseCombiner> elementwise;

  unsigned rank() const { return static_cast<unsigned>(type.getRank()); }
  int64_t bytes() const { return static_cast<int64_t>(svm::RecordType::sizeInBytes(type.getElementType())); }
};

void Resolver::makeCopies(Slot block, Slot like, unsigned rank, int64_t bytes, bool inParts) {
  SmallVector<uint32_t> extents;
  if (inParts)
    extents.push_back(constant(TriedParts));
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    extents.push_back(like + 2 + dimension);
  emit(Opcode::Make, block, static_cast<uint32_t>(name("")), static_cast<uint32_t>(extents.size()), 0, bytes).shift =
      static_cast<uint8_t>(MakeForm::Private);
  setPool(here() - 1, extents);
}

void Resolver::moveBlock(Slot from, Slot to, unsigned rank, int64_t bytes) {
  emit(Opcode::Move, from, to, rank, 0, bytes);
}

void Resolver::partOf(const TriedReduction& reduction, Slot part, Slot result) {
  const unsigned rank = reduction.rank();
  ViewShape shape;
  shape.sourceRank = rank + 1;
  SmallVector<uint32_t> offsets{part}, extents{constant(1)}, strides{constant(1)};
  for (unsigned dimension = 0; dimension < rank; ++dimension) {
    shape.kept.push_back(dimension + 1);
    offsets.push_back(constant(0));
    extents.push_back(reduction.whole + 3 + dimension);
    strides.push_back(constant(1));
  }
  program_.views.push_back(std::move(shape));
  llvm::append_range(offsets, extents);
  llvm::append_range(offsets, strides);
  emit(Opcode::View, result, reduction.whole, 0, 0, static_cast<int64_t>(program_.views.size() - 1));
  setPool(here() - 1, offsets);
}

Slot Resolver::combined(const TriedReduction& reduction, Slot from, Slot into) {
  const unsigned slots = 2 + 2 * reduction.rank();
  const Slot result = newSlots(slots);
  makeCopies(result, reduction.parts[0], reduction.rank(), reduction.bytes(), false);
  moveBlock(into, result, reduction.rank(), reduction.bytes());
  SmallVector<uint32_t> arguments;
  for (Slot block : {from, result})
    for (unsigned slot = 0; slot < slots; ++slot)
      arguments.push_back(block + slot);
  emit(Opcode::Call, 0, 0, 0, 0, reduction.callee);
  setPool(here() - 1, arguments);
  return result;
}

/// Where a part begins: the iterations are distributed in shares that differ by one at most, empty ones last.
Slot Resolver::beginOfPart(Slot lower, Slot count, Slot part, Slot parts) {
  const Slot scaled = integer(Opcode::MulI, count, part);
  const Slot rounded = integer(Opcode::AddI, scaled, integer(Opcode::SubI, parts, constant(1)));
  const Slot share = newSlots(1);
  emit(Opcode::Divide, share, rounded, parts).small = static_cast<uint8_t>(Division::Unsigned);
  return integer(Opcode::AddI, lower, share);
}

void Resolver::combineInOrders(const TriedReduction& reduction, Slot count, Slot parts, ArrayRef<Slot> begins) {
  const auto& part = reduction.parts;
  const Slot isSplit = integer(Opcode::LessSigned, constant(1), parts);
  const uint32_t whole = here();
  emit(Opcode::JumpIfNot, isSplit);
  const Slot isPair = integer(Opcode::LessSigned, constant(1), count);
  const uint32_t single = here();
  emit(Opcode::JumpIfNot, isPair);
  auto agree = [&](Slot one, Slot other, bool associates) {
    SmallVector<uint32_t> list{one, other, part[0], part[1], part[2]};
    llvm::append_range(list, begins);
    emit(Opcode::SameOrder, associates, reduction.rank(), 0, 0, reduction.orders);
    setPool(here() - 1, list);
  };
  const Slot all = newSlots(2 + 2 * reduction.rank());
  auto keep = [&](Slot result) {
    SmallVector<std::pair<Slot, Slot>> pairs;
    for (unsigned slot = 0; slot < 2 + 2 * reduction.rank(); ++slot)
      pairs.emplace_back(all + slot, result + slot);
    copy(pairs);
  };
  const Slot forwards = combined(reduction, part[1], part[0]);
  agree(forwards, combined(reduction, part[0], part[1]), false);
  keep(forwards);
  const Slot isTriple = integer(Opcode::LessSigned, constant(2), count);
  const uint32_t pair = here();
  emit(Opcode::JumpIfNot, isTriple);
  const Slot left = combined(reduction, part[2], forwards);
  agree(left, combined(reduction, combined(reduction, part[2], part[1]), part[0]), true);
  keep(left);
  patch(pair, here());
  moveBlock(all, part[0], reduction.rank(), reduction.bytes());
  patch(single, here());
  patch(whole, here());
}

void Resolver::tryReductions(svm::ParallelOp parallel, function_ref<void(Slot, Slot)> loop) {
  const Slot lower = slot(parallel.getLower().front()), upper = slot(parallel.getUpper().front());
  const Slot any = integer(Opcode::LessSigned, lower, upper);
  const uint32_t none = here();
  emit(Opcode::JumpIfNot, any);
  const uint32_t blocks = beginScope(LifetimeKind::Region, true);
  const mlir::Location whole = location_;
  SmallVector<TriedReduction> reductions;
  Slot parts = newSlots(1);
  emit(Opcode::Copy, parts, constant(TriedParts));
  auto each = [&](TriedReduction& reduction, auto&& body) {
    location_ = placePart(whole, reduction.position);
    operand_ = reduction.position;
    body();
    location_ = whole;
    operand_ = 0;
  };
  for (auto [position, operand] : llvm::enumerate(parallel.getReductions())) {
    auto combiner = cast<svm::CombinerAttr>((*parallel.getCombiners())[position]);
    TriedReduction& made = reductions.emplace_back();
    made.operand = operand;
    made.copy = slot(parallel.privateCopy(static_cast<unsigned>(position)));
    made.type = cast<MemRefType>(operand.getType());
    made.position = static_cast<uint32_t>(position) + 1;
    made.callee = program_.functionByName.lookup(combiner.getFunction().getValue());
    auto kernel = symbols_.lookup<svm::KernelOp>(combiner.getFunction().getValue());
    made.elementwise = kernel && kernel.isStructured() ? transform::elementwiseCombiner(kernel) : std::nullopt;
    made.whole = newSlots(2 + 2 * (made.rank() + 1));
    for (Slot& part : made.parts)
      part = newSlots(2 + 2 * made.rank());
    CombinerOrders orders;
    orders.numbers = numbersOf(made.type.getElementType(), combiner);
    orders.combiner = combiner.getLabel().getValue().take_until([](char c) { return c == '#'; }).str();
    orders.loop = parallel.getLabel().value_or("").take_until([](char c) { return c == '#'; }).str();
    orders.isKnown = made.elementwise.has_value();
    addScalars(made.type.getElementType(), 0, orders.scalars);
    made.orders = static_cast<int64_t>(program_.orders.size());
    program_.orders.push_back(std::move(orders));
  }
  for (TriedReduction& reduction : reductions)
    each(reduction, [&] {
      const Slot source = slot(reduction.operand);
      makeCopies(reduction.whole, source, reduction.rank(), reduction.bytes(), true);
      for (uint64_t part = 0; part < TriedParts; ++part)
        partOf(reduction, constant(part), reduction.parts[part]);
      if (reduction.elementwise) {
        std::vector<char> identity(static_cast<size_t>(reduction.bytes()));
        size_t scalar = 0;
        addIdentity(reduction.type.getElementType(), 0, *reduction.elementwise, scalar, identity);
        program_.patterns.push_back(std::move(identity));
        emit(Opcode::Fill, reduction.whole, 0, 0, 0, static_cast<int64_t>(program_.patterns.size() - 1));
        return;
      }
      for (Slot part : reduction.parts)
        moveBlock(source, part, reduction.rank(), reduction.bytes());
      // Parts may begin with the incoming value where it may be counted more than once, as it is here.
      const Slot twice = combined(reduction, reduction.parts[0], reduction.parts[1]), same = newSlots(1);
      emit(Opcode::SameBits, same, twice, reduction.parts[1], reduction.rank(), reduction.bytes());
      emit(Opcode::Select, parts, same, parts, constant(1), 1);
    });
  for (TriedReduction& reduction : reductions)
    each(reduction,
         [&] { emit(Opcode::Accumulate, reduction.whole, 0, 0, 0, program_.orders[reduction.orders].numbers); });
  const Slot count = integer(Opcode::SubI, upper, lower), part = newSlots(1);
  counted(part, constant(0), parts, constant(1), 64, false, [&] {
    for (const TriedReduction& reduction : reductions)
      partOf(reduction, part, reduction.copy);
    const Slot begin = beginOfPart(lower, count, part, parts);
    loop(begin, beginOfPart(lower, count, integer(Opcode::AddI, part, constant(1)), parts));
  });
  emit(Opcode::BranchReduces);
  SmallVector<Slot> begins{lower};
  for (uint64_t next = 1; next < TriedParts; ++next)
    begins.push_back(beginOfPart(lower, count, constant(next), parts));
  begins.push_back(upper);
  for (TriedReduction& reduction : reductions)
    each(reduction, [&] {
      combineInOrders(reduction, count, parts, begins);
      const Slot target = slot(reduction.operand);
      // Also of one part alone: what the loop was given comes to it from outside.
      if (reduction.elementwise)
        moveBlock(combined(reduction, reduction.parts[0], target), reduction.parts[0], reduction.rank(),
                  reduction.bytes());
      emit(Opcode::Accumulated, reduction.whole, target, reduction.rank(), 0,
           program_.orders[reduction.orders].numbers);
      moveBlock(reduction.parts[0], target, reduction.rank(), reduction.bytes());
    });
  endScope(blocks, LifetimeKind::Region);
  patch(none, here());
}

void Resolver::resolveReductions(svm::ParallelOp parallel, function_ref<void(Slot, Slot)> loop) {
  if (parallel.getReductions().empty())
    return loop(slot(parallel.getLower().front()), slot(parallel.getUpper().front()));
  const bool isCallable = llvm::all_of(*parallel.getCombiners(), [&](Attribute combiner) {
    return program_.functionByName.contains(cast<svm::CombinerAttr>(combiner).getFunction().getValue());
  });
  if (splits_ && isCallable)
    return tryReductions(parallel, loop);
  Slot any = integer(Opcode::LessSigned, slot(parallel.getLower().front()), slot(parallel.getUpper().front()));
  const uint32_t skip = here();
  emit(Opcode::JumpIfNot, any);
  uint32_t blocks = beginScope(LifetimeKind::Region, true);
  const mlir::Location whole = location_;
  SmallVector<int64_t> numbers;
  for (auto [operand, combiner] : llvm::zip(parallel.getReductions(), *parallel.getCombiners()))
    numbers.push_back(
        numbersOf(cast<MemRefType>(operand.getType()).getElementType(), cast<svm::CombinerAttr>(combiner)));
  auto each = [&](auto&& body) {
    for (auto [position, operand] : llvm::enumerate(parallel.getReductions())) {
      location_ = placePart(whole, static_cast<unsigned>(position) + 1);
      operand_ = static_cast<uint32_t>(position) + 1;
      body(operand, parallel.privateCopy(static_cast<unsigned>(position)), cast<MemRefType>(operand.getType()));
    }
    location_ = whole;
    operand_ = 0;
  };
  auto move = [&](Slot from, Slot to, MemRefType type) {
    emit(Opcode::Move, from, to, static_cast<uint32_t>(type.getRank()), 0,
         static_cast<int64_t>(svm::RecordType::sizeInBytes(type.getElementType())));
  };
  each([&](mlir::Value operand, mlir::Value copy, MemRefType type) {
    Slot source = slot(operand), block = slot(copy);
    auto rank = static_cast<unsigned>(type.getRank());
    SmallVector<uint32_t> extents;
    for (unsigned dimension = 0; dimension < rank; ++dimension)
      extents.push_back(source + 2 + dimension);
    Instruction& make = emit(Opcode::Make, block, static_cast<uint32_t>(name("")), rank, 0,
                             static_cast<int64_t>(svm::RecordType::sizeInBytes(type.getElementType())));
    make.shift = static_cast<uint8_t>(MakeForm::Private);
    setPool(here() - 1, extents);
    move(source, block, type);
    emit(Opcode::Accumulate, block, 0, 0, 0, numbers[operand_ - 1]);
  });
  loop(slot(parallel.getLower().front()), slot(parallel.getUpper().front()));
  emit(Opcode::BranchReduces);
  each([&](mlir::Value operand, mlir::Value copy, MemRefType type) {
    emit(Opcode::Accumulated, slot(copy), slot(operand), static_cast<uint32_t>(type.getRank()), 0,
         numbers[operand_ - 1]);
    move(slot(copy), slot(operand), type);
  });
  endScope(blocks, LifetimeKind::Region);
  patch(skip, here());
}

} // namespace strata::interpret
