// Random stream graphs, black boxes and blocks within streams among them, carried out through the library with 1, 2 and
// 7 threads, without disturbance, with pauses (by control, and by another thread) and with an early end, one at a time
// and four at once, and compared with a sequential interpretation.
//
//   svm_graphs --seconds 20             as many graphs as there is time for, from seed 1 on
//   svm_graphs --seed 17 --count 1      one graph
//   svm_graphs --standstill 17          that one, broken off, so that control waits for ever: this has to be found
//   svm_graphs --kernels 1000 …         of about that many kernels; otherwise mostly of few
//   svm_graphs --write DIR --seed 17    that one, as a program in C, for tests/svm/programs.py
//   svm_graphs --shared DIR --seed 17   the same, where two streams share storage by accident; status 3 where it has
//   none
//
// STRATA_SVM=checked looks after every rule meanwhile. Status 1 and the seed when something differs.
#include "tests/svm/perform.h"
#include "tests/svm/write_program.h"

#include "runtime/abi.h"

#include "include/svm.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace strata::graphs;

char now[200] = ""; // what is tried; said when it ends early

bool standstill = false; // one has to be found

void sayFailure(const StrataCheck* check, const int64_t*, int32_t, const char* text) {
  if (standstill && std::strcmp(check->code, "svm-deadlock") == 0)
    _exit(0);
  std::fprintf(stderr, "%s:%d: %s [%s]\nwhile trying %s\n", check->file, check->line, text, check->code, now);
}

void tooLong(int) {
  const char text[] = "no end in time: ";
  (void)!write(2, text, sizeof text - 1);
  (void)!write(2, now, std::strlen(now));
  (void)!write(2, "\n", 1);
  _exit(3);
}

uint32_t sizeFor(uint64_t seed) {
  const uint64_t number = mix(seed);
  return number % 400 == 0 ? 1000 : number % 40 == 0 ? 100 : static_cast<uint32_t>(1 + number / 400 % 14);
}

/// Four graphs at once, each by control in a thread of its own, on a quarter of the machine each.
bool performTogether(uint64_t seed) {
  static constexpr uint32_t parts = 4;
  std::vector<Graph> graphs;
  std::vector<std::string> wrong(parts);
  graphs.reserve(parts);
  for (uint32_t i = 0; i < parts; ++i)
    graphs.push_back(makeGraph(mix(seed) + i, 1 + static_cast<uint32_t>(mix(seed + i) % 30), {i, parts}));
  for (const int threads : {1, 2, 7}) {
    std::snprintf(now, sizeof now, "graphs together, seed %llu, with %d threads", static_cast<unsigned long long>(seed),
                  threads);
    svmThreads(threads);
    std::vector<std::thread> controls;
    for (uint32_t i = 0; i < parts; ++i)
      controls.emplace_back([&, i] {
        Performance performance(graphs[i]);
        for (const Mode mode : {Mode::Plain, Mode::OthersPause, Mode::Pauses, Mode::Ends})
          if (wrong[i].empty())
            wrong[i] = performance.perform(mode, mix(seed) + i);
      });
    for (std::thread& control : controls)
      control.join();
    for (const std::string& text : wrong)
      if (!text.empty()) {
        std::fprintf(stderr, "%s differ: %s\n", now, text.c_str());
        return false;
      }
  }
  return true;
}

} // namespace

