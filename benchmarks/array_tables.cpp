// The two tables of "Symbolic Loop Compilation for Tightly Coupled Processor Arrays" for this implementation, beside
// the document's figures: how long programs take to instantiate on regions of one to 1024 elements, and how large
// concrete configurations are. Below them, how long an implementation with isl takes for the same steps
// (tests/array/oracle.h).
//
//   array-tables [MACHINE.yaml]
#include "compiler/target/array/map.h"
#include "runtime/array/files.h"
#include "runtime/array/instantiate.h"
#include "runtime/array/print.h"
#include "tests/array/attempt.h"
#include "tests/array/oracle.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace strata::array {

namespace {

struct Region {
  const char* title;
  uint32_t rows, columns;
};
constexpr Region regions[] = {{"1", 1, 1},   {"16", 1, 16}, {"32", 1, 32},
                              {"4x4", 4, 4}, {"8x8", 8, 8}, {"32x32", 32, 32}};

struct Program {
  const char* title;
  const char* file;
  const char *rowLoop, *columnLoop;
  /// Sizes, by parameter, of which those of the distributed loops grow with the region: iterations in a tile.
  std::vector<int64_t> tile;
  std::vector<int> grows; // 1: with the rows, 2: with the columns, 0: not
  int interval;           // the document's
  double times[6];
  int classes[6];
  double sizes[6];
};

const Program programs[] = {
    {"bit extraction, 1-D", "bits", "", "i", {8}, {2}, 2, {1, 0.94, 1.04}, {1, 1, 1}, {0.77, 4.46, 8.20}},
    {"FIR filter, 2-D",
     "pipeline",
     "i",
     "k",
     {8, 4},
     {1, 2},
     2,
     {1, 2.64, 2.72, 9.06, 8.98, 8.23},
     {1, 3, 3, 9, 9, 9},
     {1.17, 3.86, 5.85, 5.14, 7.18, 21.36}},
    {"matrix product, 3-D",
     "systolic",
     "i",
     "j",
     {4, 4, 16},
     {1, 2, 0},
     2,
     {1, 0.94, 0.99, 1.86, 1.74, 1.78},
     {1, 1, 1, 2, 2, 2},
     {1.00, 3.65, 6.48, 4.88, 15.12, 193.73}},
    {"CNN layer, 6-D",
     "conv",
     "f",
     "y",
     {2, 2, 4, 2, 3, 3},
     {1, 2, 0, 0, 0, 0},
     1,
     {1, 1.77, 1.78, 9.22, 9.33, 9.06},
     {1, 2, 2, 4, 4, 4},
     {1.05, 3.73, 6.53, 5.83, 16.25, 299.41}},
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Seconds of the fastest of several calls.
template <typename F>
double fastest(F call, int times) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

InstantiationOptions optionsOf(const Program& program, const Region& region) {
  InstantiationOptions options;
  options.rows = region.rows;
  options.columns = region.columns;
  for (size_t i = 0; i < program.tile.size(); ++i)
    options.sizes.push_back(program.tile[i] * (program.grows[i] == 1   ? region.rows
                                               : program.grows[i] == 2 ? region.columns
                                                                       : 1));
  return options;
}

int run(const std::string& machineFile) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  const std::optional<Machine> machine =
      readMachine(diagnostics, sources.add(machineFile, contents(machineFile), SourceKind::Machine));
  const machine::ProcessorArray* array = nullptr;
  if (machine)
    for (const machine::Processor& each : machine->processors)
      if (!each.array.empty())
        array = &each.array[0];
  if (!array) {
    std::cerr << "no processor array in " << machineFile << "\n" << diagnostics.render({});
    return 1;
  }
  std::vector<Symbolic> symbolics;
  for (const Program& program : programs) {
    const std::string file =
        std::string(STRATA_SOURCE_DIR "/examples/pla/") + program.file + "/" + program.file + ".pla";
    std::string messages;
    const auto graph = graphOf(contents(file), file, messages);
    MapOptions options;
    options.rowLoop = program.rowLoop;
    options.columnLoop = program.columnLoop;
    std::optional<Symbolic> made;
    const double seconds =
        fastest([&] { made = graph ? map(*graph, machine->name, *array, options, diagnostics) : std::nullopt; }, 1);
    if (!made) {
      std::cerr << messages << diagnostics.render({});
      return 1;
    }
    std::printf("%-20s mapped in %.2f s: initiation interval %lld, lower bound %lld (document: %d), %zu bytes\n",
                program.title, seconds, static_cast<long long>(made->interval),
                static_cast<long long>(made->lowerBound), program.interval, writeBinary(*made).size());
    symbolics.push_back(*std::move(made));
  }
  const auto header = [](const char* title) {
    std::printf("\n%s\n%-20s", title, "");
    for (const Region& region : regions)
      std::printf(" | %21s", region.title);
    std::printf("\n");
  };
  header("Table 1: time of program instantiation over that for one element (processor classes); the document's in []");
  std::vector<double> largest;
  for (size_t at = 0; at < symbolics.size(); ++at) {
    const Program& program = programs[at];
    std::printf("%-20s", program.title);
    double first = 0, last = 0;
    for (size_t i = 0; i < std::size(regions); ++i) {
      if (symbolics[at].rowLoop == Symbolic::none && regions[i].rows > 1)
        continue;
      const InstantiationOptions options = optionsOf(program, regions[i]);
      std::variant<Configuration, InstantiationError> made;
      last = fastest([&] { made = instantiatePrograms(symbolics[at], *array, options); }, 15);
      if (const auto* error = std::get_if<InstantiationError>(&made)) {
        std::printf(" | %s", error->message.c_str());
        continue;
      }
      first = i == 0 ? last : first;
      std::printf(" | %5.2f (%2zu) [%4.2f (%d)]", last / first, std::get<Configuration>(made).classes.size(),
                  program.times[i], program.classes[i]);
    }
    largest.push_back(last);
    std::printf("\n");
  }
  header("Table 2: bytes of the concrete over those of the symbolic configuration; the document's in []");
  for (size_t at = 0; at < symbolics.size(); ++at) {
    std::printf("%-20s", programs[at].title);
    const auto bytes = static_cast<double>(writeBinary(symbolics[at]).size());
    for (size_t i = 0; i < std::size(regions); ++i) {
      if (symbolics[at].rowLoop == Symbolic::none && regions[i].rows > 1)
        continue;
      const InstantiationOptions options = optionsOf(programs[at], regions[i]);
      const auto made = instantiate(symbolics[at], *array, options);
      if (const auto* configuration = std::get_if<Configuration>(&made))
        std::printf(" | %9.2f [%9.2f]", static_cast<double>(configurationBytes(*configuration, *array)) / bytes,
                    programs[at].sizes[i]);
      else
        std::printf(" | %9s [%9.2f]", "no routes", programs[at].sizes[i]);
    }
    std::printf("\n");
  }
  std::printf(
      "\nProgram instantiation for the last region, and the same steps with isl (goals: the matrix product under "
      "1000 us, ratios of 50 and more)\n");
  for (size_t at = 0; at < symbolics.size(); ++at) {
    const bool isFlat = symbolics[at].rowLoop == Symbolic::none;
    const InstantiationOptions options = optionsOf(programs[at], regions[isFlat ? 2 : 5]);
    const double peer = fastest([&] { oracle::instantiate(symbolics[at], *array, options); }, 1);
    std::printf("%-20s %10.1f us, isl %12.1f us, ratio %.0f\n", programs[at].title, largest[at] * 1e6, peer * 1e6,
                peer / largest[at]);
    std::fflush(stdout);
  }
  return 0;
}

} // namespace

} // namespace strata::array

int main(int argc, char** argv) {
  return strata::array::run(argc > 1 ? argv[1] : STRATA_SOURCE_DIR "/machines/array-32x32/machine.yaml");
}
