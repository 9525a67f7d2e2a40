// What has been chosen for a graph of instances, as the mapping says it.
#include "compiler/sequoia/tune/tune.h"

namespace strata::sequoia {

void adopt(const InstanceGraph& graph, Mapping& mapping) {
  for (MappedTask& task : mapping.tasks) {
    for (MappedInstance& mapped : task.instances) {
      for (const Instance& instance : graph.instances) {
        if (instance.name != mapped.name.text)
          continue;
        // The builder lists every tunable, in order.
        for (size_t i = 0; i < mapped.tunables.size() && i < instance.tunables.size(); ++i) {
          mapped.tunables[i].value.value = instance.tunables[i];
          mapped.tunables[i].isDivisor = instance.divisors[i];
        }
        if (instance.preconditions.empty())
          continue;
        DataMapping data;
        data.level = mapped.level;
        for (const ResolvedPrecondition& condition : instance.preconditions) {
          MappedArray array;
          array.name.text = condition.array->name;
          for (const Variable* other : instance.variant->arrays)
            if (other != condition.array && other->name == condition.array->name)
              array.name.lexnum = condition.array->lexnum;
          array.elements.push_back(condition.bound);
          data.arrays.push_back(std::move(array));
        }
        mapped.data.push_back(std::move(data));
      }
    }
  }
}

} // namespace strata::sequoia
