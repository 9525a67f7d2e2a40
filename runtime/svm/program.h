// A program of streams and kernels on one machine: the machine's memories as real storage, its processors as places
// where kernels run, and the tables of what the program has initialised. The C interface (include/svm.h) works on the
// process's own program; several may exist beside each other.
//
// Any thread and any fibre, unless a comment says otherwise. `lock` guards the states of kernels and the queues of
// processors; whoever holds it neither parks nor calls out.
#pragma once

#include "base/machine/connections.h"
#include "base/machine/nodes.h"

#include "include/svm.h"
#include "runtime/svm/sharing.h"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace strata::svm {

struct KernelRecord;
struct StreamRecord;
struct BlockRecord;
struct ControlWaiter;
class Recorder;

/// Where a call stands in the user's source: the text of its arguments, and FILE:LINE. Null: not known.
struct Place {
  const char* text = nullptr;
  int which = 0; // the argument that names what is concerned
  std::string argument() const;
  std::string file() const;
  int line() const;
  /// "FILE:LINE", or nothing.
  std::string where() const;
};

/// A processor of the machine: who holds it and who waits for it, first come first served.
struct ProcessorState {
  machine::Node node;
  std::string name;
  const machine::Processor* description = nullptr;
  // Guarded by the program's lock.
  std::deque<std::pair<KernelRecord*, uint64_t>> waiting; // with the execution's number
  std::deque<std::pair<KernelRecord*, uint64_t>> waitingMoves;
  KernelRecord* holder = nullptr; // its one kernel that is RUNNING or PAUSED
  uint64_t moves = 0;             // predefined kernels that are RUNNING or PAUSED
};

/// The buffer of a FIFO, from the heap. Several streams may be mapped to it, one after the other.
struct FifoState {
  struct Free {
    void operator()(char* storage) const { std::free(storage); }
  };
  std::unique_ptr<char, Free> storage;
  StreamRecord* last = nullptr;               // the stream that was mapped to it last
  std::atomic<StreamRecord*> holder{nullptr}; // checked mode: the one that was pushed to last
};

class Program {
public:
  explicit Program(Machine machine);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// The process's own, made on first use of the machine that the environment, svmMachine or a header names.
  static Program& current();
  /// Null before the first use.
  static Program* currentIfAny();

  const Machine& machine() const { return machine_; }
  const machine::Connections& connections() const { return connections_; }
  bool checked() const { return checked_; }
  void setChecked(bool on) { checked_ = on; }
  /// Null unless the program is recorded (record.h).
  Recorder* recorder() const { return recorder_.get(); }
  /// REQUIRES: nothing has been initialised.
  void record(const std::string& path);

  /// What a value names; fails for the caller's place when the machine has no such node of that kind.
  machine::Node memory(int value, const Place& place) const;
  machine::Node fifo(int value, const Place& place) const;
  ProcessorState& processor(int value, const Place& place);
  std::string nameOf(const machine::Node& node) const { return machine::nodeName(machine_, node); }

  /// The storage of `bytes` bytes that begin at an address; fails for the caller's place when they do not lie within
  /// the memory. `what` names who wants them; names take time to find.
  using Name = std::function<std::string()>;
  char* storage(const machine::Node& memory, int address, uint64_t bytes, const Name& what, const Place& place);
  /// REQUIRES of both: `lock` is held.
  FifoState& fifoState(const machine::Node& fifo);
  /// Its buffer, made on first use; fails for the caller's place when the computer has no room for it.
  char* fifoStorage(const machine::Node& fifo, const Name& what, const Place& place);

  /// Whether a processor reaches a memory or FIFO: by links, or since it is local to it.
  bool reaches(const machine::Node& processor, const machine::Node& place) const;
  /// Whether a processor may push to a FIFO, or pop from it: a description names those who do.
  bool mayUse(const machine::Node& processor, const machine::Node& fifo, bool pushes) const;
  /// The control processor of the calling thread.
  machine::Node control() const;

