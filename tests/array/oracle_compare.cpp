// See oracle.h: a configuration's programs are followed as an element would, with the signals that it would see.
#include "tests/array/oracle.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

namespace strata::array::oracle {

namespace {

constexpr int64_t mostIterations = 200'000; // that are followed one by one
constexpr size_t mostDifferences = 10;

using Point = std::vector<int64_t>;

std::string text(const Point& values) {
  std::string made;
  for (const int64_t value : values)
    made += (made.empty() ? "(" : ", ") + std::to_string(value);
  return made + ")";
}

std::vector<int64_t> coordinates(const isl::point& point, size_t dimensions) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < dimensions; ++i)
    values.push_back(isl_val_get_num_si(
        isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(i))).get()));
  return values;
}

std::string print(const Functional& functional) {
  return array::print({functional, {}});
}

class Comparison {
public:
  Comparison(const Symbolic& symbolic, const Result& expected, const Configuration& configuration)
      : symbolic_(symbolic), expected_(expected), configuration_(configuration) {}

  std::string run() {
    if (!expected_.error.empty()) {
      differ("the oracle refuses: " + expected_.error);
      return std::move(differences_);
    }
    if (!shape() || !elements())
      return std::move(differences_);
    starts();
    dimensions_ = expected_.extents.size();
    iterations_ = product(expected_.extents);
    const bool isSmall = iterations_ <= mostIterations && product(configuration_.extents) <= mostIterations;
    if (isSmall)
      for (const Signal& signal : configuration_.signals) {
        std::vector<uint32_t>& values = signals_.emplace_back(static_cast<size_t>(product(configuration_.extents)), 0);
        for (const Box& box : signal.ones)
          paint(values, configuration_.extents, box, 1);
      }
    // By class of the oracle, then by class of the configuration.
    std::map<size_t, std::map<uint32_t, Point>> pairs;
    for (size_t row = 0; row < expected_.rows; ++row)
      for (size_t column = 0; column < expected_.columns; ++column)
        pairs[expected_.classOf(row, column)].try_emplace(
            elementClass_[row * expected_.columns + column],
            Point{static_cast<int64_t>(row), static_cast<int64_t>(column)});
    for (const auto& [expectedClass, found] : pairs) {
      if (found.size() > 1)
        differ("elements " + text(found.begin()->second) + " and " + text(std::next(found.begin())->second) +
               " are of two classes and should be of one");
      for (size_t unit = 0; unit < expected_.programs[expectedClass].size(); ++unit) {
        const UnitProgram& program = expected_.programs[expectedClass][unit];
        std::vector<uint32_t> kernels;
        if (isSmall)
          kernels = kernelsOf(program);
        for (const auto& [processorClass, element] : found) {
          if (count_ >= mostDifferences)
            return std::move(differences_);
          const std::vector<Program>& programs = configuration_.classes[processorClass].programs;
          if (unit >= programs.size()) {
            differ("class " + std::to_string(processorClass) + " has no program for unit " + std::to_string(unit));
            continue;
          }
          where_ = "element " + text(element) + ", unit " + std::to_string(unit) + ", ";
          if (isSmall)
            follow(program, kernels, programs[unit]);
          else
            sample(program, programs[unit]);
        }
      }
    }
    if (configuration_.classes.size() != expected_.classes())
      differ("there are " + std::to_string(configuration_.classes.size()) + " classes, expected " +
             std::to_string(expected_.classes()));
    return std::move(differences_);
  }

private:
  bool differ(const std::string& what) {
    if (count_++ < mostDifferences)
      differences_ += what + "\n";
    return false;
  }
  static int64_t product(const std::vector<int64_t>& values) {
    return std::accumulate(values.begin(), values.end(), int64_t{1}, std::multiplies<int64_t>());
  }

