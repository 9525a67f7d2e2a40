// Finds overlaps while the interpreter's machine checks a program: elements that two iterations of a parallel loop
// touch, or two operands of one call, where one of them writes; and indices that a scatter repeats. Arrays that are
// made within the iteration or call that touches them cannot overlap and are not watched.
#include "compiler/interpret/machine.h"
#include "compiler/ir/locations.h"

#include <algorithm>

namespace strata::interpret {

uint32_t Machine::nodeOf(Task& task, uint32_t operand) {
  // Where a branch has its node, those around it have theirs.
  size_t known = task.branches.size();
  while (known > 0 && !task.branches[known - 1].node)
    --known;
  uint32_t parent = known ? task.branches[known - 1].node : 0;
  for (; known < task.branches.size(); ++known) {
    Branch& branch = task.branches[known];
    if (!branch.isAt)
      continue;
    branch.node = iterations_.add(parent, branch.group, branch.kind, branch.name, branch.value, branch.frame);
    parent = branch.node;
  }
  if (!operand || task.branches.empty() || task.branches.back().isAt)
    return parent;
  Branch& around = task.branches.back();
  for (auto [number, node] : around.operands)
    if (number == operand)
      return node;
  around.operands.emplace_back(operand, iterations_.add(parent, around.group, Iterations::Kind::Operand, around.name,
                                                        operand - 1, around.frame));
  return around.operands.back().second;
}

void Machine::collectIterations() {
  auto eachAccess = [&](const Iterations::Visitor& visit) {
    for (Storage& block : storages_)
      for (ElementHistory& history : block.history)
        for (uint32_t* number : {&history.write, &history.reads[0], &history.reads[1]})
          if (*number)
            visit(*number);
  };
  auto eachNode = [&](const Iterations::Visitor& visit) {
    for (auto& [id, task] : tasks_)
      for (Branch& branch : task->branches) {
        if (branch.node)
          visit(branch.node);
        for (auto& [operand, node] : branch.operands)
          visit(node);
      }
  };
  iterations_.collect(eachAccess, eachNode);
}

bool Machine::beginRecord(Task& task, uint32_t pc, Storage& block, Record& record) {
  if (iterations_.isFull())
    collectIterations();
  if (block.history.empty() && block.elements) {
    const uint64_t needed = static_cast<uint64_t>(block.elements) * sizeof(ElementHistory);
    const uint64_t used = bytes_ + iterations_.bytes();
    if (used > options_.maxBytes || needed > options_.maxBytes - used) {
      Diagnostic diagnostic = makeDiagnostic(Fault::CheckMemory, program_.locations[pc],
                                             {arrayName(block), std::to_string(block.elements), std::to_string(needed),
                                              std::to_string(options_.maxBytes - std::min(used, options_.maxBytes))},
                                             diagnostics_.sources());
      diagnostic.helps.push_back("check the program on a smaller problem");
      std::string code = diagnostic.kind->code;
      report(task, pc, std::move(diagnostic), std::move(code));
      return false;
    }
    block.history.resize(static_cast<size_t>(block.elements));
    bytes_ += needed;
  }
  record.node = nodeOf(task, program_.operands[pc]);
  record.access = iterations_.addAccess(record.node, pc);
  // Only stores go through indices, which may repeat.
  const Opcode opcode = program_.code[pc].opcode;
  record.once = (opcode == Opcode::Store1 || opcode == Opcode::StoreMany) &&
                iterations_.node(record.node).kind == Iterations::Kind::Operand;
  return true;
}

bool Machine::areParallel(Record& record, uint32_t access) const {
  if (!access || access == record.access)
    return false;
  auto& [known, parallel] = record.memo[access % record.memo.size()];
  if (known != access) {
    known = access;
    parallel = iterations_.areParallel(iterations_.access(access).node, record.node);
  }
  return parallel;
}

bool Machine::recordWrite(const Task& task, uint32_t pc, Storage& block, uint64_t element, Record& record) {
  ElementHistory& history = block.history[element];
  if (areParallel(record, history.write))
    return reportOverlap(task, pc, block, element, history.write, record.node, true, true);
  for (uint32_t read : history.reads)
    if (areParallel(record, read))
      return reportOverlap(task, pc, block, element, read, record.node, true, false);
  if (record.once && history.write && iterations_.access(history.write).node == record.node)
    return reportRepeated(task, pc, block, element);
  history = {record.access, {}};
  return true;
}

bool Machine::recordRead(const Task& task, uint32_t pc, Storage& block, uint64_t element, Record& record) {
  ElementHistory& history = block.history[element];
  if (areParallel(record, history.write))
    return reportOverlap(task, pc, block, element, history.write, record.node, false, true);
  for (uint32_t& read : history.reads)
    if (read && iterations_.access(read).node == record.node) {
      read = record.access;
      return true;
    }
  // Who comes later and has no order with a reader that is replaced has none with this one either.
  for (uint32_t& read : history.reads)
    if (!areParallel(record, read)) {
      read = record.access;
      return true;
    }
  return true;
}

bool Machine::recordElement(Task& task, uint32_t pc, Storage& block, uint64_t element, bool writes) {
  if (program_.operands[pc] == AtomicAccess)
    return true;
  Record record;
  return beginRecord(task, pc, block, record) &&
         (writes ? recordWrite(task, pc, block, element, record) : recordRead(task, pc, block, element, record));
}

bool Machine::recordView(Task& task, uint32_t pc, Storage& block, const uint64_t* view, unsigned rank, bool writes) {
  Record record;
  if (!beginRecord(task, pc, block, record))
    return false;
  Rows rows(view, rank);
  do
    for (int64_t i = 0; i < rows.rowExtent(); ++i) {
      const auto element = static_cast<uint64_t>(rows.offset + i * rows.rowStride());
      if (!(writes ? recordWrite(task, pc, block, element, record) : recordRead(task, pc, block, element, record)))
        return false;
    }
  while (rows.next());
  return true;
}

std::string Machine::arrayName(const Storage& block) const {
  const std::string& name = program_.names[block.label];
  return name.empty() ? "a block" : "'" + name + "'";
}

std::string Machine::elementText(const Storage& block, uint64_t element) const {
  if (block.extents.empty())
    return arrayName(block);
  // Outer dimensions have the larger strides, whatever their order.
  llvm::SmallVector<unsigned, 3> order;
  for (unsigned i = 0; i < block.extents.size(); ++i)
    order.push_back(i);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return block.strides[a] != block.strides[b] ? block.strides[a] > block.strides[b] : a < b;
  });
  llvm::SmallVector<uint64_t, 3> index(block.extents.size());
  for (unsigned dimension : order)
    if (block.strides[dimension] > 0) {
      const auto stride = static_cast<uint64_t>(block.strides[dimension]);
      index[dimension] = element / stride;
      element %= stride;
    }
  std::string text;
  for (uint64_t each : index)
    text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "element [" + text + "] of " + arrayName(block);
}

