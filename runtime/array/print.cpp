// See print.h.
#include "runtime/array/print.h"
#include "base/machine/quantity.h"
#include "runtime/array/blocks.h"

#include <algorithm>

namespace strata::array {

namespace {

std::string text(const Box& box, const std::vector<std::string>& loops) {
  std::string all;
  for (size_t i = 0; i < box.size(); ++i) {
    const std::string name = i < loops.size() ? loops[i] : "j" + std::to_string(i);
    all += (i ? ", " : "") + (box[i].end == box[i].first + 1
                                  ? name + " = " + std::to_string(box[i].first)
                                  : std::to_string(box[i].first) + " <= " + name + " < " + std::to_string(box[i].end));
  }
  return all;
}

std::string boxes(const std::vector<Box>& list, const std::vector<std::string>& loops) {
  if (list.empty())
    return "never";
  std::string all;
  for (const Box& each : list)
    all += (all.empty() ? "" : " or ") + text(each, loops);
  return all;
}

/// Of iterations by number; of how many, where they take too many words.
std::string iterationsText(const std::vector<Range>& list, const Configuration& c) {
  constexpr size_t most = 4;
  if (const std::optional<std::vector<Box>> found = boxesOf(list, c.extents, most))
    return boxes(*found, c.loops);
  int64_t count = 0;
  for (const Range& each : list)
    count += each.end - each.first;
  return std::to_string(count) + " iterations";
}

/// "in 1 <= i < 5; then 2 in 1 <= i < 4; then 4 in i = 4"
std::string blockText(const ProgramBlock& block, const Configuration& c) {
  std::string all = block.iterations.empty() ? "" : "in " + iterationsText(block.iterations, c);
  if (block.isBehind)
    all += all.empty() ? "after the last iteration" : " and after the last";
  for (const auto& [next, iterations] : block.leaves) {
    all += next == ProgramBlock::halted ? "; then halts" : "; then " + std::to_string(next);
    if (block.leaves.size() > 1)
      all += " in " + iterationsText(iterations, c);
  }
  return all;
}

std::string range(const Range& each) {
  return each.end == each.first + 1 ? std::to_string(each.first)
                                    : std::to_string(each.first) + ".." + std::to_string(each.end - 1);
}

void printPrograms(const Configuration& c, const machine::ProcessorArray& array, std::string& out) {
  for (size_t at = 0; at < c.classes.size(); ++at) {
    out += "\nclass " + std::to_string(at) + ", elements";
    for (const ClassRegion& each : c.regions)
      if (each.processorClass == at)
        out += " (" + range(each.rows) + ", " + range(each.columns) + ")";
    out += "\n";
    size_t unit = 0;
    for (const machine::FunctionalUnit& kind : array.units)
      for (uint64_t i = 0; i < kind.count; ++i, ++unit) {
        if (unit >= c.classes[at].programs.size() || c.classes[at].programs[unit].empty())
          continue;
        out += "  " + kind.name + std::to_string(i) + ":\n";
        const Program& program = c.classes[at].programs[unit];
        const std::optional<std::map<uint32_t, ProgramBlock>> blocks = blocksOf(c, program);
        for (size_t slot = 0; slot < program.size(); ++slot) {
          if (blocks && blocks->contains(static_cast<uint32_t>(slot)))
            out += "    " + blockText(blocks->at(static_cast<uint32_t>(slot)), c) + "\n";
          std::string number = std::to_string(slot);
          number.insert(0, 5 - std::min<size_t>(number.size(), 5), ' ');
          out += "  " + number + "  " + print(program[slot]) + "\n";
          if (slot + 1 != program.size() && (slot + 1) % static_cast<size_t>(c.interval) == 0)
            out += "\n";
        }
      }
  }
}

void printConnections(const std::vector<Connection>& list, const char* title, std::string& out) {
  out += "\n" + std::string(title) + "\n";
  for (size_t i = 0; i < list.size();) {
    out += "  (" + std::to_string(list[i].row) + ", " + std::to_string(list[i].column) + "):";
    const uint32_t row = list[i].row, column = list[i].column;
    for (bool isFirst = true; i < list.size() && list[i].row == row && list[i].column == column; ++i, isFirst = false)
      out += (isFirst ? " " : ", ") + machine::formatPort(list[i].source) + " -> " + machine::formatPort(list[i].sink);
    out += "\n";
  }
}

} // namespace

std::string print(const Configuration& c, const machine::ProcessorArray& array) {
  std::string out = "program " + c.program + "\n";
  out += "region " + std::to_string(c.rows) + " x " + std::to_string(c.columns) + " elements\n";
  out += "iterations " + std::to_string(c.iterations) + ", one every " + std::to_string(c.interval) + " cycles\n";
  out += "tile";
  for (size_t i = 0; i < c.extents.size(); ++i)
    out += (i ? ", " : " ") + (i < c.loops.size() ? c.loops[i] : "") + " < " + std::to_string(c.extents[i]);
  out += "\nstart of element (r, c): " + std::to_string(c.firstStart) + " + " + std::to_string(c.rowStart) + " r + " +
         std::to_string(c.columnStart) + " c\n";
  const auto depths = [&](const std::vector<uint64_t>& list, const char* prefix) {
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i] != 0)
        out += "depth of " + std::string(prefix) + std::to_string(i) + ": " + std::to_string(list[i]) + "\n";
  };
  depths(c.feedbackDepths, "fd");
  depths(c.inputDepths, "id");
  printPrograms(c, array, out);
  if (!c.signals.empty()) {
    out += "\nsignals of the controller\n";
    for (size_t i = 0; i < c.signals.size(); ++i)
      out += "  c" + std::to_string(i) + " = 1 in " + boxes(c.signals[i].ones, c.loops) + "\n";
  }
  printConnections(c.data, "data connections", out);
  printConnections(c.control, "control connections", out);
  out += "\nbanks\n";
  for (const Bank& bank : c.banks) {
    const std::vector<ArrayLayout>& arrays = bank.isOutput ? c.outputs : c.inputs;
    const bool isColumn = bank.side == machine::Side::North || bank.side == machine::Side::South;
    out += "  " + machine::formatPort({bank.side, bank.index}) + " of " + (isColumn ? "column " : "row ") +
           std::to_string(bank.position) + ": " + (bank.isOutput ? "takes " : "gives ") +
           (bank.array < arrays.size() ? arrays[bank.array].name : std::string("?"));
    for (const Range& each : bank.block)
      out += "[" + range(each) + "]";
    out += ", word " + std::to_string(bank.base);
    for (size_t i = 0; i < bank.strides.size(); ++i)
      if (bank.strides[i] != 0)
        out += " + " + std::to_string(bank.strides[i]) + " " + (i < c.loops.size() ? c.loops[i] : "");
    out += " at cycle " + std::to_string(bank.start) + " + " + std::to_string(c.interval) + " n, in " +
           boxes(bank.enable, c.loops);
    if (bank.blockLoops != 0) {
      std::string size, loops;
      for (const int64_t each : bank.held)
        size += (size.empty() ? "" : " x ") + std::to_string(each);
      for (size_t i = 0; i < std::min<size_t>(bank.blockLoops, c.loops.size()); ++i)
        loops += (loops.empty() ? "" : ", ") + c.loops[i];
      out += ", a block of " + size + " for each " + loops;
    }
    out += "\n";
  }
  return out;
}

