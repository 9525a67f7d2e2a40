// What is asked of channels before a solver or a verifier looks at them. See routes.h.
#include "compiler/target/array/routes.h"

#include <algorithm>
#include <cstdlib>

namespace strata::array {

std::string RouteProblem::check() const {
  constexpr uint64_t manyPorts = 64;
  constexpr int64_t far = 64;
  for (const auto* ports : {&layer.inputs, &layer.outputs})
    for (const uint64_t count : *ports)
      if (count > manyPorts)
        return "a wrapper with " + std::to_string(count) + " ports at a side";
  if (elementInputs > manyPorts || elementOutputs > manyPorts)
    return "an element with " + std::to_string(std::max(elementInputs, elementOutputs)) + " ports";
  for (const Channel& each : channels) {
    if (each.rowStep == 0 && each.columnStep == 0)
      return "channel '" + each.name + "' leads from an element to itself";
    if (std::max(std::abs(each.rowStep), std::abs(each.columnStep)) > far)
      return "channel '" + each.name + "' leads too far";
  }
  return "";
}

} // namespace strata::array