std::string Machine::iterationText(uint32_t number) const {
  std::string text;
  for (; number; number = iterations_.node(number).parent) {
    const Iterations::Node& node = iterations_.node(number);
    if (node.kind == Iterations::Kind::Operand)
      continue;
    const std::string& name = program_.names[node.name];
    text =
        (name.empty() ? "iteration " : name + " = ") + std::to_string(node.value) + (text.empty() ? "" : ", ") + text;
    // Loops further out are those of a caller.
    if (node.parent && iterations_.node(node.parent).frame != node.frame)
      break;
  }
  return text;
}

std::string Machine::blockText(uint32_t pc, uint32_t node) const {
  std::string name = placeName(program_.locations[pc]), iteration = iterationText(node);
  std::string text = name.empty() ? "an access" : "'" + name + "'";
  return iteration.empty() ? text : text + " with " + iteration;
}

bool Machine::reportOverlap(const Task& task, uint32_t pc, const Storage& block, uint64_t element, uint32_t access,
                            uint32_t node, bool writes, bool otherWrites) {
  const Iterations::Access other = iterations_.access(access);
  auto [theirs, mine] = iterations_.parting(other.node, node);
  using Kind = Iterations::Kind;
  const bool atOnce = iterations_.node(theirs).kind == Kind::Operand && iterations_.node(mine).kind == Kind::Operand;
  const bool reduces =
      !atOnce && (iterations_.node(theirs).kind == Kind::Operand || iterations_.node(mine).kind == Kind::Operand);
  std::string who = writes && otherWrites ? "both write it"
                    : writes              ? "the second one writes it"
                                          : "the first one writes it";
  Diagnostic diagnostic = makeDiagnostic(
      atOnce ? Fault::Overlap : Fault::IterationOverlap, program_.locations[pc],
      {blockText(other.pc, other.node), blockText(pc, node), elementText(block, element), who}, diagnostics_.sources());
  auto label = [&](bool isWrite, uint32_t at) {
    std::string iteration = iterationText(at);
    return std::string(isWrite ? "written" : "read") + " here" + (iteration.empty() ? "" : " with " + iteration);
  };
  if (!diagnostic.labels.empty())
    diagnostic.labels[0].text = label(writes, node);
  addPlace(diagnostic, program_.locations[other.pc], label(otherWrites, other.node), diagnostics_.sources());
  if (atOnce) {
    diagnostic.notes.push_back("each is a copy of its own, so which value the array ends up with is undefined");
    diagnostic.helps.push_back("use blocks that share no element, or copy one of them to an array of its own first");
  } else if (reduces) {
    diagnostic.notes.push_back("what a parallel loop reduces is not known before all its iterations have ended");
    diagnostic.helps.push_back("let iterations reach what is reduced through the reduction only");
  } else {
    diagnostic.notes.push_back("iterations of a parallel loop have no order, so the result is undefined");
    diagnostic.helps.push_back("give each iteration elements of its own, or run the iterations one after another");
  }
  std::string code = diagnostic.kind->code;
  report(task, pc, std::move(diagnostic), std::move(code));
  return false;
}

