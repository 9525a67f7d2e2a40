// Orders, phases and storage of loop programs, carried out iteration by iteration for small sizes without isl: every
// use comes behind its definition or in the same part behind it, the cell that it reads still holds that instance, and
// no two parts that run at once meet in a cell that one of them writes.
#include "compiler/equations/phases.h"
#include "compiler/equations/reduce.h"
#include "compiler/equations/verify.h"
#include "compiler/pla/check/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace strata::equations {

namespace {

using Point = std::vector<int64_t>;

int64_t valueOf(const Affine& affine, const Point& at, const Point& sizes) {
  int64_t sum = affine.constant;
  for (size_t i = 0; i < affine.iterators.size(); ++i)
    sum += affine.iterators[i] * at[i];
  for (size_t i = 0; i < affine.parameters.size(); ++i)
    sum += affine.parameters[i] * sizes[i];
  return sum;
}

bool holds(const Constraint& constraint, const Point& at, const Point& sizes) {
  const int64_t value = valueOf(constraint.value, at, sizes);
  switch (constraint.kind) {
  case Constraint::Kind::NotNegative:
    return value >= 0;
  case Constraint::Kind::Zero:
    return value == 0;
  case Constraint::Kind::Divisible:
    return value % constraint.modulus == 0;
  case Constraint::Kind::NotDivisible:
    return value % constraint.modulus != 0;
  }
  return false;
}

bool isIn(const Space& space, const Point& at, const Point& sizes) {
  return std::any_of(space.pieces.begin(), space.pieces.end(), [&](const std::vector<Constraint>& piece) {
    return std::all_of(piece.begin(), piece.end(), [&](const Constraint& each) { return holds(each, at, sizes); });
  });
}

/// What is computed when: in front of everything with a greater key; of one key, at once by parts, each in the order of
/// its moments.
struct Instant {
  std::vector<int64_t> key;
  int64_t part = 0;
  std::vector<int64_t> moment;
  bool operator<(const Instant& other) const {
    return std::tie(key, part, moment) < std::tie(other.key, other.part, other.moment);
  }
};

struct Iteration {
  Instant when;
  uint32_t equation = 0;
  Point at;
  const Phase* phase = nullptr;
};

class Execution {
public:
  Execution(const System& system, const Point& sizes) : system_(system), sizes_(sizes) {
    const Polyhedra polyhedra(system.iterators.size(), system.parameters.size());
    const std::vector<Flow> all = flows(system, polyhedra);
    Circle circle;
    const auto times = order(system, polyhedra, all, circle);
    if (!times)
      return;
    times_ = *times;
    storage_ = planStorage(system, polyhedra, times_, all);
    phases_ = planPhases(system, polyhedra, times_, all, storage_);
    outlives_ = outliving(system, polyhedra, times_, all, phases_);
    hasOrder = true;
    collect();
  }

  /// The first thing that is wrong; empty where all is well.
  std::string check() {
    std::map<std::pair<uint32_t, Point>, const Iteration*> definitions;
    for (const Iteration& each : iterations_)
      if (const Equation& equation = system_.equations[each.equation]; isInternal(equation.variable))
        definitions[{equation.variable, at(equation.index, each)}] = &each;
    // Who wrote a cell last, and who has reached it in the run of parts that is under way.
    std::map<Cell, std::pair<uint32_t, Point>> held;
    std::map<Cell, std::set<int64_t>> writers, readers;
    const std::vector<int64_t>* key = nullptr;
    for (const Iteration& each : iterations_) {
      if (!key || *key != each.when.key) {
        writers.clear();
        readers.clear();
        key = &each.when.key;
      }
      std::string wrong;
      const Equation& equation = system_.equations[each.equation];
      eachElement(equation.value, [&](const Expression& element) {
        if (!isInternal(element.variable) || !wrong.empty())
          return;
        const Point instance = at(element.index, each);
        const auto found = definitions.find({element.variable, instance});
        if (found == definitions.end()) {
          wrong = "no definition";
          return;
        }
        const Instant& defined = found->second->when;
        if (defined.key > each.when.key || (defined.key == each.when.key &&
                                            (defined.part != each.when.part || !(defined.moment < each.when.moment)))) {
          wrong = "used before it is there";
          return;
        }
        const Cell cell = cellOf(element.variable, instance, each);
        const auto holding = held.find(cell);
        if (holding == held.end() || holding->second != std::pair(element.variable, instance))
          wrong = "its cell holds another instance";
        readers[cell].insert(each.when.part);
        wrong += meets(writers[cell], each.when.part);
      });
      if (isInternal(equation.variable) && wrong.empty()) {
        const Point instance = at(equation.index, each);
        const Cell cell = cellOf(equation.variable, instance, each);
        held[cell] = {equation.variable, instance};
        writers[cell].insert(each.when.part);
        wrong += meets(writers[cell], each.when.part) + meets(readers[cell], each.when.part);
      }
      if (!wrong.empty()) {
        std::string text = "equation " + std::to_string(each.equation) + " at";
        for (const int64_t number : each.at)
          text += " " + std::to_string(number);
        return text + ": " + wrong;
      }
    }
    return "";
  }

