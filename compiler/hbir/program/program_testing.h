// Checked programs made by hand, for tests of what reads them. Places are spans of a small text, so that diagnostics
// have labels.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hbir/program/program.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace strata::hbir {

struct ProgramTest : ::testing::Test {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  BufferId text = sources.add("p.hbir", std::string(400, '.'), SourceKind::Program);
  Program program;
  uint32_t places = 0;

  Location place() {
    places = (places + 2) % 398;
    return {text, places, places + 1};
  }
  void target(std::vector<int64_t> extents) {
    program.target.tiles = "t";
    program.target.extents = std::move(extents);
    program.target.where = place();
  }
  MemoryClass& memory(const std::string& name, int64_t count, std::optional<int64_t> size, bool local = false) {
    program.target.memories.push_back({name, count, size, 8, local, place()});
    return program.target.memories.back();
  }
  Group& group(const std::string& name, std::vector<GroupIndex> indices, std::vector<IndexExpression> tile,
               Group* parent = nullptr) {
    program.groups.push_back({name, parent, std::move(indices), std::move(tile), {}, place()});
    if (parent)
      parent->children.push_back(&program.groups.back());
    return program.groups.back();
  }
  Array& array(const std::string& name, std::vector<int64_t> extents, LayoutKind kind, std::vector<int64_t> pieces,
               const MemoryClass& memory, IndexExpression instance, ScalarType type = ScalarType::Int) {
    program.arrays.push_back({name,
                              type,
                              std::move(extents),
                              Direction::In,
                              {kind, std::move(pieces), &memory, std::move(instance), nullptr, place()},
                              place()});
    return program.arrays.back();
  }
  std::string said() const { return diagnostics.render({}); }
  bool saidCode(const std::string& code) const {
    for (const Diagnostic& diagnostic : diagnostics.all())
      if (code == diagnostic.kind->code)
        return true;
    return false;
  }
  bool saidOnly(const std::string& code) const { return saidCode(code) && diagnostics.all().size() == 1; }
};

inline IndexExpression number(int64_t value) {
  return IndexExpression::constant(value);
}
inline IndexExpression variable(unsigned index) {
  return IndexExpression::variable(index);
}
/// The indices of most formulas here.
inline const IndexExpression x = variable(0), y = variable(1);
inline IndexExpression operator+(IndexExpression a, IndexExpression b) {
  return IndexExpression::make(IndexExpression::Kind::Add, std::move(a), std::move(b));
}
inline IndexExpression operator-(IndexExpression a, IndexExpression b) {
  return IndexExpression::make(IndexExpression::Kind::Subtract, std::move(a), std::move(b));
}
inline IndexExpression operator*(IndexExpression a, IndexExpression b) {
  return IndexExpression::make(IndexExpression::Kind::Multiply, std::move(a), std::move(b));
}
inline IndexExpression operator/(IndexExpression a, IndexExpression b) {
  return IndexExpression::make(IndexExpression::Kind::Divide, std::move(a), std::move(b));
}
inline IndexExpression operator%(IndexExpression a, IndexExpression b) {
  return IndexExpression::make(IndexExpression::Kind::Modulo, std::move(a), std::move(b));
}

/// Calls visit with every value of variables over [0, extent) each, by rows.
template <typename Visit>
void forEach(const std::vector<int64_t>& extents, Visit visit) {
  std::vector<int64_t> values(extents.size());
  for (int64_t extent : extents)
    if (extent == 0)
      return;
  for (bool more = true; more;) {
    visit(values);
    more = false;
    for (size_t d = values.size(); d-- > 0 && !more;) {
      more = ++values[d] < extents[d];
      if (!more)
        values[d] = 0;
    }
  }
}

} // namespace strata::hbir
