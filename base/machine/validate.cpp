// The rules that every machine satisfies, one diagnostic kind a rule. Dangling ids are looked for first, and when there
// are any nothing else is checked, so that every later rule may follow its references.
#include "base/machine/addressing.h"
#include "base/machine/connections.h"
#include "base/machine/figures.h"
#include "base/machine/quantity.h"
#include "base/machine/validate_array.h"
#include "base/machine/validate_levels.h"

#include <set>

namespace strata {

using namespace machine;

STRATA_DIAGNOSTIC(badName, Error, "machine-bad-name", "'{0}' cannot name {1}");
STRATA_DIAGNOSTIC(duplicateName, Error, "machine-duplicate-name", "'{0}' names two things");
STRATA_DIAGNOSTIC(dangling, Error, "machine-dangling-reference", "{0} '{1}' refers to something that does not exist");
STRATA_DIAGNOSTIC(badCount, Error, "machine-count", "'{0}' occurs {1} times; 1 to {2} are possible");
STRATA_DIAGNOSTIC(badAlignment, Error, "machine-alignment", "an alignment of {0} bytes; it must be a power of two");
STRATA_DIAGNOSTIC(badWidth, Error, "machine-width", "an access of {0} bytes to {1}, which holds {2}");
STRATA_DIAGNOSTIC(badUnit, Error, "machine-unit", "addressable units of {0} bytes in {1} of {2} bytes");
STRATA_DIAGNOSTIC(badCapacity, Error, "machine-capacity", "'{0}' cannot hold {1} bytes");
STRATA_DIAGNOSTIC(badTime, Error, "machine-time", "'{0}': {1} of {2}; at most {3} is possible");
STRATA_DIAGNOSTIC(badBandwidth, Error, "machine-bandwidth", "'{0}' moves {1} bytes in {2} cycles");
STRATA_DIAGNOSTIC(virtualCycle, Error, "machine-virtual-cycle", "virtual memory '{0}' is over itself");
STRATA_DIAGNOSTIC(virtualCount, Error, "machine-virtual-count",
                  "{0} of '{1}' cannot join {2} of '{3}': the one must divide the other");
STRATA_DIAGNOSTIC(filesPlace, Error, "machine-files", "memory '{0}' holds files, and {1}");
STRATA_DIAGNOSTIC(virtualProperty, Error, "machine-virtual-property",
                  "virtual memory '{0}' has no {1} of its own: it takes that of '{2}'");
STRATA_DIAGNOSTIC(badFigure, Error, "machine-figure", "'{0}': {1} of {2}; {3}");
STRATA_DIAGNOSTIC(cachePlace, Error, "machine-cache", "memory '{0}' has lines, as a cache has, and {1}");
STRATA_DIAGNOSTIC(badGrid, Error, "machine-grid", "'{0}' has {1} instances, which its grid does not give");
STRATA_DIAGNOSTIC(localCount, Error, "machine-local-count",
                  "{0} of explicit memory '{1}' cannot be divided evenly among {2} of '{3}'");
STRATA_DIAGNOSTIC(noControl, Error, "machine-no-control", "no processor of '{0}' is its own master");
STRATA_DIAGNOSTIC(uncontrolled, Error, "machine-uncontrolled",
                  "nothing starts '{0}': no chain of masters reaches it from a processor that is its own master");
STRATA_DIAGNOSTIC(ioKernels, Error, "machine-io-kernels",
                  "'{0}' is an I/O device, which runs exactly one black-box kernel");
STRATA_DIAGNOSTIC(dmaMoves, Error, "machine-dma-moves", "'{0}' is of kind dma and carries on no moves");
STRATA_DIAGNOSTIC(badProcess, Error, "machine-process", "'{0}' are processes of their own, and {1}");
STRATA_DIAGNOSTIC(arrayMismatch, Error, "machine-array-kind",
                  "'{0}': a processor of kind array, and no other, has an 'array'");
STRATA_DIAGNOSTIC(linkEnds, Error, "machine-link-ends", "link '{0}' does not join two different things");
STRATA_DIAGNOSTIC(fifoUnconnected, Error, "machine-fifo-unconnected", "no processor {1} FIFO '{0}'");

namespace {

constexpr uint64_t mostInstances = 1 << 20;
constexpr uint64_t largestMemory = uint64_t(1) << 60;
constexpr uint64_t longestTime = 1 << 30;               // cycles
constexpr uint64_t fastestClock = 1000000000000;        // Hz
constexpr uint64_t mostBytesAtOnce = uint64_t(1) << 40; // of an access or a cycle

bool isName(std::string_view name) {
  if (name.empty() || name.size() > 64)
    return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.')))
      return false;
  }
  return true;
}

class Validator {
public:
  Validator(const Machine& machine, DiagnosticEngine& diagnostics) : machine_(machine), diagnostics_(diagnostics) {}

