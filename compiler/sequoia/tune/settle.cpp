// Each rehearsal gives counterexamples; each of them makes one tunable smaller (or a max or a number of
// iterations larger), or leaves it to the run. The rounds are counted, so that this ends.
#include "compiler/sequoia/tune/settle.h"

#include "compiler/sequoia/check/tunable_uses.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(notSettled, Error, "sequoia-default-tunable",
                  "no value of {0} is found by which {1} leaves nothing: it divides {2} by {3}");

STRATA_DIAGNOSTIC(notMet, Error, "sequoia-default-steps",
                  "no value of {0} is found by which the loop meets the end that {1} states: that is {2} away, and its "
                  "steps are {3}");

STRATA_DIAGNOSTIC(notCovered, Error, "sequoia-default-uncovered",
                  "no value of {0} is found by which {1} takes all elements: of {2} in dimension {3} it takes {4}");

STRATA_DIAGNOSTIC(mustDivide, Remark, "sequoia-default-divides",
                  "{0} has to divide {1} here, and {2}: what has no fitting divisor is cut into single elements");

int64_t largestDivisor(int64_t number, int64_t limit) {
  int64_t best = 1;
  for (int64_t i = 1; i <= number / i && i < 2000000; ++i) {
    if (number % i != 0)
      continue;
    for (int64_t divisor : {i, number / i})
      if (divisor <= limit)
        best = std::max(best, divisor);
  }
  return best;
}

namespace {

constexpr int64_t worthACall = 32; // elements of a block
constexpr int64_t largestValue = int64_t(1) << 40;
constexpr unsigned mostRounds = 100;
constexpr unsigned mostTrials = 200;         // of values, each with a rehearsal of its own
constexpr int64_t samples[] = {1009, 30011}; // sizes to try where a run has any

int64_t smallestDivisorAbove(int64_t number, int64_t limit) {
  int64_t best = number;
  for (int64_t i = 1; i <= number / i && i < 2000000; ++i)
    if (number % i == 0)
      for (int64_t divisor : {i, number / i})
        if (divisor > limit)
          best = std::min(best, divisor);
  return best;
}

class Settler {
public:
  Settler(InstanceGraph& graph, const SettleOptions& options, DiagnosticEngine& diagnostics)
      : graph_(graph), options_(options), diagnostics_(diagnostics), known_(options.known) {}

  std::optional<Rehearsal> run() {
    std::optional<Rehearsal> rehearsal = resolveAll();
    if (!rehearsal)
      return std::nullopt;
    for (int64_t size : samples)
      if (mayLeave())
        resolveSample(size);
    remark();
    return rehearsal;
  }

  bool reportUncovered() {
    const Rehearsal rehearsal = rehearse(graph_, known_);
    bool isCovered = true;
    for (const Misfit& misfit : rehearsal.misfits)
      if (misfit.kind == Misfit::Kind::Uncovered && rehearsal.isComplete)
        if (auto by = std::find_if(misfit.because.begin(), misfit.because.end(),
                                   [&](const TunableUse& use) { return decides(use, misfit); });
            by != misfit.because.end())
          isCovered = report(misfit, *by);
    return isCovered;
  }

private:
  /// Whether it follows from a tunable how many elements are taken: fewer with the least value, and another number with
  /// twice as much. What a program leaves out with all values, as at the ends of an array, is its own affair.
  bool decides(const TunableUse& use, const Misfit& misfit) {
    const int64_t before = valueOf(use);
    if (instanceOf(use).divisors[use.tunable->index] || kindOf(use).isBound)
      return false;
    const int64_t least = takes(use, neutral(use), misfit);
    const int64_t twice = takes(use, isShift(use) ? before + 1 : 2 * before, misfit);
    valueOf(use) = before;
    return least < misfit.other && twice != misfit.other && twice != all && trials_ <= mostTrials;
  }