  bool shape();
  bool elements();
  void starts();
  static void paint(std::vector<uint32_t>& values, const std::vector<int64_t>& extents, const Box& box, uint32_t value);
  std::vector<uint32_t> kernelsOf(const UnitProgram& program) const;
  bool isOne(uint32_t signal, int64_t iteration) const;
  enum class Way { On, Halted, Broken };
  Way issue(const Program& program, const Kernel& kernel, int64_t iteration, uint32_t& position);
  Way branch(const Branch& branch, bool isLast, int64_t iteration, uint32_t& position);
  void follow(const UnitProgram& expected, const std::vector<uint32_t>& kernels, const Program& program);
  void sample(const UnitProgram& expected, const Program& program);
  /// What comes after the last iteration, where the last kernel is also another's and cannot halt itself.
  Kernel end() const { return {{}, {}, std::vector<Functional>(static_cast<size_t>(symbolic_.interval))}; }
  std::vector<int64_t> someOf(const isl::set& iterations) const;
  int64_t number(const Point& iteration) const;

  const Symbolic& symbolic_;
  const Result& expected_;
  const Configuration& configuration_;
  std::string differences_;
  std::string where_;   // element and unit, at the beginning of messages
  std::string problem_; // why a way is broken
  size_t count_ = 0, dimensions_ = 0;
  int64_t iterations_ = 0;
  std::vector<uint32_t> elementClass_;         // of the configuration, by row, then by column
  std::vector<std::vector<uint32_t>> signals_; // 1 or 0 by iteration; none when there are too many
};

bool Comparison::shape() {
  const Configuration& made = configuration_;
  if (made.rows != expected_.rows || made.columns != expected_.columns)
    return differ("the region is " + std::to_string(made.rows) + " x " + std::to_string(made.columns));
  if (made.interval != symbolic_.interval)
    return differ("the interval is " + std::to_string(made.interval) + ", expected " +
                  std::to_string(symbolic_.interval));
  // How long the outermost dimension is changes no iteration's number; the programs show whether it is too short.
  if (made.extents.size() != expected_.extents.size() || made.extents[0] < expected_.tile[0] ||
      made.extents[0] > expected_.extents[0] ||
      !std::equal(made.extents.begin() + 1, made.extents.end(), expected_.extents.begin() + 1))
    return differ("the extents are " + text(made.extents) + ", expected " + text(expected_.extents));
  for (const Signal& signal : made.signals)
    for (const Box& box : signal.ones)
      if (box.size() != made.extents.size())
        return differ("a signal has boxes of " + std::to_string(box.size()) + " dimensions");
  return true;
}

bool Comparison::elements() {
  constexpr uint32_t none = UINT32_MAX;
  elementClass_.assign(size_t{expected_.rows} * expected_.columns, none);
  for (const ClassRegion& region : configuration_.regions) {
    if (region.processorClass >= configuration_.classes.size())
      return differ("there is no class " + std::to_string(region.processorClass));
    if (region.rows.first < 0 || region.rows.end > expected_.rows || region.columns.first < 0 ||
        region.columns.end > expected_.columns)
      return differ("a rectangle of class " + std::to_string(region.processorClass) + " leaves the region");
    for (int64_t row = region.rows.first; row < region.rows.end; ++row)
      for (int64_t column = region.columns.first; column < region.columns.end; ++column) {
        uint32_t& at = elementClass_[static_cast<size_t>(row) * expected_.columns + static_cast<size_t>(column)];
        if (at != none)
          return differ("element " + text({row, column}) + " is in two rectangles");
        at = region.processorClass;
      }
  }
  for (size_t i = 0; i < elementClass_.size(); ++i)
    if (elementClass_[i] == none)
      return differ("element " +
                    text({static_cast<int64_t>(i / expected_.columns), static_cast<int64_t>(i % expected_.columns)}) +
                    " is of no class");
  return true;
}

