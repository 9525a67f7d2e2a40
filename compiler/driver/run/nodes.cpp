// Has mpirun start processes, and finds the library that speaks MPI beside the program. What a process is of is told by
// what MPI's starters leave in the environment.
#include "compiler/driver/run/nodes.h"

#include "compiler/driver/data/shared_data.h"
#include "compiler/driver/run/starter.h"
#include "compiler/target/machine_table.h"
#include "compiler/target/registry/registry.h"
#include "runtime/cluster/beginning.h"
#include "runtime/cluster/cluster.h"
#include "runtime/cluster/started.h"
#include "runtime/core/failure.h"
#include "runtime/core/runtime.h"
#include "runtime/core/system_memory.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/StringSaver.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace strata::driver {

using cluster::isFirstStarted;
using cluster::startedTogether;

STRATA_DIAGNOSTIC(noStarter, Error, "nodes-no-mpi", "{0} processes are asked for, and {1}");
STRATA_DIAGNOSTIC(otherCount, Error, "nodes-count", "{0} processes are started together, and --nodes asks for {1}");
STRATA_DIAGNOSTIC(nodeEnded, Error, "nodes-ended", "the processes of this run were ended: {0}");
STRATA_DIAGNOSTIC(
    otherProgram, Error, "nodes-other-program",
    "the processes that were started together run different programs: process {0} another than process 0");
STRATA_DIAGNOSTIC(
    otherCommand, Error, "nodes-other-command",
    "the processes that were started together run different commands: process {0} another than process 0");
STRATA_DIAGNOSTIC(notJoined, Error, "nodes-not-joined",
                  "a process that was started together with this one has ended before they came together");
STRATA_DIAGNOSTIC(notSeveral, Error, "nodes-one-process",
                  "'strata {0}' is one process, and mpirun has started it together with other commands");
STRATA_DIAGNOSTIC(cannotJoin, Error, "nodes-cannot-join", "the processes of this run do not come together: {0}");
STRATA_DIAGNOSTIC(noProcesses, Error, "nodes-machine", "machine '{0}' is not spread over {1} processes: {2}");

namespace {

const char* const installMpi = "install it: apt-get install openmpi-bin libopenmpi-dev, and build Strata again";
const char* const oneCommand = "start one command as often as there are to be processes: mpirun -n 2 strata run …";

/// Runs mpirun, which starts a command as often as is asked for; its status.
int runStarter(Session& session, const std::vector<std::string>& command, bool doTell) {
  const std::string count = std::to_string(session.options.nodes);
  const std::string& asked = session.options.starter;
  const auto place = [&] {
    return asked.empty() ? session.commandLine->value("--nodes", count)
                         : session.commandLine->value("--starter", asked);
  };
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::SmallVector<const char*> own;
  llvm::cl::TokenizeGNUCommandLine(asked.empty() ? "mpirun" : asked, saver, own);
  const std::string name = own.empty() ? "" : own.front();
  const auto starter = llvm::sys::findProgramByName(name);
  if (!starter) {
    session.diagnostics.report(noStarter, place(), count, "there is no '" + name + "'")
        .help(asked.empty()
                  ? installMpi
                  : "name a program that starts processes for MPI, such as mpirun, and its options behind it");
    return finish(session);
  }
  // As many as asked for, whatever this computer has, for whoever it is that asks.
  for (const char* name :
       {"OMPI_MCA_rmaps_base_oversubscribe", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
    setenv(name, "1", 0);
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0); // threads of a process have more than one core
  std::vector<std::string> words = {*starter};
  if (const llvm::StringRef file = llvm::sys::path::filename(*starter); file == "mpirun" || file == "mpiexec")
    words.emplace_back("-q");
  words.insert(words.end(), own.begin() + 1, own.end());
  words.insert(words.end(), {"-n", count});
  words.insert(words.end(), command.begin(), command.end());
  const StarterEnd end = runWatched(words, doTell);
  if (end.isMissing)
    session.diagnostics.report(noStarter, place(), count, "'" + *starter + "' does not start");
  else if (!end.problem.empty())
    session.diagnostics.report(nodeEnded, place(), end.problem)
        .help("it may be that there was no memory for it: the system then ends one that takes much");
  else
    return end.status;
  return finish(session);
}

/// Tells of processes that do not belong together.
void tellDifference(void* to, cluster::Difference difference, int64_t rank) {
  auto& session = *static_cast<Session*>(to);
  const bool isCode = difference == cluster::Difference::Code;
  session.diagnostics.report(isCode ? otherProgram : otherCommand, {}, rank)
      .help(isCode ? "start them all with one command, from one file that every computer has" : oneCommand);
  finish(session);
}

/// The transport, or null: told in one of the processes at least.
cluster::Transport* makeTransport(Session& session, int argc, char** argv, unsigned count) {
  const std::string self = llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void*>(&runStarter));
  llvm::SmallString<256> path(llvm::sys::path::parent_path(self));
  llvm::sys::path::append(path, "libstrata_mpi.so");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  auto make = library ? reinterpret_cast<cluster::MakeTransport>(dlsym(library, cluster::makeTransportName)) : nullptr;
  std::vector<std::string> words(argv + 1, argv + argc);
  words.insert(words.end(), session.options.arguments.begin(), session.options.arguments.end());
  cluster::Beginning beginning{{cluster::codeFingerprint(), cluster::fingerprintOf(words)}, tellDifference, &session};
  cluster::Transport* transport = nullptr;
  {
    const cluster::BeginningWatch watch([&] {
      session.diagnostics.report(notJoined, {}).help(oneCommand);
      finish(session);
    });
    transport = make ? make(beginning) : nullptr;
  }
  if (!transport && (!make || *beginning.why)) {
    session.diagnostics
        .report(noStarter, {}, std::to_string(count),
                make ? std::string(beginning.why) : "this Strata has no library for MPI: " + std::string(path.c_str()))
        .help(installMpi);
    finish(session);
  }
  return transport;
}

/// Code of rank 0, in a node.
class LinkedCode final : public cluster::NodeCode {
public:
  explicit LinkedCode(Session& session) : session_(session) {}

