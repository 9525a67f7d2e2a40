// See map.h. run() reads from top to bottom as the document's section 5 does.
#include "compiler/target/array/map.h"
#include "compiler/equations/order.h"
#include "compiler/target/array/emit.h"
#include "compiler/target/array/estimate.h"
#include "compiler/target/array/map_remarks.h"
#include "compiler/target/array/reorder.h"
#include "compiler/target/array/rewrite.h"
#include "compiler/target/array/verify_meaning.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <numeric>
#include <set>
#include <tuple>

namespace strata::array {

using equations::Dependence;
using equations::Graph;

STRATA_DIAGNOSTIC(unknownLoop, Error, "array-loop", "'{0}' has no loop '{1}'; its loops are {2}");
STRATA_DIAGNOSTIC(sameLoop, Error, "array-loop-twice", "loop '{0}' is named twice for {1}");
STRATA_DIAGNOSTIC(incompleteOrder, Error, "array-order-loops", "the order names {0} of the {1} loops of '{2}'");
STRATA_DIAGNOSTIC(noOrder, Error, "array-order",
                  "no order of its loops lets one element execute '{0}' iteration by iteration");
STRATA_DIAGNOSTIC(illegalOrder, Error, "array-order-illegal",
                  "in this order an iteration of '{0}' would use a value of a later one");
STRATA_DIAGNOSTIC(unboundedLoop, Error, "array-loop-bound", "a loop of '{0}' has no bound for some sizes");
STRATA_DIAGNOSTIC(noSchedule, Error, "array-schedule", "'{0}' finds no schedule on this array: {1}");
STRATA_DIAGNOSTIC(tooHard, Error, "array-too-hard", "'{0}' is too hard to map, in {1}: {2}");
STRATA_DIAGNOSTIC(distributedLoops, Remark, "array-distributed", "{0}");
STRATA_DIAGNOSTIC(notCompared, Remark, "array-not-compared",
                  "whether the mapping of '{0}' computes its equations is not decided");
STRATA_DIAGNOSTIC(tooManyLoops, Error, "array-loops", "'{0}' has no loop; an array executes at least one");

namespace {

class Mapper {
public:
  Mapper(const Graph& source, const machine::ProcessorArray& array, const MapOptions& options,
         DiagnosticEngine& diagnostics)
      : source_(source), array_(array), options_(options), diagnostics_(diagnostics), region_(array) {
    if (options.region)
      std::tie(region_.rows, region_.columns) = *options.region;
  }

  std::optional<Symbolic> run(const std::string& machineName);
  /// What is being done, for messages.
  const char* step() const { return step_; }

private:
  struct Choice {
    std::optional<uint32_t> row, column; // iterators of the source
    int64_t inside = 0;                  // inputs and outputs that have to be led through elements
  };
  std::optional<uint32_t> loopNamed(const std::string& name, bool& isGood);
  bool named();
  bool orderNamed();
  std::vector<Choice> candidates(const Graph& graph, const std::vector<Dependence>& dependences);
  std::optional<LoopOrder> order(const Choice& choice, const std::vector<Dependence>& dependences,
                                 DiagnosticEngine& diagnostics);
  std::string loopsText(const Choice& choice) const;
  struct Copied {
    Network network;
    Slack slack;          // of its uses without copies
    int64_t interval = 1; // if nothing but units and recurrences counts
    int64_t lowerBound = 1;
  };
  std::list<Copied> withCopies(const Network& plain, const Distribution& distribution,
                               const std::vector<int64_t>& least, DiagnosticEngine& diagnostics);
  struct Found {
    std::optional<Symbolic> made;
    ProvedInterval proved;
    std::optional<Diagnostic> tooFew; // what there is too little of, when nothing was made
    std::string why;                  // there is no schedule
  };
  bool emitted(Copied& copied, const std::vector<LoopRange>& limits, const Distribution& distribution,
               const std::vector<int64_t>& least, const std::string& machineName, Found& found,
               DiagnosticEngine& diagnostics);
  std::optional<Schedule> solved(const ScheduleProblem& problem, const ScheduleOptions& options, std::string& why);
  /// What emission makes of a schedule that verifies, or says of it.
  using Emission = std::function<std::optional<Symbolic>(const Schedule&)>;
  std::optional<Symbolic> withFewerRegisters(const ScheduleProblem& problem, int64_t lowerBound,
                                             const Emission& emission);
  std::optional<Symbolic> attempt(const Graph& graph, const std::vector<Dependence>& dependences, const Choice& choice,
                                  const std::string& machineName, DiagnosticEngine& diagnostics);

