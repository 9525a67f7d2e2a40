// Processor arrays: how long the examples take to be mapped, and what is proved of the mappings; how many instructions
// it takes to instantiate them for 16 and for 64 elements; how long the simulator takes for an operation of a unit. The
// limits are our own: nobody else maps these programs.
#include "benchmarks/bench.h"
#include "benchmarks/processes.h"

#include "compiler/target/array/map.h"
#include "compiler/target/array/verify_meaning.h"
#include "runtime/array/files.h"
#include "runtime/array/instantiate.h"
#include "runtime/array/simulate.h"
#include "runtime/array/simulate_banks.h"
#include "runtime/array/tiling.h"
#include "tests/array/attempt.h"

#include <bit>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

namespace strata::bench {
namespace {

using namespace array;

constexpr unsigned repetitions = 3;
constexpr double mostSeconds = 10;     // to map a program
constexpr double mostGrowth = 1.1;     // of instructions, from 16 to 64 elements
constexpr double mostNanoseconds = 50; // of a unit's operation in the simulator: 20 million in a second

struct Target {
  std::string name; // of the machine
  machine::ProcessorArray array;
};

std::string machineFile(const std::string& name) {
  return STRATA_SOURCE_DIR "/machines/" + name + "/machine.yaml";
}

std::optional<Target> targetOf(const std::string& name) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  if (const std::optional<Machine> machine = loadMachine(machineFile(name), {}, diagnostics))
    for (const machine::Processor& each : machine->processors)
      if (!each.array.empty())
        return Target{machine->name, each.array[0]};
  return std::nullopt;
}

struct Example {
  std::string name;
  std::optional<equations::Graph> graph;
};

/// All examples, by name.
std::vector<Example> examples() {
  std::vector<Example> all;
  for (const auto& each : std::filesystem::directory_iterator(STRATA_SOURCE_DIR "/examples/pla")) {
    const std::string name = each.path().filename(), file = each.path() / (name + ".pla");
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    std::string messages;
    all.push_back({name, graphOf(text.str(), file, messages)});
  }
  std::ranges::sort(all, {}, &Example::name);
  return all;
}

/// Seconds of one mapping. `refusal` is the first error.
double mapOnce(const Example& example, const Target& target, const MapOptions& options, std::optional<Symbolic>& made,
               std::string& refusal, bool& isCompared) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  diagnostics.enableRemarks(true);
  const auto begin = std::chrono::steady_clock::now();
  made = array::map(*example.graph, target.name, target.array, options, diagnostics);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  isCompared = options.isCompared;
  for (const Diagnostic& each : diagnostics.all()) {
    const std::string_view code = each.kind->code;
    isCompared &= code != "array-not-compared";
    if (!made && refusal.empty())
      refusal = each.message + " (" + std::string(code) + ")";
  }
  return took.count();
}

Row mappingRow(const Example& example, const Target& target) {
  Row row;
  row.work = "array, " + example.name + " mapped for " + target.name;
  row.peer = "seconds allowed";
  row.goal = {Goal::Kind::OursAtMost, mostSeconds};
  if (!example.graph)
    return failed(row, "it has no uniform form");
  std::optional<Symbolic> made;
  std::string refusal;
  bool isCompared = false;
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    row.pairs.ours.push_back(mapOnce(example, target, {}, made, refusal, isCompared));
    row.pairs.peer.push_back(mostSeconds);
  }
  if (!made) {
    row.work = "array, " + example.name + " refused for " + target.name;
    row.method = refusal;
    return row;
  }
  MapOptions options;
  options.isCompared = true;
  mapOnce(example, target, options, made, refusal, isCompared);
  if (!made)
    return failed(row, refusal);
  const array::Verdict verdict = verify(*made, target.array);
  if (!verdict.broken.empty())
    return failed(row, verdict.broken);
  std::string proved = "that fewer than " + std::to_string(made->lowerBound) + " are impossible", open;
  (verdict.isDecided ? proved : open) += ", that values arrive in time for all sizes";
  (isCompared ? proved : open) += ", that it computes its equations";
  row.method = "an iteration every " + std::to_string(made->interval) + (made->interval == 1 ? " cycle" : " cycles") +
               "; proved: " + proved + (open.empty() ? "" : "; not decided: " + open.substr(2));
  return row;
}

