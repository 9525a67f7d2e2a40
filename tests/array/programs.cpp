// Loop programs on processor arrays, many in one process: each file mapped with random distributions, orders and
// changes of the machine (--count), each mapping run with random sizes, regions and tiles (--runs), against the
// interpreter of equations, and a part of them against the second implementation of instantiation. Several machines
// take turns.
//
//   array_programs --machine machines/array-4x4/machine.yaml [--machine …] [--seed 1] [--count 5] [--runs 4]
//     [--verbose] FILE.pla …
#include "runtime/array/files.h"
#include "tests/array/attempt.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

namespace strata::array {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Case {
  machine::ProcessorArray array;
  MapOptions mapping;
  InstantiationOptions instantiation;
};

class Chooser {
public:
  explicit Chooser(uint64_t seed) : random_(seed) {}
  uint64_t below(uint64_t end) { return random_() % end; }
  bool often() { return below(4) != 0; }

  Case choose(const equations::Graph& graph, const machine::ProcessorArray& array) {
    Case made{array, {}, {}};
    if (!often()) {
      made.array.destinations = 1 + below(3);
      made.array.data.hop = 1 + below(2);
      made.array.control.hop = 1 + below(2);
      if (below(2) == 0) // banks that hold some words at a time
        for (machine::Border& border : made.array.borders)
          border.capacity = 16 + below(64);
      for (machine::FunctionalUnit& unit : made.array.units)
        for (machine::Operation& each : unit.operations)
          if (below(3) == 0)
            each.latency = 1 + below(4);
    }
    if (below(8) == 0) { // few registers and units
      made.array.registers.general = 2 + below(5);
      made.array.registers.feedback = 4 + below(5);
      made.array.registers.feedbackDepth = 8 << below(4);
      for (machine::FunctionalUnit& unit : made.array.units)
        unit.count = 1;
    }
    const size_t loops = graph.iterators.size();
    if (below(3) != 0) {
      const uint64_t row = below(loops + 1), column = below(loops + 1);
      made.mapping.rowLoop = row < loops && row != column ? graph.iterators[row] : "";
      made.mapping.columnLoop = column < loops ? graph.iterators[column] : "";
    }
    if (below(4) == 0) {
      made.mapping.order = graph.iterators;
      std::shuffle(made.mapping.order.begin(), made.mapping.order.end(), random_);
    }
    return made;
  }

  void chooseRun(const equations::Graph& graph, const Symbolic& symbolic, Case& made) {
    const machine::ProcessorArray& array = made.array;
    const size_t loops = graph.iterators.size();
    for (size_t tries = 0; tries < 100; ++tries) {
      made.instantiation.sizes.clear();
      const uint64_t most = loops > 4 ? 4 : loops > 2 ? 6 : 12;
      for (size_t i = 0; i < graph.parameters.size(); ++i)
        made.instantiation.sizes.push_back(static_cast<int64_t>(1 + below(most)));
      if (areAllowed(graph, made.instantiation.sizes))
        break;
    }
    made.instantiation.rows =
        symbolic.rowLoop == Symbolic::none ? 1 : static_cast<uint32_t>(1 + below(std::min<uint64_t>(array.rows, 4)));
    made.instantiation.columns = symbolic.columnLoop == Symbolic::none
                                     ? 1
                                     : static_cast<uint32_t>(1 + below(std::min<uint64_t>(array.columns, 4)));
    made.instantiation.tile.clear();
    for (uint32_t loop = 0; loop < symbolic.loops.size(); ++loop)
      made.instantiation.tile.push_back((loop == symbolic.rowLoop || loop == symbolic.columnLoop) && below(3) == 0
                                            ? static_cast<int64_t>(2 + below(6))
                                            : 0);
    const std::vector<machine::Corner>& corners = made.array.controllers;
    if (!corners.empty())
      made.instantiation.corner = corners[below(corners.size())];
  }

private:
  std::mt19937_64 random_;
};

std::string text(const Case& each) {
  std::string result =
      "distribution '" + each.mapping.rowLoop.value_or("?") + "','" + each.mapping.columnLoop.value_or("?") + "' sizes";
  for (const int64_t size : each.instantiation.sizes)
    result += " " + std::to_string(size);
  result += " tile";
  for (const int64_t size : each.instantiation.tile)
    result += " " + std::to_string(size);
  return result + " region " + std::to_string(each.instantiation.rows) + "x" +
         std::to_string(each.instantiation.columns) + " destinations " + std::to_string(each.array.destinations);
}

struct Work {
  std::vector<std::string> files, machines;
  uint64_t seed = 1, count = 5, runs = 4;
  bool isVerbose = false;
};

std::optional<machine::ProcessorArray> arrayOf(const std::string& machineFile) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  if (const std::optional<Machine> machine =
          readMachine(diagnostics, sources.add(machineFile, contents(machineFile), SourceKind::Machine)))
    for (const machine::Processor& each : machine->processors)
      if (!each.array.empty())
        return each.array[0];
  std::cerr << "no processor array in " << machineFile << "\n" << diagnostics.render({});
  return std::nullopt;
}

