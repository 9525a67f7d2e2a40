// Implements makeGraph: the sequential interpretation that writes down what it does. Kernels that share a processor are
// started so that only one order is possible, and ends of streams pass to another kernel when control has waited for
// the one who had them.
#include "tests/svm/interpret.h"
#include "tests/svm/places.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "include/svm.h"

namespace strata::graphs {

namespace {

constexpr int dmaPlaces = 3;
constexpr uint32_t dmas = 8, processors = 1000;

struct ExecutionState {
  uint64_t number = 0;
  uint64_t count = 0; // elements moved
  BoxState box;
  bool started = false, finished = false, waited = false, paused = false, free = false; // free: it depends on nothing
  std::vector<uint32_t> reads, writes, blocks;
};

class Maker : Random {
public:
  Maker(uint64_t seed, uint32_t kernels, Share share) : Random(seed, share), kernels_(kernels) {}

  Graph make() {
    makePlaces(graph_, *this, kernels_);
    places_.streams.resize(graph_.streams.size());
    blockOwners_.assign(graph_.blocks.size(), none);
    for (uint32_t i = 0; i < graph_.streams.size(); ++i)
      initStream(i);
    const uint32_t patience = kernels_ * (40 + below(100));
    for (uint32_t step = 0; step < patience; ++step)
      if (awaited_ == none && below(8) == 0)
        controlStep();
      else
        somebodysStep();
    awaited_ = none;
    finishAll();
    drain();
    chooseFlags();
    graph_.result = control_;
    for (uint32_t i = 0; i < states_.size(); ++i)
      graph_.executions[i].result = states_[i].number;
    return std::move(graph_);
  }

private:
  // ---- streams ----

  void initStream(uint32_t stream) {
    StreamPlan& plan = graph_.streams[stream];
    StreamState& state = places_.streams[stream];
    Action action{Action::Kind::InitStream, {stream}, none, false};
    state.items.clear();
    plan.history.emplace_back();
    if (!plan.fifo && chance(4)) {
      action.n = static_cast<int>(below(static_cast<uint64_t>(plan.capacity) + 1));
      action.tag = chance(2);
      state.hasData = true;
      for (int i = 0; i < action.n; ++i)
        places_.append(
            stream, places_.newItem(stream, mix(stream) + static_cast<uint64_t>(i), action.tag && i + 1 == action.n));
    }
    graph_.actions.push_back(action);
  }

  // ---- control ----

  bool isLeft(int execution) const { return execution == none || states_[static_cast<size_t>(execution)].waited; }

  void controlStep() {
    const uint32_t stream = below(graph_.streams.size());
    StreamState& state = places_.streams[stream];
    const StreamPlan& plan = graph_.streams[stream];
    switch (below(10)) {
    case 0: // initialises a stream again
      if (isLeft(state.reader) && isLeft(state.writer) && (!plan.fifo || state.items.empty()))
        initStream(stream);
      return;
    case 1: // pushes
      if (isLeft(state.writer) && places_.freeRoom(stream) > 0)
        controlPush(stream, chance(5));
      return;
    case 2: // pops
      if (isLeft(state.reader) && !state.items.empty())
        controlPop(stream);
      return;
    case 3:
    case 4: // lets kernels go on
      for (const uint32_t execution : std::vector(alive_))
        if (states_[execution].paused)
          resume(execution);
      return;
    case 5: // waits for one that has still to finish
      if (!alive_.empty()) {
        const uint32_t execution = oneOf(alive_);
        if (states_[execution].started && !states_[execution].paused && !isBlackBox(sortOf(execution)))
          awaited_ = static_cast<int>(execution);
      }
      return;
    case 6: // waits for some that have finished
      waitForFinished(1 + below(4));
      return;
    default:
      if (alive_.size() < kernels_ && graph_.executions.size() < 2 * kernels_)
        start();
    }
  }

