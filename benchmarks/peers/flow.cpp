// The same chain of kernels as nodes of a oneTBB flow graph, one message an element. A serial node may start its next
// message before it has handed on the last, so each message carries its index: that costs less than a node that
// restores the order.
#include "benchmarks/peers/peers.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/version.h>

#include <string>

namespace flow = oneapi::tbb::flow;

namespace {

struct Message {
  int64_t index;
  float value;
};

} // namespace

const char* bench_peer_tbb(void) {
  static const std::string text =
      "oneTBB " + std::to_string(TBB_VERSION_MAJOR) + "." + std::to_string(TBB_VERSION_MINOR);
  return text.c_str();
}

void bench_flow(const float* in, float* out, int64_t n, int32_t stages, int32_t threads) {
  oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
  flow::graph graph;
  int64_t next = 0;
  flow::input_node<Message> source(graph, [&](oneapi::tbb::flow_control& control) {
    if (next == n) {
      control.stop();
      return Message{0, 0};
    }
    Message message{next, in[next]};
    ++next;
    return message;
  });
  flow::function_node<Message, Message> middle(
      graph, flow::serial, [](const Message& message) { return Message{message.index, message.value * 2 + 1}; });
  flow::function_node<Message, flow::continue_msg> sink(graph, flow::serial, [&](const Message& message) {
    out[message.index] = message.value;
    return flow::continue_msg();
  });
  if (stages == 3) {
    flow::make_edge(source, middle);
    flow::make_edge(middle, sink);
  } else {
    flow::make_edge(source, sink);
  }
  source.activate();
  graph.wait_for_all();
}
