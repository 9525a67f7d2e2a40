// Nodes lie in memory by their first iterations, so that the first is where an element starts. A branch cannot choose
// between a node and halting; where one must, a last slot halts.
#include "runtime/array/programs.h"

#include <algorithm>

namespace strata::array {

namespace {

bool choosesToHalt(const ControlFlow& flow) {
  return std::ranges::any_of(flow.nodes, [](const ControlFlow::Node& node) {
    return node.edges.size() > 1 &&
           std::ranges::find(node.edges, ControlFlow::halt, &ControlFlow::Edge::to) != node.edges.end();
  });
}

} // namespace

size_t programLength(const ControlFlow& flow, int64_t interval) {
  return flow.nodes.size() * static_cast<size_t>(interval) + (choosesToHalt(flow) ? 1 : 0);
}

Program makeProgram(const ControlFlow& flow, std::span<const BranchCode> branches, int64_t interval) {
  Program program;
  program.reserve(programLength(flow, interval));
  const auto position = [&](uint32_t node) {
    return static_cast<uint32_t>(std::min<size_t>(node, flow.nodes.size()) * static_cast<size_t>(interval));
  };
  for (uint32_t n = 0; n < flow.nodes.size(); ++n) {
    const ControlFlow::Node& node = flow.nodes[n];
    for (const Functional& functional : flow.kernels[node.kernel])
      program.push_back({functional, {}});
    Branch& branch = program.back().branch;
    if (node.edges.size() > 1) {
      branch = {Branch::Kind::If, branches[n].signals, {}};
      for (const uint32_t edge : branches[n].edges)
        branch.targets.push_back(position(node.edges[edge].to));
    } else if (node.edges[0].to == ControlFlow::halt)
      branch.kind = Branch::Kind::Halt;
    else if (node.edges[0].to != n + 1)
      branch = {Branch::Kind::Goto, {}, {position(node.edges[0].to)}};
  }
  if (choosesToHalt(flow))
    program.push_back({{}, {Branch::Kind::Halt, {}, {}}});
  return program;
}

} // namespace strata::array
