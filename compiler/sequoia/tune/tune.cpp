// The search: all tunables equal to the largest power of two that fits, but one that alone sets how long rows are no
// less than a few registers; then each doubled as long as all still fits, the ones that set the innermost dimensions
// first. Blocks that stream by (streams.h) get rows as long as can be before they get more of them. Maxima come before
// the others, which make do with the room that is left. A tunable that divides a known size without rounding up is kept
// a divisor of it. Then settle.cpp sees to it that all comes out.
#include "compiler/sequoia/tune/tune.h"

#include "base/machine/figures.h"
#include "compiler/sequoia/check/block.h"
#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/check/tunable_uses.h"
#include "compiler/sequoia/resolve/graph_parts.h"
#include "compiler/sequoia/tune/divisions.h"
#include "compiler/sequoia/tune/settle.h"
#include "compiler/sequoia/tune/streams.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>

namespace strata::sequoia {

namespace {

constexpr int64_t largestTunable = int64_t(1) << 20;
constexpr int64_t sharedRows = 256;           // of a block by which others are multiplied, where caches are the memory
constexpr int64_t streamedRows = 8;           // that blocks whose rows are as long as can be have at first
constexpr int64_t divisorValue = 16;          // of a tunable that says how many parts there are
constexpr int64_t anySize = int64_t(1) << 40; // more than arrays have in one dimension
constexpr int64_t unseenValue = 1024;         // of a tunable whose effect on sizes is not seen

struct Choice {
  uint32_t instance = 0;
  const Variable* tunable = nullptr;
  size_t dimension = 0; // the innermost that it sets, counted from the innermost: 0 is best to have long
  size_t rank = 1;      // of the largest block that it shapes
  int64_t cap = largestTunable;
  int64_t divides = 0; // a known size that it must divide; 0: none
  bool fixed = false;
  bool setsRows = false; // of blocks of several dimensions, it alone the innermost one
  bool streams = false;  // it shapes blocks of which each element is used with its neighbours alone
  TunableKind kind;
};

int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

/// The largest power of two that is not above a value.
int64_t powerOfTwo(int64_t value) {
  int64_t power = 1;
  while (power <= value / 2)
    power *= 2;
  return power;
}

class Tuner {
public:
  Tuner(InstanceGraph& graph, const Machine& machine, const KnownSizes& known, unsigned halvings)
      : graph_(graph), machine_(machine), known_(known), halvings_(halvings) {
    for (unsigned level = 0; level < machine.levels.size(); ++level)
      limited_ |= isLimited(machine, level);
    // What a processor has of a distributed array it works on where it lies, if a block reaches into nobody else's.
    const machine::MemoryId innermost = machine.levels[0].memory;
    if (isLimited(machine, 0) && machine.capacityOf(innermost).bytes > cacheBytes_)
      for (const machine::Memory& memory : machine.memories)
        worksInPlace_ |= memory.isVirtual() && memory.over == innermost;
  }

  /// Nothing (with messages) where tunables do not come out.
  std::optional<Rehearsal> run(DiagnosticEngine& diagnostics, bool anySizes) {
    // Blocks as large as sets all processors to work, which unknown sizes leave open.
    if (!anySizes && areAllKnown())
      blockBytes_ = machine::figuresOf(machine_).blockBytes();
    collect();
    for (const Choice& choice : choices_)
      set(choice, choice.fixed ? divisorValue : 1);
    if (limited_)
      boundEntry();
    shareOut();
    setMaxima();
    if (setAlike() || (leastRow_ = 1, setAlike()))
      refine();
    const std::set<TunableUse> seen = tunablesOfSizes();
    for (const Choice& choice : choices_)
      if (!choice.fixed && !choice.streams && !seen.contains({choice.instance, choice.tunable}))
        set(choice, std::min(choice.cap, countsParts(choice) ? divisorValue : unseenValue));
    static const KnownSizes none;
    SettleOptions options{anySizes ? none : known_, limited_, [&] { return fits(); }};
    auto rehearsal = choices_.empty() ? Rehearsal() : settleTunables(graph_, options, diagnostics);
    if (rehearsal && limited_ && !anySizes && !choices_.empty() && !fits())
      rehearsal = boundCalled(std::move(*rehearsal), options, diagnostics);
    if (rehearsal && !choices_.empty() && !reportUncovered(graph_, options, diagnostics))
      return std::nullopt;
    return rehearsal;
  }

private:
  bool areAllKnown() const {
    const auto isKnown = [&](const Variable* size) { return known_.contains(size->name); };
    return std::ranges::all_of(std::views::take(graph_.instances, graph_.entryCount), [&](const Instance& entry) {
      return std::ranges::all_of(entry.variant->sizeParameters, isKnown);
    });
  }

