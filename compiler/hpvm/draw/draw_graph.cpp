// Frames are measured from the inside out, then drawn from the outside in. Children stand in layers; edges of one kind
// between two of them are one arrow.
#include "compiler/hpvm/draw/draw_graph.h"

#include "base/picture/layers.h"
#include "base/picture/svg.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <map>

namespace strata::hpvm {

namespace {

constexpr double padding = 16, titleHeight = 40, leafHeight = 44, portsHeight = 34, stub = 22, least = 120;
/// Room beside the boxes for what arrows say.
constexpr double labelWidth = 56;

const char* const style = R"(
.frame { fill: var(--card); stroke: var(--line); }
.leaf { fill: var(--leaf); stroke: var(--leaf-line); }
.edge { fill: none; stroke: var(--ink); }
.bind { fill: none; stroke: var(--quiet); stroke-dasharray: 4 3; }
.tip { fill: var(--ink); stroke: none; }
.quiet { fill: var(--quiet); }
)";

std::string textOf(const llvm::Value& value, unsigned depth) {
  if (depth > 8)
    return "…";
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&value))
    return std::to_string(constant->getSExtValue());
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
    return argumentName(*argument->getParent(), argument->getArgNo());
  const auto* op = llvm::dyn_cast<llvm::Instruction>(&value);
  if (!op)
    return "…";
  if (llvm::isa<llvm::CastInst>(op))
    return textOf(*op->getOperand(0), depth);
  const auto operand = [&](unsigned number) {
    const std::string text = textOf(*op->getOperand(number), depth + 1);
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  };
  const char* sign = nullptr;
  switch (op->getOpcode()) {
  case llvm::Instruction::Add:
    sign = " + ";
    break;
  case llvm::Instruction::Sub:
    sign = " - ";
    break;
  case llvm::Instruction::Mul:
    sign = " * ";
    break;
  case llvm::Instruction::UDiv:
  case llvm::Instruction::SDiv:
    sign = " / ";
    break;
  case llvm::Instruction::URem:
  case llvm::Instruction::SRem:
    sign = " % ";
    break;
  case llvm::Instruction::Shl:
  case llvm::Instruction::LShr:
  case llvm::Instruction::AShr:
    // Products with and quotients by powers of two come as shifts.
    if (const auto* by = llvm::dyn_cast<llvm::ConstantInt>(op->getOperand(1)); by && by->getValue().ult(62))
      return operand(0) + (op->getOpcode() == llvm::Instruction::Shl ? " * " : " / ") +
             std::to_string(int64_t(1) << by->getZExtValue());
    return "…";
  default:
    break;
  }
  if (sign) {
    // A sum with a negative constant is a difference.
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(op->getOperand(1));
    if (op->getOpcode() == llvm::Instruction::Add && constant && constant->isNegative())
      return operand(0) + " - " + std::to_string(-constant->getSExtValue());
    return operand(0) + sign + operand(1);
  }
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(op);
  switch (intrinsic ? intrinsic->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
  case llvm::Intrinsic::umin:
  case llvm::Intrinsic::smin:
    return "min(" + textOf(*op->getOperand(0), depth + 1) + ", " + textOf(*op->getOperand(1), depth + 1) + ")";
  case llvm::Intrinsic::umax:
  case llvm::Intrinsic::smax:
    return "max(" + textOf(*op->getOperand(0), depth + 1) + ", " + textOf(*op->getOperand(1), depth + 1) + ")";
  default:
    return "…";
  }
}

std::string typeText(const llvm::Type* type) {
  if (type->isPointerTy())
    return "pointer";
  if (type->isFloatTy())
    return "float";
  if (type->isDoubleTy())
    return "double";
  return std::to_string(type->getIntegerBitWidth()) + "-bit integer";
}

class GraphDrawing {
public:
  GraphDrawing(const Graphs& graphs, const Root& root) : graphs_(graphs), root_(root) {}

