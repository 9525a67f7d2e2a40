// Reads and writes quantities; see quantity.h. Everything is exact: no floating point, overflow is "not a quantity".
#include "base/machine/quantity.h"

#include <charconv>

namespace strata::machine {

namespace {

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Takes the digits off the front of `text`.
std::optional<uint64_t> takeNumber(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

struct Unit {
  std::string_view name;
  uint64_t factor;
};

constexpr Unit sizeUnits[] = {{"", 1},
                              {"B", 1},
                              {"K", uint64_t(1) << 10},
                              {"M", uint64_t(1) << 20},
                              {"G", uint64_t(1) << 30},
                              {"T", uint64_t(1) << 40}};
constexpr Unit clockUnits[] = {{"Hz", 1}, {"kHz", 1000}, {"MHz", 1000000}, {"GHz", 1000000000}};

/// The largest unit that divides the value writes it exactly.
template <size_t N>
std::string formatIn(const Unit (&units)[N], uint64_t value) {
  const Unit* best = &units[0];
  for (const Unit& unit : units)
    if (unit.factor > best->factor && value != 0 && value % unit.factor == 0)
      best = &unit;
  return std::to_string(value / best->factor) + std::string(best->name);
}

} // namespace

std::optional<uint64_t> parseCount(std::string_view text) {
  text = trim(text);
  const std::optional<uint64_t> value = takeNumber(text);
  return text.empty() ? value : std::nullopt;
}

std::optional<uint64_t> parseSize(std::string_view text) {
  text = trim(text);
  const std::optional<uint64_t> value = takeNumber(text);
  if (!value)
    return std::nullopt;
  text = trim(text);
  if (text.size() == 3 && text.ends_with("iB"))
    text.remove_suffix(2);
  for (const Unit& unit : sizeUnits) {
    uint64_t bytes = 0;
    if (text == unit.name && !__builtin_mul_overflow(*value, unit.factor, &bytes))
      return bytes;
  }
  return std::nullopt;
}

std::string formatSize(uint64_t bytes) {
  return formatIn(sizeUnits, bytes);
}

std::optional<Capacity> parseCapacity(std::string_view text) {
  if (text == "available")
    return Capacity::available();
  if (text == "unknown")
    return Capacity();
  if (const std::optional<uint64_t> bytes = parseSize(text))
    return Capacity::of(*bytes);
  return std::nullopt;
}

std::string formatCapacity(const Capacity& capacity) {
  switch (capacity.kind) {
  case Capacity::Kind::Bytes:
    return formatSize(capacity.bytes);
  case Capacity::Kind::Available:
    return "available";
  case Capacity::Kind::Unknown:
    return "unknown";
  }
  return "";
}

std::optional<uint64_t> parseClock(std::string_view text) {
  text = trim(text);
  std::optional<uint64_t> whole = takeNumber(text);
  if (!whole)
    return std::nullopt;
  uint64_t hertz = *whole, divisor = 1;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > 9)
      return std::nullopt;
    for (size_t i = 0; i < digits; ++i)
      divisor *= 10;
    const std::optional<uint64_t> fraction = takeNumber(text);
    if (!fraction || __builtin_mul_overflow(hertz, divisor, &hertz) || __builtin_add_overflow(hertz, *fraction, &hertz))
      return std::nullopt;
  }
  text = trim(text);
  for (const Unit& unit : clockUnits)
    if (text == unit.name && !__builtin_mul_overflow(hertz, unit.factor, &hertz) && hertz % divisor == 0)
      return hertz / divisor;
  return std::nullopt;
}

std::string formatClock(uint64_t hertz) {
  return formatIn(clockUnits, hertz);
}

std::optional<Bandwidth> parseBandwidth(std::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<uint64_t> bytes = parseSize(text.substr(0, slash));
  const std::optional<uint64_t> cycles = slash == std::string_view::npos ? 1 : parseCount(text.substr(slash + 1));
  if (!bytes || !cycles)
    return std::nullopt;
  return Bandwidth{*bytes, *cycles};
}

std::string formatBandwidth(const Bandwidth& bandwidth) {
  return formatSize(bandwidth.bytes) + (bandwidth.cycles == 1 ? "" : "/" + std::to_string(bandwidth.cycles));
}

std::optional<Port> parsePort(std::string_view text) {
  text = trim(text);
  for (size_t side = 0; side < sideNames().size(); ++side) {
    if (!text.starts_with(sideNames()[side]))
      continue;
    const std::optional<uint64_t> index = parseCount(text.substr(sideNames()[side].size()));
    if (!index || *index > 1000000)
      return std::nullopt;
    return Port{static_cast<Side>(side), static_cast<uint32_t>(*index)};
  }
  return std::nullopt;
}

std::string formatPort(const Port& port) {
  return sideNames()[static_cast<size_t>(port.side)] + std::to_string(port.index);
}

std::optional<Adjacency> parseAdjacency(std::string_view text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos)
    return std::nullopt;
  const std::optional<Port> source = parsePort(text.substr(0, arrow)), sink = parsePort(text.substr(arrow + 2));
  if (!source || !sink)
    return std::nullopt;
  return Adjacency{*source, *sink};
}

std::string formatAdjacency(const Adjacency& adjacency) {
  return formatPort(adjacency.source) + " -> " + formatPort(adjacency.sink);
}

const std::vector<std::string>& processorKindNames() {
  static const std::vector<std::string> names = {"control", "stream", "dma", "io", "core", "array"};
  return names;
}

const std::vector<std::string>& cornerNames() {
  static const std::vector<std::string> names = {"north-west", "north-east", "south-east", "south-west"};
  return names;
}

const std::vector<std::string>& sideNames() {
  static const std::vector<std::string> names = {"north", "east", "south", "west", "element"};
  return names;
}

} // namespace strata::machine