  int64_t& valueOf(const Choice& choice) { return graph_.instances[choice.instance].tunables[choice.tunable->index]; }
  void set(const Choice& choice, int64_t value) {
    value = std::clamp<int64_t>(value, 1, choice.cap);
    if (choice.kind.isShift)
      value = std::bit_width(static_cast<uint64_t>(value)) - 1;
    else if (choice.divides > 0 && choice.kind.isBits)
      value = std::min(powerOfTwo(value), choice.divides & -choice.divides);
    else if (choice.divides > 0)
      value = largestDivisor(choice.divides, value);
    valueOf(choice) = value;
  }
  /// What a choice comes to as a size.
  int64_t sizeOf(const Choice& choice) {
    const int64_t value = valueOf(choice);
    return choice.kind.isShift ? int64_t(1) << std::min<int64_t>(value, 40) : value;
  }
  /// As large as fits; false where nothing does.
  bool setAlike() {
    int64_t value = largestTunable;
    for (setAll(value); value > 1 && !fits(); setAll(value))
      value /= 2;
    return fits();
  }
  void setAll(int64_t value) {
    for (const Choice& choice : choices_)
      if (!choice.fixed)
        set(choice, choice.streams && choice.dimension > 0 ? std::min(value, streamedRows)
                    : choice.setsRows                      ? std::max(value, leastRow_)
                                                           : value);
  }

  void collect() {
    for (uint32_t i = 0; i < graph_.instances.size(); ++i) {
      const TaskVariant& variant = *graph_.instances[i].variant;
      if (variant.tunables.empty())
        continue;
      const TunableUses uses = usesOf(variant);
      for (const Variable* tunable : variant.tunables) {
        choices_.push_back(choiceFor(i, tunable));
        choices_.back().kind = uses.tunables[tunable->index];
      }
    }
    // In local stores, where what lies beside a block is moved twice, square blocks are better.
    if (!limited_ || worksInPlace_)
      streamed_ = streamedLeaves(graph_);
    for (Choice& choice : choices_)
      choice.streams =
          (!limited_ || worksInPlace_) && !choice.fixed && cutsAlike(*graph_.instances[choice.instance].variant);
    for (Choice& choice : choices_)
      choice.setsRows = choice.rank > 1 && choice.dimension == 0 &&
                        std::ranges::count_if(choices_, [&](const Choice& other) {
                          return other.instance == choice.instance && other.dimension == 0;
                        }) == 1;
    std::sort(choices_.begin(), choices_.end(), [](const Choice& a, const Choice& b) {
      return std::tuple(a.dimension, a.instance, a.tunable->index) <
             std::tuple(b.dimension, b.instance, b.tunable->index);
    });
  }

  Choice choiceFor(uint32_t index, const Variable* tunable) {
    const Instance& instance = graph_.instances[index];
    Choice choice;
    choice.instance = index;
    choice.tunable = tunable;
    choice.dimension = 9;
    bool factor = false, divisor = false;
    for (const Callsite* site : instance.variant->callsites) {
      for (const Argument& argument : site->statement->arguments) {
        const auto& ranges = argument.value->ranges;
        for (size_t d = 0; d < ranges.size(); ++d) {
          for (const Expr* part : {ranges[d].start, ranges[d].end, ranges[d].max}) {
            if (!mentions(part, tunable))
              continue;
            choice.dimension = std::min(choice.dimension, ranges.size() - 1 - d);
            choice.rank = std::max(choice.rank, ranges.size());
            (occursAsFactor(part, tunable) ? factor : divisor) = true;
          }
        }
      }
    }
    choice.fixed = divisor && !factor;
    loopsOf(instance, choice);
    return choice;
  }

