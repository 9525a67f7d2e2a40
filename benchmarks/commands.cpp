// Whole commands: how long the compiler takes to start, against a program linked with the same libraries that does
// nothing, and how much memory a run takes beside its arrays.
#include "benchmarks/bench.h"
#include "benchmarks/processes.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace strata::bench {
namespace {

const std::string example = STRATA_SOURCE_DIR "/examples/sequoia/vectadd/vectadd.sq";

Row startUp(Bench& bench, const char* what, const Words& words, double most) {
  Row row;
  row.work = what;
  row.peer = "a program linked with the same libraries that returns 0";
  row.method = "processes, from the start to the end of each; files in the page cache";
  row.goal = {Goal::Kind::RatioAtMost, most};
  Words empty{STRATA_EMPTY};
  // Once before the clock runs: the files are read then.
  if (execute(words) != 0 || execute(empty) != 0)
    return failed(row, "'" + words[0] + " " + words[1] + "' did not end with status 0");
  row.pairs = inTurn(bench.pairs, row.goal, [&] { return seconds(words); }, [&] { return seconds(empty); });
  return row;
}

/// A program of so many lines, with every construct that a large one consists of.
std::string longProgram(size_t lines) {
  std::string text = "#define STEP 3\ntypedef struct { float re; float im; } cmplx;\n"
                     "inline float norm(cmplx a) { return a.re * a.re + a.im * a.im; }\n",
              calls;
  const std::string
      leaf = "(in float A[N + K - 1], in float H[K], out float C[N], inout cmplx z[N])",
      inner = "(in float A[N + K - 1], in float H[K], out float C[N], inout cmplx z[N], in int s, inout int t)";
  size_t written = 8;
  for (unsigned number = 0; written + 36 < lines; ++number, written += 36) {
    const std::string n = std::to_string(number);
    text +=
        "void task Cut" + n + inner + ";\nvoid task<inner> Cut" + n + "::Blocks" + inner +
        "\n{\n  tunable block;\n  long count = (N + block - 1) / block;\n  mappar (long i = 0 : count) {\n    Filter" +
        n +
        "(A[i * block; block + K - 1], H, C[i * block; block], z[i * block; block]);\n  }\n  for (int round = 0; round "
        "< s; "
        "round++)\n    Total" +
        n + "(z, t);\n  if (s > " + n + ")\n    copy(z[0; 1], z[1; 1]);\n}\n";
    text += "void task Filter" + n + leaf + ";\nvoid task<leaf> Filter" + n + "::Each" + leaf +
            "\n{\n  for (long n = 0; n < N; n++) {\n    C[n] = 0;\n    for (long k = 0; k < K; k++)\n      C[n] += "
            "H[k] * A[n + k];\n"
            "    z[n].re += C[n] > " +
            n +
            " ? sqrt(norm(z[n])) : z[n].im * STEP;\n    switch (n & 3) {\n    case 0:\n      z[n].im = "
            "-z[n].im;\n      break;\n    default:\n      z[n].im += 1;\n    }\n  }\n}\n";
    text += "void task Total" + n + "(inout cmplx z[N], inout int t);\nvoid task<leaf> Total" + n +
            "::Each(inout cmplx z[N], inout int t)\n{\n  for (long n = 0; n < N; n++)\n    t += z[n].re > " + n +
            ";\n}\n";
    calls += "  Cut" + n + "(A, H, C, z, " + n + ", t);\n";
  }
  const std::string all = "(in float A[N + K - 1], in float H[K], out float C[N], inout cmplx z[N], inout int t)";
  return text + "void task Main" + all + ";\nvoid task<inner> Main::All" + all + "\n{\n" + calls + "}\n";
}

/// Mapping a program against mapping one of a quarter of its lines.
Row growth(Bench& bench, const std::string& folder) {
  constexpr size_t lines = 4000, times = 4;
  auto mapped = [&](size_t count) -> Words {
    const std::string program = folder + "/" + std::to_string(count) + ".sq";
    std::ofstream(program) << longProgram(count);
    return {STRATA_EXECUTABLE, "map", program, "--entry", "Main", "-o", program + ".map"};
  };
  Row row;
  row.work = "strata map, a program of about " + std::to_string(times * lines) + " lines";
  row.peer = "the same of " + std::to_string(lines) + " lines";
  row.method = "processes, from the start to the end of each; files in the page cache";
  row.goal = {Goal::Kind::RatioAtMost, times};
  const Words more = mapped(times * lines), less = mapped(lines);
  if (execute(more) != 0 || execute(less) != 0)
    return failed(row, "'strata map' did not end with status 0");
  row.pairs = inTurn(bench.pairs, row.goal, [&] { return seconds(more); }, [&] { return seconds(less); });
  return row;
}

/// The front end on a program of 2,000 lines, and how it grows.
std::vector<Row> frontEnd(Bench& bench) {
  char folder[] = "/tmp/strata-bench-XXXXXX";
  if (!mkdtemp(folder))
    return {failed({}, "no temporary folder")};
  const std::string program = std::string(folder) + "/long.sq", mapping = std::string(folder) + "/long.map";
  std::ofstream(program) << longProgram(2000);
  const Words map{STRATA_EXECUTABLE, "map", program, "--entry", "Main", "-o", mapping};
  std::vector<Row> rows;
  for (const auto& [what, words] : {std::pair(std::string("strata map, a program of about 2000 lines"), map),
                                    std::pair(std::string("strata check with a mapping, a program of about 2000 lines"),
                                              Words{STRATA_EXECUTABLE, "check", program, "--map", mapping})}) {
    Row row = startUp(bench, what.c_str(), words, 1);
    row.goal = {Goal::Kind::OursAtMost, 0.3};
    rows.push_back(std::move(row));
  }
  rows.push_back(growth(bench, folder));
  std::filesystem::remove_all(folder);
  return rows;
}

Row memory(Bench& bench) {
  constexpr int64_t elements = 32 << 20;
  constexpr double arrays = 3.0 * 4 * elements / (1 << 20), allowed = arrays * 1.1 + 256;
  Row row;
  row.work = "peak memory of strata run, vector add of " + std::to_string(elements) + " floats";
  row.unit = Unit::Mebibytes;
  row.peer = "the arrays, a tenth more, and 256 MiB";
  row.method = "resident at most, as the system counts it; the arrays are 384 MiB; three runs";
  row.goal = {Goal::Kind::RatioAtMost, 1};
  Words words{STRATA_EXECUTABLE, "run",  example,    "--size",    "N=" + std::to_string(elements), "--in",
              "A=random",        "--in", "B=random", "--threads", std::to_string(bench.threads)};
  for (int repetition = 0; repetition < 3; ++repetition) {
    double peak = peakMemory(words);
    if (peak <= 0)
      return failed(row, "'strata run' did not end with status 0");
    row.pairs.ours.push_back(peak);
    row.pairs.peer.push_back(allowed);
  }
  return row;
}

} // namespace

std::vector<Work> commandWorks() {
  return {{"start-check",
           [](Bench& bench) {
             return std::vector<Row>{
                 startUp(bench, "strata check, vector add", {STRATA_EXECUTABLE, "check", example}, 2.5)};
           }},
          {"start-run",
           [](Bench& bench) {
             return std::vector<Row>{startUp(bench, "strata run, vector add of 1000 floats",
                                             {STRATA_EXECUTABLE, "run", example, "--size", "N=1000", "--in", "A=random",
                                              "--in", "B=random", "--threads", std::to_string(bench.threads)},
                                             6)};
           }},
          {"front-end", frontEnd},
          {"memory", [](Bench& bench) { return std::vector<Row>{memory(bench)}; }}};
}

} // namespace strata::bench