  std::optional<Rehearsal> resolveAll() {
    for (unsigned round = 0; round < mostRounds; ++round) {
      Rehearsal rehearsal = rehearse(graph_, known_);
      bool changed = false;
      for (const Misfit& misfit : rehearsal.misfits)
        changed |= resolve(misfit);
      // Divisions that come out leave nothing, mostly.
      for (const Misfit& misfit : rehearsal.misfits)
        changed |= !changed && misfit.kind == Misfit::Kind::Uncovered && cover(misfit);
      if (changed)
        continue;
      // What else is left is found when the program runs, which knows more of it.
      bool comesOut = true;
      for (const Misfit& misfit : rehearsal.misfits)
        if (misfit.kind == Misfit::Kind::Remainder && !misfit.because.empty())
          comesOut = report(misfit);
      return comesOut ? std::optional(std::move(rehearsal)) : std::nullopt;
    }
    return rehearse(graph_, known_);
  }

  /// Whether an instance may leave elements for another reason than a division that comes out as it is.
  bool mayLeave() {
    return std::any_of(graph_.instances.begin(), graph_.instances.end(), [&](const Instance& instance) {
      if (instance.variant->kind != TaskKind::Inner || instance.variant->tunables.empty())
        return false;
      const std::vector<ExactDivision>& shares = usesOf(instance.variant).shares;
      return branches(instance.variant->body) ||
             std::any_of(shares.begin(), shares.end(),
                         [&](const ExactDivision& share) { return !instance.divisors[share.tunables[0]->index]; });
    });
  }

  static bool branches(const Stmt* stmt) {
    if (!stmt)
      return false;
    return stmt->kind == StmtKind::If || stmt->kind == StmtKind::For || stmt->kind == StmtKind::While ||
           stmt->kind == StmtKind::DoWhile || stmt->kind == StmtKind::Switch || branches(stmt->body) ||
           std::any_of(stmt->statements.begin(), stmt->statements.end(), branches);
  }

  /// Sizes that only a run knows are tried with one that many have, as far as it shows what blocks leave of their
  /// arrays.
  void resolveSample(int64_t size) {
    KnownSizes known = options_.known;
    for (uint32_t entry = 0; entry < graph_.entryCount; ++entry)
      for (const Variable* parameter : graph_.instances[entry].variant->sizeParameters)
        known.try_emplace(std::string(parameter->name), size);
    if (known.size() == options_.known.size())
      return;
    known_ = std::move(known);
    isSample_ = true;
    bool changed = true;
    for (unsigned round = 0; changed && round < mostRounds; ++round) {
      changed = false;
      for (const Misfit& misfit : rehearse(graph_, known_).misfits)
        changed |= misfit.kind == Misfit::Kind::Uncovered && cover(misfit);
    }
    known_ = options_.known;
    isSample_ = false;
  }

  Instance& instanceOf(const TunableUse& use) { return graph_.instances[use.instance]; }
  int64_t& valueOf(const TunableUse& use) { return instanceOf(use).tunables[use.tunable->index]; }
  const TunableUses& usesOf(const TaskVariant* variant) {
    auto [at, isNew] = uses_.try_emplace(variant);
    if (isNew)
      at->second = sequoia::usesOf(*variant);
    return at->second;
  }
  const TunableKind& kindOf(const TunableUse& use) {
    return usesOf(instanceOf(use).variant).tunables[use.tunable->index];
  }
  bool isShift(const TunableUse& use) { return kindOf(use).isShift || shifts_.contains(use); }
  /// A value by which every division comes out.
  int64_t neutral(const TunableUse& use) { return isShift(use) ? 0 : 1; }
  bool set(const TunableUse& use, int64_t value) { return std::exchange(valueOf(use), value) != value; }

