// Collects what a record tells. Kernels and streams are noted when they are initialised, under the name of their
// variable; a second variable of the same name (an element of an array on a stack, say) gets a number.
#include "runtime/svm/record.h"

#include "runtime/core/scheduler.h"
#include "runtime/core/trace.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace strata::svm {

namespace {

using runtime::traceClock;

/// Stretches that a track keeps: fewer when there are many kernels, so that a record stays readable.
size_t mostStretches(size_t kernels) {
  return std::clamp<size_t>(65536 / std::max<size_t>(kernels, 1), 64, 2048);
}

std::atomic<size_t> most{2048};

/// REQUIRES: the stream is alive.
uint64_t liveCount(const RecordedStream& stream, bool pushes) {
  auto* live = const_cast<Stream*>(stream.stream);
  return std::atomic_ref(pushes ? live->pushed_ : live->popped_).load(std::memory_order_relaxed);
}

/// REQUIRES (here and below): the recorded stream's lock is held.
void settle(RecordedStream& stream, bool pushes) {
  RecordedUse* use = std::exchange(stream.current[pushes], nullptr);
  if (!use)
    return;
  const uint64_t count = liveCount(stream, pushes);
  use->elements += count - stream.from[pushes];
  stream.count[pushes].store(count, std::memory_order_relaxed);
}

RecordedUse& useOf(RecordedStream& stream, RecordedKernel* kernel, bool pushes) {
  for (const auto& use : stream.uses)
    if (use->kernel == kernel && use->pushes == pushes)
      return *use;
  stream.uses.push_back(std::make_unique<RecordedUse>());
  stream.uses.back()->kernel = kernel;
  stream.uses.back()->pushes = pushes;
  return *stream.uses.back();
}

std::string withProcessNumber(std::string path) {
  for (size_t at = path.find("%p"); at != path.npos; at = path.find("%p", at))
    path.replace(at, 2, std::to_string(getpid()));
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed); // the program may go elsewhere
  return failed ? path : whole.string();
}

/// An engine thread: it writes while the process lives, and takes at most a twentieth of a core.
void writeNowAndAgain() {
  using namespace std::chrono;
  auto pause = duration_cast<nanoseconds>(seconds(1));
  while (true) {
    std::this_thread::sleep_for(pause);
    const auto begin = steady_clock::now();
    if (const Program* program = Program::currentIfAny(); program && program->recorder())
      program->recorder()->write(false);
    pause = std::max(duration_cast<nanoseconds>(seconds(1)), 20 * (steady_clock::now() - begin));
  }
}

void writeLast() {
  const Program* program = Program::currentIfAny();
  if (inChild())
    return; // the record is of the process before
  if (program && program->recorder() && !program->recorder()->write(true))
    std::fprintf(stderr, "cannot write the record '%s': %s\n", program->recorder()->path().c_str(),
                 std::strerror(errno));
}

} // namespace

