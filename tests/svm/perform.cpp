// Implements Performance: control's actions one after another, and the work function that follows an execution's list.
#include "tests/svm/perform.h"

#include "base/machine/nodes.h"

#include "include/svm_kernels.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace strata::graphs {

const char* const fieldPath = STRATA_SOURCE_DIR "/tests/svm/field.yaml";

struct Performance::Worker {
  Kernel kernel;
  const Performance* run;
  uint32_t execution;
  uint64_t number;
};

namespace {

/// A black box of the user's: a sequence, each element by itself.
struct Box {
  Kernel kernel;
  IStream* in;
  OStream* out;
  const StreamPlan* source;
  const StreamPlan* target;
};

void scramble(void* data) {
  const Box& box = *static_cast<Box*>(data);
  uint8_t element[largestElement];
  for (bool last = false; !last;) {
    last = streamPeekEOS(box.in, 0) != FALSE;
    streamPop(box.in, element);
    const uint64_t number = mix(digest(element, static_cast<uint32_t>(box.source->elementBytes)));
    fill(number, box.target->bound, element, static_cast<uint32_t>(box.target->elementBytes));
    if (last)
      streamPushWithEOS(box.out, element);
    else
      streamPush(box.out, element);
  }
}

/// One of everything that an object may be.
template <typename Worker>
struct Thing {
  Worker worker;
  Move move;
  StridedScatter stridedScatter;
  StridedGather stridedGather;
  IndexedScatter indexedScatter;
  IndexedGather indexedGather;
  Box scramble;
  ::Sort inOrder;
  Fir filter;
};

int node(machine::Node::Kind kind, uint32_t index, uint32_t instance) {
  return machine::nodeValue({kind, index, instance});
}
int memoryOf(uint32_t place) {
  return node(machine::Node::Kind::Memory, 0, place);
}
int processorOf(const Object& object) {
  return node(machine::Node::Kind::Processor, object.dma ? 2 : 1, object.processor);
}

} // namespace

struct Performance::Things {
  Things(size_t streamCount, size_t blockCount, size_t objectCount)
      : streams(new Stream[streamCount]()), blocks(new Block[blockCount]()), objects(new Thing<Worker>[objectCount]()) {
  }
  // The library knows them by their addresses as long as the process lives.
  Stream* const streams;
  Block* const blocks;
  Thing<Worker>* const objects;

  Kernel* kernel(const Graph& graph, uint32_t object) const {
    Thing<Worker>& thing = objects[object];
    switch (graph.objects[object].sort) {
    case Sort::User:
      return &thing.worker.kernel;
    case Sort::Move:
      return &thing.move.kernel;
    case Sort::StridedScatter:
      return &thing.stridedScatter.kernel;
    case Sort::StridedGather:
      return &thing.stridedGather.kernel;
    case Sort::IndexedScatter:
      return &thing.indexedScatter.kernel;
    case Sort::IndexedGather:
      return &thing.indexedGather.kernel;
    case Sort::Scramble:
      return &thing.scramble.kernel;
    case Sort::InOrder:
      return &thing.inOrder.kernel;
    case Sort::Filter:
      return &thing.filter.kernel;
    }
    return nullptr;
  }
};

Performance::Things& Performance::keep(Things* things) {
  static std::mutex lock;
  static auto& kept = *new std::vector<Things*>();
  std::lock_guard guard(lock);
  return *kept.emplace_back(things);
}

Performance::Performance(const Graph& graph)
    : graph_(graph), things_(keep(new Things(graph.streams.size(), graph.blocks.size(), graph.objects.size()))) {
  svmRegisterKernel("scramble", scramble);
}

void Performance::complain(const std::string& text) {
  if (wrong_.empty())
    wrong_ = text;
}

// ---- kernels ----

namespace {

/// Any element, in a variable that may be larger.
struct AnyElement {
  uint8_t bytes[largestElement];
};

/// The operations with an element in a variable of a type: those with words are others, in svm.h.
template <typename T>
struct With {
  static T load(const uint8_t* element) {
    T value;
    std::memcpy(&value, element, sizeof value);
    return value;
  }
  static void store(const T& value, uint8_t* element) { std::memcpy(element, &value, sizeof value); }

