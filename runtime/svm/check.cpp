// Implements the rules. Every message names the rule of the document, what breaks it by the variable's name, and what
// to change; it stands at the line of the call.
#include "runtime/svm/check.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace strata::svm {

using machine::Node;

namespace {

std::string quoted(const KernelRecord& kernel) {
  return "kernel '" + nameOf(kernel) + "'";
}
std::string quoted(const StreamRecord& stream) {
  return "stream '" + nameOf(stream) + "'";
}
std::string quoted(const BlockRecord& block) {
  return "block '" + nameOf(block) + "'";
}
std::string firstInitialised(const Place& place) {
  return place.where().empty() ? "" : "; it was first initialised at " + place.where();
}

void checkInControl(const char* what, const Place& place) {
  if (const KernelRecord* kernel = callingKernel())
    failAt(place, "svm-a3", std::string(what) + " within the work function of " + quoted(*kernel) + " (rule A3)",
           "initialise in control code; a work function only uses what it was given");
}

bool isUnderWay(const KernelRecord* kernel) {
  return kernel && (kernel->status.load() == KERNEL_RUNNING || kernel->status.load() == KERNEL_PAUSED);
}

/// The same, from kernelRun on. REQUIRES: the program's lock is held.
bool isUnderWay(const Use& use) {
  return use.kernel->run == use.run && (use.kernel->status.load() == KERNEL_WAITING || isUnderWay(use.kernel));
}

const char* wordOf(KERNEL_STATUS status) {
  switch (status) {
  case KERNEL_UNSTARTED:
    return "UNSTARTED";
  case KERNEL_WAITING:
    return "WAITING";
  case KERNEL_RUNNING:
    return "RUNNING";
  case KERNEL_PAUSED:
    return "PAUSED";
  case KERNEL_FINISHED:
    return "FINISHED";
  }
  return "";
}

/// What names a stream, block or kernel; names take time to find.
using Name = Program::Name;

/// A2. REQUIRES: the program's lock is held.
void checkUnused(const Name& what, const std::vector<Use>& uses, const Place& place) {
  for (const Use& use : uses)
    if (isUnderWay(use))
      failAt(place, "svm-a2",
             what() + " is initialised while " + quoted(*use.kernel) + ", which was given it, is " +
                 wordOf(use.kernel->status.load()) + " (rule A2)",
             "wait for the kernel first, with kernelWait");
}

/// B2, of a variable that is still the same.
void checkLocation(const Program& program, const Name& what, const void* variable, const Node& before, const Node& now,
                   const Place& first, const Place& place) {
  if (before != now && isStatic(variable))
    failAt(place, "svm-b2",
           what() + " moves from " + program.nameOf(before) + " to " + program.nameOf(now) + " (rule B2)" +
               firstInitialised(first),
           "use one variable for each place");
}

/// The stream, block or kernel that has a mark, or null.
const void* markedBy(uint64_t mark) {
  const Program* program = Program::currentIfAny();
  const auto find = [&](const auto& records) -> const void* {
    for (const auto& [address, record] : records)
      if (markOf(address) == mark)
        return address;
    return nullptr;
  };
  if (!program)
    return nullptr;
  if (const void* stream = find(program->streams))
    return stream;
  const void* block = find(program->blocks);
  return block ? block : find(program->kernels);
}

} // namespace

void failUninitialised(const char* what, const char* operation, const std::string& name, uint64_t mark,
                       const Place& place) {
  if (const void* original = markedBy(mark))
    failAt(place, "svm-b4",
           std::string(operation) + " on " + what + " '" + name + "', which is a copy of '" +
               variableName(original, 0, "another") + "' (rule B4)",
           "pass the variable itself on, by pointer");
  failAt(place, "svm-b1",
         std::string(operation) + " on " + what + " '" + name + "', which has not been initialised (rule B1)",
         "initialise it first, in control code");
}

