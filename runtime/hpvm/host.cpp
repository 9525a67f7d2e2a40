// The host's side of include/hpvm.h: launches run beside the host on fibres, each within run contexts of its own, and
// end when they are waited for. What the host does wrong ends the program with a message that names the call.
#include "include/hpvm.h"

#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/runtime.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/source_line.h"
#include "runtime/core/trace.h"
#include "runtime/hpvm/graph_table.h"
#include "runtime/hpvm/record.h"
#include "runtime/hpvm/tracker.h"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace strata::hpvm {
namespace {

/// Leaves are C and C++ as users write it, and run on fibres.
constexpr size_t leafStackBytes = 1 << 20;

/// How many items are under way before the graph takes the first of them, and how many results wait to be popped.
constexpr int64_t mostPushed = 16, mostResults = 1 << 20;

/// How many streaming launches are remembered that have nothing to do and nothing to give any more, so that it can be
/// said what is wrong about a call for one.
constexpr size_t mostRetired = 1024;

struct Launch {
  const StrataHpvmGraph* graph;
  char* arguments;            // of a launch that is not streaming
  std::vector<char> own = {}; // the same with the addresses of the graph's own memory; empty: it has none
  StrataToken* token = nullptr;
  bool isStreaming = false;
  StrataStream *input = nullptr, *output = nullptr; // of a streaming one: packed structs; pointers to packed structs
  std::mutex pushing, popping;                      // one at a time of each
  int64_t items = 0;                                // of a streaming one: that the graph has taken
  std::atomic<bool> isClosed = false;               // has been waited for
  bool isRetired = false;                           // and has given back its streams
  std::mutex lock;                                  // of `memory`
  std::vector<void*> memory;                        // of its leaves
};

/// What one process has of graphs. Never destroyed: threads may be at work when the process ends.
struct Host {
  std::mutex lock; // of all but `tracker`
  bool isInitialised = false;
  bool isSeparate = false;                              // graphs have a memory of their own
  std::map<const void*, const StrataHpvmGraph*> graphs; // by root
  std::set<Launch*> launches;                           // that handles stand for
  std::deque<Launch*> retired;                          // of them, the first to be forgotten first
  Tracker tracker;
  Record record;
};

Host& host() {
  static Host* const host = new Host;
  return *host;
}

[[noreturn]] void failAt(const void* caller, const char* code, const std::string& message, const char* help) {
  const runtime::SourceLine at = runtime::sourceLine({caller});
  const StrataCheck check{code, message.c_str(), help, at.file.c_str(), at.line, 0};
  strata_fail(&check, nullptr, 0);
}

/// The rule that all calls stand between initialisation and clean-up. REQUIRES: the host's lock is held.
void checkInitialised(const char* function, const void* caller) {
  if (!host().isInitialised)
    failAt(caller, "hpvm-not-initialised", std::string(function) + " is called outside of initialisation and clean-up",
           "call __hpvm__init() before it");
}

struct Object {
  uintptr_t address = 0;
  uint64_t bytes = 0;
};
/// What a packed struct of inputs says of a pointer: its fields lie at any address.
Object objectIn(const char* inputs, const StrataHpvmPointer& pointer) {
  Object object;
  std::memcpy(&object.address, inputs + pointer.offset, sizeof object.address);
  std::memcpy(&object.bytes, inputs + pointer.size_offset, sizeof object.bytes);
  return object;
}

/// What a graph is given as memory has to be tracked, and be as large as is said.
void checkPointers(const StrataHpvmGraph& graph, const char* arguments, const void* caller) {
  for (uint32_t number = 0; number < graph.pointer_count; ++number) {
    const StrataHpvmPointer& pointer = graph.pointers[number];
    const auto [address, bytes] = objectIn(arguments, pointer);
    if (!address && !bytes)
      continue;
    const std::optional<size_t> tracked = host().tracker.bytesFrom(address);
    const std::string name = std::string("argument '") + pointer.name + "' of graph '" + graph.name + "'";
    if (!tracked)
      failAt(caller, "hpvm-untracked", name + " is memory that is not tracked",
             "call llvm_hpvm_track_mem() for the object before the launch");
    if (*tracked < bytes)
      failAt(caller, "hpvm-object-too-short",
             name + " is said to have " + std::to_string(bytes) + " bytes, and " + std::to_string(*tracked) +
                 " are tracked there",
             "track the whole object, or give the size that it has");
  }
}

/// A packed struct of inputs with the addresses of the graphs' own memory, to which objects are copied.
void giveObjects(const StrataHpvmGraph& graph, char* inputs) {
  for (uint32_t number = 0; number < graph.pointer_count; ++number) {
    const StrataHpvmPointer& pointer = graph.pointers[number];
    const auto [address, bytes] = objectIn(inputs, pointer);
    if (!address)
      continue;
    const uintptr_t given = host().tracker.give(address, pointer.is_written);
    if (!given)
      runtime::failOutOfMemory("the graphs' own memory", static_cast<int64_t>(bytes));
    std::memcpy(inputs + pointer.offset, &given, sizeof given);
  }
}

/// Pointers among the outputs of a graph, as the host knows them.
void takeOutputs(const StrataHpvmGraph& graph, char* outputs) {
  for (uint32_t number = 0; number < graph.pointer_output_count; ++number) {
    uintptr_t address = 0;
    std::memcpy(&address, outputs + graph.pointer_outputs[number], sizeof address);
    address = host().tracker.hostAddress(address);
    std::memcpy(outputs + graph.pointer_outputs[number], &address, sizeof address);
  }
}

void runLaunch(void* argument) {
  Launch* const launch = *static_cast<Launch**>(argument);
  const StrataHpvmGraph& graph = *launch->graph;
  if (launch->isStreaming)
    return graph.stream(launch);
  if (launch->own.empty())
    return graph.run(launch, launch->arguments);
  graph.run(launch, launch->own.data());
  char* const outputs = launch->own.data() + graph.argument_bytes;
  takeOutputs(graph, outputs);
  std::memcpy(launch->arguments + graph.argument_bytes, outputs, graph.output_bytes);
}

/// Waits until a launch has nothing more to do.
void drain(Launch* launch) {
  if (launch->isStreaming && !launch->isClosed) {
    strata_stream_end(launch->input);
    strata_wait(launch->token);
    strata_stream_end(launch->output);
  } else {
    strata_wait(launch->token);
  }
  launch->isClosed = true;
}

/// Gives back what a launch works with, after it was drained.
void release(Launch* launch) {
  strata_token_release(launch->token);
  if (launch->isStreaming) {
    for (void* result = nullptr; strata_stream_pop(launch->output, &result);)
      std::free(result);
    strata_stream_destroy(launch->input);
    strata_stream_destroy(launch->output);
  }
}

/// Waits for a launch and gives back what it has.
void end(Launch* launch) {
  if (!launch->isRetired) {
    drain(launch);
    release(launch);
  }
  for (void* each : launch->memory)
    std::free(each);
  delete launch;
}

/// Gives back what a streaming launch works with that was waited for, if no result is left. Its leaves' memory stays,
/// which results may point to. REQUIRES: the caller holds `popping`, and not the host's lock.
void retire(Launch* launch) {
  void* next = nullptr;
  if (launch->isRetired || !launch->isClosed || strata_stream_peek(launch->output, 0, &next))
    return;
  release(launch);
  launch->isRetired = true;
  if (!launch->memory.empty())
    return;
  std::lock_guard guard(host().lock);
  host().retired.push_back(launch);
  if (host().retired.size() <= mostRetired)
    return;
  Launch* const oldest = host().retired.front();
  host().retired.pop_front();
  host().launches.erase(oldest);
  delete oldest;
}

/// A launch that a handle stands for. REQUIRES: the host's lock is not held.
Launch* launchOf(void* handle, const char* function, const void* caller) {
  std::lock_guard guard(host().lock);
  checkInitialised(function, caller);
  auto* const launch = static_cast<Launch*>(handle);
  if (!host().launches.contains(launch))
    failAt(caller, "hpvm-unknown-launch", std::string(function) + " is given a handle of no launched graph",
           "a handle is valid from the launch to the wait");
  return launch;
}

/// The same for push and pop, with the rule that the launch is streaming.
Launch* streamOf(void* handle, const char* function, const void* caller) {
  Launch* const launch = launchOf(handle, function, caller);
  if (!launch->isStreaming)
    failAt(caller, "hpvm-not-streaming",
           std::string(function) + " is called for graph '" + launch->graph->name + "', whose launch is not streaming",
           "launch it with 1 as the first argument");
  return launch;
}

} // namespace
} // namespace strata::hpvm

