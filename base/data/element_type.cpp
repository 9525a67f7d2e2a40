// Texts and equality of element types, and their scalars. Pure functions of their arguments.
#include "base/data/element_type.h"

#include <cstdio>

namespace strata {

ElementType ElementType::structure(std::vector<Field> fields, uint64_t bytes) {
  ElementType type{Kind::Struct, bytes, {}};
  type.fields = std::move(fields);
  return type;
}

uint64_t Field::count() const {
  uint64_t count = 1;
  for (uint64_t extent : shape)
    count *= extent;
  return count;
}

bool operator==(const Field& a, const Field& b) {
  return a.name == b.name && a.offset == b.offset && a.shape == b.shape && a.type == b.type;
}

bool operator==(const ElementType& a, const ElementType& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.fields == b.fields;
}

namespace {

std::string fieldShapeText(const std::vector<uint64_t>& shape) {
  return shapeText(std::vector<int64_t>(shape.begin(), shape.end()));
}

std::string quoted(std::string_view name) {
  std::string text = "'";
  for (char c : name) {
    if (c == '\'' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + "'";
}

char kindLetter(ElementType::Kind kind) {
  switch (kind) {
  case ElementType::Kind::Bool:
    return 'b';
  case ElementType::Kind::SignedInteger:
    return 'i';
  case ElementType::Kind::UnsignedInteger:
    return 'u';
  case ElementType::Kind::Float:
    return 'f';
  default:
    return 'c';
  }
}

/// Appends a run, joined to the last one where it continues it. False when there would be too many.
bool addRun(std::vector<ScalarRun>& runs, ScalarRun run, size_t limit) {
  if (run.count == 0)
    return true;
  if (!runs.empty()) {
    ScalarRun& last = runs.back();
    if (last.kind == run.kind && last.bytes == run.bytes && last.offset + last.bytes * last.count == run.offset) {
      last.count += run.count;
      return true;
    }
  }
  if (runs.size() >= limit)
    return false;
  runs.push_back(run);
  return true;
}

bool collectRuns(std::vector<ScalarRun>& runs, const ElementType& type, uint64_t offset, uint64_t count, size_t limit) {
  switch (type.kind) {
  case ElementType::Kind::Complex:
    return addRun(runs, {ElementType::Kind::Float, offset, type.bytes / 2, 2 * count}, limit);
  case ElementType::Kind::Struct:
    if (type.fields.empty())
      return true;
    // Bounded by `limit` twice over: in the runs that are kept and in the elements that are looked at.
    if (count > limit)
      return false;
    for (uint64_t i = 0; i < count; ++i)
      for (const Field& field : type.fields)
        if (!collectRuns(runs, field.type, offset + i * type.bytes + field.offset, field.count(), limit))
          return false;
    return true;
  default:
    return addRun(runs, {type.kind, offset, type.bytes, count}, limit);
  }
}

} // namespace

std::string ElementType::text() const {
  const std::string bits = std::to_string(bytes * 8);
  switch (kind) {
  case Kind::Bool:
    return "bool";
  case Kind::SignedInteger:
    return "int" + bits;
  case Kind::UnsignedInteger:
    return "uint" + bits;
  case Kind::Float:
    return "float" + bits;
  case Kind::Complex:
    return "complex" + bits;
  case Kind::Struct:
    break;
  }
  std::string text = "{";
  for (const Field& field : fields) {
    if (text.size() > 1)
      text += ", ";
    text += field.name + ": " + field.type.text();
    if (!field.shape.empty())
      text += fieldShapeText(field.shape);
  }
  return text + "}";
}

std::string ElementType::numpyDescription() const {
  if (kind != Kind::Struct)
    return std::string("'") + (bytes == 1 ? '|' : '<') + kindLetter(kind) + std::to_string(bytes) + "'";
  std::string text = "[";
  uint64_t at = 0;
  auto add = [&text](const std::string& item) { text += (text.size() > 1 ? ", " : "") + item; };
  auto pad = [&](uint64_t to) {
    if (to > at)
      add("('', '|V" + std::to_string(to - at) + "')");
  };
  for (const Field& field : fields) {
    pad(field.offset);
    add("(" + quoted(field.name) + ", " + field.type.numpyDescription() +
        (field.shape.empty() ? "" : ", " + fieldShapeText(field.shape)) + ")");
    at = field.end();
  }
  pad(bytes);
  return text + "]";
}

std::optional<ElementType> ElementType::asComplex() const {
  if (kind != Kind::Struct || fields.size() != 2)
    return std::nullopt;
  const ElementType& part = fields[0].type;
  if (part.kind != Kind::Float || !(fields[1].type == part) || !fields[0].shape.empty() || !fields[1].shape.empty())
    return std::nullopt;
  if (fields[0].offset != 0 || fields[1].offset != part.bytes || bytes != 2 * part.bytes)
    return std::nullopt;
  return complex(bytes);
}

std::optional<std::vector<ScalarRun>> scalarRuns(const ElementType& type, size_t limit) {
  std::vector<ScalarRun> runs;
  if (!collectRuns(runs, type, 0, 1, limit))
    return std::nullopt;
  return runs;
}

std::string bytesText(uint64_t bytes) {
  static const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof text, value == static_cast<double>(static_cast<uint64_t>(value)) ? "%.0f %s" : "%.1f %s",
                value, bytes == 1 ? "byte" : units[unit]);
  return text;
}

std::string shapeText(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace strata