  bool resolve(const Misfit& misfit) {
    switch (misfit.kind) {
    case Misfit::Kind::Remainder:
      return makeDivide(misfit);
    case Misfit::Kind::Unknown:
      return leaveToTheRun(misfit);
    case Misfit::Kind::Outside:
      for (const TunableUse& use : misfit.because)
        if (valueOf(use) > neutral(use) && misfit.other > 0)
          return set(use, isShift(use) ? valueOf(use) - 1 : largestDivisor(misfit.other, valueOf(use) - 1));
      return false;
    case Misfit::Kind::AboveMax:
      return widen(misfit);
    case Misfit::Kind::Shift:
      for (const TunableUse& use : misfit.because)
        if (shifts_.insert(use).second && valueOf(use) >= misfit.other)
          return set(use, 10);
      return false;
    case Misfit::Kind::Short:
      return makeMore(misfit);
    case Misfit::Kind::Uncovered:
      return false; // when all others come out
    case Misfit::Kind::Zero:
      for (const TunableUse& use : misfit.because)
        if (valueOf(use) < 4 && raised_.insert({use, valueOf(use)}).second)
          return set(use, valueOf(use) + 1);
      return false;
    }
    return false;
  }

  /// Those that can still fall, the instance's own first, then the largest.
  std::vector<TunableUse> candidates(const Misfit& misfit) {
    std::vector<TunableUse> uses;
    for (const TunableUse& use : misfit.because)
      if (valueOf(use) > neutral(use))
        uses.push_back(use);
    auto rank = [&](const TunableUse& use) {
      return std::tuple(use.instance != misfit.instance, -valueOf(use), use.instance, use.tunable->index);
    };
    std::sort(uses.begin(), uses.end(), [&](const TunableUse& a, const TunableUse& b) { return rank(a) < rank(b); });
    return uses;
  }

  bool makeDivide(const Misfit& misfit) {
    for (const TunableUse& use : candidates(misfit)) {
      divided_.try_emplace(use, misfit);
      const int64_t value = valueOf(use), divided = misfit.value, divisor = misfit.other;
      if (divided <= 0)
        return set(use, neutral(use));
      if (isShift(use))
        return set(use, value - 1);
      if (kindOf(use).isBits)
        return set(use, value / 2);
      // Of a product, the other factors stay.
      const int64_t others = divisor % value == 0 ? divisor / value : 0;
      if (others == 0 || divided % others != 0)
        return set(use, largestDivisor(divided, value - 1));
      return set(use, chosen(use, divided / others));
    }
    return false;
  }

  /// A divisor of a number in place of the tunable's value.
  int64_t chosen(const TunableUse& use, int64_t number) {
    const int64_t value = valueOf(use), below = largestDivisor(number, value);
    // Few parts are as good, but where they have to be small.
    if (kindOf(use).isCount && (below > 1 || !options_.isLimited))
      return below;
    const int64_t above = smallestDivisorAbove(number, below);
    if (below >= worthACall || number <= worthACall || above > largestValue || tried_.contains({use, above}))
      return below;
    // Blocks of next to nothing are not worth their calls, where larger ones fit.
    tried_.insert({use, above});
    if (!options_.isLimited)
      return above;
    const int64_t before = std::exchange(valueOf(use), above);
    const bool fits = options_.fits();
    valueOf(use) = before;
    return fits ? above : below;
  }

  /// The instance settles it when it begins, from what it divides there. Where that is not known then, nothing but 1
  /// comes out.
  bool leaveToTheRun(const Misfit& misfit) {
    const TaskVariant* variant = graph_.instances[misfit.instance].variant;
    bool isKnown = false, all = true;
    for (const ExactDivision& division : usesOf(variant).divisions)
      if (division.expr == misfit.expr) {
        isKnown = true;
        all &= division.isKnown();
      }
    for (const TunableUse& use : misfit.because)
      all &= use.instance == misfit.instance && (variant->kind == TaskKind::Inner || !kindOf(use).isExtent);
    bool changed = false;
    for (const TunableUse& use : misfit.because) {
      char& isDivisor = instanceOf(use).divisors[use.tunable->index];
      divided_.try_emplace(use, misfit);
      if (isKnown && all && !fixed_.contains(use)) {
        changed |= !std::exchange(isDivisor, 1);
        continue;
      }
      fixed_.insert(use);
      changed |= std::exchange(isDivisor, 0) != 0;
      changed |= set(use, neutral(use));
    }
    return changed;
  }

