// Builds a graph from a system's inputs and outputs on: what uniform.cpp adds variables and nodes to. Owned and used by
// one thread.
#pragma once

#include "compiler/equations/system.h"

#include <string>
#include <utility>

namespace strata::equations {

class GraphBuilder {
public:
  explicit GraphBuilder(const System& system) {
    graph_.name = system.name;
    graph_.iterators = system.iterators;
    graph_.parameters = system.parameters;
    graph_.iteratorPlaces = system.iteratorPlaces;
    graph_.parameterPlaces = system.parameterPlaces;
    graph_.context = system.context;
    graph_.contextPlaces = system.contextPlaces;
    graph_.location = system.location;
    for (const SystemVariable& each : system.variables) {
      std::vector<Array>& arrays = each.role == Role::Output ? graph_.outputs : graph_.inputs;
      numbers_.push_back(static_cast<uint32_t>(arrays.size()));
      if (each.role != Role::Internal)
        arrays.push_back({each.name, each.type, each.extents, each.location, each.isPartial});
    }
  }

  /// A new internal variable.
  uint32_t variable(const std::string& name, const ElementType& type, const Location& where) {
    graph_.variables.push_back({name, type, where});
    return static_cast<uint32_t>(graph_.variables.size() - 1);
  }
  /// How many there are: part of names that are the only ones.
  size_t count() const { return graph_.variables.size(); }
  void node(Node node) { graph_.nodes.push_back(std::move(node)); }
  /// Of a system's variable. REQUIRES: it is an input (output).
  uint32_t inputOf(uint32_t variable) const { return numbers_[variable]; }
  uint32_t outputOf(uint32_t variable) const { return numbers_[variable]; }
  Graph take() { return std::move(graph_); }

private:
  Graph graph_;
  std::vector<uint32_t> numbers_;
};

} // namespace strata::equations