  void controlPush(uint32_t stream, bool tag) {
    control_ = mix(control_);
    places_.append(stream, places_.newItem(stream, control_, tag));
    graph_.actions.push_back({Action::Kind::Push, {stream}, 0, tag});
  }

  void controlPop(uint32_t stream) {
    const Item item = places_.take(stream);
    control_ = afterSeeing(control_, places_.digestOf(item) + item.tag);
    graph_.actions.push_back({Action::Kind::Pop, {stream}, 0, false});
  }

  void resume(uint32_t execution) {
    states_[execution].paused = false;
    graph_.actions.push_back({Action::Kind::Resume, {execution}, 0, false});
  }

  void waitForFinished(uint32_t most) {
    Action action{Action::Kind::Wait, {}, 0, false};
    for (uint32_t i = 0; i < states_.size() && action.whats.size() < most; ++i)
      if (states_[i].finished && !states_[i].waited && chance(2)) {
        setWaited(i);
        action.whats.push_back(i);
      }
    if (!action.whats.empty())
      graph_.actions.push_back(action);
  }

  // ---- starting kernels ----

  void start() {
    Execution execution;
    ExecutionState state;
    Object object;
    const auto index = static_cast<uint32_t>(graph_.executions.size());
    const std::optional<uint32_t> again = chance(3) ? reusable() : std::nullopt;
    if (again) {
      object = graph_.objects[*again];
    } else {
      object.sort = chance(2) ? Sort::User : static_cast<Sort>(below(9));
      object.dma = object.sort != Sort::User && !isBlackBox(object.sort) && !chance(4);
      object.processor = object.dma ? ofShare(dmas) : ofShare(processors, kernels_ / 2 + 2);
      if (isBlackBox(object.sort) && !(object.processor = ownProcessor()))
        return;
    }
    if (!chooseDependences(object, execution, state))
      return;
    if (object.sort == Sort::User) {
      chooseStreams(execution, state);
    } else if (!(again ? endsAreFree(object, execution) : chooseEnds(object, execution))) {
      return;
    }
    if (object.sort != Sort::User) {
      execution.all =
          chance(2) && !(object.sort == Sort::IndexedScatter && execution.elements > 1) && execution.stride > 0;
      execution.setEOS = chance(2);
      for (const int stream : {object.source, object.indices})
        if (stream != none)
          state.reads.push_back(static_cast<uint32_t>(stream));
      if (object.target != none)
        state.writes.push_back(static_cast<uint32_t>(object.target));
      if (object.block != none && object.sort != Sort::Filter)
        state.blocks.push_back(static_cast<uint32_t>(object.block));
    }
    // Whoever has a block that lies where a stream does has both of its ends.
    for (const uint32_t block : state.blocks)
      if (const int stream = graph_.blocks[block].stream; stream != none)
        for (std::vector<uint32_t>* list : {&state.reads, &state.writes})
          if (!contains(*list, static_cast<uint32_t>(stream)))
            list->push_back(static_cast<uint32_t>(stream));
    for (const uint32_t stream : state.reads)
      places_.streams[stream].reader = static_cast<int>(index);
    for (const uint32_t stream : state.writes)
      places_.streams[stream].writer = static_cast<int>(index);
    for (const uint32_t block : state.blocks)
      blockOwners_[block] = static_cast<int>(index);
    if (again) {
      execution.object = *again;
    } else {
      execution.object = static_cast<uint32_t>(graph_.objects.size());
      graph_.objects.push_back(object);
      lastOf_.push_back(none);
    }
    lastOf_[execution.object] = static_cast<int>(index);
    state.number = firstNumber(index);
    queueOf(object).push_back(index);
    graph_.executions.push_back(std::move(execution));
    states_.push_back(std::move(state));
    alive_.push_back(index);
    graph_.actions.push_back({Action::Kind::Start, {index}, 0, false});
  }

  std::optional<uint32_t> reusable() {
    if (graph_.objects.empty())
      return std::nullopt;
    const uint32_t object = below(graph_.objects.size());
    return isLeft(lastOf_[object]) ? std::optional(object) : std::nullopt;
  }

