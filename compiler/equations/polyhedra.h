// Condition spaces and affine indices as sets and maps of isl, and back, exactly. Internal to users of isl: what isl
// refuses (too many steps, numbers too large) comes as isl::exception, which every public function of this folder
// catches at its border. A Polyhedra serves one thread; sets must not outlive it.
//
// Hulls by Farkas' lemma, as in Feautrier 1992, "Some efficient solutions to the affine scheduling problem".
//
// Sets have the parameters p0, p1, … and one anonymous tuple of the iterators.
#pragma once

#include "compiler/equations/graph.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <isl/cpp.h>

namespace strata::equations {

class Polyhedra {
public:
  Polyhedra(size_t iterators, size_t parameters, unsigned long steps = 200'000'000);
  Polyhedra(const Polyhedra&) = delete; // what it remembers goes before its context
  Polyhedra& operator=(const Polyhedra&) = delete;

  /// Steps are counted anew, also after what took too many.
  void restart() const;

  size_t iterators() const { return iterators_; }
  size_t parameters() const { return parameters_; }

  isl::set set(const Space& space) const;
  /// All iterations for sizes that keep the constraints.
  isl::set context(const std::vector<Constraint>& constraints) const;
  isl::set universe() const { return set(Space{{{}}}); }
  isl::set empty() const { return set(Space{}); }
  /// From iterations to elements.
  isl::map map(const std::vector<Affine>& index) const;
  /// I to I + distance.
  isl::map translation(const std::vector<int64_t>& distance) const;
  /// Elements of an array of these extents.
  isl::set elements(const std::vector<Affine>& extents) const;
  /// [p0, …] -> text
  isl::set parsedSet(const std::string& text) const;
  isl::map parsedMap(const std::string& text) const;

  /// A set of iterations as a condition space. Nothing where that would take more than 64 residues.
  static std::optional<Space> space(const isl::set& set);
  /// The coordinates of a point of a set that is not empty, parameters first.
  std::vector<int64_t> sample(const isl::set& set) const;
  /// The vector that all points of a set are, for all sizes; nothing where there are several.
  static std::optional<std::vector<int64_t>> onlyPoint(const isl::set& set);
  /// Corners and directions of the smallest polyhedron that holds a set, for all sizes together: (weight, vector),
  /// where vector / weight is a corner if the weight is above zero, and vector a direction if it is zero. A linear
  /// function is at least as large in all of the set as in the corners, if it falls along no direction. Remainders in
  /// the set's conditions may be left out of account, which makes the polyhedron larger. REQUIRES: the set is not
  /// empty.
  static std::vector<std::vector<int64_t>> hull(const isl::set& set);

private:
  std::string parameterList() const;
  std::string iteratorList() const;
  struct Release {
    void operator()(isl_ctx* context) const { isl_ctx_free(context); }
  };
  size_t iterators_, parameters_;
  std::unique_ptr<isl_ctx, Release> context_;
  // What has been read, by text: spaces and indices come again and again, and reading them takes isl as long as a
  // question about them. They go before the context.
  mutable std::unordered_map<std::string, isl::set> sets_;
  mutable std::unordered_map<std::string, isl::map> maps_;
};

/// Fewer pieces of the same points, where conditions have no remainders; else the set (the map) itself. What isl 0.25
/// makes of pieces with remainders has the right points, and its differences with them do not always
/// (tests/array/oracle.cpp met one).
isl::set coalesced(const isl::set& set);
isl::map coalesced(const isl::map& map);

/// "2*i - N + 1" with the names of a program.
std::string text(const Affine& value, const std::vector<std::string>& iterators,
                 const std::vector<std::string>& parameters);
/// "i >= 0 and i < N, or …" in the names of a program: each constraint as `value >= 0`.
std::string text(const Space& space, const std::vector<std::string>& iterators,
                 const std::vector<std::string>& parameters);

} // namespace strata::equations
