// The checksum of files of arrays: CRC-32 of Ethernet, of zip and of PNG.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::array {

uint32_t checksum(std::string_view bytes);

} // namespace strata::array
