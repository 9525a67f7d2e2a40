// The machine that executes a Program: storages, streams and tasks. Tasks have explicit stacks, so that neither deep
// recursion nor a kernel that waits for a stream needs a stack or a thread of its own. They take turns in the order in
// which they were started. Owns everything but the caller's memory.
//
// Invariants:
// 1. A handle whose generation is not its object's is dead.
// 2. A task that is not finished is in `tasks_`, and in `ready_` exactly when it can go on.
// 3. Every task in a list of waiters is blocked at the instruction that it waits in.
#pragma once

#include "compiler/interpret/failures.h"
#include "compiler/interpret/instance_order.h"
#include "compiler/interpret/iterations.h"
#include "compiler/interpret/program.h"
#include "compiler/interpret/rounding.h"
#include "compiler/interpret/zeroed_array.h"

#include <deque>
#include <optional>
#include <set>
#include <unordered_map>

namespace strata::interpret {

/// An access of an element: by which instance, at which point of its order (races.cpp), by which instruction.
struct Access {
  uint32_t instance = 0; ///< 0: nobody's
  uint32_t point = 0;
  uint32_t pc = 0;
};
struct ElementAccesses {
  Access write;    ///< the last one
  Access reads[2]; ///< of two instances that are in no order, so that whoever writes finds another's
};

/// A block's memory.
struct Storage {
  char* data = nullptr;
  int64_t elements = 0;
  uint64_t elementBytes = 1;
  uint32_t generation = 1;
  bool alive = false;
  bool owned = false;
  bool heap = false;
  bool found = false;                    ///< memory outside, which others may be a part of
  uint64_t maker = 0;                    ///< the instance that made it, which alone uses it; 0: none
  ZeroedArray<uint8_t> written;          ///< by element, a Written; empty: everything counts as written
  ZeroedArray<ElementAccesses> accesses; ///< by element; empty: nobody asks
  ZeroedArray<ElementHistory> history;   ///< by element; empty: nobody has asked yet
  std::vector<Slack> slacks;             ///< by four bytes; empty: nothing has any
  /// How many branches its task was in when it was made: accesses from no deeper than that cannot overlap.
  uint32_t depth = 0;
  llvm::SmallVector<int64_t, 3> extents, strides; ///< of the whole, for messages
  uint32_t label = 0;
  bool racesReported = false, copiesReported = false;
};

/// Whether an element has a value. Lost: it had one, and a copy of something without one took its place.
enum Written : uint8_t { NotWritten = 0, HasValue = 1, Lost = 2 };

/// A loop or the operands of a call that a task is in.
struct Branch {
  uint32_t group = 0;
  Iterations::Kind kind = Iterations::Kind::Sequential;
  uint32_t name = 0;
  uint32_t frame = 0;
  bool isAt = false;                                   ///< in an iteration
  int64_t value = 0;                                   ///< of the loop's variable
  uint32_t node = 0;                                   ///< of the iteration, made when somebody asks
  std::vector<std::pair<uint32_t, uint32_t>> operands; ///< number and node
};

using TaskId = uint64_t;

struct Stream {
  std::deque<uint64_t> items;
  uint64_t capacity = 0; ///< elements
  uint32_t elementSlots = 1;
  uint32_t generation = 1;
  bool alive = false;
  bool ended = false;
  int64_t name = 0;
  std::vector<TaskId> waiters;
  uint64_t size() const { return items.size() / elementSlots; }
};

/// A call that is active.
struct Frame {
  uint32_t function = 0;
  uint32_t returnTo = 0;
  uint32_t base = 0; ///< of its slots in the task's registers
  Slot results = 0;  ///< where in the caller's frame they go
  uint32_t regionMark = 0;
  uint32_t automaticMark = 0;
};

/// One thread of control: the call itself, a run or move with a token, or an instance of a concurrent loop.
struct Task {
  TaskId id = 0;
  uint32_t pc = 0;
  uint32_t waitingAt = 0; ///< the instruction, while blocked
  std::vector<uint64_t> registers;
  std::vector<Frame> frames;
  /// What ends with a region or a function, by kind. Streams carry StreamMark.
  std::vector<uint64_t> lifetimes[2];
  std::vector<TaskId> waiters; ///< for the end of this task
  TaskId parent = 0;           ///< of an instance
  bool isInstance = false;
  uint64_t number = 0;          ///< of an instance
  uint64_t children = 0;        ///< instances that have not ended
  std::vector<Slack> slacks;    ///< two for each register, as far as there are any
  uint32_t instance = 0;        ///< of the outermost parallel loop that this belongs to; 0: none
  std::vector<Branch> branches; ///< outermost first
  /// The machine's count of changes at the last pause, and the task's state at an earlier one. A task that comes back
  /// to that state goes in circles until something changes.
  uint64_t changesAtPause = ~uint64_t(0);
  std::vector<uint64_t> stateAtPause;
  uint64_t pausesSince = 0, pausesLimit = 1;
  bool goesInCircles = false;
  uint32_t group = 0, nextGroup = 0; ///< of instances that wait for each other: its own, and that of loops it begins
  uint64_t ownMemory = 0;            ///< a sum over what it has stored in blocks of its own
  bool restHasValue = true;          ///< of what it last loaded as a remainder
};

/// The instances of a concurrent loop, and those of them that wait at a barrier.
struct BarrierGroup {
  uint64_t instances = 0;
  std::vector<TaskId> waiting;
};

class Machine {
public:
  Machine(const Program& program, DiagnosticEngine& diagnostics, const Options& options)
      : program_(program), diagnostics_(diagnostics), options_(options) {}
  ~Machine() { reset(); }

