// Branch and bound: what remains is coloured greedily, and of one colour one node at most is in a clique. See clique.h.
#include "compiler/target/array/clique.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace strata::array {

namespace {

class CliqueSearch {
public:
  CliqueSearch(const std::vector<std::vector<bool>>& adjacent, const std::vector<int64_t>& weights)
      : adjacent_(adjacent), weights_(weights) {}

  std::vector<uint32_t> run() {
    std::vector<uint32_t> all(weights_.size());
    std::iota(all.begin(), all.end(), 0u);
    std::ranges::sort(all, {}, [&](uint32_t node) { return std::pair(-weights_[node], node); });
    extend(all, 0);
    std::sort(best_.begin(), best_.end());
    return best_;
  }

private:
  /// Of what the nodes can add to a clique.
  int64_t upperBound(const std::vector<uint32_t>& nodes) const {
    int64_t sum = 0;
    std::vector<std::vector<uint32_t>> colours;
    for (const uint32_t node : nodes) { // in order of falling weights: the first of a colour is its heaviest
      const auto fits = std::ranges::find_if(colours, [&](const std::vector<uint32_t>& colour) {
        return std::ranges::none_of(colour, [&](uint32_t other) { return adjacent_[node][other]; });
      });
      if (fits != colours.end()) {
        fits->push_back(node);
        continue;
      }
      colours.push_back({node});
      sum += weights_[node];
    }
    return sum;
  }

  void extend(const std::vector<uint32_t>& nodes, int64_t weight) {
    if (weight > heaviest_ || best_.empty()) {
      heaviest_ = weight;
      best_ = clique_;
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<uint32_t> rest(nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes.end());
      if (weight + upperBound(rest) <= heaviest_ || ++steps_ > longest)
        return;
      std::vector<uint32_t> next;
      std::ranges::copy_if(rest, std::back_inserter(next), [&](uint32_t other) { return adjacent_[nodes[i]][other]; });
      clique_.push_back(nodes[i]);
      extend(next, weight + weights_[nodes[i]]);
      clique_.pop_back();
    }
  }

  static constexpr size_t longest = 5000;
  const std::vector<std::vector<bool>>& adjacent_;
  const std::vector<int64_t>& weights_;
  std::vector<uint32_t> clique_, best_;
  int64_t heaviest_ = 0;
  size_t steps_ = 0;
};

} // namespace

std::vector<uint32_t> heavyClique(const std::vector<std::vector<bool>>& adjacent, const std::vector<int64_t>& weights) {
  return CliqueSearch(adjacent, weights).run();
}

} // namespace strata::array
