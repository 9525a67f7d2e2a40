// The host's side of include/hpvm.h: launches run beside the host on fibres, each within run contexts of its own, and
// end when they are waited for. What the host does wrong ends the program with a message that names the call.
#include "include/hpvm.h"

#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/runtime.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/thread.h"
#include "runtime/core/trace.h"
#include "runtime/hpvm/graph_table.h"
#include "runtime/hpvm/place.h"
#include "runtime/hpvm/record.h"
#include "runtime/hpvm/tracker.h"
#include "runtime/hpvm/uses.h"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <map>
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

/// What a record calls waits for them.
constexpr StrataStreamPlace pushedItems{strata_none, strata_none, "wait until an item is taken", "wait for a push"};
constexpr StrataStreamPlace results{strata_none, strata_none, "wait for a pop", "wait for a result"};

struct Launch {
  const StrataHpvmGraph* graph = nullptr;
  char* arguments = nullptr;  // of a launch that is not streaming
  Caller caller = {};         // where it was launched
  std::vector<char> own = {}; // the arguments with the addresses of the graph's own memory; empty: it has none
  StrataToken* token = nullptr;
  bool isStreaming = false;
  StrataStream *input = nullptr, *output = nullptr; // of a streaming one: packed structs; pointers to packed structs
  std::mutex pushing, popping;                      // one at a time of each
  int64_t items = 0;                                // of a streaming one: that the graph has taken
  std::atomic<bool> isWaitedFor = false;            // or is being waited for
  std::atomic<bool> isDrained = false;              // has nothing more to do
  bool isReleased = false;                          // and has given back its streams (guarded by `popping`)
  // Guarded by the host's lock.
  ObjectUses uses;
  int64_t pushed = 0, popped = 0; // items; one that is not streaming is one item
  // Who is in such a call and has not come back, for the explanation of a standstill.
  std::atomic<const Caller*> pusher = nullptr, popper = nullptr, waiter = nullptr;
  std::mutex lock;           // of `memory`
  std::vector<void*> memory; // of its leaves

  Launch() = default;
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    for (void* each : memory)
      std::free(each);
  }
  std::string name() const { return std::string("graph '") + graph->name + "'"; }
};
using LaunchPointer = std::shared_ptr<Launch>;

/// Handles are numbers that are given once, so that one which is used too late is told from all others. They are no
/// addresses of memory.
constexpr uint64_t handleBase = uint64_t(1) << 62;

/// What one process has of graphs. Never destroyed: threads may be at work when the process ends.
struct Host {
  std::mutex lock; // of all but `tracker` and `record`
  bool isInitialised = false;
  bool isSeparate = false;                              // graphs have a memory of their own
  std::map<const void*, const StrataHpvmGraph*> graphs; // by root
  uint64_t handles = 0;                                 // that were given
  std::map<uint64_t, LaunchPointer> launches;           // by handle: those of which there is something left
  std::set<Launch*> underWay;                           // of them, those that have not been waited for to the end
  Tracker tracker;
  Record record;
};

Host& host() {
  static Host* const host = new Host;
  return *host;
}

