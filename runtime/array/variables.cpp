// See variables.h.
#include "runtime/array/variables.h"

#include <algorithm>

namespace strata::array {

void addVariable(std::vector<std::string>& names, const SymbolicInstruction& instruction) {
  std::string name = instruction.name.substr(0, instruction.name.find('.'));
  if (std::ranges::find(names, name) == names.end())
    names.push_back(std::move(name));
}

std::vector<std::string> variablesOf(const Symbolic& symbolic, Register reg) {
  std::vector<std::string> names;
  Register written = reg;
  if (reg.kind == Register::Kind::Input) {
    const auto channel =
        std::ranges::find(symbolic.channels, reg.index, [](const Channel& each) { return each.path.back().index; });
    if (channel == symbolic.channels.end())
      return names;
    written = {Register::Kind::Output, static_cast<uint16_t>(channel->path.front().index)};
  }
  for (const SymbolicInstruction& instruction : symbolic.instructions)
    for (const Destination& destination : instruction.destinations)
      if (destination.reg == written && (written == reg || std::ranges::any_of(destination.when, [](const Term& term) {
                                           return !term.step.empty();
                                         })))
        addVariable(names, instruction);
  return names;
}

std::vector<std::string> variablesOf(const Symbolic& symbolic, const Arrival& arrival) {
  std::vector<std::string> names;
  for (const Fifo& fifo : symbolic.fifos)
    if (fifo.arrival.distance == arrival.distance && fifo.arrival.crossing == arrival.crossing)
      for (std::string& name : variablesOf(symbolic, fifo.reg))
        if (std::ranges::find(names, name) == names.end())
          names.push_back(std::move(name));
  return names;
}

std::string formatNames(const std::vector<std::string>& names) {
  constexpr size_t most = 3;
  std::string text;
  const size_t told = names.size() > most + 1 ? most : names.size(); // "and 1 more" would be as long
  for (size_t i = 0; i < told; ++i)
    text += (i == 0 ? "'" : i + 1 == names.size() ? " and '" : ", '") + names[i] + "'";
  return told < names.size() ? text + " and " + std::to_string(names.size() - told) + " more" : text;
}

std::string formatNames(const char* word, const std::vector<std::string>& names) {
  return names.empty() ? "" : " " + std::string(word) + " " + formatNames(names);
}

} // namespace strata::array