std::vector<Row> mapping(Bench&) {
  std::vector<Row> rows;
  for (const char* name : {"array-2alu", "array-4x4", "array-8x8"})
    if (const std::optional<Target> target = targetOf(name))
      for (const Example& each : examples())
        rows.push_back(mappingRow(each, *target));
  return rows;
}

/// Sizes with about so many iterations in an element along the loops that are distributed, and `others` elsewhere.
std::vector<int64_t> sizesFor(const Symbolic& symbolic, int64_t rows, int64_t columns, int64_t tile, int64_t others) {
  std::vector<int64_t> sizes(symbolic.parameters.size(), others);
  const auto grow = [&](uint32_t loop, int64_t elements) {
    if (loop == Symbolic::none)
      return;
    for (const std::vector<Bound>* bounds : {&symbolic.loops[loop].lower, &symbolic.loops[loop].upper})
      for (const Bound& bound : *bounds)
        for (size_t p = 0; p < sizes.size(); ++p)
          if (bound.value.parameters[p] != 0)
            sizes[p] = tile * elements;
  };
  grow(symbolic.rowLoop, rows);
  grow(symbolic.columnLoop, columns);
  return sizes;
}

/// Elements along a side of the region, where that side has a loop.
uint32_t side(uint32_t loop, uint32_t elements) {
  return loop == Symbolic::none ? 1 : elements;
}

/// The options for a square of elements, as far as there are loops along its sides. All tiles are full: the program of
/// one that is not depends on how much of it is left.
InstantiationOptions optionsFor(const Symbolic& symbolic, const machine::ProcessorArray& array, uint32_t elements,
                                int64_t tile, int64_t others) {
  InstantiationOptions options;
  options.rows = side(symbolic.rowLoop, elements);
  options.columns = side(symbolic.columnLoop, elements);
  options.sizes = sizesFor(symbolic, options.rows, options.columns, tile, others);
  const auto made = makeTiling(symbolic, array, options);
  const auto* tiling = std::get_if<Tiling>(&made);
  if (!tiling)
    return options;
  const auto fill = [&](uint32_t loop, int64_t wanted) {
    if (loop != Symbolic::none)
      for (const Bound& bound : symbolic.loops[loop].upper)
        for (size_t p = 0; p < options.sizes.size(); ++p)
          if (bound.value.parameters[p] == 1)
            options.sizes[p] = tiling->sizes[p] + wanted - tiling->count[loop];
  };
  fill(symbolic.rowLoop, tile * options.rows);
  fill(symbolic.columnLoop, tile * options.columns);
  return options;
}

/// Instructions of instantiatePrograms() by callgrind; 0 where it says nothing.
double instructions(const Symbolic& symbolic, const std::string& machine, const InstantiationOptions& options,
                    const std::string& folder) {
  const std::string counts = folder + "counts";
  std::ofstream(folder + "program.sym", std::ios::binary) << writeBinary(symbolic);
  Words words{STRATA_VALGRIND,
              "--quiet",
              "--tool=callgrind",
              "--collect-atstart=no",
              "--toggle-collect=strata::array::instantiatePrograms(*",
              "--callgrind-out-file=" + counts,
              STRATA_ARRAY_INSTANCE,
              folder + "program.sym",
              machineFile(machine),
              std::to_string(options.rows),
              std::to_string(options.columns)};
  for (const int64_t size : options.sizes)
    words.push_back(std::to_string(size));
  if (execute(words) != 0)
    return 0;
  std::ifstream file(counts);
  double all = 0;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("totals:", 0) == 0)
      all = std::strtod(line.c_str() + 7, nullptr);
  return all;
}