using namespace strata::hpvm;

int64_t strata_hpvm_record_begin(void) {
  return strata::runtime::traceClock();
}

void strata_hpvm_record(void* launch, int64_t began) {
  const int64_t end = strata::runtime::traceClock();
  const auto& ended = *static_cast<Launch*>(launch);
  host().record.add(ended.graph->name, ended.isStreaming ? ended.items : 1, end - began);
}

void strata_hpvm_register(const StrataHpvmGraph* graphs, uint32_t count) {
  std::lock_guard guard(host().lock);
  for (uint32_t number = 0; number < count; ++number)
    if (graphs[number].root)
      host().graphs[graphs[number].root] = &graphs[number];
}

void* strata_hpvm_allocate(void* launch, int64_t bytes) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* const memory = bytes < 0 ? nullptr : std::malloc(size);
  if (!memory)
    strata::runtime::failOutOfMemory("__hpvm__malloc in a leaf", bytes);
  auto& owner = *static_cast<Launch*>(launch);
  std::lock_guard guard(owner.lock);
  owner.memory.push_back(memory);
  return memory;
}

void __hpvm__init() noexcept {
  std::lock_guard guard(host().lock);
  if (host().isInitialised)
    failAt(__builtin_return_address(0), "hpvm-initialised-twice", "__hpvm__init is called twice",
           "call __hpvm__cleanup() in between");
  const std::optional<uint32_t> threads = strata::runtime::threadsInEnvironment();
  if (!threads)
    failAt(__builtin_return_address(0), "hpvm-environment",
           "STRATA_THREADS is '" + std::string(std::getenv("STRATA_THREADS")) + "'",
           strata::runtime::threadsHelp().c_str());
  const char* const memory = std::getenv("STRATA_HPVM_MEMORY");
  const std::string_view kind = memory ? memory : "";
  if (kind != "" && kind != "shared" && kind != "separate")
    failAt(__builtin_return_address(0), "hpvm-environment", "STRATA_HPVM_MEMORY is '" + std::string(kind) + "'",
           "say 'shared', where graphs work on the host's memory, or 'separate', where they have copies");
  if (!isStatsFormKnown())
    failAt(__builtin_return_address(0), "hpvm-environment",
           "STRATA_STATS is '" + std::string(std::getenv("STRATA_STATS")) + "'",
           "say 'text' or 'json', for figures on the standard error, or 'json:FILE'");
  host().isSeparate = kind == "separate";
  // Where anything runs already, others have chosen.
  if (*threads && *threads != strata::runtime::threads() && strata::runtime::isAlone())
    strata::runtime::setThreads(*threads);
  host().isInitialised = true;
  // Another thread may push what this one waits to pop.
  strata::runtime::setForeignThreads(true);
  strata::runtime::setFibreStackBytes(std::max(strata::runtime::fibreStackBytes(), leafStackBytes));
}

