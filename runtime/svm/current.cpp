// The process's program: which machine it runs on, where descriptions of machines are found, in which mode, and on how
// many threads.
#include "runtime/core/failure.h"
#include "runtime/core/runtime.h"
#include "runtime/core/scheduler.h"
#include "runtime/core/source_line.h"
#include "runtime/core/stack_guard.h"
#include "runtime/svm/block.h"
#include "runtime/svm/check.h"
#include "runtime/svm/kernel.h"
#include "runtime/svm/record.h"
#include "runtime/svm/stream.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <pthread.h>
#include <sstream>
#include <tuple>

namespace strata::svm {

namespace {

struct Registered {
  std::string name;
  const char* description;
};

/// What the headers of machines have said before main, and what was chosen.
struct Choice {
  std::mutex lock;
  std::vector<Registered> headers;
  std::string name;
  Place place; // of svmMachine
  std::atomic<Program*> program{nullptr};
};

Choice& choice() {
  static auto* instance = new Choice; // kernels may outlive main
  return *instance;
}

/// A folder of machines upwards from a program's file, as the strata command looks for it.
void addBeside(const std::filesystem::path& program, std::vector<std::string>& path) {
  std::filesystem::path folder = program.parent_path();
  path.push_back((folder / ".." / "share" / "strata" / "machines").string());
  for (int levels = 0; levels < 5 && !folder.empty(); ++levels, folder = folder.parent_path()) {
    std::error_code ignored;
    if (std::filesystem::is_directory(folder / "machines", ignored))
      return path.push_back((folder / "machines").string());
  }
}

/// $STRATA_MACHINES, then beside this program, then beside the strata command.
std::vector<std::string> machinePath() {
  std::vector<std::string> path;
  if (const char* given = std::getenv("STRATA_MACHINES"))
    path.emplace_back(given);
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::canonical("/proc/self/exe", failed);
  if (!failed)
    addBeside(self, path);
  const char* commands = std::getenv("PATH");
  std::istringstream folders(commands ? commands : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path command = std::filesystem::canonical(folder + "/strata", failed);
    if (!failed) {
      addBeside(command, path);
      break;
    }
  }
  return path;
}

/// The description that a header carries, else what is found by name or path.
std::optional<Machine> findMachine(const std::string& name, const std::vector<Registered>& headers,
                                   DiagnosticEngine& diagnostics) {
  for (const Registered& header : headers)
    if (header.name == name) {
      const BufferId text = diagnostics.sources().add(name, header.description, SourceKind::Machine);
      std::optional<Machine> machine = readMachine(diagnostics, text);
      return machine && validate(*machine, diagnostics) ? machine : std::nullopt;
    }
  return loadMachine(name, machinePath(), diagnostics);
}

/// What of a machine its header gives names and numbers to, where another differs; empty where none does.
std::string difference(const Machine& machine, const Machine& other) {
  const auto differ = [](const char* kind, const auto& ones, const auto& others, const auto& fields) -> std::string {
    for (size_t i = 0; i < std::max(ones.size(), others.size()); ++i) {
      if (i >= others.size())
        return std::string("has no ") + kind + " '" + ones[i].name + "'";
      if (i >= ones.size())
        return std::string("has another ") + kind + ", '" + others[i].name + "'";
      if (ones[i].name != others[i].name)
        return std::string("has the ") + kind + " '" + others[i].name + "' where '" + ones[i].name + "' was";
      if (ones[i].count != others[i].count)
        return "has " + std::to_string(others[i].count) + " of " + kind + " '" + ones[i].name + "', not " +
               std::to_string(ones[i].count);
      if (std::string text = fields(ones[i], others[i]); !text.empty())
        return "has a " + std::string(kind) + " '" + ones[i].name + "' " + text;
    }
    return "";
  };
  const auto number = [](const char* what, uint64_t one, uint64_t other) {
    return one == other ? std::string()
                        : std::string(what) + " " + std::to_string(other) + " bytes, not " + std::to_string(one);
  };
  std::string found = differ("memory", machine.memories, other.memories, [&](const auto& one, const auto& with) {
    std::string unit = number("whose addresses count", one.unit, with.unit);
    return unit.empty() ? number("of", one.capacity.bytes, with.capacity.bytes) : unit;
  });
  if (found.empty())
    found = differ("FIFO", machine.fifos, other.fifos,
                   [&](const auto& one, const auto& with) { return number("of", one.capacity, with.capacity); });
  if (found.empty())
    found = differ("processor", machine.processors, other.processors, [](const auto&, const auto&) { return ""; });
  return found;
}

/// Nodes, units and sizes of a machine are in what has been compiled with its header. Ends a program that runs on
/// another one, unless it chose that itself.
void checkHeaders(const std::string& name, const Machine& machine, const std::vector<Registered>& headers) {
  std::string text;
  for (const Registered& header : headers) {
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    const std::optional<Machine> described =
        readMachine(diagnostics, sources.add(header.name, header.description, SourceKind::Machine));
    const std::string found = described ? difference(*described, machine) : "";
    if (found.empty())
      return; // one of them is its own
    text = "this program is compiled for machine '" + header.name + "', whose header it includes, and is to run on '" +
           name + "', which " + found;
  }
  if (!text.empty())
    failAt({}, "svm-machine-header", text,
           "include the header of '" + name +
               "' instead; or say svmMachine(\"NAME\") in the program, if it needs none of what the header says");
}

/// A thread of the program's own that is blocked in a call of the library, and what it waits for there.
struct BlockedControl {
  Place place;
  std::string what;
};

/// Those of a program, by their lines. REQUIRES: nothing runs.
std::vector<BlockedControl> blockedControl(const Program& program) {
  std::vector<BlockedControl> all;
  for (const ControlWaiter* waiter : program.waiters)
    if (waiter->execution->native) { // else a work function waits
      BlockedControl& blocked = all.emplace_back(BlockedControl{waiter->place, ""});
      waiter->execution->wait.describe(waiter, blocked.what);
    }
  for (const auto& [address, stream] : program.streams)
    for (const StreamEnd* end : {&stream->pusher, &stream->popper}) {
      const runtime::Execution* execution = end->parked.load();
      if (!execution || !execution->native)
        continue;
      BlockedControl& blocked = all.emplace_back(BlockedControl{Place{end->controlPlace.load()}, ""});
      describeStreamWait(*stream, end == &stream->pusher, blocked.what);
    }
  std::ranges::sort(all, {}, [](const BlockedControl& blocked) {
    return std::make_tuple(blocked.place.where().empty(), blocked.place.file(), blocked.place.line(), blocked.what);
  });
  return all;
}

/// Whether no kernel is under way and no control waits. REQUIRES: nothing runs.
bool isIdle(const Program& program) {
  return blockedControl(program).empty() && std::ranges::all_of(program.kernels, [](const auto& kernel) {
           const KERNEL_STATUS status = kernel.second->status.load();
           return status == KERNEL_UNSTARTED || status == KERNEL_FINISHED;
         });
}

[[noreturn]] void failStandstill() {
  std::string text = "nothing can run any more";
  Place place;
  if (const Program* program = Program::currentIfAny()) {
    if (isIdle(*program))
      std::exit(0); // main has ended by pthread_exit, and so has all else
    const std::vector<BlockedControl> blocked = blockedControl(*program);
    for (const BlockedControl& control : blocked) {
      const bool says = blocked.size() > 1 && !control.place.where().empty();
      text += "\n  control " + (says ? "at " + control.place.where() + " " : "") + "waits for " + control.what;
    }
    if (!blocked.empty())
      place = blocked.front().place;
    describeKernels(*program, text);
  }
  failAt(
      place, "svm-deadlock", text,
      "give a stream more capacity, run what the others wait for, end a stream with streamPushWithEOS where a kernel "
      "takes all of it, or change the order in which they wait");
}

/// Empty when it is not set.
std::string inEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// On a kernel's own stack, or rather behind its end.
void failOverflow(size_t bytes) {
  if (const KernelRecord* kernel = callingKernel())
    failAt(kernel->place, "runtime-stack-overflow",
           "kernel '" + nameOf(*kernel) + "' on " + kernel->processor->name + " has used up its stack of " +
               std::to_string(bytes) + " bytes",
           "put large arrays into the kernel's struct or into a block, and let no function of its work call itself");
}

/// A kernel's fault ends the program; that of control code is told, and then left to the system, which may write a core
/// dump.
void failFault(const char* code, const std::string& what, const KernelRecord* kernel, const runtime::SourceLine& at,
               const char* help) {
  const std::string text =
      (kernel ? "kernel '" + nameOf(*kernel) + "' on " + kernel->processor->name : "control code") + what +
      (at.within.empty() ? "" : " in " + at.within);
  const std::string place = '\0' + at.file + ":" + std::to_string(at.line);
  if (kernel)
    failAt(at.file.empty() ? kernel->place : Place{place.c_str()}, code, text, help);
  if (const Program* program = Program::currentIfAny(); program && program->recorder())
    program->recorder()->write(true, text + " [" + code + "]");
  runtime::say({code, text.c_str(), help, at.file.c_str(), at.line, 0});
}

/// A push to a stream that was never given, most often.
void failNull(size_t, const void* context) {
  const KernelRecord* kernel = runtime::currentIfAny() ? callingKernel() : nullptr;
  const runtime::SourceLine at = runtime::sourceLine(runtime::faultAddresses(context));
  failFault("svm-null-pointer", " follows a null pointer", kernel, at,
            kernel              ? "give every stream, block and array that the kernel's struct names before kernelRun"
            : at.within.empty() ? "give the stream, block or array that this names first"
                                : "what is passed to that function is null, such as a file that was not opened");
}

/// An automatic block or stream that nothing has initialised holds what was there before. The operations in svm.h
/// cannot tell that from one that is initialised.
void failWild(bool isReadOnly, const void* context) {
  runtime::SourceLine at = runtime::sourceLine(runtime::faultAddresses(context));
  at.within.clear(); // copies an element for that line
  failFault("svm-wild-pointer",
            isReadOnly ? " writes to memory that may only be read" : " reads or writes where there is no memory",
            runtime::currentIfAny() ? callingKernel() : nullptr, at,
            isReadOnly ? "copy what is constant, such as a string, before it is changed"
                       : "initialise every stream and block before it is used (rule B1), and keep indices within their "
                         "arrays");
}

/// A child that fork makes has the calling thread alone.
void becomeChild() {
  if (!runtime::isAlone())
    isChild.store(true);
}

/// Before main, so that also the first call of the program is watched.
__attribute__((constructor)) void watchFaults() {
  choice();
  runtime::setOverflowHandler(failOverflow);
  runtime::setNullHandler(failNull);
  runtime::setWildHandler(failWild);
  runtime::guardStacks();
}

/// Ends the program since there is no machine to run on; what was reported about the machine says why.
[[noreturn]] void failNoMachine(const std::string& name, const Choice& chosen, const DiagnosticEngine& diagnostics) {
  const Place place = chosen.name.empty() ? Place{} : chosen.place;
  const std::vector<Diagnostic>& found = diagnostics.all();
  if (found.empty() || std::string_view(found.front().kind->code) != "machine-not-found")
    failAt(place, "svm-machine",
           "the description of machine '" + name + "' is of no use\n" + diagnostics.render({}) +
               "so the program has no machine to run on");
  std::vector<std::string> names = machineNames(machinePath());
  for (const Registered& header : chosen.headers)
    names.push_back(header.name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text =
      "no machine is named '" + name + "'" + (chosen.name.empty() ? ", as STRATA_MACHINE has it" : "") + "; there are ";
  for (size_t i = 0; i < names.size(); ++i)
    text += (i ? ", '" : "'") + names[i] + "'";
  const char* between = "; this program includes the header of '";
  for (const Registered& header : chosen.headers) {
    text += between + header.name + "'";
    between = ", '";
  }
  const std::string near = nearestName(name, names);
  failAt(place, "svm-machine", text,
         (near.empty() ? "" : "did you mean '" + near + "'? Else ") + "include the machine's header, as <svm/" + name +
             ".h>, have STRATA_MACHINES name the folder of its description or PATH that of the strata command, or give "
             "the path of a .yaml file");
}

Program* makeProgram(Choice& chosen) {
  std::string name = chosen.name;
  if (const char* given = std::getenv("STRATA_MACHINE"); name.empty() && given)
    name = given;
  if (name.empty() && !chosen.headers.empty()) {
    name = chosen.headers.front().name;
    for (const Registered& other : chosen.headers)
      if (other.name != name)
        failAt({}, "svm-machine", "this program includes the headers of '" + name + "' and '" + other.name + "'",
               "say with svmMachine(\"NAME\") which machine it runs on");
  }
  if (name.empty())
    failAt({}, "svm-machine", "this program says nowhere on which machine it runs",
           "include the header that 'strata machine NAME --header' writes, call svmMachine(\"NAME\"), or set "
           "STRATA_MACHINE");
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  std::optional<Machine> machine = findMachine(name, chosen.headers, diagnostics);
  if (!machine)
    failNoMachine(name, chosen, diagnostics);
  if (chosen.name.empty())
    checkHeaders(name, *machine, chosen.headers);
  auto* program = new Program(std::move(*machine));
  const std::string mode = inEnvironment("STRATA_SVM");
  if (!mode.empty() && mode != "checked" && mode != "plain")
    failAt({}, "svm-environment", "STRATA_SVM is '" + mode + "'",
           "set it to checked or plain, or leave it out: then it is as the program was linked");
  program->setChecked(mode.empty() ? linkedChecked : mode == "checked");
  const std::optional<uint32_t> threads = runtime::threadsInEnvironment();
  if (!threads)
    failAt({}, "svm-environment", "STRATA_THREADS is '" + inEnvironment("STRATA_THREADS") + "'",
           runtime::threadsHelp());
  if (*threads)
    runtime::setThreads(*threads);
  if (const std::string file = inEnvironment("STRATA_RECORD"); !file.empty()) {
    program->record(file);
    Recorder::keepWriting();
  }
  pthread_atfork(nullptr, nullptr, becomeChild);
  runtime::setForeignThreads(true);
  runtime::setStandstillHandler(failStandstill);
  return program;
}

} // namespace

std::atomic<bool> isChild{false};

void failInChild(const char* operation, const Place& place) {
  failAt(place, "svm-fork",
         std::string(operation) +
             " in a process that fork has made, which has none of the threads that carry kernels out",
         "use streams in one process only; what fork makes may call exec");
}

Program& Program::current() {
  Choice& chosen = choice();
  if (Program* program = chosen.program.load(std::memory_order_acquire))
    return *program;
  std::lock_guard guard(chosen.lock);
  if (!chosen.program.load())
    chosen.program.store(makeProgram(chosen), std::memory_order_release);
  return *chosen.program.load();
}

Program* Program::currentIfAny() {
  return choice().program.load(std::memory_order_acquire);
}

} // namespace strata::svm

using namespace strata::svm;

void svmRegisterMachine_(const char* name, const char* description) {
  Choice& chosen = choice();
  std::lock_guard guard(chosen.lock);
  chosen.headers.push_back({name, description});
}

void svmMachine_(const char* name, const char* text) {
  const Place place{text};
  Choice& chosen = choice();
  std::lock_guard guard(chosen.lock);
  if (!name || !*name)
    failAt(place, "svm-machine", std::string("svmMachine(") + (name ? "\"\"" : "NULL") + ") names no machine",
           "give it the name of a machine, or the path of a .yaml file");
  if (chosen.program.load())
    failAt(place, "svm-machine", std::string("svmMachine(\"") + name + "\") after the machine has been used",
           "call it before anything else");
  chosen.name = name;
  chosen.place = place;
}
