// Functions, slots and the code array; see resolver.h.
#include "compiler/interpret/resolver.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace strata::interpret {

unsigned slotsOf(Type type) {
  if (auto block = dyn_cast<MemRefType>(type)) {
    Type element = block.getElementType();
    return scalarWidth(element) || isa<svm::RecordType>(element) ? 2 + 2 * static_cast<unsigned>(block.getRank()) : 0;
  }
  if (isa<svm::RecordType>(type))
    return std::max<unsigned>(1, static_cast<unsigned>((svm::RecordType::sizeInBytes(type) + 7) / 8));
  if (auto stream = dyn_cast<svm::StreamType>(type))
    return isa<MemRefType, svm::StreamType>(stream.getElementType()) ? 0
                                                                     : std::min(1u, slotsOf(stream.getElementType()));
  if (isa<svm::TokenType>(type))
    return 1;
  return scalarWidth(type) ? 1 : 0;
}

Program Resolver::run() {
  module_.walk(
      [&](svm::BlockOp block) { program_.isDistributed |= bool(svm::distributionOf(block.getBlock().getType())); });
  for (Operation& op : *module_.getBody())
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      if (isa<func::FuncOp, svm::KernelOp>(op))
        declare(function);
  for (Operation& op : *module_.getBody())
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      if (isa<func::FuncOp, svm::KernelOp>(op))
        resolveFunction(function);
  return std::move(program_);
}

