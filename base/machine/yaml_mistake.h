// Finds what is wrong in a text that the YAML parser refuses, as a person would say it: the parser tells where it could
// not go on, which is often the line behind the mistake. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace strata::machine {

struct YamlMistake {
  size_t at;                  // the byte where something is missing
  std::string what;           // in words
  std::optional<size_t> open; // the bracket that is not closed
};

/// The first mistake up to the line in which the parser stopped, if it is of a known kind.
std::optional<YamlMistake> findYamlMistake(std::string_view text, size_t stoppedAt);

} // namespace strata::machine
