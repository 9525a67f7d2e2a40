// The instance is made, but not run: when its elements start and how many iterations they have is in it. See
// estimate.h.
#include "compiler/target/array/estimate.h"

#include "runtime/array/instantiate.h"
#include "runtime/array/region.h"

#include <algorithm>

namespace strata::array {

std::optional<int64_t> estimatedCycles(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                       const HostLink& link, int64_t size) {
  InstantiationOptions options;
  options.sizes.assign(symbolic.parameters.size(), size);
  if (!array.controllers.empty())
    options.corner = array.controllers.front();
  if (chooseRegion(symbolic, array, options))
    return std::nullopt;
  do {
    const auto made = instantiate(symbolic, array, options);
    const auto* configuration = std::get_if<Configuration>(&made);
    if (!configuration)
      continue;
    int64_t iterations = 1; // of a tile
    for (const int64_t extent : configuration->extents)
      iterations *= extent;
    int64_t last = 0;
    for (const int64_t row : {int64_t{0}, static_cast<int64_t>(configuration->rows) - 1})
      for (const int64_t column : {int64_t{0}, static_cast<int64_t>(configuration->columns) - 1})
        last = std::max(last, configuration->start(row, column));
    int64_t cycles = last + iterations * configuration->interval;
    if (const std::optional<TransferTimes> times = transferTimes(*configuration, link, cycles))
      cycles += times->filling + times->waiting + times->emptying;
    return cycles;
  } while (halveRegion(options));
  return std::nullopt;
}

} // namespace strata::array
