// Storage for arrays, and the conversions between element types that hold the same members.
#include "base/data/array.h"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace strata {

STRATA_DIAGNOSTIC(outOfMemory, Error, "data-out-of-memory", "not enough memory for {0}: it takes {1}");
STRATA_DIAGNOSTIC(tooBig, Error, "data-too-big", "{0} of shape {1} with elements of {2} is larger than any memory");
STRATA_DIAGNOSTIC(wrongElementType, Error, "data-element-type",
                  "'{0}' holds elements of type {1}, but '{2}' takes {3}");
STRATA_DIAGNOSTIC(wrongShape, Error, "data-shape", "'{0}' has shape {1}, but '{2}' takes {3}");

namespace {

/// What this computer could give at once without killing the process later: storage is granted lazily, so an allocation
/// that succeeds proves nothing.
uint64_t availableMemory() {
  uint64_t available = UINT64_MAX;
  std::ifstream info("/proc/meminfo");
  std::string key;
  uint64_t kibibytes = 0;
  std::string rest;
  while (info >> key >> kibibytes && std::getline(info, rest))
    if (key == "MemAvailable:")
      available = kibibytes * 1024;
  std::ifstream group("/sys/fs/cgroup/memory.max");
  uint64_t limit = 0;
  if (group >> limit)
    available = std::min(available, limit);
  return available;
}

constexpr uint64_t SmallRequest = 64 << 20;

/// A copy of `count` scalars of `bytes` each within one element.
struct CopyRun {
  uint64_t from, to, bytes;
};

/// How to copy an element of one type into one of another; false when the types do not hold the same members.
bool planCopy(const ElementType& from, const ElementType& to, uint64_t fromOffset, uint64_t toOffset,
              std::vector<CopyRun>& runs) {
  if (runs.size() > 65536)
    return false;
  if (from == to) {
    runs.push_back({fromOffset, toOffset, from.bytes});
    return true;
  }
  if (from.kind != ElementType::Kind::Struct || to.kind != ElementType::Kind::Struct) {
    const auto fromComplex = from.asComplex(), toComplex = to.asComplex();
    const bool same = (fromComplex && *fromComplex == to) || (toComplex && *toComplex == from);
    if (same)
      runs.push_back({fromOffset, toOffset, from.bytes});
    return same;
  }
  if (from.fields.size() != to.fields.size())
    return false;
  for (size_t i = 0; i < from.fields.size(); ++i) {
    const Field& a = from.fields[i];
    const Field& b = to.fields[i];
    if (a.name != b.name || a.shape != b.shape || a.count() > 65536)
      return false;
    for (uint64_t k = 0; k < a.count(); ++k)
      if (!planCopy(a.type, b.type, fromOffset + a.offset + k * a.type.bytes, toOffset + b.offset + k * b.type.bytes,
                    runs))
        return false;
  }
  return true;
}

} // namespace

std::optional<uint64_t> elementCount(const std::vector<int64_t>& shape, uint64_t elementBytes) {
  uint64_t count = 1;
  for (int64_t extent : shape)
    if (extent == 0)
      return 0; // (0, 1 << 60, 1 << 60) is a fine empty array
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count))
      return std::nullopt;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, elementBytes, &bytes) || bytes > INT64_MAX || count > INT64_MAX)
    return std::nullopt;
  return count;
}

std::optional<Array> Array::create(ElementType type, std::vector<int64_t> shape, const std::string& what,
                                   DiagnosticEngine& diagnostics, const Location& where) {
  const auto count = elementCount(shape, type.bytes);
  if (!count) {
    diagnostics.report(tooBig, where, what, shapeText(shape), bytesText(type.bytes));
    return std::nullopt;
  }
  Array array;
  array.elements_ = *count;
  const uint64_t bytes = *count * type.bytes;
  const uint64_t rounded = (bytes + Alignment) / Alignment * Alignment;
  void* storage = nullptr;
  const bool fits = bytes < SmallRequest || bytes <= availableMemory();
  if (!fits || !(storage = std::aligned_alloc(Alignment, rounded))) {
    diagnostics.report(outOfMemory, where, what, bytesText(bytes))
        .note("its shape is " + shapeText(shape) + " and its elements are " + type.text());
    return std::nullopt;
  }
  std::memset(storage, 0, rounded);
  array.storage_.reset(static_cast<std::byte*>(storage));
  array.type_ = std::move(type);
  array.shape_ = std::move(shape);
  return array;
}

Array Array::description(ElementType type, std::vector<int64_t> shape) {
  Array array;
  array.elements_ = elementCount(shape, type.bytes).value_or(0);
  array.type_ = std::move(type);
  array.shape_ = std::move(shape);
  return array;
}

std::optional<Array> Array::clone(const std::string& what, DiagnosticEngine& diagnostics, const Location& where) const {
  auto copy = create(type_, shape_, what, diagnostics, where);
  if (copy && bytes())
    std::memcpy(copy->data(), data(), bytes());
  return copy;
}

std::optional<Array> convertElements(Array array, const ElementType& wanted, const std::string& file,
                                     const std::string& argument, DiagnosticEngine& diagnostics,
                                     const Location& where) {
  if (array.type() == wanted)
    return array;
  std::vector<CopyRun> runs;
  if (!planCopy(array.type(), wanted, 0, 0, runs)) {
    auto report = diagnostics.report(wrongElementType, where, file, array.type().text(), argument, wanted.text());
    if (wanted.kind != ElementType::Kind::Struct)
      report.help("convert it with NumPy: numpy.save('" + file + "', numpy.load('" + file + "').astype('" +
                  wanted.text() + "'))");
    else
      report.help("its NumPy dtype would be " + wanted.numpyDescription());
    return std::nullopt;
  }
  auto result = Array::create(wanted, array.shape(), "'" + argument + "'", diagnostics, where);
  if (!result)
    return std::nullopt;
  for (uint64_t i = 0; i < array.elements(); ++i)
    for (const CopyRun& run : runs)
      std::memcpy(result->data() + i * wanted.bytes + run.to, array.data() + i * array.type().bytes + run.from,
                  run.bytes);
  return result;
}

bool checkShape(const std::vector<int64_t>& shape, const std::vector<int64_t>& wanted, const std::string& file,
                const std::string& argument, DiagnosticEngine& diagnostics, const Location& where) {
  bool same = shape.size() == wanted.size();
  for (size_t i = 0; same && i < wanted.size(); ++i)
    same = wanted[i] == -1 || wanted[i] == shape[i];
  if (same)
    return true;
  std::string text = "(";
  for (size_t i = 0; i < wanted.size(); ++i)
    text += (i ? ", " : "") + (wanted[i] == -1 ? std::string("any") : std::to_string(wanted[i]));
  text += wanted.size() == 1 ? ",)" : ")";
  auto report = diagnostics.report(wrongShape, where, file, shapeText(shape), argument, text);
  if (shape.size() != wanted.size())
    report.note("the number of dimensions differs: " + std::to_string(shape.size()) + " and " +
                std::to_string(wanted.size()));
  return false;
}

} // namespace strata