  /// What the loops that a tunable counts ask of it, when sizes are known.
  void loopsOf(const Instance& instance, Choice& choice) {
    if (!graph_.isEntry(choice.instance))
      return;
    for (const ResolvedLoop& loop : instance.loops) {
      int64_t largest = 0;
      divisionsBy(loop.loop->end, choice.tunable, [&](const Expr* numerator) {
        std::optional<int64_t> value = knownValue(numerator);
        bool roundsUp = mentions(numerator, choice.tunable);
        if (!roundsUp && value && *value > 0)
          choice.divides = choice.divides == 0 ? *value : std::gcd(choice.divides, *value);
      });
      if (!mentions(loop.loop->end, choice.tunable))
        continue;
      for (const Variable* size : instance.variant->sizeParameters)
        if (auto at = known_.find(size->name); at != known_.end() && mentions(loop.loop->end, size))
          largest = std::max(largest, at->second);
      if (largest == 0)
        continue;
      const int64_t ways = std::max<int64_t>(partsOf(loop), 1);
      const bool areRows = choice.rank > 1 && choice.dimension > 0;
      // A block too small to be worth a call is no gain, however many processors wait, unless some would do nothing.
      int64_t least = choice.rank == 1 ? 1024 : 32;
      if (areRows && waysOf(loop) > 1)
        least = std::min(least, divideUp(largest, ways));
      int64_t wanted = loop.spmd ? largest / std::max(partsWanted, ways) : largest;
      if (!limited_ && areRows && loop.spmd) // what all rows read is read, and perhaps copied, once for each block
        wanted = divideUp(largest, divideUp(divideUp(largest, sharedRows), ways) * ways);
      else if (limited_ || loop.spmd)
        wanted = powerOfTwo(std::max(wanted, least));
      choice.cap = std::min(choice.cap, std::max(wanted, least));
    }
  }

  /// Whether a tunable is the number of iterations of a loop, and sizes are divided by it.
  bool countsParts(const Choice& choice) const {
    const Instance& instance = graph_.instances[choice.instance];
    bool isEnd = false;
    for (const ResolvedLoop& loop : instance.loops) {
      const Expr* end = loop.loop->end;
      while (end->kind == ExprKind::Cast)
        end = end->operands[0];
      isEnd |= end->kind == ExprKind::Variable && end->variable == choice.tunable;
    }
    return isEnd && isDivisorIn(instance.variant->body, choice.tunable);
  }

  /// Parts that a loop is distributed in; 0: it is not, or nobody says in how many.
  static int64_t waysOf(const ResolvedLoop& loop) { return loop.spmd ? loop.spmd->ways : 0; }
  /// The same, one for each processor where nobody says.
  int64_t partsOf(const ResolvedLoop& loop) const {
    return loop.spmd ? (loop.spmd->ways ? loop.spmd->ways : processorsAt(machine_, loop.level)) : 0;
  }

  /// Blocks that are distributed are no larger than lets every processor have one, as far as the sizes of the tasks
  /// that the entry calls are known.
  void shareOut() {
    for (const uint32_t index : outermostFirst()) {
      const Instance& instance = graph_.instances[index];
      std::vector<InstanceSizes> sizes;
      for (Choice& choice : choices_)
        for (const ResolvedLoop& loop : instance.loops) {
          // Without a number of parts, as many as make most computers' processors equally busy.
          const int64_t ways = choice.streams ? (loop.spmd ? partsWanted : 1) : limited_ ? waysOf(loop) : partsOf(loop);
          if (choice.instance != index || choice.fixed || choice.rank < 2 || !mentions(loop.loop->end, choice.tunable))
            continue;
          if (choice.streams ? ways > 1 && choice.dimension == 0
                             : graph_.isEntry(index) || ways < 2 || choice.dimension == 0)
            continue;
          if (sizes.empty())
            sizes = largestSizes();
          std::optional<int64_t> largest = 0;
          for (const Variable* size : instance.variant->sizeParameters)
            if (mentions(loop.loop->end, size)) {
              const Bound& bound = sizes[index].sizeParameters[size->index];
              largest = largest && bound.value ? std::optional(std::max(*largest, *bound.value)) : std::nullopt;
            }
          if (largest && *largest > 0 && choice.streams)
            choice.cap = std::min(choice.cap, std::max(powerOfTwo(divideUp(*largest, ways)) *
                                                           (ways == 1 && powerOfTwo(*largest) < *largest ? 2 : 1),
                                                       streamedRows));
          else if (largest && *largest > 0)
            choice.cap = std::min(choice.cap, std::max<int64_t>(divideUp(*largest, ways), 1));
        }
    }
  }

