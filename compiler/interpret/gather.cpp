// Gathers and scatters of the interpreter's machine: part by part, in the order of the indices, each element as a move
// of its own would copy it.
#include "compiler/interpret/machine.h"

#include <cstring>

namespace strata::interpret {

namespace {

/// A block as registers describe it: the handle, the offset, extents and strides.
std::vector<uint64_t> described(const uint64_t* block, unsigned rank) {
  return {block, block + 2 + 2 * static_cast<size_t>(rank)};
}

/// One part of a block's first dimension.
std::vector<uint64_t> partOf(const uint64_t* block, unsigned rank, int64_t part) {
  std::vector<uint64_t> result{block[0], block[1] + static_cast<uint64_t>(part) * block[2 + rank]};
  result.insert(result.end(), block + 3, block + 2 + rank);
  result.insert(result.end(), block + 3 + rank, block + 2 + 2 * static_cast<size_t>(rank));
  return result;
}

std::string extentsText(const std::vector<uint64_t>& block, unsigned rank) {
  std::string text = "(";
  for (unsigned i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(static_cast<int64_t>(block[2 + i]));
  return text + ")";
}

} // namespace

bool Machine::isWithin(Task& task, uint32_t pc, const uint64_t* block, unsigned rank) {
  __int128 least, greatest;
  if (!range(block, rank, least, greatest))
    return true;
  const Storage* found = storage(block[0]);
  if (!found)
    return failHandle(task, pc, block[0]);
  if (least >= 0 && greatest < found->elements)
    return true;
  return failAt(task, pc, Fault::OutsideStorage,
                {std::to_string(static_cast<int64_t>(least < 0 ? least : greatest)), std::to_string(found->elements)});
}

bool Machine::gather(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const unsigned rank = instruction.c;
  const auto size = static_cast<size_t>(instruction.imm);
  const bool scatters = instruction.small;
  const uint64_t *source = r + instruction.a, *destination = r + instruction.b, *indices = r + instruction.d;
  const auto count = static_cast<int64_t>(indices[2]);
  const uint64_t* indexed = scatters ? destination : source;
  std::vector<uint64_t> from = described(source, rank), to = described(destination, rank);
  (scatters ? to : from)[2] = indices[2]; // as many parts as there are indices
  if (!std::equal(from.begin() + 2, from.begin() + 2 + rank, to.begin() + 2))
    return failAt(task, pc, Fault::MoveExtents, {extentsText(from, rank), extentsText(to, rank)});
  ++statistics_.moves;
  ++changes_;
  if (!isWithin(task, pc, source, rank) || !isWithin(task, pc, destination, rank) || !isWithin(task, pc, indices, 1))
    return false;
  for (int64_t k = 0; k < count; ++k) {
    Storage& list = *storage(indices[0]);
    const auto at = static_cast<uint64_t>(static_cast<int64_t>(indices[1]) + k * static_cast<int64_t>(indices[3]));
    if (!list.written.empty() && list.written[at] != HasValue)
      return failUndefined(task, pc, elementText(list, at), list, at);
    if (isWatched(task, list) && !recordElement(task, pc, list, at, false))
      return false;
    int64_t index = 0;
    if (instruction.shift == 4) {
      int32_t word = 0;
      std::memcpy(&word, list.data + at * 4, 4);
      index = word;
    } else {
      std::memcpy(&index, list.data + at * 8, 8);
    }
    if (index < 0 || index >= static_cast<int64_t>(indexed[2])) {
      const Storage* array = storage(indexed[0]);
      return failAt(task, pc, Fault::PartIndex,
                    {std::to_string(index), std::to_string(k), arrayName(list), array ? arrayName(*array) : "a block",
                     std::to_string(static_cast<int64_t>(indexed[2]))});
    }
    const std::vector<uint64_t> in = partOf(source, rank, scatters ? k : index),
                                out = partOf(destination, rank, scatters ? index : k);
    if (!copyPart(task, pc, in.data(), out.data(), rank - 1, size))
      return false;
  }
  return true;
}

bool Machine::copyPart(Task& task, uint32_t pc, const uint64_t* source, const uint64_t* destination, unsigned rank,
                       size_t size) {
  __int128 least, greatest;
  if (!range(source, rank, least, greatest))
    return true;
  Storage &from = *storage(source[0]), &to = *storage(destination[0]);
  if ((isWatched(task, from) && !recordView(task, pc, from, source, rank, false)) ||
      (isWatched(task, to) && !recordView(task, pc, to, destination, rank, true)))
    return false;
  Rows rows(source, rank), targets(destination, rank);
  do
    for (int64_t i = 0; i < rows.rowExtent(); ++i) {
      const int64_t in = rows.offset + i * rows.rowStride(), out = targets.offset + i * targets.rowStride();
      if (!to.written.empty()) {
        uint8_t& now = to.written[static_cast<size_t>(out)];
        const uint8_t given = from.written.empty() ? HasValue : from.written[static_cast<size_t>(in)];
        now = given != HasValue && now != NotWritten ? uint8_t(Lost) : given;
      }
      if (!from.slacks.empty() || !to.slacks.empty())
        moveSlack(pc, from, in, to, out);
      statistics_.bytesMoved += size;
      std::memcpy(to.data + static_cast<size_t>(out) * size, from.data + static_cast<size_t>(in) * size, size);
    }
  while (rows.next() && targets.next());
  return true;
}

} // namespace strata::interpret