  bool hasOrder = false;
  size_t parts = 0, steps = 0; // phases of these kinds
  size_t keys = 0;             // runs one after the other

private:
  /// Of a variable; by which run of parts and which part, where it is their own.
  using Cell = std::tuple<uint32_t, std::vector<int64_t>, int64_t, Point>;

  bool isInternal(uint32_t variable) const { return system_.variables[variable].role == Role::Internal; }
  static std::string meets(const std::set<int64_t>& parts, int64_t own) {
    return parts.empty() || (parts.size() == 1 && *parts.begin() == own) ? "" : "parts meet in its cell";
  }
  Point at(const std::vector<Affine>& index, const Iteration& iteration) const {
    Point instance;
    for (const Affine& each : index)
      instance.push_back(valueOf(each, iteration.at, sizes_));
    return instance;
  }

  /// Cells of a kernel's own begin anew with each of its runs, and so does what is a part's own.
  Cell cellOf(uint32_t variable, const Point& instance, const Iteration& iteration) const {
    const Storage& storage = storage_[variable];
    Point cell;
    for (const unsigned dimension : storage.dimensions)
      cell.push_back(instance[dimension]);
    if (storage.steps > 0)
      cell[0] = ((cell[0] % storage.steps) + storage.steps) % storage.steps;
    const Phase& phase = *iteration.phase;
    const bool isOwn = std::find(phase.own.begin(), phase.own.end(), variable) != phase.own.end();
    if (isOwn)
      return {variable, iteration.when.key, iteration.when.part, cell};
    if (!outlives_[variable])
      return {variable, iteration.when.key, 0, cell};
    return {variable, {}, 0, cell};
  }

  void collect() {
    Point at(system_.iterators.size(), 0);
    int64_t last = 1; // no program's iterators run further than sums of two sizes
    for (const int64_t size : sizes_)
      last = std::max(last, 2 * size + 1);
    const auto visit = [&](auto&& self, size_t iterator) -> void {
      if (iterator < at.size()) {
        for (at[iterator] = -1; at[iterator] <= last; ++at[iterator])
          self(self, iterator + 1);
        return;
      }
      if (!isIn(system_.space, at, sizes_))
        return;
      for (uint32_t equation = 0; equation < system_.equations.size(); ++equation)
        if (isIn(system_.equations[equation].guard, at, sizes_)) {
          Iteration made{{}, equation, at, nullptr};
          place(phases_, made);
          const Time& time = times_[equation];
          for (size_t level = 0; level < time.places.size(); ++level) {
            made.when.moment.push_back(static_cast<int64_t>(time.places[level]));
            if (level < time.directions.size())
              made.when.moment.push_back(momentOf(time, level, at));
          }
          iterations_.push_back(std::move(made));
        }
    };
    visit(visit, 0);
    std::sort(iterations_.begin(), iterations_.end(),
              [](const Iteration& a, const Iteration& b) { return a.when < b.when; });
    std::set<std::vector<int64_t>> all;
    for (const Iteration& each : iterations_)
      all.insert(each.when.key);
    keys = all.size();
    count(phases_);
  }