void Comparison::starts() {
  const Configuration& made = configuration_;
  for (const int64_t row : {int64_t{0}, int64_t{made.rows} - 1})
    for (const int64_t column : {int64_t{0}, int64_t{made.columns} - 1})
      if (made.start(row, column) < 0)
        differ("element " + text({row, column}) + " starts at cycle " + std::to_string(made.start(row, column)));
  for (size_t number = 0; number < symbolic_.arrivals.size(); ++number) {
    const Arrival& arrival = symbolic_.arrivals[number];
    int64_t left = arrival.slack, weight = symbolic_.interval;
    bool occurs = true;
    for (size_t i = expected_.tile.size(); i-- > 0; weight *= expected_.extents[i]) {
      const int64_t behind = arrival.crossing.empty() ? 0 : arrival.crossing[i];
      const int64_t apart = arrival.distance[i] - expected_.tile[i] * behind; // from iteration to iteration of tiles
      left += weight * apart;
      int64_t elements = 1;
      if (i == symbolic_.rowLoop) {
        left += made.rowStart * behind;
        elements = made.rows;
      } else if (i == symbolic_.columnLoop) {
        left += made.columnStart * behind;
        elements = made.columns;
      }
      occurs &= std::abs(apart) < expected_.tile[i] && std::abs(behind) < elements &&
                std::abs(arrival.distance[i]) < expected_.iterations[i];
    }
    if (occurs && left < 0)
      differ("arrival " + std::to_string(number) + " comes " + std::to_string(-left) + " cycles too late");
  }
}

void Comparison::paint(std::vector<uint32_t>& values, const std::vector<int64_t>& extents, const Box& box,
                       uint32_t value) {
  Box inside = box;
  for (size_t i = 0; i < inside.size(); ++i) {
    inside[i] = {std::max<int64_t>(box[i].first, 0), std::min(box[i].end, extents[i])};
    if (inside[i].first >= inside[i].end)
      return;
  }
  Point at;
  for (const Range& range : inside)
    at.push_back(range.first);
  for (bool isDone = false; !isDone;) {
    int64_t number = 0;
    for (size_t i = 0; i < at.size(); ++i)
      number = number * extents[i] + at[i];
    const int64_t run = inside.back().end - inside.back().first;
    std::fill_n(values.begin() + number, run, value);
    isDone = true;
    for (size_t i = at.size() - 1; i-- > 0 && isDone;) {
      isDone = ++at[i] >= inside[i].end;
      if (isDone)
        at[i] = inside[i].first;
    }
  }
}

/// The kernel of every iteration.
std::vector<uint32_t> Comparison::kernelsOf(const UnitProgram& program) const {
  std::vector<uint32_t> kernels(static_cast<size_t>(iterations_), UINT32_MAX);
  for (uint32_t kernel = 0; kernel < program.kernels.size(); ++kernel)
    program.kernels[kernel].iterations.foreach_basic_set([&](const isl::basic_set& piece) {
      const isl::set set(piece);
      Box hull;
      for (size_t i = 0; i < dimensions_; ++i) {
        const auto at = static_cast<int>(i);
        const isl::val first = isl::manage(isl_set_dim_min_val(set.copy(), at));
        const isl::val last = isl::manage(isl_set_dim_max_val(set.copy(), at));
        hull.push_back({isl_val_get_num_si(first.get()), isl_val_get_num_si(last.get()) + 1});
      }
      if (isl_set_is_box(set.get()) == isl_bool_true)
        paint(kernels, expected_.extents, hull, kernel);
      else
        set.foreach_point([&](const isl::point& point) {
          kernels[static_cast<size_t>(number(coordinates(point, dimensions_)))] = kernel;
        });
    });
  return kernels;
}

int64_t Comparison::number(const Point& iteration) const {
  int64_t made = 0;
  for (size_t i = 0; i < dimensions_; ++i)
    made = made * expected_.extents[i] + iteration[i];
  return made;
}

bool Comparison::isOne(uint32_t signal, int64_t iteration) const {
  if (!signals_.empty())
    return signals_[signal][static_cast<size_t>(iteration)] != 0;
  Point at(dimensions_);
  for (size_t i = dimensions_; i-- > 1; iteration /= expected_.extents[i])
    at[i] = iteration % expected_.extents[i];
  at[0] = iteration;
  return std::any_of(
      configuration_.signals[signal].ones.begin(), configuration_.signals[signal].ones.end(), [&](const Box& box) {
        return std::equal(box.begin(), box.end(), at.begin(),
                          [](const Range& range, int64_t x) { return range.first <= x && x < range.end; });
      });
}

