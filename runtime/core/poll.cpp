// Implements polls. Whether a state comes back is found by Brent's cycle detection: one state is remembered, at rounds
// whose distance doubles, so that a cycle of any length is found.
#include "runtime/core/poll.h"

#include "runtime/core/failure.h"
#include "runtime/core/parallel.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace strata::runtime {
namespace {

constexpr uint64_t mostEager = 64; // rounds in which an instance gets on by itself before others run
constexpr size_t mostPlaces = 8;   // that a message names

std::string placeText(const StrataCheck* place) {
  if (!place->file || !*place->file)
    return "a loop that waits";
  std::string text = std::string("the loop at ") + place->file;
  if (place->line)
    text += ":" + std::to_string(place->line) + ":" + std::to_string(place->column);
  return text;
}

/// "tile 1", "tiles 0, 1, 2 and 5 more".
std::string numbersText(const std::vector<int64_t>& numbers) {
  constexpr size_t listed = 8;
  std::string text = numbers.size() == 1 ? "tile " : "tiles ";
  for (size_t i = 0; i < numbers.size() && i < listed; ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  if (numbers.size() > listed)
    text += " and " + std::to_string(numbers.size() - listed) + " more";
  return text;
}

} // namespace

void Rounds::change() {
  std::lock_guard guard(lock);
  epoch.fetch_add(1, std::memory_order_release);
  waiting.clear();
  known.clear();
}

void Rounds::end() {
  std::lock_guard guard(lock);
  --running;
  epoch.fetch_add(1, std::memory_order_release);
  waiting.clear();
  known.clear();
}

void Rounds::goesInCircles(uint64_t from, const StrataCheck* place, int64_t instance) {
  const Execution* me = current();
  std::unique_lock guard(lock);
  if (epoch.load(std::memory_order_relaxed) != from || !known.insert(me).second)
    return;
  waiting.emplace(instance, me, place);
  if (static_cast<int64_t>(waiting.size()) < running)
    return;
  // By place, the place of the first instance first.
  std::vector<std::pair<const StrataCheck*, std::vector<int64_t>>> places;
  for (const auto& [number, who, where] : waiting) {
    auto same = std::find_if(places.begin(), places.end(), [&](const auto& each) { return each.first == where; });
    if (same == places.end())
      same = places.insert(places.end(), {where, {}});
    same->second.push_back(number);
  }
  guard.unlock();
  std::string text = "nothing can run any more: all that has not ended waits";
  for (size_t i = 0; i < places.size() && i < mostPlaces; ++i) {
    const auto& [where, numbers] = places[i];
    text += i ? "; " : ": ";
    text += numbers.front() < 0 ? std::to_string(numbers.size()) + " instances" : numbersText(numbers);
    text += " in " + placeText(where);
  }
  if (places.size() > mostPlaces)
    text += "; and others in " + std::to_string(places.size() - mostPlaces) + " more loops";
  StrataCheck check = *places.front().first;
  check.message = text.c_str();
  strata_fail(&check, nullptr, 0);
}

} // namespace strata::runtime

void strata_poll(StrataPoll* poll, const StrataCheck* place, int64_t instance, int32_t changed, const int64_t* state,
                 int32_t count) {
  using namespace strata::runtime;
  const ParallelJob* job = current()->job;
  if (!job || !job->rounds)
    return yield();
  Rounds& rounds = *job->rounds;
  auto* saved = reinterpret_cast<int64_t*>(poll + 1);
  if (changed)
    rounds.change();
  const uint64_t epoch = rounds.epoch.load(std::memory_order_acquire);
  if (changed || poll->epoch != epoch + 1) {
    std::copy_n(state, count, saved);
    poll->epoch = epoch + 1;
    poll->steps = 0;
    poll->limit = 1;
    poll->inCircles = 0;
  } else if (!poll->inCircles && std::equal(state, state + count, saved)) {
    poll->inCircles = 1;
    rounds.goesInCircles(epoch, place, instance);
  } else if (!poll->inCircles) {
    if (++poll->steps == poll->limit) {
      std::copy_n(state, count, saved);
      poll->steps = 0;
      poll->limit *= 2;
    }
    changed = 1;
  }
  // One that gets on by itself need not wait for others yet.
  if (changed && ++poll->eager < mostEager)
    return;
  poll->eager = 0;
  yield();
}
