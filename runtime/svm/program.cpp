// Implements programs: storage for memories, mapped when first used, nodes by their values, and the end of a program
// that breaks a rule.
#include "runtime/svm/program.h"

#include "base/machine/figures.h"
#include "base/machine/instance_range.h"
#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/system_memory.h"
#include "runtime/svm/block.h"
#include "runtime/svm/kernel.h"
#include "runtime/svm/record.h"
#include "runtime/svm/stream.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

namespace strata::svm {

using machine::Node;

namespace {

/// The value of the control processor of this thread; 0: none was chosen.
thread_local int controlOfThread = 0;

} // namespace

std::string Place::argument() const {
  if (!text)
    return "";
  // Commas within brackets and quotes part nothing.
  const std::string all = text;
  size_t begin = 0;
  int depth = 0, left = which;
  char quote = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const char c = all[i];
    if (quote) {
      i += c == '\\';
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      if (left-- == 0)
        return all.substr(begin, i - begin);
      begin = i + 1;
    }
  }
  return all.substr(begin);
}

std::string Place::where() const {
  return text ? text + std::char_traits<char>::length(text) + 1 : "";
}

std::string Place::file() const {
  const std::string all = where();
  return all.substr(0, all.rfind(':'));
}

int Place::line() const {
  const std::string all = where();
  const size_t colon = all.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(all.c_str() + colon + 1);
}

void failAt(const Place& place, const char* code, const std::string& message, const std::string& help) {
  const std::string file = place.file();
  if (const Program* program = Program::currentIfAny(); program && program->recorder())
    program->recorder()->write(true, message + " [" + code + "]");
  const StrataCheck check{
      code, message.c_str(), help.empty() ? nullptr : help.c_str(), file.c_str(), static_cast<uint32_t>(place.line()),
      0};
  strata_fail(&check, nullptr, 0);
}

void warnAt(const Place& place, const char* code, const std::string& message, const std::string& help) {
  const std::string file = place.file();
  const StrataCheck check{code, message.c_str(), help.c_str(), file.c_str(), static_cast<uint32_t>(place.line()), 0};
  runtime::warn(check);
}

Program::Program(Machine machine) : machine_(std::move(machine)), connections_(machine_) {}

void Program::record(const std::string& path) {
  recorder_ = std::make_unique<Recorder>(*this, path);
}

Program::~Program() {
  for (const auto& [node, mapped] : memories_)
    runtime::systemMemory().unmap(mapped.base, mapped.bytes);
}

namespace {

std::optional<Node> nodeOfKind(const Machine& machine, int value, Node::Kind kind) {
  const std::optional<Node> node = machine::nodeOf(machine, value);
  return node && node->kind == kind ? node : std::nullopt;
}

[[noreturn]] void failUnknown(const Machine& machine, int value, const char* wanted, const Place& place) {
  const std::optional<Node> node = machine::nodeOf(machine, value);
  const std::string is =
      node ? machine::nodeName(machine, *node) + " is not " + wanted
           : "machine '" + machine.name + "' has no node " + std::to_string(value) + ", where " + wanted + " is needed";
  failAt(place, "svm-node", is,
         node ? "the header of the machine lists memories, FIFOs and processors"
              : "include the header that 'strata machine " + machine.name + " --header' writes");
}

} // namespace

Node Program::memory(int value, const Place& place) const {
  if (const auto node = nodeOfKind(machine_, value, Node::Kind::Memory))
    return *node;
  failUnknown(machine_, value, "a memory", place);
}

Node Program::fifo(int value, const Place& place) const {
  if (const auto node = nodeOfKind(machine_, value, Node::Kind::Fifo))
    return *node;
  failUnknown(machine_, value, "a FIFO", place);
}

ProcessorState& Program::processor(int value, const Place& place) {
  const auto node = nodeOfKind(machine_, value, Node::Kind::Processor);
  if (!node)
    failUnknown(machine_, value, "a processor", place);
  std::lock_guard guard(storageLock_);
  const auto [at, isNew] = processors_.try_emplace(*node);
  ProcessorState& state = at->second;
  if (isNew) {
    state.node = *node;
    state.name = nameOf(*node);
    state.description = &machine_.processors[node->index];
  }
  return state;
}

uint64_t storageBytes(const machine::Memory& memory) {
  // An address is an int; what lies behind the last one cannot be named.
  constexpr uint64_t addresses = uint64_t(INT_MAX) + 1;
  const uint64_t bytes =
      memory.capacity.kind == machine::Capacity::Kind::Bytes ? memory.capacity.bytes : runtime::systemMemory().total();
  return bytes / addresses >= memory.unit ? memory.unit * addresses : bytes;
}

