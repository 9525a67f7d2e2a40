// A YAML text as a small tree with the place of every node. Only the plain part of YAML that a description needs: one
// document of mappings, lists and scalars; anchors, aliases, tags and repeated keys are errors, depth and size are
// bounded, so that no text can make its reader slow or deep.
#pragma once

#include "base/source/diagnostic.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::machine {

struct YamlNode {
  enum class Kind { Empty, Scalar, List, Mapping };
  Kind kind = Kind::Empty;
  std::string text;            // of a scalar
  std::vector<YamlNode> items; // of a list, or the values of a mapping
  std::vector<YamlNode> keys;  // of a mapping: scalars, beside `items`
  Location location;           // of a scalar, its text; of a list or mapping, where it begins
};

/// Reads a text; reports and gives nothing when it is not such YAML.
std::optional<YamlNode> readYaml(DiagnosticEngine& diagnostics, BufferId text);

} // namespace strata::machine