  std::optional<int64_t> knownValue(const Expr* expr) const {
    while (expr->kind == ExprKind::Cast)
      expr = expr->operands[0];
    if (auto constant = constantOf(expr))
      return constant;
    if (expr->kind == ExprKind::Variable && expr->variable->kind == VariableKind::SizeParameter)
      if (auto at = known_.find(expr->variable->name); at != known_.end())
        return at->second;
    return std::nullopt;
  }

  bool fits() const { return fits(graph_); }
  bool fits(const InstanceGraph& graph) const {
    std::vector<InstanceSizes> sizes = propagateSizes(graph, known_);
    if (!limited_)
      return leavesFit(graph, sizes);
    for (const LevelDemand& level : measureDemand(graph, machine_, sizes)) {
      if (!isLimited(machine_, level.level))
        continue;
      uint64_t capacity = machine_.capacityOf(machine_.levels[level.level].memory).bytes;
      // An eighth stays free for scalars and what the machine keeps for itself.
      if (!level.total || *level.total > (capacity - capacity / 8) >> halvings_)
        return false;
    }
    return !worksInPlace_ || leavesFit(graph, sizes, /*isOfStreams=*/true);
  }

  /// Whether the arrays of each leaf, without those that are not bounded, take no more than what is near by; of a leaf
  /// that uses each element with its neighbours alone, no more than the cache. `isOfStreams`: of those alone.
  bool leavesFit(const InstanceGraph& graph, const std::vector<InstanceSizes>& sizes, bool isOfStreams = false) const {
    for (uint32_t i = 0; i < graph.instances.size(); ++i) {
      const Instance& instance = graph.instances[i];
      if (instance.variant->kind == TaskKind::Inner || (isOfStreams && !streamed_.contains(instance.name)))
        continue;
      uint64_t total = 0;
      for (const Variable* array : instance.variant->arrays) {
        uint64_t bytes = array->type->size;
        bool bounded = true;
        for (const Bound& bound : sizes[i].extents[array->index]) {
          bounded &= bound.value.has_value();
          if (bounded && __builtin_mul_overflow(bytes, static_cast<uint64_t>(*bound.value), &bytes))
            bytes = UINT64_MAX;
        }
        if (bounded && __builtin_add_overflow(total, bytes, &total))
          total = UINT64_MAX;
      }
      if (total > (streamed_.contains(instance.name) ? cacheBytes_ : blockBytes_))
        return false;
    }
    return true;
  }

  /// The largest extent of an array that a max bounds blocks of; nothing where it is not known.
  std::optional<int64_t> wholeOf(const Choice& choice, const std::vector<InstanceSizes>& sizes) const {
    std::optional<int64_t> whole = 0;
    for (const Callsite* site : graph_.instances[choice.instance].variant->callsites)
      for (const Argument& argument : site->statement->arguments)
        for (size_t d = 0; d < argument.value->ranges.size(); ++d)
          if (mentions(argument.value->ranges[d].max, choice.tunable)) {
            const Bound& extent = sizes[choice.instance].extents[argument.value->variable->index][d];
            whole = whole && extent.value ? std::optional(std::max(*whole, *extent.value)) : std::nullopt;
          }
    return whole;
  }

  /// Callers before what they call.
  std::vector<uint32_t> outermostFirst() const {
    std::vector<uint32_t> order;
    std::vector<char> isSeen(graph_.instances.size());
    auto visit = [&](auto& self, uint32_t instance) -> void {
      if (std::exchange(isSeen[instance], 1))
        return;
      for (const ResolvedCallsite& site : graph_.instances[instance].callsites)
        for (const ResolvedTarget& target : site.targets)
          self(self, target.instance);
      order.push_back(instance);
    };
    for (uint32_t entry = 0; entry < graph_.entryCount; ++entry)
      visit(visit, entry);
    std::reverse(order.begin(), order.end());
    return order;
  }

