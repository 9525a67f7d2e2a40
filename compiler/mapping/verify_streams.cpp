// Each stream is followed from where it is made to all that push to it or pop from it, through kernels and functions
// that it is given to. How many go through a class of FIFOs at once is counted region by region: those made in a region
// live until its end, what is in it lives one after the other, and parts of a parallel loop live together.
//
// An element takes a whole number of pushes of a FIFO: its bytes are rounded up to the FIFO's width. One that is wider
// than a push goes in several, which is no matter where one pushes and one pops.
#include "compiler/mapping/verify_streams.h"

#include "base/machine/addressing.h"
#include "base/machine/connections.h"
#include "compiler/ir/locations.h"

#include <map>
#include <set>

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(streamOutOfReach, Error, "placed-stream-out-of-reach", "{0} runs on '{1}', which {2}");
STRATA_DIAGNOSTIC(fifoCapacity, Error, "placed-fifo-capacity",
                  "FIFO '{0}' holds {1} bytes, and {2} wants {3} for its {4} elements");
STRATA_DIAGNOSTIC(fifoInstances, Error, "placed-fifo-instances",
                  "FIFO '{0}' has {1} instances, and {2} streams go through it at once");

namespace {

std::string nameOf(StreamOp stream) {
  return stream.getLabel() ? "stream '" + stream.getLabel()->str() + "'" : "a stream";
}

/// What is done at an end of a stream.
enum class End { Push, Pop };

class Streams {
public:
  Streams(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics)
      : program_(program), symbols_(program), machine_(machine), connections_(machine), diagnostics_(diagnostics) {}

  void run() {
    program_.walk([&](StreamOp stream) {
      seen_.clear();
      stream_ = stream;
      follow(stream.getStream());
      capacity(stream);
    });
    for (auto function : program_.getOps<func::FuncOp>())
      if (function.isPublic())
        count(function);
  }

private:
  Location at(Operation* op) { return sourceLocation(diagnostics_.sources(), op->getLoc()); }

  machine::FifoId fifoOf(StreamOp stream) {
    return stream.getFifo() ? machine_.fifo(stream.getFifo()->str()) : machine::FifoId();
  }

  // ---- who reaches it ----