  static void push(Stream* stream, const uint8_t* element, bool tag) {
    T value = load(element);
    if (tag)
      streamPushWithEOS(stream, &value);
    else
      streamPush(stream, &value);
  }
  static void pop(Stream* stream, uint8_t* element) {
    T value;
    streamPop(stream, &value);
    store(value, element);
  }
  static void peek(Stream* stream, int n, uint8_t* element) {
    T value;
    streamPeek(stream, n, &value);
    store(value, element);
  }
  static void write(Block* block, int n, const uint8_t* element) {
    T value = load(element);
    blockWrite(block, n, &value);
  }
  static void read(Block* block, int n, uint8_t* element) {
    T value;
    blockRead(block, n, &value);
    store(value, element);
  }
  template <size_t... I>
  static void multicastTo(T value, bool tag, Stream* streams, const uint32_t* whats, std::index_sequence<I...>) {
    if (tag)
      streamPushMulticastWithEOS(&value, (streams + whats[I])...);
    else
      streamPushMulticast(&value, (streams + whats[I])...);
  }
  /// To at most eight.
  template <size_t Count = largestMulticast>
  static void multicast(Stream* streams, const std::vector<uint32_t>& whats, const uint8_t* element, bool tag) {
    if (whats.size() == Count)
      multicastTo(load(element), tag, streams, whats.data(), std::make_index_sequence<Count>());
    else if constexpr (Count > 1)
      multicast<Count - 1>(streams, whats, element, tag);
  }
};

/// Carries out an operation that moves an element, the first of which is at `element`.
template <typename T>
void operate(const Op& op, Stream* streams, Block* blocks, uint8_t* element) {
  const uint32_t what = op.whats[0];
  switch (op.kind) {
  case Op::Kind::Pop:
  case Op::Kind::PopToTag:
    return With<T>::pop(streams + what, element);
  case Op::Kind::Peek:
    return With<T>::peek(streams + what, op.n, element);
  case Op::Kind::Push:
    return With<T>::push(streams + what, element, op.tag);
  case Op::Kind::Multicast:
    return With<T>::multicast(streams, op.whats, element, op.tag);
  case Op::Kind::Read:
    return With<T>::read(blocks + what, op.n, element);
  case Op::Kind::Write:
    return With<T>::write(blocks + what, op.n, element);
  default:
    return;
  }
}

} // namespace

void Performance::work(Worker* worker) {
  const Graph& graph = worker->run->graph_;
  Stream* const streams = worker->run->things_.streams;
  Block* const blocks = worker->run->things_.blocks;
  uint8_t element[largestElement];
  uint64_t& number = worker->number;
  const bool hasWords = worker->execution % 2 == 0;
  for (const Op& op : graph.executions[worker->execution].ops) {
    const uint32_t what = op.whats.empty() ? 0 : op.whats[0];
    const bool usesBlock = op.kind == Op::Kind::Read || op.kind == Op::Kind::Write;
    const auto bytes =
        static_cast<uint32_t>(usesBlock ? graph.blocks[what].elementBytes : graph.streams[what].elementBytes);
    const auto carryOut = [&] {
      if (hasWords && bytes == 4)
        operate<uint32_t>(op, streams, blocks, element);
      else if (hasWords && bytes == 8)
        operate<uint64_t>(op, streams, blocks, element);
      else
        operate<AnyElement>(op, streams, blocks, element);
    };
    switch (op.kind) {
    case Op::Kind::Pop:
    case Op::Kind::Peek:
    case Op::Kind::Read:
      carryOut();
      number = afterSeeing(number, digest(element, bytes));
      break;
    case Op::Kind::PopToTag:
      for (bool last = false; !last;) {
        last = streamPeekEOS(streams + what, 0) != FALSE;
        carryOut();
        number = afterSeeing(number, digest(element, bytes));
      }
      break;
    case Op::Kind::PeekTag:
      number = afterSeeing(number, streamPeekEOS(streams + what, op.n) != FALSE);
      break;
    case Op::Kind::Push:
    case Op::Kind::Multicast:
    case Op::Kind::Write:
      number = mix(number);
      fill(number, usesBlock ? 0 : graph.streams[what].bound, element, bytes);
      carryOut();
      break;
    case Op::Kind::Pause:
      kernelPause(&worker->kernel);
      break;
    case Op::Kind::End:
      kernelEnd(&worker->kernel);
      number = 0; // is never reached
    }
  }
}