  const Graph& source_;
  const machine::ProcessorArray& array_;
  const MapOptions& options_;
  DiagnosticEngine& diagnostics_;
  machine::ProcessorArray region_; // the array, as large as instances may be
  Choice choice_;
  std::vector<uint32_t> wished_;
  std::vector<int64_t> least_; // by iterator of the source
  std::vector<Skew> skews_;
  /// Questions that were asked before. Most are again for other loops that are distributed.
  struct Answer {
    ScheduleProblem problem;
    ScheduleOptions options;
    std::optional<Schedule> schedule;
    std::string why;
  };
  std::vector<Answer> answers_;
  unsigned unanswered_ = 0; // of them without a schedule that is proved to be the best
  const char* step_ = "finding its dependences";
};

std::optional<uint32_t> Mapper::loopNamed(const std::string& name, bool& isGood) {
  const auto found = std::find(source_.iterators.begin(), source_.iterators.end(), name);
  if (found != source_.iterators.end())
    return static_cast<uint32_t>(found - source_.iterators.begin());
  std::string all;
  for (const std::string& each : source_.iterators)
    all += (all.empty() ? "'" : ", '") + each + "'";
  diagnostics_.report(unknownLoop, source_.location, source_.name, name, all).help("name one of its loops");
  isGood = false;
  return std::nullopt;
}

/// The loops that the options name.
bool Mapper::named() {
  bool isGood = true;
  if (options_.rowLoop && !options_.rowLoop->empty())
    choice_.row = loopNamed(*options_.rowLoop, isGood);
  if (options_.columnLoop && !options_.columnLoop->empty())
    choice_.column = loopNamed(*options_.columnLoop, isGood);
  if (isGood && choice_.row && choice_.row == choice_.column) {
    diagnostics_.report(sameLoop, source_.location, *options_.rowLoop, "rows and columns")
        .help("distribute two different loops, or '-' for one of them");
    return false;
  }
  least_.assign(source_.iterators.size(), 1);
  for (const auto& [name, tile] : options_.leastTiles)
    if (const std::optional<uint32_t> loop = loopNamed(name, isGood))
      least_[*loop] = std::max<int64_t>(tile, 1);
  for (const MapOptions::Skew& each : options_.skews) {
    const std::optional<uint32_t> loop = loopNamed(each.loop, isGood), by = loopNamed(each.by, isGood);
    if (isGood && loop == by) {
      diagnostics_.report(sameLoop, source_.location, each.loop, "a skew").help("skew a loop by another one");
      isGood = false;
    }
    if (isGood)
      skews_.push_back({*loop, *by, each.factor});
  }
  for (const std::string& name : options_.order)
    if (const std::optional<uint32_t> loop = loopNamed(name, isGood)) {
      if (std::find(wished_.begin(), wished_.end(), *loop) != wished_.end()) {
        diagnostics_.report(sameLoop, source_.location, name, "the order").help("name every loop once");
        isGood = false;
      }
      wished_.push_back(*loop);
    }
  if (isGood && !wished_.empty() && wished_.size() != source_.iterators.size()) {
    diagnostics_.report(incompleteOrder, source_.location, wished_.size(), source_.iterators.size(), source_.name)
        .help("name every loop once, the outermost first");
    return false;
  }
  return isGood;
}

/// Which loops may be distributed when nobody said, the most promising first: two, those first where fewer inputs and
/// outputs have to be led through elements to a border; then one, those first along which less is communicated; then
/// none.
std::vector<Mapper::Choice> Mapper::candidates(const Graph& graph, const std::vector<Dependence>& dependences) {
  if (options_.rowLoop || options_.columnLoop)
    return {choice_};
  const Network network(graph);
  const std::optional<std::vector<LoopRange>> limits = ranges(network);
  const size_t loops = graph.iterators.size();
  if (!limits || network.cells.empty())
    return {{std::nullopt, 0}};
  const auto crossing = [&](uint32_t loop) {
    return std::ranges::count_if(dependences, [&](const Dependence& each) { return each.distance[loop] != 0; });
  };
  // Elements along both loops at once would have to be routed through other elements.
  const auto isAtBorder = [&](const std::vector<equations::Affine>& index, const isl::set& domain, bool isOutput,
                              uint32_t row, uint32_t column) {
    for (const uint32_t loop : {row, column}) {
      const bool depends = std::any_of(index.begin(), index.end(), [&](const equations::Affine& each) {
        return loop < each.iterators.size() && each.iterators[loop] != 0;
      });
      if (!depends && !isOutput)
        return true;
      std::vector<int64_t> step = network.zero();
      step[loop] = 1;
      std::vector<int64_t> back = network.zero();
      back[loop] = -1;
      if (domain.is_disjoint((*limits)[loop].above.apply(network.polyhedra.translation(step))) ||
          domain.is_disjoint((*limits)[loop].below.apply(network.polyhedra.translation(back))))
        return true;
    }
    return false;
  };
  struct Ranked {
    int64_t crossing = 0; // uses of other tiles' values
    Choice choice;
  };
  std::vector<Ranked> pairs, single;
  for (uint32_t row = 0; row < loops; ++row) {
    const bool isColumn = region_.columns == 1 && region_.rows > 1;
    single.push_back({crossing(row), isColumn ? Choice{row, std::nullopt} : Choice{std::nullopt, row}});
    for (uint32_t column = row + 1; column < loops && region_.rows > 1 && region_.columns > 1; ++column) {
      int64_t inside = 0;
      for (const Cell& cell : network.cells)
        for (const Alternative& each : cell.alternatives)
          for (const equations::Operand& operand : each.operands)
            if (const auto* input = std::get_if<equations::InputUse>(&operand))
              inside += isAtBorder(input->index, each.domain, false, row, column) ? 0 : 1;
      for (const NetworkVariable& variable : network.variables)
        for (const OutputWrite& write : variable.writes)
          inside += isAtBorder(write.index, write.domain, true, row, column) ? 0 : 1;
      if (inside == 0 || !options_.isShared || options_.region)
        pairs.push_back({crossing(row) + crossing(column), {row, column, inside}});
    }
  }
  std::vector<Choice> list;
  for (std::vector<Ranked>* each : {&pairs, &single}) {
    std::ranges::sort(*each, {}, [](const Ranked& one) {
      return std::tuple(one.choice.inside, one.crossing, one.choice.row, one.choice.column);
    });
    for (const Ranked& one : *each)
      list.push_back(one.choice);
  }
  list.push_back({}); // all on one element, which needs no channels
  return list;
}

std::optional<LoopOrder> Mapper::order(const Choice& choice, const std::vector<Dependence>& dependences,
                                       DiagnosticEngine& diagnostics) {
  if (!wished_.empty()) {
    LoopOrder wished{wished_, std::vector<bool>(wished_.size(), false)};
    if (isLegal(wished, dependences))
      return wished;
    // Backwards where that makes it legal.
    for (uint64_t backward = 1; backward < (uint64_t{1} << std::min<size_t>(wished_.size(), 16)); ++backward) {
      for (size_t i = 0; i < wished_.size(); ++i)
        wished.isBackward[i] = i < 16 && ((backward >> i) & 1) != 0;
      if (isLegal(wished, dependences))
        return wished;
    }
    diagnostics.report(illegalOrder, source_.location, source_.name)
        .help("leave --order out: then an order is found if there is one");
    return std::nullopt;
  }
  // Elements start soon after their neighbours if the loops along which they communicate are the innermost.
  std::vector<uint32_t> wished;
  const auto communicates = [&](std::optional<uint32_t> loop) {
    return loop && std::any_of(dependences.begin(), dependences.end(),
                               [&](const Dependence& each) { return each.distance[*loop] != 0; });
  };
  const bool areInner = (choice.row && choice.column) || communicates(choice.row) || communicates(choice.column);
  for (uint32_t loop = 0; loop < source_.iterators.size(); ++loop)
    if (!areInner || (choice.row != loop && choice.column != loop))
      wished.push_back(loop);
  for (const std::optional<uint32_t>& loop : {choice.row, choice.column})
    if (areInner && loop)
      wished.push_back(*loop);
  std::optional<LoopOrder> found = legalOrder(wished, dependences);
  if (!found) {
    DiagnosticBuilder report = diagnostics.report(noOrder, source_.location, source_.name);
    // One use for each distance, of those that lead to another iteration.
    std::set<std::vector<int64_t>> told;
    for (const Dependence& each : dependences) {
      if (isZero(each.distance) || told.size() == 6 || !told.insert(each.distance).second)
        continue;
      std::string distance;
      for (const int64_t value : each.distance)
        distance += (distance.empty() ? "(" : ", ") + std::to_string(value);
      const equations::Node& to = source_.nodes[each.to];
      report.note("'" + (to.isOutput ? source_.outputs[to.target].name : source_.variables[to.target].name) +
                  "' uses a value at distance " + distance + ")");
    }
    report.help("write the equations such that values are handed on in one direction of each loop");
  }
  return found;
}

/// Lets more share what is lacking; false where that helps nothing.
bool sharesMore(Sharing& sharing, Lack lack, const Storages& storages) {
  const auto take = [](bool& isOn, const std::vector<std::vector<size_t>>& groups) {
    if (isOn || std::ranges::all_of(groups, [](const std::vector<size_t>& each) { return each.size() == 1; }))
      return false;
    return isOn = true;
  };
  if (lack == Lack::Nothing)
    return false;
  if (take(sharing.queues, storages.queueGroups))
    return true;
  if ((lack == Lack::Inputs || lack == Lack::Routes) && take(sharing.inputs, storages.inputGroups))
    return true;
  return (lack == Lack::Outputs || lack == Lack::Routes) && take(sharing.outputs, storages.outputGroups);
}

/// Of schedules that are asked for how often iterations can begin, and not for what happens when.
constexpr ScheduleOptions onlyInterval = {.isShort = false};

uint64_t destinationsOf(const machine::ProcessorArray& array) {
  return std::max<uint64_t>(array.destinations, 1);
}

void reportTooHard(const Graph& graph, const char* step, const isl::exception& exception,
                   DiagnosticEngine& diagnostics) {
  const std::string said = exception.what(); // with a place in a source file in front
  const size_t place = said.rfind(": ");
  diagnostics
      .report(tooHard, graph.location, graph.name, step, place == std::string::npos ? said : said.substr(place + 2))
      .help("simplify the conditions of its equations");
}

/// Whether an error is not the user's.
bool isOurs(const DiagnosticEngine& diagnostics) {
  return std::ranges::any_of(diagnostics.all(), [](const Diagnostic& each) {
    return std::string_view(each.kind->code).ends_with("-internal");
  });
}

/// solve(), which is asked once for each problem.
std::optional<Schedule> Mapper::solved(const ScheduleProblem& problem, const ScheduleOptions& options,
                                       std::string& why) {
  auto known = std::ranges::find_if(
      answers_, [&](const Answer& each) { return each.options == options && each.problem == problem; });
  if (known == answers_.end()) {
    known = answers_.insert(known, {problem, options, std::nullopt, ""});
    // Where the solver gives up again and again, most of the time would go into questions that it will not answer.
    constexpr unsigned mostHalvings = 4;
    ScheduleOptions limited = options;
    limited.conflicts >>= std::min(unanswered_, mostHalvings);
    known->schedule = solve(problem, limited, known->why);
    if (!known->schedule || known->schedule->lowerBound < known->schedule->interval)
      ++unanswered_;
  }
  why = known->why;
  return known->schedule;
}

/// From schedules that let fewer values be alive at once: by one unit of each class, then with larger intervals, too.
std::optional<Symbolic> Mapper::withFewerRegisters(const ScheduleProblem& problem, int64_t lowerBound,
                                                   const Emission& emission) {
  ScheduleProblem narrow = problem;
  for (ScheduleProblem::Unit& unit : narrow.units)
    unit.count = std::min(unit.count, 1u);
  std::string why;
  ScheduleOptions options;
  for (size_t tries = 0; tries < 4; ++tries) {
    std::optional<Schedule> schedule = solved(narrow, options, why);
    if (!schedule)
      return std::nullopt;
    schedule->lowerBound = lowerBound;
    if (std::optional<Symbolic> made = emission(*schedule))
      return made;
    options.leastInterval = schedule->interval + std::max<int64_t>(schedule->interval / 4, 1);
  }
  return std::nullopt;
}

/// "'i' over rows, 'j' over columns".
std::string Mapper::loopsText(const Choice& choice) const {
  const auto quoted = [&](uint32_t loop) { return "'" + source_.iterators[loop] + "'"; };
  if (choice.row && choice.column)
    return quoted(*choice.row) + " over rows and " + quoted(*choice.column) + " over columns";
  if (!choice.row && !choice.column)
    return "nothing";
  return choice.row ? quoted(*choice.row) + " over rows" : quoted(*choice.column) + " over columns";
}

std::optional<Symbolic> Mapper::run(const std::string& machineName) {
  if (source_.iterators.empty()) {
    diagnostics_.report(tooManyLoops, source_.location, source_.name).help("write it with a loop of one iteration");
    return std::nullopt;
  }
  if (!named())
    return std::nullopt;
  Graph graph = skewed(source_, skews_);
  std::vector<Dependence> dependences = equations::dependences(graph);
  if (skews_.empty() && wished_.empty()) {
    std::vector<uint32_t> loops(source_.iterators.size());
    std::iota(loops.begin(), loops.end(), 0u);
    if (const std::optional<std::vector<Skew>> skews = skewsForOrder(loops, dependences)) {
      graph = skewed(source_, *skews);
      dependences = equations::dependences(graph);
      tellSkews(source_, *skews, "without that no order of the loops lets an element execute iteration by iteration",
                diagnostics_);
    }
  }
  step_ = "choosing the loops that are distributed";
  // Of the choices that work the one with the fewest cycles, with its remarks; if none does, what is wrong with the
  // first that distributes one loop. Few of them are looked at, since each is a mapping of its own.
  constexpr size_t mostPairs = 3, mostSingle = 1;
  struct Made {
    Choice choice;
    Symbolic symbolic;
    std::vector<Diagnostic> said;
    std::optional<int64_t> cycles = {}; // estimated
  };
  std::vector<Made> all;
  std::optional<std::vector<Diagnostic>> wrong;
  bool isWrongPair = false;
  size_t pairs = 0, single = 0;
  const std::vector<Choice> choices = candidates(graph, dependences);
  for (const Choice& choice : choices) {
    const bool isPair = choice.row && choice.column, isNone = !choice.row && !choice.column;
    const bool isAsked = options_.region && pairs > 0; // for both rows and columns
    if (isPair ? pairs == mostPairs : single == mostSingle || isAsked || (isNone && !all.empty()))
      continue;
    DiagnosticEngine unsaid(diagnostics_.sources());
    unsaid.enableRemarks(true);
    std::optional<Symbolic> made;
    try {
      made = attempt(graph, dependences, choice, machineName, unsaid);
    } catch (const isl::exception& exception) { // another choice may be simpler
      reportTooHard(source_, step_, exception, unsaid);
    }
    if (isOurs(unsaid)) {
      wrong = unsaid.all();
      all.clear();
      break;
    }
    if (!made) {
      if (!wrong || (isWrongPair && !isPair))
        wrong = unsaid.all();
      isWrongPair = isPair;
      continue;
    }
    ++(isPair ? pairs : single);
    all.push_back({choice, std::move(*made), unsaid.all()});
  }
  if (all.empty()) {
    for (const Diagnostic& each : *wrong) // there is a choice at least
      diagnostics_.add(each);
    return std::nullopt;
  }
  // With sizes that fill a small array, and not a large one; with smaller ones where none has an instance.
  int64_t size = std::min<int64_t>(4 * static_cast<int64_t>(std::max(region_.rows, region_.columns)), 32);
  const auto isEstimated = [](const Made& each) { return each.cycles.has_value(); };
  for (; all.size() > 1 && size > 1 && std::ranges::none_of(all, isEstimated); size /= 2)
    for (Made& each : all)
      each.cycles = estimatedCycles(each.symbolic, region_, options_.link, size);
  // Two loops for which inputs and outputs have to be led through elements take many of these, wires and borders, which
  // leaves less for other programs: they are worth it where one loop takes twice as long.
  auto best = std::ranges::min_element(all, {}, [](const Made& each) {
    constexpr int64_t never = std::numeric_limits<int64_t>::max();
    return !each.cycles ? never : *each.cycles * (each.choice.inside > 0 ? 2 : 1);
  });
  for (const Diagnostic& each : best->said)
    diagnostics_.add(each);
  if (choices.size() > 1) {
    std::string message = "'" + source_.name + "' is distributed with " + loopsText(best->choice);
    if (best->cycles)
      message += ": " + std::to_string(*best->cycles) + " cycles, estimated for sizes of " + std::to_string(2 * size);
    for (const Made& each : all)
      if (&each != &*best)
        message += "; with " + loopsText(each.choice) +
                   (each.cycles ? ": " + std::to_string(*each.cycles) : ": impossible for these sizes");
    diagnostics_.report(distributedLoops, source_.location, message).help("--distribute chooses others");
  }
  return std::move(best->symbolic);
}

/// Copies for what instructions have too few destinations for, such that the interval is small: where users at one
/// distance share a copy, which a recurrence may have to wait for, and that is too late, some of them get registers of
/// their own. The best first, the one last that needs the fewest registers. Empty on errors (reported). No interval is
/// smaller than the bound, whichever copies are made: the operations' recurrences without copies, which may come to lie
/// in them and need not; and the units' time with the fewest copies that were found.
std::list<Mapper::Copied> Mapper::withCopies(const Network& plain, const Distribution& distribution,
                                             const std::vector<int64_t>& least, DiagnosticEngine& diagnostics) {
  std::string why;
  const auto problem = [&](const Network& network) {
    return problemOf(network, storagesOf(network, distribution.loops()), array_, least, false, {}, diagnostics);
  };
  const std::optional<ScheduleProblem> without = problem(plain);
  if (!without)
    return {};
  Slack slack = [](const Reading&) { return std::numeric_limits<int64_t>::max(); };
  int64_t bound = 1;
  if (const std::optional<Schedule> schedule = solved(*without, onlyInterval, why)) {
    bound = schedule->lowerBound;
    slack = slackOf(plain, least, *without, schedule->interval);
  }
  std::list<Copied> list;
  int64_t unitsBound = std::numeric_limits<int64_t>::max();
  std::vector<UseGroup> groups;
  // Every choice of a few groups, else each group alone.
  constexpr size_t few = 4;
  for (size_t choice = 0;
       choice == 0 || choice < (groups.size() > few ? groups.size() + 1 : size_t{1} << groups.size()); ++choice) {
    std::set<UseGroup> apart;
    for (size_t i = 0; i < groups.size(); ++i)
      if (groups.size() > few ? choice == i + 1 : ((choice >> i) & 1) != 0)
        apart.insert(groups[i]);
    Copied tried{plain, slack};
    const std::vector<UseGroup> together = limitDestinations(tried.network, destinationsOf(array_), slack, apart);
    if (choice == 0)
      groups = together;
    std::optional<ScheduleProblem> with = problem(tried.network);
    if (!with)
      return {};
    const std::optional<Schedule> schedule = solved(*with, onlyInterval, why);
    tried.interval = schedule ? schedule->interval : std::numeric_limits<int64_t>::max();
    with->constraints.clear();
    if (const std::optional<Schedule> units = solved(*with, onlyInterval, why))
      unitsBound = std::min(unitsBound, units->lowerBound);
    const bool isEnough = tried.interval <= bound;
    if (list.empty() || tried.interval < list.back().interval) {
      const auto isBetter = [&](const Copied& other) {
        return std::pair(tried.interval, tried.network.cells.size()) <
               std::pair(other.interval, other.network.cells.size());
      };
      list.insert(std::ranges::find_if(list, isBetter), std::move(tried));
    }
    if (isEnough)
      break;
  }
  // The last is where all share, which needs the fewest registers.
  constexpr size_t worthTrying = 4;
  while (list.size() > worthTrying)
    list.erase(std::prev(list.end(), 2));
  if (unitsBound != std::numeric_limits<int64_t>::max())
    bound = std::max(bound, unitsBound);
  for (Copied& each : list)
    each.lowerBound = bound;
  return list;
}

/// From a network with copies: schedules, and what becomes of them. Uses that last longer than an interval are found by
/// scheduling; then they go through FIFOs, and it is done again. What may share FIFOs and ports is made to where there
/// are too few. False on errors that no other copies would change (reported).
bool Mapper::emitted(Copied& copied, const std::vector<LoopRange>& limits, const Distribution& distribution,
                     const std::vector<int64_t>& least, const std::string& machineName, Found& found,
                     DiagnosticEngine& diagnostics) {
  Network& network = copied.network;
  Sharing sharing;
  for (size_t round = 0; round < 4;) {
    step_ = "finding what holds its values";
    limitDestinations(network, destinationsOf(array_), copied.slack);
    const Storages storages = storagesOf(network, distribution.loops());
    std::optional<ScheduleProblem> problem = problemOf(network, storages, array_, least, true, sharing, diagnostics);
    if (!problem)
      return false;
    const std::optional<ScheduleProblem> relaxed = problemOf(network, storages, array_, least, false, {}, diagnostics);
    const std::optional<Schedule> bound = solved(*relaxed, onlyInterval, found.why);
    if (!bound)
      break;
    std::optional<Schedule> schedule = solved(*problem, {}, found.why);
    if (schedule) {
      const int64_t proved = schedule->lowerBound;
      schedule->lowerBound = std::min(copied.lowerBound, bound->lowerBound);
      if (!found.made || schedule->interval < found.made->interval) {
        DiagnosticEngine said(diagnostics.sources());
        Lack lack = Lack::Nothing;
        const Emission emission = [&](const Schedule& each) -> std::optional<Symbolic> {
          if (const std::string broken = verify(*problem, each); !broken.empty()) {
            reportBroken(source_, broken, said);
            return std::nullopt;
          }
          step_ = "giving it registers, routes and conditions";
          return emit({network, storages, *problem, each, limits, least, distribution}, machineName, array_, said,
                      lack);
        };
        if (std::optional<Symbolic> made = emission(*schedule)) {
          found.made = std::move(made);
          found.proved = {proved, false};
        } else if (!found.made) {
          found.tooFew = said.all().front();
          if (sharesMore(sharing, lack, storages))
            continue;
          if (lack == Lack::Registers) {
            found.made = withFewerRegisters(*problem, schedule->lowerBound, emission);
            found.proved = {proved, true};
          }
        }
        if (isOurs(said)) {
          for (const Diagnostic& each : said.all())
            diagnostics.add(each);
          return false;
        }
        if (!found.made)
          break;
      }
      if (schedule->interval <= bound->interval)
        break;
    }
    const auto longOnes = longUses(storages, *relaxed, bound->interval);
    const size_t before = network.queued.size();
    network.queued.insert(longOnes.begin(), longOnes.end());
    if (network.queued.size() == before)
      break;
    ++round;
  }
  return true;
}

std::optional<Symbolic> Mapper::attempt(const Graph& unordered, const std::vector<Dependence>& dependences,
                                        const Choice& choice, const std::string& machineName,
                                        DiagnosticEngine& diagnostics) {
  const std::optional<LoopOrder> loopOrder = order(choice, dependences, diagnostics);
  if (!loopOrder)
    return std::nullopt;
  std::vector<uint32_t> distributed;
  for (const std::optional<uint32_t>& loop : {choice.row, choice.column})
    if (loop)
      distributed.push_back(*loop);
  std::optional<std::vector<Skew>> forward;
  if (options_.isForward)
    forward = skewsForTiles(*loopOrder, distributed, dependences);
  const Graph graph = reordered(forward ? skewed(unordered, *forward) : unordered, *loopOrder);
  Distribution distribution;
  std::vector<int64_t> least;
  for (uint32_t i = 0; i < loopOrder->loops.size(); ++i) {
    if (choice.row == loopOrder->loops[i])
      distribution.rowLoop = i;
    if (choice.column == loopOrder->loops[i])
      distribution.columnLoop = i;
    least.push_back(least_[loopOrder->loops[i]]);
  }

  step_ = "rewriting it for the array's operations and registers";
  // What the array's operations and registers ask of the equations.
  Network plain(graph);
  replaceOperations(plain, array_);
  foldConstants(plain);
  forwardCopies(plain);
  trim(plain);
  forwardCopies(plain);
  step_ = "finding the ranges of its loops";
  const std::optional<std::vector<LoopRange>> limits = ranges(plain);
  if (!limits) {
    diagnostics.report(unboundedLoop, source_.location, source_.name)
        .help("give every loop a lower and an upper bound in its 'where'");
    return std::nullopt;
  }
  step_ = "handing its inputs on from element to element";
  passInputs(plain, *limits, distribution.loops());
  forwardCopies(plain);
  step_ = "finding a bound of its interval";
  std::list<Copied> copies = withCopies(plain, distribution, least, diagnostics);
  if (copies.empty())
    return std::nullopt;
  Found found;
  for (Copied& each : copies)
    if (!(found.made && found.made->interval <= each.interval) &&
        !emitted(each, *limits, distribution, least, machineName, found, diagnostics))
      return std::nullopt;
  std::optional<Symbolic>& best = found.made;
  if (!best && found.tooFew)
    diagnostics.add(std::move(*found.tooFew));
  else if (!best)
    diagnostics.report(noSchedule, source_.location, source_.name, found.why)
        .help("an array with more units, or fewer operations in an iteration");
  if (best) {
    std::string broken = verify(*best, array_).broken;
    if (broken.empty() && options_.isCompared) {
      Verdict verdict = verifyMeaning(graph, *best);
      if (!verdict.isDecided)
        diagnostics.report(notCompared, source_.location, source_.name);
      broken = std::move(verdict.broken);
    }
    if (!broken.empty()) {
      reportBroken(source_, broken, diagnostics);
      return std::nullopt;
    }
  }
  if (best)
    tellInterval(source_, *best, found.proved, diagnostics);
  if (best && forward)
    tellSkews(source_, *forward, "otherwise elements would wait for each other in a circle", diagnostics_);
  return best;
}

} // namespace

std::optional<Symbolic> map(const Graph& graph, const std::string& machineName, const machine::ProcessorArray& array,
                            const MapOptions& options, DiagnosticEngine& diagnostics) {
  Mapper mapper(graph, array, options, diagnostics);
  try {
    return mapper.run(machineName);
  } catch (const isl::exception& exception) {
    reportTooHard(graph, mapper.step(), exception, diagnostics);
    return std::nullopt;
  }
}

} // namespace strata::array
