// See storage.h.
#include "compiler/target/array/storage.h"
#include "compiler/equations/print.h"
#include "compiler/target/array/select.h"

#include <algorithm>

namespace strata::array {

using equations::InputUse;
using equations::Use;

STRATA_DIAGNOSTIC(noUnit, Error, "array-operation",
                  "no unit of the array has the operation '{0}', which computes '{1}'");
STRATA_DIAGNOSTIC(wideValue, Error, "array-word", "'{0}' is of {1}, {2} bytes; registers of the array hold {3}");

namespace {

bool isSame(const std::vector<equations::Affine>& a, const std::vector<equations::Affine>& b) {
  const auto same = [](const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
    for (size_t i = 0; i < std::max(x.size(), y.size()); ++i)
      if ((i < x.size() ? x[i] : 0) != (i < y.size() ? y[i] : 0))
        return false;
    return true;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return x.constant == y.constant && same(x.iterators, y.iterators) && same(x.parameters, y.parameters);
  });
}

std::vector<std::vector<int64_t>> crossingsOf(const std::vector<int64_t>& distance,
                                              const std::vector<uint32_t>& distributed) {
  std::vector<std::vector<int64_t>> list = {std::vector<int64_t>(distance.size(), 0)};
  for (const uint32_t loop : distributed) {
    if (distance[loop] == 0)
      continue;
    const size_t count = list.size();
    for (size_t i = 0; i < count; ++i) {
      list.push_back(list[i]);
      list.back()[loop] = distance[loop] > 0 ? 1 : -1;
    }
  }
  list.erase(list.begin());
  return list;
}

/// Numbers below `count`, each in the first group with all of which it fits.
template <typename Fits>
std::vector<std::vector<size_t>> grouped(size_t count, Fits fits) {
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < count; ++i) {
    auto found = std::ranges::find_if(groups, [&](const std::vector<size_t>& group) {
      return std::ranges::all_of(group, [&](size_t other) { return fits(other, i); });
    });
    if (found == groups.end())
      found = groups.insert(groups.end(), std::vector<size_t>());
    found->push_back(i);
  }
  return groups;
}

void group(const Network& network, Storages& made) {
  made.queueGroups = grouped(made.storages.size(), [&](size_t a, size_t b) {
    const Storage &one = made.storages[a], &other = made.storages[b];
    return one.kind == Storage::Kind::Queue && other.kind == Storage::Kind::Queue && one.distance == other.distance &&
           one.read.is_disjoint(other.read);
  });
  std::erase_if(made.queueGroups,
                [&](const std::vector<size_t>& each) { return made.storages[each[0]].kind != Storage::Kind::Queue; });
  made.inputGroups = grouped(made.inputs.size(), [&](size_t a, size_t b) {
    const InputPort &one = made.inputs[a], &other = made.inputs[b];
    return one.input == other.input && isSame(one.index, other.index) && one.domain.is_disjoint(other.domain);
  });
  const auto written = [&](size_t port) -> const OutputWrite& {
    return network.variables[made.outputs[port].variable].writes[made.outputs[port].write];
  };
  made.outputGroups = grouped(made.outputs.size(), [&](size_t a, size_t b) {
    const OutputWrite &one = written(a), &other = written(b);
    return one.output == other.output && isSame(one.index, other.index) && one.domain.is_disjoint(other.domain);
  });
}

} // namespace

Storages storagesOf(const Network& network, const std::vector<uint32_t>& distributed) {
  Storages result;
  const std::vector<Reading> readings = network.readings();
  for (const Reading& each : readings) {
    const bool isNear = isZero(each.distance) && !network.queued.contains({each.variable, each.cell});
    if (isNear) {
      const auto known = std::find_if(result.storages.begin(), result.storages.end(), [&](const Storage& storage) {
        return storage.kind == Storage::Kind::Register && storage.variable == each.variable;
      });
      if (known != result.storages.end()) {
        known->readers.push_back(each.cell);
        known->read = known->read.unite(each.domain);
        continue;
      }
    }
    result.storages.push_back({isNear ? Storage::Kind::Register : Storage::Kind::Queue,
                               each.variable,
                               each.distance,
                               {each.cell},
                               {},
                               each.domain,
                               isNear ? std::vector<std::vector<int64_t>>() : crossingsOf(each.distance, distributed)});
  }
  const std::vector<isl::set> domains = network.domains();
  for (Storage& storage : result.storages) {
    const isl::set source = network.before(storage.read, storage.distance);
    for (uint32_t cell = 0; cell < network.cells.size(); ++cell)
      if (network.cells[cell].variable == storage.variable && !domains[cell].is_disjoint(source))
        storage.writers.push_back(cell);
  }
  for (uint32_t at = 0; at < network.cells.size(); ++at)
    for (const Alternative& alternative : network.cells[at].alternatives)
      for (const equations::Operand& operand : alternative.operands)
        if (const InputUse* use = std::get_if<InputUse>(&operand)) {
          const auto known = std::find_if(result.inputs.begin(), result.inputs.end(), [&](const InputPort& port) {
            return port.cell == at && port.input == use->input && isSame(port.index, use->index);
          });
          if (known != result.inputs.end())
            known->domain = known->domain.unite(alternative.domain);
          else
            result.inputs.push_back({at, use->input, use->index, alternative.domain});
        }
  for (uint32_t variable = 0; variable < network.variables.size(); ++variable)
    for (uint32_t write = 0; write < network.variables[variable].writes.size(); ++write)
      result.outputs.push_back({variable, write});
  group(network, result);
  return result;
}

