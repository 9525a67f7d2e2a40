// Tasks of the interpreter's machine: calls, turns, waiting, ends, and how failures are reported.
#include "compiler/interpret/machine.h"
#include "compiler/ir/svm.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/bit.h"

#include <cstdio>
#include <cstdlib>

namespace strata::interpret {

/// Slots that the frames of one task may take: with the depth limit, what keeps recursion from using up the memory.
static constexpr size_t MaxRegisters = size_t(1) << 25;

std::string Machine::argumentProblem(const Parameter& parameter, const Argument& argument) const {
  switch (parameter.kind) {
  case Parameter::Kind::Other:
    return "a caller has no values of its type";
  case Parameter::Kind::Scalar:
    return argument.isScalar ? "" : "a scalar is wanted, a block is given";
  case Parameter::Kind::Record:
    return !argument.isScalar && argument.data ? "" : "the bytes of a record are wanted";
  case Parameter::Kind::Block:
    break;
  }
  if (argument.isScalar)
    return "a block is wanted, a scalar is given";
  if (argument.extents.size() != parameter.rank || argument.strides.size() != parameter.rank)
    return "a block of " + std::to_string(parameter.rank) + " dimensions is wanted, " +
           std::to_string(argument.extents.size()) + " extents are given";
  bool none = false;
  for (unsigned i = 0; i < parameter.rank; ++i) {
    if (argument.extents[i] < 0)
      return "extent " + std::to_string(argument.extents[i]) + " is negative";
    if (!mlir::ShapedType::isDynamic(parameter.extents[i]) && parameter.extents[i] != argument.extents[i])
      return "extent " + std::to_string(argument.extents[i]) + " is given where " +
             std::to_string(parameter.extents[i]) + " is wanted";
    none |= argument.extents[i] == 0;
  }
  if (!none && !argument.data)
    return "no data is given";
  return "";
}

bool Machine::prepare(Task& task, const Function& function, const std::vector<Argument>& arguments) {
  auto wrong = [&](size_t position, const std::string& why) {
    return fail(Fault::BadArgument, function.location, {std::to_string(position), function.name, why});
  };
  if (arguments.size() != function.parameters.size())
    return wrong(std::min(arguments.size(), function.parameters.size()),
                 std::to_string(arguments.size()) + " arguments are given where " +
                     std::to_string(function.parameters.size()) + " are wanted");
  if (function.frameSlots > MaxRegisters)
    return fail(Fault::TooDeep, function.location, {"0"});
  arguments_.assign(arguments.size(), 0);
  task.registers.resize(function.frameSlots);
  std::copy(function.constants.begin(), function.constants.end(), task.registers.begin() + function.constantsAt);
  for (size_t position = 0; position < arguments.size(); ++position) {
    const Parameter& parameter = function.parameters[position];
    const Argument& argument = arguments[position];
    if (std::string why = argumentProblem(parameter, argument); !why.empty())
      return wrong(position, why);
    uint64_t* to = task.registers.data() + parameter.slot;
    if (parameter.kind == Parameter::Kind::Scalar) {
      *to = lowBits(argument.scalar, parameter.width);
      continue;
    }
    if (parameter.kind == Parameter::Kind::Record) {
      std::memcpy(to, argument.data, parameter.elementBytes);
      continue;
    }
    for (unsigned i = 0; i < parameter.rank; ++i) {
      to[2 + i] = static_cast<uint64_t>(argument.extents[i]);
      to[2 + parameter.rank + i] = static_cast<uint64_t>(argument.strides[i]);
    }
    to[1] = 0;
    __int128 least = 0, greatest = -1;
    bool any = range(to, parameter.rank, least, greatest);
    if (any && (greatest - least >= (__int128(1) << 62) || least < -(__int128(1) << 62)))
      return wrong(position, "its extents and strides reach beyond any memory");
    uint64_t handle = newStorage();
    Storage& made = *storage(handle);
    made.elementBytes = parameter.elementBytes;
    made.elements = any ? static_cast<int64_t>(greatest - least + 1) : 0;
    made.data = static_cast<char*>(argument.data);
    if (any)
      made.data += static_cast<int64_t>(least) * static_cast<int64_t>(parameter.elementBytes);
    if (options_.trackUndefined && parameter.written)
      made.written.assign(static_cast<size_t>(made.elements), parameter.read ? HasValue : NotWritten);
    made.label = parameter.label;
    made.extents.assign(argument.extents.begin(), argument.extents.end());
    made.strides.assign(argument.strides.begin(), argument.strides.end());
    arguments_[position] = handle;
    to[0] = handle;
    to[1] = any ? static_cast<uint64_t>(-static_cast<int64_t>(least)) : 0;
  }
  return true;
}

bool Machine::call(unsigned index, const std::vector<Argument>& arguments, std::vector<uint64_t>* results) {
  failure_ = {};
  lines_.clear();
  tracksRounding_ = false;
  decidedAt_.reset();
  decidedByNotFinite_ = false;
  notFiniteAt_.reset();
  const Function& function = program_.functions[index];
  auto task = std::make_unique<Task>();
  task->id = nextTask_++;
  task->pc = function.entry;
  task->frames.push_back({.function = index});
  bool ok = prepare(*task, function, arguments);
  if (ok) {
    ready_.insert(task->id);
    tasks_.emplace(task->id, std::move(task));
    ok = schedule();
  }
  if (ok && results)
    *results = results_;
  hasValue_.assign(arguments.size(), {});
  for (size_t position = 0; position < arguments_.size(); ++position)
    if (Storage* block = ok && arguments_[position] ? storage(arguments_[position]) : nullptr)
      for (uint8_t each : block->written)
        hasValue_[position].push_back(each == HasValue);
  keepSlacks();
  reset();
  return ok;
}

bool Machine::schedule() {
  TaskId last = 0;
  while (!ready_.empty() || resumePaused()) {
    auto next = ready_.upper_bound(last);
    if (next == ready_.end())
      next = ready_.begin();
    last = *next;
    Task& task = *tasks_.at(last);
    switch (execute(task)) {
    case Outcome::TimeIsUp:
      if (options_.maxSteps && statistics_.steps > options_.maxSteps)
        return failAt(task, task.pc, Fault::TooManySteps, {std::to_string(options_.maxSteps)});
      break;
    case Outcome::Blocked:
      ready_.erase(last);
      if (options_.maxSteps && statistics_.steps > options_.maxSteps)
        return failAt(task, task.waitingAt, Fault::TooManySteps, {std::to_string(options_.maxSteps)});
      break;
    case Outcome::Finished:
      finish(task);
      break;
    case Outcome::Failed:
      return false;
    }
  }
  if (tasks_.empty())
    return true;
  deadlock();
  return false;
}

Task* Machine::spawn(Task& from, uint32_t pc, uint32_t at) {
  if (tasks_.size() >= options_.maxTasks) {
    failAt(from, at, Fault::TooManyTasks, {std::to_string(options_.maxTasks)},
           "interpret the program on a smaller problem");
    return nullptr;
  }
  auto task = std::make_unique<Task>();
  task->id = nextTask_++;
  task->pc = pc;
  const Frame& frame = from.frames.back();
  const Slot slots = program_.functions[frame.function].frameSlots;
  // Values never change once they are there, so that a copy of the frame is as good as the frame.
  task->registers.assign(from.registers.begin() + frame.base, from.registers.begin() + frame.base + slots);
  if (tracksRounding_) {
    const Slack* slacks = slackOf(from, from.registers.data() + frame.base);
    task->slacks.assign(slacks, slacks + 2 * size_t(slots));
  }
  task->frames.push_back({.function = frame.function, .returnTo = frame.returnTo});
  task->instance = from.instance;
  task->group = from.group;
  task->nextGroup = from.nextGroup;
  if (!from.branches.empty()) { // both are in one iteration
    nodeOf(from, 0);
    task->branches = from.branches;
  }
  Task* made = task.get();
  ready_.insert(made->id);
  tasks_.emplace(made->id, std::move(task));
  return made;
}

bool Machine::enter(Task& task, const Instruction& call, uint32_t returnTo) {
  const auto index = static_cast<uint32_t>(call.imm);
  const Function& callee = program_.functions[index];
  const Frame& caller = task.frames.back();
  Frame frame;
  frame.function = index;
  frame.returnTo = returnTo;
  frame.base = caller.base + program_.functions[caller.function].frameSlots;
  frame.results = call.a;
  frame.regionMark = static_cast<uint32_t>(task.lifetimes[0].size());
  frame.automaticMark = static_cast<uint32_t>(task.lifetimes[1].size());
  size_t needed = size_t(frame.base) + callee.frameSlots;
  if (task.frames.size() >= options_.maxDepth || needed > MaxRegisters)
    return failAt(task, returnTo - 1, Fault::TooDeep, {std::to_string(task.frames.size())});
  if (needed > task.registers.size())
    task.registers.resize(std::max(needed, task.registers.size() * 2));
  const uint64_t* from = task.registers.data() + caller.base;
  uint64_t* to = task.registers.data() + frame.base;
  const uint32_t* list = program_.pool.data() + call.e;
  for (uint32_t i = 0; i < call.d; ++i)
    to[i] = from[list[i]];
  std::copy(callee.constants.begin(), callee.constants.end(), to + callee.constantsAt);
  task.frames.push_back(frame);
  return true;
}

void Machine::leave(Task& task, const Instruction& ret) {
  Frame frame = task.frames.back();
  const uint64_t* from = task.registers.data() + frame.base;
  const uint32_t* list = program_.pool.data() + ret.e;
  task.frames.pop_back();
  if (task.frames.empty()) {
    results_.clear();
    for (uint32_t i = 0; i < ret.d; ++i)
      results_.push_back(from[list[i]]);
  } else {
    uint64_t* to = task.registers.data() + task.frames.back().base + frame.results;
    for (uint32_t i = 0; i < ret.d; ++i)
      to[i] = from[list[i]];
  }
  release(task, 0, frame.regionMark);
  release(task, 1, frame.automaticMark);
}

void Machine::release(Task& task, unsigned kind, size_t mark) {
  std::vector<uint64_t>& list = task.lifetimes[kind];
  for (; list.size() > mark; list.pop_back()) {
    if (list.back() & StreamMark)
      freeStream(list.back() & ~StreamMark);
    else
      freeStorage(list.back());
  }
}

void Machine::wake(std::vector<TaskId>& waiters) {
  ready_.insert(waiters.begin(), waiters.end());
  waiters.clear();
}

void Machine::finish(Task& task) {
  ++changes_;
  wake(task.waiters);
  if (task.isInstance) {
    Task& parent = *tasks_.at(task.parent);
    if (--parent.children == 0)
      ready_.insert(parent.id);
  }
  TaskId id = task.id;
  ready_.erase(id);
  tasks_.erase(id);
}

void Machine::reset() {
  for (Storage& each : storages_)
    if (each.owned)
      std::free(each.data);
  storages_.clear();
  freeStorages_.clear();
  streams_.clear();
  groups_.assign(1, {});
  freeStreams_.clear();
  globals_.clear();
  tasks_.clear();
  ready_.clear();
  paused_.clear();
  order_.reset();
  iterations_.reset();
  bytes_ = 0;
}

void Machine::pause(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  paused_.push_back(task.id);
  std::vector<uint64_t> state{pc};
  if (instruction.small) { // the program says what decides
    const uint32_t* slots = program_.pool.data() + instruction.e;
    for (uint32_t i = 0; i < instruction.d; ++i)
      state.push_back(r[slots[i]]);
  } else {
    const Slot slots = program_.functions[task.frames.back().function].frameSlots;
    state.insert(state.end(), r, r + slots);
    state.push_back(task.ownMemory);
  }
  const bool isLater = task.changesAtPause != changes_ || (instruction.small && r[instruction.a]);
  if (!isLater && (task.goesInCircles || state == task.stateAtPause)) {
    task.goesInCircles = true;
    return;
  }
  somethingChanged_ = true;
  if (isLater || ++task.pausesSince == task.pausesLimit) {
    task.pausesLimit = isLater ? 1 : task.pausesLimit * 2;
    task.pausesSince = 0;
    task.stateAtPause = std::move(state);
  }
  task.changesAtPause = changes_;
  task.goesInCircles = false;
}

/// The last one that comes to a barrier lets all go on; what they have done is before what they do then.
Machine::Outcome Machine::arrive(Task& task) {
  BarrierGroup& group = groups_[task.group];
  if (!task.group || group.waiting.size() + 1 < group.instances) {
    if (task.group)
      group.waiting.push_back(task.id);
    return task.group ? Outcome::Blocked : Outcome::Finished;
  }
  std::vector<uint32_t> instances{task.instance};
  for (TaskId other : group.waiting)
    instances.push_back(tasks_.at(other)->instance);
  order_.meet(instances);
  ++changes_;
  wake(group.waiting);
  return Outcome::Finished;
}

/// An element read, changed and written; nobody comes in between.
bool Machine::change(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const uint32_t* list = program_.pool.data() + instruction.e + instruction.d;
  Instruction access = instruction;
  access.small = 0;
  if (!load<3>(task, pc, access, r))
    return false;
  const unsigned shift = 64 - 8 * static_cast<unsigned>(instruction.imm);
  const auto extended = [&](uint64_t value) { return static_cast<int64_t>(value << shift) >> shift; };
  const uint64_t before = r[instruction.a], value = r[list[0]];
  uint64_t& stored = r[list[1]];
  switch (static_cast<svm::AtomicKind>(instruction.small)) {
  case svm::AtomicKind::Add:
    stored = before + value;
    break;
  case svm::AtomicKind::Sub:
    stored = before - value;
    break;
  case svm::AtomicKind::And:
    stored = before & value;
    break;
  case svm::AtomicKind::Or:
    stored = before | value;
    break;
  case svm::AtomicKind::Xor:
    stored = before ^ value;
    break;
  case svm::AtomicKind::Min:
    stored = extended(before) < extended(value) ? before : value;
    break;
  case svm::AtomicKind::Max:
    stored = extended(before) > extended(value) ? before : value;
    break;
  case svm::AtomicKind::UMin:
    stored = std::min(before, value);
    break;
  case svm::AtomicKind::UMax:
    stored = std::max(before, value);
    break;
  case svm::AtomicKind::Exchange:
    stored = value;
    break;
  case svm::AtomicKind::CompareExchange:
    stored = before == r[list[2]] ? value : before;
    break;
  }
  stored = stored << shift >> shift;
  access.a = list[1];
  return store<3>(task, pc, access, r);
}

bool Machine::resumePaused() {
  if (paused_.empty() || (!somethingChanged_ && changes_ == changesAtResume_))
    return false;
  somethingChanged_ = false;
  changesAtResume_ = changes_;
  wake(paused_);
  return true;
}

void Machine::print(const Instruction& instruction, Registers r) {
  llvm::StringRef format = program_.names[static_cast<size_t>(instruction.imm)];
  const uint32_t* value = program_.pool.data() + instruction.e;
  ++changes_;
  std::string text;
  while (!format.empty()) {
    size_t plain = std::min(format.find('%'), format.size());
    text += format.take_front(plain);
    format = format.drop_front(plain);
    if (format.empty())
      break;
    size_t end = format.find_first_of("%diuxcfeg", 1);
    if (end == llvm::StringRef::npos) // the verifier lets none through
      break;
    std::string conversion = format.take_front(end).str();
    const char kind = format[end];
    format = format.drop_front(end + 1);
    char field[1400];
    int length = 0;
    if (kind == '%') {
      text += '%';
      continue;
    }
    const uint64_t bits = r[*value++];
    if (kind == 'f' || kind == 'e' || kind == 'g')
      length = snprintf(field, sizeof field, (conversion + kind).c_str(), llvm::bit_cast<double>(bits));
    else if (kind == 'c')
      length = snprintf(field, sizeof field, (conversion + kind).c_str(), static_cast<int>(bits & 0xff));
    else
      length = snprintf(field, sizeof field, (conversion + "ll" + kind).c_str(), static_cast<long long>(bits));
    if (length > 0)
      text.append(field, std::min(static_cast<size_t>(length), sizeof field - 1));
  }
  lines_.push_back({static_cast<int64_t>(r[instruction.a]), std::move(text)});
}

std::string Machine::output() const {
  std::vector<const Line*> sorted;
  for (const Line& line : lines_)
    sorted.push_back(&line);
  std::sort(sorted.begin(), sorted.end(), [](const Line* a, const Line* b) {
    return a->order != b->order ? a->order < b->order : a < b; // they lie in the order of time
  });
  std::string all;
  for (const Line* line : sorted)
    all += line->text;
  return all;
}

bool Machine::fail(Fault fault, mlir::Location where, const std::vector<std::string>& arguments) {
  Diagnostic diagnostic = makeDiagnostic(fault, where, arguments, diagnostics_.sources());
  failure_ = {diagnostic.kind->code, diagnostic.message};
  diagnostics_.add(std::move(diagnostic));
  return false;
}

void Machine::report(const Task& task, uint32_t pc, Diagnostic diagnostic, std::string code) {
  if (order_.isLive(task.instance))
    diagnostic.notes.push_back("in " + instanceName(task));
  // The innermost call says which of its uses went wrong.
  if (task.frames.size() > 1) {
    const Frame& frame = task.frames.back();
    addPlace(diagnostic, program_.locations[frame.returnTo - 1],
             "in this call of '" + program_.functions[frame.function].name + "'", diagnostics_.sources());
  }
  failure_ = {std::move(code), diagnostic.message};
  diagnostics_.add(std::move(diagnostic));
}

std::optional<uint64_t> Machine::instancesOf(const Task& task, uint32_t pc, const Instruction& instruction,
                                             Registers r) {
  constexpr auto most = static_cast<uint64_t>(svm::maximumInstances);
  uint64_t all = 1; // or one more than may be
  for (uint32_t i = 0; i < instruction.d; i += 2) {
    const uint64_t first = r[program_.pool[instruction.e + i]], last = r[program_.pool[instruction.e + i + 1]];
    if (static_cast<int64_t>(last) <= static_cast<int64_t>(first))
      return 0;
    if (__builtin_mul_overflow(all, last - first, &all))
      all = most + 1;
    all = std::min(all, most + 1);
  }
  if (all <= most)
    return all;
  failAt(task, pc, Fault::TooManyInstances, {std::to_string(most)},
         "let each instance do the work of several, or take 'concurrent' away where none waits for another");
  return std::nullopt;
}

bool Machine::failAt(const Task& task, uint32_t pc, Fault fault, const std::vector<std::string>& arguments,
                     const std::string& help) {
  Diagnostic diagnostic = makeDiagnostic(fault, program_.locations[pc], arguments, diagnostics_.sources());
  if (!help.empty())
    diagnostic.helps.push_back(help);
  std::string code = diagnostic.kind->code;
  report(task, pc, std::move(diagnostic), std::move(code));
  return false;
}

bool Machine::failCheck(const Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const CheckText& text = program_.checks[static_cast<size_t>(instruction.imm)];
  if (instruction.opcode == Opcode::IndexCheck)
    return failAt(task, pc, Fault::Index,
                  {std::to_string(static_cast<int64_t>(r[instruction.a])), text.array, std::to_string(text.dimension),
                   std::to_string(static_cast<int64_t>(r[instruction.b]))});
  std::vector<std::string> values;
  for (uint32_t i = 0; i < instruction.d; ++i)
    values.push_back(std::to_string(static_cast<int64_t>(r[program_.pool[instruction.e + i]])));
  Diagnostic diagnostic;
  diagnostic.kind = &kindOfRule(text.code);
  diagnostic.message = formatMessage(text.message, values);
  addPlace(diagnostic, program_.locations[pc], "", diagnostics_.sources());
  if (!text.help.empty())
    diagnostic.helps.push_back(text.help);
  report(task, pc, std::move(diagnostic), text.code);
  return false;
}

std::string Machine::describe(const Task& task) const {
  std::string text = "'" + program_.functions[task.frames.back().function].name + "'";
  if (task.isInstance)
    text = instanceName(task) + ", in " + text + ",";
  const Instruction& at = program_.code[task.waitingAt];
  const uint64_t* r = task.registers.data() + task.frames.back().base;
  // No stream that somebody waits for is gone: freeing it wakes them.
  switch (at.opcode) {
  case Opcode::Pop:
  case Opcode::Peek: {
    const Stream& from = streams_[static_cast<uint32_t>(r[at.d])];
    return text + " waits for an element of stream " + streamName(from) + ", which has " + std::to_string(from.size()) +
           " and has not ended";
  }
  case Opcode::Push:
    for (uint32_t i = 0; i < at.d; ++i) {
      const Stream& to = streams_[static_cast<uint32_t>(r[program_.pool[at.e + i]])];
      if (to.size() >= to.capacity)
        return text + " waits for room in stream " + streamName(to) + ", which is full with " +
               std::to_string(to.capacity);
    }
    return text + " waits for room in a stream";
  case Opcode::Pause:
    return text + " waits in this loop for what another instance is to do";
  case Opcode::SpawnMany:
    return text + " waits for " + std::to_string(task.children) + " instances to end";
  default:
    return text + " waits for a run or a move to end";
  }
}

void Machine::deadlock() {
  std::vector<const Task*> waiting;
  for (const auto& [id, task] : tasks_)
    waiting.push_back(task.get());
  std::sort(waiting.begin(), waiting.end(), [](const Task* a, const Task* b) { return a->id < b->id; });
  Diagnostic diagnostic;
  diagnostic.kind = &kindOf(Fault::Deadlock);
  diagnostic.message = formatMessage(diagnostic.kind->format, {std::to_string(waiting.size())});
  constexpr size_t Shown = 16;
  for (size_t i = 0; i < waiting.size() && i < Shown; ++i)
    addPlace(diagnostic, program_.locations[waiting[i]->waitingAt], describe(*waiting[i]), diagnostics_.sources());
  failure_ = {diagnostic.kind->code, diagnostic.message};
  diagnostics_.add(std::move(diagnostic));
}

} // namespace strata::interpret
