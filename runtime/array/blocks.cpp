// See blocks.h. Iterations are followed one by one: a picture for people is of few.
#include "runtime/array/blocks.h"

#include <algorithm>

namespace strata::array {

namespace {

void addIteration(std::vector<Range>& runs, int64_t iteration) {
  if (!runs.empty() && runs.back().end == iteration)
    ++runs.back().end;
  else
    runs.push_back({iteration, iteration + 1});
}

/// Of a signal, by iteration.
std::vector<bool> valuesOf(const Signal& signal, const std::vector<int64_t>& extents, int64_t iterations) {
  std::vector<bool> values(static_cast<size_t>(iterations), false);
  for (int64_t n = 0; n < iterations; ++n)
    values[static_cast<size_t>(n)] = std::ranges::any_of(signal.ones, [&](const Box& box) {
      int64_t rest = n;
      for (size_t l = box.size(); l-- > 0; rest /= extents[l])
        if (const int64_t x = rest % extents[l]; x < box[l].first || x >= box[l].end)
          return false;
      return true;
    });
  return values;
}

} // namespace

std::optional<std::map<uint32_t, ProgramBlock>> blocksOf(const Configuration& configuration, const Program& program) {
  int64_t iterations = 1;
  for (const int64_t extent : configuration.extents)
    if (extent < 1 || (iterations *= extent) > mostFollowed)
      return std::nullopt;
  std::map<uint16_t, std::vector<bool>> signals; // that the program tests
  for (const Instruction& each : program)
    for (const uint16_t signal : each.branch.signals) {
      if (signal >= configuration.signals.size())
        return std::nullopt;
      if (!signals.contains(signal))
        signals[signal] = valuesOf(configuration.signals[signal], configuration.extents, iterations);
    }
  std::map<uint32_t, ProgramBlock> blocks;
  uint32_t slot = 0;
  bool isHalted = program.empty();
  for (int64_t n = 0; n < iterations && !isHalted; ++n) {
    ProgramBlock& block = blocks[slot];
    addIteration(block.iterations, n);
    for (int64_t cycle = 0; cycle < configuration.interval && !isHalted; ++cycle) {
      if (slot >= program.size())
        return std::nullopt;
      const Branch& branch = program[slot].branch;
      size_t chosen = 0;
      for (size_t i = 0; i < branch.signals.size(); ++i)
        chosen |= size_t{signals[branch.signals[i]][static_cast<size_t>(n)]} << i;
      isHalted = branch.kind == Branch::Kind::Halt;
      if (branch.kind == Branch::Kind::Next)
        ++slot;
      else if (!isHalted && chosen >= branch.targets.size())
        return std::nullopt;
      else if (!isHalted)
        slot = branch.targets[chosen];
    }
    addIteration(block.leaves[isHalted ? ProgramBlock::halted : slot], n);
  }
  if (!isHalted)
    blocks[slot].isBehind = true;
  return blocks;
}

namespace {

/// Adds the boxes of the iterations from `first` on of one step of the dimensions before `level`. Equal steps that
/// follow each other become one.
bool addBoxes(std::vector<Range> runs, const std::vector<int64_t>& extents, size_t level, const Box& outer, size_t most,
              std::vector<Box>& boxes) {
  if (level == extents.size()) {
    boxes.push_back(outer);
    return boxes.size() <= most;
  }
  int64_t inner = 1;
  for (size_t l = level + 1; l < extents.size(); ++l)
    inner *= extents[l];
  std::vector<std::pair<Range, std::vector<Range>>> steps;
  for (size_t i = 0; i < runs.size();) {
    const int64_t step = runs[i].first / inner;
    std::vector<Range> part;
    int64_t whole = 0; // steps of which the run has all
    if (runs[i].first == step * inner && runs[i].end - runs[i].first >= inner) {
      whole = (runs[i].end - runs[i].first) / inner;
      part.push_back({0, inner});
      runs[i].first += whole * inner;
      if (runs[i].first == runs[i].end)
        ++i;
    } else {
      for (; i < runs.size() && runs[i].first < (step + 1) * inner; ++i) {
        part.push_back({runs[i].first - step * inner, std::min(runs[i].end - step * inner, inner)});
        if (runs[i].end > (step + 1) * inner) {
          runs[i].first = (step + 1) * inner;
          break;
        }
      }
    }
    const int64_t end = step + std::max<int64_t>(whole, 1);
    if (!steps.empty() && steps.back().first.end == step && steps.back().second == part)
      steps.back().first.end = end;
    else
      steps.push_back({{step, end}, std::move(part)});
  }
  for (const auto& [range, part] : steps) {
    Box box = outer;
    box.push_back(range);
    if (!addBoxes(part, extents, level + 1, box, most, boxes))
      return false;
  }
  return true;
}

} // namespace

std::optional<std::vector<Box>> boxesOf(const std::vector<Range>& iterations, const std::vector<int64_t>& extents,
                                        size_t most) {
  std::vector<Box> boxes;
  if (!addBoxes(iterations, extents, 0, {}, most, boxes))
    return std::nullopt;
  return boxes;
}

} // namespace strata::array
