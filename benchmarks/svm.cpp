// Programs of the streaming virtual machine, as a C programmer writes them with svm.h: three kernels in a row against
// rings between threads and against a flow graph, what a push, a multicast and a switch of fibres cost, and what
// checked mode costs. Pushes and pops are inlined as they are for every user.
#include "benchmarks/bench.h"
#include "benchmarks/peers/peers.h"
#include "runtime/abi.h"
#include "runtime/core/runtime.h"
#include "runtime/svm/program.h"

#include "svm/pca.h"

namespace strata::bench {
namespace {

constexpr int streamCapacity = 1024;

struct Stage {
  Kernel kernel;
  IStream* in;
  OStream* out;
  const float* from;
  float* to;
  int64_t count;
};

// Streams, arrays and counts are in local variables: what a call of the library may change the compiler fetches anew.
void source(Stage* stage) {
  OStream* out = stage->out;
  const float* from = stage->from;
  const int64_t count = stage->count;
  for (int64_t i = 0; i < count; ++i) {
    float value = from[i];
    streamPush(out, &value);
  }
}

void middle(Stage* stage) {
  IStream* in = stage->in;
  OStream* out = stage->out;
  const int64_t count = stage->count;
  for (int64_t i = 0; i < count; ++i) {
    float value = 0;
    streamPop(in, &value);
    value = value * 2 + 1;
    streamPush(out, &value);
  }
}

void sink(Stage* stage) {
  IStream* in = stage->in;
  float* to = stage->to;
  const int64_t count = stage->count;
  for (int64_t i = 0; i < count; ++i)
    streamPop(in, to + i);
}

void init(Stage* stage, VM_NODE_PROC processor, void (*work)(Stage*)) {
  kernelInit(&stage->kernel, processor, nullptr, stage, sizeof *stage, reinterpret_cast<ExtKernelWork>(work));
}

void chain(const float* in, float* out, int64_t count) {
  static Stream first, second;
  static Stage stages[3];
  streamInitRAM(&first, LOCALMEM1, 0, streamCapacity, sizeof(float), 0);
  streamInitRAM(&second, LOCALMEM2, 0, streamCapacity, sizeof(float), 0);
  stages[0] = {stages[0].kernel, nullptr, &first, in, nullptr, count};
  stages[1] = {stages[1].kernel, &first, &second, nullptr, nullptr, count};
  stages[2] = {stages[2].kernel, &second, nullptr, nullptr, out, count};
  init(&stages[0], PROC1, source);
  init(&stages[1], PROC2, middle);
  init(&stages[2], PROC3, sink);
  for (Stage& stage : stages)
    kernelRun(&stage);
  kernelWaitMultiple(&stages[0], &stages[1], &stages[2]);
}

std::string workersText(unsigned threads) {
  return std::to_string(threads) + (threads == 1 ? " worker" : " workers");
}

Row chainRow(Bench& bench, unsigned threads, bool flow) {
  const int64_t count = flow ? 50000 : 1000000; // a message of the flow graph costs so much
  const auto elements = static_cast<size_t>(count);
  Buffer<float> in = randomFloats(elements, 17), out(elements);
  Contest<float> contest("svm, 3 kernels in a row, " + std::to_string(count) + " floats", out);
  contest.row.method = workersText(threads) + ", one float a push, streams of " + std::to_string(streamCapacity) +
                       (flow ? "; the peer: as many threads, a message a float"
                             : "; the peer: 3 threads that spin, then yield, inlined");
  contest.row.peer =
      flow ? std::string(bench_peer_tbb()) + " flow graph" : std::string(bench_peer_boost()) + " spsc_queue";
  contest.row.goal = {Goal::Kind::RatioAtLeast, flow ? 30.0 : 1.0};
  runtime::setThreads(threads);
  Row row = hold(
      bench, std::move(contest), [&] { chain(in.data(), out.data(), count); },
      [&] {
        if (flow)
          bench_flow(in.data(), out.data(), count, 3, static_cast<int32_t>(threads));
        else
          bench_ring(in.data(), out.data(), count, 3, streamCapacity);
      });
  runtime::setThreads(bench.threads);
  return row;
}

Row checkedRow(Bench& bench) {
  constexpr int64_t count = 200000;
  Buffer<float> in = randomFloats(count, 18), out(count);
  Contest<float> contest("svm, 3 kernels in a row, checked, " + std::to_string(count) + " floats", out);
  contest.row.method = "1 worker; the peer: the same without checks";
  contest.row.peer = "unchecked";
  contest.row.goal = {Goal::Kind::RatioAtMost, 5};
  runtime::setThreads(1);
  svm::Program& program = svm::Program::current();
  const auto run = [&](bool checked) {
    program.setChecked(checked);
    chain(in.data(), out.data(), count);
  };
  Row row = hold(bench, std::move(contest), [&] { run(true); }, [&] { run(false); });
  program.setChecked(false);
  runtime::setThreads(bench.threads);
  return row;
}

/// Fills a stream and empties it again and again.
void fillAndEmpty(Stage* stage) {
  Stream* stream = stage->in;
  const float* from = stage->from;
  float* to = stage->to;
  const int64_t count = stage->count;
  for (int64_t begin = 0; begin < count; begin += streamCapacity) {
    for (int64_t i = begin; i < begin + streamCapacity; ++i) {
      float value = from[i];
      streamPush(stream, &value);
    }
    for (int64_t i = begin; i < begin + streamCapacity; ++i)
      streamPop(stream, to + i);
  }
}

void scale(Row& row, double perSecond) {
  for (std::vector<double>* samples : {&row.pairs.ours, &row.pairs.peer})
    for (double& value : *samples)
      value *= perSecond;
}

Row pushRow(Bench& bench) {
  constexpr int64_t count = 256 * streamCapacity;
  Buffer<float> in = randomFloats(count, 19), out(count);
  Contest<float> contest("svm, push or pop of a float, alone", out);
  contest.row.unit = Unit::Nanoseconds;
  contest.row.goal = {Goal::Kind::OursAtMost, 3};
  contest.row.method = "one kernel fills a stream and empties it; the peer: a ring in one thread";
  contest.row.peer = std::string(bench_peer_boost()) + " spsc_queue";
  static Stream stream;
  static Stage stage;
  runtime::setThreads(1);
  Row row = hold(
      bench, std::move(contest),
      [&] {
        streamInitRAM(&stream, LOCALMEM1, 0, streamCapacity, sizeof(float), 0);
        stage = {stage.kernel, &stream, &stream, in.data(), out.data(), count};
        init(&stage, PROC1, fillAndEmpty);
        kernelRun(&stage);
        kernelWait(&stage);
      },
      [&] { bench_ring_alone(in.data(), out.data(), count, streamCapacity); });
  scale(row, 1e9 / (2 * count));
  runtime::setThreads(bench.threads);
  return row;
}

constexpr int width = 8, rounds = 4096;

struct Spread {
  Kernel kernel;
  Stream* streams;
  const float* from;
};

void multicast(Spread* spread) {
  Stream* s = spread->streams;
  const float* from = spread->from;
  for (int i = 0; i < rounds; ++i) {
    float value = from[i];
    streamPushMulticast(&value, s, s + 1, s + 2, s + 3, s + 4, s + 5, s + 6, s + 7);
  }
}

void pushEach(Spread* spread) {
  Stream* s = spread->streams;
  const float* from = spread->from;
  for (int i = 0; i < rounds; ++i) {
    float value = from[i];
    streamPush(s, &value);
    streamPush(s + 1, &value);
    streamPush(s + 2, &value);
    streamPush(s + 3, &value);
    streamPush(s + 4, &value);
    streamPush(s + 5, &value);
    streamPush(s + 6, &value);
    streamPush(s + 7, &value);
  }
}

Row multicastRow(Bench& bench) {
  Buffer<float> in = randomFloats(rounds, 20), out(rounds);
  Contest<float> contest("svm, multicast of a float to 8 streams", out);
  contest.row.unit = Unit::Nanoseconds;
  contest.row.goal = {Goal::Kind::RatioAtLeast, 1};
  contest.row.method = "one kernel, streams with room; the peer: eight pushes of ours";
  contest.row.peer = "eight pushes";
  static Stream streams[width];
  static Spread spread;
  const auto run = [&](void (*work)(Spread*)) {
    for (int i = 0; i < width; ++i)
      streamInitRAM(&streams[i], LOCALMEM(1 + i), 0, rounds, sizeof(float), 0);
    kernelInit(&spread, PROC1, nullptr, &spread, sizeof spread, reinterpret_cast<ExtKernelWork>(work));
    spread.streams = streams;
    spread.from = in.data();
    kernelRun(&spread);
    kernelWait(&spread);
    std::copy_n(static_cast<const float*>(svmAddress(LOCALMEM8, 0)), rounds, out.data());
  };
  runtime::setThreads(1);
  Row row = hold(bench, std::move(contest), [&] { run(multicast); }, [&] { run(pushEach); });
  scale(row, 1e9 / rounds);
  runtime::setThreads(bench.threads);
  return row;
}

Row switchRow(Bench& bench) {
  constexpr int64_t switches = 100000;
  Buffer<float> none(1);
  Contest<float> contest("a switch of fibres", none);
  contest.row.unit = Unit::Nanoseconds;
  contest.row.goal = {Goal::Kind::OursAtMost, 50};
  contest.row.method = "two fibres on one worker that yield to each other; the peer: threads that do";
  contest.row.peer = "sched_yield between two threads on one core";
  runtime::setThreads(1);
  Row row = hold(
      bench, std::move(contest),
      [] {
        static const StrataParts concurrent{strata_none, 1, 0, 0, 0, 0};
        strata_spmd(
            [](void*, int64_t) {
              for (int64_t i = 0; i < switches / 2; ++i)
                strata_yield();
            },
            nullptr, 0, 2, &concurrent);
      },
      [] { bench_thread_switches(switches); });
  scale(row, 1e9 / switches);
  runtime::setThreads(bench.threads);
  return row;
}

} // namespace

std::vector<Work> svmWorks() {
  return {{"svm-chain",
           [](Bench& bench) {
             std::vector<Row> rows;
             for (const bool flow : {false, true})
               for (unsigned threads = 1; threads <= std::min(bench.cores, 3u); ++threads)
                 rows.push_back(chainRow(bench, threads, flow));
             return rows;
           }},
          {"svm-cost", [](Bench& bench) {
             return std::vector<Row>{pushRow(bench), multicastRow(bench), switchRow(bench), checkedRow(bench)};
           }}};
}

} // namespace strata::bench
