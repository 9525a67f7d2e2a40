// Looks the figures of the hardware up in the machine's table; see hardware.h.
#include "runtime/core/hardware.h"

#include "runtime/core/run_context.h"
#include "runtime/core/scheduler.h"

namespace strata::runtime {

Hardware hardware() {
  Hardware figures;
  const StrataMachine* machine = current()->runContext->machine();
  if (!machine)
    return figures;
  const StrataHardware& stated = machine->hardware;
  if (stated.task_bytes > 0)
    figures.taskBytes = stated.task_bytes;
  if (stated.tile_elements > 0)
    figures.tileElements = stated.tile_elements;
  if (stated.large_page_bytes > 0)
    figures.largePageBytes = stated.large_page_bytes;
  return figures;
}

} // namespace strata::runtime
