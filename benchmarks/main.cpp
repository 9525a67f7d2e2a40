// strata-bench: measures Strata against peers on this computer and prints one table. Exit status: 0 when everything was
// measured, whatever the verdicts; 1 when a work failed or gave a wrong result, or the command line was wrong.
#include "benchmarks/bench.h"
#include "benchmarks/peers/peers.h"
#include "runtime/core/runtime.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <regex>
#include <thread>

using namespace strata;
using namespace strata::bench;

namespace {

/// What the processor calls itself.
std::string coreModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 2);
  return "a processor that does not say what it is";
}

std::vector<Work> allWorks() {
  std::vector<Work> all;
  for (auto* works : {vectorWorks, blockedWorks, productWorks, suiteWorks, callWorks, streamWorks, svmWorks, graphWorks,
                      hbirWorks, commandWorks, compileWorks, diskWorks, arrayWorks,
#ifdef STRATA_BENCH_NODES
                      nodeWorks
#endif
       })
    for (Work& work : works())
      all.push_back(std::move(work));
  return all;
}

bool writeJson(const std::string& path, const Bench& bench, const std::vector<Row>& rows) {
  nlohmann::ordered_json json;
  json["core"] = coreModel();
  json["cores"] = bench.cores;
  json["threads"] = bench.threads;
  json["pairs"] = bench.pairs;
  json["rows"] = nlohmann::ordered_json::parse(tableJson(rows));
  std::ofstream file(path);
  file << json.dump(1) << "\n";
  file.close();
  return !file.fail();
}

} // namespace

int main(int argc, char** argv) {
  Bench bench;
  bench.cores = std::max(1u, std::thread::hardware_concurrency());
  std::string filter, json;
  bool list = false;
  CLI::App app{
      "Measures Strata against other libraries and compilers on this computer, side by side, and prints one table.\n"
      "How to read it: benchmarks/README.md"};
  app.name("strata-bench");
  app.add_option("--filter", filter, "only works whose name matches this regular expression");
  app.add_option(
         "--pairs", bench.pairs,
         "samples of each side, taken in turn; up to four times as many where they do not tell whether a goal is met")
      ->check(CLI::Range(6u, 100000u))
      ->capture_default_str();
  app.add_option("--threads", bench.threads, "threads of both sides; streams say their own")
      ->check(CLI::Range(1u, runtime::mostWorkers))
      ->capture_default_str();
  app.add_option("--json", json, "also write the table with all samples to this file");
  app.add_flag("--list", list, "print the names of the works and stop");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) ? 1 : 0;
  }
  std::vector<Work> works = allWorks();
  if (!filter.empty()) {
    try {
      std::regex pattern(filter);
      std::erase_if(works, [&](const Work& work) { return !std::regex_search(work.name, pattern); });
    } catch (const std::regex_error&) {
      fprintf(stderr, "strata-bench: --filter: '%s' is no regular expression\n", filter.c_str());
      return 1;
    }
  }
  if (works.empty()) {
    fprintf(stderr, "strata-bench: no work has a name that matches '%s'; --list shows them\n", filter.c_str());
    return 1;
  }
  if (list) {
    for (const Work& work : works)
      printf("%s\n", work.name.c_str());
    return 0;
  }
  bench_peer_threads(static_cast<int>(bench.threads));
  runtime::setThreads(bench.threads);
  printf("%s, %u cores; %u %s a side; %u pairs or more; the memory's triad %.1f GB/s, multiply-adds %.1f GFLOP/s\n\n",
         coreModel().c_str(), bench.cores, bench.threads, bench.threads == 1 ? "thread" : "threads", bench.pairs,
         bench.triadBandwidth() / 1e9, bench.fmaPeak() / 1e9);
  fflush(stdout);
  std::vector<Row> rows;
  bool wrong = false;
  for (const Work& work : works) {
    fprintf(stderr, "%s …\n", work.name.c_str());
    for (Row& row : work.rows(bench)) {
      wrong |= !row.failure.empty();
      rows.push_back(std::move(row));
    }
  }
  printf("%s", tableText(rows).c_str());
  if (!json.empty() && !writeJson(json, bench, rows)) {
    fprintf(stderr, "strata-bench: cannot write '%s'\n", json.c_str());
    return 1;
  }
  return wrong;
}
