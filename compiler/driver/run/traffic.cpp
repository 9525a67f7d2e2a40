// Names of counters are read as they are written.
#include "compiler/driver/run/traffic.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <optional>
#include <utility>

namespace strata::driver {
namespace {

constexpr std::string_view waitUnit = "microseconds";

/// "bytes process 0 -> 1" is {"bytes", "0 -> 1"}.
std::optional<std::pair<std::string_view, std::string_view>> partsOf(std::string_view counter) {
  constexpr std::string_view between = " process ";
  const size_t at = counter.find(between);
  if (at == std::string_view::npos)
    return std::nullopt;
  const std::string_view what = counter.substr(0, at), who = counter.substr(at + between.size());
  for (std::string_view known : {std::string_view("bytes"), std::string_view("copies"), std::string_view("messages")})
    if (what == known && who.find(" -> ") != std::string_view::npos)
      return std::pair(what, who);
  if (what == waitUnit && who.ends_with(" waits"))
    return std::pair(what, who.substr(0, who.size() - 6));
  return std::nullopt;
}

int64_t numberOf(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

} // namespace

bool isOfProcesses(std::string_view counter) {
  return partsOf(counter).has_value();
}

nlohmann::json trafficOf(const std::map<std::string, int64_t>& counters) {
  std::map<std::pair<int64_t, int64_t>, std::map<std::string, int64_t>> ways;
  for (const auto& [name, amount] : counters)
    if (const auto parts = partsOf(name); parts && parts->first != waitUnit) {
      const size_t arrow = parts->second.find(" -> ");
      const auto way = std::pair(numberOf(parts->second.substr(0, arrow)), numberOf(parts->second.substr(arrow + 4)));
      ways[way][std::string(parts->first)] += amount;
    }
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [way, amounts] : ways) {
    nlohmann::json each = {{"from", way.first}, {"to", way.second}};
    for (const char* what : {"bytes", "copies", "messages"}) {
      const auto found = amounts.find(what);
      each[what] = found == amounts.end() ? 0 : found->second;
    }
    all.push_back(std::move(each));
  }
  return all;
}

nlohmann::json waitsOf(const std::map<std::string, int64_t>& counters) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [name, amount] : counters)
    if (const auto parts = partsOf(name); parts && parts->first == waitUnit)
      all[std::string(parts->second)] = amount;
  return all;
}

} // namespace strata::driver
