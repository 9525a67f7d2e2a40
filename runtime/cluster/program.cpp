// A built program that several processes run together: all are the same program, so that code is where the machine's
// table is, further by as much. The first process goes on with main, and the others serve it.
#include "runtime/abi.h"
#include "runtime/cluster/beginning.h"
#include "runtime/cluster/cluster.h"
#include "runtime/cluster/started.h"
#include "runtime/core/failure.h"
#include "runtime/core/run_context.h"
#include "runtime/core/runtime.h"
#include "runtime/core/system_memory.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <unistd.h>

namespace strata::cluster {
namespace {

void tell(const char* code, const std::string& message, const char* help) {
  runtime::say({code, message.c_str(), help, nullptr, 0, 0});
}
[[noreturn]] void refuse(const char* code, const std::string& message, const char* help) {
  tell(code, message, help);
  std::_Exit(1);
}

const char* const oneCommand = "start them all with one command, from one file that every computer has";
void tellDifference(void*, Difference, int64_t rank) {
  tell("nodes-other-program",
       "the processes that were started together run different programs: process " + std::to_string(rank) +
           " another than process 0",
       oneCommand);
}
void tellEnded() {
  tell("nodes-not-joined", "a process that was started together with this one has ended before they came together",
       oneCommand);
}

class OwnCode final : public NodeCode {
public:
  explicit OwnCode(const StrataMachine* machine) : machine_(machine) {}
  const StrataMachine* machine(std::string_view) override { return machine_; }
  const void* load(std::string_view, std::string_view, std::string_view) override { return machine_; }
  std::unique_ptr<runtime::WindowBackend> data(std::string_view, std::string& error) override {
    error = "a program with a main has no such data";
    return nullptr;
  }

private:
  const StrataMachine* machine_;
};

/// As without nodes, and none of them reaches this process's memory any more when it ends.
void tellAndAbandon(const StrataCheck* check, const int64_t*, int32_t, const char* text) {
  StrataCheck told = *check;
  told.message = text;
  runtime::say(told);
  leading()->abandon();
}

std::mutex calls; // one at a time: the other processes have the stores of one
bool isInCall() {
  const runtime::Execution* me = runtime::currentIfAny();
  return me && me->runContext->machine();
}

} // namespace
} // namespace strata::cluster

using namespace strata;
using namespace strata::cluster;

void strata_nodes_begin(const StrataMachine* machine, const char* library) {
  const unsigned together = startedTogether();
  if (together < 2)
    return;
  uint64_t most = 0;
  for (uint32_t i = 0; i < machine->processor_count; ++i)
    if (machine->processors[i].is_process)
      most = machine->processors[i].count;
  if (together > most)
    isFirstStarted()
        ? refuse("nodes-machine",
                 std::string("machine '") + machine->name + "' is not spread over " + std::to_string(together) +
                     " processes: it has " + std::to_string(most) + " that may be one",
                 "start at most so many")
        : std::_Exit(1);
  becomeOneOfSeveral();
  const char* const other = std::getenv("STRATA_MPI_LIBRARY");
  void* const loaded = dlopen(other ? other : library, RTLD_NOW | RTLD_GLOBAL);
  auto make = loaded ? reinterpret_cast<MakeTransport>(dlsym(loaded, makeTransportName)) : nullptr;
  // The arguments are the business of process 0.
  Beginning beginning{{codeFingerprint(), 0}, tellDifference, nullptr};
  Transport* transport = nullptr;
  {
    const BeginningWatch watch(tellEnded);
    transport = make ? make(beginning) : nullptr;
  }
  if (!transport) {
    if (!isFirstStarted() || (make && !*beginning.why))
      std::_Exit(1);
    refuse("nodes-no-mpi",
           std::to_string(together) + " processes are started together, and " +
               (make ? beginning.why : "there is no library for MPI at '" + std::string(other ? other : library) + "'"),
           "build the program on a computer with MPI, or name libstrata_mpi.so in STRATA_MPI_LIBRARY");
  }
  runtime::setThreads(threadsOfProcess());
  std::string error;
  if (!join(*transport, error))
    refuse("nodes-cannot-join", "the processes of this run do not come together: " + error, nullptr);
  if (transport->own() != 0) {
    OwnCode code(machine);
    serve(*transport, code);
    std::_Exit(0);
  }
  Cluster& cluster = lead(*transport);
  strata_set_failure_handler(tellAndAbandon);
  // All of the program's code is near.
  cluster.use(cluster.load({"", "", "", "", INT64_MAX}, machine));
  std::atexit([] { leading()->end(); });
}

void strata_nodes_enter(const char* entry) {
  if (!leading())
    return;
  if (isInCall())
    runtime::fail("runtime-ranks-nested-call",
                  std::string("'") + entry +
                      "' is called by a function that a call of the program runs, and is in several processes",
                  "run the program in one process: without mpirun");
  calls.lock();
}

void strata_nodes_leave(void) {
  if (leading())
    calls.unlock();
}

void* strata_nodes_acquire(int64_t bytes, const char* what) {
  if (!leading())
    return nullptr;
  void* const memory = runtime::systemMemory().map(static_cast<size_t>(bytes > 0 ? bytes : 1));
  if (!memory)
    runtime::failOutOfMemory(std::string("a copy of argument '") + what + "'", bytes);
  return memory;
}

void strata_nodes_release(void* memory, int64_t bytes) {
  runtime::systemMemory().unmap(memory, static_cast<size_t>(bytes > 0 ? bytes : 1));
}