int run(const Work& work) {
  std::vector<machine::ProcessorArray> arrays;
  for (const std::string& each : work.machines) {
    std::optional<machine::ProcessorArray> array = arrayOf(each);
    if (!array)
      return 1;
    arrays.push_back(*std::move(array));
  }
  uint64_t programs = 0, mappings = 0, verified = 0, compared = 0, right = 0, refused = 0, wrong = 0;
  std::map<std::string, uint64_t> reasons;
  for (const std::string& file : work.files) {
    const uint64_t number = programs++;
    std::string messages;
    const std::optional<equations::Graph> graph = graphOf(contents(file), file, messages);
    if (!graph) {
      reasons["no uniform form"] += 1;
      continue;
    }
    for (uint64_t i = 0; i < work.count; ++i) {
      const uint64_t seed = work.seed + i, machine = (work.seed + number + i) % arrays.size();
      Chooser chooser(seed);
      Case made = chooser.choose(*graph, arrays[machine]);
      Attempt result = mapped(*graph, made.array, made.mapping);
      mappings += result.symbolic.has_value();
      verified += result.symbolic.has_value() && result.isVerified;
      compared += result.symbolic.has_value() && result.isCompared;
      for (uint64_t at = 0; at < work.runs; ++at) {
        if (result.symbolic && (at > 0 || result.end == Attempt::End::Right)) {
          chooser.chooseRun(*graph, *result.symbolic, made);
          execute(result, *graph, made.array, made.instantiation, seed, chooser.below(8) == 0);
        }
        const std::string what = file + " on " + work.machines[machine] + ", seed " + std::to_string(seed) + ", run " +
                                 std::to_string(at) + " (" + text(made) + "): ";
        right += result.end == Attempt::End::Right;
        refused += result.end == Attempt::End::Refused;
        wrong += result.end == Attempt::End::Wrong;
        if (result.end == Attempt::End::Refused) {
          const size_t open = result.message.find('['), close = result.message.find(']');
          reasons[open != std::string::npos && close != std::string::npos && close < 60
                      ? result.message.substr(open, close - open + 1)
                      : result.message.substr(0, 50)] += 1;
        }
        if (result.end == Attempt::End::Wrong)
          std::cout << "FAIL " << what << result.message << std::endl
                    << (work.isVerbose && result.symbolic ? writeText(*result.symbolic) : "");
        else if (work.isVerbose && result.end == Attempt::End::Refused)
          std::cout << what << "refused: " << result.message << std::endl;
        else if (work.isVerbose)
          std::cout << what << "interval " << result.symbolic->interval << ", bound " << result.symbolic->lowerBound
                    << ", " << result.statistics.cycles << " cycles, " << result.configuration->classes.size()
                    << " classes" << std::endl;
        if (!result.symbolic)
          break;
      }
    }
  }
  for (const auto& [reason, times] : reasons)
    std::cout << times << " refused: " << reason << "\n";
  std::cout << mappings << " mappings, " << verified << " of them verified for all sizes, " << compared
            << " compared with their equations\n";
  std::cout << right << " right, " << refused << " refused, " << wrong << " failed, of " << programs << " programs\n";
  return wrong != 0;
}

} // namespace

} // namespace strata::array

int main(int argc, char** argv) {
  strata::array::Work work;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool hasNext = i + 1 < argc;
    if (word == "--machine" && hasNext)
      work.machines.emplace_back(argv[++i]);
    else if (word == "--seed" && hasNext)
      work.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--count" && hasNext)
      work.count = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--runs" && hasNext)
      work.runs = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--verbose")
      work.isVerbose = true;
    else
      work.files.push_back(word);
  }
  if (work.machines.empty())
    work.machines = {"machines/array-4x4/machine.yaml"};
  return strata::array::run(work);
}
