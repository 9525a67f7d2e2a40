// A branch of n edges tests the bits of the edge's number. A bit's signal is 1 in some iterations, 0 in others and free
// in all the rest; whichever global signal agrees with both is taken, else there is a new one.
#include "runtime/array/control_signals.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace strata::array {

namespace {

struct PartialSignal {
  size_t flow = 0, node = 0, bit = 0;
  bool canInvert = false; // a branch of two edges, which may change places
  Diagrams::Set ones = Diagrams::none, zeros = Diagrams::none;
};

std::vector<PartialSignal> partialSignals(std::span<const ControlFlow> flows, Diagrams& diagrams) {
  std::vector<PartialSignal> result;
  for (size_t f = 0; f < flows.size(); ++f)
    for (size_t n = 0; n < flows[f].nodes.size(); ++n) {
      const std::vector<ControlFlow::Edge>& edges = flows[f].nodes[n].edges;
      for (size_t bit = 0; (size_t{1} << bit) < edges.size(); ++bit) {
        PartialSignal& signal = result.emplace_back(PartialSignal{f, n, bit, edges.size() == 2});
        for (size_t e = 0; e < edges.size(); ++e) {
          Diagrams::Set& side = (e >> bit & 1) != 0 ? signal.ones : signal.zeros;
          side = diagrams.unite(side, edges[e].when);
        }
      }
    }
  return result;
}

SignalAllocation colour(std::span<const ControlFlow> flows, std::span<const PartialSignal> signals,
                        std::span<const size_t> order, Diagrams& diagrams) {
  SignalAllocation result;
  std::vector<Diagrams::Set> zeros;
  for (const ControlFlow& flow : flows) {
    std::vector<BranchCode>& codes = result.branches.emplace_back(flow.nodes.size());
    for (size_t n = 0; n < codes.size(); ++n)
      if (const size_t edges = flow.nodes[n].edges.size(); edges > 1) {
        codes[n].signals.resize(static_cast<size_t>(std::bit_width(edges - 1)));
        codes[n].edges.resize(edges);
        std::iota(codes[n].edges.begin(), codes[n].edges.end(), 0u);
      }
  }
  const auto agrees = [&](size_t global, Diagrams::Set one, Diagrams::Set zero) {
    return diagrams.intersect(result.ones[global], zero) == Diagrams::none &&
           diagrams.intersect(zeros[global], one) == Diagrams::none;
  };
  for (const size_t number : order) {
    const PartialSignal& signal = signals[number];
    Diagrams::Set one = signal.ones, zero = signal.zeros;
    size_t global = 0;
    for (; global < result.ones.size(); ++global) {
      if (agrees(global, one, zero))
        break;
      if (signal.canInvert && agrees(global, zero, one)) {
        std::swap(one, zero);
        std::ranges::reverse(result.branches[signal.flow][signal.node].edges);
        break;
      }
    }
    if (global == result.ones.size()) {
      result.ones.push_back(Diagrams::none);
      zeros.push_back(Diagrams::none);
    }
    result.ones[global] = diagrams.unite(result.ones[global], one);
    zeros[global] = diagrams.unite(zeros[global], zero);
    result.branches[signal.flow][signal.node].signals[signal.bit] = static_cast<uint16_t>(global);
  }
  return result;
}

} // namespace

SignalAllocation allocateSignals(std::span<const ControlFlow> flows, size_t available, Diagrams& diagrams) {
  const std::vector<PartialSignal> signals = partialSignals(flows, diagrams);
  std::vector<size_t> order(signals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  SignalAllocation result = colour(flows, signals, order, diagrams);
  if (result.ones.size() <= available)
    return result;
  // Those that care about most iterations first: they find the fewest others to agree with.
  std::vector<int64_t> sizes;
  for (const PartialSignal& signal : signals)
    sizes.push_back(diagrams.size(signal.ones) + diagrams.size(signal.zeros));
  std::ranges::sort(order, {}, [&](size_t each) { return std::pair(-sizes[each], each); });
  SignalAllocation other = colour(flows, signals, order, diagrams);
  return other.ones.size() < result.ones.size() ? other : result;
}

} // namespace strata::array
