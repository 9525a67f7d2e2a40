// Tries several orders of a reduction in the interpreter's machine, to find combiners that are not commutative or not
// associative. Results in two orders may differ by rounding (rounding.h). Where a NaN or an infinity is reduced, the
// order may decide the result; that is reported only where results differ.
#include "compiler/interpret/machine.h"

#include "llvm/ADT/bit.h"

#include <cmath>

namespace strata::interpret {

void Machine::fill(const Instruction& instruction, Registers r) {
  Storage* block = storage(r[instruction.a]);
  if (!block)
    return;
  const std::vector<char>& bytes = program_.patterns[static_cast<size_t>(instruction.imm)];
  for (int64_t element = 0; element < block->elements; ++element)
    std::memcpy(block->data + element * static_cast<int64_t>(block->elementBytes), bytes.data(), bytes.size());
  std::fill(block->written.begin(), block->written.end(), HasValue);
}

bool Machine::sameBits(const Instruction& instruction, Registers r) {
  const Storage *one = storage(r[instruction.b]), *other = storage(r[instruction.c]);
  if (!one || !other)
    return false;
  const auto bytes = static_cast<size_t>(instruction.imm);
  Rows a(r + instruction.b, instruction.d), b(r + instruction.c, instruction.d);
  do
    for (int64_t i = 0; i < a.rowExtent(); ++i)
      if (std::memcmp(one->data + static_cast<size_t>(a.offset + i * a.rowStride()) * bytes,
                      other->data + static_cast<size_t>(b.offset + i * b.rowStride()) * bytes, bytes) != 0)
        return false;
  while (a.next() && b.next());
  return true;
}

namespace {

/// A scalar of an element, as a number and as text.
struct ScalarAt {
  double real = 0;
  std::string text;
};

ScalarAt scalarAt(const char* element, const ElementScalar& scalar) {
  uint64_t bits = 0;
  std::memcpy(&bits, element + scalar.offset, scalar.bytes);
  ScalarAt result;
  if (!scalar.isFloat) {
    const unsigned shift = 64 - 8 * scalar.bytes;
    result.text = std::to_string(static_cast<int64_t>(bits << shift) >> shift);
    return result;
  }
  result.real = scalar.bytes == 4 ? static_cast<double>(llvm::bit_cast<float>(static_cast<uint32_t>(bits)))
                                  : llvm::bit_cast<double>(bits);
  char text[40];
  snprintf(text, sizeof text, scalar.bytes == 4 ? "%.9g" : "%.17g", result.real);
  result.text = text;
  return result;
}

double boundAt(const Storage& block, uint64_t element, const ElementScalar& scalar) {
  const uint64_t each = block.elementBytes / 4;
  return block.slacks.empty() ? 0 : block.slacks[element * each + scalar.offset / 4].bound();
}

} // namespace

bool Machine::sameOrder(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const uint32_t* list = program_.pool.data() + instruction.e;
  const CombinerOrders& orders = program_.orders[static_cast<size_t>(instruction.imm)];
  const bool associates = instruction.a;
  const unsigned rank = instruction.b;
  Storage *one = storage(r[list[0]]), *other = storage(r[list[1]]);
  if (!one || !other || decidedAt_)
    return true;
  for (uint64_t element = 0; element < static_cast<uint64_t>(one->elements); ++element) {
    if (!one->written.empty() && (one->written[element] != HasValue || other->written[element] != HasValue))
      continue;
    const char *a = one->data + element * one->elementBytes, *b = other->data + element * other->elementBytes;
    for (const ElementScalar& scalar : orders.scalars) {
      if (std::memcmp(a + scalar.offset, b + scalar.offset, scalar.bytes) == 0)
        continue;
      const ScalarAt first = scalarAt(a, scalar), second = scalarAt(b, scalar);
      if (scalar.isFloat) {
        if (first.real == second.real || (std::isnan(first.real) && std::isnan(second.real)))
          continue;
        if (!std::isfinite(first.real) || !std::isfinite(second.real) || notFiniteAt_) {
          orderDecides(pc, /*byNotFinite=*/true);
          return true;
        }
        if (std::fabs(first.real - second.real) <= boundAt(*one, element, scalar) + boundAt(*other, element, scalar))
          continue;
      }
      if (orders.isKnown) { // a sum, a product or the like: only rounding can tell its orders apart
        if (!scalar.isFloat || !makeSlacks(*one)) {
          orderDecides(pc);
          return true;
        }
        tracksRounding_ = true;
        one->slacks[element * (one->elementBytes / 4) + scalar.offset / 4] = Slack::unknown();
        continue;
      }
      std::string where = "the result";
      if (rank) {
        uint64_t left = element;
        std::string index;
        for (unsigned dimension = rank; dimension-- > 0;) {
          const uint64_t extent = r[list[0] + 2 + dimension];
          index = std::to_string(left % extent) + (index.empty() ? "" : ", ") + index;
          left /= extent;
        }
        where = "element [" + index + "]";
      }
      Diagnostic diagnostic =
          makeDiagnostic(Fault::Combiner, program_.locations[pc],
                         {orders.combiner, associates ? "associate" : "commute", where, first.text, second.text},
                         diagnostics_.sources());
      if (!diagnostic.labels.empty())
        diagnostic.labels[0].text = "reduced here";
      const std::string& name = orders.combiner;
      diagnostic.notes.push_back(associates
                                     ? name + "(c, " + name + "(b, a)) is " + first.text + ", and " + name + "(" +
                                           name + "(c, b), a) is " + second.text
                                     : name + "(b, a) is " + first.text + ", and " + name + "(a, b) is " + second.text);
      std::string values;
      for (unsigned part = 0; part < (associates ? 3 : 2); ++part) {
        const uint64_t* block = r + list[2 + part];
        const Storage* parts = storage(block[0]);
        const auto begin = static_cast<int64_t>(r[list[5 + part]]), end = static_cast<int64_t>(r[list[6 + part]]);
        values += std::string(part ? ", " : "with ") + static_cast<char>('a' + part) + " = " +
                  (parts ? scalarAt(parts->data + (block[1] + element) * parts->elementBytes, scalar).text : "?") +
                  " from " + (orders.loop.empty() ? "iterations " : orders.loop + " = ") + std::to_string(begin) +
                  (end - begin > 1 ? " to " + std::to_string(end - 1) : "");
      }
      diagnostic.notes.push_back(values);
      diagnostic.helps.push_back(
          "parts of a reduction are combined in any order, so a combiner has to commute and to "
          "associate, as sums, products, minima and maxima do; a mean, for one, is the sum divided "
          "by the number behind the loop");
      std::string code = diagnostic.kind->code;
      report(task, pc, std::move(diagnostic), std::move(code));
      return false;
    }
  }
  return true;
}

} // namespace strata::interpret