void Performance::start(uint32_t index) {
  const Execution& execution = graph_.executions[index];
  const Object& object = graph_.objects[execution.object];
  Thing<Worker>& thing = things_.objects[execution.object];
  const auto stream = [&](int which) { return things_.streams + which; };
  Block* const block = things_.blocks + object.block;
  const int processor = processorOf(object);
  switch (object.sort) {
  case Sort::User:
    kernelInit(&thing.worker.kernel, processor, nullptr, &thing.worker, sizeof thing.worker, (ExtKernelWork)work);
    thing.worker.run = this;
    thing.worker.execution = index;
    thing.worker.number = firstNumber(index);
    break;
  case Sort::Move:
    moveInit(&thing.move, processor, stream(object.source), stream(object.target), execution.length, execution.setEOS);
    break;
  case Sort::StridedScatter:
    stridedScatterInit(&thing.stridedScatter, processor, stream(object.source), block, execution.length,
                       execution.stride, execution.elements, execution.setEOS);
    break;
  case Sort::StridedGather:
    stridedGatherInit(&thing.stridedGather, processor, block, stream(object.target), execution.length, execution.stride,
                      execution.elements, execution.setEOS);
    break;
  case Sort::IndexedScatter:
    indexedScatterInit(&thing.indexedScatter, processor, stream(object.source), stream(object.indices), block,
                       execution.length, execution.elements, execution.setEOS);
    break;
  case Sort::IndexedGather:
    indexedGatherInit(&thing.indexedGather, processor, block, stream(object.indices), stream(object.target),
                      execution.length, execution.elements, execution.setEOS);
    break;
  case Sort::Scramble:
    blackBoxInit(&thing.scramble.kernel, processor, "scramble", &thing.scramble, sizeof thing.scramble);
    thing.scramble.in = stream(object.source);
    thing.scramble.out = stream(object.target);
    thing.scramble.source = &graph_.streams[static_cast<size_t>(object.source)];
    thing.scramble.target = &graph_.streams[static_cast<size_t>(object.target)];
    break;
  case Sort::InOrder: {
    const int bytes = graph_.streams[static_cast<size_t>(object.source)].elementBytes;
    sortInit(&thing.inOrder, processor, stream(object.source), stream(object.target),
             bytes == 1   ? SVM_BYTE
             : bytes == 4 ? SVM_INT
                          : SVM_LONG);
    break;
  }
  case Sort::Filter:
    firInit(&thing.filter, processor, stream(object.source), stream(object.target), block, execution.elements);
    break;
  }
  Kernel* const kernel = things_.kernel(graph_, execution.object);
  for (const uint32_t on : execution.dependsOn)
    kernelAddDependence(kernel, things_.kernel(graph_, graph_.executions[on].object));
  if (random_() % 4 == 0)
    kernelReady(kernel);
  kernelRun(kernel);
  setUnderWay(index, true);
}

void Performance::setUnderWay(uint32_t execution, bool on) {
  std::lock_guard guard(underWayLock_);
  if (on)
    underWay_.push_back(execution);
  else
    std::erase(underWay_, execution);
}

// ---- control ----

void Performance::initStream(const Action& action) {
  const uint32_t index = action.whats[0];
  const StreamPlan& plan = graph_.streams[index];
  Stream* const stream = things_.streams + index;
  ++initialised_[index];
  if (plan.fifo) {
    streamInitFIFO(stream, node(machine::Node::Kind::Fifo, 0, plan.place), plan.elementBytes, plan.flags);
    return;
  }
  if (action.n == none) {
    streamInitRAM(stream, memoryOf(plan.place), plan.address, plan.capacity, plan.elementBytes, plan.flags);
    return;
  }
  auto* memory = static_cast<uint8_t*>(svmAddress(memoryOf(plan.place), plan.address));
  const std::vector<Item>& items = plan.history[initialised_[index] - 1];
  for (int i = 0; i < action.n; ++i)
    std::memcpy(memory + i * plan.elementBytes, items[static_cast<size_t>(i)].bytes.data(),
                static_cast<size_t>(plan.elementBytes));
  streamInitWithDataRAM(stream, memoryOf(plan.place), plan.address, plan.capacity, plan.elementBytes, action.n,
                        action.tag, plan.flags);
}

