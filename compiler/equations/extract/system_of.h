// The system of equations of a kernel whose dataflow is known, in an iteration space: an equation for each statement
// that some result depends on, and for each result.
#pragma once

#include "compiler/equations/extract/embedding.h"
#include "compiler/equations/extract/flow.h"
#include "compiler/equations/extract/program.h"
#include "compiler/equations/system.h"

#include "base/source/source.h"

#include <string>
#include <vector>

namespace strata::equations::extraction {

struct MadeSystem {
  System system;
  std::vector<unsigned> inputs, outputs; // the kernel's arguments, in the order of the system's inputs and outputs
  std::set<unsigned> spans;              // parameters that tell how far apart a value and its use are
};

/// Throws Refused and isl::exception.
MadeSystem systemOf(const Program& program, const Flow& flow, const std::vector<bool>& isNeeded,
                    const Embedding& embedding, const std::string& name, const SourceManager& sources);

} // namespace strata::equations::extraction