const Storage& Storages::of(const Network& network, uint32_t cell, const Use& use) const {
  const bool isNear = isZero(use.distance) && !network.queued.contains({use.variable, cell});
  return *std::find_if(storages.begin(), storages.end(), [&](const Storage& storage) {
    return storage.variable == use.variable && (storage.kind == Storage::Kind::Register) == isNear &&
           (isNear || (storage.distance == use.distance && storage.readers[0] == cell));
  });
}

size_t Storages::inputOf(uint32_t cell, const InputUse& use) const {
  return static_cast<size_t>(std::find_if(inputs.begin(), inputs.end(),
                                          [&](const InputPort& port) {
                                            return port.cell == cell && port.input == use.input &&
                                                   isSame(port.index, use.index);
                                          }) -
                             inputs.begin());
}

int64_t leastIterations(const std::vector<int64_t>& distance, const std::vector<int64_t>& leastTiles) {
  int64_t sum = 0;
  for (size_t i = 0; i < distance.size(); ++i) {
    // Both ends are in the tile, which is therefore longer than the distance.
    const int64_t tile = std::max(leastTiles[i], std::abs(distance[i]) + 1);
    if (__builtin_mul_overflow(sum, tile, &sum) || __builtin_add_overflow(sum, distance[i], &sum) ||
        sum > int64_t{1} << 20)
      return int64_t{1} << 20;
  }
  return isZero(distance) ? 0 : std::max<int64_t>(sum, 1);
}

std::optional<ScheduleProblem> problemOf(const Network& network, const Storages& storages,
                                         const machine::ProcessorArray& array, const std::vector<int64_t>& leastTiles,
                                         bool keepsRegisters, const Sharing& sharing, DiagnosticEngine& diagnostics) {
  ScheduleProblem problem;
  bool isGood = true;
  std::set<uint32_t> wide; // variables, each told once
  for (const machine::FunctionalUnit& unit : array.units)
    problem.units.push_back({unit.name, static_cast<uint32_t>(unit.count)});
  for (const Cell& cell : network.cells) {
    const NetworkVariable& variable = network.variables[cell.variable];
    const Opcode opcode = opcodeOf(cell.operation);
    ScheduleProblem::Operation operation{variable.name, {}};
    for (const UnitOperation& each : unitsOf(array, opcode))
      operation.choices.push_back({each.unit, each.interval, each.latency});
    const Location& where = cell.alternatives[0].location;
    if (operation.choices.empty()) {
      diagnostics.report(noUnit, where, std::string(name(opcode)), variable.name)
          .note("the units have " + unitsText(array))
          .help("run it on another machine, or give a unit of the machine file the operation");
      isGood = false;
    }
    for (const ElementType* type : {&cell.type, &operandTypeOf(cell.operation, cell.type, cell.operandType)})
      if (type->bytes > array.word) {
        isGood = false;
        if (!wide.insert(cell.variable).second)
          break;
        diagnostics.report(wideValue, where, variable.name, type->text(), type->bytes, array.word)
            .help("use a type of at most " + std::to_string(array.word) + " bytes, or an array with wider words");
        break;
      }
    problem.operations.push_back(std::move(operation));
  }
  if (!isGood)
    return std::nullopt;
  // Results of cells that write the same register or port come in the order of the iterations; so do their reads.
  const auto inOrder = [&](const std::vector<uint32_t>& cells, bool areArrivals) {
    for (const uint32_t a : cells)
      for (const uint32_t b : cells)
        if (a != b)
          problem.constraints.push_back({a, b, areArrivals, areArrivals, 1, 1});
  };
  const std::vector<isl::set> domains = network.domains();
  for (const Storage& storage : storages.storages) {
    const int64_t iterations = leastIterations(storage.distance, leastTiles);
    for (const uint32_t reader : storage.readers) {
      const isl::set source = network.before(domains[reader], storage.distance);
      for (const uint32_t writer : storage.writers) {
        if (!source.is_disjoint(domains[writer]))
          problem.constraints.push_back({writer, reader, true, false, iterations, 0});
        if (storage.kind == Storage::Kind::Register && keepsRegisters)
          problem.constraints.push_back({reader, writer, false, true, 1, 1});
      }
    }
    if (storage.kind == Storage::Kind::Queue || keepsRegisters)
      inOrder(storage.writers, true);
  }
  // A bank expects a word in one cycle of the iteration.
  const auto atOnce = [&](const std::vector<uint32_t>& cells, bool areArrivals) {
    for (size_t i = 1; i < cells.size(); ++i) {
      problem.constraints.push_back({cells[0], cells[i], areArrivals, areArrivals, 0, 0});
      problem.constraints.push_back({cells[i], cells[0], areArrivals, areArrivals, 0, 0});
    }
  };
  const auto writersOf = [&](const OutputPort& port) {
    const isl::set& domain = network.variables[port.variable].writes[port.write].domain;
    std::vector<uint32_t> writers;
    for (uint32_t cell = 0; cell < network.cells.size(); ++cell)
      if (network.cells[cell].variable == port.variable && !domains[cell].is_disjoint(domain))
        writers.push_back(cell);
    return writers;
  };
  const auto distinct = [](std::vector<uint32_t> cells) {
    std::ranges::sort(cells);
    const auto repeated = std::ranges::unique(cells);
    cells.erase(repeated.begin(), repeated.end());
    return cells;
  };
  for (const OutputPort& port : storages.outputs)
    atOnce(writersOf(port), true);
  for (const std::vector<size_t>& group : storages.queueGroups) {
    std::vector<uint32_t> writers, readers;
    for (const size_t each : group) {
      const Storage& storage = storages.storages[each];
      writers.insert(writers.end(), storage.writers.begin(), storage.writers.end());
      readers.insert(readers.end(), storage.readers.begin(), storage.readers.end());
    }
    if (group.size() > 1 && sharing.queues) {
      inOrder(distinct(std::move(writers)), true);
      inOrder(distinct(std::move(readers)), false);
    }
  }
  for (const std::vector<size_t>& group : storages.inputGroups) {
    std::vector<uint32_t> cells;
    for (const size_t each : group)
      cells.push_back(storages.inputs[each].cell);
    if (sharing.inputs)
      atOnce(distinct(std::move(cells)), false);
  }
  for (const std::vector<size_t>& group : storages.outputGroups) {
    std::vector<uint32_t> cells;
    for (const size_t each : group)
      std::ranges::copy(writersOf(storages.outputs[each]), std::back_inserter(cells));
    if (sharing.outputs)
      atOnce(distinct(std::move(cells)), true);
  }
  for (uint32_t a = 0; a < network.cells.size(); ++a)
    for (uint32_t b = a + 1; b < network.cells.size(); ++b)
      if (domains[a].is_disjoint(domains[b]))
        problem.exclusive.emplace_back(a, b);
  return problem;
}