Comparison::Way Comparison::branch(const Branch& branch, bool isLast, int64_t iteration, uint32_t& position) {
  const auto broken = [&](const std::string& why) {
    problem_ =
        where_ + "iteration " + std::to_string(iteration) + ", position " + std::to_string(position) + ": " + why;
    return Way::Broken;
  };
  size_t choice = 0;
  switch (branch.kind) {
  case Branch::Kind::Next:
    ++position;
    return Way::On;
  case Branch::Kind::Halt:
    return Way::Halted;
  case Branch::Kind::Goto:
    break;
  case Branch::Kind::If:
    if (!isLast)
      return broken("a condition before the interval's last slot");
    if (iteration >= product(configuration_.extents))
      return broken("a condition after the last iteration");
    for (size_t i = 0; i < branch.signals.size(); ++i) {
      if (branch.signals[i] >= configuration_.signals.size())
        return broken("there is no signal " + std::to_string(branch.signals[i]));
      choice += size_t{isOne(branch.signals[i], iteration)} << i;
    }
    break;
  }
  if (choice >= branch.targets.size())
    return broken("there is no target " + std::to_string(choice));
  position = branch.targets[choice];
  return Way::On;
}

/// One iteration from a position on, which becomes that of the next one.
Comparison::Way Comparison::issue(const Program& program, const Kernel& kernel, int64_t iteration, uint32_t& position) {
  Way way = Way::On;
  for (size_t slot = 0; slot < kernel.instructions.size(); ++slot) {
    Functional found;
    const std::string place =
        where_ + "iteration " + std::to_string(iteration) + ", slot " + std::to_string(slot) + ": ";
    if (way == Way::On) {
      if (position >= program.size()) {
        problem_ = place + "the program goes on at " + std::to_string(position) + ", which is outside of it";
        return Way::Broken;
      }
      found = program[position].functional;
      std::sort(found.destinations.begin(), found.destinations.end());
    }
    if (found.opcode == Opcode::Nop)
      found = {};
    if (found != kernel.instructions[slot]) {
      problem_ = place + (way == Way::On ? print(found) : "halted") + ", expected " + print(kernel.instructions[slot]);
      return Way::Broken;
    }
    if (way == Way::On) {
      way = branch(program[position].branch, slot + 1 == kernel.instructions.size(), iteration, position);
      if (way == Way::Broken)
        return way;
    }
  }
  return way;
}

void Comparison::follow(const UnitProgram& expected, const std::vector<uint32_t>& kernels, const Program& program) {
  const auto isUseful = [&](uint32_t kernel) { return !expected.kernels[kernel].isEmpty(); };
  const auto useful = std::find_if(kernels.rbegin(), kernels.rend(), isUseful);
  const auto needed = static_cast<int64_t>(kernels.rend() - useful);
  if (program.empty()) {
    if (needed > 0)
      differ(where_ + "there is no program for " + std::to_string(needed) + " iterations");
    return;
  }
  uint32_t position = 0;
  for (int64_t iteration = 0; iteration < iterations_; ++iteration) {
    const Kernel& kernel = expected.kernels[kernels[static_cast<size_t>(iteration)]];
    switch (issue(program, kernel, iteration, position)) {
    case Way::On:
      break;
    case Way::Broken:
      differ(problem_);
      return;
    case Way::Halted:
      if (iteration + 1 < needed)
        differ(where_ + "iteration " + std::to_string(iteration) + ": halted, " + std::to_string(needed - 1) +
               " is the last that does anything");
      return;
    }
  }
  if (issue(program, end(), iterations_, position) != Way::Halted)
    differ(where_ + "the program does not halt at the end of the extents");
}