  void run() {
    checkNames();
    if (!referencesHold())
      return;
    checkTime(machine_.name, "clock", machine_.clock, fastestClock, machine_.origin);
    for (uint32_t i = 0; i < machine_.memories.size(); ++i)
      checkMemory({i});
    for (const Processor& processor : machine_.processors)
      checkProcessor(processor);
    checkControl();
    for (uint32_t i = 0; i < machine_.fifos.size(); ++i)
      checkFifo(machine_.fifos[i]);
    for (uint32_t i = 0; i < machine_.links.size(); ++i)
      checkLink({i});
    const unsigned before = diagnostics_.errorCount();
    validateLevels(machine_, diagnostics_);
    for (uint32_t i = 0; i < machine_.processors.size() && diagnostics_.errorCount() == before; ++i)
      checkProcess({i});
  }

private:
  void checkNames() {
    std::map<std::string, Location> seen;
    const auto check = [&](const char* what, const auto& list) {
      for (const auto& each : list) {
        if (!isName(each.name))
          reportName(each.name, what, each.origin.location);
        const auto [earlier, isNew] = seen.emplace(each.name, each.origin.location);
        if (!isNew)
          diagnostics_.report(duplicateName, each.origin.location, each.name)
              .label(earlier->second, "the first one")
              .note("memories, processors, FIFOs and links share one set of names");
      }
    };
    if (!isName(machine_.name))
      reportName(machine_.name, "a machine", machine_.origin.location);
    check("a memory", machine_.memories);
    check("a processor", machine_.processors);
    check("a FIFO", machine_.fifos);
    check("a link", machine_.links);
  }

  void reportName(const std::string& name, const char* what, const Location& where) {
    diagnostics_.report(badName, where, name, what)
        .help("use up to 64 letters, digits, '_', '-' and '.', beginning with a letter or '_'");
  }

  bool referencesHold() {
    const unsigned before = diagnostics_.errorCount();
    const auto check = [&](bool holds, const char* what, std::string_view name, const Origin& origin) {
      if (!holds)
        diagnostics_.report(dangling, origin.location, what, name);
    };
    const auto exists = [&](const LinkEnd& end) { return std::visit([&](auto id) { return this->exists(id); }, end); };
    for (const Memory& memory : machine_.memories)
      check(!memory.over.valid() || exists(memory.over), "memory", memory.name, memory.origin);
    for (const Processor& processor : machine_.processors) {
      bool holds = true;
      for (ProcessorId master : processor.masters)
        holds = holds && exists(master);
      for (MemoryId memory : processor.local)
        holds = holds && exists(memory);
      check(holds, "processor", processor.name, processor.origin);
    }
    for (const Fifo& fifo : machine_.fifos) {
      bool holds = true;
      for (const auto* list : {&fifo.writers, &fifo.readers})
        for (ProcessorId processor : *list)
          holds = holds && exists(processor);
      check(holds, "FIFO", fifo.name, fifo.origin);
    }
    for (const Link& link : machine_.links)
      for (const LinkEnd& end : link.ends)
        check(exists(end), "link", link.name, link.origin);
    for (size_t i = 0; i < machine_.levels.size(); ++i) {
      const Level& level = machine_.levels[i];
      check(exists(level.memory) && (!level.processor.valid() || exists(level.processor)), "level", std::to_string(i),
            level.origin);
    }
    return diagnostics_.errorCount() == before;
  }

