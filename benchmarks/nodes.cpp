// Programs over two processes, and the moves between them, against the same in C with MPI and against ScaLAPACK. Both
// sides run in one pair of processes (nodes_process.cpp), which gives its rows as JSON.
#include "benchmarks/bench.h"
#include "benchmarks/peers/peers.h"
#include "benchmarks/processes.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

namespace strata::bench {
namespace {

/// What a command prints; nothing where it fails.
std::string printed(const Words& words) {
  const int file = memfd_create("printed", MFD_CLOEXEC);
  std::string text;
  if (execute(words, file) == 0) {
    const off_t length = lseek(file, 0, SEEK_END);
    text.resize(length > 0 ? static_cast<size_t>(length) : 0);
    if (pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      text.clear();
  }
  close(file);
  return text;
}

Row rowOf(const nlohmann::json& json) {
  Row row;
  row.work = json.at("work");
  if (json.contains("failure"))
    return failed(row, json.at("failure"));
  row.method = json.at("method");
  row.peer = json.at("peer");
  row.limit = json.at("limit");
  row.pairs = {json.at("samples").at("ours"), json.at("samples").at("peer")};
  row.goal = {Goal::Kind::None, 0};
  if (json.contains("goal")) {
    const auto& goal = json.at("goal");
    const bool isLeast = goal.contains("at_least");
    row.goal = {isLeast                       ? Goal::Kind::RatioAtLeast
                : json.at("judged") == "ours" ? Goal::Kind::OursAtMost
                                              : Goal::Kind::RatioAtMost,
                goal.at(isLeast ? "at_least" : "at_most")};
  }
  return row;
}

/// The rows of one work, from two processes that reach each other's memory as one computer's do, and once more where
/// they do not.
std::vector<Row> fromProcesses(Bench& bench, const char* work) {
  // As many as asked for, whatever this computer has, for whoever it is that asks.
  for (const char* name :
       {"OMPI_MCA_rmaps_base_oversubscribe", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
    setenv(name, "1", 0);
  Row none;
  none.work = std::string("nodes, ") + work;
  // Says which of its cores the processes' OpenBLAS takes.
  if (const char* wrong = bench_blas_begin(static_cast<int>(bench.threads)))
    return {failed(none, wrong)};
  const std::string threads = std::to_string(bench.threads);
  setenv("OPENBLAS_NUM_THREADS", threads.c_str(), 1);
  std::vector<Row> rows;
  for (const char* isMpiOnly : {"0", "1"}) {
    setenv("STRATA_MPI_ONLY", isMpiOnly, 1);
    const std::string text =
        printed({STRATA_MPIEXEC, "-q", "-n", "2", STRATA_BENCH_NODES, work, std::to_string(bench.pairs), threads});
    const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!json.is_array())
      rows.push_back(failed(none, "its processes did not end with status 0"));
    else
      for (const auto& each : json)
        rows.push_back(rowOf(each));
  }
  unsetenv("STRATA_MPI_ONLY");
  return rows;
}

} // namespace

std::vector<Work> nodeWorks() {
  std::vector<Work> works;
  for (const char* work : {"move", "stencil", "product"})
    works.push_back({std::string("nodes-") + work, [=](Bench& bench) { return fromProcesses(bench, work); }});
  return works;
}

} // namespace strata::bench