/// The first and the last iteration of every piece of a set, and one between.
std::vector<int64_t> Comparison::someOf(const isl::set& iterations) const {
  std::set<int64_t> numbers;
  iterations.foreach_basic_set([&](const isl::basic_set& piece) {
    const isl::set set(piece);
    for (const isl::set& one : {set.lexmin(), isl::manage(isl_set_lexmax(set.copy())), isl::set(set.sample_point())})
      numbers.insert(number(coordinates(one.sample_point(), dimensions_)));
  });
  return {numbers.begin(), numbers.end()};
}

/// From kernel to kernel along the edges: where a kernel is at a position, some of the iterations that leave it have to
/// lead to its successor. A kernel may stand at several positions; an iteration that is not right from one has to be so
/// from another.
void Comparison::sample(const UnitProgram& expected, const Program& program) {
  const auto isEmpty = [](const Kernel& each) { return each.isEmpty(); };
  if (program.empty()) {
    if (!std::all_of(expected.kernels.begin(), expected.kernels.end(), isEmpty))
      differ(where_ + "there is no program");
    return;
  }
  struct Step {
    size_t from, to;
    int64_t iteration;
    bool isRight = false;
    std::string problem = {};
  };
  std::vector<Step> steps;
  for (const Edge& edge : expected.edges)
    for (const int64_t iteration : someOf(edge.leaving))
      steps.push_back({edge.from, edge.to, iteration});
  const Kernel after = end();
  std::vector<const Kernel*> kernels;
  for (const Kernel& each : expected.kernels)
    kernels.push_back(&each);
  kernels.push_back(&after);
  const size_t last = expected.kernels.size();
  for (size_t kernel = 0; kernel < last; ++kernel)
    if (someOf(kernels[kernel]->iterations).back() + 1 == iterations_)
      steps.push_back({kernel, last, iterations_ - 1});

  std::set<std::pair<size_t, uint32_t>> known = {{0, 0}}; // kernels and where they begin
  std::vector<std::pair<size_t, uint32_t>> pending = {{0, 0}};
  bool isHalted = false;
  while (!pending.empty()) {
    const auto [kernel, start] = pending.back();
    pending.pop_back();
    for (Step& step : steps) {
      if (step.from != kernel)
        continue;
      uint32_t position = start;
      Way way = issue(program, *kernels[kernel], step.iteration, position);
      const uint32_t next = position;
      if (way == Way::On)
        way = issue(program, *kernels[step.to], step.iteration + 1, position);
      else if (way == Way::Halted && !isEmpty(*kernels[step.to])) {
        problem_ = where_ + "iteration " + std::to_string(step.iteration) + ": halted too early";
        way = Way::Broken;
      } else if (way == Way::Halted) {
        step.isRight = isHalted = true;
        continue;
      }
      if (way == Way::Broken) {
        step.problem = problem_;
        continue;
      }
      if (step.to == last && way != Way::Halted) {
        step.problem = where_ + "the program does not halt at the end of the extents";
        continue;
      }
      step.isRight = true;
      isHalted |= way == Way::Halted;
      if (known.insert({step.to, next}).second)
        pending.push_back({step.to, next});
    }
  }
  for (const Step& step : steps)
    if (!step.isRight && !step.problem.empty())
      differ(step.problem);
  for (size_t kernel = 0; kernel < last; ++kernel) {
    const auto found = known.lower_bound({kernel, 0});
    if ((found == known.end() || found->first != kernel) && !isEmpty(*kernels[kernel]))
      differ(where_ + "iteration " + std::to_string(number(kernels[kernel]->first)) + ": never comes");
  }
  if (!isHalted)
    differ(where_ + "the program does not halt");
}

} // namespace

std::string compare(const Symbolic& symbolic, const Result& expected, const Configuration& configuration) {
  try {
    return Comparison(symbolic, expected, configuration).run();
  } catch (const isl::exception& error) {
    return std::string("isl: ") + error.what() + "\n";
  }
}

std::string compare(const Symbolic& symbolic, const machine::ProcessorArray& array, const InstantiationOptions& options,
                    const Configuration& configuration) {
  return compare(symbolic, oracle::instantiate(symbolic, array, options), configuration);
}

} // namespace strata::array::oracle