  std::deque<uint32_t>& queueOf(const Object& object) { return queues_[{object.dma, object.processor}]; }

  /// Only one order of those who wait for a processor may be possible: all are ready at once, or each depends on the
  /// one before; or there is a place for everybody.
  bool chooseDependences(const Object& object, Execution& execution, ExecutionState& state) {
    const std::deque<uint32_t>& queue = queueOf(object);
    // A black box is over when its sequence is, for which somebody may have to be over before.
    for (uint32_t tries = below(4); tries > 0 && !alive_.empty(); --tries)
      if (const uint32_t on = oneOf(alive_); !isBlackBox(sortOf(on)))
        execution.dependsOn.push_back(on);
    const bool place = queue.size() < (object.dma ? static_cast<size_t>(dmaPlaces) : 1);
    if (!place && !execution.dependsOn.empty()) {
      if (object.dma)
        return false;
      execution.dependsOn.push_back(queue.back());
    }
    std::sort(execution.dependsOn.begin(), execution.dependsOn.end());
    execution.dependsOn.erase(std::unique(execution.dependsOn.begin(), execution.dependsOn.end()),
                              execution.dependsOn.end());
    state.free = execution.dependsOn.empty();
    return place || !state.free ||
           std::all_of(queue.begin(), queue.end(), [&](uint32_t each) { return states_[each].free; });
  }

  Sort sortOf(uint32_t execution) const { return graph_.objects[graph_.executions[execution].object].sort; }

  /// A processor for one black box, so that nobody waits for it to be over; 0: there is none left.
  uint32_t ownProcessor() {
    const uint32_t part = processors / share().parts, last = part * 9 / 10;
    return ++boxes_ < last / 3 ? share().part * part + last - boxes_ : 0;
  }

  bool blockIsFree(uint32_t block, const Execution& execution) const {
    const int owner = blockOwners_[block];
    const BlockPlan& plan = graph_.blocks[block];
    if (plan.bound)
      return false;
    if (plan.stream != none) {
      const StreamState& stream = places_.streams[static_cast<size_t>(plan.stream)];
      return isLeft(owner) && isLeft(stream.reader) && isLeft(stream.writer);
    }
    return isLeft(owner) || std::find(execution.dependsOn.begin(), execution.dependsOn.end(),
                                      static_cast<uint32_t>(owner)) != execution.dependsOn.end();
  }

  void chooseStreams(const Execution& execution, ExecutionState& state) {
    for (uint32_t tries = 1 + below(6); tries > 0; --tries) {
      const uint32_t reads = below(graph_.streams.size()), writes = below(graph_.streams.size());
      if (chance(2) && isLeft(places_.streams[reads].reader) && !contains(state.reads, reads))
        state.reads.push_back(reads);
      if (chance(2) && isLeft(places_.streams[writes].writer) && !contains(state.writes, writes))
        state.writes.push_back(writes);
    }
    for (uint32_t block = 0; block < graph_.blocks.size(); ++block)
      if (chance(isLeft(blockOwners_[block]) ? 1 + static_cast<uint32_t>(graph_.blocks.size()) : 2) &&
          blockIsFree(block, execution))
        state.blocks.push_back(block);
  }

