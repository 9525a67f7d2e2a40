// How large a symbolic configuration may be: what validate() accepts and what the readers of files allow. They keep
// instantiation's arithmetic in 64 bits, and a damaged file from asking for more memory than it can fill.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::array {

inline constexpr size_t mostLoops = 32;
inline constexpr size_t mostParameters = 32;
inline constexpr size_t mostOfOneKind = 1 << 16; // conditions, terms, …: in all lists of a configuration together
inline constexpr size_t mostCharacters = 4096;   // of one name
inline constexpr int64_t largestCoefficient = int64_t{1} << 31; // also moduli, divisors, shifts and distances
inline constexpr int64_t largestConstant = int64_t{1} << 40;    // also slacks
inline constexpr int64_t longestInterval = 4096;
inline constexpr int64_t latestOffset = 65535;

} // namespace strata::array