namespace {

[[noreturn]] void failAtHand(const std::string& what, const KernelRecord& kernel, const Place& place) {
  failAt(place, "svm-a2", what + " is initialised while " + quoted(kernel) + " uses it (rule A2)",
         "wait for the kernel first, with kernelWait");
}

} // namespace

void checkAtHand(const StreamRecord& record, const Place& place) {
  for (const StreamEnd* end : {&record.pusher, &record.popper})
    if (const KernelRecord* kernel = end->kernel.load(); isUnderWay(kernel))
      failAtHand(quoted(record), *kernel, place);
}

void checkAtHand(const BlockRecord& record, const Place& place) {
  for (const KernelRecord* kernel : record.kernels)
    if (isUnderWay(kernel))
      failAtHand(quoted(record), *kernel, place);
}

void checkStream(Program& program, const StreamRecord* before, const Stream* stream, const Node& node, int capacity,
                 int elementBytes, int initLength, int flags, bool withData, const Place& place) {
  checkInControl("a stream is initialised", place);
  const auto name = [&] { return "stream '" + variableName(stream, sizeof(Stream), place.argument()) + "'"; };
  constexpr int known = STREAM_UNORDERED | STREAM_UNALIASED_RAM | STREAM_NEVER_WRAPS | STREAM_ONE_EOS;
  if (flags & ~known)
    failAt(place, "svm-flags", name() + " has the flags " + std::to_string(flags) + ", of which some mean nothing",
           "combine STREAM_UNORDERED, STREAM_UNALIASED_RAM, STREAM_NEVER_WRAPS and STREAM_ONE_EOS with |, or pass 0");
  if (withData && (flags & STREAM_UNALIASED_RAM))
    failAt(place, "svm-unaliased-data", name() + " is STREAM_UNALIASED_RAM and begins with data in its memory",
           "leave the flag out: data in memory has the layout of a circular buffer");
  if (node.kind == Node::Kind::Fifo) {
    const StreamRecord* last = program.fifoState(node).last;
    if (last && inside(*last) > 0)
      failAt(place, "svm-a8",
             program.nameOf(node) + " is mapped to " + name() + " while " + std::to_string(inside(*last)) +
                 " elements of " + quoted(*last) + " are in it (rule A8)",
             "pop them first");
  }
  if (!before)
    return;
  checkUnused(name, before->uses, place);
  checkLocation(program, name, stream, before->node, node, before->place, place);
  if ((before->elementBytes != static_cast<uint64_t>(elementBytes) || before->flags != flags) && isStatic(stream))
    failAt(place, "svm-b2",
           name() + " had elements of " + std::to_string(before->elementBytes) + " bytes and flags " +
               std::to_string(before->flags) + ", now " + std::to_string(elementBytes) + " and " +
               std::to_string(flags) + " (rule B2)" + firstInitialised(before->place),
           "the size of elements and the flags of a variable never change");
}

void checkBlock(Program& program, const BlockRecord* before, const Node& node, int elementBytes, const Place& place) {
  checkInControl("a block is initialised", place);
  if (!before)
    return;
  const auto name = [&] { return quoted(*before); };
  checkUnused(name, before->uses, place);
  checkLocation(program, name, before->block, before->node, node, before->place, place);
  if (before->elementBytes != static_cast<uint64_t>(elementBytes) && isStatic(before->block))
    failAt(place, "svm-b2",
           quoted(*before) + " had elements of " + std::to_string(before->elementBytes) + " bytes, now " +
               std::to_string(elementBytes) + " (rule B2)" + firstInitialised(before->place),
           "the size of a variable's elements never changes");
}