/// Bytes that any type of C asks its address to be a multiple of, vectors of the widest registers among them.
static constexpr uint64_t blockAlignment = 64;

char* Program::memoryBase(const Node& memory, const Place& place) {
  // Streams at one address of many memories go forward together. Were all memories to begin at the beginning of a page,
  // these would share a few places of the cache.
  std::lock_guard guard(storageLock_);
  Mapped& mapped = memories_[memory];
  if (!mapped.base) {
    const machine::Figures figures = machine::figuresOf(machine_);
    const uint64_t line = std::max(figures.lineBytes, blockAlignment);
    const uint64_t lines = std::max<uint64_t>(figures.pageBytes / line, 1);
    const uint64_t skipped = 17 * (memories_.size() - 1) % lines * line;
    const uint64_t bytes = storageBytes(machine_.memories[memory.index]);
    mapped.bytes = bytes + skipped;
    mapped.base = static_cast<char*>(runtime::systemMemory().reserve(mapped.bytes));
    if (!mapped.base || !runtime::systemMemory().commit(mapped.base, mapped.bytes))
      failAt(place, "svm-memory",
             "this computer has no room for memory " + nameOf(memory) + " of " + std::to_string(bytes) + " bytes",
             "describe the machine with smaller memories");
    mapped.begin = mapped.base + skipped;
  }
  return mapped.begin;
}

char* Program::storage(const Node& memory, int address, uint64_t bytes, const Name& what, const Place& place) {
  const machine::Memory& description = machine_.memories[memory.index];
  const uint64_t size = storageBytes(description);
  const bool outside = address < 0 || static_cast<uint64_t>(address) > size / description.unit;
  const uint64_t offset = outside ? size : static_cast<uint64_t>(address) * description.unit;
  if (outside || bytes > size - offset)
    failAt(place, "svm-address",
           what() + " does not fit into " + nameOf(memory) + ": " + std::to_string(bytes) + " bytes at address " +
               std::to_string(address) + " (addresses count " + std::to_string(description.unit) + " bytes), where " +
               std::to_string(size - offset) + " of its " + std::to_string(size) + " bytes are left",
           "give it another address, a smaller capacity or another memory");
  return memoryBase(memory, place) + offset;
}

FifoState& Program::fifoState(const Node& fifo) {
  return fifos_[fifo];
}

char* Program::fifoStorage(const Node& fifo, const Name& what, const Place& place) {
  FifoState& state = fifoState(fifo);
  if (state.storage)
    return state.storage.get();
  // Pages that are never touched take no memory, so the system may grant more than there is.
  const uint64_t bytes = machine_.fifos[fifo.index].capacity, total = runtime::systemMemory().total();
  if (bytes <= total)
    state.storage.reset(static_cast<char*>(std::calloc(bytes, 1)));
  if (!state.storage)
    failAt(place, "svm-memory",
           what() + " is to lie in " + nameOf(fifo) + ", whose " + std::to_string(bytes) +
               " bytes this computer has no room for: it has " + std::to_string(total) + " in all",
           "describe the machine with a smaller capacity of '" + machine_.fifos[fifo.index].name +
               "', or use a stream in a memory");
  return state.storage.get();
}

bool Program::reaches(const Node& processor, const Node& place) const {
  const machine::ProcessorId id{processor.index};
  if (place.kind == Node::Kind::Fifo)
    return connections_.reaches(id, machine::FifoId{place.index});
  const machine::MemoryId memory{place.index};
  if (connections_.linked(id, memory))
    return true;
  const machine::Processor& description = machine_[id];
  if (std::find(description.local.begin(), description.local.end(), memory) == description.local.end())
    return false;
  const auto own = machine::InstanceRange::memoriesOf(processor.instance, static_cast<int64_t>(description.count),
                                                      static_cast<int64_t>(machine_[memory].count));
  return own && own->contains(place.instance);
}

bool Program::mayUse(const Node& processor, const Node& fifo, bool pushes) const {
  const machine::ProcessorId id{processor.index};
  const machine::FifoId of{fifo.index};
  return pushes ? connections_.writes(id, of) : connections_.reads(id, of);
}

Node Program::control() const {
  if (controlOfThread)
    if (const auto node = nodeOfKind(machine_, controlOfThread, Node::Kind::Processor))
      return *node;
  for (uint32_t i = 0; i < machine_.processors.size(); ++i)
    if (machine_.processors[i].ownMaster({i}) && machine_.processors[i].kind != machine::ProcessorKind::Array)
      return {Node::Kind::Processor, i, 0};
  return {Node::Kind::Processor, 0, 0};
}

void setControlOfThread(int value) {
  controlOfThread = value;
}

} // namespace strata::svm