std::vector<Row> instantiation(Bench&) {
  constexpr const char* machine = "array-8x8";
  const std::optional<Target> target = targetOf(machine);
  char made[] = "/tmp/strata-bench-XXXXXX";
  if (!target || !mkdtemp(made))
    return {failed({}, "no machine or no temporary folder")};
  std::vector<Row> rows;
  for (const Example& each : examples()) {
    std::optional<Symbolic> symbolic;
    std::string refusal;
    bool isCompared = false;
    mapOnce(each, *target, {}, symbolic, refusal, isCompared);
    if (!symbolic)
      continue;
    const bool isFlat = symbolic->rowLoop == Symbolic::none || symbolic->columnLoop == Symbolic::none;
    if (isFlat && symbolic->rowLoop == symbolic->columnLoop)
      continue; // all on one element
    // Small tiles first; some programs need larger ones, and some have more signals than the controller at any size.
    std::optional<InstantiationOptions> few, many;
    std::string why;
    for (const int64_t tile : {4, 8, 16}) {
      few = optionsFor(*symbolic, target->array, 4, tile, tile);
      many = optionsFor(*symbolic, target->array, 8, tile, tile);
      why.clear();
      for (const InstantiationOptions& options : {*few, *many})
        if (const auto tried = instantiatePrograms(*symbolic, target->array, options);
            const auto* error = std::get_if<InstantiationError>(&tried))
          why = error->message;
      if (why.empty())
        break;
      few.reset();
    }
    Row& row = rows.emplace_back();
    row.work = "array, " + each.name + " instantiated for " + (isFlat ? "8" : "8x8") + " elements";
    if (!few) {
      row.failure = "not with tiles of 4, 8 or 16: " + why;
      continue;
    }
    row.peer = isFlat ? "4 elements" : "4x4 elements";
    row.method = "instructions by callgrind, without connections and banks; as many iterations in each element";
    row.unit = Unit::Instructions;
    row.goal = {Goal::Kind::RatioAtMost, mostGrowth};
    row.pairs.ours.push_back(instructions(*symbolic, machine, *many, std::string(made) + "/"));
    row.pairs.peer.push_back(instructions(*symbolic, machine, *few, std::string(made) + "/"));
    if (row.pairs.ours[0] == 0 || row.pairs.peer[0] == 0)
      row.failure = "no count of its instructions";
  }
  std::filesystem::remove_all(made);
  return rows;
}

/// Small numbers, none of them 0.
std::vector<std::byte> memoryOf(const ArrayLayout& layout) {
  size_t count = 1;
  for (const int64_t extent : layout.extents)
    count *= static_cast<size_t>(extent);
  std::vector<std::byte> memory(count * bytes(layout.type));
  for (size_t i = 0; i < count; ++i) {
    const uint64_t number = 1 + i % 7;
    const auto value = static_cast<double>(number);
    storeElement(&memory[i * bytes(layout.type)], layout.type,
                 layout.type == Type::Float32   ? std::bit_cast<uint32_t>(static_cast<float>(value))
                 : layout.type == Type::Float64 ? std::bit_cast<uint64_t>(value)
                                                : number);
  }
  return memory;
}

/// A program and sizes at which it executes some hundred thousand operations, so that loading the configuration counts
/// for little. Channels hold at most 64 values, FIFOs of an element 1024 and banks 64 KiB.
struct Simulated {
  std::string name;
  std::map<std::string, int64_t> sizes;
};

std::vector<Simulated> simulated() {
  return {{"align", {{"M", 256}, {"N", 256}}},
          {"atax", {{"M", 256}, {"N", 256}}},
          {"bits", {{"N", 65536}}},
          {"conv", {{"F", 8}, {"H", 16}, {"W", 16}, {"C", 4}, {"R", 3}, {"S", 3}}},
          {"fir", {{"N", 2048}, {"T", 64}}},
          {"gesummv", {{"N", 256}}},
          {"iir", {{"N", 65536}}},
          {"jacobi", {{"N", 512}, {"T", 128}}},
          {"jacobi2d", {{"M", 64}, {"N", 48}, {"T", 16}}},
          {"lu", {{"N", 32}}},
          {"matmul", {{"M", 48}, {"N", 48}, {"K", 48}}},
          {"matvec", {{"M", 256}, {"N", 256}}},
          {"mvt", {{"N", 256}}},
          {"pipeline", {{"N", 256}, {"T", 256}}},
          {"seidel", {{"N", 256}, {"T", 256}}},
          {"shortest", {{"N", 48}}},
          {"sobel", {{"H", 128}, {"W", 128}}},
          {"sum", {{"N", 65536}}},
          {"syrk", {{"N", 48}, {"K", 48}}},
          {"systolic", {{"M", 48}, {"N", 48}, {"K", 48}}},
          {"trisolve", {{"N", 256}}},
          {"vectadd", {{"N", 65536}}}};
}