namespace {

/// The streams and blocks that a kernel has been given: its scratch block, at an offset before all others, and what its
/// data points to or has in it. REQUIRES: the program's lock is held.
std::vector<Argument> argumentsOf(const KernelRecord& kernel) {
  std::vector<Argument> arguments;
  const Program& program = *kernel.program;
  const char* data = static_cast<const char*>(kernel.data);
  const auto note = [&](int64_t offset, const void* object) {
    if (program.streams.contains(object) || program.blocks.contains(object))
      arguments.push_back({offset, object});
  };
  note(-1, kernel.scratch);
  constexpr int64_t step = sizeof(void*);
  for (int64_t at = 0; data && at + step <= kernel.dataSize; at += step) {
    if (const size_t bytes = program.objectBytes(data + at)) {
      note(at, data + at);
      at += static_cast<int64_t>(bytes) - step; // others may be working with it
      continue;
    }
    const void* field = nullptr;
    std::memcpy(static_cast<void*>(&field), data + at, sizeof field);
    note(at, field);
  }
  return arguments;
}

void checkMaster(const Program& program, const ProcessorState& processor, const Name& what, const Place& place) {
  const Node control = program.control();
  const auto& masters = processor.description->masters;
  if (std::find(masters.begin(), masters.end(), machine::ProcessorId{control.index}) == masters.end())
    failAt(place, "svm-master",
           what() + program.nameOf(control) + " does not control " + processor.name + ": it is not among its masters",
           "use a processor that it controls, or choose the control processor with svmControl");
}

} // namespace

void checkKernel(Program& program, KernelRecord* before, KernelSort sort, const ProcessorState& processor,
                 const Place& place) {
  checkInControl("a kernel is initialised", place);
  checkMaster(program, processor, [] { return ""; }, place);
  if (!before)
    return;
  if (!isStatic(before->kernel)) {
    before->arguments.clear(); // it may be another variable
    return;
  }
  const auto name = [&] { return quoted(*before); };
  checkLocation(program, name, before->kernel, before->processor->node, processor.node, before->place, place);
  // What only its initialisation gives it, and has not been run since.
  if (sort != KernelSort::User && before->arguments.empty())
    before->arguments = argumentsOf(*before);
}

void checkSupported(const Program& program, KernelSort sort, const char* kernel, const ProcessorState& processor,
                    const Place& place) {
  // What moves data could be written as a work function too; what has a name only may be hardware.
  const auto runs = [&](const machine::Processor& each) {
    const bool lists = kernel && std::find(each.kernels.begin(), each.kernels.end(), kernel) != each.kernels.end();
    return lists || (each.userKernels && sort != KernelSort::BlackBox);
  };
  const machine::Processor& description = *processor.description;
  if (runs(description))
    return;
  const std::string what = sort == KernelSort::User         ? "kernels that users define"
                           : sort == KernelSort::Predefined ? std::string("kernels that ") + kernel
                                                            : std::string("the kernel '") + kernel + "'";
  std::string supported = description.userKernels ? "'user'" : "";
  for (const std::string& name : description.kernels)
    supported += (supported.empty() ? "'" : ", '") + name + "'";
  std::string able;
  for (const machine::Processor& other : program.machine().processors)
    if (runs(other))
      able += (able.empty() ? "" : ", ") + other.name;
  failAt(place, "svm-supported-kernels",
         processor.name + " does not run " + what + "; its description lists " +
             (supported.empty() ? "none" : supported),
         able.empty() ? "choose a machine with such a processor" : "these do: " + able);
}

namespace {

[[noreturn]] void failShared(const std::string& first, const char* does, const StreamRecord& record,
                             const std::string& second, const Place& place) {
  failAt(place, "svm-a7", first + " " + does + " " + quoted(record) + " while " + second + " (rule A7)",
         "a stream has one kernel that pushes and one that pops at a time; let one finish first, with kernelWait");
}

} // namespace

void checkOneAtATime(const StreamRecord& record, const KernelRecord& other, const KernelRecord* kernel, bool pushes,
                     const Place& place) {
  if (isUnderWay(&other))
    failShared(kernel ? quoted(*kernel) : "control", pushes ? "pushes to" : "pops from", record,
               quoted(other) + " does", place);
}