uint64_t configurationBytes(const Configuration& c, const machine::ProcessorArray& array) {
  const uint64_t instruction = 2 + array.destinations + 3 + array.word + 1 + 2 * array.branchTargets;
  uint64_t all = 0;
  for (const ClassRegion& region : c.regions) {
    uint64_t slots = 0;
    for (const Program& program : c.classes[region.processorClass].programs)
      slots += program.size();
    const auto elements =
        static_cast<uint64_t>((region.rows.end - region.rows.first) * (region.columns.end - region.columns.first));
    all += elements * (slots * instruction + 4);
  }
  const uint64_t dimensions = c.extents.size();
  uint64_t fifos = 0;
  for (const std::vector<uint64_t>* depths : {&c.feedbackDepths, &c.inputDepths})
    fifos +=
        static_cast<uint64_t>(std::count_if(depths->begin(), depths->end(), [](uint64_t each) { return each != 0; }));
  all += uint64_t{c.rows} * c.columns * fifos * 2;
  all += (c.data.size() + c.control.size()) * 2;
  for (const Signal& signal : c.signals)
    all += signal.ones.size() * dimensions * 8;
  for (const Bank& bank : c.banks)
    all += 8 + dimensions * 4 + bank.enable.size() * dimensions * 8;
  return all;
}

} // namespace strata::array
