// See instances_testing.h.
#include "runtime/array/instances_testing.h"

#include "runtime/array/instantiate.h"
#include "runtime/array/simulate.h"

namespace strata::array::test {

namespace {

/// An array's bytes; nothing where they are too many for a short run.
std::optional<std::vector<std::byte>> memoryOf(const ArrayLayout& layout) {
  constexpr int64_t most = 1 << 16;
  int64_t count = 1;
  for (const int64_t extent : layout.extents)
    if ((count = extent > most ? most + 1 : count * extent) > most)
      return std::nullopt;
  return std::vector<std::byte>(static_cast<size_t>(count) * bytes(layout.type));
}

void runInstance(const machine::ProcessorArray& array, const Configuration& configuration, Instances& tried) {
  constexpr int64_t mostIterations = 1000;
  std::vector<std::vector<std::byte>> memory;
  for (const std::vector<ArrayLayout>* layouts : {&configuration.inputs, &configuration.outputs})
    for (const ArrayLayout& layout : *layouts) {
      std::optional<std::vector<std::byte>> made = memoryOf(layout);
      if (!made)
        return;
      memory.push_back(*std::move(made));
    }
  int64_t iterations = 1; // of an element
  for (const int64_t extent : configuration.extents)
    if ((iterations = extent > mostIterations ? extent : iterations * extent) > mostIterations)
      return;
  std::vector<std::byte*> all;
  for (std::vector<std::byte>& each : memory)
    all.push_back(each.data());
  const std::vector<const std::byte*> inputs(all.begin(), all.begin() + std::ssize(configuration.inputs));
  SimulationStatistics statistics;
  const std::optional<SimulationError> error =
      simulate(array, configuration, inputs, std::span(all).subspan(configuration.inputs.size()), {}, statistics);
  ++(error ? tried.failed : tried.ran);
  if (error && error->message.empty())
    tried.wrong = "an error of the simulation that says nothing";
}

} // namespace

Instances tryInstances(const Symbolic& symbolic, const machine::ProcessorArray& array) {
  Instances tried;
  tried.isValid = validate(symbolic, array).empty();
  if (!tried.isValid)
    return tried;
  for (const int64_t size : {1, 4, 7, 1'000'000'000})
    for (const uint32_t elements : {1u, 2u}) {
      InstantiationOptions options;
      options.sizes.assign(symbolic.parameters.size(), size);
      options.rows = symbolic.rowLoop == Symbolic::none || array.rows < elements ? 1 : elements;
      options.columns = symbolic.columnLoop == Symbolic::none || array.columns < elements ? 1 : elements;
      options.corner = array.controllers.empty() ? machine::Corner::NorthWest : array.controllers[0];
      const std::variant<Configuration, InstantiationError> made = instantiate(symbolic, array, options);
      if (const auto* configuration = std::get_if<Configuration>(&made)) {
        runInstance(array, *configuration, tried);
        continue;
      }
      ++tried.refused;
      if (const auto& error = std::get<InstantiationError>(made); error.message.empty() || error.help.empty())
        tried.wrong = "an error of the instantiation that says nothing";
    }
  return tried;
}

} // namespace strata::array::test
