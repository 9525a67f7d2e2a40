// Events of traces for people. See trace.h.
#include "runtime/array/trace.h"

namespace strata::array {

TraceText::TraceText(const machine::ProcessorArray& array, const Configuration& configuration)
    : configuration_(configuration) {
  for (const machine::FunctionalUnit& unit : array.units)
    for (uint64_t i = 0; i < unit.count; ++i)
      units_.push_back(unit.name + std::to_string(i));
}

std::string TraceText::operator()(const TraceEvent& event) const {
  const uint32_t number = classOf(configuration_, event.row, event.column);
  const Functional& f = configuration_.classes[number].programs[event.unit][event.position].functional;
  std::string text = "(" + std::to_string(event.row) + ", " + std::to_string(event.column) + ") " + units_[event.unit] +
                     " " + std::to_string(event.position) + ": " + print(Instruction{f, {}}) + ": ";
  for (size_t k = 0; k < f.sources.size(); ++k)
    text += (k ? ", " : "") + print(event.operands[k], operandType(f, k));
  return text + " -> " + print(event.result, resultType(f));
}

} // namespace strata::array
