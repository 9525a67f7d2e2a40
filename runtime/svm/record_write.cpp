// The text of a record: the graph, and what the kernels did when, as events of Chrome's trace format. A processor is a
// process of the trace; kernels that move data beside each other have rows of their own in the process "NAME moves".
// The states of all kernels are in the process "kernels".
#include "base/source/display.h"
#include "runtime/core/trace.h"
#include "runtime/svm/record.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <unistd.h>

namespace strata::svm {

namespace {

constexpr std::array<const char*, 5> statusNames = {"UNSTARTED", "WAITING", "RUNNING", "PAUSED", "FINISHED"};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : displayText(text)) {
    if (c == '"' || c == '\\' || c == '\n')
      out += '\\';
    out += c == '\n' ? 'n' : c;
  }
  return out + '"';
}

/// "name":value pairs of an object.
class Fields {
public:
  Fields& text(const char* name, std::string_view value) { return raw(name, quoted(value)); }
  Fields& number(const char* name, uint64_t value) { return raw(name, std::to_string(value)); }
  Fields& time(const char* name, int64_t value) { return raw(name, std::to_string(value)); }
  Fields& raw(const char* name, const std::string& value) {
    out_ += (out_.empty() ? "\"" : ",\"") + std::string(name) + "\":" + value;
    return *this;
  }
  std::string object() const { return "{" + out_ + "}"; }

private:
  std::string out_;
};

/// Values in brackets, each on a line of its own.
class List {
public:
  void add(const std::string& value) { out_ += (out_.empty() ? "\n" : ",\n") + value; }
  std::string array() const { return "[" + out_ + "]"; }

private:
  std::string out_;
};

/// Chrome counts in microseconds.
std::string microseconds(int64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000),
                static_cast<int>(nanoseconds % 1000));
  return text;
}

/// A kernel as it was at one moment.
struct KernelCopy {
  const RecordedKernel* kernel;
  KERNEL_STATUS status;
  uint64_t runs;
  int64_t time[5];
  std::vector<Stretch> states[5], stalls;
};

KernelCopy copyOf(RecordedKernel& kernel) {
  std::lock_guard guard(kernel.lock);
  const int64_t now = runtime::traceClock(); // after all that has been noted
  KernelCopy copy{&kernel, kernel.status.load(), kernel.runs, {}, {}, kernel.stalls.stretches()};
  for (const KERNEL_STATUS status : {KERNEL_WAITING, KERNEL_RUNNING, KERNEL_PAUSED}) {
    copy.time[status] = kernel.time[status];
    copy.states[status] = kernel.states[status].stretches();
    if (copy.status != status)
      continue;
    copy.time[status] += now - kernel.since;
    copy.states[status].push_back({kernel.since, now, now - kernel.since, 1, 0});
  }
  if (kernel.stallBegan)
    copy.stalls.push_back({kernel.stallBegan, now, now - kernel.stallBegan, 1, kernel.stallOf});
  return copy;
}

std::string kernelText(const KernelCopy& copy) {
  return Fields()
      .text("name", copy.kernel->name)
      .text("processor", copy.kernel->processor)
      .text("kind", copy.kernel->kind)
      .text("place", copy.kernel->place)
      .text("status", statusNames[copy.status])
      .number("runs", copy.runs)
      .time("waiting", copy.time[KERNEL_WAITING])
      .time("running", copy.time[KERNEL_RUNNING])
      .time("paused", copy.time[KERNEL_PAUSED])
      .object();
}

std::string streamText(RecordedStream& stream) {
  std::lock_guard guard(stream.lock);
  const int64_t now = runtime::traceClock();
  uint64_t count[2], byKernels[2] = {};
  for (const bool pushes : {false, true}) {
    // A side that a kernel has at hand belongs to a stream that lives.
    count[pushes] = stream.count[pushes].load();
    if (stream.current[pushes]) {
      auto* live = const_cast<Stream*>(stream.stream);
      count[pushes] = std::atomic_ref(pushes ? live->pushed_ : live->popped_).load(std::memory_order_relaxed);
    }
  }
  List uses;
  RecordedUse control[2];
  const auto add = [&](const RecordedUse& use, uint64_t elements) {
    uses.add(Fields()
                 .raw("kernel", use.kernel ? std::to_string(use.kernel->number) : "-1")
                 .raw("pushes", use.pushes ? "true" : "false")
                 .number("elements", elements)
                 .number("stalls", use.stalls + (use.began ? 1 : 0))
                 .time("stalled", use.stalled + (use.began ? now - use.began : 0))
                 .raw("stalls_now", use.began ? "true" : "false")
                 .object());
  };
  for (const auto& use : stream.uses) {
    if (!use->kernel) {
      control[use->pushes] = *use;
      continue;
    }
    uint64_t elements = use->elements;
    if (stream.current[use->pushes] == use.get())
      elements += count[use->pushes] - stream.from[use->pushes];
    byKernels[use->pushes] += elements;
    add(*use, elements);
  }
  const uint64_t popped = stream.before[false] + count[false];
  const uint64_t pushed = stream.before[true] + count[true] - stream.begunWith;
  // What no kernel did, control did.
  for (const bool pushes : {false, true}) {
    const uint64_t all = pushes ? pushed : popped;
    control[pushes].pushes = pushes;
    if (all > byKernels[pushes] || control[pushes].stalls || control[pushes].began)
      add(control[pushes], all > byKernels[pushes] ? all - byKernels[pushes] : 0);
  }
  return Fields()
      .text("name", stream.name)
      .text("memory", stream.memory)
      .raw("fifo", stream.isFifo ? "true" : "false")
      .raw("address", std::to_string(stream.address))
      .number("capacity", stream.capacity)
      .number("element_bytes", stream.elementBytes)
      .text("place", stream.place)
      .number("initial", stream.initial)
      .number("pushed", pushed)
      .number("popped", popped)
      .number("inside", count[true] >= count[false] ? count[true] - count[false] : 0)
      .raw("uses", uses.array())
      .object();
}

