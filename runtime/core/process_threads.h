// The threads of this process that may call into the runtime, as the system lists them.
#pragma once

#include <cstdint>
#include <optional>

namespace strata::runtime {

/// How many there are: those that have not ended, without those by which the system's kernel carries out requests of
/// io_uring. Nothing where that cannot be found out, as while others keep beginning and ending. Any thread.
std::optional<uint32_t> countThreads();

} // namespace strata::runtime