void checkEnter(StreamRecord& record, KernelRecord* kernel, bool pushes, const char* operation, const Place& place) {
  Program& program = *record.program;
  const StreamEnd& end = pushes ? record.pusher : record.popper;
  const char* does = pushes ? "pushes to" : "pops from";
  const std::string who = kernel ? quoted(*kernel) : "control";
  if (const KernelRecord* other = end.kernel.load(); isUnderWay(other))
    failShared(who, does, record, quoted(*other) + " does", place);
  const KernelRecord* last = end.last.load();
  if (kernel && last && last != kernel && end.lastOver > kernel->ranAt)
    failAt(place, "svm-a7",
           quoted(*kernel) + " was run, and WAITING, while " + quoted(*last) + " still " +
               (pushes ? "pushed to " : "popped from ") + quoted(record) + " (rule A7)",
           "wait for the one, with kernelWait, before the other is run");
  if (kernel && end.controlAt.load() >= kernel->begunAt) {
    const Place control{end.controlPlace.load()};
    failAt(place, "svm-a7",
           who + " " + does + " " + quoted(record) + ", as control did when it was under way" +
               (control.where().empty() ? "" : ", at " + control.where()) + " (rule A7)",
           "let control do so before the kernel is run or after kernelWait");
  }
  {
    std::lock_guard guard(program.lock);
    for (const Use& use : record.uses)
      if (use.kernel != kernel && (pushes ? use.pushes : use.pops) &&
          (kernel ? isUnderWay(use) : isUnderWay(use.kernel) && use.kernel->run == use.run))
        failShared(who, does, record, quoted(*use.kernel) + ", which does, is " + wordOf(use.kernel->status.load()),
                   place);
  }
  const Node processor = kernel ? kernel->processor->node : program.control();
  if (record.fifo && program.reaches(processor, record.node) && !program.mayUse(processor, record.node, pushes))
    failAt(place, "svm-a6",
           (kernel ? who : std::string("control code")) + " on " + program.nameOf(processor) + " " + does + " " +
               quoted(record) + " in " + program.nameOf(record.node) + ", which it only " +
               (pushes ? "reads" : "writes") + " (rule A6)",
           std::string("the machine's description names the ") + (pushes ? "writers" : "readers") +
               " of the FIFO; use another FIFO, or a stream in a memory");
  if (!program.reaches(processor, record.node))
    failAt(place, "svm-a6",
           (kernel ? quoted(*kernel) : std::string("control code")) + " on " + program.nameOf(processor) + " uses " +
               quoted(record) + " in " + program.nameOf(record.node) + ", which no link connects to it (rule A6)",
           "put the stream where both of its kernels reach it, or move the data with a Move");
  if (record.fifo)
    return;
  std::lock_guard guard(program.lock);
  noteStorageUse(program, record.storage, kernel, pushes);
}

void checkBlockUse(BlockRecord& record, const KernelRecord& kernel, bool writes, const Place& place) {
  if (!record.program->reaches(kernel.processor->node, record.node))
    failAt(place, "svm-a6",
           quoted(kernel) + " on " + kernel.processor->name + " uses " + quoted(record) + " in " +
               record.program->nameOf(record.node) + ", which no link connects to it (rule A6)",
           "put the block where the kernel reaches it, or move the data with a Move");
  std::lock_guard guard(record.program->lock);
  noteStorageUse(*record.program, record.storage, &kernel, writes);
}

void checkControl(const Kernel* kernel, const KernelRecord* record, const KernelRecord* caller, const char* operation,
                  bool needed, const Place& place) {
  if (const Program* program = Program::currentIfAny(); program && !record && program->objectBytes(kernel))
    failAt(place, "svm-no-kernel",
           std::string(operation) + " on '" + variableName(kernel, program->objectBytes(kernel), place.argument()) +
               "', which is a " + (program->streams.contains(kernel) ? "stream" : "block"),
           "pass the address of a kernel");
  const bool own =
      std::string_view(operation) == "kernelPause" || (caller == record && std::string_view(operation) == "kernelEnd");
  if (caller && !own)
    failAt(place, "svm-a3", std::string(operation) + " within the work function of " + quoted(*caller) + " (rule A3)",
           "call it in control code; a work function may call kernelPause, and kernelEnd on its own kernel");
  // For some functions a kernel that nothing has initialised counts as UNSTARTED; a copy never does.
  if (!record && (needed || !kernel || markedBy(kernel->mark_)))
    failUninitialised("kernel", operation, kernel ? variableName(kernel, 0, place.argument()) : "NULL",
                      kernel ? kernel->mark_ : 0, place);
  if (record && !caller)
    checkMaster(
        *record->program, *record->processor, [&] { return std::string(operation) + " on " + quoted(*record) + ": "; },
        place);
}

