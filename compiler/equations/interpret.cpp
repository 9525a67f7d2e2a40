// Evaluation on demand with a stack of its own, so that long chains of dependences do not overrun the program's. See
// interpret.h.
#include "compiler/equations/interpret.h"

#include <algorithm>
#include <map>

namespace strata::equations {

namespace {

using Point = std::vector<int64_t>;

/// Wide enough for sums of products of what factors, sizes and iterators can be.
using Wide = __int128;

Wide valueAt(const Affine& affine, const Point& point, const std::vector<int64_t>& sizes) {
  Wide sum = affine.constant;
  for (size_t i = 0; i < affine.iterators.size(); ++i)
    sum += Wide{affine.iterators[i]} * point[i];
  for (size_t i = 0; i < affine.parameters.size(); ++i)
    sum += Wide{affine.parameters[i]} * sizes[i];
  return sum;
}

/// Within what iterators are looked for.
constexpr int64_t far = int64_t{1} << 62;

int64_t floorDivide(Wide a, int64_t b) {
  const Wide quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return static_cast<int64_t>(std::clamp<Wide>(quotient, -far, far));
}

/// The least and the greatest value of each iterator in a conjunction, by passing bounds from constraint to constraint
/// until none changes. A box around the points, not always the smallest.
struct Box {
  Point least, most;
  bool isEmpty = false;
};

class Interpreter {
public:
  Interpreter(const System& system, const std::vector<int64_t>& sizes, const Read& read, const Write& write)
      : system_(system), sizes_(sizes), read_(read), write_(write), definitions_(system.variables.size()),
        homes_(system.equations.size()), values_(system.equations.size()) {
    for (uint32_t i = 0; i < system.equations.size(); ++i) {
      definitions_[system.equations[i].variable].push_back(i);
      isAtHome_.push_back(isIdentity(system.equations[i].index, system.iterators.size()));
    }
    uint32_t inputs = 0, outputs = 0;
    for (const SystemVariable& each : system.variables)
      numbers_.push_back(each.role == Role::Input ? inputs++ : each.role == Role::Output ? outputs++ : 0);
  }

  std::optional<Failure> run() {
    for (uint32_t i = 0; i < system_.equations.size(); ++i)
      if (system_.variables[system_.equations[i].variable].role == Role::Output &&
          !eachIteration(i, [&](const Point& point) { return demand(i, point); }))
        return failure_;
    return std::nullopt;
  }

private:
  bool contains(const Space& space, const Point& point) const {
    return std::any_of(space.pieces.begin(), space.pieces.end(), [&](const std::vector<Constraint>& piece) {
      return std::all_of(piece.begin(), piece.end(), [&](const Constraint& each) { return holds(each, point); });
    });
  }
  /// Whether an equation holds in an iteration.
  bool isActive(uint32_t equation, const Point& point) const {
    return contains(system_.equations[equation].guard, point) && contains(system_.space, point);
  }