void Performance::act(const Action& action) {
  const uint32_t what = action.whats[0];
  uint8_t element[largestElement];
  const auto kernel = [&](size_t i) { return things_.kernel(graph_, graph_.executions[action.whats[i]].object); };
  switch (action.kind) {
  case Action::Kind::InitStream:
    initStream(action);
    break;
  case Action::Kind::Start:
    start(what);
    break;
  case Action::Kind::Wait:
    switch (action.whats.size()) {
    case 1:
      kernelWait(kernel(0));
      break;
    case 2:
      kernelWaitMultiple(kernel(0), kernel(1));
      break;
    case 3:
      kernelWaitMultiple(kernel(0), kernel(1), kernel(2));
      break;
    default:
      kernelWaitMultiple(kernel(0), kernel(1), kernel(2), kernel(3));
    }
    for (size_t i = 0; i < action.whats.size(); ++i) {
      const uint32_t execution = action.whats[i];
      while (pausedByOthers_ && kernelGetStatus(kernel(i)) != KERNEL_FINISHED)
        kernelWait(kernel(i)); // is also over when it has been paused
      setUnderWay(execution, false);
      const uint32_t object = graph_.executions[execution].object;
      if (const KERNEL_STATUS status = kernelGetStatus(kernel(i)); status != KERNEL_FINISHED)
        complain("execution " + std::to_string(execution) + " has status " + std::to_string(status) +
                 " when control has waited for it");
      if (graph_.objects[object].sort == Sort::User)
        results_[execution] = things_.objects[object].worker.number;
    }
    break;
  case Action::Kind::Resume:
    kernelWait(kernel(0));
    if (const KERNEL_STATUS status = kernelGetStatus(kernel(0)); status != KERNEL_PAUSED)
      complain("execution " + std::to_string(what) + " has status " + std::to_string(status) +
               " where it pauses by itself");
    kernelRun(kernel(0));
    break;
  case Action::Kind::Push:
    control_ = mix(control_);
    fill(control_, graph_.streams[what].bound, element, static_cast<uint32_t>(graph_.streams[what].elementBytes));
    if (action.tag)
      streamPushWithEOS(things_.streams + what, element);
    else
      streamPush(things_.streams + what, element);
    break;
  case Action::Kind::Pop: {
    const bool tag = streamPeekEOS(things_.streams + what, 0) != FALSE;
    streamPop(things_.streams + what, element);
    control_ = afterSeeing(control_, digest(element, static_cast<uint32_t>(graph_.streams[what].elementBytes)) + tag);
    break;
  }
  }
}

void Performance::pauseSome(std::mt19937_64& random) {
  std::vector<Kernel*> asked;
  std::lock_guard guard(underWayLock_);
  for (uint64_t i = random() % 4; i > 0 && !underWay_.empty(); --i) {
    const uint32_t object = graph_.executions[underWay_[random() % underWay_.size()]].object;
    Kernel* const kernel = things_.kernel(graph_, object);
    // One that waits to begin might wait for control.
    if (graph_.objects[object].pauses || kernelGetStatus(kernel) != KERNEL_RUNNING)
      continue;
    kernelPause(kernel);
    if (std::find(asked.begin(), asked.end(), kernel) == asked.end())
      asked.push_back(kernel);
  }
  for (Kernel* kernel : asked) {
    kernelWait(kernel);
    if (kernelGetStatus(kernel) == KERNEL_PAUSED)
      kernelRun(kernel);
  }
}

void Performance::keepPausing(uint64_t seed) {
  std::mt19937_64 random(mix(seed));
  while (!over_) {
    pauseSome(random);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
  }
}

