// Random graphs of up to a thousand kernels against a sequential interpretation of the same graph: every kernel, as
// often as its firings, takes some elements from each input, mixes them, and pushes some to each output; edges may lead
// through a Move. Kernels are paused at random meanwhile. With 1, 2 and 7 threads, unchecked and checked.
//
// No graph deadlocks: a stream holds at least what one firing puts into it, and edges lead from earlier kernels to
// later ones. A machine of its own has a processor for every kernel.
#include "runtime/svm/program.h"

#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

using strata::machine::Node;

constexpr uint32_t mostKernels = 1024;

/// The machine, once for the process.
void chooseMachine() {
  static const bool chosen = [] {
    const std::string path = testing::TempDir() + "svm_graph_machine.yaml";
    std::FILE* file = std::fopen(path.c_str(), "w");
    std::fputs("machine: wide\n"
               "memories:\n  - {name: M, capacity: 1G}\n"
               "processors:\n  - {name: C, kind: control, masters: [C]}\n"
               "  - {name: P, kind: stream, count: 1024, masters: [C]}\n"
               "  - {name: D, kind: dma, count: 1, moves: 2048, masters: [C], kernels: [move]}\n"
               "fifos:\n  - {name: F, count: 4096, capacity: 16K, writers: [P, D], readers: [P, D]}\n"
               "links:\n  - {name: all, ends: [C, P, D, M]}\n",
               file);
    std::fclose(file);
    svmMachine(path.c_str());
    strata::svm::Program::current();
    return true;
  }();
  static_cast<void>(chosen);
}

int value(Node::Kind kind, uint32_t index, uint32_t instance) {
  return strata::machine::nodeValue({kind, index, instance});
}

struct Edge {
  size_t from, to;
  int elementBytes, perFiring, capacity, secondCapacity;
  bool moved, fifo;
};

struct Graph {
  size_t kernels = 0;
  int firings = 0;
  std::vector<Edge> edges;
};

Graph makeGraph(std::mt19937& random, size_t mostNodes) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  Graph graph;
  graph.kernels = 2 + below(mostNodes - 1);
  graph.firings = 1 + static_cast<int>(below(mostNodes > 100 ? 20 : 300));
  const int sizes[] = {1, 2, 4, 4, 4, 8, 8, 12, 100, 1500};
  for (size_t to = 1; to < graph.kernels; ++to)
    for (size_t count = 1 + below(3); count; --count) {
      const size_t reach = below(4) ? std::min<size_t>(to, 5) : to;
      Edge edge{};
      edge.from = to - 1 - below(reach);
      edge.to = to;
      edge.elementBytes = sizes[below(std::size(sizes))];
      edge.perFiring = 1 + static_cast<int>(below(4));
      edge.capacity = edge.perFiring + static_cast<int>(below(8));
      edge.secondCapacity = edge.perFiring + static_cast<int>(below(3));
      edge.moved = below(6) == 0;
      edge.fifo = below(4) == 0;
      graph.edges.push_back(edge);
    }
  return graph;
}

/// What a kernel does with its state, and the element that it makes of it.
void mix(uint64_t& state, const unsigned char* element, int bytes) {
  for (int i = 0; i < bytes; ++i)
    state = (state ^ element[i]) * 0x100000001b3u;
}
void make(uint64_t& state, unsigned char* element, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    element[i] = static_cast<unsigned char>(state >> 56);
  }
}

struct End {
  Stream* stream;
  int bytes, count;
};

struct Worker {
  Kernel kernel;
  const std::vector<End>* in;
  const std::vector<End>* out;
  uint64_t state;
  int firings;
};

void work(Worker* worker) {
  unsigned char element[1500];
  uint64_t state = worker->state;
  for (int firing = 0; firing < worker->firings; ++firing) {
    for (const End& end : *worker->in)
      for (int i = 0; i < end.count; ++i) {
        if (i == 0 && firing % 3 == 0) { // the same element, looked at before
          streamPeek(end.stream, 0, element);
          mix(state, element, end.bytes);
        }
        streamPop(end.stream, element);
        mix(state, element, end.bytes);
      }
    for (const End& end : *worker->out)
      for (int i = 0; i < end.count; ++i) {
        make(state, element, end.bytes);
        streamPush(end.stream, element);
      }
  }
  worker->state = state;
}

/// The same, one kernel after the other, over streams without bounds.
std::vector<uint64_t> interpret(const Graph& graph) {
  std::vector<std::vector<unsigned char>> streams(graph.edges.size());
  std::vector<uint64_t> states(graph.kernels);
  std::vector<unsigned char> element(1500);
  for (size_t k = 0; k < graph.kernels; ++k) {
    uint64_t state = k + 1;
    std::vector<size_t> at(graph.edges.size(), 0);
    for (int firing = 0; firing < graph.firings; ++firing) {
      for (size_t e = 0; e < graph.edges.size(); ++e)
        if (const Edge& edge = graph.edges[e]; edge.to == k)
          for (int i = 0; i < edge.perFiring; ++i) {
            for (int times = i == 0 && firing % 3 == 0 ? 2 : 1; times; --times)
              mix(state, streams[e].data() + at[e], edge.elementBytes);
            at[e] += static_cast<size_t>(edge.elementBytes);
          }
      for (size_t e = 0; e < graph.edges.size(); ++e)
        if (const Edge& edge = graph.edges[e]; edge.from == k)
          for (int i = 0; i < edge.perFiring; ++i) {
            make(state, element.data(), edge.elementBytes);
            streams[e].insert(streams[e].end(), element.begin(), element.begin() + edge.elementBytes);
          }
    }
    states[k] = state;
  }
  return states;
}

