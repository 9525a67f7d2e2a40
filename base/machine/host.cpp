// What this computer is, as a machine: asked of hwloc, of the control group for the memory that it lends, and of the
// table of core types. Gives the same machine each time as long as the system says the same. May be called from any
// thread.
#include "base/machine/core_types.h"
#include "base/machine/figures.h"

#include <algorithm>
#include <fstream>

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

namespace strata {

using namespace machine;

namespace {

/// Owns an hwloc topology; empty when the system cannot be asked.
class Topology {
public:
  Topology() {
    if (hwloc_topology_init(&topology_) != 0)
      topology_ = nullptr;
    else if (hwloc_topology_load(topology_) != 0)
      release();
  }
  ~Topology() { release(); }
  Topology(const Topology&) = delete;
  hwloc_topology_t get() const { return topology_; }

private:
  void release() {
    if (topology_)
      hwloc_topology_destroy(topology_);
    topology_ = nullptr;
  }
  hwloc_topology_t topology_ = nullptr;
};

/// Hardware threads that this process may run on.
uint64_t usableThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return static_cast<uint64_t>(CPU_COUNT(&set));
  const long online = sysconf(_SC_NPROCESSORS_ONLN); // more threads than the set above can name
  return online > 0 ? static_cast<uint64_t>(online) : 1;
}

/// Bytes that the process may use: the computer's, or less where a control group lends less.
std::optional<uint64_t> usableMemory(hwloc_topology_t topology) {
  uint64_t bytes = topology ? hwloc_get_root_obj(topology)->total_memory : 0;
  if (bytes == 0) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0)
      return std::nullopt;
    bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  }
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    uint64_t limit = 0;
    if (std::ifstream(path) >> limit; limit != 0)
      bytes = std::min(bytes, limit);
  }
  return bytes;
}

/// The caches of one kind as one class, with the capacity of the smallest.
void addCache(Machine& machine, hwloc_topology_t topology, hwloc_obj_type_t type, const char* name) {
  const int count = hwloc_get_nbobjs_by_type(topology, type);
  Memory cache;
  cache.name = name;
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
    const uint64_t bytes = object->attr->cache.size, line = object->attr->cache.linesize;
    if (bytes == 0 || line == 0 || bytes % line != 0)
      return;
    if (i == 0 || bytes < cache.capacity.bytes) {
      cache.capacity = Capacity::of(bytes);
      cache.width = line;
      cache.line = lineRule.holds(line) ? std::optional(line) : std::nullopt;
    }
  }
  if (count <= 0)
    return;
  cache.count = static_cast<uint64_t>(count);
  machine.processors[0].local.push_back({static_cast<uint32_t>(machine.memories.size())});
  machine.memories.push_back(std::move(cache));
}

/// The pages that main memory is divided into: the usual ones and the smallest of the larger ones.
void addPages(Memory& memory, hwloc_topology_t topology) {
  const long usual = sysconf(_SC_PAGESIZE);
  if (usual <= 0 || !pageRule.holds(static_cast<uint64_t>(usual)))
    return;
  memory.page = static_cast<uint64_t>(usual);
  const hwloc_obj_t node = topology ? hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, 0) : nullptr;
  for (unsigned i = 0; node && i < node->attr->numanode.page_types_len; ++i)
    if (const uint64_t size = node->attr->numanode.page_types[i].size;
        size > *memory.page && largePageRule.holds(size) && (!memory.largePage || size < *memory.largePage))
      memory.largePage = size;
}

/// The parts of main memory that are near some cores and far from others, when there are several.
void addNodes(Machine& machine, hwloc_topology_t topology) {
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  if (count < 2)
    return;
  Memory node;
  node.name = "node";
  node.count = static_cast<uint64_t>(count);
  uint64_t least = ~uint64_t(0);
  for (int i = 0; i < count; ++i)
    least = std::min<uint64_t>(
        least,
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i))->attr->numanode.local_memory);
  if (least == 0)
    return;
  node.capacity = Capacity::of(least);
  machine.processors[0].local.push_back({static_cast<uint32_t>(machine.memories.size())});
  machine.memories.push_back(std::move(node));
}

} // namespace

Machine describeHost(std::optional<unsigned> threads) {
  const Topology topology;
  Machine machine;
  machine.name = "host";
  machine.about = "This computer.";

  Memory main;
  main.name = "main";
  const std::optional<uint64_t> bytes = usableMemory(topology.get());
  main.capacity = bytes ? Capacity::of(*bytes) : Capacity::available();
  addPages(main, topology.get());
  machine.memories.push_back(std::move(main));

  Processor core;
  core.name = "core";
  core.kind = ProcessorKind::Core;
  core.count = std::clamp<uint64_t>(threads ? *threads : usableThreads(), 1, 1 << 20);
  core.masters = {{0}};
  describeCore(core, coreTypeOf(featuresOfThisComputer()));
  machine.processors.push_back(std::move(core));

  if (topology.get()) {
    const std::pair<hwloc_obj_type_t, const char*> caches[] = {
        {HWLOC_OBJ_L1CACHE, "l1"}, {HWLOC_OBJ_L2CACHE, "l2"}, {HWLOC_OBJ_L3CACHE, "l3"}, {HWLOC_OBJ_L4CACHE, "l4"}};
    for (const auto& [type, name] : caches)
      addCache(machine, topology.get(), type, name);
    addNodes(machine, topology.get());
  }

  Link bus;
  bus.name = "bus";
  bus.ends = {ProcessorId{0}, MemoryId{0}};
  machine.links.push_back(std::move(bus));
  machine.levels.push_back({MemoryId{0}, ProcessorId{0}, {}});
  return machine;
}

} // namespace strata