  const StrataMachine* machine(std::string_view text) override {
    const BufferId buffer = session_.sources.add("the machine of rank 0", std::string(text), SourceKind::Machine);
    auto machine = readMachine(session_.diagnostics, buffer);
    if (!machine)
      giveUp();
    machines_.push_back(std::make_unique<Machine>(std::move(*machine)));
    return tables_.emplace_back(std::make_unique<target::MachineTable>(*machines_.back()))->get();
  }

  const void* load(std::string_view target, std::string_view object, std::string_view function) override {
    const target::Target* const made = target::findTarget(target);
    const void* address = made ? made->link(object, std::string(function), session_.diagnostics) : nullptr;
    if (!address)
      giveUp();
    return address;
  }

  std::unique_ptr<runtime::WindowBackend> data(std::string_view description, std::string& error) override {
    return openShared(description, error);
  }

private:
  /// Rank 0 and all others end with this process.
  [[noreturn]] void giveUp() {
    finish(session_);
    std::_Exit(statusOurError);
  }

  Session& session_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<target::MachineTable>> tables_;
};

} // namespace

std::optional<int> startNodes(Session& session, int argc, char** argv) {
  const unsigned together = startedTogether();
  if (together == 0) {
    if (session.options.nodes <= 1)
      return std::nullopt;
    std::vector<std::string> words(argv, argv + argc);
    if (!session.options.arguments.empty())
      words.emplace_back("--");
    words.insert(words.end(), session.options.arguments.begin(), session.options.arguments.end());
    return runStarter(session, words, /*doTell=*/true);
  }
  if (together == 1)
    return std::nullopt;
  if (session.options.nodes > 1 && session.options.nodes != together) {
    if (!isFirstStarted())
      return statusUserError; // one of them says it
    session.diagnostics
        .report(otherCount, session.commandLine->value("--nodes", std::to_string(session.options.nodes)), together,
                session.options.nodes)
        .help("leave out --nodes where mpirun starts the command, or leave out mpirun");
    return finish(session);
  }
  cluster::becomeOneOfSeveral();
  cluster::Transport* transport = makeTransport(session, argc, argv, together);
  if (!transport)
    return statusUserError;
  if (!session.options.compile.threads)
    session.options.compile.threads = cluster::threadsOfProcess();
  std::string error;
  if (!cluster::join(*transport, error)) {
    session.diagnostics.report(cannotJoin, {}, error);
    return finish(session);
  }
  if (transport->own() == 0) {
    cluster::lead(*transport);
    return std::nullopt;
  }
  runtime::setThreads(session.options.compile.threads.value_or(0));
  LinkedCode code(session);
  cluster::serve(*transport, code);
  return statusFine;
}

std::optional<int> startProgram(Session& session, const std::vector<std::string>& words) {
  if (session.options.nodes <= 1 || startedTogether() > 0)
    return std::nullopt;
  return runStarter(session, words, /*doTell=*/false);
}

