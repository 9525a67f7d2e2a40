// A random program of streams and kernels, and what it has to compute. It is made by carrying it out: a sequential
// interpretation picks somebody who can go on and something that he can do, and writes that down for him. What each has
// done is the program; that it can be carried out at all is shown by the way it was made, and since streams have one
// reader and one writer, every other order gives the same (G. Kahn, The semantics of a simple language for parallel
// programming, 1974; a bounded stream is two unbounded ones). Plain data; one thread.
#pragma once

#include <cstdint>
#include <vector>

namespace strata::graphs {

constexpr uint32_t largestElement = 1000;
constexpr size_t largestMulticast = 8;

/// Scrambles a number (Steele, Lea and Flood, 2014).
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
/// The element that somebody pushes or writes who has a number; with a bound it is an integer below that, or with this
/// one a float of 4 bytes that is a small integer.
constexpr uint64_t smallFloats = ~uint64_t(0);
void fill(uint64_t number, uint64_t bound, uint8_t* to, uint32_t bytes);
uint64_t digest(const uint8_t* from, uint32_t bytes);

struct Item {
  std::vector<uint8_t> bytes;
  bool tag = false;
};

struct StreamPlan {
  bool fifo = false;
  uint32_t place = 0; // the instance of the memory or FIFO
  int address = 0;
  int capacity = 1;
  int elementBytes = 4;
  uint64_t bound = 0; // its elements are indices below this, or small floats
  int flags = 0;
  int block = -1;                         // one that lies at the same place
  std::vector<std::vector<Item>> history; // what was pushed, initial data first, for every initialisation
};

struct BlockPlan {
  uint32_t place = 0;
  int address = 0;
  int capacity = 1;
  int elementBytes = 4;
  uint64_t seed = 0;           // element i is fill(seed + i, bound) at first
  uint64_t bound = 0;          // small floats: taps of filters, which never change
  int stream = -1;             // one that lies at the same place, so that the block is its circular buffer
  std::vector<uint8_t> memory; // what is in it at the end
};

struct Op {
  enum class Kind : uint8_t { Pop, PopToTag, Peek, PeekTag, Push, Multicast, Read, Write, Pause, End };
  Kind kind = Kind::Pop;
  bool tag = false;
  int n = 0;                   // peeks: how far; blocks: which element
  std::vector<uint32_t> whats; // streams or a block
};

/// What a kernel is: a work function with a list of its own, what moves data, or a black box: two of the library's, and
/// one that the user has registered. A black box takes a sequence up to its tag and gives one: each element by itself
/// (Scramble, the user's), all in order, or filtered.
enum class Sort : uint8_t {
  User,
  Move,
  StridedScatter,
  StridedGather,
  IndexedScatter,
  IndexedGather,
  Scramble,
  InOrder,
  Filter
};
constexpr bool isBlackBox(Sort sort) {
  return sort >= Sort::Scramble;
}
constexpr int none = -1;

/// A kernel, which may be executed several times. What moves data always has the same ends.
struct Object {
  Sort sort = Sort::User;
  bool dma = false;
  uint32_t processor = 0;
  int source = none, target = none, indices = none, block = none;
  bool pauses = false; // by itself, in one of its executions
};

struct Execution {
  uint32_t object = 0;
  std::vector<Op> ops;
  int length = 0, stride = 1, elements = 1; // elements: of a segment or an index; how many taps
  bool all = false, setEOS = false;
  std::vector<uint32_t> dependsOn; // executions
  uint64_t result = 0;             // of a user's kernel
};

struct Action {
  enum class Kind : uint8_t { InitStream, Start, Wait, Resume, Push, Pop };
  Kind kind = Kind::InitStream;
  std::vector<uint32_t> whats; // a stream, or executions
  int n = 0;                   // initial elements; none: without data
  bool tag = false;
};

struct Graph {
  std::vector<StreamPlan> streams;
  std::vector<BlockPlan> blocks;
  std::vector<Object> objects;
  std::vector<Execution> executions;
  std::vector<Action> actions; // of control
  uint64_t result = 0;         // control's number at the end
};

/// Which part of the machine a graph has, so that several may be carried out at once.
struct Share {
  uint32_t part = 0, parts = 1;
};

/// `kernels` is about how many are executed.
Graph makeGraph(uint64_t seed, uint32_t kernels, Share share = {});

/// Breaks off at random, and lets control wait for something that never comes: for a kernel that waits for an element
/// or for room, for two that wait for each other, for one that depends on one that is paused, or for an element itself.
void addStandstill(Graph& graph, uint64_t seed);

/// How control and kernels begin, and how what they see changes their number.
inline uint64_t firstNumber(uint32_t execution) {
  return mix(execution + 1);
}
inline uint64_t afterSeeing(uint64_t number, uint64_t seen) {
  return mix(number ^ seen);
}

} // namespace strata::graphs