std::string Machine::repeatedPositions(const Task& task, uint32_t pc) {
  auto source = program_.indexSources.find(pc);
  if (source == program_.indexSources.end())
    return "";
  const auto [position, block, bytes] = source->second;
  const uint64_t* r = task.registers.data() + task.frames.back().base;
  const Storage* indices = storage(r[block]);
  auto at = [&](uint64_t place) -> const char* {
    const uint64_t element = r[block + 1] + place * r[block + 3];
    return element < static_cast<uint64_t>(indices->elements) ? indices->data + element * bytes : nullptr;
  };
  const char* now = indices ? at(r[position]) : nullptr;
  for (uint64_t place = 0; now && place < r[position]; ++place)
    if (const char* before = at(place); before && std::memcmp(before, now, bytes) == 0)
      return "places " + std::to_string(place) + " and " + std::to_string(r[position]) + " of its indices are the same";
  return "";
}

bool Machine::reportRepeated(const Task& task, uint32_t pc, const Storage& block, uint64_t element) {
  const uint32_t node = iterations_.access(block.history[element].write).node;
  Diagnostic diagnostic = makeDiagnostic(Fault::RepeatedIndex, program_.locations[pc],
                                         {blockText(pc, node), elementText(block, element)}, diagnostics_.sources());
  if (std::string places = repeatedPositions(task, pc); !places.empty())
    diagnostic.notes.push_back(places);
  diagnostic.notes.push_back("which of the values written to it stays is undefined");
  diagnostic.helps.push_back("write through an array of indices that holds each index once");
  std::string code = diagnostic.kind->code;
  report(task, pc, std::move(diagnostic), std::move(code));
  return false;
}

} // namespace strata::interpret