  void count(const std::vector<Phase>& phases) {
    for (const Phase& each : phases) {
      parts += each.kind == Phase::Kind::Parts;
      steps += each.kind == Phase::Kind::Steps;
      count(each.inner);
    }
  }

  static int64_t momentOf(const Time& time, size_t level, const Point& at) {
    int64_t sum = time.shifts[level];
    for (size_t i = 0; i < at.size(); ++i)
      sum += time.directions[level][i] * at[i];
    return sum;
  }

  void place(const std::vector<Phase>& phases, Iteration& iteration) const {
    for (size_t number = 0; number < phases.size(); ++number) {
      const Phase& phase = phases[number];
      if (std::find(phase.equations.begin(), phase.equations.end(), iteration.equation) == phase.equations.end())
        continue;
      iteration.when.key.push_back(static_cast<int64_t>(number));
      if (phase.kind == Phase::Kind::Steps) {
        iteration.when.key.push_back(momentOf(times_[iteration.equation], phase.level, iteration.at));
        place(phase.inner, iteration);
        return;
      }
      iteration.phase = &phase;
      if (phase.kind == Phase::Kind::Parts)
        iteration.when.part = iteration.at[phase.iterator];
      return;
    }
    ADD_FAILURE() << "an equation is in no phase";
  }

  const System& system_;
  const Point& sizes_;
  std::vector<Time> times_;
  std::vector<Storage> storage_;
  std::vector<Phase> phases_;
  std::vector<bool> outlives_;
  std::vector<Iteration> iterations_;
};

/// As verified equations without reductions; nothing where a program is refused.
std::optional<System> read(const std::string& text) {
  SourceManager sources;
  DiagnosticEngine engine(sources);
  const BufferId file = sources.add("test.pla", text, SourceKind::Program);
  std::optional<System> system = pla::readSystem(file, "test", engine);
  if (system)
    system = withoutReductions(*system, engine);
  if (!system || !verify(*system, engine))
    return std::nullopt;
  return system;
}

/// All sizes of up to so many that keep a program's context.
std::vector<Point> sizesOf(const System& system, int64_t most) {
  std::vector<Point> found;
  Point sizes(system.parameters.size(), 0);
  const auto visit = [&](auto&& self, size_t parameter) -> void {
    if (parameter < sizes.size()) {
      for (sizes[parameter] = 0; sizes[parameter] <= most; ++sizes[parameter])
        self(self, parameter + 1);
      return;
    }
    if (std::all_of(system.context.begin(), system.context.end(),
                    [&](const Constraint& each) { return holds(each, {}, sizes); }))
      found.push_back(sizes);
  };
  visit(visit, 0);
  return found;
}

struct Counts {
  size_t parts = 0, steps = 0, keys = 0;
};

/// Carries a program out for some sizes; what the last one was made of.
Counts expectRight(const std::string& text, const std::string& name) {
  const std::optional<System> system = read(text);
  EXPECT_TRUE(system) << name;
  Counts counts;
  if (!system)
    return counts;
  // Programs of many iterators are large already when sizes are small.
  const std::vector<Point> all = sizesOf(*system, system->iterators.size() > 4   ? 2
                                                  : system->iterators.size() > 3 ? 3
                                                                                 : 5);
  EXPECT_FALSE(all.empty()) << name;
  // The last ones are the largest; of the others some.
  for (size_t i = 0; i < all.size(); i += i + 2 < all.size() ? std::max<size_t>(1, all.size() / 4) : 1) {
    Execution execution(*system, all[i]);
    if (!execution.hasOrder)
      return counts;
    const std::string wrong = execution.check();
    EXPECT_EQ(wrong, "") << name;
    if (!wrong.empty())
      break;
    counts = {execution.parts, execution.steps, execution.keys};
  }
  return counts;
}

/// How many programs a folder has, and how many of them are divided.
std::pair<size_t, size_t> expectAllRight(const std::string& folder) {
  namespace fs = std::filesystem;
  size_t programs = 0, divided = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".pla")
      continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const Counts counts = expectRight(text.str(), entry.path().filename());
    ++programs;
    divided += counts.parts > 0;
  }
  return {programs, divided};
}