  /// All that is done with a stream from one of its names on.
  void follow(Value stream) {
    if (!seen_.insert(stream.getAsOpaquePointer()).second)
      return;
    for (OpOperand& use : stream.getUses()) {
      Operation* user = use.getOwner();
      if (isa<PushOp, EndOp>(user))
        reach(user, End::Push, "control code");
      else if (isa<PopOp, PeekOp>(user))
        reach(user, End::Pop, "control code");
      else if (auto run = dyn_cast<RunOp>(user))
        kernel(run, use.getOperandNumber());
      else if (auto call = dyn_cast<func::CallOp>(user))
        if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()); callee && !callee.isExternal())
          follow(callee.getArgument(use.getOperandNumber()));
    }
  }

  /// What a kernel does with a stream that it is given; all that it can do, where its body is not at hand.
  void kernel(RunOp run, unsigned position) {
    auto kernel = symbols_.lookup<KernelOp>(run.getKernel());
    if (!kernel || position >= kernel.getNumArguments())
      return;
    bool pushes = false, pops = false;
    if (kernel.isStructured())
      for (Operation* user : kernel.getBody().getArgument(position).getUsers()) {
        pushes |= isa<PushOp, EndOp>(user);
        pops |= isa<PopOp, PeekOp>(user);
      }
    const std::string who = "kernel '" + run.getKernel().str() + "'";
    if (pushes)
      reach(run, End::Push, who);
    if (pops)
      reach(run, End::Pop, who);
    if (!kernel.isStructured())
      reachEither(run, who);
  }

  std::optional<machine::ProcessorId> executing(Operation* op) {
    for (Operation* up = op->getParentOp(); up; up = up->getParentOp()) {
      FlatSymbolRefAttr name = isa<func::FuncOp>(up)  ? SvmDialect::controlAttr.of(up)
                               : isa<ParallelOp>(up)  ? cast<ParallelOp>(up).getProcessorAttr()
                               : isa<InstancesOp>(up) ? cast<InstancesOp>(up).getProcessorAttr()
                               : isa<OnOp>(up)        ? cast<OnOp>(up).getProcessorAttr()
                                                      : FlatSymbolRefAttr();
      if (!name)
        continue;
      const machine::ProcessorId id = machine_.processor(name.getValue().str());
      return id.valid() ? std::optional(id) : std::nullopt;
    }
    return std::nullopt;
  }

  void reach(Operation* op, End end, const std::string& who) {
    auto processor = executing(op);
    if (!processor)
      return;
    if (const machine::FifoId fifo = fifoOf(stream_); fifo.valid()) {
      const bool isPush = end == End::Push;
      if (!(isPush ? connections_.writes(*processor, fifo) : connections_.reads(*processor, fifo)))
        refuse(op, *processor, who,
               "does not " + std::string(isPush ? "write to" : "read from") + " FIFO '" + machine_[fifo].name +
                   "', through which " + nameOf(stream_) + " goes",
               "let one of its " + std::string(isPush ? "writers" : "readers") +
                   " run it, or give the stream another FIFO or a memory");
      return;
    }
    memory(op, *processor, who);
  }

  void reachEither(Operation* op, const std::string& who) {
    auto processor = executing(op);
    if (!processor)
      return;
    const machine::FifoId fifo = fifoOf(stream_);
    if (!fifo.valid())
      return memory(op, *processor, who);
    if (!connections_.reaches(*processor, fifo))
      refuse(op, *processor, who,
             "neither writes to FIFO '" + machine_[fifo].name + "' nor reads from it, through which " +
                 nameOf(stream_) + " goes",
             "let one of its writers or readers run it, or give the stream another FIFO or a memory");
  }

  void memory(Operation* op, machine::ProcessorId processor, const std::string& who) {
    const machine::MemoryId id =
        stream_.getMemory() ? machine_.memory(stream_.getMemory()->str()) : machine::MemoryId();
    if (id.valid() && !machine::touches(machine_, processor, id) && !connections_.reaches(processor, id))
      refuse(op, processor, who, "does not reach '" + machine_[id].name + "', in which " + nameOf(stream_) + " lies",
             "put the stream into a memory that both its ends reach");
  }

  void refuse(Operation* op, machine::ProcessorId processor, const std::string& who, const std::string& what,
              const std::string& help) {
    diagnostics_.report(streamOutOfReach, at(op), who, machine_[processor].name, what)
        .label(at(stream_), "the stream is made here")
        .help(help);
  }

  // ---- what FIFOs hold ----

  void capacity(StreamOp stream) {
    const machine::FifoId id = fifoOf(stream);
    const std::optional<int64_t> elements = getConstantIntValue(stream.getCapacity());
    if (!id.valid() || !elements)
      return;
    const machine::Fifo& fifo = machine_[id];
    const uint64_t width = std::max<uint64_t>(fifo.width, 1),
                   bytes =
                       std::max<uint64_t>(RecordType::sizeInBytes(stream.getStream().getType().getElementType()), 1),
                   each = (bytes + width - 1) / width * width;
    if (*elements < 0 || static_cast<uint64_t>(*elements) <= fifo.capacity / each)
      return;
    const auto wanted = static_cast<unsigned __int128>(*elements) * each;
    auto report = diagnostics_.report(
        fifoCapacity, at(stream), fifo.name, fifo.capacity, nameOf(stream),
        wanted >> 64 ? std::string("more than 2^64") : std::to_string(static_cast<uint64_t>(wanted)), *elements);
    if (each != bytes)
      report.note("an element of " + std::to_string(bytes) + " bytes takes " + std::to_string(each) +
                  ": one push moves " + std::to_string(width));
    report.help("it has room for " + std::to_string(fifo.capacity / each) +
                " such elements: give the stream no more, or a memory");
  }

  /// Streams through each class of FIFOs, and the one that was made last of them.
  struct Through {
    uint64_t streams = 0;
    Operation* last = nullptr;
  };
  using Counts = std::map<uint32_t, Through>;

  /// The most at once while a function executes. One that calls itself is counted once.
  const Counts& most(func::FuncOp function) {
    auto [entry, isNew] = functions_.try_emplace(function.getOperation());
    if (isNew && !function.isExternal()) {
      Counts found = most(function.getBody().front());
      functions_[function.getOperation()] = std::move(found);
    }
    return functions_[function.getOperation()];
  }

  Counts most(Block& block) {
    Counts alive, peak;
    auto raise = [&](uint32_t fifo, const Through& more) {
      Through& highest = peak[fifo];
      const uint64_t now = alive[fifo].streams + more.streams;
      if (now > highest.streams)
        highest = {now, more.last ? more.last : alive[fifo].last};
    };
    for (Operation& op : block) {
      if (auto stream = dyn_cast<StreamOp>(op))
        if (const machine::FifoId fifo = fifoOf(stream); fifo.valid()) {
          alive[fifo.value] = {alive[fifo.value].streams + 1, stream};
          raise(fifo.value, {});
        }
      if (auto call = dyn_cast<func::CallOp>(op))
        if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()))
          for (const auto& [fifo, more] : most(callee))
            raise(fifo, more);
      for (Region& region : op.getRegions())
        for (Block& inner : region)
          for (auto [fifo, more] : most(inner)) {
            const uint64_t parts = partsOf(&op);
            const bool isMuch = more.streams > mostCounted / parts;
            raise(fifo, {isMuch ? mostCounted : more.streams * parts, more.last});
          }
    }
    return peak;
  }

  /// How many parts of a parallel loop execute at once, as far as is known.
  static uint64_t partsOf(Operation* op) {
    auto between = [](Value lower, Value upper) -> uint64_t {
      const std::optional<int64_t> least = getConstantIntValue(lower), last = getConstantIntValue(upper);
      if (!least || !last || *last <= *least)
        return 1;
      return std::min<uint64_t>(static_cast<uint64_t>(*last) - static_cast<uint64_t>(*least), mostCounted);
    };
    auto times = [](uint64_t parts, uint64_t others) {
      return parts > mostCounted / others ? mostCounted : parts * others;
    };
    uint64_t parts = 1;
    if (auto instances = dyn_cast<InstancesOp>(op))
      return instances.getParts() ? std::clamp<uint64_t>(*instances.getParts(), 1, mostCounted)
                                  : between(instances.getLower(), instances.getUpper());
    auto loop = dyn_cast<ParallelOp>(op);
    for (unsigned dimension = 0; loop && dimension < loop.dimensions(); ++dimension)
      if (loop.getParts())
        parts = times(parts, std::clamp<uint64_t>(loop.partsOf(dimension), 1, mostCounted));
      else if (loop.getConcurrent())
        parts = times(parts, between(loop.getLower()[dimension], loop.getUpper()[dimension]));
    return parts;
  }

  void count(func::FuncOp function) {
    for (const auto& [fifo, through] : most(function)) {
      const machine::Fifo& what = machine_.fifos[fifo];
      if (through.streams > what.count && reported_.insert(through.last).second)
        diagnostics_.report(fifoInstances, at(through.last), what.name, what.count, through.streams)
            .note("a stream goes through an instance of its own until the region that makes it ends")
            .help("give this stream or another one a memory, or another FIFO");
    }
  }

  static constexpr uint64_t mostCounted = uint64_t(1) << 40; // sums of them stay numbers
  ModuleOp program_;
  SymbolTable symbols_;
  const Machine& machine_;
  const machine::Connections connections_;
  DiagnosticEngine& diagnostics_;
  StreamOp stream_;
  std::set<void*> seen_;
  std::map<Operation*, Counts> functions_;
  std::set<Operation*> reported_;
};

} // namespace

void verifyStreams(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics) {
  // Most programs have none.
  if (program.walk([](StreamOp) { return WalkResult::interrupt(); }).wasInterrupted())
    Streams(program, machine, diagnostics).run();
}

} // namespace strata::mapping
