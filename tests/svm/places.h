// What random graphs are made of: numbers, and the streams and blocks, each with a place on the machine of
// tests/svm/field.yaml. One thread.
#pragma once

#include "tests/svm/graph.h"

#include <algorithm>
#include <random>

namespace strata::graphs {

/// The numbers of one graph, and its part of the machine.
class Random {
public:
  Random(uint64_t seed, Share share) : numbers_(mix(seed)), share_(share) {}

  const Share& share() const { return share_; }
  uint32_t below(uint64_t bound) { return static_cast<uint32_t>(numbers_() % bound); }
  bool chance(uint32_t oneIn) { return below(oneIn) == 0; }
  uint64_t number() { return numbers_(); }
  /// One of the part of `count` instances that this graph has, at most `most` of them.
  uint32_t ofShare(uint32_t count, uint32_t most = ~0u) {
    const uint32_t part = count / share_.parts;
    return share_.part * part + below(std::min(part, most));
  }
  template <typename T>
  const T& oneOf(const std::vector<T>& list) {
    return list[below(list.size())];
  }

private:
  std::mt19937_64 numbers_;
  const Share share_;
};

/// Streams in memories and FIFOs; blocks of their own, blocks that lie where streams do, and one of taps, the last.
void makePlaces(Graph& graph, Random& random, uint32_t kernels);

} // namespace strata::graphs
