// The rules of layouts: sizes that 64 bits count, instances that there are, data that fits its memory. See layout.h.
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/layout/plan.h"

#include <algorithm>

namespace strata::hbir {

namespace {

STRATA_DIAGNOSTIC(dataTooLarge, Error, "hbir-data-too-large",
                  "array '{0}' of {1} elements in {2} pieces is more than 64 bits can address");
STRATA_DIAGNOSTIC(tooManyInstances, Error, "hbir-too-many-instances",
                  "memory '{0}' has more instances than 64 bits can count: {1} in each of {2} tiles");
STRATA_DIAGNOSTIC(tooManyPieces, Error, "hbir-layout-rank", "block cuts '{0}' in {1} dimensions, and it has {2}");
STRATA_DIAGNOSTIC(noInstance, Error, "hbir-layout-no-instance",
                  "piece {0} of '{1}' falls to instance {2} of memory '{3}', which has {4}");
STRATA_DIAGNOSTIC(undecided, Error, "hbir-layout-undecided",
                  "whether the memory '{0}' has an instance for every piece of '{1}' cannot be decided");
STRATA_DIAGNOSTIC(doesNotFit, Error, "hbir-data-does-not-fit",
                  "the data in memory '{0}' takes {1} bytes, and it holds {2}");

STRATA_DIAGNOSTIC(tileFull, Error, "hbir-tile-memory-full",
                  "the arrays of a tile that runs this code take {0} bytes, and its memory holds {1}");

constexpr int64_t mostVisited = 1'000'000; // pieces looked at one by one where isl does not help

class FitChecker {
public:
  FitChecker(const Program& program, DiagnosticEngine& diagnostics) : program_(program), diagnostics_(diagnostics) {}

  void run() {
    const unsigned before = diagnostics_.errorCount();
    for (const Array& array : program_.arrays)
      checkArray(array);
    if (diagnostics_.errorCount() != before)
      return; // what follows counts on it
    const std::vector<ArrayPlan> plans = planArrays(program_, polyhedra_);
    for (const MemoryClass& memory : program_.target.memories)
      if (memory.size)
        checkFit(memory, plans);
    if (diagnostics_.errorCount() == before)
      for (const CodeBlock& block : program_.blocks)
        checkTiles(block, plans);
  }

private:
  void checkArray(const Array& array) {
    const Layout& layout = array.layout;
    const Location where = layout.where.valid() ? layout.where : array.where;
    if (!sizesFit(array)) {
      diagnostics_.report(dataTooLarge, where, array.name, extentsText(array.extents), extentsText(layout.pieces));
      return;
    }
    if (layout.kind == LayoutKind::Block && layout.pieces.size() > array.extents.size() && array.extents.size() != 1) {
      diagnostics_.report(tooManyPieces, where, array.name, layout.pieces.size(), array.extents.size())
          .help("write one number of pieces for each dimension that is cut, or 'chunked' to cut the array as a whole");
      return;
    }
    const std::optional<int64_t> instances = instancesOf(program_.target, *layout.memory);
    if (!instances) {
      diagnostics_
          .report(tooManyInstances, layout.memory->where, layout.memory->name, layout.memory->count,
                  extentsText(program_.target.extents))
          .label(array.where, "'" + array.name + "' is laid out in it");
      return;
    }
    checkInstances(array, where, *instances);
  }