Recorder::Recorder(Program& program, std::string path)
    : program_(program), path_(withProcessNumber(std::move(path))), begin_(traceClock()) {
  // What is written takes the place of the file that was there; a device has to stay.
  if (struct stat there{}; stat(path_.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
    failAt({}, "svm-record", "the record '" + path_ + "' cannot be written: what is there is no file",
           "give STRATA_RECORD the name of a file in a folder that exists and can be written");
  if (!write(false))
    failAt({}, "svm-record", "the record '" + path_ + "' cannot be written: " + std::strerror(errno),
           "give STRATA_RECORD the name of a file in a folder that exists and can be written");
}

void Recorder::keepWriting() {
  std::atexit(writeLast);
  runtime::makeEngineThread(writeNowAndAgain); // without a thread there is the record of the end
}

std::string Recorder::unique(const std::string& name) {
  const int number = ++names_[name];
  return number == 1 ? name : name + " #" + std::to_string(number);
}

void Recorder::initialised(KernelRecord& kernel, const char* kind, bool beside) {
  if (!kernel.recorded) {
    auto noted = std::make_unique<RecordedKernel>();
    std::lock_guard guard(lock_);
    noted->number = kernels_.size();
    noted->name = unique(nameOf(kernel));
    noted->since = traceClock();
    kernel.recorded = noted.get();
    kernels_.push_back(std::move(noted));
    most.store(mostStretches(kernels_.size()), std::memory_order_relaxed);
  }
  RecordedKernel& noted = *kernel.recorded;
  std::lock_guard guard(lock_);
  noted.place = kernel.place.where();
  noted.processor = kernel.processor->name;
  noted.kind = kind;
  noted.beside = beside;
}

void Recorder::changed(const KernelRecord& kernel, KERNEL_STATUS status) {
  RecordedKernel* noted = kernel.recorded;
  if (!noted)
    return;
  const int64_t now = traceClock();
  std::lock_guard guard(noted->lock);
  const KERNEL_STATUS before = noted->status.exchange(status);
  if (before == KERNEL_WAITING || before == KERNEL_RUNNING || before == KERNEL_PAUSED) {
    noted->time[before] += now - noted->since;
    noted->states[before].add(noted->since, now, 0, most.load(std::memory_order_relaxed));
  }
  noted->runs += before == KERNEL_WAITING && status == KERNEL_RUNNING;
  noted->since = now;
  if (status == KERNEL_FINISHED)
    noted->stallBegan = 0;
}

void Recorder::depends(const KernelRecord& kernel, const KernelRecord& on) {
  std::lock_guard guard(lock_);
  if (kernel.recorded && on.recorded)
    dependences_.emplace(kernel.recorded->number, on.recorded->number);
}

void Recorder::initialised(StreamRecord& stream, uint64_t elements, const machine::Node& node, bool isFifo) {
  if (!stream.recorded) {
    auto noted = std::make_unique<RecordedStream>();
    std::lock_guard guard(lock_);
    noted->number = streams_.size();
    noted->name = unique(nameOf(stream));
    noted->stream = stream.stream;
    stream.recorded = noted.get();
    streams_.push_back(std::move(noted));
  }
  RecordedStream& noted = *stream.recorded;
  std::lock_guard guard(noted.lock);
  for (const bool pushes : {false, true}) {
    settle(noted, pushes);
    noted.before[pushes] += noted.count[pushes].load() - (pushes ? noted.begunWith : 0);
  }
  noted.count[false].store(0);
  noted.count[true].store(elements);
  noted.begunWith = elements;
  noted.initial += elements;
  noted.place = stream.place.where();
  noted.memory = program_.nameOf(node);
  noted.isFifo = isFifo;
  noted.address = stream.address;
  noted.capacity = stream.capacity;
  noted.elementBytes = stream.elementBytes;
}

void Recorder::uses(BlockRecord& block, const KernelRecord& kernel, bool writes) {
  if (!kernel.recorded)
    return;
  std::lock_guard guard(lock_);
  RecordedBlock& noted = blocks_[block.block];
  if (noted.name.empty())
    noted.name = unique(nameOf(block));
  noted.place = block.place.where();
  noted.memory = program_.nameOf(block.node);
  noted.address = block.address;
  noted.capacity = block.capacity;
  noted.elementBytes = block.elementBytes;
  noted.users.emplace(kernel.recorded->number, writes);
}

void Recorder::renamed(const void* entity) {
  std::lock_guard programGuard(program_.lock);
  std::lock_guard guard(lock_);
  if (const auto kernel = program_.kernels.find(entity); kernel != program_.kernels.end() && kernel->second->recorded)
    kernel->second->recorded->name = unique(nameOf(*kernel->second));
  if (const auto stream = program_.streams.find(entity); stream != program_.streams.end() && stream->second->recorded)
    stream->second->recorded->name = unique(nameOf(*stream->second));
  if (const auto block = program_.blocks.find(entity); block != program_.blocks.end())
    if (const auto noted = blocks_.find(entity); noted != blocks_.end())
      noted->second.name = unique(nameOf(*block->second));
}

void recordEnter(StreamRecord& stream, const KernelRecord* kernel, bool pushes) {
  if (!stream.recorded)
    return;
  RecordedStream& noted = *stream.recorded;
  std::lock_guard guard(noted.lock);
  settle(noted, pushes);
  if (!kernel || !kernel->recorded)
    return;
  noted.current[pushes] = &useOf(noted, kernel->recorded, pushes);
  noted.from[pushes] = liveCount(noted, pushes);
}

void recordLeave(StreamRecord& stream, const KernelRecord& kernel, bool pushes) {
  if (!stream.recorded)
    return;
  RecordedStream& noted = *stream.recorded;
  std::lock_guard guard(noted.lock);
  if (noted.current[pushes] && noted.current[pushes]->kernel == kernel.recorded)
    settle(noted, pushes);
}

RecordedStall::RecordedStall(StreamRecord& stream, const KernelRecord* kernel, bool pushes)
    : stream_(stream.recorded), kernel_(kernel ? kernel->recorded : nullptr), pushes_(pushes) {}

void RecordedStall::begin() {
  if (!stream_)
    return;
  const int64_t now = traceClock();
  {
    std::lock_guard guard(stream_->lock);
    useOf(*stream_, kernel_, pushes_).began = now;
  }
  if (!kernel_)
    return;
  std::lock_guard guard(kernel_->lock);
  kernel_->stallBegan = now;
  kernel_->stallOf = static_cast<uint32_t>(2 * stream_->number + pushes_);
}

void RecordedStall::end() {
  if (!stream_)
    return;
  const int64_t now = traceClock();
  {
    std::lock_guard guard(stream_->lock);
    RecordedUse& use = useOf(*stream_, kernel_, pushes_);
    use.stalled += now - std::exchange(use.began, 0);
    ++use.stalls;
  }
  if (!kernel_)
    return;
  std::lock_guard guard(kernel_->lock);
  kernel_->stalls.add(std::exchange(kernel_->stallBegan, 0), now, kernel_->stallOf,
                      most.load(std::memory_order_relaxed));
}

} // namespace strata::svm
