// Blocks of the interpreter's machine: making and ending them, views, moves, and what is wrong with an access.
#include "compiler/interpret/machine.h"
#include "compiler/ir/locations.h"

#include "mlir/IR/BuiltinTypes.h"

#include <bit>
#include <cstdlib>
#include <functional>

namespace strata::interpret {

/// malloc's greatest threshold for memory of its own is below this.
static constexpr uint64_t mostFilled = uint64_t(64) << 20;

uint64_t Machine::newStorage() {
  uint32_t index;
  if (freeStorages_.empty()) {
    index = static_cast<uint32_t>(storages_.size());
    storages_.emplace_back();
  } else {
    index = freeStorages_.back();
    freeStorages_.pop_back();
  }
  storages_[index].alive = true;
  return makeHandle(index, storages_[index].generation);
}

void Machine::freeStorage(uint64_t handle) {
  Storage* gone = storage(handle);
  if (!gone)
    return;
  if (gone->owned) {
    bytes_ -= static_cast<uint64_t>(gone->elements) * gone->elementBytes;
    std::free(gone->data);
  }
  bytes_ -= gone->history.size() * sizeof(ElementHistory) + gone->slacks.size() * sizeof(Slack);
  uint32_t generation = gone->generation + 1;
  *gone = Storage();
  gone->generation = generation;
  if (generation != ~uint32_t(0)) // a generation is never used twice
    freeStorages_.push_back(static_cast<uint32_t>(handle));
}

bool Machine::make(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const uint32_t* list = program_.pool.data() + instruction.e;
  const unsigned rank = instruction.c;
  const bool strided = instruction.d > rank;
  uint64_t* block = r + instruction.a;
  int64_t elements = 1;
  bool tooBig = false, none = false;
  for (unsigned i = rank; i-- > 0;) {
    auto extent = static_cast<int64_t>(r[list[i]]);
    if (extent < 0)
      return failAt(task, pc, Fault::BadExtent, {std::to_string(extent)});
    none |= extent == 0;
    block[2 + i] = static_cast<uint64_t>(extent);
    if (strided) {
      auto stride = static_cast<int64_t>(r[list[rank + i]]);
      int64_t reach = 0;
      tooBig |= stride < 0 || __builtin_mul_overflow(std::max<int64_t>(0, extent - 1), stride, &reach) ||
                __builtin_add_overflow(elements, reach, &elements);
      block[2 + rank + i] = static_cast<uint64_t>(stride);
    } else {
      block[2 + rank + i] = static_cast<uint64_t>(elements);
      tooBig |= __builtin_mul_overflow(elements, std::max<int64_t>(1, extent), &elements);
    }
  }
  if (none)
    elements = 0;
  uint64_t size = 0;
  tooBig = !none && (tooBig || __builtin_mul_overflow(static_cast<uint64_t>(elements),
                                                      static_cast<uint64_t>(instruction.imm), &size));
  char* data = nullptr;
  // Beside each element of a distributed block stands who has touched it last.
  uint64_t beside = 0;
  const bool isDistributed = instruction.shift == static_cast<uint8_t>(MakeForm::Distributed);
  if (options_.trackUndefined && isDistributed)
    tooBig |= __builtin_mul_overflow(static_cast<uint64_t>(elements), sizeof(ElementAccesses), &beside) ||
              beside > options_.maxBytes - std::min(bytes_, options_.maxBytes);
  if (!tooBig && size <= options_.maxBytes && bytes_ <= options_.maxBytes - size)
    data = static_cast<char*>(std::aligned_alloc(64, (size + 64) / 64 * 64));
  if (!data)
    return failAt(task, pc, Fault::OutOfMemory,
                  {tooBig ? "more than 2^63" : std::to_string(size), std::to_string(options_.maxBytes)});
  // The content is undefined: that is made visible. What is larger has fresh pages of the system, of which most may
  // never be touched.
  if (size <= mostFilled)
    std::memset(data, 0xff, size);
  uint64_t handle = newStorage();
  Storage& made = *storage(handle);
  made.data = data;
  made.elements = elements;
  made.elementBytes = static_cast<uint64_t>(instruction.imm);
  made.owned = true;
  made.label = instruction.b;
  made.heap = instruction.small == static_cast<uint8_t>(MakeKind::Heap);
  made.maker = task.isInstance ? task.id : 0;
  if (options_.trackUndefined) {
    made.written.assign(static_cast<size_t>(elements), NotWritten);
    made.extents.assign(block + 2, block + 2 + rank);
    made.strides.assign(block + 2 + rank, block + 2 + 2 * rank);
  }
  if (options_.trackUndefined && isDistributed)
    made.accesses.resize(static_cast<size_t>(elements));
  made.depth = instruction.shift == static_cast<uint8_t>(MakeForm::Plain) ? static_cast<uint32_t>(task.branches.size())
                                                                          : ~uint32_t(0);
  bytes_ += size;
  block[0] = handle;
  block[1] = 0;
  if (!made.heap) {
    auto kind =
        instruction.small == static_cast<uint8_t>(MakeKind::Automatic) ? LifetimeKind::Automatic : LifetimeKind::Region;
    task.lifetimes[static_cast<unsigned>(kind)].push_back(handle);
  }
  return true;
}

bool Machine::memoryAt(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  uint64_t* block = r + instruction.a;
  auto* address = std::bit_cast<char*>(r[instruction.b]);
  const auto extent = static_cast<int64_t>(r[instruction.c]);
  const auto elementBytes = static_cast<uint64_t>(instruction.imm);
  uint64_t size = 0;
  if (extent < 0 || __builtin_mul_overflow(static_cast<uint64_t>(extent), elementBytes, &size))
    return failAt(task, pc, Fault::BadExtent, {std::to_string(extent)});
  block[2] = r[instruction.c];
  block[3] = 1;
  const std::less<const char*> isBefore;
  for (size_t index = 0; index < storages_.size(); ++index) { // a part of what the program has made
    Storage& each = storages_[index];
    if (!each.alive || each.found || each.elementBytes != elementBytes || isBefore(address, each.data) ||
        isBefore(each.data + static_cast<uint64_t>(each.elements) * elementBytes, address + size))
      continue;
    const auto offset = static_cast<uint64_t>(address - each.data);
    if (offset % elementBytes)
      continue;
    block[0] = makeHandle(static_cast<uint32_t>(index), each.generation);
    block[1] = offset / elementBytes;
    return true;
  }
  block[0] = newStorage();
  block[1] = 0;
  Storage& made = *storage(block[0]);
  made.data = address;
  made.elements = extent;
  made.elementBytes = elementBytes;
  made.found = true;
  made.label = instruction.d;
  made.depth = static_cast<uint32_t>(task.branches.size());
  task.lifetimes[static_cast<unsigned>(LifetimeKind::Region)].push_back(block[0]);
  return true;
}

std::optional<Machine::Stretch> Machine::stretchOf(const uint64_t* block, unsigned rank, uint64_t elementBytes) {
  __int128 least, greatest;
  const Storage* found = storage(block[0]);
  if (!found || !range(block, rank, least, greatest))
    return std::nullopt;
  const auto bytes = static_cast<int64_t>(elementBytes);
  const auto begin = static_cast<__int128>(std::bit_cast<uint64_t>(found->data));
  return Stretch{begin + least * bytes, begin + (greatest + 1) * bytes};
}

bool Machine::compareStretches(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const uint64_t *first = r + instruction.b, *second = r + instruction.c;
  for (const uint64_t* block : {first, second})
    if (!storage(block[0]))
      return failHandle(task, pc, block[0]);
  const uint32_t* shapes = program_.pool.data() + instruction.e;
  const auto one = stretchOf(first, shapes[0], shapes[1]), other = stretchOf(second, shapes[2], shapes[3]);
  r[instruction.a] = !one || !other || one->end <= other->begin || other->end <= one->begin;
  return true;
}

bool Machine::makeGlobal(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  globals_.resize(program_.globals.size());
  uint64_t& handle = globals_[static_cast<size_t>(instruction.imm)];
  if (!handle) {
    const GlobalData& data = program_.globals[static_cast<size_t>(instruction.imm)];
    size_t size = static_cast<size_t>(data.elements) * data.elementBytes;
    auto* bytes = static_cast<char*>(std::malloc(size + 1));
    if (!bytes)
      return failAt(task, pc, Fault::OutOfMemory, {std::to_string(size), std::to_string(options_.maxBytes)});
    handle = newStorage();
    Storage& made = *storage(handle);
    made.elements = data.elements;
    made.elementBytes = data.elementBytes;
    made.data = bytes;
    made.owned = true;
    bytes_ += size;
    if (data.bytes.empty())
      std::memset(made.data, 0xff, size);
    else
      std::memcpy(made.data, data.bytes.data(), size);
  }
  r[instruction.a] = handle;
  r[instruction.a + 1] = 0;
  return true;
}

void Machine::compareCopies(uint32_t pc, const uint64_t* view, unsigned rank, Storage& block, uint64_t element) {
  if (block.written.empty() || block.copiesReported || rank == 0)
    return;
  const auto offset = static_cast<int64_t>(view[1]), count = static_cast<int64_t>(view[2]);
  const auto stride = static_cast<int64_t>(view[2 + rank]);
  if (stride <= 0)
    return;
  const int64_t kept = (static_cast<int64_t>(element) - offset) / stride;
  const auto within = static_cast<uint64_t>(static_cast<int64_t>(element) - kept * stride);
  for (int64_t copy = 0; copy < count; ++copy) {
    const uint64_t other = within + static_cast<uint64_t>(copy * stride);
    if (copy == kept || block.written[other] != HasValue)
      continue;
    if (block.written[element] == HasValue &&
        std::memcmp(block.data + other * block.elementBytes, block.data + element * block.elementBytes,
                    block.elementBytes) == 0)
      continue;
    std::string index;
    int64_t rest = static_cast<int64_t>(within) - offset;
    for (unsigned i = 1; i < rank; ++i) {
      const auto step = std::max<int64_t>(static_cast<int64_t>(view[2 + rank + i]), 1);
      index += (i > 1 ? ", " : "") + std::to_string(rest / step);
      rest %= step;
    }
    block.copiesReported = true;
    Diagnostic diagnostic =
        makeDiagnostic(Fault::CopiesDiffer, program_.locations[pc],
                       {program_.names[block.label], std::to_string(kept), std::to_string(copy), "[" + index + "]"},
                       diagnostics_.sources());
    diagnostic.helps.push_back("let the tiles write one array that they share, with a layout that is not replicated");
    diagnostics_.add(std::move(diagnostic));
    return;
  }
}

bool Machine::dealloc(Task& task, uint32_t pc, uint64_t handle) {
  Storage* gone = storage(handle);
  if (!gone || !gone->heap)
    return failAt(task, pc, Fault::BadDealloc);
  freeStorage(handle);
  return true;
}

void Machine::view(uint32_t pc, const Instruction& instruction, Registers r) {
  const ViewShape& shape = program_.views[static_cast<size_t>(instruction.imm)];
  const uint32_t* list = program_.pool.data() + instruction.e;
  const unsigned rank = shape.sourceRank, kept = static_cast<unsigned>(shape.kept.size());
  const uint64_t* source = r + instruction.b;
  uint64_t* result = r + instruction.a;
  uint64_t start = source[1];
  bool bad = false, none = false;
  for (unsigned i = 0; i < rank; ++i) {
    auto offset = static_cast<int64_t>(r[list[i]]), extent = static_cast<int64_t>(r[list[rank + i]]),
         step = static_cast<int64_t>(r[list[2 * rank + i]]), limit = static_cast<int64_t>(source[2 + i]);
    none |= extent == 0;
    __int128 last = static_cast<__int128>(offset) + static_cast<__int128>(extent - 1) * step;
    bad |= extent < 0 || (extent > 0 && (offset < 0 || offset >= limit || last < 0 || last >= limit));
    start += static_cast<uint64_t>(offset) * source[2 + rank + i];
  }
  // The view may be made in a place where it is never used; it is an error only when it is.
  result[0] = bad && !none ? makeHandle(BadViewIndex, pc) : source[0];
  result[1] = start;
  for (unsigned to = 0; to < kept; ++to) {
    unsigned from = shape.kept[to];
    result[2 + to] = r[list[rank + from]];
    result[2 + kept + to] = r[list[2 * rank + from]] * source[2 + rank + from];
  }
}

bool Machine::range(const uint64_t* block, unsigned rank, __int128& least, __int128& greatest) {
  least = greatest = static_cast<int64_t>(block[1]);
  for (unsigned i = 0; i < rank; ++i) {
    auto extent = static_cast<int64_t>(block[2 + i]), stride = static_cast<int64_t>(block[2 + rank + i]);
    if (extent <= 0)
      return false;
    __int128 reach = static_cast<__int128>(extent - 1) * stride;
    (reach < 0 ? least : greatest) += reach;
  }
  return true;
}

namespace {

std::string extentsText(const uint64_t* block, unsigned rank) {
  std::string text = "(";
  for (unsigned i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(static_cast<int64_t>(block[2 + i]));
  return text + ")";
}

/// An element that two blocks of one storage have in common, by marking.
std::optional<int64_t> overlap(const uint64_t* a, unsigned rank, const uint64_t* b, unsigned otherRank, int64_t least,
                               int64_t greatest) {
  std::vector<bool> marked(static_cast<size_t>(greatest - least + 1));
  Rows source(a, rank), destination(b, otherRank);
  do
    for (int64_t i = 0; i < source.rowExtent(); ++i)
      marked[static_cast<size_t>(source.offset + i * source.rowStride() - least)] = true;
  while (source.next());
  do
    for (int64_t i = 0; i < destination.rowExtent(); ++i) {
      int64_t at = destination.offset + i * destination.rowStride();
      if (at >= least && at <= greatest && marked[static_cast<size_t>(at - least)])
        return at;
    }
  while (destination.next());
  return std::nullopt;
}

} // namespace

bool Machine::move(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const unsigned rank = instruction.c;
  const auto size = static_cast<size_t>(instruction.imm);
  const uint64_t *source = r + instruction.a, *destination = r + instruction.b;
  if (!std::equal(source + 2, source + 2 + rank, destination + 2))
    return failAt(task, pc, Fault::MoveExtents, {extentsText(source, rank), extentsText(destination, rank)});
  if (instruction.small)
    ++statistics_.moves;
  ++changes_;
  __int128 sourceLeast, sourceGreatest, least, greatest;
  if (!range(source, rank, sourceLeast, sourceGreatest))
    return true;
  range(destination, rank, least, greatest);
  Storage *from = storage(source[0]), *to = storage(destination[0]);
  if (!from || !to)
    return failHandle(task, pc, from ? destination[0] : source[0]);
  if (sourceLeast < 0 || sourceGreatest >= from->elements || least < 0 || greatest >= to->elements) {
    bool inSource = sourceLeast < 0 || sourceGreatest >= from->elements;
    __int128 reached = inSource ? (sourceLeast < 0 ? sourceLeast : sourceGreatest) : (least < 0 ? least : greatest);
    return failAt(task, pc, Fault::OutsideStorage,
                  {std::to_string(static_cast<int64_t>(reached)), std::to_string((inSource ? from : to)->elements)});
  }
  if (from == to) {
    // Who checks a program of a language that does not let the two overlap wants to hear of it in any case.
    const bool onItself = std::equal(source + 1, source + 2 + 2 * rank, destination + 1);
    if (onItself && !isNamedCopy(pc))
      return true;
    if (sourceLeast <= greatest && least <= sourceGreatest)
      if (auto element = overlap(source, rank, destination, rank, static_cast<int64_t>(sourceLeast),
                                 static_cast<int64_t>(sourceGreatest)))
        return failOverlap(task, pc, *to, static_cast<uint64_t>(*element));
  }
  if (!from->written.empty() && instruction.d && isNamedCopy(pc))
    for (Rows read(source, rank);;) {
      for (int64_t i = 0; i < read.rowExtent(); ++i) {
        const int64_t at = read.offset + i * read.rowStride();
        if (from->written[static_cast<size_t>(at)] != HasValue)
          return failUndefined(task, pc, elementText(*from, static_cast<uint64_t>(at)), *from,
                               static_cast<uint64_t>(at));
      }
      if (!read.next())
        break;
    }
  if ((isWatched(task, *from) && !recordView(task, pc, *from, source, rank, false)) ||
      (isWatched(task, *to) && !recordView(task, pc, *to, destination, rank, true)))
    return false;
  Rows rows(source, rank), targets(destination, rank);
  const int64_t count = rows.rowExtent(), in = rows.rowStride(), out = targets.rowStride();
  do {
    for (int64_t i = 0; i < (to->written.empty() ? 0 : count); ++i) {
      uint8_t& now = to->written[static_cast<size_t>(targets.offset + i * out)];
      const uint8_t given = from->written.empty() ? HasValue : from->written[static_cast<size_t>(rows.offset + i * in)];
      now = given != HasValue && now != NotWritten ? uint8_t(Lost) : given;
    }
    for (int64_t i = 0; i < (from->slacks.empty() && to->slacks.empty() ? 0 : count); ++i)
      moveSlack(pc, *from, rows.offset + i * in, *to, targets.offset + i * out);
    if (instruction.small)
      statistics_.bytesMoved += static_cast<uint64_t>(count) * size;
    const char* read = from->data + rows.offset * static_cast<int64_t>(size);
    char* write = to->data + targets.offset * static_cast<int64_t>(size);
    if (in == 1 && out == 1)
      std::memcpy(write, read, static_cast<size_t>(count) * size);
    else
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(write + i * out * static_cast<int64_t>(size), read + i * in * static_cast<int64_t>(size), size);
  } while (rows.next() && targets.next());
  return true;
}

bool Machine::areApart(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const uint64_t *first = r + instruction.a, *second = r + instruction.b;
  __int128 least, greatest, otherLeast, otherGreatest;
  const Storage *one = storage(first[0]), *other = storage(second[0]);
  if (first[0] != second[0] && one && other && (one->found || other->found)) { // two storages, and maybe one memory
    const auto bytes = stretchOf(first, instruction.c, one->elementBytes),
               others = stretchOf(second, instruction.d, other->elementBytes);
    return !bytes || !others || bytes->end <= others->begin || others->end <= bytes->begin ||
           failAt(task, pc, Fault::ArgumentOverlap, {program_.names[static_cast<size_t>(instruction.imm)]});
  }
  if (first[0] != second[0] || !range(first, instruction.c, least, greatest) ||
      !range(second, instruction.d, otherLeast, otherGreatest) || least > otherGreatest || otherLeast > greatest)
    return true;
  const Storage* block = storage(first[0]);
  if (!block || least < 0 || greatest >= block->elements)
    return true; // an access tells
  if (!overlap(first, instruction.c, second, instruction.d, static_cast<int64_t>(least),
               static_cast<int64_t>(greatest)))
    return true;
  return failAt(task, pc, Fault::ArgumentOverlap, {program_.names[static_cast<size_t>(instruction.imm)]});
}

bool Machine::failHandle(const Task& task, uint32_t pc, uint64_t handle) {
  if (static_cast<uint32_t>(handle) != BadViewIndex)
    return failAt(task, pc, Fault::Dead, {"a block"});
  std::string place = locationText(program_.locations[handle >> 32]);
  return failAt(task, pc, Fault::BadView, {place.empty() ? "a subview" : "the subview at " + place});
}

bool Machine::failUndefined(const Task& task, uint32_t pc, const Instruction& instruction, Registers r,
                            const Storage& block, uint64_t element) {
  const bool isDistributed = !block.accesses.empty();
  const std::string what = program_.names[block.label].empty() ? "the element"
                           : isDistributed ? "element " + elementName(instruction, r) + " of " + arrayName(block)
                                           : elementText(block, element);
  return failUndefined(task, pc, what, block, element);
}

bool Machine::failUndefined(const Task& task, uint32_t pc, const std::string& what, const Storage& block,
                            uint64_t element) {
  Diagnostic diagnostic = makeDiagnostic(Fault::Undefined, program_.locations[pc], {what}, diagnostics_.sources());
  if (block.written[element] != Lost)
    diagnostic.helps.push_back("write it first: what a task or function is to give back, and what has just been "
                               "declared, hold no values");
  else {
    diagnostic.notes.push_back("it had a value, which was lost when something without one was copied over it");
    diagnostic.helps.push_back("what writes a whole block has to write all its elements; what writes some of them has "
                               "to take the others in too");
  }
  std::string code = diagnostic.kind->code;
  report(task, pc, std::move(diagnostic), std::move(code));
  return false;
}

bool Machine::isNamedCopy(uint32_t pc) const {
  return options_.trackUndefined && !placeName(placePart(program_.locations[pc], 1)).empty();
}

bool Machine::failOverlap(const Task& task, uint32_t pc, const Storage& block, uint64_t element) {
  if (!isNamedCopy(pc))
    return failAt(task, pc, Fault::MoveOverlap);
  const mlir::Location to = placePart(program_.locations[pc], 0), from = placePart(program_.locations[pc], 1);
  Diagnostic diagnostic = makeDiagnostic(
      Fault::Overlap, to,
      {"'" + placeName(from) + "'", "'" + placeName(to) + "'", elementText(block, element), "the second one writes it"},
      diagnostics_.sources());
  addPlace(diagnostic, from, "read here", diagnostics_.sources());
  diagnostic.notes.push_back("whether an element is read before or after it is written is undefined");
  diagnostic.helps.push_back("use blocks that share no element, or copy one of them to an array of its own first");
  std::string code = diagnostic.kind->code;
  report(task, pc, std::move(diagnostic), std::move(code));
  return false;
}

bool Machine::failAccess(const Task& task, uint32_t pc, Slot block, unsigned rank, const uint64_t* indices,
                         Registers r) {
  const uint64_t* view = r + block;
  Storage* found = storage(view[0]);
  for (unsigned i = 0; i < rank; ++i)
    if (indices[i] >= view[2 + i]) {
      Diagnostic diagnostic = makeDiagnostic(Fault::OutOfBounds, program_.locations[pc],
                                             {std::to_string(static_cast<int64_t>(indices[i])), std::to_string(i),
                                              std::to_string(static_cast<int64_t>(view[2 + i]))},
                                             diagnostics_.sources());
      if (found && !program_.names[found->label].empty())
        diagnostic.notes.push_back("of " + arrayName(*found));
      std::string code = diagnostic.kind->code;
      report(task, pc, std::move(diagnostic), std::move(code));
      return false;
    }
  if (!found)
    return failHandle(task, pc, view[0]);
  uint64_t at = view[1];
  for (unsigned i = 0; i < rank; ++i)
    at += indices[i] * view[2 + rank + i];
  return failAt(task, pc, Fault::OutsideStorage,
                {std::to_string(static_cast<int64_t>(at)), std::to_string(found->elements)});
}

bool Machine::runExternal(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const ExternalCall& external = program_.externals[static_cast<size_t>(instruction.imm)];
  ++changes_; // nobody knows what it does
  auto kernel = options_.kernels.find(external.name);
  if (instruction.small && (kernel == options_.kernels.end() || instruction.b > 1))
    return failAt(task, pc, Fault::ExternalFunction, {external.name});
  if (kernel == options_.kernels.end())
    return failAt(task, pc, Fault::Unsupported,
                  {"'" + external.name + "', whose body is no region, without a stand-in"});
  std::vector<Argument> arguments;
  if (!collectArguments(task, pc, external, r, arguments))
    return false;
  if (instruction.small && instruction.b) {
    r[instruction.a] = 0;
    arguments.push_back(Argument::block(r + instruction.a, {}));
  }
  std::string error;
  return kernel->second(arguments, error) || failAt(task, pc, Fault::External, {external.name, error});
}

bool Machine::offer(Task& task, uint32_t pc, const Instruction& instruction, Registers r, uint32_t& next) {
  const ExternalCall& external = program_.externals[static_cast<size_t>(instruction.imm)];
  std::vector<Argument> arguments;
  if (!collectArguments(task, pc, external, r, arguments))
    return false;
  std::string error;
  const Offered answer = options_.offers.at(external.name)(arguments, error);
  if (answer == Offered::Failed)
    return failAt(task, pc, Fault::External, {external.name, error});
  if (answer == Offered::Declined)
    ++next;
  else
    ++changes_;
  return true;
}

bool Machine::collectArguments(Task& task, uint32_t pc, const ExternalCall& external, Registers r,
                               std::vector<Argument>& arguments) {
  for (const Parameter& parameter : external.parameters) {
    const uint64_t* value = r + parameter.slot;
    if (parameter.kind == Parameter::Kind::Scalar) {
      arguments.push_back(Argument::bits(*value));
    } else if (parameter.kind == Parameter::Kind::Record) {
      arguments.push_back(Argument::record(value));
    } else if (parameter.kind == Parameter::Kind::Block) {
      Storage* found = storage(value[0]);
      if (!found)
        return failHandle(task, pc, value[0]);
      __int128 least, greatest;
      bool any = range(value, parameter.rank, least, greatest);
      if (any && (least < 0 || greatest >= found->elements))
        return failAt(
            task, pc, Fault::OutsideStorage,
            {std::to_string(static_cast<int64_t>(least < 0 ? least : greatest)), std::to_string(found->elements)});
      std::vector<int64_t> extents(value + 2, value + 2 + parameter.rank);
      std::vector<int64_t> strides(value + 2 + parameter.rank, value + 2 + 2 * parameter.rank);
      char* data = any ? found->data + value[1] * parameter.elementBytes : found->data;
      arguments.push_back(Argument::block(data, std::move(extents), std::move(strides)));
      if (any && !found->written.empty()) // what it writes cannot be seen
        std::fill(found->written.begin() + static_cast<int64_t>(least),
                  found->written.begin() + static_cast<int64_t>(greatest) + 1, HasValue);
    } else {
      return failAt(task, pc, Fault::Unsupported, {"'" + external.name + "' with stream arguments"});
    }
  }
  return true;
}

} // namespace strata::interpret
