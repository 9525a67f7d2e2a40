// Implements makePlaces.
#include "tests/svm/places.h"

namespace strata::graphs {

namespace {

constexpr uint32_t locals = 16, fifos = 32, fifoBytes = 512;

class Maker {
public:
  Maker(Graph& graph, Random& random, uint32_t kernels) : graph_(graph), random_(random), kernels_(kernels) {}

  void make() {
    static constexpr int sizes[] = {1, 2, 3, 4, 4, 8, 8, 12, 64, static_cast<int>(largestElement)};
    const std::vector<int> palette{sizes[random_.below(10)], sizes[random_.below(9)], 4};
    std::vector<int> used(locals, 0);
    const auto reserve = [&](uint32_t place, int bytes) {
      const int address = used[place];
      used[place] += (bytes + 3) / 4;
      return address;
    };
    const uint32_t streams = 2 + random_.below(kernels_ + kernels_ / 2 + 2);
    const uint32_t ownFifos = fifos / random_.share().parts;
    uint32_t fifo = 0;
    for (uint32_t i = 0; i < streams; ++i) {
      StreamPlan plan;
      plan.elementBytes = random_.oneOf(palette);
      if (random_.chance(6)) {
        plan.bound = 1 + random_.below(20);
        plan.elementBytes = 1 << random_.below(4);
      } else if (random_.chance(6)) {
        plan.bound = smallFloats;
        plan.elementBytes = 4;
      }
      plan.capacity =
          1 + static_cast<int>(random_.chance(3) ? random_.below(4) : random_.below(plan.elementBytes > 100 ? 8 : 70));
      if (random_.chance(4) && fifo < ownFifos && plan.elementBytes <= 64) {
        plan.fifo = true;
        plan.place = random_.share().part * ownFifos + fifo++;
        plan.capacity = static_cast<int>(fifoBytes) / plan.elementBytes;
      } else {
        plan.place = random_.ofShare(locals);
        plan.address = reserve(plan.place, plan.capacity * plan.elementBytes);
      }
      graph_.streams.push_back(std::move(plan));
    }
    for (uint32_t i = 0; i < 1 + kernels_ / 4; ++i) {
      BlockPlan plan;
      plan.elementBytes = random_.oneOf(palette);
      plan.capacity = 25 + static_cast<int>(random_.below(60));
      plan.place = random_.ofShare(locals);
      plan.address = reserve(plan.place, plan.capacity * plan.elementBytes);
      addBlock(std::move(plan));
    }
    for (uint32_t tries = random_.below(3 + kernels_ / 2); tries > 0; --tries)
      if (BlockPlan plan; alias(plan, random_.below(streams)))
        addBlock(std::move(plan));
    BlockPlan taps;
    taps.bound = smallFloats;
    taps.capacity = 12;
    taps.place = random_.ofShare(locals);
    taps.address = reserve(taps.place, taps.capacity * taps.elementBytes);
    addBlock(std::move(taps));
  }

private:
  /// Lays a block where a stream lies.
  bool alias(BlockPlan& block, uint32_t stream) {
    StreamPlan& plan = graph_.streams[stream];
    if (plan.fifo || plan.bound || plan.block != none)
      return false;
    plan.block = static_cast<int>(graph_.blocks.size());
    block.stream = static_cast<int>(stream);
    block.place = plan.place;
    block.address = plan.address;
    block.capacity = plan.capacity;
    block.elementBytes = plan.elementBytes;
    return true;
  }

  void addBlock(BlockPlan plan) {
    plan.seed = random_.number();
    plan.memory.resize(static_cast<size_t>(plan.capacity) * static_cast<size_t>(plan.elementBytes));
    for (int k = 0; k < plan.capacity; ++k)
      fill(plan.seed + static_cast<uint64_t>(k), plan.bound, plan.memory.data() + k * plan.elementBytes,
           static_cast<uint32_t>(plan.elementBytes));
    graph_.blocks.push_back(std::move(plan));
  }

  Graph& graph_;
  Random& random_;
  const uint32_t kernels_;
};

} // namespace

void makePlaces(Graph& graph, Random& random, uint32_t kernels) {
  Maker(graph, random, kernels).make();
}

} // namespace strata::graphs
