// Evaluation on demand with a stack of its own, so that long chains of dependences do not overrun the program's. See
// interpret.h.
#include "compiler/equations/interpret.h"

#include <algorithm>
#include <map>

namespace strata::equations {

namespace {

using Point = std::vector<int64_t>;

int64_t valueAt(const Affine& affine, const Point& point, const std::vector<int64_t>& sizes) {
  int64_t sum = affine.constant;
  for (size_t i = 0; i < affine.iterators.size(); ++i)
    sum += affine.iterators[i] * point[i];
  for (size_t i = 0; i < affine.parameters.size(); ++i)
    sum += affine.parameters[i] * sizes[i];
  return sum;
}

int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/// The least and the greatest value of each iterator in a conjunction, by passing bounds from constraint to constraint
/// until none changes. A box around the points, not always the smallest.
struct Box {
  Point least, most;
  bool isEmpty = false;
};

class Interpreter {
public:
  Interpreter(const Graph& graph, const std::vector<int64_t>& sizes, const Read& read, const Write& write)
      : graph_(graph), sizes_(sizes), read_(read), write_(write), definitions_(graph.variables.size()),
        values_(graph.nodes.size()) {
    for (uint32_t i = 0; i < graph.nodes.size(); ++i)
      if (!graph.nodes[i].isOutput)
        definitions_[graph.nodes[i].target].push_back(i);
  }

  std::optional<Failure> run() {
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.nodes[i].isOutput && !compute(i))
        return failure_;
    return std::nullopt;
  }

private:
  bool contains(const Space& space, const Point& point) const {
    return std::any_of(space.pieces.begin(), space.pieces.end(), [&](const std::vector<Constraint>& piece) {
      return std::all_of(piece.begin(), piece.end(), [&](const Constraint& each) { return holds(each, point); });
    });
  }

  bool holds(const Constraint& constraint, const Point& point) const {
    const int64_t value = valueAt(constraint.value, point, sizes_);
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

  Box boxOf(const std::vector<Constraint>& piece) const {
    constexpr int64_t far = int64_t{1} << 40;
    Box box{Point(graph_.iterators.size(), -far), Point(graph_.iterators.size(), far)};
    for (bool changes = true; changes && !box.isEmpty;) {
      changes = false;
      for (const Constraint& each : piece) {
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
    const int64_t constant = sign * valueAt(rest, {}, sizes_);
    for (size_t i = 0; i < value.iterators.size(); ++i) {
      const int64_t factor = sign * value.iterators[i];
      if (factor == 0)
        continue;
      int64_t others = constant; // the most that all else can be
      for (size_t j = 0; j < value.iterators.size(); ++j)
        if (j != i)
          others += std::max(sign * value.iterators[j] * box.least[j], sign * value.iterators[j] * box.most[j]);
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

  /// All iterations of a node that is an output.
  bool compute(uint32_t node) {
    const Space& domain = graph_.nodes[node].domain;
    for (size_t piece = 0; piece < domain.pieces.size(); ++piece) {
      const Box box = boxOf(domain.pieces[piece]);
      if (box.isEmpty)
        continue;
      for (Point point = box.least;;) {
        if (contains({{domain.pieces[piece]}}, point) && !demand(node, point))
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

  struct Pending {
    uint32_t node;
    Point point;
  };

  bool demand(uint32_t node, const Point& point) {
    std::vector<Pending> stack{{node, point}};
    while (!stack.empty()) {
      const Pending top = stack.back();
      if (values_[top.node].contains(top.point)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      std::vector<Value> operands;
      if (!gather(top, operands, stack))
        return false;
      if (stack.size() != before)
        continue; // operands first
      if (!finish(top, operands))
        return false;
      stack.pop_back();
    }
    return true;
  }

  /// The operands of an instance; those that are not computed yet go onto the stack.
  bool gather(const Pending& top, std::vector<Value>& operands, std::vector<Pending>& stack) {
    const Node& node = graph_.nodes[top.node];
    for (const Operand& operand : node.operands) {
      if (const Constant* constant = std::get_if<Constant>(&operand)) {
        operands.push_back({constant->integer, constant->real});
      } else if (const InputUse* input = std::get_if<InputUse>(&operand)) {
        operands.push_back(read_(input->input, indices(input->index, top.point)));
      } else {
        const Use& use = std::get<Use>(operand);
        Point from = top.point;
        for (size_t i = 0; i < from.size(); ++i)
          from[i] -= use.distance[i];
        const auto definition = std::find_if(definitions_[use.variable].begin(), definitions_[use.variable].end(),
                                             [&](uint32_t each) { return contains(graph_.nodes[each].domain, from); });
        if (definition == definitions_[use.variable].end()) {
          failure_ = {"an instance of '" + graph_.variables[use.variable].name + "' is used that no equation defines",
                      node.location};
          return false;
        }
        const auto found = values_[*definition].find(from);
        if (found != values_[*definition].end())
          operands.push_back(found->second);
        else
          stack.push_back({*definition, from});
      }
    }
    return true;
  }

  std::vector<int64_t> indices(const std::vector<Affine>& index, const Point& point) const {
    std::vector<int64_t> found;
    for (const Affine& each : index)
      found.push_back(valueAt(each, point, sizes_));
    return found;
  }

  bool finish(const Pending& top, const std::vector<Value>& operands) {
    const Node& node = graph_.nodes[top.node];
    const std::optional<Value> value = evaluate(node.operation, node.type, node.operandType, operands);
    if (!value) {
      failure_ = {node.operation == Operation::Convert ? "a number that an integer cannot hold"
                                                       : "a division by zero, or one that overflows",
                  node.location};
      return false;
    }
    values_[top.node].emplace(top.point, *value);
    if (node.isOutput)
      write_(node.target, indices(node.index, top.point), *value);
    return true;
  }

  const Graph& graph_;
  const std::vector<int64_t>& sizes_;
  const Read& read_;
  const Write& write_;
  std::vector<std::vector<uint32_t>> definitions_; // nodes, by variable
  std::vector<std::map<Point, Value>> values_;     // by node
  Failure failure_;
};

} // namespace

std::optional<Failure> interpret(const Graph& graph, const std::vector<int64_t>& sizes, const Read& read,
                                 const Write& write) {
  return Interpreter(graph, sizes, read, write).run();
}

} // namespace strata::equations