  std::string draw() {
    Frame frame = measure(*root_.node->function, {}, nullptr, 0);
    paint(frame, padding, padding);
    return svg_.document(nodeName(*root_.node->function), frame.height + 2 * padding, style);
  }

private:
  /// A node with what is in it, measured.
  struct Frame {
    const llvm::Function* function = nullptr;
    const InternalNode* node = nullptr; // null: a leaf
    std::string title, extents;
    double width = 0, height = 0;
    std::vector<Frame> children;
    picture::LayerDrawing layers;
    std::vector<std::pair<size_t, size_t>> edges; // between children, in the order of the layers' edges
  };

  static constexpr unsigned mostDepth = 24;

  Frame measure(const llvm::Function& function, const std::vector<llvm::Value*>& extents, const Child* child,
                unsigned depth) {
    Frame frame;
    frame.function = &function;
    frame.title = nodeName(function);
    for (const llvm::Value* extent : extents)
      frame.extents += (frame.extents.empty() ? "" : " × ") + expressionText(*extent);
    if (!child && root_.isStreamed)
      frame.extents = root_.isLaunched ? "launched once, and streaming" : "streaming";
    const auto found = graphs_.internal.find(&function);
    if (found == graphs_.internal.end() || depth == mostDepth) {
      const LeafNode& leaf = graphs_.leaves.count(&function) ? graphs_.leaves.at(&function) : LeafNode();
      for (const auto& [is, what] : {std::pair(leaf.hasBarrier, "waits"), std::pair(leaf.allocates, "allocates")})
        if (is)
          frame.extents += (frame.extents.empty() ? "" : ", ") + std::string(what);
      frame.width = std::max(least, widthOf(frame));
      frame.height = leafHeight;
      return frame;
    }
    frame.node = &found->second;
    std::vector<picture::LayerNode> boxes;
    std::map<std::pair<size_t, size_t>, bool> edges;
    for (const Child& each : frame.node->children) {
      frame.children.push_back(measure(*each.function, each.extents, &each, depth + 1));
      boxes.push_back({frame.children.back().width, frame.children.back().height});
      for (const Source& source : each.inputs)
        if (source.kind == Source::Kind::Edge)
          edges[{source.child, frame.children.size() - 1}] = true;
    }
    std::vector<picture::LayerEdge> arrows;
    for (const auto& [ends, is] : edges) {
      frame.edges.push_back(ends);
      arrows.push_back({ends.first, ends.second});
    }
    frame.layers = picture::drawLayers(boxes, arrows, {.across = 32, .down = 64});
    frame.width =
        std::max({least, widthOf(frame), frame.layers.width + 2 * padding + (arrows.empty() ? 0 : labelWidth)});
    frame.height = titleHeight + portsHeight + frame.layers.height + portsHeight;
    return frame;
  }

  static double widthOf(const Frame& frame) {
    return static_cast<double>(std::max(picture::lengthOf(frame.title), picture::lengthOf(frame.extents))) *
               picture::Svg::characterWidth +
           2 * padding;
  }

  void paint(const Frame& frame, double x, double y) {
    svg_.rectangle(x, y, frame.width, frame.height, frame.node ? "rx=\"6\" class=\"frame\"" : "rx=\"6\" class=\"leaf\"",
                   describe(frame));
    svg_.centred(x, y + 17, frame.width, frame.title, "font-weight: bold");
    svg_.centred(x, y + 33, frame.width, frame.extents);
    if (!frame.node)
      return;
    const double room = frame.edges.empty() ? 0 : labelWidth;
    const double left = x + (frame.width - room - frame.layers.width) / 2, top = y + titleHeight + portsHeight;
    for (size_t number = 0; number < frame.children.size(); ++number) {
      const Frame& child = frame.children[number];
      const double childX = left + frame.layers.nodes[number].x, childY = top + frame.layers.nodes[number].y;
      paintBinds(frame, number, childX, childY);
      paint(child, childX, childY);
    }
    for (size_t number = 0; number < frame.edges.size(); ++number)
      paintEdge(frame, number, left, top);
  }