  /// Sizes with the other tunables as large as they may become.
  std::vector<InstanceSizes> largestSizes() {
    const std::vector<int64_t> before = values();
    setAll(largestTunable);
    std::vector<InstanceSizes> sizes = propagateSizes(graph_, known_);
    for (size_t i = 0; i < choices_.size(); ++i)
      valueOf(choices_[i]) = before[i];
    return sizes;
  }

  /// Tunables that are maxima and nothing else: as large as what they bound, or as fits beside the smallest blocks with
  /// room to spare. Then other tunables of the instance leave blocks far below such a max. What an instance bounds
  /// follows from the maxima of its callers, which are chosen before.
  void setMaxima() {
    for (uint32_t instance : outermostFirst())
      for (Choice& choice : choices_)
        if (choice.instance == instance && choice.kind.isBound)
          setMaximum(choice);
  }

  void setMaximum(Choice& choice) {
    const std::vector<InstanceSizes> sizes = largestSizes();
    const std::optional<int64_t> whole = wholeOf(choice, sizes);
    choice.fixed = true;
    choice.cap = anySize;
    int64_t value = std::max<int64_t>(whole.value_or(anySize), 1);
    set(choice, value);
    if (fitsBeside(choice))
      return;
    value = powerOfTwo(value);
    set(choice, value);
    while (value > 1 && !fits())
      set(choice, value /= 2);
    set(choice, value = std::max<int64_t>(value / 2, 1));
    for (Choice& other : choices_) {
      if (other.instance != choice.instance || other.kind.isBound)
        continue;
      int64_t largest = 0;
      for (const std::vector<Bound>& extents : sizes[choice.instance].extents)
        for (const Bound& extent : extents)
          if (extent.value && extent.value != whole)
            largest = std::max(largest, *extent.value);
      const __int128 share = whole && largest > 0 ? static_cast<__int128>(largest) * value / (4 * *whole) : value / 16;
      other.cap = std::clamp<int64_t>(static_cast<int64_t>(share), 1, other.cap);
    }
  }
  /// Caches take what is in use, which a max does not say.
  bool fitsBeside(const Choice& choice) const { return (!limited_ && !choice.kind.isExtent) || fits(); }

  /// Where blocks have no max that fits, what the rehearsal has seen of them is stated as a precondition, which a run
  /// checks; more parts make them smaller.
  std::optional<Rehearsal> boundCalled(Rehearsal rehearsal, const SettleOptions& options,
                                       DiagnosticEngine& diagnostics) {
    std::vector<std::vector<ResolvedPrecondition>> before;
    for (const Instance& instance : graph_.instances)
      before.push_back(instance.preconditions);
    const std::vector<int64_t> values = this->values();
    std::optional<Rehearsal> next = rehearsal;
    for (unsigned doublings = 0; next && doublings < 16; ++doublings) {
      for (uint32_t i = 0; i < graph_.instances.size(); ++i) {
        graph_.instances[i].preconditions = before[i];
        if (!graph_.isEntry(i) && !next->largest[i].empty() && next->isComplete)
          stateSeen(graph_.instances[i], next->largest[i]);
      }
      if (fits())
        return next;
      bool changed = false;
      for (const Choice& choice : choices_) {
        const int64_t value = valueOf(choice);
        if (choice.kind.isBound)
          continue;
        set(choice, choice.fixed || choice.kind.isCount ? sizeOf(choice) * 2 : sizeOf(choice) / 2);
        changed |= valueOf(choice) != value;
      }
      next = changed ? settleTunables(graph_, options, diagnostics) : std::nullopt;
    }
    for (size_t i = 0; i < before.size(); ++i)
      graph_.instances[i].preconditions = before[i];
    for (size_t i = 0; i < choices_.size(); ++i)
      valueOf(choices_[i]) = values[i];
    return rehearsal;
  }

  static void stateSeen(Instance& called, const std::vector<std::vector<std::optional<int64_t>>>& largest) {
    for (const Variable* array : called.variant->arrays) {
      if (array->kind != VariableKind::Parameter || array->index >= largest.size())
        continue;
      SizeBound bound;
      for (const std::optional<int64_t>& extent : largest[array->index])
        if (extent)
          bound.values.push_back(*extent);
      if (bound.values.size() == array->extents.size())
        called.preconditions.push_back({array, bound});
    }
  }

