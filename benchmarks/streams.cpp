// Chains of two and three kernels over streams, one float a push, through the runtime's calls, against rings between
// threads and against a flow graph. The kernels of this side are fibres on the runtime's workers, so one thread can run
// them all.
#include "benchmarks/bench.h"
#include "benchmarks/peers/peers.h"
#include "runtime/abi.h"
#include "runtime/core/runtime.h"

namespace strata::bench {
namespace {

constexpr int64_t capacity = 1024;

/// A chain: what its kernels share. The first kernel reads `in`, one between doubles and adds one, the last writes
/// `out`.
struct Chain {
  const float* in;
  float* out;
  int64_t count;
  int64_t stages;
  StrataStream* streams[2];
};

void source(const Chain& chain) {
  for (int64_t i = 0; i < chain.count; ++i)
    strata_stream_push(chain.streams[0], chain.in + i);
  strata_stream_end(chain.streams[0]);
}

void middle(const Chain& chain) {
  for (float value = 0; strata_stream_pop(chain.streams[0], &value);) {
    value = value * 2 + 1;
    strata_stream_push(chain.streams[1], &value);
  }
  strata_stream_end(chain.streams[1]);
}

void sink(const Chain& chain) {
  StrataStream* stream = chain.streams[chain.stages - 2];
  for (float* at = chain.out; strata_stream_pop(stream, at);)
    ++at;
}

void kernel(void* context, int64_t instance) {
  const Chain& chain = *static_cast<const Chain*>(context);
  if (instance == 0)
    source(chain);
  else if (instance == chain.stages - 1)
    sink(chain);
  else
    middle(chain);
}

void run(Chain chain) {
  for (int64_t i = 0; i + 1 < chain.stages; ++i)
    chain.streams[i] = strata_stream_create(sizeof(float), capacity, "chain");
  const StrataParts concurrent{strata_none, 1, 0, 0, 0, 0};
  strata_spmd(kernel, &chain, sizeof chain, chain.stages, &concurrent);
  for (int64_t i = 0; i + 1 < chain.stages; ++i)
    strata_stream_destroy(chain.streams[i]);
}

enum class Peer { Ring, Flow };

Row stream(Bench& bench, int32_t stages, unsigned threads, Peer peer) {
  // A message of the flow graph costs so much that a sample has to have fewer.
  int64_t count = peer == Peer::Ring ? 1000000 : 50000;
  auto elements = static_cast<size_t>(count);
  Buffer<float> in = randomFloats(elements, 13), out(elements);
  Contest<float> contest("stream, " + std::to_string(stages) + " kernels, " + std::to_string(count) + " floats", out);
  std::string workers = std::to_string(threads) + (threads == 1 ? " worker" : " workers");
  contest.row.method = workers + ", opaque push and pop of one float through the runtime's interface, rings of " +
                       std::to_string(capacity) + "; the peer: ";
  if (peer == Peer::Ring) {
    contest.row.peer = std::string(bench_peer_boost()) + " spsc_queue";
    contest.row.goal = {Goal::Kind::RatioAtLeast, 1};
    contest.row.method += std::to_string(stages) + " threads that spin, then yield, inlined";
  } else {
    contest.row.peer = std::string(bench_peer_tbb()) + " flow graph";
    contest.row.goal = {Goal::Kind::None, 0}; // that of kernels whose operations are inlined is svm-chain's
    contest.row.method += "as many threads, a message a float";
  }
  runtime::setThreads(threads);
  Row row = hold(
      bench, std::move(contest), [&] { run({in.data(), out.data(), count, stages, {}}); },
      [&] {
        if (peer == Peer::Ring)
          bench_ring(in.data(), out.data(), count, stages, capacity);
        else
          bench_flow(in.data(), out.data(), count, stages, static_cast<int32_t>(threads));
      });
  runtime::setThreads(bench.threads);
  return row;
}

std::vector<Row> streams(Bench& bench, Peer peer) {
  std::vector<Row> rows;
  for (int32_t stages : {2, 3}) {
    rows.push_back(stream(bench, stages, 1, peer));
    if (unsigned threads = std::min(static_cast<unsigned>(stages), bench.cores); threads > 1)
      rows.push_back(stream(bench, stages, threads, peer));
  }
  return rows;
}

} // namespace

std::vector<Work> streamWorks() {
  return {{"stream-ring", [](Bench& bench) { return streams(bench, Peer::Ring); }},
          {"stream-flow", [](Bench& bench) { return streams(bench, Peer::Flow); }}};
}

} // namespace strata::bench
