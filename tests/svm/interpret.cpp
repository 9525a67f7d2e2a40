// Implements the contents of streams and the steps of kernels that move data.
#include "tests/svm/interpret.h"

#include <algorithm>
#include <cstring>

namespace strata::graphs {

void fill(uint64_t number, uint64_t bound, uint8_t* to, uint32_t bytes) {
  if (bound == smallFloats) {
    const auto value = static_cast<float>(mix(number) % 16);
    std::memcpy(to, &value, sizeof value);
    return;
  }
  if (bound)
    number %= bound;
  for (uint32_t i = 0; i < bytes; ++i)
    to[i] = static_cast<uint8_t>(bound ? (i < 8 ? number >> (8 * i) : 0) : mix(number + i / 8) >> (8 * (i % 8)));
}

uint64_t digest(const uint8_t* from, uint32_t bytes) {
  uint64_t sum = bytes;
  for (uint32_t i = 0; i < bytes; ++i)
    sum = (sum ^ from[i]) * 0x100000001b3u;
  return sum;
}

namespace {

uint32_t at(int index) {
  return static_cast<uint32_t>(index);
}

/// Little-endian integers of two's complement, or one byte without a sign.
bool isLess(const Item& a, const Item& b) {
  const auto number = [](const Item& item) {
    uint64_t bits = 0;
    for (size_t i = 0; i < item.bytes.size(); ++i)
      bits |= static_cast<uint64_t>(item.bytes[i]) << (8 * i);
    return item.bytes.size() == 4 ? int64_t{static_cast<int32_t>(bits)} : static_cast<int64_t>(bits);
  };
  return number(a) < number(b);
}

} // namespace

int Places::freeRoom(uint32_t stream) const {
  return graph_.streams[stream].capacity - static_cast<int>(streams[stream].items.size());
}

uint8_t* Places::placeOf(uint32_t stream, uint64_t number) {
  const StreamPlan& plan = graph_.streams[stream];
  return graph_.blocks[at(plan.block)].memory.data() +
         number % static_cast<uint64_t>(plan.capacity) * static_cast<uint64_t>(plan.elementBytes);
}

void Places::append(uint32_t stream, Item item) {
  StreamState& state = streams[stream];
  std::vector<Item>& pushed = graph_.streams[stream].history.back();
  if (graph_.streams[stream].block != none)
    std::copy(item.bytes.begin(), item.bytes.end(), placeOf(stream, pushed.size()));
  pushed.push_back(item);
  state.items.push_back(std::move(item));
  state.mostPushed = std::max(state.mostPushed, static_cast<int>(pushed.size()));
  const auto tags = std::count_if(pushed.begin(), pushed.end(), [](const Item& each) { return each.tag; });
  state.mostTags = std::max(state.mostTags, static_cast<int>(tags));
}

Item Places::look(uint32_t stream, size_t n) const {
  const StreamState& state = streams[stream];
  Item item = state.items[n];
  // What was pushed may have been written over.
  if (const StreamPlan& plan = graph_.streams[stream]; plan.block != none) {
    const uint64_t number = plan.history.back().size() - state.items.size() + n;
    const uint8_t* from = const_cast<Places*>(this)->placeOf(stream, number);
    item.bytes.assign(from, from + plan.elementBytes);
  }
  return item;
}

Item Places::take(uint32_t stream) {
  Item item = look(stream, 0);
  streams[stream].items.pop_front();
  return item;
}

Item Places::newItem(uint32_t stream, uint64_t number, bool tag) const {
  const StreamPlan& plan = graph_.streams[stream];
  Item item{std::vector<uint8_t>(static_cast<size_t>(plan.elementBytes)), tag};
  fill(number, plan.bound, item.bytes.data(), static_cast<uint32_t>(plan.elementBytes));
  return item;
}

uint64_t Places::digestOf(const Item& item) {
  return digest(item.bytes.data(), static_cast<uint32_t>(item.bytes.size()));
}

uint8_t* Places::placeIn(const Object& object, uint64_t element) {
  BlockPlan& block = graph_.blocks[at(object.block)];
  if (element >= static_cast<uint64_t>(block.capacity))
    return nullptr;
  return block.memory.data() + element * static_cast<uint64_t>(block.elementBytes);
}

uint8_t* Places::stridedPlace(const Object& object, const Execution& execution, uint64_t count) {
  const auto elements = static_cast<uint64_t>(execution.elements);
  return placeIn(object, count / elements * static_cast<uint64_t>(execution.stride) + count % elements);
}

void Places::scatterTo(const Object& object, uint8_t* to, bool& tag) {
  const Item item = take(at(object.source));
  std::copy(item.bytes.begin(), item.bytes.end(), to);
  tag = item.tag;
}

void Places::gatherFrom(const Object& object, const uint8_t* from, bool tag) {
  append(at(object.target), {{from, from + graph_.blocks[at(object.block)].elementBytes}, tag});
}

Step Places::move(const Object& object, const Execution& execution, bool last) {
  if (streams[at(object.source)].items.empty() || freeRoom(at(object.target)) == 0)
    return Step::Stuck;
  Item item = take(at(object.source));
  if (execution.all)
    last = item.tag;
  item.tag = last && execution.setEOS;
  append(at(object.target), std::move(item));
  return last ? Step::Last : Step::Done;
}

Step Places::strided(const Object& object, const Execution& execution, uint64_t count, bool last) {
  const bool gathers = object.sort == Sort::StridedGather;
  if (gathers ? freeRoom(at(object.target)) == 0 : streams[at(object.source)].items.empty())
    return Step::Stuck;
  uint8_t* place = stridedPlace(object, execution, count);
  if (!place)
    return Step::Outside;
  if (gathers) {
    // When the rest of a segment lies outside, so does the next.
    if (execution.all)
      last = !stridedPlace(object, execution, count + 1);
    gatherFrom(object, place, last && execution.setEOS);
  } else {
    bool tag = false;
    scatterTo(object, place, tag);
    if (execution.all)
      last = tag;
  }
  return last ? Step::Last : Step::Done;
}

Step Places::indexed(const Object& object, const Execution& execution, bool last) {
  const bool gathers = object.sort == Sort::IndexedGather;
  const int possible =
      gathers ? freeRoom(at(object.target)) : static_cast<int>(streams[at(object.source)].items.size());
  if (streams[at(object.indices)].items.empty() || possible < execution.elements)
    return Step::Stuck;
  const Item index = take(at(object.indices));
  uint64_t first = 0;
  for (size_t i = 0; i < index.bytes.size(); ++i)
    first |= static_cast<uint64_t>(index.bytes[i]) << (8 * i);
  if (execution.all && gathers)
    last = index.tag;
  for (int i = 0; i < execution.elements; ++i) {
    uint8_t* place = placeIn(object, first + static_cast<uint64_t>(i));
    if (gathers) {
      gatherFrom(object, place, last && execution.setEOS && i + 1 == execution.elements);
    } else {
      bool tag = false;
      scatterTo(object, place, tag);
      if (execution.all)
        last = tag;
    }
  }
  return last ? Step::Last : Step::Done;
}

Step Places::blackBox(const Object& object, const Execution& execution, BoxState& state) {
  const uint32_t source = at(object.source), target = at(object.target);
  const bool collects = object.sort == Sort::InOrder && !state.complete;
  if ((!state.complete && streams[source].items.empty()) || (!collects && freeRoom(target) == 0))
    return Step::Stuck;
  if (object.sort == Sort::InOrder) {
    if (collects) {
      state.held.push_back(take(source));
      state.complete = state.held.back().tag;
      if (state.complete)
        std::sort(state.held.begin(), state.held.end(), [](const Item& a, const Item& b) { return isLess(a, b); });
      return Step::Done;
    }
    Item item = state.held[state.given++];
    item.tag = state.given == state.held.size();
    append(target, std::move(item));
    return state.given == state.held.size() ? Step::Last : Step::Done;
  }
  const Item item = take(source);
  if (object.sort == Sort::Scramble) {
    append(target, newItem(target, mix(digestOf(item)), item.tag));
  } else {
    float x = 0, sum = 0;
    std::memcpy(&x, item.bytes.data(), sizeof x);
    state.past.insert(state.past.begin(), x);
    for (size_t k = 0; k < std::min(static_cast<size_t>(execution.elements), state.past.size()); ++k) {
      float tap = 0;
      std::memcpy(&tap, placeIn(object, k), sizeof tap);
      sum += tap * state.past[k];
    }
    Item filtered{std::vector<uint8_t>(sizeof sum), item.tag};
    std::memcpy(filtered.bytes.data(), &sum, sizeof sum);
    append(target, std::move(filtered));
  }
  return item.tag ? Step::Last : Step::Done;
}

Step Places::transfer(const Object& object, const Execution& execution, uint64_t& count, bool last) {
  const bool byIndex = object.sort == Sort::IndexedScatter || object.sort == Sort::IndexedGather;
  const Step step = byIndex                     ? indexed(object, execution, last)
                    : object.sort == Sort::Move ? move(object, execution, last)
                                                : strided(object, execution, count, last);
  if (step == Step::Done || step == Step::Last)
    count += byIndex ? static_cast<uint64_t>(execution.elements) : 1;
  return step;
}

} // namespace strata::graphs