void __hpvm__cleanup() noexcept {
  std::set<Launch*> launches;
  {
    std::lock_guard guard(host().lock);
    checkInitialised("__hpvm__cleanup", __builtin_return_address(0));
    host().isInitialised = false;
    launches.swap(host().launches);
    host().retired.clear();
  }
  for (Launch* launch : launches)
    end(launch);
  host().record.write();
  host().tracker.clear();
}

void llvm_hpvm_track_mem(void* object, size_t bytes) noexcept {
  {
    std::lock_guard guard(host().lock);
    checkInitialised("llvm_hpvm_track_mem", __builtin_return_address(0));
  }
  if (!host().tracker.track(reinterpret_cast<uintptr_t>(object), bytes))
    failAt(__builtin_return_address(0), "hpvm-tracked-twice",
           "llvm_hpvm_track_mem is given an object that is tracked already",
           "untrack an object before its memory is used for another one");
  if (host().isSeparate && host().tracker.overlapping(reinterpret_cast<uintptr_t>(object), bytes))
    failAt(__builtin_return_address(0), "hpvm-objects-overlap",
           "llvm_hpvm_track_mem is given an object that shares bytes with another one, and graphs have a memory of "
           "their own",
           "track the whole, and give graphs parts of it");
}

void llvm_hpvm_untrack_mem(void* object) noexcept {
  {
    std::lock_guard guard(host().lock);
    checkInitialised("llvm_hpvm_untrack_mem", __builtin_return_address(0));
  }
  if (!host().tracker.untrack(reinterpret_cast<uintptr_t>(object)))
    failAt(__builtin_return_address(0), "hpvm-not-tracked",
           "llvm_hpvm_untrack_mem is given an object that is not tracked",
           "give it the address that llvm_hpvm_track_mem was given");
}

