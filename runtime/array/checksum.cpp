// Byte by byte, from a table of remainders. See checksum.h.
#include "runtime/array/checksum.h"

#include <array>

namespace strata::array {

uint32_t checksum(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<uint32_t, 256> result{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit)
        crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
      result[i] = crc;
    }
    return result;
  }();
  uint32_t crc = ~0u;
  for (const char c : bytes)
    crc = (crc >> 8) ^ table[(crc ^ static_cast<uint8_t>(c)) & 255];
  return ~crc;
}

} // namespace strata::array
