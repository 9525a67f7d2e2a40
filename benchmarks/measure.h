// How two ways of doing the same work are compared: samples in turn (A B B A …), the ratio of each pair, and an
// interval for its median that supposes nothing about how the noise is distributed. One thread measures; nothing here
// owns what it times.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace strata::bench {

/// The median of samples and the range that holds the true median with a probability of 95% or more. With fewer than
/// six samples no range does, and the interval is that of all samples.
struct Estimate {
  double median = 0, low = 0, high = 0;
};

/// From order statistics: the k-th smallest and k-th largest sample, with the largest k for which a binomial variable
/// leaves at most 5% outside. REQUIRES: samples is not empty.
Estimate estimate(std::vector<double> samples);

/// Samples of both sides, by pair.
struct Pairs {
  std::vector<double> ours, peer;
};

/// One side of a contest. `reset` brings the data into the state before the first call; it is not timed.
struct Timed {
  std::function<void()> reset;
  std::function<void()> call;
};

/// How often each side is called in one sample, so that a sample of the faster side takes at least `seconds`.
unsigned callsPerSample(const Timed& ours, const Timed& peer, double seconds);

/// Seconds of one call: the mean over `calls` calls after a reset and one call that is not timed, and after both sides'
/// idle threads have gone to sleep.
double sample(const Timed& side, unsigned calls);

enum class Verdict { Met, Missed, Undecided, None };

/// What a row promises about the quantity that is judged.
struct Goal {
  enum class Kind {
    RatioAtLeast, ///< peer's time over ours
    RatioAtMost,  ///< ours over the peer's
    OursAtMost,   ///< our own figure, in the row's unit
    None,         ///< nothing: the row is there to be read; its ratio is the peer's time over ours
  };
  Kind kind;
  double bound = 0;
};

/// Met when the median keeps the bound, missed when the whole interval breaks it, else undecided.
Verdict judge(const Estimate& estimate, const Goal& goal);
const char* verdictName(Verdict verdict);

/// The quantity that a goal judges, from the samples: a ratio for each pair, or our own figures.
Estimate judged(const Pairs& pairs, const Goal& goal);

/// Takes samples in turn: ours, peer, peer, ours, ours, … so that a drift of the machine falls on both. While the
/// interval of a ratio has its goal's bound within, neither met for sure nor missed, it goes on, to four times as many
/// pairs at most.
Pairs inTurn(unsigned pairs, const Goal& goal, const std::function<double()>& ours,
             const std::function<double()>& peer);

} // namespace strata::bench
