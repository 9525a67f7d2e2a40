// Layouts resolved to expressions: pieces, stacking, and the byte at which every array begins. See layout.h.
#include "compiler/hbir/layout/layout.h"

#include "compiler/hbir/layout/plan.h"

#include <algorithm>

namespace strata::hbir {

namespace {

using Kind = IndexExpression::Kind;

/// The instances that have a part of an array; nothing when isl cannot say.
std::optional<isl::set> instancesHolding(const ArrayPlan& plan, const Polyhedra& polyhedra) {
  try {
    const bool copies = plan.layout.everywhere;
    const std::optional<isl::map> map = polyhedra.map({copies ? plan.layout.copy : plan.pieces.instance},
                                                      polyhedra.box(copies ? plan.layout.copies : plan.pieces.extents));
    return map ? std::optional(map->range()) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool mayShare(const std::optional<isl::set>& a, const std::optional<isl::set>& b) {
  if (!a || !b)
    return true;
  try {
    return !a->is_disjoint(*b);
  } catch (const std::exception&) {
    return true;
  }
}

ArrayPlan planArray(const Program& program, const Array& array, const Polyhedra& polyhedra) {
  ArrayPlan plan{&array, cut(array), {}, {}, {}};
  plan.stacking = stack(plan.pieces, polyhedra);
  const MemoryClass& memory = *array.layout.memory;
  ResolvedLayout& layout = plan.layout;
  layout.memory = memory.name;
  layout.instances = instancesOf(program.target, memory).value_or(0);
  layout.perProcessor = memory.local ? memory.count : 0;
  layout.elementBytes = bytesOf(array.type);
  for (const IndexExpression& coordinate : plan.pieces.layout)
    layout.piece.push_back(coordinate.substitute(plan.pieces.number));
  layout.instance = array.layout.instance.substitute(layout.piece);
  layout.offset =
      IndexExpression::make(Kind::Add,
                            IndexExpression::make(Kind::Multiply, plan.stacking.rank.substitute(plan.pieces.number),
                                                  IndexExpression::constant(plan.pieces.elements)),
                            plan.pieces.within);
  layout.everywhere = array.layout.kind == LayoutKind::Replicated;
  if (layout.everywhere) {
    layout.copies = array.layout.pieces;
    layout.copy = array.layout.instance;
  }
  layout.pieceExtents = plan.pieces.pieceExtents;
  layout.pieceElements = plan.pieces.elements;
  layout.bytes = static_cast<uint64_t>(plan.stacking.length) * static_cast<uint64_t>(layout.elementBytes);
  layout.exact = plan.stacking.exact;
  if (plan.stacking.exact)
    plan.fullest = plan.pieces.instance.evaluate(plan.stacking.fullest);
  return plan;
}

} // namespace

std::vector<ArrayPlan> planArrays(const Program& program, const Polyhedra& polyhedra) {
  std::vector<ArrayPlan> plans;
  std::vector<std::optional<isl::set>> holding;
  for (const Array& array : program.arrays) {
    plans.push_back(planArray(program, array, polyhedra));
    ArrayPlan& plan = plans.back();
    holding.push_back(instancesHolding(plan, polyhedra));
    // Behind every earlier array with which it has an instance in common.
    for (size_t i = 0; i + 1 < plans.size(); ++i) {
      const ResolvedLayout& earlier = plans[i].layout;
      if (plans[i].array->layout.memory != array.layout.memory)
        continue;
      const uint64_t end = (earlier.base + earlier.bytes + arrayAlignment - 1) / arrayAlignment * arrayAlignment;
      if (end > plan.layout.base && mayShare(holding[i], holding.back()))
        plan.layout.base = end;
    }
  }
  return plans;
}

std::vector<ResolvedLayout> resolveLayouts(const Program& program) {
  const Polyhedra polyhedra;
  std::vector<ResolvedLayout> layouts;
  for (ArrayPlan& plan : planArrays(program, polyhedra))
    layouts.push_back(std::move(plan.layout));
  return layouts;
}

ResolvedLayout resolveLayout(const Program& program, const Array& array) {
  std::vector<ResolvedLayout> layouts = resolveLayouts(program);
  for (size_t i = 0; i < layouts.size(); ++i)
    if (&program.arrays[i] == &array)
      return std::move(layouts[i]);
  return {};
}

} // namespace strata::hbir
