// A built program that several processes run together: all are the same program, so that code is where the machine's
// table is, further by as much. The first process goes on with main, and the others serve it.
#include "runtime/abi.h"
#include "runtime/cluster/cluster.h"
#include "runtime/cluster/started.h"
#include "runtime/core/failure.h"
#include "runtime/core/run_context.h"
#include "runtime/core/system_memory.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <sys/prctl.h>
#include <unistd.h>

namespace strata::cluster {
namespace {

/// Of the code of the program that runs here: two that differ in it hardly ever have the same.
uint64_t fingerprint() {
  uint64_t hash = 14695981039346656037u; // FNV-1a
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        auto& made = *static_cast<uint64_t*>(into);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_X))
            continue;
          const auto* bytes = reinterpret_cast<const unsigned char*>(info->dlpi_addr + part.p_vaddr);
          for (size_t at = 0; at < part.p_filesz; ++at)
            made = (made ^ bytes[at]) * 1099511628211u;
        }
        return 1; // the first is the program itself
      },
      &hash);
  return hash;
}

[[noreturn]] void refuse(const char* code, const std::string& message, const char* help) {
  runtime::say({code, message.c_str(), help, nullptr, 0, 0});
  std::_Exit(1);
}

class OwnCode final : public NodeCode {
public:
  explicit OwnCode(const StrataMachine* machine) : machine_(machine) {}
  const StrataMachine* machine(std::string_view) override { return machine_; }
  const void* load(std::string_view, std::string_view, std::string_view function) override {
    if (function != std::to_string(fingerprint()))
      runtime::fail("nodes-other-program", "the processes that were started together run different programs",
                    "start them all with one command, from one file that every computer has");
    return machine_;
  }
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
  setenv("OMPI_MCA_opal_signal", "", 0); // faults of a program are its own
  prctl(PR_SET_PDEATHSIG, SIGKILL);      // where the starter is killed, nobody else ends this process
  const char* const other = std::getenv("STRATA_MPI_LIBRARY");
  void* const loaded = dlopen(other ? other : library, RTLD_NOW | RTLD_GLOBAL);
  auto make = loaded ? reinterpret_cast<MakeTransport>(dlsym(loaded, makeTransportName)) : nullptr;
  const char* why = "";
  Transport* const transport = make ? make(&why) : nullptr;
  if (!transport) {
    if (!isFirstStarted())
      std::_Exit(1);
    refuse("nodes-no-mpi",
           std::to_string(together) + " processes are started together, and " +
               (make ? why : "there is no library for MPI at '" + std::string(other ? other : library) + "'"),
           "build the program on a computer with MPI, or name libstrata_mpi.so in STRATA_MPI_LIBRARY");
  }
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
  const std::string own = std::to_string(fingerprint());
  cluster.use(cluster.load({"", "", "", own, INT64_MAX}, machine));
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
