// What a region starts ends with it: waits that programs leave out, put where passes see them.
#pragma once

#include "compiler/ir/svm.h"

namespace strata::mapping {

/// Puts an svm.wait at the end of each region that starts runs or moves and nobody in it waits for: passes that
/// dissolve a region then keep the place.
void endTokens(mlir::ModuleOp program);

} // namespace strata::mapping
