// Figures of a stream program's record, and how they are written in drawings and tables. Pure functions; any thread.
#pragma once

#include "compiler/driver/pages/stream_record.h"

namespace strata::driver {

/// How long a kernel waited at streams, in seconds.
struct Stalls {
  double forElements = 0, forRoom = 0;
  uint64_t times = 0;
};

/// Of each kernel.
std::vector<Stalls> stallsOf(const StreamsRecord& record);

/// "812 ns", "12.3 µs", "4.07 ms", "12.3 s".
std::string durationText(double seconds);
/// With a thin space between thousands: "1 000 000".
std::string countText(uint64_t count);
/// "12.5%".
std::string percentText(double share);

} // namespace strata::driver
