// Any bytes as a trace: reading and printing all of it must end without a fault. Checksums are corrected, so that what
// lies behind them is tried too. The same bytes are also changes to a sound trace: each three are a place and what is
// put there.
#include "runtime/array/trace_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string sound = strata::array::test::traceSample();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::string changed = sound;
  for (size_t i = 0; i + 3 <= size; i += 3)
    changed[(data[i] * 256u + data[i + 1]) % changed.size()] = static_cast<char>(data[i + 2]);
  size_t events = 0;
  for (const std::string& each : {bytes, changed}) {
    strata::array::test::readAll(each, events);
    strata::array::test::readAll(strata::array::test::withChecksums(each), events);
  }
  return 0;
}