  bool exists(MemoryId id) const { return id.value < machine_.memories.size(); }
  bool exists(ProcessorId id) const { return id.value < machine_.processors.size(); }
  bool exists(FifoId id) const { return id.value < machine_.fifos.size(); }
  bool exists(LinkId id) const { return id.value < machine_.links.size(); }

  template <typename Element>
  void checkCount(const Element& element) {
    if (element.count == 0 || element.count > mostInstances)
      diagnostics_.report(badCount, element.origin.of("count"), element.name, element.count, mostInstances);
  }
  void checkTime(const std::string& name, const char* what, uint64_t value, uint64_t most, const Origin& origin) {
    if (value > most)
      diagnostics_.report(badTime, origin.of(what), name, what, value, most);
  }
  void checkBandwidth(const std::string& name, const Bandwidth& bandwidth, const Origin& origin) {
    const bool possible = bandwidth.bytes != 0 && bandwidth.cycles != 0 && bandwidth.bytes <= mostBytesAtOnce &&
                          bandwidth.cycles <= longestTime;
    if (bandwidth.stated() && !possible)
      diagnostics_.report(badBandwidth, origin.of("bandwidth"), name, bandwidth.bytes, bandwidth.cycles);
  }

  bool checkFigure(const std::string& name, const FigureRule& rule, const std::optional<uint64_t>& value,
                   const Origin& origin) {
    if (!value || rule.holds(*value))
      return true;
    diagnostics_.report(badFigure, origin.of(rule.field), name, rule.field, *value, rule.takes());
    return false;
  }

  void checkMemory(MemoryId id) {
    const Memory& memory = machine_[id];
    const Origin& origin = memory.origin;
    checkCount(memory);
    checkTime(memory.name, "latency", memory.latency, longestTime, origin);
    checkBandwidth(memory.name, memory.bandwidth, origin);
    if (memory.isVirtual())
      return checkVirtual(id);
    if (memory.files)
      checkFiles(id);
    checkFigures(memory);
    if (memory.alignment == 0 || (memory.alignment & (memory.alignment - 1)) != 0 || memory.alignment > mostBytesAtOnce)
      diagnostics_.report(badAlignment, origin.of("alignment"), memory.alignment);
    const bool bounded = memory.capacity.kind == Capacity::Kind::Bytes;
    const uint64_t bytes = bounded ? memory.capacity.bytes : mostBytesAtOnce;
    if (bounded && (bytes == 0 || bytes > largestMemory))
      diagnostics_.report(badCapacity, origin.of("capacity"), memory.name, bytes);
    else if (memory.width == 0 || memory.width > bytes)
      diagnostics_.report(badWidth, origin.of("width"), memory.width, memory.name, bytes)
          .label(origin.of("capacity"), "its capacity");
    else if (memory.unit == 0 || memory.unit > bytes || (bounded && bytes % memory.unit != 0))
      diagnostics_.report(badUnit, origin.of("unit"), memory.unit, memory.name, bytes)
          .note("the units must fill the memory evenly");
  }

  void checkFigures(const Memory& memory) {
    const Origin& origin = memory.origin;
    const bool lines = checkFigure(memory.name, lineRule, memory.line, origin);
    const bool pages = checkFigure(memory.name, pageRule, memory.page, origin);
    const bool largePages = checkFigure(memory.name, largePageRule, memory.largePage, origin);
    if (pages && largePages && memory.largePage && *memory.largePage <= figuresOf(machine_).pageBytes)
      diagnostics_
          .report(badFigure, origin.of("large_page"), memory.name, "large_page", *memory.largePage,
                  "large pages are larger than pages of " + std::to_string(figuresOf(machine_).pageBytes))
          .label(origin.of("page"), "the pages");
    if (!lines || !memory.line)
      return;
    const auto refuse = [&](const char* field, const char* reason) {
      diagnostics_.report(cachePlace, origin.of(field), memory.name, reason)
          .label(origin.of("line"), "its lines")
          .help("leave 'line' out");
    };
    if (memory.explicitly)
      refuse("explicit", "is managed by the program");
    else if (memory.files)
      refuse("files", "holds files");
    else if (memory.capacity.kind != Capacity::Kind::Bytes)
      refuse("capacity", "its size is not stated");
    else if (memory.capacity.bytes % *memory.line != 0)
      diagnostics_
          .report(badFigure, origin.of("line"), memory.name, "line", *memory.line,
                  "lines must fill its " + std::to_string(memory.capacity.bytes) + " bytes evenly")
          .label(origin.of("capacity"), "its capacity");
  }