void checkDependence(const KernelRecord& kernel, const KernelRecord* on, const Place& place) {
  if (kernel.status.load() != KERNEL_UNSTARTED)
    failAt(place, "svm-dependence",
           "kernelAddDependence on " + quoted(kernel) + ", which is " + wordOf(kernel.status.load()),
           "call it between kernelInit and kernelRun");
  if (!on || on->status.load() == KERNEL_UNSTARTED)
    return; // then the call is ignored
  const Program& program = *kernel.program;
  const Machine& machine = program.machine();
  for (uint32_t i = 0; i < machine.memories.size(); ++i)
    for (uint32_t k = 0; k < machine.memories[i].count; ++k) {
      const Node memory{Node::Kind::Memory, i, k};
      if (program.reaches(kernel.processor->node, memory) && program.reaches(on->processor->node, memory))
        return;
    }
  failAt(place, "svm-a9",
         quoted(kernel) + " on " + kernel.processor->name + " depends on " + quoted(*on) + " on " +
             on->processor->name + ", and no memory is connected to both (rule A9)",
         "put the two on processors that share a memory");
}

namespace {

std::string argumentName(const KernelRecord& kernel, const void* argument) {
  const auto stream = kernel.program->streams.find(argument);
  return stream != kernel.program->streams.end() ? quoted(*stream->second)
                                                 : quoted(*kernel.program->blocks.at(argument));
}

/// B3. A place that names no stream or block yet may name one later.
void checkArguments(const KernelRecord& kernel, const std::vector<Argument>& arguments, const Place& place) {
  auto before = kernel.arguments.begin();
  for (const Argument& now : arguments) {
    while (before != kernel.arguments.end() && before->offset < now.offset)
      ++before;
    if (before != kernel.arguments.end() && before->offset == now.offset && before->object != now.object)
      failAt(place, "svm-b3",
             quoted(kernel) + " was initialised with " + argumentName(kernel, before->object) + " before, now with " +
                 argumentName(kernel, now.object) + " (rule B3)",
             "pass a kernel the same streams and blocks each time, or use another kernel");
  }
}

/// Notes that a kernel is about to be under way with a stream or block. A7, as far as the ends are known: those of a
/// kernel that moves data, and those that a kernel has at hand. REQUIRES: the program's lock is held.
void noteUse(KernelRecord& kernel, const void* object, const Place& place) {
  Program& program = *kernel.program;
  Use use{&kernel, kernel.run};
  const auto stream = program.streams.find(object);
  std::vector<Use>& uses = stream != program.streams.end() ? stream->second->uses : program.blocks.at(object)->uses;
  std::erase_if(uses, [](const Use& other) { return !isUnderWay(other); });
  if (stream != program.streams.end() && kernel.sort == KernelSort::Predefined) {
    const StreamRecord& record = *stream->second;
    const auto& transfer = *static_cast<const SvmTransfer_*>(kernel.data);
    use.pushes = transfer.target == object;
    use.pops = transfer.source == object || transfer.indices == object;
    for (const bool pushes : {true, false}) {
      if (!(pushes ? use.pushes : use.pops))
        continue;
      const char* does = pushes ? "is to push to" : "is to pop from";
      if (const KernelRecord* other = (pushes ? record.pusher : record.popper).kernel.load(); isUnderWay(other))
        failShared(quoted(kernel), does, record, quoted(*other) + " does", place);
      for (const Use& other : uses)
        if (other.kernel != &kernel && (pushes ? other.pushes : other.pops))
          failShared(quoted(kernel), does, record,
                     quoted(*other.kernel) + ", which does, is " + wordOf(other.kernel->status.load()), place);
    }
  }
  uses.push_back(use);
}

/// Calls a function with the offset and bytes of each part of a kernel's data that is no stream or block: those go on
/// working while it waits.
template <typename Function>
void forFields(const KernelRecord& kernel, const Function& function) {
  int64_t begin = 0;
  for (const auto& [offset, bytes] : kernel.inData) {
    function(begin, offset - begin);
    begin = offset + static_cast<int64_t>(bytes);
  }
  if (kernel.data && begin < kernel.dataSize)
    function(begin, kernel.dataSize - begin);
}

} // namespace

