// Reads JSON from a file that a user names. Where the text is no JSON, the place of the first wrong character is told.
#pragma once

#include "base/source/source.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace strata::driver {

struct JsonText {
  std::optional<nlohmann::json> value;
  Location where;   // without a value: the character at which reading stopped
  std::string what; // and why, as the end of a sentence
};

/// Reads a whole buffer. Throws nothing that the text causes.
JsonText readJson(BufferId text, const SourceManager& sources);

} // namespace strata::driver