std::string Performance::endAll() {
  // The last first, so that none begins that depends on one that has not done its work.
  std::vector<Kernel*> kernels;
  for (auto each = underWay_.rbegin(); each != underWay_.rend(); ++each)
    kernels.push_back(things_.kernel(graph_, graph_.executions[*each].object));
  for (Kernel* kernel : kernels)
    kernelEnd(kernel);
  for (Kernel* kernel : kernels) {
    kernelWait(kernel);
    if (kernelGetStatus(kernel) != KERNEL_FINISHED)
      return "a kernel that was ended is not finished";
  }
  underWay_.clear();
  uint8_t element[largestElement];
  for (uint32_t i = 0; i < graph_.streams.size(); ++i) {
    if (initialised_[i] == 0)
      continue;
    const StreamPlan& plan = graph_.streams[i];
    Stream& stream = things_.streams[i];
    const std::vector<Item>& items = plan.history[initialised_[i] - 1];
    const std::string name = "stream " + std::to_string(i);
    const bool mayBeWrittenOver = plan.block != none;
    const uint64_t end = stream.pushed_;
    if (end > items.size() || stream.popped_ > end || end - stream.popped_ > static_cast<uint64_t>(plan.capacity))
      return name + ": " + std::to_string(end) + " pushed, " + std::to_string(stream.popped_) + " popped; at most " +
             std::to_string(items.size()) + " are pushed ever, with a capacity of " + std::to_string(plan.capacity);
    for (uint64_t k = stream.popped_; k < end; ++k) {
      const bool tag = streamPeekEOS(&stream, 0) != FALSE;
      streamPop(&stream, element);
      if (tag != items[k].tag ||
          (!mayBeWrittenOver && std::memcmp(element, items[k].bytes.data(), items[k].bytes.size()) != 0))
        return name + ": element " + std::to_string(k) + " is not what is pushed there";
    }
  }
  return "";
}

std::string Performance::compare() {
  if (!wrong_.empty())
    return wrong_;
  if (control_ != graph_.result)
    return "what control has popped";
  for (uint32_t i = 0; i < results_.size(); ++i)
    if (graph_.objects[graph_.executions[i].object].sort == Sort::User && results_[i] != graph_.executions[i].result)
      return "the result of execution " + std::to_string(i);
  for (uint32_t i = 0; i < graph_.blocks.size(); ++i) {
    const BlockPlan& plan = graph_.blocks[i];
    if (std::memcmp(svmAddress(memoryOf(plan.place), plan.address), plan.memory.data(), plan.memory.size()) != 0)
      return "what is in block " + std::to_string(i);
  }
  return "";
}

std::string Performance::perform(Mode mode, uint64_t seed) {
  random_.seed(seed);
  control_ = mix(0);
  wrong_.clear();
  underWay_.clear();
  results_.assign(graph_.executions.size(), 0);
  initialised_.assign(graph_.streams.size(), 0);
  for (uint32_t i = 0; i < graph_.blocks.size(); ++i) {
    const BlockPlan& plan = graph_.blocks[i];
    auto* memory = static_cast<uint8_t*>(svmAddress(memoryOf(plan.place), plan.address));
    for (int k = 0; k < plan.capacity; ++k)
      fill(plan.seed + static_cast<uint64_t>(k), plan.bound, memory + k * plan.elementBytes,
           static_cast<uint32_t>(plan.elementBytes));
    blockInit(&things_.blocks[i], memoryOf(plan.place), plan.address, plan.capacity, plan.elementBytes);
  }
  over_ = false;
  pausedByOthers_ = mode == Mode::OthersPause;
  std::thread other;
  if (pausedByOthers_)
    other = std::thread([this, seed] { keepPausing(seed); });
  const uint64_t end = mode == Mode::Ends ? random_() % graph_.actions.size() : UINT64_MAX;
  for (uint64_t i = 0; i < graph_.actions.size(); ++i) {
    if (i == end)
      return endAll();
    if (mode == Mode::Pauses && random_() % 2 == 0)
      pauseSome(random_);
    act(graph_.actions[i]);
  }
  over_ = true;
  if (other.joinable())
    other.join();
  return compare();
}

} // namespace strata::graphs
