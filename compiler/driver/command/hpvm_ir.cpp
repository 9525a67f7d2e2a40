// A file of HPVM IR is compiled as a program in C is, by strata cc: only what Clang is given differs.
#include "compiler/driver/command/hpvm_ir.h"

#include "base/process/temporary_folder.h"
#include "compiler/driver/compile/graphs.h"
#include "compiler/driver/session/output_files.h"
#include "compiler/hpvm/graph/read_graphs.h"
#include "compiler/hpvm/intrinsics/read_ir.h"
#include "compiler/ir/locations.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

namespace strata::driver {

STRATA_DIAGNOSTIC(noGraphs, Error, "hpvm-ir-graphs", "'{0}' calls no intrinsic of HPVM");
STRATA_DIAGNOSTIC(toolNotStarted, Error, "hpvm-ir-start", "'{0}' cannot be started: {1}");

namespace {

bool hasIntrinsics(const std::string& file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  return buffer && hpvm::isHpvmIr((*buffer)->getBuffer());
}

/// A file in memory that this process and those that it becomes can read; empty on errors (reported).
std::string keep(Session& session, const std::string& file, const llvm::Module& module) {
  const int made = memfd_create("strata", 0);
  if (made >= 0) {
    llvm::raw_fd_ostream stream(made, /*shouldClose=*/false);
    llvm::WriteBitcodeToFile(module, stream);
    stream.flush();
    if (!stream.has_error())
      return "/proc/self/fd/" + std::to_string(made);
    stream.clear_error();
  }
  session.diagnostics.report(toolNotStarted, {}, file,
                             std::string("no memory for what it means: ") + std::strerror(errno));
  return "";
}

} // namespace

bool isIrFile(llvm::StringRef file) {
  return file.ends_with(".ll") || file.ends_with(".bc");
}

bool replaceHpvmIr(Session& session, std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  bool onlyCompiles = false, isNamed = false;
  std::string stem;
  for (const std::string& word : arguments) {
    onlyCompiles |= word == "-c";
    isNamed |= word.starts_with("-o");
    if (word.starts_with("-") || !isIrFile(word) || !hasIntrinsics(word)) {
      words.push_back(word);
      continue;
    }
    llvm::LLVMContext context;
    const auto module = hpvm::readIr(word, context, session.diagnostics);
    const std::string kept = module ? keep(session, word, *module) : "";
    if (kept.empty())
      return false;
    // For this computer's target, whatever the file says; and whether a file follows Clang need not mind.
    words.insert(words.end(),
                 {"-Wno-override-module", "-Wno-unused-command-line-argument", "-x", "ir", kept, "-x", "none"});
    stem = llvm::sys::path::stem(word).str();
  }
  // Clang would name the object after the file in memory.
  if (onlyCompiles && !isNamed && !stem.empty())
    words.insert(words.begin(), {"-o", stem + ".o"});
  arguments = std::move(words);
  return true;
}

int irCommand(Session& session) {
  const Options& options = session.options;
  const std::string& file = options.compile.program;
  if (!llvm::sys::fs::exists(file) || hasIntrinsics(file)) {
    llvm::LLVMContext context;
    const auto module = hpvm::readIr(file, context, session.diagnostics);
    const auto graphs = module ? hpvm::readGraphs(*module, session.diagnostics) : std::nullopt;
    mlir::MLIRContext lowering(mlir::MLIRContext::Threading::DISABLED);
    MlirDiagnostics forward(lowering, session.diagnostics);
    Compiler compiler(Compiler::NoFile(), lowering, session.diagnostics, options.compile);
    if (!graphs || !placeGraphs(compiler, *graphs, *module, lowering, false, session.diagnostics))
      return finish(session);
  } else {
    session.diagnostics.report(noGraphs, {}, file)
        .help("strata cc compiles other LLVM IR; programs of notations have other endings");
    return finish(session);
  }
  if (options.command == "check" || !checkOutputFiles(session, {}))
    return finish(session);
  const std::string own = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  const TemporaryFolder folder;
  const std::string name = llvm::sys::path::stem(file).str();
  const std::string program =
      options.command == "build" ? options.output.empty() ? name : options.output : folder.path(name);
  if (!folder.problem().empty()) {
    session.diagnostics.report(toolNotStarted, {}, program, folder.problem());
    return finish(session);
  }
  if (const int status = finish(session); status != statusFine) // warnings
    return status;
  const auto start = [&](const std::string& what, std::vector<llvm::StringRef> words) {
    std::string problem;
    words.insert(words.begin(), what);
    const int status = llvm::sys::ExecuteAndWait(what, words, std::nullopt, {}, 0, 0, &problem);
    if (status >= 0)
      return status;
    session.diagnostics.report(toolNotStarted, {}, what, problem.empty() ? "a signal ended it" : problem);
    return finish(session);
  };
  const std::string onto = "--machine=" + options.compile.machine, mapped = "--map=" + options.compile.mapping,
                    processor = "--cpu=" + options.compile.cpu;
  std::vector<llvm::StringRef> words{"cc", "-O2", file, "-o", program, "-lm"};
  if (!options.compile.machine.empty())
    words.push_back(onto);
  if (!options.compile.mapping.empty())
    words.push_back(mapped);
  if (!options.compile.cpu.empty())
    words.push_back(processor);
  if (!options.stats.empty()) {
    words.push_back("--record");
    setenv("STRATA_STATS", options.stats.c_str(), 1);
  }
  if (options.remarks)
    setenv("STRATA_REMARKS", "1", 1);
  const int status = start(own, words);
  if (status != 0 || options.command == "build")
    return status;
  return start(program, {options.arguments.begin(), options.arguments.end()});
}

} // namespace strata::driver