namespace {

/// Between offsets of operations, with their least latencies.
struct Ways {
  static constexpr int64_t none = INT64_MIN / 4;
  std::vector<int64_t> latency;           // the least
  std::vector<std::vector<int64_t>> most; // the longest way from the first to the second; none

  /// By Floyd and Warshall.
  Ways(const ScheduleProblem& problem, int64_t interval)
      : most(problem.operations.size(), std::vector<int64_t>(problem.operations.size(), none)) {
    const size_t count = problem.operations.size();
    for (size_t i = 0; i < count; ++i) {
      most[i][i] = 0;
      int64_t least = INT64_MAX;
      for (const ScheduleProblem::Choice& choice : problem.operations[i].choices)
        least = std::min(least, choice.latency);
      latency.push_back(least);
    }
    for (const ScheduleProblem::Constraint& each : problem.constraints) {
      const int64_t length = each.cycles - interval * each.iterations + (each.fromArrival ? latency[each.from] : 0) -
                             (each.toArrival ? latency[each.to] : 0);
      most[each.from][each.to] = std::max(most[each.from][each.to], length);
    }
    for (size_t k = 0; k < count; ++k)
      for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j)
          if (most[i][k] != none && most[k][j] != none)
            most[i][j] = std::max(most[i][j], most[i][k] + most[k][j]);
  }
};

} // namespace

std::function<int64_t(const Reading&)> slackOf(const Network& network, const std::vector<int64_t>& leastTiles,
                                               const ScheduleProblem& problem, int64_t interval) {
  std::vector<uint32_t> variables; // by cell
  for (const Cell& cell : network.cells)
    variables.push_back(cell.variable);
  return
      [ways = Ways(problem, interval), variables = std::move(variables), leastTiles, interval](const Reading& reading) {
        int64_t slack = INT64_MAX;
        for (size_t writer = 0; writer < variables.size() && reading.cell < variables.size(); ++writer)
          if (variables[writer] == reading.variable && ways.most[reading.cell][writer] != Ways::none)
            slack = std::min(slack, interval * leastIterations(reading.distance, leastTiles) -
                                        ways.most[reading.cell][writer] - ways.latency[writer]);
        return slack;
      };
}

std::set<std::pair<uint32_t, uint32_t>> longUses(const Storages& storages, const ScheduleProblem& problem,
                                                 int64_t interval) {
  const Ways ways(problem, interval);
  std::set<std::pair<uint32_t, uint32_t>> found;
  for (const Storage& storage : storages.storages)
    if (storage.kind == Storage::Kind::Register)
      for (const uint32_t writer : storage.writers)
        for (const uint32_t reader : storage.readers)
          if (ways.most[writer][reader] != Ways::none &&
              ways.most[writer][reader] - ways.latency[writer] > interval - 1)
            found.insert({storage.variable, reader});
  return found;
}

} // namespace strata::array
