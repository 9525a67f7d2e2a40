// Layouts in words: the text of --emit=layout. See layout.h.
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/layout/plan.h"

#include <algorithm>

namespace strata::hbir {

namespace {

constexpr int64_t mostLines = 60; // of one array

std::string rangeText(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + ":" + std::to_string(end) + "]";
}

std::string bytesText(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string copiesText(const Program& program, const ArrayPlan& plan) {
  std::string text;
  std::vector<int64_t> copy(plan.layout.copies.size());
  const int64_t count = *product(plan.layout.copies);
  for (int64_t i = 0; i < std::min(count, mostLines); ++i) {
    int64_t rest = i;
    for (size_t d = copy.size(); d-- > 0; rest /= plan.layout.copies[d])
      copy[d] = rest % plan.layout.copies[d];
    text += "  " +
            instanceText(program.target, *plan.array->layout.memory, plan.layout.copy.evaluate(copy).value_or(0)) +
            ": all of " + plan.array->name + "\n";
  }
  return count > mostLines ? text + "  … and " + std::to_string(count - mostLines) + " more copies\n" : text;
}

std::string piecesText(const Program& program, const ArrayPlan& plan) {
  std::string text;
  const int64_t count = *product(plan.pieces.extents);
  for (int64_t i = 0; i < std::min(count, mostLines); ++i) {
    const std::vector<int64_t> number = pieceNumber(plan.pieces, i);
    const int64_t rank = plan.stacking.rank.evaluate(number).value_or(0);
    const int64_t byte =
        static_cast<int64_t>(plan.layout.base) + rank * plan.pieces.elements * plan.layout.elementBytes;
    text +=
        "  " +
        instanceText(program.target, *plan.array->layout.memory, plan.pieces.instance.evaluate(number).value_or(0)) +
        " from byte " + std::to_string(byte) + ": " + pieceText(plan, number) + "\n";
  }
  return count > mostLines ? text + "  … and " + std::to_string(count - mostLines) + " more pieces\n" : text;
}

} // namespace

std::vector<int64_t> pieceNumber(const Pieces& pieces, int64_t place) {
  std::vector<int64_t> number(pieces.extents.size());
  for (size_t d = number.size(); d-- > 0; place /= pieces.extents[d])
    number[d] = place % pieces.extents[d];
  return number;
}

std::string kindText(LayoutKind kind) {
  switch (kind) {
  case LayoutKind::Block:
    return "block";
  case LayoutKind::Chunked:
    return "chunked";
  case LayoutKind::Striped:
    return "striped";
  case LayoutKind::Replicated:
    return "replicated";
  }
  return "";
}

std::string typeText(const Array& array) {
  std::string text = array.type == ScalarType::Int ? "int" : array.type == ScalarType::Float ? "float" : "bool";
  for (int64_t extent : array.extents)
    text += "[" + std::to_string(extent) + "]";
  return text;
}

std::string instanceText(const Target& target, const MemoryClass& memory, int64_t instance) {
  const std::string number = memory.count == 1 ? "" : "[" + std::to_string(instance % memory.count) + "]";
  if (!memory.local)
    return memory.name + number;
  std::vector<int64_t> tile(target.extents.size());
  int64_t rest = instance / memory.count;
  for (size_t d = tile.size(); d-- > 0; rest /= target.extents[d])
    tile[d] = rest % target.extents[d];
  return tileText(target, tile) + "." + memory.name + number;
}

std::string pieceText(const ArrayPlan& plan, const std::vector<int64_t>& number) {
  const Array& array = *plan.array;
  if (plan.layout.everywhere)
    return "all of " + array.name;
  const bool flat =
      plan.pieces.extents.size() == 1 && plan.pieces.pieceExtents.size() == 1 && array.extents.size() != 1;
  const std::string name = array.name + (flat ? " flattened " : "");
  if (array.layout.kind == LayoutKind::Striped)
    return name + "[" + std::to_string(number[0]) + "::" + std::to_string(*product(array.layout.pieces)) + "]";
  if (flat) {
    const int64_t begin = number[0] * plan.pieces.elements;
    return name + rangeText(begin, std::min(*elementsOf(array), begin + plan.pieces.elements));
  }
  std::string text = name;
  for (size_t d = 0; d < array.extents.size(); ++d) {
    const int64_t length = plan.pieces.pieceExtents[d], begin = d < number.size() ? number[d] * length : 0;
    text += rangeText(begin, std::min(array.extents[d], begin + length));
  }
  return text;
}

std::string ruleText(const Program& program, const ArrayPlan& plan) {
  const ResolvedLayout& layout = plan.layout;
  std::vector<std::string> names;
  std::string element = plan.array->name;
  for (size_t d = 0; d < plan.array->extents.size(); ++d) {
    names.push_back(plan.array->extents.size() <= 6 ? std::string(1, static_cast<char>('i' + d))
                                                    : "i" + std::to_string(d));
    element += "[" + names.back() + "]";
  }
  std::string place = layout.memory + " number ";
  std::string instance = layout.instance.text(names);
  if (layout.everywhere) {
    std::vector<std::string> copies;
    for (size_t d = 0; d < layout.copies.size(); ++d)
      copies.push_back("c" + std::to_string(d));
    instance = layout.copy.text(copies);
    for (size_t d = 0; d < layout.copies.size(); ++d)
      instance += (d == 0 ? " for " : ", ") + copies[d] + " in " + std::to_string(layout.copies[d]);
  }
  std::string text = element + ": in " + place + instance;
  if (layout.perProcessor > 1 && !layout.everywhere)
    text += ", of " + program.target.tiles + " number " +
            IndexExpression::make(IndexExpression::Kind::Divide, layout.instance,
                                  IndexExpression::constant(layout.perProcessor))
                .text(names);
  text += ", at byte " + IndexExpression::make(IndexExpression::Kind::Add,
                                               IndexExpression::make(IndexExpression::Kind::Multiply, layout.offset,
                                                                     IndexExpression::constant(layout.elementBytes)),
                                               IndexExpression::constant(static_cast<int64_t>(layout.base)))
                             .text(names);
  return text;
}

std::string layoutText(const Program& program) {
  const Polyhedra polyhedra;
  std::string out;
  for (const ArrayPlan& plan : planArrays(program, polyhedra)) {
    const Array& array = *plan.array;
    const MemoryClass& memory = *array.layout.memory;
    out += array.name + " : " + typeText(array) + ", " + kindText(array.layout.kind) + ", ";
    if (plan.layout.everywhere)
      out += std::to_string(*product(plan.layout.copies)) + " copies";
    else
      out += std::to_string(*product(plan.pieces.extents)) + " pieces of " + extentsText(plan.pieces.pieceExtents);
    out += " in " + memory.name + " (" + std::to_string(plan.layout.instances) +
           (memory.local ? " in all tiles, " : ", ") +
           (memory.size ? bytesText(static_cast<uint64_t>(*memory.size)) : std::string("size unknown")) + " each), " +
           (plan.layout.exact ? "" : "with holes ") + bytesText(plan.layout.bytes) + " in the fullest\n";
    out += "  " + ruleText(program, plan) + "\n";
    out += plan.layout.everywhere ? copiesText(program, plan) : piecesText(program, plan);
  }
  return out;
}

} // namespace strata::hbir