  /// As many iterations as take the whole array.
  bool makeMore(const Misfit& misfit) {
    for (const TunableUse& use : misfit.because) {
      if (!kindOf(use).isCount || kindOf(use).isDivisor || valueOf(use) < 1)
        continue;
      const __int128 wanted = (static_cast<__int128>(valueOf(use)) * misfit.value + misfit.other - 1) / misfit.other;
      if (wanted > valueOf(use) && wanted <= largestValue)
        return set(use, static_cast<int64_t>(wanted));
    }
    return false;
  }

  /// As many elements of the array as the tunables can make it. Those that no value takes are left out by the program.
  bool cover(const Misfit& misfit) {
    std::vector<TunableUse> uses = misfit.because;
    auto rank = [&](const TunableUse& use) {
      return std::tuple(use.instance != misfit.instance, -valueOf(use), use.instance, use.tunable->index);
    };
    std::sort(uses.begin(), uses.end(), [&](const TunableUse& a, const TunableUse& b) { return rank(a) < rank(b); });
    for (const TunableUse& use : uses) {
      if (kindOf(use).isBound || !covered_.insert({use, valueOf(use)}).second)
        continue;
      if (coverBy(use, misfit)) {
        divided_.try_emplace(use, misfit);
        return true;
      }
    }
    return false;
  }

  bool coverBy(const TunableUse& use, const Misfit& misfit) {
    const int64_t before = valueOf(use);
    char& isDivisor = instanceOf(use).divisors[use.tunable->index];
    if (isDivisor)
      return false;
    // A divisor of the extents, unless it is small.
    int64_t divisor = isShift(use)          ? std::countr_zero(static_cast<uint64_t>(misfit.value))
                      : kindOf(use).isBits  ? misfit.value & -misfit.value
                      : kindOf(use).isCount ? 0
                                            : chosen(use, misfit.value);
    divisor = isShift(use) || kindOf(use).isBits ? std::min(divisor, before) : divisor;
    const int64_t elements = isShift(use) ? int64_t(1) << std::min<int64_t>(divisor, 40) : divisor;
    if (!isSample_ && divisor > 0 && (elements >= worthACall || elements == misfit.value) &&
        takes(use, divisor, misfit) == all)
      return true;
    valueOf(use) = before;
    if (kindOf(use).isCount && makeMore(use, misfit))
      return true;
    // Else the run divides what it is called with.
    valueOf(use) = before;
    if (canSettle(use, misfit)) {
      isDivisor = 1;
      if (takes(use, before, misfit) == all)
        return true;
      isDivisor = 0;
    }
    if (!isSample_ && divisor > 0 && takes(use, divisor, misfit) == all)
      return true;
    valueOf(use) = before;
    if (!kindOf(use).isCount && makeMore(use, misfit))
      return true;
    const int64_t most = takes(use, neutral(use), misfit);
    if (most > misfit.other) {
      // Blocks as large as leave no more.
      for (int64_t value = isShift(use) ? before : largestDivisor(most, before); most != all && value > neutral(use);
           value = isShift(use) ? value - 1 : largestDivisor(most, value - 1))
        if (takes(use, value, misfit) == most)
          return true;
      valueOf(use) = neutral(use);
      return true;
    }
    valueOf(use) = before;
    return false;
  }

  /// In proportion.
  bool makeMore(const TunableUse& use, const Misfit& misfit) {
    const int64_t value = valueOf(use);
    if (isSample_ || misfit.other <= 0)
      return false;
    if (isShift(use)) {
      int64_t larger = value;
      for (__int128 taken = misfit.other; taken < misfit.extent && larger < 40; taken *= 2)
        ++larger;
      return larger > value && takes(use, larger, misfit) > misfit.other;
    }
    const __int128 wanted = (static_cast<__int128>(value) * misfit.extent + misfit.other - 1) / misfit.other;
    return wanted > value && wanted <= largestValue && takes(use, static_cast<int64_t>(wanted), misfit) > misfit.other;
  }

