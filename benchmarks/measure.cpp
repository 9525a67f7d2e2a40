// Sampling in turn, order statistics and verdicts: measure.h.
#include "benchmarks/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace strata::bench {
namespace {

/// Idle workers of either side spin for at most about this long; measured while they do, the other side would share its
/// cores with them.
constexpr auto quietTime = std::chrono::milliseconds(3);
constexpr unsigned mostCalls = 1u << 24;

double secondsOf(const std::function<void()>& call, unsigned calls) {
  auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < calls; ++i)
    call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double middle(const std::vector<double>& sorted) {
  size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

} // namespace

Estimate estimate(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  size_t count = samples.size();
  // The k-th smallest exceeds the true median with probability P(fewer than k of n fair coins show heads).
  size_t rank = 0;
  double below = 0, term = std::pow(0.5, static_cast<double>(count));
  while (rank < count / 2) {
    below += term;
    if (2 * below > 0.05)
      break;
    term *= static_cast<double>(count - rank) / static_cast<double>(rank + 1);
    ++rank;
  }
  size_t outer = rank ? rank - 1 : 0;
  return {middle(samples), samples[outer], samples[count - 1 - outer]};
}

unsigned callsPerSample(const Timed& ours, const Timed& peer, double seconds) {
  double fastest = 0;
  for (const Timed* side : {&ours, &peer}) {
    side->reset();
    side->call();
    unsigned calls = 1;
    double taken = secondsOf(side->call, calls);
    while (taken < seconds / 10 && calls < mostCalls) {
      calls *= 4;
      taken = secondsOf(side->call, calls);
    }
    double each = taken / calls;
    fastest = fastest == 0 ? each : std::min(fastest, each);
  }
  return static_cast<unsigned>(std::clamp(std::ceil(seconds / std::max(fastest, 1e-10)), 1.0, double(mostCalls)));
}

double sample(const Timed& side, unsigned calls) {
  std::this_thread::sleep_for(quietTime);
  side.reset();
  side.call();
  return secondsOf(side.call, calls) / calls;
}

Verdict judge(const Estimate& estimate, const Goal& goal) {
  if (goal.kind == Goal::Kind::None)
    return Verdict::None;
  bool least = goal.kind == Goal::Kind::RatioAtLeast;
  auto keeps = [&](double value) { return least ? value >= goal.bound : value <= goal.bound; };
  if (keeps(estimate.median))
    return Verdict::Met;
  return keeps(least ? estimate.high : estimate.low) ? Verdict::Undecided : Verdict::Missed;
}

const char* verdictName(Verdict verdict) {
  switch (verdict) {
  case Verdict::Met:
    return "met";
  case Verdict::Missed:
    return "missed";
  case Verdict::Undecided:
    return "undecided";
  case Verdict::None:
    break;
  }
  return "-";
}

Estimate judged(const Pairs& pairs, const Goal& goal) {
  if (goal.kind == Goal::Kind::OursAtMost)
    return estimate(pairs.ours);
  std::vector<double> ratios;
  for (size_t pair = 0; pair < pairs.ours.size(); ++pair)
    ratios.push_back(goal.kind != Goal::Kind::RatioAtMost ? pairs.peer[pair] / pairs.ours[pair]
                                                          : pairs.ours[pair] / pairs.peer[pair]);
  return estimate(std::move(ratios));
}

Pairs inTurn(unsigned pairs, const Goal& goal, const std::function<double()>& ours,
             const std::function<double()>& peer) {
  Pairs result;
  const auto isOpen = [&] {
    if (goal.kind != Goal::Kind::RatioAtLeast && goal.kind != Goal::Kind::RatioAtMost)
      return false;
    const Estimate found = judged(result, goal);
    return found.low < goal.bound && goal.bound < found.high;
  };
  for (unsigned pair = 0; pair < pairs || (pair < 4 * pairs && isOpen()); ++pair) {
    if (pair % 2) {
      result.peer.push_back(peer());
      result.ours.push_back(ours());
    } else {
      result.ours.push_back(ours());
      result.peer.push_back(peer());
    }
  }
  return result;
}

} // namespace strata::bench