  /// All fits before, and after.
  void refine() {
    const std::vector<int64_t> before = values();
    GraphParts parts(graph_);
    refine([&](const Choice& choice) { return fits(parts.of(choice.instance)); });
    // Of a graph with too many paths nothing is known, which no part of it tells.
    if (fits())
      return;
    for (size_t i = 0; i < choices_.size(); ++i)
      valueOf(choices_[i]) = before[i];
    refine([&](const Choice&) { return fits(); });
  }

  std::vector<int64_t> values() {
    std::vector<int64_t> result;
    for (const Choice& choice : choices_)
      result.push_back(valueOf(choice));
    return result;
  }

  /// `stillFits(choice)`: after a change of its tunable alone.
  template <typename StillFits>
  void refine(StillFits stillFits) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Choice& choice : choices_) {
        const int64_t before = valueOf(choice), size = sizeOf(choice);
        if (choice.fixed || size > largestTunable / 2)
          continue;
        set(choice, size * 2);
        if (valueOf(choice) == before)
          continue;
        if (!stillFits(choice)) {
          valueOf(choice) = before;
          continue;
        }
        changed = true;
        // Rows as long as can be, before there are more of them.
        for (int64_t last = valueOf(choice); choice.streams && sizeOf(choice) <= largestTunable / 2;
             last = valueOf(choice)) {
          set(choice, sizeOf(choice) * 2);
          if (valueOf(choice) == last)
            break;
          if (!stillFits(choice)) {
            valueOf(choice) = last;
            break;
          }
        }
      }
    }
  }

  /// The tunables that some size follows from.
  std::set<TunableUse> tunablesOfSizes() const {
    std::set<TunableUse> seen;
    for (const InstanceSizes& each : propagateSizes(graph_, known_))
      for (const std::vector<Bound>& extents : each.extents)
        for (const Bound& bound : extents)
          seen.insert(bound.because.begin(), bound.because.end());
    return seen;
  }

  bool isBounded(const KnownSizes& sizes) const {
    for (const LevelDemand& level : measureDemand(graph_, machine_, propagateSizes(graph_, sizes)))
      if (isLimited(machine_, level.level) && !level.total)
        return false;
    return true;
  }

  /// Finds the sizes of the entry without which something unbounded would go to a limited memory, and states them as
  /// preconditions on the arrays that they shape.
  void boundEntry() {
    for (entry_ = 0; entry_ < graph_.entryCount; ++entry_)
      boundOneEntry();
    entry_ = 0;
  }

  void boundOneEntry() {
    Instance& entry = graph_.instances[entry_];
    const auto& parameters = entry.variant->sizeParameters;
    if (isBounded({}))
      return;
    KnownSizes guess;
    for (const Variable* size : parameters) {
      auto at = known_.find(size->name);
      guess[std::string(size->name)] = at != known_.end() ? at->second : 1;
    }
    if (!isBounded(guess))
      return;
    for (const Variable* size : parameters) {
      KnownSizes without = guess;
      without.erase(std::string(size->name));
      if (isBounded(without))
        guess = std::move(without);
    }
    // Where the arrays themselves lie in a limited memory, they may fill half of it; what does not go further in as a
    // whole is bounded so.
    for (const Variable* array : entry.variant->arrays)
      state(array, guess, smallTable);
    if (!isBounded(known_))
      boundParts(guess);
    for (const Variable* array : entry.variant->arrays) {
      if (array->kind != VariableKind::Parameter || !isLimited(machine_, entry.arrayLevels[array->index]))
        continue;
      std::vector<ResolvedPrecondition> small = entry.preconditions;
      std::erase_if(entry.preconditions, [&](const ResolvedPrecondition& each) { return each.array == array; });
      state(array, guess, generously);
      if (!fits())
        entry.preconditions = std::move(small);
    }
  }

  /// The same where arrays have dimensions besides those that have to be bounded: all sizes are assumed as large as
  /// leaves most of the memories to the blocks.
  void boundParts(const KnownSizes& needed) {
    Instance& entry = graph_.instances[entry_];
    halvings_ += 2;
    for (int64_t assumed = int64_t(1) << 14; assumed > 0; assumed /= 2) {
      entry.preconditions.clear();
      for (const Variable* array : entry.variant->arrays)
        state(array, needed, assumed);
      if (fits())
        break;
    }
    halvings_ -= 2;
  }

  static constexpr int64_t smallTable = 0, generously = -1;

  /// States a precondition on an array of the entry: known sizes, and for others room for a small table or filter, or
  /// for as much as the array's memory takes, or a size that is given. Only the last is for arrays that have dimensions
  /// which need no bound.
  void state(const Variable* array, const KnownSizes& needed, int64_t assumed) {
    Instance& entry = graph_.instances[entry_];
    if (array->kind != VariableKind::Parameter)
      return;
    const bool isGiven = assumed > 0;
    size_t rank = 0;
    int64_t fixed = 1; // elements for each of the sizes that are not
    for (const Extent& extent : array->extents)
      if (!extent.linear.terms.empty())
        ++rank;
      else if (extent.linear.constant < 1 || __builtin_mul_overflow(fixed, extent.linear.constant, &fixed))
        return;
    if (rank == 0)
      return;
    if (!isGiven) {
      const bool isGenerous = assumed == generously;
      assumed = rank == 1 ? 1024 : rank == 2 ? 16 : 4;
      if (isGenerous) {
        const uint64_t capacity = machine_.capacityOf(machine_.levels[entry.arrayLevels[array->index]].memory).bytes /
                                  2 / std::max<uint64_t>(entry.variant->arrays.size() * array->type->size, 1) /
                                  static_cast<uint64_t>(fixed);
        int64_t larger = 1;
        auto fitsIn = [&](int64_t extent) {
          uint64_t left = capacity;
          for (size_t d = 0; d < rank; ++d)
            left /= static_cast<uint64_t>(extent);
          return left > 0;
        };
        while (larger <= INT64_MAX / 4 && fitsIn(larger * 2))
          larger *= 2;
        assumed = std::max(assumed, larger);
      }
    }
    SizeBound bound;
    bool isNeeded = false;
    for (const Extent& extent : array->extents) {
      if (extent.linear.terms.empty()) {
        bound.values.push_back(extent.linear.constant);
        continue;
      }
      const Variable* unit = extent.linear.unit();
      const bool isBound = unit && needed.contains(unit->name);
      if (!unit || (!isBound && !isGiven))
        return;
      isNeeded |= isBound;
      auto known = known_.find(unit->name);
      bound.values.push_back(!isBound ? anySize : known != known_.end() ? known->second : assumed);
    }
    if (isNeeded)
      entry.preconditions.push_back({array, bound});
  }

  InstanceGraph& graph_;
  const Machine& machine_;
  const uint64_t cacheBytes_ = machine::figuresOf(machine_).cacheBytes;
  // Elements that rows of a block have at least, where there is room: of 4 bytes, four registers.
  int64_t leastRow_ = static_cast<int64_t>(machine::figuresOf(machine_).vectorBytes);
  std::set<std::string> streamed_; // leaves, by name, that instances call which cut alike
  const KnownSizes& known_;
  uint64_t blockBytes_ = machine::figuresOf(machine_).nearBytes(); // of a leaf, where caches are the memory
  unsigned halvings_;
  std::vector<Choice> choices_;
  bool limited_ = false;
  bool worksInPlace_ = false; // leaves, in a memory that a virtual one joins and that is larger than a cache
  uint32_t entry_ = 0;        // being bounded
};

} // namespace

int64_t processorsAt(const Machine& machine, unsigned level) {
  const machine::ProcessorId runs = machine.levels[level].processor;
  return runs.valid() ? static_cast<int64_t>(std::max<uint64_t>(machine[runs].count, 1)) : 1;
}

bool tune(InstanceGraph& graph, const Machine& machine, const KnownSizes& known, DiagnosticEngine& diagnostics,
          unsigned halvings, bool anySizes) {
  return Tuner(graph, machine, known, halvings).run(diagnostics, anySizes) &&
         checkDemand(graph, machine, propagateSizes(graph, known), diagnostics);
}

} // namespace strata::sequoia