/// On the largest square that has room for the program: of all elements, of half as many along each side, and so on.
std::variant<Configuration, InstantiationError>
onLargest(const Symbolic& symbolic, const machine::ProcessorArray& array, InstantiationOptions& options) {
  std::variant<Configuration, InstantiationError> made;
  for (auto elements = static_cast<uint32_t>(array.columns); elements > 0; elements /= 2) {
    options.rows = side(symbolic.rowLoop, elements);
    options.columns = side(symbolic.columnLoop, elements);
    made = instantiate(symbolic, array, options);
    if (std::holds_alternative<Configuration>(made))
      break;
  }
  return made;
}

Row simulationRow(Bench& bench, const Example& example, const Target& target,
                  const std::map<std::string, int64_t>& sizes) {
  Row row;
  row.work = "array, " + example.name + " simulated on " + target.name + ", an operation of a unit";
  row.peer = "allowed";
  row.unit = Unit::Nanoseconds;
  row.goal = {Goal::Kind::OursAtMost, mostNanoseconds};
  std::optional<Symbolic> symbolic;
  std::string refusal;
  bool isCompared = false;
  mapOnce(example, target, {}, symbolic, refusal, isCompared);
  if (!symbolic)
    return failed(row, refusal);
  InstantiationOptions options;
  for (const std::string& parameter : symbolic->parameters)
    options.sizes.push_back(sizes.at(parameter));
  const auto made = onLargest(*symbolic, target.array, options);
  if (const auto* error = std::get_if<InstantiationError>(&made))
    return failed(row, error->message);
  const auto& configuration = std::get<Configuration>(made);
  std::vector<std::vector<std::byte>> inputs, outputs;
  for (const ArrayLayout& layout : configuration.inputs)
    inputs.push_back(memoryOf(layout));
  for (const ArrayLayout& layout : configuration.outputs)
    outputs.push_back(memoryOf(layout));
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (const std::vector<std::byte>& each : inputs)
    from.push_back(each.data());
  for (std::vector<std::byte>& each : outputs)
    to.push_back(each.data());
  SimulationStatistics statistics;
  std::optional<SimulationError> error;
  const Timed ours{[] {}, [&] { error = simulate(target.array, configuration, from, to, {}, statistics); }};
  const unsigned calls = callsPerSample(ours, ours, bench.sampleSeconds);
  for (unsigned pair = 0; pair < bench.pairs && !error; ++pair) {
    const double seconds = sample(ours, calls);
    row.pairs.ours.push_back(seconds * 1e9 / static_cast<double>(statistics.operations));
    row.pairs.peer.push_back(mostNanoseconds);
  }
  if (error)
    return failed(row, error->message);
  for (const auto& [parameter, size] : sizes)
    row.method += (row.method.empty() ? "" : ", ") + parameter + " = " + std::to_string(size);
  row.method += "; " + std::to_string(options.rows) + " x " + std::to_string(options.columns) + " elements, " +
                std::to_string(statistics.operations) + " operations other than nops in " +
                std::to_string(statistics.cycles) + " cycles, one thread";
  return row;
}

std::vector<Row> simulation(Bench& bench) {
  std::vector<Row> rows;
  const std::vector<Example> all = examples();
  for (const char* machine : {"array-4x4", "array-8x8"})
    if (const std::optional<Target> target = targetOf(machine))
      for (const Simulated& each : simulated())
        if (const auto found = std::ranges::find(all, each.name, &Example::name); found != all.end())
          rows.push_back(simulationRow(bench, *found, *target, each.sizes));
  return rows;
}

} // namespace

std::vector<Work> arrayWorks() {
  return {{"array-map", mapping}, {"array-instantiate", instantiation}, {"array-simulate", simulation}};
}

} // namespace strata::bench
