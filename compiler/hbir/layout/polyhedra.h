// Index expressions as sets and maps of isl, whose integer sets with floor divisions answer questions about billions of
// tiles or elements exactly. Internal to this folder: isl reports by exceptions here, Quota included, and every user
// catches isl::exception at its border. A Polyhedra serves one thread.
#pragma once

#include "compiler/hbir/program/index_expression.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <isl/cpp.h>

namespace strata::hbir {

struct Interval {
  int64_t least = 0, most = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Bounds of an expression whose variables run over [0, extent) each. Nothing when a part of it may leave 64 bits or
/// divide by zero, or a variable has no values.
std::optional<Interval> rangeOf(const IndexExpression& expression, const std::vector<int64_t>& extents);

class Polyhedra {
public:
  /// After so many steps of isl in all, everything that is asked of this object throws.
  explicit Polyhedra(unsigned long steps = 1'000'000);

  /// Values of variables that run over [0, extent) each.
  isl::set box(const std::vector<int64_t>& extents) const;
  /// Values over [begin, end) each.
  isl::set box(const std::vector<Interval>& bounds) const;
  /// The results of expressions for every value in a set of variables. Nothing when isl cannot say it (a product or
  /// quotient of variables) or would take too long over it: steps differ much in cost where there are many roundings.
  std::optional<isl::map> map(const std::vector<IndexExpression>& results, const isl::set& domain) const;
  /// A point: the first in lexicographic order, or some other where isl might search long for that. REQUIRES: not
  /// empty.
  static std::vector<int64_t> first(const isl::set& set);
  /// The greatest value of a coordinate; nothing when the set is empty.
  static std::optional<int64_t> greatest(const isl::set& set, unsigned coordinate);

private:
  std::optional<isl::pw_aff> convert(const IndexExpression& expression, const isl::set& domain) const;
  struct Release {
    void operator()(isl_ctx* context) const { isl_ctx_free(context); }
  };
  std::unique_ptr<isl_ctx, Release> context_;
};

} // namespace strata::hbir