void llvm_hpvm_request_mem(void* object, size_t bytes) noexcept {
  {
    std::lock_guard guard(host().lock);
    checkInitialised("llvm_hpvm_request_mem", __builtin_return_address(0));
  }
  const std::optional<size_t> tracked = host().tracker.objectAt(reinterpret_cast<uintptr_t>(object));
  if (!tracked)
    failAt(__builtin_return_address(0), "hpvm-not-tracked",
           "llvm_hpvm_request_mem is given an object that is not tracked",
           "give it the address that llvm_hpvm_track_mem was given");
  if (*tracked < bytes)
    failAt(__builtin_return_address(0), "hpvm-object-too-short",
           "llvm_hpvm_request_mem asks for " + std::to_string(bytes) + " bytes of an object of " +
               std::to_string(*tracked),
           "ask for as many bytes as are tracked");
  host().tracker.request(reinterpret_cast<uintptr_t>(object));
}

void* __hpvm__launch(unsigned is_stream, ...) noexcept {
  va_list rest;
  va_start(rest, is_stream);
  const void* const root = va_arg(rest, const void*);
  auto* const arguments = static_cast<char*>(va_arg(rest, void*));
  va_end(rest);
  const void* const caller = __builtin_return_address(0);
  const StrataHpvmGraph* graph = nullptr;
  {
    std::lock_guard guard(host().lock);
    checkInitialised("__hpvm__launch", caller);
    if (const auto found = host().graphs.find(root); found != host().graphs.end())
      graph = found->second;
  }
  if (!graph)
    failAt(caller, "hpvm-unknown-graph", "__hpvm__launch is given a function that no graph was made of",
           "compile and link with strata cc or strata c++, and call __hpvm__launch itself, with the root's function "
           "named");
  if (!(is_stream ? bool(graph->stream) : bool(graph->run)))
    failAt(caller, "hpvm-streaming-unknown", "the first argument of __hpvm__launch is not what the link has seen",
           "write 0 or 1 as the first argument");
  if (!is_stream)
    checkPointers(*graph, arguments, caller);
  auto launch = std::make_unique<Launch>();
  launch->graph = graph;
  launch->arguments = arguments;
  launch->isStreaming = is_stream != 0;
  if (is_stream) {
    launch->input = strata_stream_create(static_cast<int64_t>(std::max<uint64_t>(graph->argument_bytes, 1)), mostPushed,
                                         "inputs of a graph");
    launch->output = strata_stream_create(sizeof(void*), mostResults, "outputs of a graph");
  }
  if (!is_stream && host().isSeparate) {
    launch->own.assign(arguments, arguments + graph->argument_bytes);
    launch->own.resize(std::max<size_t>(graph->argument_bytes + graph->output_bytes, 1));
    giveObjects(*graph, launch->own.data());
  }
  Launch* const handle = launch.release();
  {
    std::lock_guard guard(host().lock);
    host().launches.insert(handle);
  }
  handle->token = strata_spawn(runLaunch, &handle, sizeof handle, ~0u, 0, nullptr, 0);
  return handle;
}

