// Contraction of multiply-adds by C's rule, once, before anything else may look at floating-point arithmetic.
#pragma once
#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a logical program whose front end has marked, with fastmath<contract>, each floating-point product that is an
/// operand of a sum or a difference in the same source expression, and that sum or difference. Such a product with no
/// other use becomes part of a math.fma (f32, f64 and vectors of them). Leaves no `contract` flag, so that nothing
/// contracts later.
std::unique_ptr<mlir::Pass> createFuseMultiplyAddPass();
} // namespace strata::transform
