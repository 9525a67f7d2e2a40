// Any bytes as a file of a symbolic configuration, in both forms: reading and checking must end without a fault, and
// what was read must be the same after it was written. The checksum of a binary file is corrected, so that what lies
// behind it is tried too. The same bytes are also changes to a sound file: each three are a place and what is put
// there. What is valid is instantiated, and run where that is short; both may refuse it.
#include "runtime/array/files_testing.h"
#include "runtime/array/instances_testing.h"

#include <cstdlib>

namespace {

using namespace strata::array;

void tryBytes(const std::string& bytes) {
  const auto result = strata::array::read(bytes);
  const auto* symbolic = std::get_if<strata::array::Symbolic>(&result);
  if (!symbolic) {
    if (strata::array::print(std::get<strata::array::FileError>(result)).empty())
      std::abort();
    return;
  }
  if (!test::tryInstances(*symbolic, test::fileArray()).wrong.empty())
    std::abort();
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