  /// A disk is one place, outside of everything else: data comes from there and ends there.
  void checkFiles(MemoryId id) {
    const Memory& memory = machine_[id];
    if (memory.count != 1)
      diagnostics_.report(filesPlace, memory.origin.of("count"), memory.name,
                          "there are " + std::to_string(memory.count) + " of it; one is possible");
    for (const Processor& processor : machine_.processors)
      if (std::find(processor.local.begin(), processor.local.end(), id) != processor.local.end())
        diagnostics_.report(filesPlace, processor.origin.of("local"), memory.name,
                            "cannot be local to processor '" + processor.name + "'");
    for (const Memory& other : machine_.memories)
      if (other.over == id)
        diagnostics_.report(filesPlace, other.origin.of("over"), memory.name,
                            "cannot be joined to virtual memory '" + other.name + "'");
    for (size_t level = 0; level + 1 < machine_.levels.size(); ++level)
      if (machine_.levels[level].memory == id)
        diagnostics_
            .report(filesPlace, machine_.levels[level].origin.of("memory"), memory.name,
                    "is level " + std::to_string(level))
            .help("make it the outermost level");
    if (machine_.levels.size() == 1 && machine_.levels[0].memory == id)
      diagnostics_.report(filesPlace, machine_.levels[0].origin.of("memory"), memory.name, "is level 0")
          .note("processors compute in memory");
  }

  void checkVirtual(MemoryId id) {
    const Memory& memory = machine_[id];
    const Memory& inner = machine_[memory.over];
    MemoryId walk = memory.over;
    for (size_t step = 0; step < machine_.memories.size() && walk.valid() && walk != id; ++step)
      walk = machine_[walk].over;
    if (walk.valid()) {
      diagnostics_.report(virtualCycle, memory.origin.of("over"), memory.name);
      return;
    }
    if (memory.count != 0 && inner.count % memory.count != 0)
      diagnostics_.report(virtualCount, memory.origin.of("count"), memory.count, memory.name, inner.count, inner.name)
          .label(inner.origin.of("count"), "the instances to join");
    const Memory usual;
    const auto own = [&](bool differs, const char* field) {
      if (differs)
        diagnostics_.report(virtualProperty, memory.origin.of(field), memory.name, field, inner.name)
            .help(std::string("leave '") + field + "' out");
    };
    own(memory.capacity != usual.capacity, "capacity");
    own(memory.width != usual.width, "width");
    own(memory.alignment != usual.alignment, "alignment");
    own(memory.unit != usual.unit, "unit");
    own(memory.explicitly, "explicit");
    own(memory.files, "files");
    own(memory.line.has_value(), "line");
    own(memory.page.has_value(), "page");
    own(memory.largePage.has_value(), "large_page");
  }

  /// Whether a class is started by another one, or by one that is.
  bool isBelow(ProcessorId below, ProcessorId above) const {
    std::set<uint32_t> seen;
    std::vector<uint32_t> open = {below.value};
    while (!open.empty()) {
      const uint32_t next = open.back();
      open.pop_back();
      if (!seen.insert(next).second)
        continue;
      for (ProcessorId master : machine_.processors[next].masters) {
        if (master == above && next != above.value)
          return true;
        open.push_back(master.value);
      }
    }
    return false;
  }