  void checkInstances(const Array& array, const Location& where, int64_t instances) {
    const Pieces pieces = cut(array);
    const bool copies = array.layout.kind == LayoutKind::Replicated;
    const IndexExpression& instance = copies ? array.layout.instance : pieces.instance;
    const std::vector<int64_t>& extents = copies ? array.layout.pieces : pieces.extents;
    if (std::find(extents.begin(), extents.end(), 0) != extents.end())
      return; // nothing lies anywhere
    const std::optional<Interval> range = rangeOf(instance, extents);
    if (range && range->least >= 0 && range->most < instances)
      return;
    std::optional<std::vector<int64_t>> wrong;
    bool decided = false;
    try {
      const std::optional<isl::map> map = range ? polyhedra_.map({instance}, polyhedra_.box(extents)) : std::nullopt;
      if (map) {
        const isl::map bad = map->intersect_range(polyhedra_.box(std::vector<Interval>{{0, instances}}).complement());
        if (!bad.is_empty())
          wrong = Polyhedra::first(bad.domain());
        decided = true;
      }
    } catch (const std::exception&) {
      decided = false; // isl gave up
    }
    if (!decided) {
      if (*product(extents) > mostVisited) {
        diagnostics_.report(undecided, where, array.layout.memory->name, array.name)
            .help("say which instance holds a piece with sums, and products and quotients by constants");
        return;
      }
      wrong = firstWrong(instance, extents, instances);
    }
    if (!wrong)
      return;
    std::string coordinates;
    if (copies)
      for (int64_t coordinate : *wrong)
        coordinates += "[" + std::to_string(coordinate) + "]";
    else
      for (const IndexExpression& coordinate : pieces.layout)
        coordinates += "[" + std::to_string(coordinate.evaluate(*wrong).value_or(0)) + "]";
    const std::optional<int64_t> number = instance.evaluate(*wrong);
    diagnostics_
        .report(noInstance, where, coordinates, array.name, number ? std::to_string(*number) : "beyond 64 bits",
                array.layout.memory->name, instances)
        .label(array.layout.memory->where, "numbered from 0");
  }

  static std::optional<std::vector<int64_t>> firstWrong(const IndexExpression& instance,
                                                        const std::vector<int64_t>& extents, int64_t instances) {
    std::vector<int64_t> number(extents.size());
    for (bool more = true; more;) {
      const std::optional<int64_t> value = instance.evaluate(number);
      if (!value || *value < 0 || *value >= instances)
        return number;
      more = false;
      for (size_t d = number.size(); d-- > 0 && !more;) {
        more = ++number[d] < extents[d];
        if (!more)
          number[d] = 0;
      }
    }
    return std::nullopt;
  }

  void checkFit(const MemoryClass& memory, const std::vector<ArrayPlan>& plans) {
    const ArrayPlan* highest = nullptr;
    const auto end = [](const ArrayPlan& plan) { return plan.layout.base + plan.layout.bytes; };
    for (const ArrayPlan& plan : plans)
      if (plan.array->layout.memory == &memory && (!highest || end(plan) > end(*highest)))
        highest = &plan;
    if (!highest || end(*highest) <= static_cast<uint64_t>(*memory.size))
      return;
    const std::string where = highest->fullest ? instanceText(program_.target, memory, *highest->fullest) : memory.name;
    DiagnosticBuilder builder =
        diagnostics_.report(doesNotFit, highest->array->where, where, end(*highest), *memory.size);
    builder.label("'" + highest->array->name + "' " + takes(*highest));
    builder.label(memory.where, "of " + std::to_string(*memory.size) + " bytes");
    bool several = false;
    for (const ArrayPlan& plan : plans)
      if (plan.array->layout.memory == &memory && &plan != highest && plan.layout.base < highest->layout.base) {
        builder.label(plan.array->where, "'" + plan.array->name + "' " + takes(plan));
        several = true;
      }
    if (several)
      builder.note("every array begins at a multiple of " + std::to_string(arrayAlignment) + " bytes");
    if (!highest->layout.exact)
      builder.note("the pieces of '" + highest->array->name +
                   "' fall to instances by no rule that was found, so each is counted in its own place");
  }

  // ---- what the code of a tile declares, beside the data in its memory ----

  /// The local arrays of a piece of code that are there at once, where they are most.
  struct Locals {
    uint64_t bytes = 0;
    std::vector<const Symbol*> arrays;
  };

  static Locals mostLocals(const std::vector<StatementPtr>& list, Locals around) {
    Locals most = around;
    for (const StatementPtr& each : list) {
      if (each->kind == StatementKind::Declare && each->symbol && !each->symbol->extents.empty()) {
        const auto element = static_cast<uint64_t>(hbir::bytesOf(each->symbol->type));
        const std::optional<int64_t> elements = product(each->symbol->extents);
        if (!elements)
          continue; // larger than any memory, and reported
        around.bytes = (around.bytes + element - 1) / element * element + static_cast<uint64_t>(*elements) * element;
        around.arrays.push_back(each->symbol);
        most = around.bytes > most.bytes ? around : most;
      }
      for (const std::vector<StatementPtr>* inner : {&each->body, &each->otherwise}) {
        Locals within = mostLocals(*inner, around);
        if (within.bytes > most.bytes)
          most = std::move(within);
      }
    }
    return most;
  }

