// Loops that isl generates for a schedule, as scf operations. Used while one kernel is lowered, by one thread.
#pragma once

#include "compiler/equations/order.h"
#include "compiler/equations/polyhedra.h"

#include "mlir/IR/Builders.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace strata::equations {

/// How far from zero a number can be: sizes[0] times the first parameter's absolute value, and so on, and a constant
/// more.
struct Reach {
  std::vector<double> sizes; // may be shorter than there are parameters
  double constant = 0;
};
/// How far a number can be that is one or the other.
Reach larger(Reach a, const Reach& b);

/// A value, and how far from zero it can be.
struct Number {
  mlir::Value value;
  Reach reach;
};

/// Parameters and iterators by the names that Polyhedra gives them (p0, i0, …).
using Numbers = std::map<std::string, Number>;

/// The sizes of a program as p0, p1, …
Numbers sizes(mlir::ValueRange values);

/// For which absolute values of each parameter all that is computed of them fits into 64 bits.
class SizeLimit {
public:
  void require(const Reach& reach);
  int64_t most(size_t parameter) const { return parameter < most_.size() ? most_[parameter] : any; }
  /// Whether the constants alone do not fit.
  bool isBroken() const { return isBroken_; }

private:
  static constexpr int64_t any = int64_t{1} << 62;
  std::vector<int64_t> most_;
  bool isBroken_ = false;
};

/// The least (greatest) number of a set's points in a dimension, as an index. REQUIRES: it has one.
Number leastOf(mlir::OpBuilder& builder, mlir::Location place, const isl::set& set, unsigned dimension, bool isGreatest,
               const Numbers& parameters, SizeLimit& limit);

/// Builds the loops; `body` is called for each equation, at its place in them, with the values of the iterators.
/// Throws isl::exception. REQUIRES: the polyhedra are of the system's iterators and parameters, its space is
/// everything.
void buildLoops(mlir::OpBuilder& builder, mlir::Location place, const System& system, const std::vector<Time>& times,
                const Polyhedra& polyhedra, const Numbers& parameters, SizeLimit& limit,
                const std::function<void(uint32_t equation, const std::vector<mlir::Value>& iterators)>& body);

} // namespace strata::equations
