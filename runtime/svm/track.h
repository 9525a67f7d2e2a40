// Stretches of time, of a kernel in one state or of its waits, in memory of a fixed size: when there are too many,
// those that are near each other become one, which knows how many they were and how long all together. Not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::svm {

struct Stretch {
  static constexpr uint32_t several = ~uint32_t(0);
  int64_t begin = 0, end = 0; // nanoseconds
  int64_t within = 0;         // of these, how many it really was so
  uint32_t times = 1;
  uint32_t what = 0; // `several` when not all of them were of one kind
};

class Track {
public:
  /// Adds a stretch that begins where the last one ended, or later; keeps at most `most` (at least 2), by and by less
  /// exactly.
  void add(int64_t begin, int64_t end, uint32_t what, size_t most);
  const std::vector<Stretch>& stretches() const { return stretches_; }

private:
  bool join(std::vector<Stretch>& all, const Stretch& next) const;

  std::vector<Stretch> stretches_;
  int64_t grain_ = 0; // what lies within so many nanoseconds is one stretch
};

} // namespace strata::svm