std::vector<Parameter> Resolver::parametersOf(FunctionOpInterface function, Slot& slots) {
  std::vector<Parameter> parameters;
  slots = 0;
  for (auto [position, type] : llvm::enumerate(function.getArgumentTypes())) {
    Parameter parameter;
    parameter.slot = slots;
    auto name = svm::SvmDialect::nameAttr.of(function, position);
    parameter.name = name ? name.getValue().str() : std::to_string(position);
    parameter.label = static_cast<uint32_t>(this->name(name ? name.getValue() : ""));
    auto access = svm::SvmDialect::accessAttr.of(function, position);
    parameter.written = access && access != svm::Access::Read;
    parameter.read = access != svm::Access::Write;
    unsigned count = slotsOf(type);
    if (auto block = dyn_cast<MemRefType>(type); block && count) {
      parameter.kind = Parameter::Kind::Block;
      parameter.rank = static_cast<unsigned>(block.getRank());
      parameter.elementBytes = svm::RecordType::sizeInBytes(block.getElementType());
      parameter.extents.assign(block.getShape().begin(), block.getShape().end());
    } else if (isa<svm::RecordType>(type)) {
      parameter.kind = Parameter::Kind::Record;
      parameter.elementBytes = svm::RecordType::sizeInBytes(type);
    } else if (scalarWidth(type)) {
      parameter.kind = Parameter::Kind::Scalar;
      parameter.width = scalarWidth(type);
    }
    slots += std::max(1u, count);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

void Resolver::declare(FunctionOpInterface function) {
  Function made{.name = function.getName().str(), .location = function.getLoc()};
  made.parameters = parametersOf(function, made.argumentSlots);
  for (Type type : function.getResultTypes())
    made.resultSlots += std::max(1u, slotsOf(type));
  program_.functionByName[made.name] = static_cast<unsigned>(program_.functions.size());
  program_.functions.push_back(std::move(made));
}

void Resolver::resolveFunction(FunctionOpInterface function) {
  Function& made = program_.functions[program_.functionByName[function.getName()]];
  slots_.clear();
  blockAt_.clear();
  constants_.clear();
  constantSlot_.clear();
  depth_ = 0;
  next_ = made.argumentSlots;
  location_ = function.getLoc();
  size_t codeBegin = program_.code.size(), poolBegin = program_.pool.size();
  made.entry = here();
  auto kernel = dyn_cast<svm::KernelOp>(function.getOperation());
  if (function.isExternal() || (kernel && kernel.kind() == svm::KernelKind::Equations)) {
    ExternalCall external{made.name, made.parameters};
    program_.externals.push_back(std::move(external));
    const bool isFunction = isa<func::FuncOp>(function.getOperation());
    const Slot result = isFunction && made.resultSlots == 1 ? newSlots(1) : 0;
    emit(Opcode::External, result, 0, 0, 0, static_cast<int64_t>(program_.externals.size() - 1)).small = isFunction;
    program_.code.back().b = made.resultSlots;
    emit(Opcode::Return);
    if (result)
      setPool(here() - 1, {result});
  } else {
    for (auto [argument, parameter] : llvm::zip(function.getArguments(), made.parameters))
      alias(argument, parameter.slot);
    if (offered_.contains(made.name)) { // a declined run goes on behind the return
      program_.externals.push_back({made.name, made.parameters});
      emit(Opcode::External, 0, 0, 0, 0, static_cast<int64_t>(program_.externals.size() - 1)).small = 2;
      emit(Opcode::Return);
    }
    resolveBlocks(function.getFunctionBody(), [&](Operation* terminator) {
      SmallVector<uint32_t> results = terminator ? allSlots(terminator->getOperands()) : SmallVector<uint32_t>();
      emit(Opcode::Return);
      setPool(here() - 1, results);
    });
  }
  made.constantsAt = next_;
  made.constants = constants_;
  made.frameSlots = next_ + static_cast<Slot>(constants_.size());
  placeConstants(codeBegin, poolBegin);
}

void Resolver::placeConstants(size_t codeBegin, size_t poolBegin) {
  auto place = [&](Slot& slot) {
    if (slot & ConstantMark)
      slot = next_ + (slot & ~ConstantMark);
  };
  for (Instruction& instruction : llvm::drop_begin(program_.code, codeBegin))
    for (Slot* slot : {&instruction.a, &instruction.b, &instruction.c, &instruction.d, &instruction.e})
      place(*slot);
  for (Slot& slot : llvm::drop_begin(program_.pool, poolBegin))
    place(slot);
}

Slot Resolver::newSlots(unsigned count) {
  Slot first = next_;
  next_ += std::max(1u, count);
  return first;
}

Slot Resolver::slot(Value value) {
  auto [entry, isNew] = slots_.try_emplace(value, 0);
  if (isNew)
    entry->second = newSlots(slotsOf(value.getType()));
  return entry->second;
}

Slot Resolver::constant(uint64_t bits) {
  // DenseMap reserves two keys; their constants are simply not shared.
  if (bits < ~uint64_t(1)) {
    auto [entry, isNew] = constantSlot_.try_emplace(bits, ConstantMark | static_cast<Slot>(constants_.size()));
    if (!isNew)
      return entry->second;
  }
  constants_.push_back(bits);
  return ConstantMark | static_cast<Slot>(constants_.size() - 1);
}

Instruction& Resolver::emit(Opcode opcode, Slot a, Slot b, Slot c, Slot d, int64_t imm) {
  Instruction instruction{};
  instruction.opcode = opcode;
  instruction.a = a;
  instruction.b = b;
  instruction.c = c;
  instruction.d = d;
  instruction.imm = imm;
  program_.code.push_back(instruction);
  program_.locations.push_back(location_);
  program_.operands.push_back(operand_);
  return program_.code.back();
}

int64_t Resolver::name(StringRef text) {
  auto [entry, isNew] = nameIndex_.try_emplace(text, static_cast<int64_t>(program_.names.size()));
  if (isNew)
    program_.names.push_back(text.str());
  return entry->second;
}

void Resolver::setPool(uint32_t instruction, ArrayRef<uint32_t> list) {
  program_.code[instruction].e = static_cast<uint32_t>(program_.pool.size());
  program_.code[instruction].d = static_cast<uint32_t>(list.size());
  program_.pool.insert(program_.pool.end(), list.begin(), list.end());
}

SmallVector<uint32_t> Resolver::allSlots(ValueRange values) {
  SmallVector<uint32_t> list;
  for (Value value : values) {
    Slot first = slot(value);
    for (unsigned i = 0, count = std::max(1u, slotsOf(value.getType())); i < count; ++i)
      list.push_back(first + i);
  }
  return list;
}

void Resolver::copy(ArrayRef<std::pair<Slot, Slot>> pairs) {
  SmallVector<std::pair<Slot, Slot>> needed;
  for (auto pair : pairs)
    if (pair.first != pair.second)
      needed.push_back(pair);
  bool conflict = false;
  for (size_t i = 0; i < needed.size() && !conflict; ++i)
    for (size_t j = i + 1; j < needed.size(); ++j)
      conflict |= needed[j].second == needed[i].first;
  if (!conflict && needed.size() <= 3) {
    for (auto [to, from] : needed)
      emit(Opcode::Copy, to, from);
    return;
  }
  SmallVector<uint32_t> list;
  for (auto [to, from] : needed)
    list.append({to, from});
  emit(Opcode::CopyMany);
  setPool(here() - 1, list);
}

void Resolver::copyValues(ValueRange to, ValueRange from) {
  SmallVector<std::pair<Slot, Slot>> pairs;
  for (auto [target, source] : llvm::zip(allSlots(to), allSlots(from)))
    pairs.emplace_back(target, source);
  copy(pairs);
}

void Resolver::unsupported(Operation* op, const Twine& why) {
  std::string text = "'" + op->getName().getStringRef().str() + "'" + why.str();
  emit(Opcode::Unsupported, 0, 0, 0, 0, name(text));
}

Slot Resolver::scalar(PureFunction function, unsigned width, Slot a, Slot b) {
  Slot result = newSlots(1);
  Instruction& instruction = emit(Opcode::Pure2, result, a, b);
  instruction.shift = static_cast<uint8_t>(64 - width);
  instruction.function = function;
  return result;
}

Slot Resolver::integer(Opcode opcode, Slot a, Slot b) {
  Slot result = newSlots(1);
  emit(opcode, result, a, b);
  return result;
}

} // namespace strata::interpret