  bool call(unsigned function, const std::vector<Argument>& arguments, std::vector<uint64_t>* results);
  const Statistics& statistics() const { return statistics_; }
  const Failure& failure() const { return failure_; }
  std::string output() const;
  const std::vector<bool>& hasValue(size_t argument) const { return hasValue_[argument]; }
  bool fail(Fault fault, mlir::Location where, const std::vector<std::string>& arguments);
  std::vector<double> distances(size_t argument) const;
  std::optional<mlir::Location> decidedAt() const {
    return decidedAt_ ? std::optional(program_.locations[*decidedAt_]) : std::nullopt;
  }
  bool isDecidedByNotFinite() const { return decidedByNotFinite_; }
  std::optional<mlir::Location> notFiniteAt() const {
    return notFiniteAt_ ? std::optional(program_.locations[*notFiniteAt_]) : std::nullopt;
  }

private:
  enum class Outcome { TimeIsUp, Blocked, Finished, Failed };
  using Registers = uint64_t*;

  // execute.cpp
  Outcome execute(Task& task);

  // machine.cpp: tasks
  bool prepare(Task& task, const Function& function, const std::vector<Argument>& arguments);
  std::string argumentProblem(const Parameter& parameter, const Argument& argument) const;
  bool schedule();
  /// A task that begins at `pc` with a copy of the frame; null and a fault at `at` when there are too many.
  Task* spawn(Task& from, uint32_t pc, uint32_t at);
  bool enter(Task& task, const Instruction& call, uint32_t returnTo);
  void leave(Task& task, const Instruction& ret);
  void finish(Task& task);
  void wake(std::vector<TaskId>& waiters);
  void release(Task& task, unsigned kind, size_t mark);
  void deadlock();
  std::string describe(const Task& task) const;
  void reset();
  /// How many instances a concurrent loop has; nothing, and a fault, where there are more than there may be.
  std::optional<uint64_t> instancesOf(const Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  /// A fault of the instruction at `pc`; always false.
  bool failAt(const Task& task, uint32_t pc, Fault fault, const std::vector<std::string>& arguments = {},
              const std::string& help = "");
  bool failCheck(const Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  void report(const Task& task, uint32_t pc, Diagnostic diagnostic, std::string code);

  // memory.cpp: blocks
  Storage* storage(uint64_t handle);
  uint64_t newStorage();
  void freeStorage(uint64_t handle);
  bool make(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  bool memoryAt(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  bool compareStretches(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  bool makeGlobal(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  bool dealloc(Task& task, uint32_t pc, uint64_t handle);
  void view(uint32_t pc, const Instruction& instruction, Registers r);
  bool move(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  /// The addresses from the first to behind the last element of a block.
  struct Stretch {
    __int128 begin, end;
  };
  /// Nothing for a block without elements, or one that is gone.
  std::optional<Stretch> stretchOf(const uint64_t* block, unsigned rank, uint64_t elementBytes);
  bool areApart(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  /// Warns where another copy than the one whose element stays has another value in it. The view's first dimension
  /// numbers the copies.
  void compareCopies(uint32_t pc, const uint64_t* view, unsigned rank, Storage& block, uint64_t element);
  /// Explains why an access is wrong.
  bool failAccess(const Task& task, uint32_t pc, Slot block, unsigned rank, const uint64_t* indices, Registers r);
  bool failHandle(const Task& task, uint32_t pc, uint64_t handle);
  bool failUndefined(const Task& task, uint32_t pc, const Instruction& instruction, Registers r, const Storage& block,
                     uint64_t element);
  bool failUndefined(const Task& task, uint32_t pc, const std::string& what, const Storage& block, uint64_t element);
  bool runExternal(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  /// Goes on with the kernel's body when the offer is declined: `next` is moved there.
  bool offer(Task& task, uint32_t pc, const Instruction& instruction, Registers r, uint32_t& next);
  bool collectArguments(Task& task, uint32_t pc, const ExternalCall& external, Registers r,
                        std::vector<Argument>& arguments);
  /// The least and greatest element of a block; false when it has none.
  static bool range(const uint64_t* block, unsigned rank, __int128& least, __int128& greatest);
  template <unsigned Rank>
  bool load(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  template <unsigned Rank>
  bool store(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  template <unsigned Rank>
  Storage* address(Task& task, uint32_t pc, const Instruction& instruction, Registers r, uint64_t& element);

  // gather.cpp
  bool gather(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  /// Whether all elements of a block are there; a fault, where not.
  bool isWithin(Task& task, uint32_t pc, const uint64_t* block, unsigned rank);
  bool copyPart(Task& task, uint32_t pc, const uint64_t* source, const uint64_t* destination, unsigned rank,
                size_t size);

  /// Leaves the turn to others. All that pause go on when nothing else can, as long as something changes.
  void pause(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  Outcome arrive(Task& task);
  bool change(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  bool resumePaused();
  void print(const Instruction& instruction, Registers r);

  // overlaps.cpp
  /// One access or move, and what has been found out about its order with others.
  struct Record {
    uint32_t node = 0, access = 0;
    bool once = false; ///< its operand may write an element once only
    std::array<std::pair<uint32_t, bool>, 8> memo{};
  };
  /// Whether an access has to be recorded.
  static bool isWatched(const Task& task, const Storage& block) { return task.branches.size() > block.depth; }
  /// The node of what the task does now, on behalf of an operand (from 1) or of none.
  uint32_t nodeOf(Task& task, uint32_t operand);
  void collectIterations();
  bool beginRecord(Task& task, uint32_t pc, Storage& block, Record& record);
  bool areParallel(Record& record, uint32_t access) const;
  bool recordWrite(const Task& task, uint32_t pc, Storage& block, uint64_t element, Record& record);
  bool recordRead(const Task& task, uint32_t pc, Storage& block, uint64_t element, Record& record);
  /// REQUIRES: isWatched(task, block). False (reported) when somebody else's access has no order with this one.
  bool recordElement(Task& task, uint32_t pc, Storage& block, uint64_t element, bool writes);
  bool recordView(Task& task, uint32_t pc, Storage& block, const uint64_t* view, unsigned rank, bool writes);
  std::string arrayName(const Storage& block) const;
  std::string elementText(const Storage& block, uint64_t element) const;
  std::string iterationText(uint32_t node) const;
  std::string blockText(uint32_t pc, uint32_t node) const;
  bool reportOverlap(const Task& task, uint32_t pc, const Storage& block, uint64_t element, uint32_t access,
                     uint32_t node, bool writes, bool otherWrites);
  /// Which two places of the indices that a store goes through hold the same; empty when that is not known.
  std::string repeatedPositions(const Task& task, uint32_t pc);
  bool reportRepeated(const Task& task, uint32_t pc, const Storage& block, uint64_t element);
  /// Whether a move is a copy of the source language, whose two sides have names.
  bool isNamedCopy(uint32_t pc) const;
  bool failOverlap(const Task& task, uint32_t pc, const Storage& block, uint64_t element);

  // track_rounding.cpp
  void trackRounding(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  void trackNumbers(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  void trackSelect(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  void trackFrame(Task& task, const Instruction& instruction);
  /// That of a register, and of those behind it.
  Slack* slackOf(Task& task, Registers at);
  bool makeSlacks(Storage& block);
  void loadSlack(Task& task, const Instruction& instruction, Registers r, const Storage& block, uint64_t element);
  void storeSlack(Task& task, uint32_t pc, const Instruction& instruction, Registers r, Storage& block,
                  uint64_t element);
  void moveSlack(uint32_t pc, const Storage& from, int64_t source, Storage& to, int64_t target);
  void beginAccumulation(uint32_t pc, const Instruction& instruction, Registers r);
  void endAccumulation(const Instruction& instruction, Registers r);
  void keepSlacks();
  /// Another order of a reduction may go on differently from here: since numbers are rounded, or since one of them is a
  /// NaN or an infinity.
  void orderDecides(uint32_t pc, bool byNotFinite = false);

  // arithmetic of the program's own signed integers
  bool failOverflow(const Task& task, uint32_t pc, const Instruction& instruction, Registers r);

  // combiners.cpp
  void fill(const Instruction& instruction, Registers r);
  bool sameBits(const Instruction& instruction, Registers r);
  /// False (reported) when what two orders of combining gave is not the same.
  bool sameOrder(Task& task, uint32_t pc, const Instruction& instruction, Registers r);

  // races.cpp
  void beginParallel(Task& task, uint64_t& outer);
  void beginInstance(Task& task, uint64_t number, uint64_t outer);
  void fence(Task& task);
  void setNumber(Task& task, uint64_t number);
  /// Records an access of an element of a distributed block; false (reported) when another instance's is in no order
  /// with it. `value`: what is written, else null.
  bool recordAccess(Task& task, uint32_t pc, const Instruction& instruction, Registers r, Storage& block,
                    uint64_t element, const void* value);
  bool reportRace(const Task& task, uint32_t pc, const Instruction& instruction, Registers r, Storage& block,
                  const Access& other, bool writes, bool otherWrites, bool sameValue);
  std::string elementName(const Instruction& instruction, Registers r) const;
  std::string instanceName(const Task& task) const;

  // streams.cpp; Failed, Blocked or Finished (the operation is done)
  Stream* stream(uint64_t handle);
  void freeStream(uint64_t handle);
  Outcome makeStream(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  Outcome push(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  Outcome take(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  Outcome end(Task& task, uint32_t pc, const Instruction& instruction, Registers r);
  std::string streamName(const Stream& stream) const;

  const Program& program_;
  DiagnosticEngine& diagnostics_;
  const Options& options_;
  Statistics statistics_;
  Failure failure_;

  std::vector<Storage> storages_;
  std::vector<uint32_t> freeStorages_;
  std::vector<Stream> streams_;
  std::vector<BarrierGroup> groups_{1}; ///< the first is of no loop
  std::vector<uint32_t> freeStreams_;
  std::vector<uint64_t> globals_; ///< handles; 0: not made
  std::unordered_map<TaskId, std::unique_ptr<Task>> tasks_;
  std::set<TaskId> ready_;
  std::vector<TaskId> paused_;
  uint64_t changes_ = 0;         ///< of anything that an instance can wait for
  uint64_t changesAtResume_ = 0; ///< when those that pause were resumed
  bool somethingChanged_ = true; ///< since those that pause were resumed
  struct Line {
    int64_t order;
    std::string text;
  };
  std::vector<Line> lines_;
  InstanceOrder order_;
  Iterations iterations_;
  TaskId nextTask_ = 1;
  uint64_t bytes_ = 0;
  std::vector<uint64_t> results_;
  std::vector<uint64_t> arguments_; ///< handles of the call's blocks; 0: no block
  std::vector<std::vector<bool>> hasValue_;
  bool tracksRounding_ = false; ///< a reduction of numbers was reached, and somebody asks
  std::optional<uint32_t> decidedAt_;
  bool decidedByNotFinite_ = false;
  std::optional<uint32_t> notFiniteAt_;    ///< where a NaN was compared, behind the beginning of a reduction
  std::vector<std::vector<Slack>> slacks_; ///< of the last call's blocks
};

/// Goes through the elements of a block in C order: next() moves on to the next row (the last dimension stays at 0).
struct Rows {
  const uint64_t* block;
  unsigned rank;
  std::vector<int64_t> index;
  int64_t offset;
  Rows(const uint64_t* block, unsigned rank)
      : block(block), rank(rank), index(rank), offset(static_cast<int64_t>(block[1])) {}
  int64_t extent(unsigned i) const { return static_cast<int64_t>(block[2 + i]); }
  int64_t stride(unsigned i) const { return static_cast<int64_t>(block[2 + rank + i]); }
  int64_t rowExtent() const { return rank ? extent(rank - 1) : 1; }
  int64_t rowStride() const { return rank ? stride(rank - 1) : 1; }
  bool next() {
    for (unsigned i = rank < 1 ? 0 : rank - 1; i-- > 0;) {
      offset += stride(i);
      if (++index[i] < extent(i))
        return true;
      offset -= stride(i) * extent(i);
      index[i] = 0;
    }
    return false;
  }
};

/// Marks a stream's handle in a task's lifetimes (generations of streams stay below 2^31).
constexpr uint64_t StreamMark = uint64_t(1) << 63;
/// The handle of a view that reaches beyond its source: this, and the View instruction in the high half.
constexpr uint32_t BadViewIndex = ~uint32_t(0);

inline uint64_t makeHandle(uint32_t index, uint32_t generation) {
  return (static_cast<uint64_t>(generation) << 32) | index;
}

inline Storage* Machine::storage(uint64_t handle) {
  auto index = static_cast<uint32_t>(handle);
  if (index >= storages_.size()) [[unlikely]]
    return nullptr;
  Storage& found = storages_[index];
  return found.generation == static_cast<uint32_t>(handle >> 32) && found.alive ? &found : nullptr;
}

template <unsigned Rank>
Storage* Machine::address(Task& task, uint32_t pc, const Instruction& instruction, Registers r, uint64_t& element) {
  const uint64_t* block = r + instruction.b;
  uint64_t at = block[1];
  bool inside = true;
  if constexpr (Rank == 3) {
    const uint32_t* indices = program_.pool.data() + instruction.e;
    const unsigned rank = instruction.d;
    for (unsigned i = 0; i < rank; ++i) {
      uint64_t index = r[indices[i]];
      inside &= index < block[2 + i];
      at += index * block[2 + rank + i];
    }
  } else {
    if constexpr (Rank > 0) {
      uint64_t index = r[instruction.c];
      inside &= index < block[2];
      at += index * block[2 + Rank];
    }
    if constexpr (Rank > 1) {
      uint64_t index = r[instruction.d];
      inside &= index < block[3];
      at += index * block[3 + Rank];
    }
  }
  Storage* found = storage(block[0]);
  if (found && inside && at < static_cast<uint64_t>(found->elements)) [[likely]] {
    element = at;
    return found;
  }
  if constexpr (Rank == 3) {
    std::vector<uint64_t> indices;
    for (unsigned i = 0; i < instruction.d; ++i)
      indices.push_back(r[program_.pool[instruction.e + i]]);
    failAccess(task, pc, instruction.b, instruction.d, indices.data(), r);
  } else {
    uint64_t indices[2] = {r[instruction.c], r[instruction.d]};
    failAccess(task, pc, instruction.b, Rank, indices, r);
  }
  return nullptr;
}

template <unsigned Rank>
bool Machine::load(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  uint64_t element = 0;
  Storage* from = address<Rank>(task, pc, instruction, r, element);
  if (!from)
    return false;
  const bool isUse = !(instruction.small & LoadCompares);
  if (!from->written.empty() && from->written[element] != HasValue && isUse && !(instruction.small & LoadsRest))
    return failUndefined(task, pc, instruction, r, *from, element);
  if (instruction.small & LoadsRest)
    task.restHasValue = from->written.empty() || from->written[element] == HasValue;
  if (instruction.small & LoadKeeps)
    compareCopies(pc, r + instruction.b, Rank < 3 ? Rank : instruction.d, *from, element);
  if (!from->accesses.empty() && isUse && !recordAccess(task, pc, instruction, r, *from, element, nullptr))
    return false;
  if (isUse && isWatched(task, *from) && !recordElement(task, pc, *from, element, false))
    return false;
  if (tracksRounding_) [[unlikely]]
    loadSlack(task, instruction, r, *from, element);
  const char* data = from->data + element * static_cast<uint64_t>(instruction.imm);
  switch (instruction.imm) {
  case 4: {
    uint32_t value;
    std::memcpy(&value, data, 4);
    r[instruction.a] = value;
    return true;
  }
  case 8:
    std::memcpy(r + instruction.a, data, 8);
    return true;
  case 1:
    r[instruction.a] = static_cast<uint8_t>(*data);
    return true;
  case 2: {
    uint16_t value;
    std::memcpy(&value, data, 2);
    r[instruction.a] = value;
    return true;
  }
  default: // a record: its last slot is padded with zeros
    if (instruction.imm == 0) {
      r[instruction.a] = 0;
      return true;
    }
    r[instruction.a + (instruction.imm - 1) / 8] = 0;
    std::memcpy(r + instruction.a, data, static_cast<size_t>(instruction.imm));
    return true;
  }
}

/// A hash of an element and its value.
inline uint64_t contentOf(const Storage* block, uint64_t element, const void* value, size_t bytes) {
  auto mix = [](uint64_t a, uint64_t b) { return (a ^ b ^ (a >> 29)) * 0x9e3779b97f4a7c15u; };
  uint64_t sum = mix(reinterpret_cast<uint64_t>(block), element);
  for (size_t i = 0; i < bytes; ++i)
    sum = mix(sum, static_cast<const unsigned char*>(value)[i]);
  return sum;
}

template <unsigned Rank>
bool Machine::store(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  uint64_t element = 0;
  Storage* to = address<Rank>(task, pc, instruction, r, element);
  if (!to)
    return false;
  if (!to->accesses.empty() && !recordAccess(task, pc, instruction, r, *to, element, r + instruction.a))
    return false;
  if (isWatched(task, *to) && !recordElement(task, pc, *to, element, true))
    return false;
  if (!to->written.empty()) {
    uint8_t& now = to->written[element];
    if (!(instruction.small & StoresRest) || task.restHasValue)
      now = HasValue;
    else if (now == HasValue)
      now = Lost;
  }
  if (tracksRounding_) [[unlikely]]
    storeSlack(task, pc, instruction, r, *to, element);
  char* data = to->data + element * static_cast<uint64_t>(instruction.imm);
  if (std::memcmp(data, r + instruction.a, static_cast<size_t>(instruction.imm)) != 0) {
    if (to->maker == 0 || to->maker != task.id)
      ++changes_;
    else
      task.ownMemory += contentOf(to, element, r + instruction.a, static_cast<size_t>(instruction.imm)) -
                        contentOf(to, element, data, static_cast<size_t>(instruction.imm));
  }
  switch (instruction.imm) { // bytes in memory are little-endian, as slots are
  case 4:
    std::memcpy(data, r + instruction.a, 4);
    return true;
  case 8:
    std::memcpy(data, r + instruction.a, 8);
    return true;
  default:
    std::memcpy(data, r + instruction.a, static_cast<size_t>(instruction.imm));
    return true;
  }
}

} // namespace strata::interpret