void checkData(const KernelRecord& kernel) {
  const char* data = static_cast<const char*>(kernel.data);
  if (kernel.dataWhenRun.size() != static_cast<size_t>(kernel.dataSize))
    return; // run before there were checks
  forFields(kernel, [&](int64_t begin, int64_t bytes) {
    if (std::memcmp(kernel.dataWhenRun.data() + begin, data + begin, static_cast<size_t>(bytes)) != 0)
      failAt(kernel.runPlace, "svm-fields",
             "fields of " + quoted(kernel) +
                 " changed between kernelRun and the beginning of its work, while it was "
                 "WAITING",
             "control code may touch a kernel's fields only before kernelRun and after kernelWait");
  });
}

void checkArgumentsAgain(KernelRecord& kernel, const Place& place) {
  std::lock_guard guard(kernel.program->lock);
  checkArguments(kernel, argumentsOf(kernel), place);
}

void checkDataSize(const Kernel* kernel, const void* data, int bytes, const Place& place) {
  constexpr int small = 1 << 20; // what is larger is as a rule a mistake, which would be read beyond what there is
  bool fits = bytes >= 0 && (data || bytes == 0);
  if (fits && data && bytes > small) {
    unsigned char resident = 0;
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes) - 1) / page * page;
    fits = mincore(reinterpret_cast<void*>(last), 1, &resident) == 0; // NOLINT(performance-no-int-to-ptr)
  }
  if (!fits)
    failAt(place, "svm-data-size",
           "kernel '" + variableName(kernel, 0, place.argument()) + "' is initialised with data of " +
               std::to_string(bytes) + " bytes, which are not all in memory",
           "pass the size of the struct that the data points to");
}

void checkRun(KernelRecord& kernel, const Place& place) {
  const KERNEL_STATUS status = kernel.status.load();
  if (status != KERNEL_UNSTARTED && status != KERNEL_PAUSED && kernel.request.load() == Request::None)
    failAt(place, "svm-run", "kernelRun on " + quoted(kernel) + ", which is " + wordOf(status),
           status == KERNEL_FINISHED ? "initialise it again first" : "wait for it first, with kernelWait");
  if (const Block* scratch = kernel.scratch; scratch && scratch->mark_ != markOf(scratch))
    failUninitialised("block", "kernelRun", variableName(scratch, sizeof(Block), "its scratch block"), scratch->mark_,
                      place);
  if (const Block* scratch = kernel.scratch)
    checkBlockUse(*static_cast<BlockRecord*>(scratch->record_), kernel, true, place);
  if (status != KERNEL_UNSTARTED)
    return;
  {
    std::lock_guard guard(kernel.program->lock);
    const std::vector<Argument> arguments = argumentsOf(kernel);
    checkArguments(kernel, arguments, place);
    if (kernel.arguments.empty())
      kernel.arguments = arguments;
    kernel.inData.clear();
    for (const Argument& argument : arguments) {
      noteUse(kernel, argument.object, place);
      if (argument.offset >= 0 && argument.object == static_cast<const char*>(kernel.data) + argument.offset)
        kernel.inData.emplace_back(argument.offset, kernel.program->objectBytes(argument.object));
    }
  }
  kernel.runPlace = place;
  kernel.dataWhenRun.resize(static_cast<size_t>(std::max(kernel.dataSize, 0)));
  forFields(kernel, [&](int64_t begin, int64_t bytes) {
    std::memcpy(kernel.dataWhenRun.data() + begin, static_cast<const char*>(kernel.data) + begin,
                static_cast<size_t>(bytes));
  });
}