  bool canSettle(const TunableUse& use, const Misfit& misfit) {
    const TaskVariant* variant = graph_.instances[misfit.instance].variant;
    if (use.instance != misfit.instance || variant->kind != TaskKind::Inner || kindOf(use).isExtent ||
        fixed_.contains(use))
      return false;
    std::vector<char> isSettled(variant->tunables.size());
    isSettled[use.tunable->index] = 1;
    return !usesOf(variant).settling(isSettled).empty();
  }

  /// How many elements are taken with a tunable's new value; `all`: none are left.
  static constexpr int64_t all = INT64_MAX;
  int64_t takes(const TunableUse& use, int64_t value, const Misfit& misfit) {
    valueOf(use) = value;
    if (++trials_ > mostTrials)
      return 0;
    const Rehearsal rehearsal = rehearse(graph_, known_);
    for (const Misfit& each : rehearsal.misfits)
      if (each.kind == misfit.kind && each.instance == misfit.instance && each.expr == misfit.expr &&
          each.dimension == misfit.dimension)
        return each.other;
    return all;
  }

  /// Says where a program asks for divisors, which some sizes do not have.
  void remark() {
    for (const auto& [use, misfit] : divided_) {
      const bool isLeft = instanceOf(use).divisors[use.tunable->index];
      if (!isLeft && (valueOf(use) > neutral(use) || misfit.value <= worthACall))
        continue;
      const std::string name(use.tunable->name);
      const bool isDivision = misfit.kind != Misfit::Kind::Uncovered;
      DiagnosticBuilder builder = diagnostics_.report(
          mustDivide, misfit.expr->location, "tunable '" + name + "'",
          misfit.expr->op == Operator::NotEqual ? "the way to where " + textOf(misfit.expr) + " ends"
          : isDivision                          ? "what " + textOf(misfit.expr) + " divides"
                                                : "the extent of what " + textOf(misfit.expr) + " cuts",
          isLeft ? "an instance settles it when it begins" : "it is " + std::to_string(valueOf(use)));
      builder.label(use.tunable->location, "of instance '" + instanceOf(use).name + "'");
      builder.help("let the program take any value: (N + " + name + " - 1) / " + name +
                   " blocks, the last of which ends with the array");
    }
  }

  /// A max is raised where there is room; else what is counted falls.
  bool widen(const Misfit& misfit) {
    for (const TunableUse& use : misfit.because) {
      const int64_t value = valueOf(use);
      if (!kindOf(use).isBound || value < 1 || misfit.other < 1)
        continue;
      const __int128 wanted = (static_cast<__int128>(value) * misfit.value + misfit.other - 1) / misfit.other;
      if (wanted > largestValue || wanted <= value)
        continue;
      valueOf(use) = static_cast<int64_t>(wanted);
      if (!options_.isLimited || options_.fits())
        return true;
      valueOf(use) = value;
    }
    for (const TunableUse& use : misfit.because)
      if (!kindOf(use).isBound && makeSmaller(use, misfit))
        return true;
    return false;
  }

  /// Turns a tunable until the blocks of a misfit are smaller: down where it says how long they are, up where it says
  /// how many there are, or how far apart their elements.
  bool makeSmaller(const TunableUse& use, const Misfit& misfit) {
    const int64_t before = valueOf(use), least = neutral(use), most = isShift(use) ? 40 : largestValue;
    const bool fitBefore = !options_.isLimited || options_.fits();
    for (const bool isDown : {true, false})
      for (unsigned step = 1; step <= 40 && trials_ < mostTrials; ++step) {
        const int64_t value = isShift(use) ? (isDown ? before - step : before + step)
                              : isDown     ? before >> step
                                           : std::max<int64_t>(before, 1) * (int64_t(1) << std::min(step, 20u));
        if (value < least || value > most)
          break;
        valueOf(use) = value;
        ++trials_;
        if (sizeOf(misfit) < misfit.value && (!fitBefore || !options_.isLimited || options_.fits()))
          return true;
      }
    valueOf(use) = before;
    return false;
  }

