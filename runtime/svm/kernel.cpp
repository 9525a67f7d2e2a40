// Implements the states of kernels: run, pause, end, wait, dependences, and who holds a processor.
#include "runtime/svm/kernel.h"

#include "runtime/core/scheduler.h"
#include "runtime/svm/block.h"
#include "runtime/svm/check.h"
#include "runtime/svm/record.h"
#include "runtime/svm/stream.h"

#include <algorithm>
#include <tuple>

namespace strata::svm {

namespace {

using Starts = std::vector<KernelRecord*>;

/// REQUIRES: the program's lock is held.
void setStatus(KernelRecord& kernel, KERNEL_STATUS status) {
  kernel.status.store(status);
  if (Recorder* recorder = kernel.program->recorder())
    recorder->changed(kernel, status);
}

/// REQUIRES: the program's lock is held.
void setRequest(KernelRecord& kernel, Request what) {
  kernel.request.store(what, std::memory_order_seq_cst);
  // One that has not begun obeys before it does anything.
  const bool counts = what != Request::None && kernel.status.load() == KERNEL_RUNNING;
  if (std::exchange(kernel.isCounted, counts) != counts)
    kernel.program->requests.fetch_add(counts ? 1 : ~uint64_t(0), std::memory_order_seq_cst);
}

bool isOver(KERNEL_STATUS status) {
  return status == KERNEL_FINISHED || status == KERNEL_UNSTARTED;
}

/// Whether a wait for these kernels is over.
bool isSettled(const std::vector<KernelRecord*>& kernels) {
  bool all = true;
  for (const KernelRecord* kernel : kernels) {
    const KERNEL_STATUS status = kernel->status.load();
    if (status == KERNEL_PAUSED)
      return true;
    all &= isOver(status);
  }
  return all;
}

/// REQUIRES (here and below, where a program is given): its lock is held.
void wakeWaiters(Program& program) {
  std::erase_if(program.waiters, [](ControlWaiter* waiter) {
    if (!isSettled(waiter->kernels))
      return false;
    runtime::Execution* execution = waiter->execution;
    waiter->woken.store(true, std::memory_order_release); // after which it may be gone
    runtime::unpark(execution);
    return true;
  });
}

bool movesBeside(const KernelRecord& kernel) {
  return kernel.sort == KernelSort::Predefined && kernel.processor->description->moves > 0;
}

/// Gives a processor's free places to those who wait for it, and notes whom to start.
void dispatch(ProcessorState& processor, Starts& starts) {
  const auto take = [&](auto& queue) -> KernelRecord* {
    while (!queue.empty()) {
      const auto [kernel, run] = queue.front();
      queue.pop_front();
      if (kernel->run == run && kernel->status.load() == KERNEL_WAITING)
        return kernel;
    }
    return nullptr;
  };
  const auto begin = [&](KernelRecord* kernel) {
    setStatus(*kernel, KERNEL_RUNNING);
    kernel->begunAt = ++kernel->program->clock;
    starts.push_back(kernel);
  };
  if (!processor.holder)
    if (KernelRecord* kernel = take(processor.waiting))
      begin(processor.holder = kernel);
  while (processor.moves < processor.description->moves) {
    KernelRecord* kernel = take(processor.waitingMoves);
    if (!kernel)
      break;
    ++processor.moves;
    begin(kernel);
  }
}

/// What the kernel depends on is over.
void makeReady(KernelRecord& kernel, Starts& starts) {
  ProcessorState& processor = *kernel.processor;
  (movesBeside(kernel) ? processor.waitingMoves : processor.waiting).emplace_back(&kernel, kernel.run);
  dispatch(processor, starts);
}

void setFinished(KernelRecord& kernel, Starts& starts) {
  const KERNEL_STATUS before = kernel.status.load();
  setStatus(kernel, KERNEL_FINISHED);
  setRequest(kernel, Request::None);
  kernel.execution = nullptr;
  if (before == KERNEL_RUNNING || before == KERNEL_PAUSED) {
    if (movesBeside(kernel))
      --kernel.processor->moves;
    else
      kernel.processor->holder = nullptr;
    dispatch(*kernel.processor, starts);
  }
  for (const auto& [follower, run] : std::exchange(kernel.followers, {}))
    if (follower->run == run && --follower->undone == 0 && follower->status.load() == KERNEL_WAITING)
      makeReady(*follower, starts);
  wakeWaiters(*kernel.program);
}

/// Closes the quick paths of the streams that the kernel has at hand; leaves these, and blocks, if it is over.
void closeEnds(KernelRecord& kernel, bool leaves) {
  std::vector<BlockRecord*> blocks;
  {
    std::lock_guard guard(kernel.endsLock);
    for (const auto& [stream, pushes] : kernel.ends) {
      close(*stream, pushes);
      if (!leaves)
        continue;
      if (pushes)
        part(*stream);
      recordLeave(*stream, kernel, pushes);
      StreamEnd& end = pushes ? stream->pusher : stream->popper;
      end.limit = 0;
      end.last = &kernel;
      end.lastOver = ++kernel.program->clock;
      end.kernel.store(nullptr, std::memory_order_release);
    }
    if (!leaves)
      return;
    kernel.ends.clear();
    blocks = std::exchange(kernel.blocks, {});
  }
  for (BlockRecord* block : blocks)
    leave(*block, kernel);
}

void runKernel(void* argument);

/// REQUIRES: the program's lock is not held.
void startAll(const Starts& starts) {
  for (KernelRecord* kernel : starts) {
    runtime::Role role;
    role.instance = kernel->processor->node.instance;
    runtime::start(runKernel, kernel, role);
  }
}

/// From its own fibre, which touches the kernel no more.
void finish(KernelRecord& kernel) {
  releaseLocals(*runtime::current());
  closeEnds(kernel, true);
  kernel.held.reset();
  Starts starts;
  {
    std::lock_guard guard(kernel.program->lock);
    setFinished(kernel, starts);
  }
  startAll(starts);
}

void runKernel(void* argument) {
  auto& kernel = *static_cast<KernelRecord*>(argument);
  {
    std::lock_guard guard(kernel.program->lock);
    kernel.execution = runtime::current();
  }
  if (kernel.program->checked())
    checkData(kernel);
  if (isRequested(&kernel))
    obey(kernel);
  kernel.work(kernel.data);
  finish(kernel);
}

void describePaused(const void* object, std::string& out) {
  out += "kernelRun or kernelEnd: it is PAUSED";
}

void pauseHere(KernelRecord& kernel) {
  {
    std::lock_guard guard(kernel.endsLock);
    for (const auto& [stream, pushes] : kernel.ends)
      if (pushes)
        part(*stream);
  }
  {
    std::lock_guard guard(kernel.program->lock);
    if (kernel.request.load() != Request::Pause)
      return;
    setRequest(kernel, Request::None);
    setStatus(kernel, KERNEL_PAUSED);
    wakeWaiters(*kernel.program);
  }
  while (kernel.status.load() == KERNEL_PAUSED)
    runtime::park({describePaused, &kernel, "paused"});
}

void describeControl(const void* object, std::string& out) {
  const auto& waiter = *static_cast<const ControlWaiter*>(object);
  out += "kernel";
  const char* between = " '";
  for (const KernelRecord* kernel : waiter.kernels)
    if (!isOver(kernel->status.load())) {
      out += between + nameOf(*kernel) + "'";
      between = ", '";
    }
}

/// Sets the request of a kernel and sees to it that it notices. REQUIRES: the program's lock is held.
void request(KernelRecord& kernel, Request what) {
  setRequest(kernel, what);
  closeEnds(kernel, false);
  for (const auto& [address, block] : kernel.program->blocks)
    close(*block);
  if (kernel.execution)
    runtime::unpark(kernel.execution);
}

} // namespace

KernelRecord* callingKernel() {
  const runtime::Execution* me = runtime::current();
  return me->run == runKernel && !me->native ? static_cast<KernelRecord*>(me->argument) : nullptr;
}

KernelRecord* recordOf(const Kernel* kernel) {
  return kernel && kernel->record_ && kernel->mark_ == markOf(kernel) ? static_cast<KernelRecord*>(kernel->record_)
                                                                      : nullptr;
}

std::string nameOf(const KernelRecord& record) {
  // The size of the structure that begins with the kernel: known where the kernel's data is that structure.
  uint64_t bytes = record.sort == KernelSort::Predefined ? sizeof(Move) : 0;
  if (record.data == record.kernel && record.dataSize > 0)
    bytes = static_cast<uint64_t>(record.dataSize);
  return variableName(record.kernel, bytes, record.place.argument());
}

void initialise(Kernel* kernel, KernelSort sort, int location, Block* scratch, void* data, int dataSize,
                ExtKernelWork work, const Place& place, const char* name) {
  needOwnProcess("a kernel is initialised", place);
  Program& program = Program::current();
  needVariable(kernel, "a kernel", place);
  if (!work)
    failAt(place, "svm-null", "kernel '" + variableName(kernel, 0, place.argument()) + "' has no work function",
           "pass kernelInit a function that does its work");
  ProcessorState& processor = program.processor(location, place);
  checkSupported(program, sort, name, processor, place);
  if (program.checked())
    checkDataSize(kernel, data, dataSize, place);
  std::lock_guard guard(program.lock);
  std::unique_ptr<KernelRecord>& owned = program.kernels[kernel];
  if (program.checked())
    checkKernel(program, owned.get(), sort, processor, place);
  if (!owned)
    owned = std::make_unique<KernelRecord>();
  KernelRecord& record = *owned;
  if (!isOver(record.status.load()))
    failAt(place, "svm-a1", "kernel '" + nameOf(record) + "' is initialised while it is under way (rule A1)",
           "wait until it is FINISHED, with kernelEnd and kernelWait");
  record.program = &program;
  record.kernel = kernel;
  record.place = place;
  record.sort = sort;
  record.processor = &processor;
  record.scratch = scratch;
  record.data = data;
  record.dataSize = dataSize;
  record.work = work;
  record.undone = 0;
  ++record.run;
  if (Recorder* recorder = program.recorder())
    recorder->initialised(record, name ? name : "user", movesBeside(record));
  setStatus(record, KERNEL_UNSTARTED);
  kernel->record_ = &record;
  kernel->mark_ = markOf(kernel);
}

void addDependence(KernelRecord& kernel, KernelRecord& on) {
  std::lock_guard guard(kernel.program->lock);
  if (Recorder* recorder = kernel.program->recorder())
    recorder->depends(kernel, on);
  if (kernel.program->checked())
    kernel.program->ordered.emplace(&kernel, &on);
  if (kernel.status.load() != KERNEL_UNSTARTED || isOver(on.status.load()))
    return;
  on.followers.emplace_back(&kernel, kernel.run);
  ++kernel.undone;
}

void run(KernelRecord& kernel) {
  Starts starts;
  {
    std::lock_guard guard(kernel.program->lock);
    switch (kernel.status.load()) {
    case KERNEL_UNSTARTED:
      setStatus(kernel, KERNEL_WAITING);
      kernel.ranAt = ++kernel.program->clock;
      if (kernel.undone == 0)
        makeReady(kernel, starts);
      break;
    case KERNEL_PAUSED:
      setStatus(kernel, KERNEL_RUNNING);
      runtime::unpark(kernel.execution);
      break;
    case KERNEL_WAITING:
    case KERNEL_RUNNING:
      // A pause that has not come about yet is over at once.
      if (kernel.request.load() == Request::Pause)
        setRequest(kernel, Request::None);
      break;
    case KERNEL_FINISHED:
      break;
    }
  }
  startAll(starts);
}

void pause(KernelRecord& kernel) {
  {
    std::lock_guard guard(kernel.program->lock);
    const KERNEL_STATUS status = kernel.status.load();
    if ((status != KERNEL_RUNNING && status != KERNEL_WAITING) || kernel.request.load() != Request::None)
      return;
    request(kernel, Request::Pause);
  }
  if (callingKernel() == &kernel)
    obey(kernel);
}

void end(KernelRecord& kernel) {
  Starts starts;
  {
    std::lock_guard guard(kernel.program->lock);
    switch (kernel.status.load()) {
    case KERNEL_UNSTARTED:
    case KERNEL_WAITING:
      setFinished(kernel, starts);
      break;
    case KERNEL_PAUSED:
      setStatus(kernel, KERNEL_RUNNING);
      request(kernel, Request::End);
      break;
    case KERNEL_RUNNING:
      request(kernel, Request::End);
      break;
    case KERNEL_FINISHED:
      break;
    }
  }
  startAll(starts);
  if (callingKernel() == &kernel && isRequested(&kernel))
    obey(kernel);
}

void obey(KernelRecord& kernel) {
  while (true) {
    switch (kernel.request.load(std::memory_order_seq_cst)) {
    case Request::None:
      return;
    case Request::Pause:
      pauseHere(kernel);
      break;
    case Request::End:
      finish(kernel);
      runtime::endFibre();
    }
  }
}

void waitAny(Program& program, std::vector<KernelRecord*> kernels, const Place& place) {
  ControlWaiter waiter;
  waiter.execution = runtime::current();
  waiter.kernels = std::move(kernels);
  waiter.place = place;
  {
    std::lock_guard guard(program.lock);
    if (isSettled(waiter.kernels))
      return;
    program.waiters.push_back(&waiter);
  }
  while (!waiter.woken.load(std::memory_order_acquire))
    runtime::park({describeControl, &waiter, "wait for kernels"});
}

namespace {

/// The kernels under way, in the order of the lines and variables of their initialisations.
std::vector<const KernelRecord*> underWay(const Program& program) {
  std::vector<const KernelRecord*> kernels;
  for (const auto& [address, kernel] : program.kernels)
    if (!isOver(kernel->status.load()))
      kernels.push_back(kernel.get());
  std::ranges::sort(kernels, {}, [](const KernelRecord* kernel) {
    return std::make_tuple(kernel->place.file(), kernel->place.line(), reinterpret_cast<uintptr_t>(kernel->kernel));
  });
  return kernels;
}

/// What a kernel that is WAITING waits for: kernels, or its processor.
void describeWaiting(const KernelRecord& kernel, const std::vector<const KernelRecord*>& kernels, std::string& out) {
  const ProcessorState& processor = *kernel.processor;
  if (kernel.undone) {
    const char* between = " waits for kernel '";
    for (const KernelRecord* before : kernels)
      if (std::ranges::find(before->followers, std::pair(const_cast<KernelRecord*>(&kernel), kernel.run)) !=
          before->followers.end()) {
        out += between + nameOf(*before) + "'";
        between = ", '";
      }
    out += ", on which it depends";
  } else if (movesBeside(kernel)) {
    const uint64_t moves = processor.description->moves;
    out += " waits for its processor, where " +
           (moves == 1 ? "the one move that it carries on at a time is"
                       : "all " + std::to_string(moves) + " moves that it carries on at a time are") +
           " under way";
  } else {
    out += " waits for its processor";
    if (processor.holder)
      out += ", which kernel '" + nameOf(*processor.holder) + "' holds";
  }
}

/// What a kernel under way waits for, the more telling the smaller.
enum class WaitsFor : uint8_t { Streams, Kernels, Processor };

WaitsFor waitsFor(const KernelRecord& kernel) {
  return kernel.status.load() != KERNEL_WAITING ? WaitsFor::Streams
         : kernel.undone                        ? WaitsFor::Kernels
                                                : WaitsFor::Processor;
}

} // namespace

void describeKernels(const Program& program, std::string& out) {
  constexpr size_t mostTold = 24;
  const std::vector<const KernelRecord*> kernels = underWay(program);
  std::vector<const KernelRecord*> told; // those first that others wait for
  for (const WaitsFor what : {WaitsFor::Streams, WaitsFor::Kernels, WaitsFor::Processor})
    std::ranges::copy_if(kernels, std::back_inserter(told),
                         [&](const KernelRecord* kernel) { return waitsFor(*kernel) == what; });
  size_t left[3] = {};
  for (size_t i = 0; i < told.size(); ++i) {
    const KernelRecord* kernel = told[i];
    if (i >= mostTold) {
      ++left[static_cast<size_t>(waitsFor(*kernel))];
      continue;
    }
    out += "\n  kernel '" + nameOf(*kernel) + "' on " + kernel->processor->name;
    if (kernel->status.load() == KERNEL_WAITING) {
      describeWaiting(*kernel, kernels, out);
    } else if (kernel->execution && kernel->execution->wait.describe) {
      out += " waits for ";
      kernel->execution->wait.describe(kernel->execution->wait.object, out);
    }
  }
  if (told.size() <= mostTold)
    return;
  out += "\n  … and " + std::to_string(told.size() - mostTold) + " more kernels wait";
  const char* between = ": ";
  const char* const forWhat[] = {" at streams", " for kernels on which they depend", " for their processors"};
  for (size_t i = 0; i < 3; ++i)
    if (left[i]) {
      out += between + std::to_string(left[i]) + forWhat[i];
      between = ", ";
    }
}

} // namespace strata::svm
