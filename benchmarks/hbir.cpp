// HBIR against Sequoia: the same work with the same blocks, both through the one pipeline. And what it takes to check
// and lower a program for thousands of tiles, which must not be done tile by tile.
#include "benchmarks/bench.h"

#include "compiler/driver/session/prepare.h"

#include <chrono>

namespace strata::bench {
namespace {

std::string programFile(const char* name) {
  return std::string(STRATA_SOURCE_DIR "/benchmarks/programs/") + name;
}

std::string sequoiaFile(const char* name, const char* ending) {
  return std::string(STRATA_SOURCE_DIR "/examples/sequoia/") + name + "/" + ending;
}

struct Argument {
  const char* name;
  void* data;
  std::vector<int64_t> extents;
};

Row against(Bench& bench, Contest<float> contest, const std::string& hbir, const ProgramOptions& sequoia,
            const std::vector<Argument>& arguments) {
  contest.row.peer = "Sequoia, same blocks";
  contest.row.goal = {Goal::Kind::RatioAtLeast, 0.9};
  std::string error;
  auto ours = Program::compile({hbir, "", {}}, error);
  if (!ours)
    return failed(contest.row, error);
  auto peer = Program::compile(sequoia, error);
  if (!peer)
    return failed(contest.row, error);
  for (const Argument& argument : arguments)
    for (Program* program : {ours.get(), peer.get()})
      if (!program->bind(argument.name, argument.data, argument.extents))
        return failed(contest.row, "the program has no argument '" + std::string(argument.name) + "' of this form");
  return hold(bench, std::move(contest), [&] { ours->call(); }, [&] { peer->call(); });
}

Row vectadd(Bench& bench) {
  constexpr int64_t n = 1 << 20;
  Buffer<float> a = randomFloats(n, 21), b = randomFloats(n, 22), c(n);
  Contest<float> contest("HBIR vector add, 1048576", c);
  contest.bytes = 12.0 * n;
  contest.row.method = "32 pieces of 32768; results equal";
  return against(bench, std::move(contest), programFile("vectadd.hbir"),
                 {sequoiaFile("vectadd", "vectadd.sq"), sequoiaFile("vectadd", "host.map"), {{"N", n}}},
                 {{"A", a.data(), {n}}, {"B", b.data(), {n}}, {"C", c.data(), {n}}});
}

Row matmul(Bench& bench) {
  constexpr int64_t n = 1024;
  Buffer<float> a = randomFloats(n * n, 23), b = randomFloats(n * n, 24), c(n * n);
  Contest<float> contest("HBIR matrix product, 1024", c);
  contest.tolerance = 1e-5;
  contest.operations = 2.0 * n * n * n;
  contest.row.method = "blocks of 128 by 256, 256 steps; results within 1e-5 of the largest";
  return against(
      bench, std::move(contest), programFile("matmul.hbir"),
      {sequoiaFile("matmul", "matmul.sq"), sequoiaFile("matmul", "host.map"), {{"M", n}, {"N", n}, {"P", n}}},
      {{"A", a.data(), {n, n}}, {"B", b.data(), {n, n}}, {"C", c.data(), {n, n}}});
}

/// Reading, checking and lowering to the dialect, in this process.
Row lowering(Bench& bench) {
  Row row;
  row.work = "HBIR check and lower, 128 x 64 tiles";
  row.peer = "the same with 4 x 8 tiles";
  row.goal = {Goal::Kind::OursAtMost, 0.1};
  row.method = "from the file to the logical program, in one process";
  bool fine = true;
  auto once = [&](const char* name) {
    driver::Session session;
    session.options.compile.program = programFile(name);
    session.options.compile.machinePath = {STRATA_SOURCE_DIR "/machines"};
    driver::CompilerSession compilation(session);
    fine &= compilation.compiler.logical().has_value();
  };
  auto seconds = [&](const char* name) {
    auto begin = std::chrono::steady_clock::now();
    once(name);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  once("tiles.hbir");
  row.pairs =
      inTurn(bench.pairs, row.goal, [&] { return seconds("tiles.hbir"); }, [&] { return seconds("vectadd.hbir"); });
  return fine ? row : failed(row, "it does not compile");
}

} // namespace

std::vector<Work> hbirWorks() {
  return {{"hbir", [](Bench& bench) { return std::vector<Row>{vectadd(bench), matmul(bench), lowering(bench)}; }}};
}

} // namespace strata::bench