  std::mutex lock;
  // Guarded by `lock`. Records live as long as the program.
  std::unordered_map<const void*, std::unique_ptr<StreamRecord>> streams;
  std::unordered_map<const void*, std::unique_ptr<BlockRecord>> blocks;
  std::unordered_map<const void*, std::unique_ptr<KernelRecord>> kernels;
  /// Of the stream or block at an address; 0 where none has been initialised.
  size_t objectBytes(const void* address) const {
    return streams.contains(address) ? sizeof(Stream) : blocks.contains(address) ? sizeof(Block) : 0;
  }
  std::vector<ControlWaiter*> waiters;
  // Of checked mode: who has which storage, and pairs of kernels of which the first has depended on the second.
  Owners owners;
  std::set<std::pair<const KernelRecord*, const KernelRecord*>> ordered;
  std::atomic<uint64_t> clock{0}; // counts runs and ends of kernels
  // Kernels that are RUNNING and have something to obey. Changes under `lock`; while there is one, no block opens its
  // quick path, through which any kernel may go.
  std::atomic<uint64_t> requests{0};

private:
  struct Mapped {
    char* base = nullptr; // what is mapped, and where the memory begins in it
    char* begin = nullptr;
    uint64_t bytes = 0;
  };
  char* memoryBase(const machine::Node& memory, const Place& place);

  const Machine machine_;
  const machine::Connections connections_;
  bool checked_ = false;
  std::unique_ptr<Recorder> recorder_;
  std::mutex storageLock_;
  std::map<machine::Node, Mapped> memories_;
  std::map<machine::Node, FifoState> fifos_;
  std::map<machine::Node, ProcessorState> processors_;
};

/// Ends the program with a message that stands at the place of a call. `code` begins with "svm-".
[[noreturn]] void failAt(const Place& place, const char* code, const std::string& message,
                         const std::string& help = "");

/// Whether this process has been made by fork, which copies none of the threads that carry kernels out.
extern std::atomic<bool> isChild;
inline bool inChild() {
  return isChild.load(std::memory_order_relaxed);
}
/// Ends it.
[[noreturn]] void failInChild(const char* operation, const Place& place);
inline void needOwnProcess(const char* operation, const Place& place) {
  if (inChild())
    failInChild(operation, place);
}

/// Prints a warning that stands there; the program goes on.
void warnAt(const Place& place, const char* code, const std::string& message, const std::string& help);

/// Fails for the place when there is no variable to initialise.
inline void needVariable(const void* variable, const char* what, const Place& place) {
  if (!variable)
    failAt(place, "svm-null", std::string(what) + " is initialised at NULL", "pass the address of a static variable");
}

/// Bytes of one instance of a memory that addresses reach.
uint64_t storageBytes(const machine::Memory& memory);
/// What svmControl does; the value is a processor's.
void setControlOfThread(int value);

/// What marks a Stream, Block or Kernel as initialised: a copy of one, or memory that held something else, has another
/// mark.
inline uint64_t markOf(const void* object) {
  return reinterpret_cast<uintptr_t>(object) * 0x9e3779b97f4a7c15u ^ 0x5374726174615356u;
}

/// The name of the variable at an address: the one that svmName gave it, else the program's symbol, with an index in
/// arrays of elements of `bytes` bytes, else the text given, without its '&'. The first call reads the program's table
/// of symbols, so names are for messages and recordings.
std::string variableName(const void* object, uint64_t bytes, const std::string& text);
/// Gives what is at an address a name; an empty one takes it away.
void setVariableName(const void* object, const std::string& name);
/// Whether an address is that of a static variable: one at an address of the stack or the heap may be another variable
/// the next time.
bool isStatic(const void* object);

/// Whether a variable of which the compiler sees what `size` says (SVM_SIZE_) may hold an element, or some of its
/// parts.
inline bool fits(uint64_t size, uint64_t elementBytes) {
  const uint64_t number = size >> 56;
  return SVM_BYTES_OF_(size) >= elementBytes && (number == 0 || (elementBytes & (number - 1)) == 0);
}

/// True when the library was linked in its checked form (-lstrata-svm-checked).
extern const bool linkedChecked;

} // namespace strata::svm