  std::string describe(const Frame& frame) const {
    std::string text = frame.title + (frame.extents.empty() ? "" : "\n" + frame.extents);
    for (const llvm::Argument& argument : frame.function->args())
      text += "\ninput " + std::to_string(argument.getArgNo()) + ": " +
              argumentName(*frame.function, argument.getArgNo()) + ", " + typeText(argument.getType());
    const NodeFunction& node = graphs_.node(frame.function);
    for (size_t output = 0; output < node.outputs.size(); ++output)
      text += "\noutput " + std::to_string(output) + ": " + typeText(node.outputs[output]);
    return text;
  }

  /// Inputs of the frame that are a child's, and outputs of a child that are the frame's.
  void paintBinds(const Frame& frame, size_t number, double left, double top) {
    const Child& child = frame.node->children[number];
    std::string inputs, outputs;
    unsigned in = 0, out = 0;
    for (size_t input = 0; input < child.inputs.size(); ++input)
      if (child.inputs[input].kind == Source::Kind::Own) {
        ++in;
        inputs += "\n" + argumentName(*frame.function, child.inputs[input].index) + " is " +
                  argumentName(*child.function, static_cast<unsigned>(input));
      }
    for (size_t output = 0; output < frame.node->bound.size(); ++output)
      if (frame.node->bound[output].child == number) {
        ++out;
        outputs +=
            "\noutput " + std::to_string(frame.node->bound[output].output) + " is output " + std::to_string(output);
      }
    const double bottom = top + frame.children[number].height;
    // Beside the middle, where edges begin and end.
    const auto line = [&](double at, unsigned count, const std::string& title, bool isIn) {
      const double x = left + 14;
      svg_.path("M" + picture::coordinate(x) + " " + picture::coordinate(at) + (isIn ? "v-" : "v") +
                    picture::coordinate(stub),
                "class=\"bind\"", title);
      svg_.text(x + 4, isIn ? at - 8 : at + stub - 4, std::to_string(count) + (isIn ? " in" : " out"),
                "fill: var(--quiet); font-size: 11px", title);
    };
    if (in)
      line(top, in, "inputs of the frame:" + inputs, true);
    if (out)
      line(bottom, out, "outputs of the frame:" + outputs, false);
  }

  void paintEdge(const Frame& frame, size_t number, double left, double top) {
    const auto [from, to] = frame.edges[number];
    const Child &source = frame.node->children[from], &target = frame.node->children[to];
    std::string title = nodeName(*source.function) + " to " + nodeName(*target.function);
    unsigned count = 0;
    bool isOneToOne = false;
    for (size_t input = 0; input < target.inputs.size(); ++input) {
      const Source& each = target.inputs[input];
      if (each.kind != Source::Kind::Edge || each.child != from)
        continue;
      ++count;
      isOneToOne = each.isOneToOne;
      title += "\noutput " + std::to_string(each.index) + " to " +
               argumentName(*target.function, static_cast<unsigned>(input)) + ", " +
               typeText(target.function->getArg(static_cast<unsigned>(input))->getType()) + ", " +
               (each.isOneToOne ? "one to one" : "all to all");
    }
    const std::vector<picture::Point>& points = frame.layers.edges[number];
    svg_.path(picture::curveAlong(points, left, top),
              std::string("class=\"edge\"") + (isOneToOne ? "" : " stroke-width=\"2.5\""), title);
    const picture::Point end = points.back();
    svg_.path("M" + picture::coordinate(left + end.x) + " " + picture::coordinate(top + end.y) + "l-4 -7h8z",
              "class=\"tip\"", title);
    const picture::Point middle = points[points.size() / 2], before = points[(points.size() - 1) / 2];
    svg_.text(left + (middle.x + before.x) / 2 + 5, top + (middle.y + before.y) / 2,
              std::to_string(count) + (isOneToOne ? " one to one" : " all to all"), "font-size: 11px", title);
  }

  const Graphs& graphs_;
  const Root& root_;
  picture::Svg svg_;
};

} // namespace

std::string expressionText(const llvm::Value& value) {
  return textOf(value, 0);
}

std::string drawGraph(const Graphs& graphs, const Root& root) {
  return GraphDrawing(graphs, root).draw();
}

} // namespace strata::hpvm