/// Streams and kernels of one graph. They are not static here, so that they can be many; each lives until the process
/// ends, as static ones do.
class Program {
public:
  explicit Program(const Graph& graph)
      : graph_(graph), streams_(new Stream[2 * graph.edges.size()]()), moves_(new Move[graph.edges.size()]()),
        workers_(new Worker[graph.kernels]()), in_(graph.kernels), out_(graph.kernels) {
    int address = 0;
    uint32_t fifo = 0;
    const auto init = [&](Stream* stream, const Edge& edge, int capacity, bool inFifo) {
      if (inFifo) {
        streamInitFIFO(stream, value(Node::Kind::Fifo, 0, fifo++), edge.elementBytes, 0);
        return;
      }
      address = (address + 7) / 8 * 8;
      streamInitRAM(stream, value(Node::Kind::Memory, 0, 0), address, capacity, edge.elementBytes, 0);
      address += capacity * edge.elementBytes;
    };
    for (size_t e = 0; e < graph.edges.size(); ++e) {
      const Edge& edge = graph.edges[e];
      Stream* first = &streams_[2 * e];
      Stream* last = edge.moved ? &streams_[2 * e + 1] : first;
      init(first, edge, edge.capacity, edge.fifo);
      if (edge.moved)
        init(last, edge, edge.secondCapacity, false);
      out_[edge.from].push_back({first, edge.elementBytes, edge.perFiring});
      in_[edge.to].push_back({last, edge.elementBytes, edge.perFiring});
    }
  }

  std::vector<uint64_t> run(std::mt19937& random) {
    std::vector<size_t> order(graph_.kernels);
    for (size_t k = 0; k < order.size(); ++k)
      order[k] = k;
    std::shuffle(order.begin(), order.end(), random);
    for (size_t e = 0; e < graph_.edges.size(); ++e)
      if (const Edge& edge = graph_.edges[e]; edge.moved) {
        moveInit(&moves_[e], value(Node::Kind::Processor, 2, 0), &streams_[2 * e], &streams_[2 * e + 1],
                 edge.perFiring * graph_.firings, FALSE);
        kernelRun(&moves_[e]);
      }
    for (const size_t k : order) {
      Worker& worker = workers_[k];
      kernelInit(&worker, value(Node::Kind::Processor, 1, static_cast<uint32_t>(k)), nullptr, &worker, sizeof worker,
                 (ExtKernelWork)work);
      worker.in = &in_[k];
      worker.out = &out_[k];
      worker.state = k + 1;
      worker.firings = graph_.firings;
      kernelRun(&worker);
    }
    for (int i = 0; i < 5; ++i) {
      Worker& worker = workers_[random() % graph_.kernels];
      kernelPause(&worker);
      kernelWait(&worker);
      if (kernelGetStatus(&worker) == KERNEL_PAUSED)
        kernelRun(&worker);
    }
    std::vector<uint64_t> states(graph_.kernels);
    for (size_t k = 0; k < graph_.kernels; ++k) {
      kernelWait(&workers_[k]);
      states[k] = workers_[k].state;
    }
    for (size_t e = 0; e < graph_.edges.size(); ++e)
      if (graph_.edges[e].moved)
        kernelWait(&moves_[e]);
    return states;
  }

private:
  const Graph& graph_;
  Stream* const streams_;
  Move* const moves_;
  Worker* const workers_;
  std::vector<std::vector<End>> in_, out_;
};

class Graphs : public testing::TestWithParam<std::pair<int, bool>> {
protected:
  void SetUp() override {
    chooseMachine();
    svmThreads(GetParam().first);
    strata::svm::Program::current().setChecked(GetParam().second);
  }
  void compare(unsigned seeds, size_t mostNodes) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
      std::mt19937 random(seed);
      const Graph graph = makeGraph(random, mostNodes);
      // What the library keeps of the streams and kernels outlives the run, as for static variables.
      auto* run = new Program(graph);
      kept.push_back(run);
      ASSERT_EQ(run->run(random), interpret(graph)) << "seed " << seed;
    }
  }
  static inline auto& kept = *new std::vector<Program*>; // reachable to the end, so that no leak is seen in them
};

TEST_P(Graphs, Small) {
  compare(60, 12);
}

TEST_P(Graphs, Large) {
  compare(2, mostKernels);
}

INSTANTIATE_TEST_SUITE_P(Ways, Graphs,
                         testing::Values(std::pair(1, false), std::pair(2, false), std::pair(7, false),
                                         std::pair(1, true), std::pair(2, true), std::pair(7, true)));

} // namespace
