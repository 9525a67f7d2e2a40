// Questions about a checked program's groups that many ask. See program.h.
#include "compiler/hbir/program/program.h"

#include <algorithm>

namespace strata::hbir {

namespace {

/// From the outermost inwards.
std::vector<const Group*> chainOf(const Group& group) {
  std::vector<const Group*> chain;
  for (const Group* each = &group; each; each = each->parent)
    chain.push_back(each);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

} // namespace

std::vector<GroupIndex> variablesOf(const Group& group) {
  std::vector<GroupIndex> variables;
  for (const Group* each : chainOf(group))
    variables.insert(variables.end(), each->indices.begin(), each->indices.end());
  return variables;
}

const void* keyOf(const Symbol& symbol) {
  return symbol.kind == SymbolKind::Array ? static_cast<const void*>(symbol.array) : &symbol;
}

std::string pathOf(const Group& group) {
  std::string path;
  for (const Group* each : chainOf(group))
    path += (path.empty() ? "" : ".") + each->name;
  return path;
}

} // namespace strata::hbir
