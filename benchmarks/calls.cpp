// What a task call costs: an inner task calls a leaf that writes one element, by mapseq and by a loop of C. Inlined,
// the whole is compared with the loop written out; opaque, a call has a price in nanoseconds, beside that of a function
// in C that is not inlined.
#include "benchmarks/bench.h"
#include "benchmarks/peers/peers.h"

namespace strata::bench {
namespace {

/// Both arrays fit the second-level cache. What entering the program costs, some 20 ns, is not the question here.
constexpr int64_t elements = 16000;

Row calls(Bench& bench, const char* form, bool opaque) {
  Buffer<float> a = randomFloats(elements, 12), b(elements);
  Contest<float> contest(std::string("task call by ") + form + ", " + (opaque ? "opaque" : "inlined") + ", " +
                             std::to_string(elements),
                         b);
  contest.row.peer = Bench::loopPeer(false) + (opaque ? ", a function not inlined" : ", the loop written out");
  if (opaque) {
    contest.row.unit = Unit::Nanoseconds;
    contest.row.goal = {Goal::Kind::OursAtMost, 20};
    contest.row.method = "per call; the leaf may be replaced at link time, so that its caller knows nothing of it";
  } else {
    contest.row.goal = {Goal::Kind::RatioAtLeast, 1 / 1.05};
    contest.row.method = "the compiler may inline the leaf, and does what it can with the result";
  }
  std::string error;
  auto program = Program::compile(
      {std::string(STRATA_SOURCE_DIR "/benchmarks/programs/calls_") + form + ".sq", "", {{"N", elements}}, opaque},
      error);
  if (!program)
    return failed(contest.row, error);
  if (!program->bind("A", a.data(), {elements}) || !program->bind("B", b.data(), {elements}))
    return failed(contest.row, "the program has other arguments");
  auto peer = opaque ? bench_double_calls : bench_double;
  Row row = hold(bench, std::move(contest), [&] { program->call(); }, [&] { peer(a.data(), b.data(), elements); });
  if (opaque)
    for (std::vector<double>* samples : {&row.pairs.ours, &row.pairs.peer})
      for (double& value : *samples)
        value *= 1e9 / elements;
  return row;
}

} // namespace

std::vector<Work> callWorks() {
  return {{"calls", [](Bench& bench) {
             std::vector<Row> rows;
             for (bool opaque : {false, true})
               for (const char* form : {"mapseq", "for"})
                 rows.push_back(calls(bench, form, opaque));
             return rows;
           }}};
}

} // namespace strata::bench
