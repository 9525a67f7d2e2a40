// Implements addStandstill. What never comes is awaited through streams of its own, so that no rule is broken.
#include "tests/svm/graph.h"

#include <random>

namespace strata::graphs {

void addStandstill(Graph& graph, uint64_t seed) {
  std::mt19937_64 random(mix(seed + 1));
  const auto below = [&](uint64_t bound) { return static_cast<uint32_t>(random() % bound); };
  // Every stream and block that a kernel uses is initialised by then.
  const size_t first = graph.streams.size();
  graph.actions.resize(first + below(graph.actions.size() - first + 1));

  const auto addStream = [&](int capacity) {
    StreamPlan plan;
    plan.address = 250000 + 100 * static_cast<int>(graph.streams.size() - first);
    plan.capacity = capacity;
    plan.history.emplace_back();
    graph.streams.push_back(plan);
    const auto index = static_cast<uint32_t>(graph.streams.size() - 1);
    graph.actions.push_back({Action::Kind::InitStream, {index}, none, false});
    return index;
  };
  uint32_t processor = 900;
  const auto start = [&](std::vector<Op> ops, std::vector<uint32_t> dependsOn) {
    Object object;
    object.processor = processor++;
    Execution execution;
    execution.object = static_cast<uint32_t>(graph.objects.size());
    execution.ops = std::move(ops);
    execution.dependsOn = std::move(dependsOn);
    graph.objects.push_back(object);
    graph.executions.push_back(std::move(execution));
    const auto index = static_cast<uint32_t>(graph.executions.size() - 1);
    graph.actions.push_back({Action::Kind::Start, {index}, 0, false});
    return index;
  };
  const auto wait = [&](std::vector<uint32_t> executions) {
    graph.actions.push_back({Action::Kind::Wait, std::move(executions), 0, false});
  };
  const auto on = [](Op::Kind kind, uint32_t stream, int n = 0) { return Op{kind, false, n, {stream}}; };

  switch (below(6)) {
  case 0: // an element
    wait({start({on(Op::Kind::Pop, addStream(5))}, {})});
    break;
  case 1: { // room
    const uint32_t stream = addStream(2);
    wait({start({on(Op::Kind::Push, stream), on(Op::Kind::Push, stream), on(Op::Kind::Push, stream)}, {})});
    break;
  }
  case 2: { // a second element
    const uint32_t stream = addStream(3);
    start({on(Op::Kind::Push, stream)}, {});
    wait({start({on(Op::Kind::Peek, stream, 1)}, {})});
    break;
  }
  case 3: { // each other
    const uint32_t one = addStream(1), other = addStream(1);
    const uint32_t left = start({on(Op::Kind::Pop, one), on(Op::Kind::Push, other)}, {});
    wait({left, start({on(Op::Kind::Pop, other), on(Op::Kind::Push, one)}, {})});
    break;
  }
  case 4: { // one that is paused
    const uint32_t paused = start({{Op::Kind::Pause, false, 0, {}}}, {});
    wait({start({}, {paused})});
    break;
  }
  default: // control itself
    graph.actions.push_back({Action::Kind::Pop, {addStream(4)}, 0, false});
  }
}

} // namespace strata::graphs
