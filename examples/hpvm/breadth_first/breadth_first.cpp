// How many steps each vertex of a graph is away from the first one, level by level: one launch a level, with one
// instance a vertex of the frontier. Who reaches a vertex first, by an atomic exchange, puts it into the next frontier.
// Argument: the vertices.
#include <hpvm.h>

#include <cstdio>
#include <cstdlib>
#include <queue>
#include <vector>

static void visit(int* starts, size_t startBytes, int* targets, size_t targetBytes, int* levels, size_t levelBytes,
                  int* frontier, size_t frontierBytes, int* next, size_t nextBytes, int* count, size_t countBytes,
                  int level, int size) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(5, starts, targets, levels, frontier, count, 3, levels, next, count);
  const int i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  if (i < size) {
    const int vertex = frontier[i];
    for (int k = starts[vertex]; k < starts[vertex + 1]; ++k)
      if (__hpvm__atomic_cmpxchg(&levels[targets[k]], -1, level) == -1)
        next[__hpvm__atomic_add(count, 1)] = targets[k];
  }
  __hpvm__return(1, nextBytes);
}

/// Instances come in whole blocks; those behind the end of the frontier have nothing to do.
static void expand(int* starts, size_t startBytes, int* targets, size_t targetBytes, int* levels, size_t levelBytes,
                   int* frontier, size_t frontierBytes, int* next, size_t nextBytes, int* count, size_t countBytes,
                   int level, int size) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(5, starts, targets, levels, frontier, count, 3, levels, next, count);
  void* node = __hpvm__createNodeND(1, visit, size_t(size + 63) / 64 * 64);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 6, 6, 0);
  __hpvm__bindIn(node, 7, 7, 0);
  __hpvm__bindIn(node, 8, 8, 0);
  __hpvm__bindIn(node, 9, 9, 0);
  __hpvm__bindIn(node, 10, 10, 0);
  __hpvm__bindIn(node, 11, 11, 0);
  __hpvm__bindIn(node, 12, 12, 0);
  __hpvm__bindIn(node, 13, 13, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

/// A pointer and how many bytes are behind it, as an argument of a graph.
struct __attribute__((packed)) Memory {
  int* data;
  size_t bytes;
  Memory(std::vector<int>& values) : data(values.data()), bytes(values.size() * sizeof(int)) {}
};
struct __attribute__((packed)) Arguments {
  Memory starts, targets, levels, frontier, next, count;
  int level, size;
  size_t result;
};

/// The levels once more, with a queue.
static std::vector<int> inOrder(const std::vector<int>& starts, const std::vector<int>& targets) {
  std::vector<int> levels(starts.size() - 1, -1);
  std::queue<int> waiting({0});
  for (levels[0] = 0; !waiting.empty(); waiting.pop())
    for (int k = starts[waiting.front()]; k < starts[waiting.front() + 1]; ++k)
      if (levels[targets[k]] < 0) {
        levels[targets[k]] = levels[waiting.front()] + 1;
        waiting.push(targets[k]);
      }
  return levels;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 5000;
  std::vector<int> starts{0}, targets, levels(n, -1), frontier(n), next(n), count(1);
  unsigned random = 1;
  for (int vertex = 0; vertex < n; ++vertex) {
    targets.push_back(vertex / 2);
    for (int k = 0; k < vertex % 4 + (vertex == 0); ++k) {
      random = random * 1664525 + 1013904223;
      targets.push_back(int((random >> 8) % unsigned(n)));
    }
    starts.push_back(int(targets.size()));
  }
  levels[0] = frontier[0] = 0;
  __hpvm__init();
  for (auto* each : {&starts, &targets, &levels, &frontier, &next, &count})
    llvm_hpvm_track_mem(each->data(), each->size() * sizeof(int));
  int level = 0;
  // No vertex is further away than there are vertices.
  for (int size = 1; size > 0 && level < n; size = count[0]) {
    count[0] = 0;
    Arguments arguments{starts, targets, levels, frontier, next, count, ++level, size, 0};
    __hpvm__wait(__hpvm__launch(0, expand, &arguments));
    llvm_hpvm_request_mem(count.data(), sizeof(int));
    frontier.swap(next);
  }
  llvm_hpvm_request_mem(levels.data(), levels.size() * sizeof(int));
  for (auto* each : {&starts, &targets, &levels, &frontier, &next, &count})
    llvm_hpvm_untrack_mem(each->data());
  __hpvm__cleanup();
  int reached = 0;
  long sum = 0;
  for (int each : levels) {
    reached += each >= 0;
    sum += each >= 0 ? each : 0;
  }
  std::printf("%d of %d vertices are reached in %d launches, %ld steps in all\n", reached, n, level, sum);
  if (levels != inOrder(starts, targets)) {
    std::fprintf(stderr, "the levels are wrong\n");
    return 1;
  }
  return 0;
}