namespace {

void checkElement(const Name& what, uint64_t elementBytes, uint64_t size, const char* help, const Place& place) {
  if (fits(size, elementBytes))
    return;
  const bool isNarrow = SVM_BYTES_OF_(size) < elementBytes;
  failAt(place, "svm-element-size",
         "elements of " + what() + " have " + std::to_string(elementBytes) + " bytes, and the variable here " +
             (isNarrow ? "has " + std::to_string(SVM_BYTES_OF_(size)) : "is a number of " + std::to_string(size >> 56)),
         help);
}

} // namespace

void checkSize(const StreamRecord& record, uint64_t size, const Place& place) {
  checkElement([&] { return quoted(record); }, record.elementBytes, size,
               "use a variable of the type of the stream's elements", place);
}

void checkBlockSize(const BlockRecord& record, uint64_t size, const Place& place) {
  checkElement([&] { return quoted(record); }, record.elementBytes, size,
               "use a variable of the type of the block's elements", place);
}

void checkPush(StreamRecord& record, bool eos, uint64_t size, const Place& place) {
  checkSize(record, size, place);
  if (record.fifo) {
    const StreamRecord* other = record.fifo->holder.exchange(&record);
    if (other && other != &record && inside(*other) > 0)
      failAt(place, "svm-a8",
             "a push to " + quoted(record) + " in " + record.program->nameOf(record.node) + " while " +
                 std::to_string(inside(*other)) + " elements of " + quoted(*other) + " are in it (rule A8)",
             "pop them first, or use another FIFO");
  }
  if ((record.flags & STREAM_NEVER_WRAPS) && record.stream->pushed_ >= record.capacity)
    failAt(place, "svm-never-wraps",
           quoted(record) + " is STREAM_NEVER_WRAPS, and more than its " + std::to_string(record.capacity) +
               " elements are pushed",
           "leave the flag out, or give the stream more capacity");
  if (eos && (record.flags & STREAM_ONE_EOS) && !record.tags.empty())
    failAt(place, "svm-one-eos", quoted(record) + " is STREAM_ONE_EOS, and a second tag is pushed while one is inside",
           "leave the flag out, or push the next tag when the first has been popped");
}

void checkPeek(const StreamRecord& record, int64_t n, const Place& place) {
  if (record.flags & STREAM_UNORDERED)
    failAt(place, "svm-unordered-peek", "a peek at " + quoted(record) + ", which is STREAM_UNORDERED",
           "leave the flag out: what comes first is not defined with it");
  if (n < 0 || static_cast<uint64_t>(n) >= record.capacity)
    failAt(place, "svm-peek",
           "a peek at element " + std::to_string(n) + " of " + quoted(record) + ", whose capacity is " +
               std::to_string(record.capacity),
           "peek at 0 to capacity - 1, or give the stream more capacity");
}

void describeStreamWait(const StreamRecord& record, bool pushes, std::string& out) {
  const uint64_t in = inside(record);
  const uint64_t needed = pushes ? record.pusher.needs.load() - record.stream->popped_
                                 : record.popper.needs.load() - record.stream->popped_;
  out += pushes ? (needed == 1 ? "room" : "room for " + std::to_string(needed)) + std::string(" in ")
                : (needed == 1 ? "an element" : std::to_string(needed) + " elements") + std::string(" of ");
  out += quoted(record) + " (" + std::to_string(in) + " of " + std::to_string(record.capacity) + " elements inside)";
}

} // namespace strata::svm
