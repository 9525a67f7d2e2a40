// What goes between the processes of a run, taken from its counters (runtime/cluster/commands.h names them). Plain
// data.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace strata::driver {

/// Whether a counter is of processes: "bytes process 0 -> 1", "copies …", "messages …", "microseconds process 1 waits".
bool isOfProcesses(std::string_view counter);

/// Of all these: [{"from": 0, "to": 1, "bytes": 4096, "copies": 2, "messages": 3}, …] by from and to.
nlohmann::json trafficOf(const std::map<std::string, int64_t>& counters);
/// {"0": 120, …}: microseconds, by process.
nlohmann::json waitsOf(const std::map<std::string, int64_t>& counters);

} // namespace strata::driver