bool refuseNodes(Session& session) {
  if (startedTogether() < 2 || !cluster::areCommandsSeveral())
    return false;
  session.diagnostics.report(notSeveral, {}, session.options.command).help(oneCommand);
  return true;
}

void endNodes() {
  if (cluster::Cluster* cluster = cluster::leading())
    cluster->end();
}

void abandonNodes() {
  if (cluster::Cluster* cluster = cluster::leading())
    cluster->abandon();
}

bool checkNodes(const Machine& machine, DiagnosticEngine& diagnostics) {
  const cluster::Cluster* cluster = cluster::leading();
  return !cluster || checkNodes(machine, static_cast<uint64_t>(cluster->count()), diagnostics);
}

bool checkNodes(const Machine& machine, uint64_t processes, DiagnosticEngine& diagnostics) {
  const std::string count = std::to_string(processes);
  for (const machine::Processor& processor : machine.processors) {
    if (!processor.isProcess)
      continue;
    if (processes <= processor.count)
      return true;
    diagnostics
        .report(noProcesses, processor.origin.of("count"), machine.name, count,
                "it has " + std::to_string(processor.count) + " of '" + processor.name + "'")
        .help("start at most so many");
    return false;
  }
  diagnostics.report(noProcesses, {}, machine.name, count, "none of its processors is said to be a process")
      .help("choose another machine, such as 'cluster', or write 'process: true' for the class of processors that each "
            "process is to have some of");
  return false;
}

bool leadsNodes() {
  return cluster::leading();
}

/// Whether a block lies in a memory that joins those of several instances.
static bool isDistributed(mlir::Value block, const Machine& machine) {
  const machine::MemoryId id = machine.memory(svm::memoryOf(mlir::cast<mlir::MemRefType>(block.getType())).str());
  return id.valid() && machine[id].isVirtual();
}

void settleDistributed(EntryPoint& entry, mlir::ModuleOp scheduled, const Machine& machine) {
  auto function = scheduled.lookupSymbol<mlir::func::FuncOp>(entry.name);
  if (!function || function.isExternal() || function.getNumArguments() != entry.arguments.size())
    return;
  mlir::Block& body = function.getBody().front();
  for (auto [argument, value] : llvm::zip(entry.arguments, body.getArguments())) {
    if (!argument.isBlock || argument.rank == 0)
      continue;
    // What reads and what writes it in the program's outermost order.
    llvm::SmallVector<mlir::Operation*> reads, writes;
    argument.isDistributed = llvm::all_of(value.getUses(), [&](mlir::OpOperand& use) {
      auto move = mlir::dyn_cast<svm::MoveOp>(use.getOwner());
      if (!move)
        return mlir::isa<mlir::memref::DimOp>(use.getOwner());
      const bool isRead = move.getSource() == value;
      (isRead ? reads : writes).push_back(move);
      return move->getBlock() == &body && move.getSource() != move.getDestination() &&
             isDistributed(isRead ? move.getDestination() : move.getSource(), machine);
    });
    argument.isForgotten =
        argument.isDistributed && llvm::all_of(writes, [&](mlir::Operation* write) {
          return llvm::all_of(reads, [&](mlir::Operation* read) { return read->isBeforeInBlock(write); });
        });
  }
}

HomeArrays::HomeArrays(const EntryPoint& entry, Binding& binding, std::vector<void*>& arguments) {
  for (size_t position = 0; cluster::leading() && position < binding.arrays.size(); ++position) {
    const EntryArgument& argument = entry.arguments[position];
    if (!argument.isBlock || binding.isFile(position))
      continue;
    Array& array = binding.arrays[position];
    void* memory = runtime::systemMemory().map(std::max<size_t>(array.bytes(), 1));
    if (!memory)
      runtime::failOutOfMemory("a copy of argument '" + argument.name + "'", static_cast<int64_t>(array.bytes()));
    std::memcpy(arguments[position], &memory, sizeof memory); // the first word of its description
    copies_.push_back({&array, memory, argument.written});
  }
}

void HomeArrays::copyIn() const {
  for (const Copy& copy : copies_)
    std::memcpy(copy.memory, copy.array->data(), copy.array->bytes());
}

void HomeArrays::copyOut() const {
  for (const Copy& copy : copies_)
    if (copy.written)
      std::memcpy(copy.array->data(), copy.memory, copy.array->bytes());
}

} // namespace strata::driver
