// Initial values in braces, as C has them: inner braces may be left out, parts without a value are zero. They become
// assignments that follow the declaration at once.
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/fold.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(tooManyValues, Error, "sequoia-initializer-count",
                  "there are more initial values than '{0}' has room for");
STRATA_DIAGNOSTIC(arrayTooLarge, Error, "sequoia-initializer-size",
                  "array '{0}' has initial values, and {1} elements; it can have {2} at most");
STRATA_DIAGNOSTIC(innerInitializer, Error, "sequoia-inner-initializer",
                  "an inner task cannot write the elements of array '{0}', and so gives them no initial values");

namespace {

constexpr int64_t mostElements = 4096;

bool isAggregate(const Type* type) {
  return type->isRecord() || type->isCArray();
}

} // namespace

/// A part of a variable: an element of an array of the task, then members and elements of C arrays.
struct Checker::InitialPlace {
  struct Step {
    const Type* container = nullptr;
    uint64_t number = 0;
    const Type* type() const { return container->isCArray() ? container->element : container->fields[number].type; }
  };
  Variable* variable = nullptr;
  std::vector<int64_t> indices;
  std::vector<Step> path;
  const Type* type() const { return path.empty() ? variable->type : path.back().type(); }
};

/// The values between one pair of braces, and how many of them have been used.
struct Checker::BracedValues {
  Expr* list = nullptr;
  size_t next = 0;
  size_t checked = 0; // so many values have been checked
  bool done() const { return next >= list->operands.size(); }
};

Expr* Checker::partOf(const InitialPlace& place) {
  Variable& variable = *place.variable;
  auto position = [&](uint64_t number) {
    Expr* index = program_.newExpr(ExprKind::Integer, variable.location);
    index->integer = number;
    index->type = program_.types.longInteger();
    return index;
  };
  Expr* part = program_.newExpr(variable.isArray() ? ExprKind::Element : ExprKind::Variable, variable.location);
  part->variable = &variable;
  part->type = variable.type;
  for (int64_t each : place.indices)
    part->operands.push_back(position(static_cast<uint64_t>(each)));
  for (const InitialPlace::Step& step : place.path) {
    bool isElement = step.container->isCArray();
    Expr* inner = program_.newExpr(isElement ? ExprKind::MemberIndex : ExprKind::Member, variable.location);
    inner->operands = {part};
    if (isElement)
      inner->operands.push_back(position(step.number));
    else
      inner->fieldIndex = static_cast<uint32_t>(step.number);
    inner->type = step.type();
    part = inner;
  }
  return part;
}

void Checker::initialStore(const InitialPlace& place, Expr* initial) {
  Expr* assign = program_.newExpr(ExprKind::Assign, initial->location);
  assign->operands = {partOf(place), convertTo(initial, place.type(), "the initial value")};
  assign->type = place.type();
  place.variable->isAssigned = true;
  place.variable->stores.push_back(assign);
}

/// Gives a part its value: the next of the list, or several of them, or those in braces of its own.
void Checker::initialPart(InitialPlace& place, BracedValues& values) {
  if (values.done())
    return;
  const Type* type = place.type();
  Expr*& next = values.list->operands[values.next];
  if (next->kind == ExprKind::Braces) {
    BracedValues inner{next};
    ++values.next;
    if (isAggregate(type))
      initialMembers(place, inner);
    else
      initialPart(place, inner);
    if (!inner.done())
      diagnostics_.report(tooManyValues, inner.list->operands[inner.next]->location, place.variable->name);
    return;
  }
  // A value may be looked at several times, as that of something large, and then as that of a member.
  if (values.checked <= values.next) {
    next = value(next);
    values.checked = values.next + 1;
  }
  if (isAggregate(type) && next->type != type && !next->type->isError())
    return initialMembers(place, values);
  ++values.next;
  initialStore(place, next);
}

void Checker::initialMembers(InitialPlace& place, BracedValues& values) {
  const Type* type = place.type();
  // Of a union the first member is given its value.
  uint64_t count = type->isCArray() ? type->count : type->kind == TypeKind::Union ? 1 : type->fields.size();
  for (uint64_t number = 0; number < count && !values.done(); ++number) {
    place.path.push_back({type, number});
    initialPart(place, values);
    place.path.pop_back();
  }
}

/// The elements of an array of the task, along one dimension and those behind it.
void Checker::initialElements(InitialPlace& place, BracedValues& values) {
  const Variable& variable = *place.variable;
  const int64_t count = *constantOf(variable.extents[place.indices.size()].expression);
  for (int64_t position = 0; position < count; ++position) {
    place.indices.push_back(position);
    if (place.indices.size() == variable.extents.size()) {
      // Members without a value of their own are zero.
      if (isAggregate(variable.type) || values.done()) {
        Expr* zero = program_.newExpr(ExprKind::Zero, variable.location);
        zero->type = variable.type;
        initialStore(place, zero);
      }
      initialPart(place, values);
    } else if (!values.done() && values.list->operands[values.next]->kind == ExprKind::Braces) {
      BracedValues inner{values.list->operands[values.next++]};
      initialElements(place, inner);
      if (!inner.done())
        diagnostics_.report(tooManyValues, inner.list->operands[inner.next]->location, variable.name);
    } else {
      initialElements(place, values);
    }
    place.indices.pop_back();
  }
}

void Checker::initialValues(Variable& variable) {
  BracedValues values{variable.initializer};
  variable.initializer = nullptr;
  InitialPlace place;
  place.variable = &variable;
  if (variable.type->isError())
    return;
  if (!variable.isArray()) {
    if (isAggregate(variable.type))
      initialMembers(place, values);
    else
      initialPart(place, values);
  } else {
    if (variant_ && variant_->kind == TaskKind::Inner) {
      diagnostics_.report(innerInitializer, values.list->location, variable.name)
          .help("write them in a leaf task that this task calls");
      return;
    }
    int64_t elements = 1;
    for (const Extent& extent : variable.extents) {
      auto size = constantOf(extent.expression);
      if (!size || *size < 0 || __builtin_mul_overflow(elements, *size, &elements) || elements > mostElements) {
        diagnostics_
            .report(arrayTooLarge, values.list->location, variable.name,
                    size ? "too many" : "a number that is not constant", mostElements)
            .help("write the elements in a loop");
        return;
      }
    }
    initialElements(place, values);
  }
  if (!values.done())
    diagnostics_.report(tooManyValues, values.list->operands[values.next]->location, variable.name);
}

} // namespace strata::sequoia
