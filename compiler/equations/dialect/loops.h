// Loops that isl generates for a schedule, as scf operations. Used while one kernel is lowered, by one thread.
#pragma once

#include "compiler/equations/order.h"
#include "compiler/equations/polyhedra.h"

#include "mlir/IR/Builders.h"

#include <functional>
#include <vector>

namespace strata::equations {

/// Values of parameters and iterators by the names that Polyhedra gives them (p0, i0, …).
using Bindings = std::map<std::string, mlir::Value>;

/// An affine expression of isl over parameters, as an index. REQUIRES: the set has a least (greatest) value there.
mlir::Value leastOf(mlir::OpBuilder& builder, mlir::Location place, const isl::set& set, unsigned dimension,
                    bool isGreatest, const Bindings& parameters);

/// Builds the loops; `body` is called for each node, at its place in them, with the values of the iterators.
/// Throws isl::exception.
void buildLoops(mlir::OpBuilder& builder, mlir::Location place, const Graph& graph, const std::vector<Time>& times,
                const Polyhedra& polyhedra, const Bindings& parameters,
                const std::function<void(uint32_t node, const std::vector<mlir::Value>& iterators)>& body);

} // namespace strata::equations
