// strata-ld, which strata cc has Clang start in the place of the linker: the LLVM IR that objects carry becomes one
// module, its dataflow graphs become an object file, and the linker links that too. Without graphs it becomes the
// linker at once. Joined objects (-r) keep what they carry for the link that comes later.
#include "base/process/temporary_folder.h"
#include "compiler/clang/carried_ir.h"
#include "compiler/clang/clang.h"
#include "compiler/driver/command/commands.h"
#include "compiler/driver/compile/graphs.h"
#include "compiler/drop_in/link_options.h"
#include "compiler/hpvm/graph/read_graphs.h"
#include "compiler/hpvm/lower/host_code.h"
#include "compiler/ir/locations.h"
#include "compiler/linking/callees.h"
#include "compiler/linking/linker_line.h"
#include "compiler/linking/whole_program.h"
#include "compiler/target/processor.h"

#include "llvm/Support/Program.h"
#include "llvm/Support/ThreadPool.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace strata::driver {

STRATA_DIAGNOSTIC(notWritten, Error, "link-not-written", "'{0}' cannot be written: {1}");
STRATA_DIAGNOSTIC(noLinker, Error, "link-no-linker", "the linker '{0}' cannot be started: {1}");
namespace {

/// Those that a file of the program was compiled with.
target::Sanitizers sanitizersOf(const llvm::Module& module) {
  const auto isAny = [&](llvm::Attribute::AttrKind kind) {
    return llvm::any_of(module, [&](const llvm::Function& function) { return function.hasFnAttribute(kind); });
  };
  return {isAny(llvm::Attribute::SanitizeAddress), isAny(llvm::Attribute::SanitizeThread)};
}

class GraphLink {
public:
  GraphLink(Session& session, const std::vector<std::string>& arguments) : session_(session), arguments_(arguments) {}

  /// The objects of the program's graphs; none where it has no graphs. Nothing on errors (reported).
  std::optional<std::vector<std::string>> objects() {
    session_.options.timePasses = std::getenv(drop_in::timeVariable) != nullptr;
    PassWatch* const watch = session_.options.timePasses ? &session_.watch : nullptr;
    const auto begin = [&](const char* phase) {
      if (watch)
        watch->begin(phase);
    };
    begin("reading what objects carry");
    auto module = whole_.read(linking::linkedFiles(arguments_), clang::describesGraphs, session_.diagnostics);
    if (!module)
      return session_.diagnostics.hasErrors() ? std::nullopt : std::optional(std::vector<std::string>());
    target::settleMultiplyAdds(*module);
    begin("reading graphs");
    auto graphs = hpvm::readGraphs(*module, session_.diagnostics);
    if (!graphs)
      return std::nullopt;
    if (graphs->roots.empty())
      return std::vector<std::string>();
    begin("reading functions that leaves call");
    takeFunctionsOfLeaves(*module, *graphs);
    begin("raising leaves");
    if (!chooseProcessor(*module, *graphs))
      return std::nullopt;
    session_.options.compile.watch = watch;
    session_.options.compile.sanitizers = sanitizersOf(*module);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    MlirDiagnostics forward(context, session_.diagnostics);
    session_.options.compile.program = "the program's graphs";
    if (const char* machine = std::getenv(drop_in::machineVariable))
      session_.options.compile.machine = machine;
    if (const char* mapping = std::getenv(drop_in::mappingVariable))
      session_.options.compile.mapping = mapping;
    Compiler compiler(Compiler::NoFile(), context, session_.diagnostics, session_.options.compile);
    const bool records = std::getenv(drop_in::recordVariable) != nullptr;
    auto placed = placeGraphs(compiler, *graphs, *module, context, records, session_.diagnostics);
    if (!placed || !writeProgram(placed->program))
      return std::nullopt;
    begin("placing");
    target::Interface interface = hpvm::hostCode(placed->entries, placed->program.machine, records);
    // Clang is at work meanwhile.
    llvm::DefaultThreadPool threads(llvm::hardware_concurrency(1));
    auto code = threads.async([&] { return codeOf(interface); });
    auto artefact = compiler.compile(placed->program, session_.options.optimization, {});
    interface.code = code.get();
    return artefact ? artefact->objects(interface, mostObjects) : std::nullopt;
  }

private:
  static constexpr unsigned mostObjects = 4;

  /// What leaves call in other files becomes part of the module.
  void takeFunctionsOfLeaves(llvm::Module& module, const hpvm::Graphs& graphs) {
    std::vector<llvm::Function*> leaves;
    for (llvm::Function& function : module)
      if (graphs.leaves.contains(&function))
        leaves.push_back(&function);
    linking::takeCallees(module, leaves, linking::linkedFiles(arguments_, /*withShared=*/true),
                         linking::replacedSymbols(arguments_), session_.diagnostics);
    target::settleMultiplyAdds(module);
  }