/// Says while a call waits where it was made.
class Waiting {
public:
  Waiting(std::atomic<const Caller*>& whose, const Caller& caller) : whose_(whose) { whose_.store(&caller); }
  ~Waiting() { whose_.store(nullptr); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

private:
  std::atomic<const Caller*>& whose_;
};

/// The rule that all calls stand between initialisation and clean-up. REQUIRES: the host's lock is held.
void checkInitialised(const char* function, const Caller& caller) {
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

/// Inputs, and room for outputs, are given where there are any.
void checkArguments(const char* function, const StrataHpvmGraph& graph, const char* arguments, uint64_t bytes,
                    const Caller& caller) {
  if (arguments || bytes == 0)
    return;
  const uint32_t inputs = graph.argument_count, outputs = graph.output_count;
  failAt(caller, "hpvm-no-arguments",
         std::string(function) + " is given a null pointer, and graph '" + graph.name + "' has " +
             std::to_string(inputs) + (inputs == 1 ? " input and " : " inputs and ") + std::to_string(outputs) +
             (outputs == 1 ? " output" : " outputs"),
         "give it the address of a packed struct: a field for each input, and for a launch then one for each output");
}

/// What a graph is given as memory has to be tracked, and be as large as is said.
void checkPointers(const StrataHpvmGraph& graph, const char* arguments, const Caller& caller) {
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

/// Remembers which objects the next item of a launch works on. REQUIRES: the host's lock is held.
void noteItem(Launch& launch, const char* inputs) {
  const StrataHpvmGraph& graph = *launch.graph;
  ++launch.pushed;
  for (uint32_t number = 0; number < graph.pointer_count; ++number)
    if (const Object given = objectIn(inputs, graph.pointers[number]); given.address)
      if (const auto object = host().tracker.objectOf(given.address))
        launch.uses.add(object->begin, object->bytes, graph.pointers[number].is_written, launch.pushed);
}

/// The rule that the host takes no object back that a launch works on. `isReadAlso`: not even what it only reads.
/// REQUIRES: the host's lock is held.
void checkUnused(const char* function, uintptr_t begin, size_t bytes, bool isReadAlso, const Caller& caller) {
  for (const Launch* launch : host().underWay) {
    const ObjectUses::Use use = launch->uses.of(begin, bytes, launch->popped);
    if (use == ObjectUses::Use::None || (use == ObjectUses::Use::Read && !isReadAlso))
      continue;
    const bool isPopped = launch->isStreaming && launch->graph->output_count;
    failAt(caller, "hpvm-not-waited",
           std::string(function) + " is given an object that " + launch->name() +
               (use == ObjectUses::Use::Written ? " writes" : " reads") + ", which was launched" +
               atText(launch->caller) + " and " +
               (isPopped ? "has items whose results have not been popped" : "has not been waited for"),
           isPopped ? "pop the results of every item that has the object before it, or wait for the launch"
                    : "call __hpvm__wait() with the launch's handle before it");
  }
}

/// The rule that leaves write nothing but what attributes list as written, where graphs have copies: the host would
/// never see it. Links see most of it; not pointers that are kept in memory or made of numbers.
void checkUnwritten(const Launch& launch, const Caller& caller) {
  const StrataHpvmGraph& graph = *launch.graph;
  for (uint32_t number = 0; number < graph.pointer_count && !launch.own.empty(); ++number) {
    const StrataHpvmPointer& pointer = graph.pointers[number];
    const Object given = objectIn(launch.own.data(), pointer);
    if (!pointer.is_written && given.address && host().tracker.differs(given.address))
      failAt(caller, "hpvm-changed",
             std::string("graph '") + graph.name + "', launched" + atText(launch.caller) + ", only reads argument '" +
                 pointer.name + "', and its copy has other values than the host when it ends",
             "list the pointer among the outputs of the __hpvm__attributes of the leaf that writes it and of the nodes "
             "around it; or, where the host writes it, do that before the launch or after the wait");
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

/// Waits until a launch has nothing more to do. REQUIRES: the caller holds `pushing`.
void drain(Launch& launch) {
  if (launch.isDrained)
    return;
  if (launch.isStreaming)
    strata_stream_end(launch.input);
  strata_wait(launch.token);
  if (launch.isStreaming)
    strata_stream_end(launch.output);
  launch.isDrained = true;
}

/// Gives back what a launch works with but its leaves' memory, to which results may point. REQUIRES: it was drained,
/// and the caller holds `popping`.
void release(Launch& launch) {
  if (launch.isReleased)
    return;
  strata_token_release(launch.token);
  if (launch.isStreaming) {
    for (void* result = nullptr; strata_stream_pop(launch.output, &result);)
      std::free(result);
    strata_stream_destroy(launch.input);
    strata_stream_destroy(launch.output);
  }
  launch.isReleased = true;
}

/// Gives back what a launch has when there is nothing left of it to pop. REQUIRES: it was drained, and the caller holds
/// `popping`, and not the host's lock.
void retire(Launch& launch, uint64_t handle) {
  void* next = nullptr;
  if (launch.isReleased || (launch.isStreaming && strata_stream_peek(launch.output, 0, &next)))
    return;
  release(launch);
  if (launch.isStreaming && !launch.memory.empty())
    return; // until the clean-up
  std::lock_guard guard(host().lock);
  host().launches.erase(handle); // its last user deletes it
}

uint64_t numberOf(const void* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

/// The launch that a handle stands for; null: there is nothing left of it. REQUIRES: the host's lock is not held.
LaunchPointer launchOf(const void* handle, const char* function, const Caller& caller) {
  std::lock_guard guard(host().lock);
  checkInitialised(function, caller);
  const uint64_t number = numberOf(handle);
  if (const auto found = host().launches.find(number); found != host().launches.end())
    return found->second;
  if (number < handleBase || number - handleBase >= host().handles)
    failAt(caller, "hpvm-unknown-launch", std::string(function) + " is given what is no handle of a launched graph",
           "give it what __hpvm__launch() has given");
  return nullptr;
}

/// The rule that a launch is streaming, for push and pop.
void checkStreaming(const Launch& launch, const char* function, const Caller& caller) {
  if (!launch.isStreaming)
    failAt(caller, "hpvm-not-streaming",
           std::string(function) + " is called for " + launch.name() + ", whose launch" + atText(launch.caller) +
               " is not streaming",
           "launch it with 1 as the first argument");
}

/// The end of the program when nothing can run any more: which calls of the host wait, and for what.
void failStandstill() {
  std::unique_lock guard(host().lock, std::try_to_lock);
  std::string text;
  std::string help = "give each launch its inputs before its results are popped, and pop results before as many wait";
  const Caller* first = nullptr;
  const auto add = [&](const Caller* caller, const std::string& what) {
    if (!caller)
      return;
    text += (text.empty() ? ": " : "; ") + what + (first ? atText(*caller) : "");
    first = first ? first : caller;
  };
  if (guard.owns_lock())
    for (const auto& [handle, launch] : host().launches) {
      const std::string name = launch->name() + ", launched" + atText(launch->caller) + ",";
      const bool isNone = launch->popped == launch->pushed;
      add(launch->popper, "__hpvm__pop waits for a result of " + name +
                              (isNone ? " to which no more items have been pushed" : " which does not give it"));
      if (launch->popper && isNone)
        help = "push an item before its result is popped";
      add(launch->pusher, "__hpvm__push waits until " + name + " takes an item");
      add(launch->waiter, "__hpvm__wait waits for the end of " + name);
    }
  const std::string all = runtime::describeDeadlock();
  if (!first)
    runtime::fail("runtime-deadlock", all, "change the order in which these wait for each other");
  failAt(*first, "runtime-deadlock", "nothing can run any more" + text, help);
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
  std::vector<std::string> rows;
  if (ended.isStreaming)
    rows.assign(ended.graph->stages, ended.graph->stages + ended.graph->stage_count);
  host().record.add(ended.graph->name, ended.isStreaming ? ended.items : 1, end - began, rows);
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
  const Caller caller = takeCaller(__builtin_return_address(0));
  std::lock_guard guard(host().lock);
  if (host().isInitialised)
    failAt(caller, "hpvm-initialised-twice", "__hpvm__init is called twice", "call __hpvm__cleanup() in between");
  const std::optional<uint32_t> threads = strata::runtime::threadsInEnvironment();
  if (!threads)
    failAt(caller, "hpvm-environment", "STRATA_THREADS is '" + std::string(std::getenv("STRATA_THREADS")) + "'",
           strata::runtime::threadsHelp());
  const char* const memory = std::getenv("STRATA_HPVM_MEMORY");
  const std::string_view kind = memory ? memory : "";
  if (kind != "" && kind != "shared" && kind != "separate")
    failAt(caller, "hpvm-environment", "STRATA_HPVM_MEMORY is '" + std::string(kind) + "'",
           "say 'shared', where graphs work on the host's memory, or 'separate', where they have copies");
  if (!isStatsFormKnown())
    failAt(caller, "hpvm-environment", "STRATA_STATS is '" + std::string(std::getenv("STRATA_STATS")) + "'",
           "say 'text' or 'json', for figures on the standard error, or 'json:FILE'");
  host().isSeparate = kind == "separate";
  // Where anything runs already, others have chosen.
  if (*threads && *threads != strata::runtime::threads() && strata::runtime::isAlone())
    strata::runtime::setThreads(*threads);
  host().isInitialised = true;
  // Another thread may push what this one waits to pop.
  strata::runtime::setForeignThreads(true);
  strata::runtime::setStandstillHandler(failStandstill);
  strata::runtime::setFibreStackBytes(std::max(strata::runtime::fibreStackBytes(), leafStackBytes));
}

void __hpvm__cleanup() noexcept {
  const Caller caller = takeCaller(__builtin_return_address(0));
  std::map<uint64_t, LaunchPointer> launches;
  {
    std::lock_guard guard(host().lock);
    checkInitialised("__hpvm__cleanup", caller);
    for (const auto& [handle, launch] : host().launches) // the first that was launched
      if (host().underWay.contains(launch.get()))
        failAt(caller, "hpvm-not-waited",
               "__hpvm__cleanup is called, and " + launch->name() + ", which was launched" + atText(launch->caller) +
                   ", has not been waited for",
               "call __hpvm__wait() with the launch's handle before it");
    host().isInitialised = false;
    launches.swap(host().launches);
  }
  for (const auto& [handle, launch] : launches) {
    std::lock_guard guard(launch->popping);
    release(*launch);
  }
  host().record.write();
  host().tracker.clear();
}

void llvm_hpvm_track_mem(void* object, size_t bytes) noexcept {
  const Caller caller = takeCaller(__builtin_return_address(0));
  {
    std::lock_guard guard(host().lock);
    checkInitialised("llvm_hpvm_track_mem", caller);
  }
  const auto begin = reinterpret_cast<uintptr_t>(object);
  if (bytes && (!begin || bytes > UINTPTR_MAX - begin))
    failAt(caller, "hpvm-no-object",
           begin ? "llvm_hpvm_track_mem is given an object of " + std::to_string(bytes) + " bytes, more than there are"
                 : "llvm_hpvm_track_mem is given a null pointer as an object of " + std::to_string(bytes) + " bytes",
           "give it memory that is there, and its size in bytes");
  if (!host().tracker.track(begin, bytes))
    failAt(caller, "hpvm-tracked-twice", "llvm_hpvm_track_mem is given an object that is tracked already",
           "untrack an object before its memory is used for another one");
  if (host().isSeparate && host().tracker.overlapping(begin, bytes))
    failAt(caller, "hpvm-objects-overlap",
           "llvm_hpvm_track_mem is given an object that shares bytes with another one, and graphs have a memory of "
           "their own",
           "track the whole, and give graphs parts of it");
}

void llvm_hpvm_untrack_mem(void* object) noexcept {
  const Caller caller = takeCaller(__builtin_return_address(0));
  const auto begin = reinterpret_cast<uintptr_t>(object);
  std::lock_guard guard(host().lock);
  checkInitialised("llvm_hpvm_untrack_mem", caller);
  const std::optional<size_t> tracked = host().tracker.objectAt(begin);
  if (!tracked)
    failAt(caller, "hpvm-not-tracked", "llvm_hpvm_untrack_mem is given an object that is not tracked",
           "give it the address that llvm_hpvm_track_mem was given");
  checkUnused("llvm_hpvm_untrack_mem", begin, *tracked, /*isReadAlso=*/true, caller);
  host().tracker.untrack(begin);
  for (Launch* launch : host().underWay)
    launch->uses.forget(begin);
}

void llvm_hpvm_request_mem(void* object, size_t bytes) noexcept {
  const Caller caller = takeCaller(__builtin_return_address(0));
  const auto begin = reinterpret_cast<uintptr_t>(object);
  {
    std::lock_guard guard(host().lock);
    checkInitialised("llvm_hpvm_request_mem", caller);
    const std::optional<size_t> tracked = host().tracker.objectAt(begin);
    if (!tracked)
      failAt(caller, "hpvm-not-tracked", "llvm_hpvm_request_mem is given an object that is not tracked",
             "give it the address that llvm_hpvm_track_mem was given");
    if (*tracked < bytes)
      failAt(caller, "hpvm-object-too-short",
             "llvm_hpvm_request_mem asks for " + std::to_string(bytes) + " bytes of an object of " +
                 std::to_string(*tracked),
             "ask for as many bytes as are tracked");
    checkUnused("llvm_hpvm_request_mem", begin, *tracked, /*isReadAlso=*/false, caller);
  }
  host().tracker.request(begin);
}

void* __hpvm__launch(unsigned is_stream, ...) noexcept {
  va_list rest;
  va_start(rest, is_stream);
  const void* const root = va_arg(rest, const void*);
  auto* const arguments = static_cast<char*>(va_arg(rest, void*));
  va_end(rest);
  const Caller caller = takeCaller(__builtin_return_address(0));
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
    failAt(caller, "hpvm-streaming-unknown",
           "the first argument of __hpvm__launch for graph '" + std::string(graph->name) +
               "' is not what the link has seen",
           "write 0 or 1 as the first argument");
  if (!is_stream) {
    checkArguments("__hpvm__launch", *graph, arguments, graph->argument_bytes + graph->output_bytes, caller);
    checkPointers(*graph, arguments, caller);
  }
  auto launch = std::make_shared<Launch>();
  launch->graph = graph;
  launch->arguments = arguments;
  launch->caller = caller;
  launch->isStreaming = is_stream != 0;
  if (is_stream) {
    launch->input = strata_stream_create_at(
        &pushedItems, static_cast<int64_t>(std::max<uint64_t>(graph->argument_bytes, 1)), mostPushed, "pushed items");
    launch->output = strata_stream_create_at(&results, sizeof(void*), mostResults, "results to pop");
  }
  if (!is_stream && host().isSeparate) {
    launch->own.assign(arguments, arguments + graph->argument_bytes);
    launch->own.resize(std::max<size_t>(graph->argument_bytes + graph->output_bytes, 1));
    giveObjects(*graph, launch->own.data());
  }
  Launch* const working = launch.get();
  std::lock_guard guard(host().lock);
  if (!is_stream)
    noteItem(*launch, arguments);
  launch->token = strata_spawn(runLaunch, &working, sizeof working, ~0u, 0, nullptr, 0);
  const uint64_t handle = handleBase + host().handles++;
  host().underWay.insert(working);
  host().launches.emplace(handle, std::move(launch));
  return reinterpret_cast<void*>(handle); // NOLINT(performance-no-int-to-ptr)
}

void __hpvm__wait(void* graph) noexcept {
  const Caller caller = takeCaller(__builtin_return_address(0));
  const LaunchPointer launch = launchOf(graph, "__hpvm__wait", caller);
  if (!launch || launch->isWaitedFor.exchange(true))
    failAt(caller, "hpvm-waited-twice",
           "__hpvm__wait is called twice for one launch" +
               (launch ? ", of " + launch->name() + atText(launch->caller) : std::string()),
           "wait for each launch once");
  {
    const Waiting waiting(launch->waiter, caller);
    std::lock_guard guard(launch->pushing);
    drain(*launch);
  }
  checkUnwritten(*launch, caller);
  {
    std::lock_guard guard(host().lock);
    host().underWay.erase(launch.get());
  }
  std::lock_guard guard(launch->popping);
  retire(*launch, numberOf(graph));
}

void __hpvm__push(void* graph, void* arguments) noexcept {
  const Caller caller = takeCaller(__builtin_return_address(0));
  const LaunchPointer launch = launchOf(graph, "__hpvm__push", caller);
  if (!launch)
    failAt(caller, "hpvm-push-after-wait", "__hpvm__push is called for a launch after __hpvm__wait",
           "push everything before the wait, which ends the input");
  checkStreaming(*launch, "__hpvm__push", caller);
  std::lock_guard guard(launch->pushing);
  const Waiting waiting(launch->pusher, caller);
  if (launch->isWaitedFor)
    failAt(caller, "hpvm-push-after-wait", "__hpvm__push is called for " + launch->name() + " after __hpvm__wait",
           "push everything before the wait, which ends the input");
  checkArguments("__hpvm__push", *launch->graph, static_cast<const char*>(arguments), launch->graph->argument_bytes,
                 caller);
  checkPointers(*launch->graph, static_cast<const char*>(arguments), caller);
  const auto* inputs = static_cast<const char*>(arguments);
  {
    std::lock_guard hosts(host().lock);
    noteItem(*launch, inputs);
  }
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
  const Caller caller = takeCaller(__builtin_return_address(0));
  const LaunchPointer launch = launchOf(graph, "__hpvm__pop", caller);
  const auto failEmpty = [&](const std::string& name) {
    failAt(caller, "hpvm-pop-empty", "__hpvm__pop asks " + name + " for more results than there are",
           "pop as often as is pushed");
  };
  if (!launch)
    failEmpty("a launch that has ended");
  checkStreaming(*launch, "__hpvm__pop", caller);
  if (!launch->graph->output_count)
    failAt(caller, "hpvm-no-outputs", "__hpvm__pop is called for " + launch->name() + ", which has no outputs",
           "bind an output of a node to one of the root's");
  std::lock_guard guard(launch->popping);
  const Waiting waiting(launch->popper, caller);
  void* result = nullptr;
  if (launch->isReleased || !strata_stream_pop(launch->output, &result))
    failEmpty(launch->name());
  {
    std::lock_guard hosts(host().lock);
    ++launch->popped;
  }
  if (launch->isDrained)
    retire(*launch, numberOf(graph));
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
