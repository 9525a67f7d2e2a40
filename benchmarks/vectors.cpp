// Vector add and SAXPY in the caches and out of them, against hand-written OpenMP loops; in the first cache also
// against loops without OpenMP, since entering a parallel region costs more than the loop there. A loop that calls a
// function of the C library, against the same in C.
#include "benchmarks/bench.h"
#include "benchmarks/peers/peers.h"

namespace strata::bench {
namespace {

struct Size {
  const char* where;
  int64_t elements;
  bool inCache;
  bool plain; // the peer is the loop without OpenMP, and the row is for information
};

/// Arrays of floats: two or three of them are 24 KiB, 384 KiB and 192 MiB at most.
constexpr Size sizes[] = {{"in L1", 2000, true, false},
                          {"in L1", 2000, true, true},
                          {"in L2", 32000, true, false},
                          {"out of cache", 16 << 20, false, false}};

/// The row but for its figures. `written` is what both sides write.
Contest<float> contestOf(const char* name, const Size& size, Buffer<float>& written) {
  Contest<float> contest(std::string(name) + ", " + std::to_string(size.elements) + " floats (" + size.where + ")",
                         written);
  contest.row.peer = Bench::loopPeer(/*parallel=*/!size.plain);
  contest.row.goal = size.plain ? Goal{Goal::Kind::None, 0} : Goal{Goal::Kind::RatioAtLeast, 0.97};
  contest.row.method = "results equal bit for bit";
  contest.bytes = size.inCache ? 0 : 12.0 * static_cast<double>(size.elements);
  return contest;
}

Row vectorAdd(Bench& bench, const Size& size) {
  auto count = static_cast<size_t>(size.elements);
  Buffer<float> a = randomFloats(count, 1), b = randomFloats(count, 2), c(count);
  Contest<float> contest = contestOf("vector add", size, c);
  std::string folder = STRATA_SOURCE_DIR "/examples/sequoia/vectadd/", error;
  auto program = Program::compile({folder + "vectadd.sq", folder + "host.map", {{"N", size.elements}}}, error);
  if (!program)
    return failed(contest.row, error);
  if (!program->bind("A", a.data(), {size.elements}) || !program->bind("B", b.data(), {size.elements}) ||
      !program->bind("C", c.data(), {size.elements}))
    return failed(contest.row, "the program has other arguments");
  auto peer = size.plain ? bench_add_plain : bench_add;
  return hold(
      bench, std::move(contest), [&] { program->call(); }, [&] { peer(a.data(), b.data(), c.data(), size.elements); });
}

Row saxpy(Bench& bench, const Size& size) {
  auto count = static_cast<size_t>(size.elements);
  float factor = 0.75f;
  Buffer<float> x = randomFloats(count, 3), y = randomFloats(count, 4);
  Contest<float> contest = contestOf("SAXPY", size, y);
  std::string folder = STRATA_SOURCE_DIR "/examples/sequoia/saxpy/", error;
  auto program = Program::compile({folder + "saxpy.sq", folder + "host.map", {{"N", size.elements}}}, error);
  if (!program)
    return failed(contest.row, error);
  if (!program->bind("a", &factor, {}) || !program->bind("X", x.data(), {size.elements}) ||
      !program->bind("Y", y.data(), {size.elements}))
    return failed(contest.row, "the program has other arguments");
  auto peer = size.plain ? bench_saxpy_plain : bench_saxpy;
  return hold(
      bench, std::move(contest), [&] { program->call(); }, [&] { peer(factor, x.data(), y.data(), size.elements); });
}

std::vector<Row> functions(Bench& bench) {
  constexpr int64_t elements = 32000;
  Buffer<float> x = randomFloats(elements, 5), y(elements);
  Contest<float> contest("logistic function, 32000 floats", y);
  contest.row.peer = Bench::loopPeer(/*parallel=*/false);
  contest.row.goal = {Goal::Kind::RatioAtLeast, 2};
  contest.row.method = "exp for each; results equal bit for bit";
  std::string error;
  const auto program =
      Program::compile({STRATA_SOURCE_DIR "/benchmarks/programs/logistic.sq", "", {{"N", elements}}}, error);
  if (!program || !program->bind("x", x.data(), {elements}) || !program->bind("y", y.data(), {elements}))
    return {failed(contest.row, program ? "the program has other arguments" : error)};
  return {
      hold(bench, std::move(contest), [&] { program->call(); }, [&] { bench_logistic(x.data(), y.data(), elements); })};
}

} // namespace

std::vector<Work> vectorWorks() {
  auto forSizes = [](Row (*row)(Bench&, const Size&)) {
    return [row](Bench& bench) {
      std::vector<Row> rows;
      for (const Size& size : sizes)
        rows.push_back(row(bench, size));
      return rows;
    };
  };
  return {{"vectadd", forSizes(vectorAdd)}, {"saxpy", forSizes(saxpy)}, {"functions", functions}};
}

} // namespace strata::bench