  /// Whether an array has a piece in memory number `which` of a tile that runs a block; false where nobody can tell.
  bool liesWith(const ArrayPlan& plan, const CodeBlock& block, int64_t which) const {
    const bool copies = plan.layout.everywhere;
    const IndexExpression& instance = copies ? plan.layout.copy : plan.pieces.instance;
    IndexExpression tile = IndexExpression::constant(0);
    using Kind = IndexExpression::Kind;
    for (size_t i = 0; i < block.tile.size(); ++i)
      tile = IndexExpression::make(
          Kind::Add,
          IndexExpression::make(Kind::Multiply, std::move(tile), IndexExpression::constant(program_.target.extents[i])),
          block.tile[i]);
    tile = IndexExpression::make(
        Kind::Add,
        IndexExpression::make(Kind::Multiply, std::move(tile), IndexExpression::constant(plan.layout.perProcessor)),
        IndexExpression::constant(which));
    std::vector<int64_t> extents;
    for (const GroupIndex& variable : block.variables)
      extents.push_back(variable.extent);
    try {
      const auto held = polyhedra_.map({instance}, polyhedra_.box(copies ? plan.layout.copies : plan.pieces.extents));
      const auto runs = polyhedra_.map({tile}, polyhedra_.box(extents));
      return held && runs && !held->range().intersect(runs->range()).is_empty();
    } catch (const std::exception&) {
      return false; // isl gave up
    }
  }

  void checkTiles(const CodeBlock& block, const std::vector<ArrayPlan>& plans) {
    constexpr int64_t mostMemories = 64;
    const Locals locals = mostLocals(block.body, {});
    if (locals.arrays.empty())
      return;
    uint64_t free = 0, capacity = 0;
    std::vector<const ArrayPlan*> held;
    for (const MemoryClass& memory : program_.target.memories) {
      if (!memory.local)
        continue;
      if (!memory.size || memory.count > mostMemories)
        return; // as much as is wanted, or more than is looked at one by one
      for (int64_t which = 0; which < memory.count; ++which) {
        uint64_t used = 0;
        for (const ArrayPlan& plan : plans)
          if (plan.array->layout.memory == &memory && plan.layout.bytes > 0 && liesWith(plan, block, which)) {
            used = std::max(used, plan.layout.base + plan.layout.bytes);
            held.push_back(&plan);
          }
        capacity += static_cast<uint64_t>(*memory.size);
        free += static_cast<uint64_t>(*memory.size) - std::min(used, static_cast<uint64_t>(*memory.size));
      }
    }
    // One that is too large by itself has been reported.
    if (capacity == 0 || locals.bytes <= free)
      return;
    DiagnosticBuilder builder = diagnostics_.report(tileFull, block.where, capacity - free + locals.bytes, capacity);
    for (const Symbol* array : locals.arrays)
      builder.label(array->where, "'" + array->name + "' takes " +
                                      std::to_string(product(array->extents).value_or(0) * hbir::bytesOf(array->type)) +
                                      " bytes");
    for (size_t i = 0; i < held.size(); ++i)
      if (std::find(held.begin(), held.begin() + static_cast<ptrdiff_t>(i), held[i]) ==
          held.begin() + static_cast<ptrdiff_t>(i))
        builder.label(held[i]->array->where, "'" + held[i]->array->name + "' " + takes(*held[i]));
    builder.label(program_.target.where, "the tiles");
  }

  static std::string takes(const ArrayPlan& plan) {
    return "takes " + std::to_string(plan.layout.bytes) + " bytes from byte " + std::to_string(plan.layout.base);
  }

  const Program& program_;
  DiagnosticEngine& diagnostics_;
  const Polyhedra polyhedra_;
};

} // namespace

bool checkLayouts(const Program& program, DiagnosticEngine& diagnostics) {
  const unsigned before = diagnostics.errorCount();
  FitChecker(program, diagnostics).run();
  return diagnostics.errorCount() == before;
}

} // namespace strata::hbir
