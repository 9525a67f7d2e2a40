// A cluster: rank 0 runs the control of a program and has its code, its machine and its windows told to the other
// ranks, which are nodes: each runs the parts that rank 0 sends it, until rank 0 ends the cluster. What a part is given
// are scalars and descriptions of blocks, by value; addresses in them mean the same on every rank (addresses.h). Memory
// of another rank is copied from and to by the transport, without its help.
//
// The order of things is control's: a node does what it is told in the order in which it was told, so a window is open
// when a part that moves from it begins. Within one run of the class of processes all ranks are at work at once.
#pragma once

#include "runtime/cluster/transport.h"
#include "runtime/host/ranks.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace strata::cluster {

/// What a node needs to run code: the compiler's side of it (compiler/driver/run/nodes.cpp).
class NodeCode {
public:
  virtual ~NodeCode() = default;
  /// The table of a machine that is described by a text; as long as the process.
  virtual const StrataMachine* machine(std::string_view text) = 0;
  /// Links an object that a target of the compiler has made into the process, and gives the address of a function in
  /// it.
  virtual const void* load(std::string_view target, std::string_view object, std::string_view function) = 0;
  /// Opens data by the description that runtime::openEverywhere was given in rank 0. Null, and why, where it cannot be.
  virtual std::unique_ptr<runtime::WindowBackend> data(std::string_view description, std::string& error) = 0;
};

/// Code as it goes to nodes: the texts of its machine, of the target that made it, of the object, and a function in it.
/// All of it lies within `reach` bytes of that function.
struct CodeTexts {
  std::string_view machine, target, object, function;
  int64_t reach = 0;
};

/// Rank 0's side, as the runtime's Ranks. Any thread.
class Cluster : public runtime::Ranks {
public:
  /// Makes code known to all nodes, whose function is at `address` here. Gives its number.
  virtual int64_t load(const CodeTexts& code, const void* address) = 0;
  /// From here on code of that number runs, on its machine.
  virtual void use(int64_t code) = 0;
  /// What the nodes have counted since the last time, by name; what has gone from process to process, and how long
  /// these have waited (Traffic); and the most memory that each process has had, in bytes: "peak memory of process 2".
  virtual std::map<std::string, int64_t> figures() = 0;
  /// Adds what was traced on the nodes to what was here, in the time of this process's clock.
  virtual void gatherSpans() = 0;
  /// Ends all nodes and the transport's use. Once, as the last call.
  virtual void end() = 0;
  /// The program has failed and this process is to end: waits until no other rank is at work, and might reach its
  /// memory, for some seconds at most.
  virtual void abandon() = 0;
};

/// Takes part in a cluster: reserves addresses and exposes memory. False, and why, where that cannot be. Before any
/// code runs; every rank calls it.
bool join(Transport& transport, std::string& error);
/// Rank 0's cluster, which is the runtime's from here on (runtime::ranks).
Cluster& lead(Transport& transport);
/// The cluster that this process leads, or null.
Cluster* leading();
/// The most memory that this process has had, bytes; 0: the system does not tell.
int64_t peakMemory();
/// Runs what rank 0 sends until it ends the cluster.
void serve(Transport& transport, NodeCode& code);

} // namespace strata::cluster