  static bool contains(const std::vector<uint32_t>& list, uint32_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  bool endsAreFree(const Object& object, Execution& execution) {
    const auto at = [](int value) { return static_cast<size_t>(value); };
    if (isBlackBox(object.sort)) {
      // One that is under way already gives to this one, but never takes from it: so they do not wait for each other.
      const int reader = places_.streams[at(object.target)].reader;
      if (!isLeft(reader) && isBlackBox(sortOf(static_cast<uint32_t>(reader))))
        return false;
    }
    if (object.sort == Sort::Filter) {
      execution.elements = 1 + static_cast<int>(below(static_cast<uint64_t>(graph_.blocks[at(object.block)].capacity)));
      return isLeft(places_.streams[at(object.source)].reader) && isLeft(places_.streams[at(object.target)].writer);
    }
    if ((object.source != none && !isLeft(places_.streams[at(object.source)].reader)) ||
        (object.indices != none && !isLeft(places_.streams[at(object.indices)].reader)) ||
        (object.target != none && !isLeft(places_.streams[at(object.target)].writer)) ||
        (object.block != none && !blockIsFree(static_cast<uint32_t>(object.block), execution)))
      return false;
    execution.elements = 1 + static_cast<int>(below(4));
    execution.stride = chance(4) ? static_cast<int>(below(static_cast<uint64_t>(execution.elements)))
                                 : execution.elements + static_cast<int>(below(3));
    // Records that begin below the indices' bound are to lie in the block.
    if (object.indices != none) {
      const auto bound = static_cast<int>(graph_.streams[at(object.indices)].bound);
      if (bound + execution.elements - 1 > graph_.blocks[at(object.block)].capacity)
        return false;
    }
    const int room = object.target != none ? graph_.streams[at(object.target)].capacity : INT32_MAX;
    const int there = object.source != none ? graph_.streams[at(object.source)].capacity : INT32_MAX;
    return object.indices == none || execution.elements <= std::min(room, there);
  }

  bool chooseEnds(Object& object, Execution& execution) {
    const bool indexed = object.sort == Sort::IndexedScatter || object.sort == Sort::IndexedGather;
    const bool gather = object.sort == Sort::StridedGather || object.sort == Sort::IndexedGather;
    const auto any = [&] { return static_cast<int>(below(graph_.streams.size())); };
    const auto plan = [&](int stream) -> const StreamPlan& { return graph_.streams[static_cast<size_t>(stream)]; };
    const auto isIndex = [&](int stream) { return plan(stream).bound != 0 && plan(stream).bound != smallFloats; };
    if (isBlackBox(object.sort))
      return chooseSequences(object, execution);
    if (!gather)
      object.source = any();
    if (gather || object.sort == Sort::Move)
      object.target = any();
    if (object.sort != Sort::Move)
      object.block = static_cast<int>(below(graph_.blocks.size()));
    if (indexed)
      for (int tries = 0; tries < 20 && (object.indices == none || !isIndex(object.indices)); ++tries)
        object.indices = any();
    if (indexed && (!isIndex(object.indices) || object.indices == object.source))
      return false;
    // A stream into itself is not for moves; indices come from nowhere else.
    if (object.source != none && object.source == object.target)
      return false;
    if (object.sort == Sort::Move)
      if (plan(object.source).bound != plan(object.target).bound ||
          plan(object.source).elementBytes != plan(object.target).elementBytes)
        return false;
    if (object.block != none) {
      // Nor a block into the stream that lies there.
      if (const int there = graph_.blocks[static_cast<size_t>(object.block)].stream;
          there != none && (there == object.source || there == object.target || there == object.indices))
        return false;
      const StreamPlan& stream = plan(gather ? object.target : object.source);
      if (stream.bound != 0 || stream.elementBytes != graph_.blocks[static_cast<size_t>(object.block)].elementBytes)
        return false;
    }
    return endsAreFree(object, execution);
  }

  /// Of what a black box takes and gives.
  bool chooseSequences(Object& object, Execution& execution) {
    for (int tries = 0; tries < 20; ++tries) {
      object.source = static_cast<int>(below(graph_.streams.size()));
      object.target = static_cast<int>(below(graph_.streams.size()));
      const StreamPlan& source = graph_.streams[static_cast<size_t>(object.source)];
      const StreamPlan& target = graph_.streams[static_cast<size_t>(object.target)];
      if (object.source == object.target)
        continue;
      const int bytes = source.elementBytes;
      if (object.sort == Sort::InOrder &&
          (source.bound != target.bound || bytes != target.elementBytes || (bytes != 1 && bytes != 4 && bytes != 8)))
        continue;
      if (object.sort == Sort::Filter) {
        object.block = static_cast<int>(graph_.blocks.size()) - 1;
        if (source.bound != smallFloats || target.bound != 0 || target.elementBytes != 4 ||
            graph_.blocks.back().bound != smallFloats)
          continue;
      }
      return endsAreFree(object, execution);
    }
    return false;
  }

  // ---- kernels ----

  void finish(uint32_t execution) {
    states_[execution].finished = true;
    alive_.erase(std::find(alive_.begin(), alive_.end(), execution));
    if (awaited_ == static_cast<int>(execution)) {
      awaited_ = none;
      setWaited(execution);
      graph_.actions.push_back({Action::Kind::Wait, {execution}, 0, false});
    }
  }

  void setWaited(uint32_t execution) {
    states_[execution].waited = true;
    std::deque<uint32_t>& queue = queueOf(graph_.objects[graph_.executions[execution].object]);
    queue.erase(std::find(queue.begin(), queue.end(), execution));
  }

  bool tryToStart(uint32_t execution) {
    ExecutionState& state = states_[execution];
    if (state.started)
      return true;
    for (const uint32_t on : graph_.executions[execution].dependsOn)
      if (!states_[on].finished)
        return false;
    const Object& object = graph_.objects[graph_.executions[execution].object];
    const std::deque<uint32_t>& queue = queueOf(object);
    const auto before = std::count_if(queue.begin(), std::find(queue.begin(), queue.end(), execution),
                                      [&](uint32_t each) { return !states_[each].finished; });
    return state.started = before < (object.dma ? dmaPlaces : 1);
  }

  void somebodysStep() {
    if (awaited_ != none && chance(100)) // it may have nothing to do
      return finishNow(static_cast<uint32_t>(awaited_));
    if (alive_.empty())
      return;
    const uint32_t execution = oneOf(alive_);
    if (states_[execution].paused || !tryToStart(execution))
      return;
    if (isBlackBox(sortOf(execution)))
      return blackBoxSteps(execution, 1 + below(30));
    if (sortOf(execution) != Sort::User)
      return transferStep(execution);
    for (uint32_t steps = 1 + below(12); steps > 0 && !states_[execution].finished && !states_[execution].paused;
         --steps)
      userStep(execution);
  }

  void userStep(uint32_t execution) {
    ExecutionState& state = states_[execution];
    std::vector<Op>& ops = graph_.executions[execution].ops;
    const uint32_t what = below(40);
    if (what == 0)
      return chance(3) ? finish(execution) : void();
    if (what == 1) {
      if (!chance(4))
        return;
      ops.push_back({Op::Kind::End, false, 0, {}});
      return finish(execution);
    }
    if (what == 2) {
      if (awaited_ != none || !chance(2)) // control could not let it go on
        return;
      ops.push_back({Op::Kind::Pause, false, 0, {}});
      graph_.objects[graph_.executions[execution].object].pauses = true;
      state.paused = true;
      return;
    }
    if (what < 6) {
      if (!state.blocks.empty())
        useBlock(execution, oneOf(state.blocks));
    } else if (what < 22) {
      if (!state.reads.empty())
        readStream(execution, oneOf(state.reads));
    } else if (!state.writes.empty()) {
      writeStream(execution);
    }
  }

  void useBlock(uint32_t execution, uint32_t block) {
    ExecutionState& state = states_[execution];
    BlockPlan& plan = graph_.blocks[block];
    const int element = static_cast<int>(below(static_cast<uint64_t>(plan.capacity)));
    uint8_t* at = plan.memory.data() + element * plan.elementBytes;
    const bool writes = chance(2);
    if (writes) {
      state.number = mix(state.number);
      fill(state.number, 0, at, static_cast<uint32_t>(plan.elementBytes));
    } else {
      state.number = afterSeeing(state.number, digest(at, static_cast<uint32_t>(plan.elementBytes)));
    }
    graph_.executions[execution].ops.push_back({writes ? Op::Kind::Write : Op::Kind::Read, false, element, {block}});
  }

  void readStream(uint32_t execution, uint32_t stream) {
    ExecutionState& state = states_[execution];
    std::vector<Op>& ops = graph_.executions[execution].ops;
    const std::deque<Item>& items = places_.streams[stream].items;
    if (items.empty())
      return;
    const uint32_t place = below(items.size());
    const auto pop = [&] {
      const Item item = places_.take(stream);
      state.number = afterSeeing(state.number, places_.digestOf(item));
      return item.tag;
    };
    switch (below(6)) {
    case 0:
      state.number = afterSeeing(state.number, places_.digestOf(places_.look(stream, place)));
      ops.push_back({Op::Kind::Peek, false, static_cast<int>(place), {stream}});
      return;
    case 1:
      state.number = afterSeeing(state.number, items[place].tag);
      ops.push_back({Op::Kind::PeekTag, false, static_cast<int>(place), {stream}});
      return;
    case 2:
      if (std::none_of(items.begin(), items.end(), [](const Item& item) { return item.tag; }))
        return;
      while (!pop()) {
      }
      ops.push_back({Op::Kind::PopToTag, false, 0, {stream}});
      return;
    default:
      for (uint32_t count = 1 + (chance(3) ? below(items.size()) : 0); count > 0; --count) {
        pop();
        ops.push_back({Op::Kind::Pop, false, 0, {stream}});
      }
    }
  }

  void writeStream(uint32_t execution) {
    ExecutionState& state = states_[execution];
    std::vector<Op>& ops = graph_.executions[execution].ops;
    const uint32_t stream = oneOf(state.writes);
    if (chance(4) && state.writes.size() > 1) {
      Op op{Op::Kind::Multicast, chance(5), 0, {}};
      for (const uint32_t each : state.writes)
        if (places_.freeRoom(each) > 0 && op.whats.size() < largestMulticast &&
            graph_.streams[each].elementBytes == graph_.streams[stream].elementBytes &&
            graph_.streams[each].bound == graph_.streams[stream].bound)
          op.whats.push_back(each);
      const auto haveRoom = [&] {
        return std::all_of(op.whats.begin(), op.whats.end(), [&](uint32_t each) { return places_.freeRoom(each) > 0; });
      };
      // The same to the same again: they are in step then.
      for (uint32_t count = 1 + (chance(2) ? below(20) : 0); count > 0 && !op.whats.empty() && haveRoom(); --count) {
        state.number = mix(state.number);
        for (const uint32_t each : op.whats)
          places_.append(each, places_.newItem(each, state.number, op.tag));
        ops.push_back(op);
        op.tag = chance(20);
      }
      return;
    }
    for (uint32_t count = 1 + (chance(3) ? below(20) : 0); count > 0 && places_.freeRoom(stream) > 0; --count) {
      state.number = mix(state.number);
      const bool tag = chance(8);
      places_.append(stream, places_.newItem(stream, state.number, tag));
      ops.push_back({Op::Kind::Push, tag, 0, {stream}});
    }
  }

  // ---- kernels that move data ----

  /// What has been moved is all.
  void finishTransfer(uint32_t execution, bool asMeant) {
    Execution& plan = graph_.executions[execution];
    if (!asMeant)
      plan.all = plan.setEOS = false;
    plan.length = plan.all ? STREAM_LENGTH_ALL : static_cast<int>(states_[execution].count);
    finish(execution);
  }

  void blackBoxSteps(uint32_t execution, uint32_t most) {
    const Object& object = graph_.objects[graph_.executions[execution].object];
    for (; most > 0 && !states_[execution].finished; --most)
      switch (places_.blackBox(object, graph_.executions[execution], states_[execution].box)) {
      case Step::Last:
        return finish(execution);
      case Step::Stuck:
        return;
      default:
        break;
      }
  }

  /// Whether control has an end of a stream, or may have it as soon as it has waited for who is over.
  bool takeEnd(int execution) {
    if (isLeft(execution))
      return true;
    const auto index = static_cast<uint32_t>(execution);
    if (!states_[index].finished)
      return false;
    setWaited(index);
    graph_.actions.push_back({Action::Kind::Wait, {index}, 0, false});
    return true;
  }

  /// Control ends the sequence, and takes what has no room.
  void finishBlackBox(uint32_t execution) {
    const Object& object = graph_.objects[graph_.executions[execution].object];
    const auto source = static_cast<uint32_t>(object.source), target = static_cast<uint32_t>(object.target);
    while (true) {
      blackBoxSteps(execution, ~0u);
      if (states_[execution].finished)
        return;
      if (places_.freeRoom(target) == 0) {
        if (!takeEnd(places_.streams[target].reader))
          return;
        controlPop(target);
      } else {
        if (!takeEnd(places_.streams[source].writer))
          return;
        controlPush(source, true);
      }
    }
  }

  void finishNow(uint32_t execution) {
    if (isBlackBox(sortOf(execution)))
      finishBlackBox(execution);
    else if (sortOf(execution) == Sort::User)
      finish(execution);
    else
      finishTransfer(execution, false);
  }

  void transferStep(uint32_t execution) {
    for (uint32_t steps = 1 + below(30); steps > 0 && !states_[execution].finished; --steps)
      switch (places_.transfer(graph_.objects[graph_.executions[execution].object], graph_.executions[execution],
                               states_[execution].count, !graph_.executions[execution].all && chance(25))) {
      case Step::Stuck:
        return;
      case Step::Done:
        break;
      case Step::Last:
        finishTransfer(execution, true);
        break;
      case Step::Outside:
        finishTransfer(execution, false);
      }
  }

  // ---- the end ----

  void finishAll() {
    while (!alive_.empty())
      for (const uint32_t execution : std::vector(alive_)) {
        if (!tryToStart(execution))
          continue;
        if (states_[execution].paused)
          resume(execution);
        finishNow(execution);
      }
    for (uint32_t i = 0; i < states_.size(); ++i)
      if (!states_[i].waited) {
        setWaited(i);
        graph_.actions.push_back({Action::Kind::Wait, {i}, 0, false});
      }
  }

  void drain() {
    for (uint32_t i = 0; i < graph_.streams.size(); ++i)
      while (!places_.streams[i].items.empty())
        controlPop(i);
  }

  /// Flags that say what has turned out to be true.
  void chooseFlags() {
    for (uint32_t i = 0; i < graph_.streams.size(); ++i) {
      StreamPlan& plan = graph_.streams[i];
      if (chance(2) && places_.streams[i].mostPushed <= plan.capacity)
        plan.flags |= STREAM_NEVER_WRAPS;
      if (chance(2) && places_.streams[i].mostTags <= 1)
        plan.flags |= STREAM_ONE_EOS;
      if (chance(2) && !places_.streams[i].hasData && !plan.fifo && plan.block == none)
        plan.flags |= STREAM_UNALIASED_RAM;
    }
  }

  const uint32_t kernels_;
  Graph graph_;
  uint64_t control_ = mix(0);
  int awaited_ = none; // the execution that control waits for
  uint32_t boxes_ = 0; // black boxes so far
  Places places_{graph_};
  std::vector<int> blockOwners_;
  std::vector<ExecutionState> states_;
  std::vector<int> lastOf_; // of an object, its last execution
  std::vector<uint32_t> alive_;
  std::map<std::pair<bool, uint32_t>, std::deque<uint32_t>>
      queues_; // of a processor: those who may hold it or wait for it
};

} // namespace

Graph makeGraph(uint64_t seed, uint32_t kernels, Share share) {
  return Maker(seed, kernels, share).make();
}

} // namespace strata::graphs
