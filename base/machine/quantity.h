// Quantities as descriptions write them: 256K, 3200MHz, 1/4. Each has a reader, which gives nothing for other text, and
// a writer whose text reads back to the same value. Pure functions; any thread.
#pragma once

#include "base/machine/machine.h"

namespace strata::machine {

/// A whole number: 12.
std::optional<uint64_t> parseCount(std::string_view text);
/// Bytes: 100, 100B, 256K, 8GiB (K, M, G, T are powers of 1024).
std::optional<uint64_t> parseSize(std::string_view text);
std::string formatSize(uint64_t bytes);
/// A size, `available` or `unknown`.
std::optional<Capacity> parseCapacity(std::string_view text);
std::string formatCapacity(const Capacity& capacity);
/// Hertz: 800MHz, 3.2GHz, 50Hz (powers of 1000).
std::optional<uint64_t> parseClock(std::string_view text);
std::string formatClock(uint64_t hertz);
/// Bytes in a cycle, or in several: 8, 1/4, 2K/3.
std::optional<Bandwidth> parseBandwidth(std::string_view text);
std::string formatBandwidth(const Bandwidth& bandwidth);
/// A port: north0, east1, …, element2.
std::optional<Port> parsePort(std::string_view text);
std::string formatPort(const Port& port);
/// A pair of ports: west0 -> east0.
std::optional<Adjacency> parseAdjacency(std::string_view text);
std::string formatAdjacency(const Adjacency& adjacency);

/// The words for the enumerations, in the order of their values.
const std::vector<std::string>& processorKindNames();
const std::vector<std::string>& cornerNames();
const std::vector<std::string>& sideNames(); // north, east, south, west, element

} // namespace strata::machine