int main(int argc, char** argv) {
  uint64_t seed = 1, count = UINT64_MAX, kernels = 0;
  double seconds = 1e9;
  std::string folder;
  bool shared = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--seed")
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--count")
      count = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--kernels")
      kernels = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--standstill")
      seed = std::strtoull(argv[i + 1], nullptr, 10), standstill = true;
    else if (option == "--write" || option == "--shared")
      folder = argv[i + 1], shared = option == "--shared";
    else if (option == "--seconds")
      seconds = std::atof(argv[i + 1]);
    else
      argc = 0;
  }
  if (argc % 2 == 0) {
    std::fprintf(stderr, "usage: svm_graphs [--seed N] [--count N] [--standstill N] [--kernels N] [--seconds S] "
                         "[--write DIR] [--shared DIR]\n");
    return 2;
  }
  if (!folder.empty()) {
    Graph graph = makeGraph(seed, kernels ? static_cast<uint32_t>(kernels) : 1 + static_cast<uint32_t>(seed % 12));
    if (shared && !shareByAccident(graph))
      return 3;
    return writeProgram(graph, folder) ? 0 : 1;
  }
  strata_set_failure_handler(sayFailure);
  std::signal(SIGALRM, tooLong);
  svmMachine(fieldPath);

  if (standstill) {
    std::snprintf(now, sizeof now, "graph %llu with a standstill", static_cast<unsigned long long>(seed));
    Graph graph = makeGraph(seed, kernels ? static_cast<uint32_t>(kernels) : sizeFor(seed));
    addStandstill(graph, seed);
    alarm(20);
    svmThreads(static_cast<int>(seed % 8));
    Performance performance(graph);
    const std::string wrong = performance.perform(Mode::Plain, seed);
    std::fprintf(stderr, "%s: it ended, %s\n", now, wrong.c_str());
    return 1;
  }

  const auto begin = std::chrono::steady_clock::now();
  uint64_t graphCount = 0, executions = 0, operations = 0, boxes = 0, within = 0;
  for (; graphCount < count; ++seed, ++graphCount) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds)
      break;
    const Graph graph = makeGraph(seed, kernels ? static_cast<uint32_t>(kernels) : sizeFor(seed));
    executions += graph.executions.size();
    for (const Execution& execution : graph.executions) {
      const Object& object = graph.objects[execution.object];
      operations += execution.ops.size();
      boxes += isBlackBox(object.sort);
      within += static_cast<uint64_t>(std::count_if(execution.ops.begin(), execution.ops.end(), [&](const Op& op) {
        return (op.kind == Op::Kind::Read || op.kind == Op::Kind::Write) && graph.blocks[op.whats[0]].stream != none;
      }));
      within += object.block != none && graph.blocks[static_cast<size_t>(object.block)].stream != none;
    }
    Performance performance(graph);
    static constexpr struct {
      Mode mode;
      int threads;
      const char* name;
    } ways[] = {{Mode::Plain, 1, "plain"},
                {Mode::Plain, 2, "plain"},
                {Mode::Plain, 7, "plain"},
                {Mode::Pauses, 1, "pauses"},
                {Mode::Pauses, 7, "pauses"},
                {Mode::OthersPause, 1, "others pause"},
                {Mode::OthersPause, 2, "others pause"},
                {Mode::Ends, 2, "ends"},
                {Mode::Ends, 7, "ends"},
                {Mode::Plain, 2, "plain"}};
    for (const auto& way : ways) {
      std::snprintf(now, sizeof now, "graph %llu of %zu executions, %s, with %d threads",
                    static_cast<unsigned long long>(seed), graph.executions.size(), way.name, way.threads);
      alarm(120);
      svmThreads(way.threads);
      const std::string wrong = performance.perform(way.mode, mix(seed) + static_cast<uint64_t>(way.threads));
      if (!wrong.empty()) {
        std::fprintf(stderr, "%s differs: %s\n", now, wrong.c_str());
        return 1;
      }
    }
    if (seed % 4 == 0 && !performTogether(seed))
      return 1;
  }
  std::printf(
      "%llu graphs, %llu executions (%llu of black boxes), %llu operations (%llu on blocks within streams): all "
      "agree\n",
      static_cast<unsigned long long>(graphCount), static_cast<unsigned long long>(executions),
      static_cast<unsigned long long>(boxes), static_cast<unsigned long long>(operations),
      static_cast<unsigned long long>(within));
  return 0;
}
