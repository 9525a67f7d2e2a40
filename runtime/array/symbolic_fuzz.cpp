// Any bytes as a file of a symbolic configuration, in both forms: reading and checking must end without a fault, and
// what was read must be the same after it was written. The checksum of a binary file is corrected, so that what lies
// behind it is tried too. The same bytes are also changes to a sound file: each three are a place and what is put
// there. What is valid is instantiated, and run where that is short; both may refuse it.
#include "runtime/array/files_testing.h"
#include "runtime/array/instantiate.h"
#include "runtime/array/simulate.h"

#include <cstdlib>

namespace {

using namespace strata::array;

/// An array's bytes; nothing where they are too many for a short run.
std::optional<std::vector<std::byte>> memoryOf(const ArrayLayout& layout) {
  constexpr int64_t most = 1 << 16;
  int64_t count = 1;
  for (const int64_t extent : layout.extents)
    if ((count = extent > most ? most + 1 : count * extent) > most)
      return std::nullopt;
  return std::vector<std::byte>(static_cast<size_t>(count) * bytes(layout.type));
}

void run(const strata::machine::ProcessorArray& array, const Configuration& configuration) {
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
  static_cast<void>(
      simulate(array, configuration, inputs, std::span(all).subspan(configuration.inputs.size()), {}, statistics));
}

void tryInstances(const Symbolic& symbolic) {
  const strata::machine::ProcessorArray array = test::fileArray();
  if (!validate(symbolic, array).empty())
    return;
  for (const int64_t size : {1, 4, 7, 1'000'000'000})
    for (const uint32_t elements : {1u, 2u}) {
      InstantiationOptions options;
      options.sizes.assign(symbolic.parameters.size(), size);
      options.rows = symbolic.rowLoop == Symbolic::none ? 1 : elements;
      options.columns = symbolic.columnLoop == Symbolic::none ? 1 : elements;
      options.corner = array.controllers.empty() ? strata::machine::Corner::NorthWest : array.controllers[0];
      const std::variant<Configuration, InstantiationError> made = instantiate(symbolic, array, options);
      if (const auto* configuration = std::get_if<Configuration>(&made))
        run(array, *configuration);
    }
}

void tryBytes(const std::string& bytes) {
  const auto result = strata::array::read(bytes);
  const auto* symbolic = std::get_if<strata::array::Symbolic>(&result);
  if (!symbolic) {
    if (strata::array::print(std::get<strata::array::FileError>(result)).empty())
      std::abort();
    return;
  }
  tryInstances(*symbolic);
  for (const std::string& written : {strata::array::writeText(*symbolic), strata::array::writeBinary(*symbolic)}) {
    const auto again = strata::array::read(written);
    const auto* back = std::get_if<strata::array::Symbolic>(&again);
    if (!back || !(*back == *symbolic))
      std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const strata::array::Symbolic sound = strata::array::test::fileSample();
  static const std::string text = strata::array::writeText(sound), binary = strata::array::writeBinary(sound);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  tryBytes(bytes);
  if (size >= 8)
    tryBytes(strata::array::test::withChecksum(bytes));
  for (std::string changed : {text, binary}) {
    for (size_t i = 0; i + 3 <= size; i += 3)
      changed[(data[i] * 256u + data[i + 1]) % changed.size()] = static_cast<char>(data[i + 2]);
    tryBytes(changed);
    tryBytes(strata::array::test::withChecksum(changed));
  }
  return 0;
}