TEST(Phases, OfPrograms) {
  const auto [examples, dividedExamples] = expectAllRight(STRATA_SOURCE_DIR "/examples/pla");
  const auto [algorithms, dividedAlgorithms] = expectAllRight(STRATA_SOURCE_DIR "/tests/array/algorithms");
  EXPECT_GE(examples + algorithms, 50u);
  EXPECT_GE(dividedExamples + dividedAlgorithms, 30u);
}

/// Of a folder that random_phases.py has filled.
TEST(Phases, OfRandomPrograms) {
  const char* folder = std::getenv("STRATA_RANDOM_LOOPS");
  if (!folder)
    GTEST_SKIP() << "STRATA_RANDOM_LOOPS names no folder";
  const auto [programs, divided] = expectAllRight(folder);
  EXPECT_GE(programs, 1u);
  std::printf("%zu loop programs, %zu of them divided\n", programs, divided);
}

TEST(Phases, RowsOfAProductAreParts) {
  const Counts counts =
      expectRight("parameter M, N, K >= 1; input a: float[M, K], b: float[K, N]; output c: float[M, N];\n"
                  "for i, j, k where 0 <= i < M and 0 <= j < N and 0 <= k < K {\n"
                  "  c[i, j] = sum[k](a[i, k] * b[k, j]);\n}\n",
                  "product");
  EXPECT_EQ(counts.parts, 1u);
  EXPECT_EQ(counts.steps, 0u);
}

TEST(Phases, TimeOfAStencilIsSteps) {
  const Counts counts =
      expectRight("parameter N >= 3, T >= 1; input a: float[N]; output b: float[N]; variable u: float;\n"
                  "for t, i where 0 <= t <= T and 0 <= i < N {\n"
                  "  u[t, i] = a[i] if t == 0;\n"
                  "  u[t, i] = u[t - 1, i - 1] + u[t - 1, i + 1] if t > 0 and 0 < i < N - 1;\n"
                  "  u[t, i] = u[t - 1, i] if t > 0 and (i == 0 or i == N - 1);\n"
                  "  b[i] = u[t, i] if t == T;\n}\n",
                  "stencil");
  EXPECT_EQ(counts.parts, 1u);
  EXPECT_EQ(counts.steps, 1u);
}

/// A value that is handed along in both directions leaves nothing to divide.
TEST(Phases, ARecurrenceIsWhole) {
  const Counts counts = expectRight("parameter N >= 1; input a: float[N]; output b: float[N]; variable u: float;\n"
                                    "for i where 0 <= i < N {\n"
                                    "  u[i] = a[i] if i == 0;\n  u[i] = u[i - 1] + a[i] if i > 0;\n  b[i] = u[i];\n}\n",
                                    "recurrence");
  EXPECT_EQ(counts.parts, 0u);
}

/// The second product reads all rows of the first one.
TEST(Phases, TwoProductsAreTwoPhases) {
  const Counts counts =
      expectRight("parameter N >= 1; input a: float[N, N]; output d: float[N, N]; variable p: float;\n"
                  "for i, j, k where 0 <= i < N and 0 <= j < N and 0 <= k < N {\n"
                  "  p[i, j] = sum[k](a[i, k] * a[k, j]);\n  d[i, j] = sum[k](p[k, i] * a[k, j]);\n}\n",
                  "products");
  EXPECT_EQ(counts.parts, 2u);
  EXPECT_EQ(counts.keys, 2u);
}

/// Rows of a temporary that each part needs for itself, as a block and as a few cells.
TEST(Phases, PartsHaveTemporariesOfTheirOwn) {
  expectRight("parameter M, N >= 1; input a: float[M, N]; output c: float[M, N]; variable p, q: float;\n"
              "for i, j where 0 <= i < M and 0 <= j < N {\n"
              "  p[i, j] = a[i, j] * 2.0f;\n"
              "  q[i, j] = p[i, N - 1 - j] if j == 0;\n  q[i, j] = q[i, j - 1] + p[i, N - 1 - j] if j > 0;\n"
              "  c[i, j] = q[i, j];\n}\n",
              "temporaries");
}

} // namespace

} // namespace strata::equations
