// The order of the checks.
#include "compiler/hbir/check/checker.h"

namespace strata::hbir {

void Checker::run() {
  program_.form = tree_.form;
  unsigned before = diagnostics_.errorCount();
  target();
  // Groups of a target whose extents are wrong would only repeat it.
  if (diagnostics_.errorCount() != before)
    return;
  config();
  moveGroups();
  // Arrays and blocks that name what is wrong would only repeat it.
  if (diagnostics_.errorCount() != before)
    return;
  data();
  applyHomes();
  if (diagnostics_.errorCount() != before)
    return;
  code();
  if (diagnostics_.errorCount() == before)
    mappingKeepsCopies();
}

} // namespace strata::hbir