  /// What a misfit comes to with the tunables as they are; 0 where it is none.
  int64_t sizeOf(const Misfit& misfit) {
    for (const Misfit& each : rehearse(graph_, known_).misfits)
      if (each.kind == misfit.kind && each.instance == misfit.instance && each.expr == misfit.expr &&
          each.dimension == misfit.dimension)
        return each.value;
    return 0;
  }

  std::string textOf(const Expr* expr) const {
    if (!expr->location.valid())
      return "an expression";
    std::string_view source = diagnostics_.sources().buffer(expr->location.buffer).text();
    return "'" + std::string(source.substr(expr->location.begin, expr->location.end - expr->location.begin)) + "'";
  }

  /// False.
  bool report(const Misfit& misfit) {
    std::string names, first;
    for (const TunableUse& use : misfit.because) {
      names += (names.empty() ? "tunable '" : ", '") + std::string(use.tunable->name) + "'";
      first = first.empty() ? std::string(use.tunable->name) : first;
    }
    const bool isLoop = misfit.expr->op == Operator::NotEqual;
    DiagnosticBuilder builder = diagnostics_.report(isLoop ? notMet : notSettled, misfit.expr->location, names,
                                                    textOf(misfit.expr), misfit.value, misfit.other);
    for (const TunableUse& use : misfit.because)
      builder.label(use.tunable->location, "tunable '" + std::string(use.tunable->name) + "' of instance '" +
                                               instanceOf(use).name + "'; the last value tried is " +
                                               std::to_string(valueOf(use)));
    builder.help("give '" + first + "' a value in a mapping: 'strata map --template' writes one to fill in");
    builder.help(isLoop ? "or let the loop end with <, and the last block with the array"
                        : "or let the program take any value: (N + " + first + " - 1) / " + first +
                              " blocks, the last of which ends with the array");
    return false;
  }

  /// False.
  bool report(const Misfit& misfit, const TunableUse& use) {
    const std::string name(use.tunable->name);
    DiagnosticBuilder builder = diagnostics_.report(notCovered, misfit.expr->location, "tunable '" + name + "'",
                                                    textOf(misfit.expr), misfit.extent, misfit.dimension, misfit.other);
    builder.label(use.tunable->location, "of instance '" + instanceOf(use).name + "'; the last value tried is " +
                                             std::to_string(valueOf(use)));
    builder.help("give '" + name + "' a value in a mapping: 'strata map --template' writes one to fill in");
    builder.help("or let the program count from the size, as (N + " + name + " - 1) / " + name + " blocks");
    return false;
  }

  InstanceGraph& graph_;
  const SettleOptions& options_;
  DiagnosticEngine& diagnostics_;
  std::map<const TaskVariant*, TunableUses> uses_;
  std::set<TunableUse> shifts_, fixed_;
  KnownSizes known_; // of the rehearsals
  bool isSample_ = false;
  std::map<TunableUse, Misfit> divided_; // those that something asked a divisor of
  std::set<std::pair<TunableUse, int64_t>> raised_, tried_, covered_;
  unsigned trials_ = 0;
};

} // namespace

std::optional<Rehearsal> settleTunables(InstanceGraph& graph, const SettleOptions& options,
                                        DiagnosticEngine& diagnostics) {
  return Settler(graph, options, diagnostics).run();
}

bool reportUncovered(InstanceGraph& graph, const SettleOptions& options, DiagnosticEngine& diagnostics) {
  return Settler(graph, options, diagnostics).reportUncovered();
}

} // namespace strata::sequoia
