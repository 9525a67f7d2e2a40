// The conditions of a symbolic configuration as sets of isl, for its verifier: made from what the configuration says
// and from nothing that mapping has. Used by one thread; sets must not outlive it. isl::exception comes through.
#pragma once

#include "runtime/array/symbolic.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <isl/cpp.h>

namespace strata::array {

class SymbolicSets {
public:
  using Vector = std::vector<int64_t>;

  /// REQUIRES: validate() has nothing against the configuration, which outlives the sets.
  explicit SymbolicSets(const Symbolic& symbolic);

  const isl::set& none() const { return holding("false"); }
  /// The same set in as few pieces as isl finds: what is made of many parts is compared with many others.
  static isl::set simple(const isl::set& set);
  /// Both together, kept simple.
  static isl::set together(const isl::set& a, const isl::set& b) { return simple(a.unite(b)); }
  /// The iterations in which a condition in isl's words holds, over i0, i1, … and p0, p1, …
  const isl::set& holding(const std::string& condition) const;
  /// Such an expression, at I + shift. No shift: at I.
  static std::string text(const Linear& value, const Vector& shift);
  /// A space at I + shift, within the loops and the sizes that are allowed.
  const isl::set& space(uint32_t number, const Vector& shift);
  /// The iterations I + distance of those in a set.
  isl::set later(const isl::set& where, const Vector& distance) const;
  /// From iterations to what the expressions are there.
  const isl::map& map(const std::vector<Linear>& values) const;
  /// Into which tiles a step may lead: first the tile itself, last the one that is a neighbour along each loop.
  std::vector<Vector> crossings(const Vector& step) const;
  /// " (as in i = 3 for N = 5)"; nothing of an empty set.
  std::string example(const isl::set& where) const;
  /// Of what the C interface answers: an error is thrown.
  bool isTrue(isl_bool answer) const;

private:
  struct Release {
    void operator()(isl_ctx* context) const;
  };
  const isl::map& parsedMap(const std::string& range) const;

  const Symbolic& symbolic_;
  std::unique_ptr<isl_ctx, Release> context_; // before all sets, so that it goes last
  std::string parameters_, iterators_;
  std::optional<isl::set> box_;
  std::map<std::pair<uint32_t, Vector>, isl::set> spaces_;
  // Reading a text takes longer than most of what is done with it.
  mutable std::unordered_map<std::string, isl::set> conditions_;
  mutable std::unordered_map<std::string, isl::map> maps_;
};

} // namespace strata::array
