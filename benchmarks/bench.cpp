// The figures of this computer, random arrays and the words of rows: bench.h.
#include "benchmarks/bench.h"

#include "benchmarks/peers/peers.h"

#include <cstdio>

namespace strata::bench {

double Bench::triadBandwidth() {
  if (triadBandwidth_ == 0)
    triadBandwidth_ = bench_triad_bandwidth();
  return triadBandwidth_;
}

double Bench::fmaPeak() {
  if (fmaPeak_ == 0)
    fmaPeak_ = bench_fma_peak();
  return fmaPeak_;
}

std::string Bench::loopPeer(bool parallel) {
  std::string text = std::string(bench_peer_compiler()) + " -O3 -march=native";
  return parallel ? text + ", " + bench_peer_openmp() : text;
}

Buffer<float> randomFloats(size_t count, unsigned seed) {
  Buffer<float> values(count);
  std::mt19937 random(seed);
  // 24 bits of each number, so that the values do not depend on the library's way of making floats.
  for (size_t index = 0; index < count; ++index)
    values[index] = static_cast<float>(static_cast<int32_t>(random() >> 8) - (1 << 23)) / static_cast<float>(1 << 23);
  return values;
}

Row failed(Row row, std::string why) {
  row.failure = std::move(why);
  row.pairs = {};
  return row;
}

std::string limitText(Bench& bench, double seconds, double bytes, double operations) {
  char text[64];
  if (bytes > 0)
    snprintf(text, sizeof text, "%.0f%% of triad", 100 * bytes / seconds / bench.triadBandwidth());
  else
    snprintf(text, sizeof text, "%.0f%% of FMA peak", 100 * operations / seconds / bench.fmaPeak());
  return text;
}

} // namespace strata::bench