std::string blockText(const RecordedBlock& block) {
  List users;
  for (const auto& [kernel, writes] : block.users)
    users.add(Fields().number("kernel", kernel).raw("writes", writes ? "true" : "false").object());
  return Fields()
      .text("name", block.name)
      .text("memory", block.memory)
      .raw("address", std::to_string(block.address))
      .number("capacity", block.capacity)
      .number("element_bytes", block.elementBytes)
      .text("place", block.place)
      .raw("users", users.array())
      .object();
}

/// The events of a trace.
class Events {
public:
  explicit Events(int64_t origin) : origin_(origin) {}

  int process(const std::string& name) {
    const auto [at, isNew] = processes_.try_emplace(name, static_cast<int>(processes_.size()) + 1);
    if (isNew)
      name_("process_name", at->second, 0, name);
    return at->second;
  }
  void thread(int process, uint64_t thread, const std::string& name) { name_("thread_name", process, thread, name); }
  void span(const char* category, const std::string& name, int process, uint64_t thread, const Stretch& stretch) {
    Fields event;
    event.raw("ph", "\"X\"").text("cat", category).text("name", name);
    event.raw("pid", std::to_string(process)).number("tid", thread);
    event.raw("ts", microseconds(stretch.begin - origin_)).raw("dur", microseconds(stretch.end - stretch.begin));
    // Rows of moves are of one processor, whatever the number of the row.
    Fields arguments;
    arguments.number("instance", 0);
    if (stretch.times > 1)
      arguments.number("times", stretch.times).raw("microseconds", microseconds(stretch.within));
    event.raw("args", arguments.object());
    list_.add(event.object());
  }
  std::string array() const { return list_.array(); }

private:
  void name_(const char* what, int process, uint64_t thread, const std::string& name) {
    list_.add(Fields()
                  .raw("ph", "\"M\"")
                  .text("name", what)
                  .raw("pid", std::to_string(process))
                  .number("tid", thread)
                  .raw("args", Fields().text("name", name).object())
                  .object());
  }

  const int64_t origin_;
  std::map<std::string, int> processes_;
  List list_;
};

} // namespace

std::string Recorder::text(bool last, const std::string& failure) {
  const int64_t now = runtime::traceClock();
  List kernels, streams, blocks, dependences;
  Events events(begin_);
  std::lock_guard guard(lock_);
  for (const auto& stream : streams_)
    streams.add(streamText(*stream));
  for (const auto& [address, block] : blocks_)
    blocks.add(blockText(block));
  for (const auto& [kernel, on] : dependences_)
    dependences.add("[" + std::to_string(kernel) + "," + std::to_string(on) + "]");
  const auto stallName = [&](uint32_t of) -> std::string {
    if (of == Stretch::several)
      return "wait at streams";
    return (of % 2 ? "wait for room in " : "wait for an element of ") + streams_[of / 2]->name;
  };
  for (const auto& kernel : kernels_) {
    const KernelCopy copy = copyOf(*kernel);
    kernels.add(kernelText(copy));
    const int row = events.process(kernel->processor + (kernel->beside ? " moves" : ""));
    const uint64_t thread = kernel->beside ? kernel->number : 0;
    for (const Stretch& stretch : copy.states[KERNEL_RUNNING])
      events.span(kernel->beside ? "move" : "run", kernel->name, row, thread, stretch);
    for (const Stretch& stretch : copy.states[KERNEL_PAUSED])
      events.span("wait", kernel->name + " is paused", row, thread, stretch);
    for (const Stretch& stretch : copy.stalls)
      events.span("wait", stallName(stretch.what), row, thread, stretch);
    if (kernel->beside)
      events.thread(row, thread, kernel->name);
    const int all = events.process("kernels");
    events.thread(all, kernel->number, kernel->name);
    for (const KERNEL_STATUS status : {KERNEL_WAITING, KERNEL_RUNNING, KERNEL_PAUSED})
      for (const Stretch& stretch : copy.states[status])
        events.span("state", statusNames[status], all, kernel->number, stretch);
  }
  const std::string graph = Fields()
                                .number("version", 1)
                                .text("program", program_invocation_short_name)
                                .text("machine", program_.machine().name)
                                .raw("ended", last ? "true" : "false")
                                .text("failure", failure)
                                .time("nanoseconds", now - begin_)
                                .raw("kernels", kernels.array())
                                .raw("streams", streams.array())
                                .raw("blocks", blocks.array())
                                .raw("dependences", dependences.array())
                                .object();
  return "{\"streams\":" + graph + ",\n\"displayTimeUnit\":\"ns\",\"traceEvents\":" + events.array() + "}\n";
}

bool Recorder::write(bool last, const std::string& failure) {
  std::lock_guard guard(writing_);
  if (ended_)
    return true;
  ended_ = last;
  const std::string all = text(last, failure), beside = path_ + ".part" + std::to_string(getpid());
  FILE* file = std::fopen(beside.c_str(), "w");
  if (!file)
    return false;
  const bool written = std::fwrite(all.data(), 1, all.size(), file) == all.size();
  if (std::fclose(file) == 0 && written && std::rename(beside.c_str(), path_.c_str()) == 0)
    return true;
  const int error = errno;
  unlink(beside.c_str());
  errno = error;
  return false;
}

} // namespace strata::svm