  bool holds(const Constraint& constraint, const Point& point) const {
    const Wide value = valueAt(constraint.value, point, sizes_);
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

  Box boxOf(const std::vector<Constraint>& piece, const std::vector<Constraint>& within) const {
    Box box{Point(system_.iterators.size(), -far), Point(system_.iterators.size(), far)};
    for (bool changes = true; changes && !box.isEmpty;) {
      changes = false;
      for (const std::vector<Constraint>* constraints : {&piece, &within})
        for (const Constraint& each : *constraints) {
          if (each.kind == Constraint::Kind::NotNegative || each.kind == Constraint::Kind::Zero)
            changes |= tighten(box, each.value, 1);
          if (each.kind == Constraint::Kind::Zero)
            changes |= tighten(box, each.value, -1);
        }
    }
    return box;
  }

  /// By sign · value >= 0.
  bool tighten(Box& box, const Affine& value, int64_t sign) const {
    bool changes = false;
    const Affine rest{{}, value.parameters, value.constant};
    const Wide constant = sign * valueAt(rest, {}, sizes_);
    for (size_t i = 0; i < value.iterators.size(); ++i) {
      const int64_t factor = sign * value.iterators[i];
      if (factor == 0)
        continue;
      Wide others = constant; // the most that all else can be
      for (size_t j = 0; j < value.iterators.size(); ++j)
        if (j != i)
          others +=
              std::max(Wide{sign * value.iterators[j]} * box.least[j], Wide{sign * value.iterators[j]} * box.most[j]);
      if (factor > 0 && -floorDivide(others, factor) > box.least[i]) {
        box.least[i] = -floorDivide(others, factor);
        changes = true;
      }
      if (factor < 0 && floorDivide(others, -factor) < box.most[i]) {
        box.most[i] = floorDivide(others, -factor);
        changes = true;
      }
      if (box.least[i] > box.most[i])
        box.isEmpty = true;
    }
    return changes && !box.isEmpty;
  }

  /// Calls `visit` for the iterations that an equation holds in, until it says false; some come twice where pieces of
  /// its condition overlap.
  template <typename Visit>
  bool eachIteration(uint32_t equation, const Visit& visit) const {
    for (const std::vector<Constraint>& piece : system_.equations[equation].guard.pieces)
      for (const std::vector<Constraint>& within : system_.space.pieces) {
        const Box box = boxOf(piece, within);
        if (box.isEmpty)
          continue;
        for (Point point = box.least;;) {
          if (contains({{piece}}, point) && contains({{within}}, point) && !visit(point))
            return false;
          size_t at = point.size();
          while (at > 0 && point[at - 1] == box.most[at - 1]) {
            --at;
            point[at] = box.least[at];
          }
          if (at == 0)
            break;
          ++point[at - 1];
        }
      }
    return true;
  }

  /// Where an equation defines an instance: that iteration; nothing where it does not.
  std::optional<Point> homeOf(uint32_t equation, const Point& instance) {
    if (isAtHome_[equation])
      return isActive(equation, instance) ? std::optional(instance) : std::nullopt;
    std::optional<std::map<Point, Point>>& known = homes_[equation];
    if (!known) {
      known.emplace();
      eachIteration(equation, [&](const Point& point) {
        known->emplace(indices(system_.equations[equation].index, point), point);
        return true;
      });
    }
    const auto found = known->find(instance);
    return found == known->end() ? std::nullopt : std::optional(found->second);
  }

  struct Pending {
    uint32_t equation;
    Point point;
  };

  bool demand(uint32_t equation, const Point& point) {
    std::vector<Pending> stack{{equation, point}};
    while (!stack.empty()) {
      const Pending top = stack.back();
      if (values_[top.equation].contains(top.point)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      const Equation& of = system_.equations[top.equation];
      if (!gather(of.value, top.point, stack))
        return false;
      if (stack.size() != before)
        continue; // operands first
      const std::optional<Value> value = valueOf(of.value, top.point);
      if (!value)
        return false;
      values_[top.equation].emplace(top.point, *value);
      if (system_.variables[of.variable].role == Role::Output)
        write_(numbers_[of.variable], indices(of.index, top.point), *value);
      stack.pop_back();
    }
    return true;
  }

  /// Which instance an element is: the equation that defines it, and where. False, with the failure, if none does.
  std::optional<Pending> definitionOf(const Expression& element, const Point& point) {
    const Point instance = indices(element.index, point);
    for (const uint32_t equation : definitions_[element.variable])
      if (std::optional<Point> home = homeOf(equation, instance))
        return Pending{equation, std::move(*home)};
    failure_ = {"an instance of '" + system_.variables[element.variable].name + "' is used that no equation defines",
                element.location};
    return std::nullopt;
  }

  /// Puts the instances that an expression uses and that are not computed yet onto the stack.
  bool gather(const Expression& expression, const Point& point, std::vector<Pending>& stack) {
    if (expression.kind == Expression::Kind::Element && system_.variables[expression.variable].role == Role::Internal) {
      std::optional<Pending> found = definitionOf(expression, point);
      if (!found)
        return false;
      if (!values_[found->equation].contains(found->point))
        stack.push_back(std::move(*found));
    }
    return std::all_of(expression.operands.begin(), expression.operands.end(),
                       [&](const Expression& operand) { return gather(operand, point, stack); });
  }

  std::vector<int64_t> indices(const std::vector<Affine>& index, const Point& point) const {
    std::vector<int64_t> found;
    for (const Affine& each : index)
      found.push_back(static_cast<int64_t>(valueAt(each, point, sizes_)));
    return found;
  }

  /// REQUIRES: the instances that it uses are computed.
  std::optional<Value> valueOf(const Expression& expression, const Point& point) {
    if (expression.kind == Expression::Kind::Constant)
      return Value{expression.constant.integer, expression.constant.real};
    if (expression.kind == Expression::Kind::Element) {
      if (system_.variables[expression.variable].role == Role::Input)
        return read_(numbers_[expression.variable], indices(expression.index, point));
      const std::optional<Pending> found = definitionOf(expression, point);
      return values_[found->equation].at(found->point);
    }
    std::vector<Value> operands;
    for (const Expression& operand : expression.operands) {
      const std::optional<Value> value = valueOf(operand, point);
      if (!value)
        return std::nullopt;
      operands.push_back(*value);
    }
    std::optional<Value> value = evaluate(expression.operation, expression.type, expression.operandType, operands);
    if (!value)
      failure_ = {expression.operation == Operation::Convert ? "a number that an integer cannot hold"
                                                             : "a division by zero, or one that overflows",
                  expression.location};
    return value;
  }

  const System& system_;
  const std::vector<int64_t>& sizes_;
  const Read& read_;
  const Write& write_;
  std::vector<std::vector<uint32_t>> definitions_; // equations, by variable
  std::vector<bool> isAtHome_;                     // by equation: it defines the instance of its own iteration
  std::vector<std::optional<std::map<Point, Point>>> homes_; // by other equations: iterations by instances
  std::vector<std::map<Point, Value>> values_;               // by equation: of its iterations
  std::vector<uint32_t> numbers_;                            // of inputs among inputs, of outputs among outputs
  Failure failure_;
};

} // namespace

std::optional<Failure> interpret(const System& system, const std::vector<int64_t>& sizes, const Read& read,
                                 const Write& write) {
  return Interpreter(system, sizes, read, write).run();
}

std::optional<Failure> interpret(const Graph& graph, const std::vector<int64_t>& sizes, const Read& read,
                                 const Write& write) {
  return interpret(systemOf(graph), sizes, read, write);
}

} // namespace strata::equations