  /// The processor that --cpu names, and no more than those have that leaves' files were compiled for by the user's
  /// choice; where neither says anything, this computer's. False on errors (reported).
  bool chooseProcessor(const llvm::Module& module, const hpvm::Graphs& graphs) {
    std::optional<target::Processor>& chosen = session_.options.compile.processor;
    if (const char* name = std::getenv(drop_in::processorVariable)) {
      chosen = target::processorOf(name, session_.diagnostics);
      if (!chosen)
        return false;
    }
    for (const llvm::Function& function : module)
      if (graphs.leaves.contains(&function) && function.hasFnAttribute(clang::statesProcessor))
        if (const auto own = target::processorOf(function))
          chosen = chosen ? target::common(*chosen, *own) : *own;
    return true;
  }

  /// What an interface compiles to; empty on errors, which come again, and are reported then.
  static std::string codeOf(const target::Interface& interface) {
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    clang::Source source;
    source.text = interface.source;
    source.headers = interface.headers;
    source.processor = "";
    return clang::compileToLlvm(source, diagnostics).value_or("");
  }

  /// Writes the logical program to a file, where one was asked for.
  bool writeProgram(LogicalProgram& program) {
    const char* file = std::getenv(drop_in::graphsVariable);
    if (!file || !*file)
      return true;
    std::error_code problem;
    llvm::raw_fd_ostream stream(file, problem);
    mlir::ModuleOp module = *program.module;
    module->setAttr(svm::SvmDialect::mappingAttr, mapping::toAttribute(program.record, module.getContext()));
    module->setAttr(svm::SvmDialect::machineAttr, mlir::StringAttr::get(module.getContext(), program.machine.name));
    module->setAttr(svm::SvmDialect::machineHashAttr,
                    mlir::StringAttr::get(module.getContext(), contentHash(program.machine)));
    if (!problem) {
      module.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
      stream.close();
      problem = stream.error();
      stream.clear_error();
    }
    if (problem)
      session_.diagnostics.report(notWritten, {}, file, problem.message());
    return !problem;
  }

  Session& session_;
  const std::vector<std::string>& arguments_;
  linking::WholeProgram whole_;
};

/// Becomes the linker. Returns only when it cannot be started (reported).
int becomeLinker(Session& session, const std::string& linker, const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>(linker.c_str())};
  for (const std::string& word : arguments)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::fflush(nullptr);
  execvp(words.front(), words.data());
  session.diagnostics.report(noLinker, {}, linker, std::strerror(errno));
  return finish(session);
}

} // namespace

int linkCommand(Session& session, const std::vector<std::string>& arguments) {
  const char* given = std::getenv(drop_in::linkerVariable);
  const std::string linker = given && *given ? given : "ld";
  if (linking::joinsObjects(arguments)) // what they need comes when they are linked
    return becomeLinker(session, linker, arguments);
  session.diagnostics.enableRemarks(std::getenv("STRATA_REMARKS") != nullptr);
  const auto objects = GraphLink(session, arguments).objects();
  if (!objects)
    return finish(session, statusOurError);
  const char* libraries = std::getenv(drop_in::librariesVariable);
  const std::vector<std::string> whole = linking::withLibraries(arguments, libraries ? libraries : "");
  if (objects->empty())
    return becomeLinker(session, linker, whole);
  const TemporaryFolder folder;
  std::vector<std::string> own;
  bool isWritten = folder.problem().empty();
  for (const std::string& object : *objects) {
    const std::string name = "graphs." + std::to_string(own.size()) + ".o";
    isWritten = isWritten && folder.write(name, object);
    own.push_back(folder.path(name));
  }
  const std::vector<std::string> words = linking::withObjects(whole, own);
  if (!isWritten) {
    session.diagnostics.report(noLinker, {}, linker, "its files cannot be written");
    return finish(session);
  }
  if (const int status = finish(session); status != statusFine) // warnings
    return status;
  std::vector<llvm::StringRef> command{linker};
  command.insert(command.end(), words.begin(), words.end());
  const auto path = llvm::sys::findProgramByName(linker);
  std::string problem;
  const int status = llvm::sys::ExecuteAndWait(path ? *path : linker, command, std::nullopt, {}, 0, 0, &problem);
  if (status < 0)
    session.diagnostics.report(noLinker, {}, linker, problem);
  return status < 0 ? finish(session) : status;
}

} // namespace strata::driver