void __hpvm__wait(void* graph) noexcept {
  const void* const caller = __builtin_return_address(0);
  Launch* const launch = launchOf(graph, "__hpvm__wait", caller);
  if (launch->isClosed)
    failAt(caller, "hpvm-waited-twice", "__hpvm__wait is called twice for one launch", "wait for each launch once");
  if (launch->isStreaming) {
    {
      std::lock_guard guard(launch->pushing);
      drain(launch);
    }
    std::lock_guard guard(launch->popping);
    retire(launch);
    return;
  }
  {
    std::lock_guard guard(host().lock);
    host().launches.erase(launch);
  }
  end(launch);
}

void __hpvm__push(void* graph, void* arguments) noexcept {
  const void* const caller = __builtin_return_address(0);
  Launch* const launch = streamOf(graph, "__hpvm__push", caller);
  std::lock_guard guard(launch->pushing);
  if (launch->isClosed)
    failAt(caller, "hpvm-push-after-wait",
           "__hpvm__push is called for graph '" + std::string(launch->graph->name) + "' after __hpvm__wait",
           "push everything before the wait, which ends the input");
  checkPointers(*launch->graph, static_cast<const char*>(arguments), caller);
  const auto* inputs = static_cast<const char*>(arguments);
  std::vector<char> own;
  if (host().isSeparate) {
    own.assign(inputs, inputs + launch->graph->argument_bytes);
    giveObjects(*launch->graph, own.data());
    inputs = own.data();
  }
  const char nothing = 0;
  strata_stream_push(launch->input, launch->graph->argument_bytes ? inputs : &nothing);
}

void* __hpvm__pop(void* graph) noexcept {
  const void* const caller = __builtin_return_address(0);
  Launch* const launch = streamOf(graph, "__hpvm__pop", caller);
  if (!launch->graph->output_count)
    failAt(caller, "hpvm-no-outputs",
           "__hpvm__pop is called for graph '" + std::string(launch->graph->name) + "', which has no outputs",
           "bind an output of a node to one of the root's");
  std::lock_guard guard(launch->popping);
  void* result = nullptr;
  if (launch->isRetired || !strata_stream_pop(launch->output, &result))
    failAt(caller, "hpvm-pop-empty",
           "__hpvm__pop asks graph '" + std::string(launch->graph->name) + "' for more results than there are",
           "pop as often as is pushed");
  retire(launch);
  return result;
}

int32_t strata_hpvm_next(int64_t launch, void* item) {
  Launch& owner = *reinterpret_cast<Launch*>(launch);
  const int32_t more = strata_stream_pop(owner.input, item);
  owner.items += more;
  return more;
}

void strata_hpvm_deliver(int64_t launch, const void* outputs) {
  Launch& owner = *reinterpret_cast<Launch*>(launch);
  const size_t bytes = owner.graph->output_bytes;
  void* const copy = std::malloc(std::max<size_t>(bytes, 1));
  if (!copy)
    strata::runtime::failOutOfMemory("the outputs of a graph", static_cast<int64_t>(bytes));
  std::memcpy(copy, outputs, bytes);
  if (host().isSeparate)
    takeOutputs(*owner.graph, static_cast<char*>(copy));
  strata_stream_push(owner.output, &copy);
}
