// Kernels as the library holds them: states, what a kernel depends on, the processor that it holds, and the streams and
// blocks it has at hand. A kernel under way is a fibre of runtime/core.
//
// Invariants:
// 1. `status`, `undone`, `followers`, `execution` and the queues change under the program's lock only; `status` may be
//    read without it.
// 2. `run` counts executions. Whoever remembers a kernel beside its number finds out whether it still means that one.
// 3. A stream of which a kernel uses the quick path is in `ends`. Who requests something of the kernel sets `request`
//    first and closes the quick paths then; a kernel that opens one looks at `request` after that. So one of the two
//    sees the other. The quick path of a block is open to whoever comes by, so it goes with Program::requests.
#pragma once

#include "runtime/core/execution.h"
#include "runtime/core/spin_lock.h"
#include "runtime/svm/program.h"

namespace strata::svm {

enum class Request : uint32_t { None, Pause, End };

/// What a kernel does: what the user's code says, what moves data, or what the library or the user gave a name.
enum class KernelSort { User, Predefined, BlackBox };

struct RecordedKernel;

/// A stream or block that a kernel's data points to, or has in it, at an offset; -1: its scratch block.
struct Argument {
  int64_t offset;
  const void* object;
};

/// A kernel that has been given a stream or block, in one of its executions; the ends of a stream are known before it
/// begins where it moves data.
struct Use {
  KernelRecord* kernel;
  uint64_t run;
  bool pushes = false, pops = false;
};

struct KernelRecord {
  Program* program = nullptr;
  Kernel* kernel = nullptr;
  Place place; // of its initialisation
  KernelSort sort = KernelSort::User;
  ProcessorState* processor = nullptr;
  const Block* scratch = nullptr;
  void* data = nullptr;
  int dataSize = 0;
  ExtKernelWork work = nullptr;

  std::atomic<KERNEL_STATUS> status{KERNEL_UNSTARTED};
  std::atomic<Request> request{Request::None};
  bool isCounted = false; // among the program's requests
  uint64_t run = 0;
  int64_t undone = 0; // executions that it depends on
  std::vector<std::pair<KernelRecord*, uint64_t>> followers;
  runtime::Execution* execution = nullptr; // while its fibre lives
  uint64_t ranAt = 0, begunAt = 0;         // WAITING and RUNNING, on the program's clock
  std::shared_ptr<void> held;              // what the work function of a black-box kernel holds until it is over
  RecordedKernel* recorded = nullptr;      // of a program that is recorded

  // Of checked mode.
  Place runPlace;
  std::vector<char> dataWhenRun;
  std::vector<Argument> arguments;                // when it was first run
  std::vector<std::pair<int64_t, size_t>> inData; // streams and blocks in its data: offsets, in order, and bytes

  runtime::SpinLock endsLock;                       // guards the two lists
  std::vector<std::pair<StreamRecord*, bool>> ends; // true: it pushes
  std::vector<BlockRecord*> blocks;
};

/// A thread of control that waits for kernels; lives on its stack.
struct ControlWaiter {
  runtime::Execution* execution = nullptr;
  std::vector<KernelRecord*> kernels;
  std::atomic<bool> woken{false};
  Place place;
};

/// Destroys the thread_local variables of a kernel that is over (thread_local.cpp).
void releaseLocals(runtime::Execution& execution);

/// The kernel whose work function calls; null in control code.
KernelRecord* callingKernel();

/// The record of an initialised kernel; null when nothing has initialised it.
KernelRecord* recordOf(const Kernel* kernel);

std::string nameOf(const KernelRecord& record);

/// `name`: of a predefined or black-box kernel, as descriptions of machines list it.
void initialise(Kernel* kernel, KernelSort sort, int processor, Block* scratch, void* data, int dataSize,
                ExtKernelWork work, const Place& place, const char* name = nullptr);
void addDependence(KernelRecord& kernel, KernelRecord& on);
void run(KernelRecord& kernel);
void pause(KernelRecord& kernel);
void end(KernelRecord& kernel);
/// Returns once one of the kernels is paused, or all are finished; unstarted ones do not count.
void waitAny(Program& program, std::vector<KernelRecord*> kernels, const Place& place);

/// Does what has been requested of the calling kernel: pauses it here, or ends it and does not return. Every slow path
/// of an operation begins with it.
inline bool isRequested(const KernelRecord* kernel) {
  return kernel && kernel->request.load(std::memory_order_seq_cst) != Request::None;
}
void obey(KernelRecord& kernel);

/// A line for every kernel that is under way: what it waits for. REQUIRES: nothing runs.
void describeKernels(const Program& program, std::string& out);

} // namespace strata::svm