  /// Processes have a memory each, and one class of them is all that a machine is spread over.
  void checkProcess(ProcessorId id) {
    const Processor& processor = machine_[id];
    if (!processor.isProcess)
      return;
    const auto report = [&](const std::string& why) {
      return diagnostics_.report(badProcess, processor.origin.of("process"), processor.name, why);
    };
    if (processor.kind != ProcessorKind::Control && processor.kind != ProcessorKind::Core)
      report("run no control code").help("say it of a processor of kind 'control' or 'core'");
    for (const Processor& other : machine_.processors)
      if (&other < &processor && other.isProcess)
        report("so are '" + other.name + "'")
            .label(other.origin.of("process"), "the other class")
            .help("say it of one class, those that the front end gives work to");
    for (const Memory& memory : machine_.memories)
      if (memory.files)
        report("memory '" + memory.name + "' holds files, which one of them alone would have")
            .label(memory.origin.of("files"), "the memory");
    // Stores belong to processes, or there is one, which the front end has.
    std::set<uint32_t> theirs;
    for (uint32_t i = 0; i < machine_.processors.size(); ++i)
      if (i == id.value || isBelow({i}, id))
        for (MemoryId memory : machine_.processors[i].local)
          theirs.insert(memory.value);
    for (uint32_t m = 0; m < machine_.memories.size(); ++m)
      if (const Memory& memory = machine_.memories[m];
          machine_.isStore({m}) && memory.count > 1 && !memory.isVirtual() && !theirs.count(m)) {
        report("there are " + std::to_string(memory.count) + " of memory '" + memory.name + "', which belong to others")
            .label(memory.origin.of("count"), "the memories")
            .help("let one front end start the processes");
        return;
      }
    for (uint32_t i = 0; i < machine_.processors.size(); ++i) {
      const Processor& below = machine_.processors[i];
      for (uint32_t m = 0; m < machine_.memories.size() && (isBelow({i}, id) || i == id.value); ++m)
        if (const Memory& memory = machine_.memories[m];
            touches(machine_, {i}, {m}) && memory.count % processor.count) {
          report("'" + below.name + "' works in memory '" + memory.name + "', of which they would have one together")
              .label(memory.origin.of("name"), "the memory")
              .help("give each of them a memory, and join these by a virtual one, as the machine 'cluster' does");
          return;
        }
    }
  }

  void checkProcessor(const Processor& processor) {
    const Origin& origin = processor.origin;
    checkCount(processor);
    checkTime(processor.name, "clock", processor.clock, fastestClock, origin);
    checkTime(processor.name, "moves", processor.moves, mostInstances, origin);
    checkFigure(processor.name, vectorRule, processor.vector, origin);
    checkFigure(processor.name, vectorRegistersRule, processor.vectorRegisters, origin);
    checkFigure(processor.name, vectorLatencyRule, processor.vectorLatency, origin);
    checkFigure(processor.name, operationsRule, processor.operations, origin);
    checkFigure(processor.name, storesRule, processor.stores, origin);
    checkFigure(processor.name, memoryLatencyRule, processor.memoryLatency, origin);
    for (const auto& [operation, cycles] : processor.costs)
      checkTime(processor.name, "costs", cycles, longestTime, origin);
    uint64_t product = 1;
    bool overflow = false;
    for (uint64_t extent : processor.grid)
      overflow = __builtin_mul_overflow(product, extent, &product) || overflow;
    if (!processor.grid.empty() && (overflow || product != processor.count))
      diagnostics_.report(badGrid, origin.of("grid"), processor.name, processor.count)
          .label(origin.of("count"), "the instances");
    for (MemoryId id : processor.local) {
      const Memory& memory = machine_[id];
      // Coherent memories (caches) may be shared by any number; a store that programs manage belongs to someone.
      if (machine_.isExplicit(id) && processor.count != 0 && memory.count % processor.count != 0)
        diagnostics_.report(localCount, origin.of("local"), memory.count, memory.name, processor.count, processor.name)
            .label(memory.origin.of("count"), "the memories")
            .label(origin.of("count"), "the processors");
    }
    if (processor.kind == ProcessorKind::Io && (processor.userKernels || processor.kernels.size() != 1))
      diagnostics_.report(ioKernels, origin.of("kernels"), processor.name)
          .help("name its kernel: 'kernels: [file_source]'");
    if (processor.kind == ProcessorKind::Dma && processor.moves == 0)
      diagnostics_.report(dmaMoves, origin.of("moves"), processor.name)
          .help("say how many it carries on at once: 'moves: 4'");
    if ((processor.kind == ProcessorKind::Array ? 1u : 0u) != processor.array.size())
      diagnostics_.report(arrayMismatch, origin.of("array"), processor.name);
    for (const ProcessorArray& array : processor.array)
      validateArray(processor, array, diagnostics_);
  }

