// Runs over several processes: rank 0 is the command as ever, the others are its nodes (runtime/cluster/cluster.h).
#pragma once

#include "compiler/driver/data/entry.h"
#include "compiler/driver/session/session.h"

#include <optional>
#include <vector>

namespace strata::driver {

/// Where --nodes asks for several processes and this is none of them: runs mpirun, which starts the same command as
/// often. In a process that was started so: joins the others; a node then runs what it is sent until all is done. The
/// command's status where it has ended, else nothing: this process goes on, alone or as rank 0.
std::optional<int> startNodes(Session& session, int argc, char** argv);
/// The same for a program that was built, as the words that start it: processes that are started together find each
/// other by themselves there.
std::optional<int> startProgram(Session& session, const std::vector<std::string>& words);
/// Whether this command was started by MPI together with others, and joins nobody: they would wait for it. Reports it.
bool refuseNodes(Session& session);
/// Ends the nodes, if this process leads any.
void endNodes();
/// The same where the program has failed, and they may be at work.
void abandonNodes();
/// Whether a machine can be spread over the processes that there are, or over so many. Reports that it cannot.
bool checkNodes(const Machine& machine, DiagnosticEngine& diagnostics);
bool checkNodes(const Machine& machine, uint64_t processes, DiagnosticEngine& diagnostics);

/// Whether this process leads others.
bool leadsNodes();
/// Says of each argument whether it is distributed to the processes, by what the scheduled program does with it.
void settleDistributed(EntryPoint& entry, mlir::ModuleOp scheduled, const Machine& machine);

/// The arrays of a call where other ranks reach them: copies in rank 0's memory, which compiled code is given in their
/// place. Those that are distributed need none. Nothing where there are no other ranks.
class HomeArrays {
public:
  /// `arguments` are those of Binding::pack; both outlive this.
  HomeArrays(const EntryPoint& entry, Binding& binding, std::vector<void*>& arguments);
  void copyIn() const;
  void copyOut() const;

private:
  struct Copy {
    Array* array;
    void* memory;
    bool written;
  };
  std::vector<Copy> copies_;
};

} // namespace strata::driver