  /// Control starts at processors that are their own masters and goes from master to slave.
  void checkControl() {
    const uint32_t count = static_cast<uint32_t>(machine_.processors.size());
    std::vector<std::vector<uint32_t>> slaves(count);
    std::vector<bool> controlled(count);
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < count; ++i) {
      for (ProcessorId master : machine_.processors[i].masters)
        slaves[master.value].push_back(i);
      if (machine_.processors[i].ownMaster({i})) {
        controlled[i] = true;
        open.push_back(i);
      }
    }
    if (open.empty()) {
      diagnostics_.report(noControl, machine_.origin.location, machine_.name)
          .help("give the processor that runs a program's control code itself as master: 'masters: [NAME]'");
      return;
    }
    while (!open.empty()) {
      const uint32_t master = open.back();
      open.pop_back();
      for (uint32_t slave : slaves[master])
        if (!controlled[slave]) {
          controlled[slave] = true;
          open.push_back(slave);
        }
    }
    for (uint32_t i = 0; i < count; ++i)
      if (!controlled[i])
        diagnostics_.report(uncontrolled, machine_.processors[i].origin.of("masters"), machine_.processors[i].name)
            .help("name its master: 'masters: [NAME]'");
  }

  void checkFifo(const Fifo& fifo) {
    checkCount(fifo);
    checkTime(fifo.name, "latency", fifo.latency, longestTime, fifo.origin);
    if (fifo.capacity == 0 || fifo.capacity > largestMemory)
      diagnostics_.report(badCapacity, fifo.origin.of("capacity"), fifo.name, fifo.capacity);
    else if (fifo.width == 0 || fifo.width > fifo.capacity)
      diagnostics_.report(badWidth, fifo.origin.of("width"), fifo.width, fifo.name, fifo.capacity);
    const LinkEnd self = FifoId{static_cast<uint32_t>(&fifo - machine_.fifos.data())};
    bool linked = false;
    for (uint32_t i = 0; i < machine_.processors.size() && !linked; ++i)
      linked = connections_.linked(ProcessorId{i}, self);
    for (const auto& [list, verb] : {std::pair(&fifo.writers, "writes to"), std::pair(&fifo.readers, "reads from")})
      if (list->empty() && !linked)
        diagnostics_.report(fifoUnconnected, fifo.origin.location, fifo.name, verb)
            .help("name them under 'writers' and 'readers', or end a link at the FIFO");
  }

  void checkLink(LinkId id) {
    const Link& link = machine_[id];
    checkCount(link);
    checkTime(link.name, "latency", link.latency, longestTime, link.origin);
    checkBandwidth(link.name, link.bandwidth, link.origin);
    const std::set<LinkEnd> ends(link.ends.begin(), link.ends.end());
    if (ends.size() < 2 || ends.size() != link.ends.size() || ends.count(id) != 0)
      diagnostics_.report(linkEnds, link.origin.of("ends"), link.name);
  }

  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  const Connections connections_{machine_};
};

} // namespace

bool validate(const Machine& machine, DiagnosticEngine& diagnostics) {
  const unsigned before = diagnostics.errorCount();
  Validator(machine, diagnostics).run();
  return diagnostics.errorCount() == before;
}

} // namespace strata
