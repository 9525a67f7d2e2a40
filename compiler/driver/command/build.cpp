// strata build: the compiled program and the C functions of its entry points in one module, optimised together, as an
// object file, an archive, a shared library with the runtime inside, or with the user's main as a program; and the
// header that declares the functions. Outputs appear together, or none does. strata run of a program with a main ends
// here too.
#include "base/process/unfinished.h"
#include "compiler/clang/clang.h"
#include "compiler/driver/c_interface/c_interface.h"
#include "compiler/driver/command/commands.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/driver/run/nodes.h"
#include "compiler/driver/session/output_files.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/drop_in/installation.h"
#include "compiler/target/processor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strata::driver {

STRATA_DIAGNOSTIC(unknownOutput, Error, "build-unknown-output",
                  "'{0}' is no kind of file that a program can be built as");
STRATA_DIAGNOSTIC(cannotWriteOutput, Error, "build-cannot-write", "cannot write '{0}': {1}");
STRATA_DIAGNOSTIC(mainOfLibrary, Error, "build-main-of-library", "'{0}' is no program, and takes no files with a main");
STRATA_DIAGNOSTIC(noRuntime, Error, "build-no-runtime", "the runtime library '{0}' is not beside this strata");
STRATA_DIAGNOSTIC(noObject, Error, "build-no-object", "target '{0}' runs programs, but makes no files of them");

namespace {

/// Files that are written under other names and then renamed, all or none.
class Outputs {
public:
  explicit Outputs(const Session& session, DiagnosticEngine& diagnostics)
      : session_(session), diagnostics_(diagnostics) {}
  ~Outputs() {
    for (const auto& [beside, path] : files_)
      unlink(beside.c_str());
  }

  bool write(const std::string& path, llvm::StringRef bytes, mode_t mode) {
    std::string beside = path + ".part" + std::to_string(getpid());
    const EndingSignalsHeld untilRegistered;
    FILE* file = fopen(beside.c_str(), "wb");
    bool fine = file != nullptr;
    if (file) {
      files_.emplace_back(beside, path);
      unfinished_.emplace_back(beside);
    }
    fine = fine && fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    fine = file && fclose(file) == 0 && fine;
    struct stat status;
    if (fine && ((stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)))) {
      errno = EISDIR;
      fine = false;
    }
    return fine && chmod(beside.c_str(), mode) == 0 ? true : fail(path);
  }

  bool publish() {
    for (const auto& [beside, path] : files_)
      if (rename(beside.c_str(), path.c_str()) != 0)
        return fail(path);
    files_.clear();
    return true;
  }

private:
  bool fail(const std::string& path) {
    const int error = errno;
    Location where = placeOfOutput(session_, path);
    if (!where.valid()) // the header's, which follows from the other name
      where = placeOfOutput(session_, session_.options.output);
    diagnostics_.report(cannotWriteOutput, where, path, std::strerror(error));
    return false;
  }

  const Session& session_;
  DiagnosticEngine& diagnostics_;
  std::vector<std::pair<std::string, std::string>> files_;
  std::vector<Unfinished> unfinished_;
};

/// A path in a file of dependencies, as make and Ninja read it.
std::string asDependency(const std::string& path) {
  std::string text;
  for (char c : path)
    text += c == ' ' || c == '#' || c == '\\' ? std::string("\\") + c
            : c == '$'                        ? std::string("$$")
                                              : std::string(1, c);
  return text;
}

/// A word of a command line, as shells read it.
std::string asWord(const std::string& text) {
  const auto isPlain = [](char c) { return llvm::isAlnum(c) || llvm::StringRef("/._-+=:,@%").contains(c); };
  if (!text.empty() && llvm::all_of(text, isPlain))
    return text;
  std::string word = "'";
  for (char c : text)
    word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

class Builder {
public:
  explicit Builder(Session& session)
      : session_(session), diagnostics_(session.diagnostics), path_(session.options.output),
        way_(entryInterface(session.options.interface, session.options.compile.program)) {
    // Behind a program stand files with its main, or the functions that it calls.
    Options& options = session_.options;
    if (!takesFunctions(options.compile.program)) {
      options.mains.insert(options.mains.end(), options.compile.functions.begin(), options.compile.functions.end());
      options.compile.functions.clear();
    }
    options.compile.isLibrary = true;
  }

  int build() {
    if (!checkKind())
      return finish(session_);
    std::optional<std::string> object = compile();
    if (!object)
      return finish(session_, statusOurError);
    llvm::StringRef suffix = kind();
    auto bytes = suffix == ".a"    ? archive(*object)
                 : suffix == ".so" ? shared(*object)
                 : suffix == ".o"  ? object
                                   : program(*object);
    // What umask leaves of the usual permissions; umask can only be read by setting it.
    mode_t mask = umask(0);
    umask(mask);
    const bool runs = suffix.empty() || suffix == ".so";
    Outputs outputs(session_, diagnostics_);
    bool fine = bytes && (suffix.empty() || outputs.write(headerPath(), interface_->header, 0666 & ~mask)) &&
                outputs.write(path_, *bytes, (runs ? 0777 : 0666) & ~mask) &&
                (session_.options.dependencies.empty() ||
                 outputs.write(session_.options.dependencies, dependencies(), 0666 & ~mask)) &&
                outputs.publish();
    if (fine)
      tell();
    return finish(session_, bytes ? statusFine : statusOurError);
  }

  /// Becomes the program.
  int run() {
    path_ = llvm::sys::path::stem(session_.options.compile.program).str();
    auto object = compile();
    auto bytes = object ? program(*object) : std::nullopt;
    if (!bytes || finish(session_) != statusFine)
      return finish(session_, statusOurError);
    int file = memfd_create(path_.c_str(), MFD_CLOEXEC);
    size_t done = 0;
    while (file >= 0 && done < bytes->size()) {
      ssize_t count = write(file, bytes->data() + done, bytes->size() - done);
      if (count <= 0 && errno != EINTR)
        break;
      done += count > 0 ? static_cast<size_t>(count) : 0;
    }
    if (file >= 0 && done == bytes->size()) {
      // Under MPI's starter, which is given it as a file of this process.
      std::vector<std::string> words{"/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file)};
      words.insert(words.end(), session_.options.arguments.begin(), session_.options.arguments.end());
      if (const std::optional<int> status = startProgram(session_, words))
        return *status;
    }
    std::vector<char*> arguments{path_.data()};
    for (std::string& argument : session_.options.arguments)
      arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    if (file >= 0 && done == bytes->size()) {
      fflush(nullptr);
      fexecve(file, arguments.data(), environ);
    }
    diagnostics_.report(cannotWriteOutput, {}, "the program, to start it", std::strerror(errno));
    return finish(session_);
  }

private:
  /// The ending that says what to build; empty for a program.
  llvm::StringRef kind() const {
    llvm::StringRef suffix = llvm::sys::path::extension(path_);
    return suffix == ".o" || suffix == ".a" || suffix == ".so" ? suffix : "";
  }

  bool checkKind() {
    const Location where = placeOfOutput(session_, path_);
    const bool hasMain = !session_.options.mains.empty();
    if (!kind().empty() && hasMain)
      diagnostics_.report(mainOfLibrary, where, path_)
          .help("give the program a name without .o, .a or .so, or leave out '" + session_.options.mains.front() + "'");
    else if ((kind().empty() && !hasMain) || llvm::sys::path::stem(path_).empty())
      diagnostics_.report(unknownOutput, where, path_)
          .help("NAME.o is an object file, NAME.a an archive, NAME.so a shared library; a program takes its main: "
                "--main FILE.c");
    else
      return true;
    return false;
  }

  std::string headerPath() const {
    llvm::SmallString<256> header(path_);
    llvm::sys::path::replace_extension(header, ".h");
    return std::string(header);
  }

  /// The header's name for those who include it: that of what is built, and for a main that of the program.
  std::string headerName() const {
    return llvm::sys::path::stem(kind().empty() ? session_.options.compile.program : path_).str() + ".h";
  }

  /// The libraries of a target that objects are linked with.
  bool findRuntime(const target::Target& target) {
    const auto names = target.libraries();
    if (!names) {
      diagnostics_.report(noObject, session_.options.compile.targetPlace, target.name().str())
          .help("strata run runs the program there; another target, such as host, makes a library of it");
      return false;
    }
    for (const std::string& name : *names) {
      libraries_.push_back(drop_in::findAbove("lib/" + name));
      if (libraries_.back().empty()) {
        diagnostics_.report(noRuntime, {}, name).help("run strata from its installation or from its build folder");
        return false;
      }
    }
    return true;
  }

  std::vector<mlir::func::FuncOp> entries(Compiler& compiler, mlir::ModuleOp module) {
    std::vector<mlir::func::FuncOp> found;
    for (auto function : module.getOps<mlir::func::FuncOp>())
      if (function->hasAttr(svm::SvmDialect::entryAttr))
        found.push_back(function);
    const CompileOptions& asked = session_.options.compile;
    const notation::Description* notation = descriptionOf(asked.program);
    if (!found.empty() && (asked.entry.empty() || (notation && notation->choosesEntries)))
      return found;
    std::string name = compiler.entryName(module); // reports when there is none
    return name.empty() ? std::vector<mlir::func::FuncOp>()
                        : std::vector{module.lookupSymbol<mlir::func::FuncOp>(name)};
  }

  /// The program and its C functions as one object file. Nothing on errors (reported).
  std::optional<std::string> compile() {
    DataOptions data;
    if (!prepare(session_, data))
      return std::nullopt;
    // A wrong name is told before Clang, which knows no place for it, is given it.
    const CompileOptions& asked = session_.options.compile;
    const auto processor = target::processorOf(asked.cpu, diagnostics_, asked.cpuPlace);
    if (!processor)
      return std::nullopt;
    CompilerSession compilation(session_);
    Compiler& compiler = compilation.compiler;
    if (!checkData(session_, compiler, data))
      return std::nullopt;
    auto program = compiler.logical();
    if (!program || !findRuntime(*program->target))
      return std::nullopt;
    auto functions = entries(compiler, *program->module);
    if (functions.empty())
      return std::nullopt;
    machine_ = program->machine.name;
    interface_ =
        makeCInterface(functions, *program, way_, llvm::sys::path::filename(session_.options.compile.program).str(),
                       headerName(), processor->name, diagnostics_);
    if (!interface_)
      return std::nullopt;
    if (session_.options.nodes > 1 && !checkNodes(program->machine, session_.options.nodes, diagnostics_))
      return std::nullopt;
    isSpread_ = kind().empty() && isSpread(program->machine);
    if (isSpread_) {
      interface_->code.source += mainOfNodes(drop_in::findAbove("lib/libstrata_mpi.so"));
      interface_->code.functions.emplace_back(mainOfNodesName);
    }
    interface_->code.file = llvm::sys::path::filename(path_).str();
    auto artefact = compiler.compile(*program, session_.options.optimization, {});
    auto objects = artefact ? artefact->objects(interface_->code, 1) : std::nullopt;
    auto object = objects ? std::optional(std::move(objects->front())) : std::nullopt;
    session_.watch.end();
    return object;
  }

  std::optional<std::string> archive(const std::string& object) {
    std::string member = llvm::sys::path::stem(path_).str() + ".o";
    std::vector<llvm::NewArchiveMember> members;
    members.emplace_back(llvm::MemoryBufferRef(object, member));
    auto bytes = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
    if (!bytes) {
      diagnostics_.report(cannotWriteOutput, {}, path_, llvm::toString(bytes.takeError()));
      return std::nullopt;
    }
    return (*bytes)->getBuffer().str();
  }

  std::optional<std::string> shared(const std::string& object) {
    clang::SharedLibrary library;
    library.name = llvm::sys::path::filename(path_).str();
    library.object = object;
    library.libraries = libraries_;
    library.libraries.push_back("-lstdc++");
    library.exports = interface_->code.functions;
    library.exports.insert(library.exports.end(),
                           {"strataSetErrorHandler", "strataIsFatal", "strataRaiseError", "strataReportFailure"});
    if (way_)
      library.exports.insert(library.exports.end(), way_->exports.begin(), way_->exports.end());
    return clang::linkShared(library, diagnostics_);
  }

  std::optional<std::string> program(const std::string& object) {
    clang::Executable executable;
    executable.object = object;
    executable.files = session_.options.mains;
    executable.headers = interface_->code.headers;
    executable.headers[headerName()] = interface_->header;
    executable.libraries = libraries_;
    executable.wrapsMain = isSpread_;
    if (!session_.options.compile.cpu.empty())
      executable.processor = session_.options.compile.cpu;
    return clang::linkExecutable(executable, diagnostics_);
  }

  /// What was read, as a rule for make: the program and what it includes, the mapping, the machine, functions in C.
  std::string dependencies() {
    std::string text = asDependency(path_) + ":";
    // The number of a new buffer is how many there were before.
    const uint32_t count = session_.sources.add("", "", SourceKind::CommandLine).value;
    std::vector<std::string> files = session_.options.mains;
    for (uint32_t number = 0; number < count; ++number)
      files.push_back(session_.sources.buffer(BufferId{number}).name());
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    for (const std::string& file : files)
      if (llvm::sys::fs::is_regular_file(file))
        text += " \\\n  " + asDependency(file);
    return text + "\n";
  }

  void tell() {
    std::string names;
    for (const std::string& name : interface_->code.functions)
      if (name != mainOfNodesName)
        names += (names.empty() ? "" : ", ") + name;
    if (kind().empty()) {
      printf("%s: %s for %s\n", path_.c_str(), names.c_str(), machine_.c_str());
      return;
    }
    printf("%s, %s: %s for %s\n", path_.c_str(), headerPath().c_str(), names.c_str(), machine_.c_str());
    std::string include = drop_in::findAbove("include/strata.h");
    std::string line = include.empty() ? "" : " " + asWord("-I" + llvm::sys::path::parent_path(include).str());
    line += " " + asWord(path_);
    if (kind() == ".so") {
      // So that the program finds it when it runs, from wherever it is started.
      llvm::SmallString<256> folder(path_);
      if (!llvm::sys::fs::make_absolute(folder)) {
        llvm::sys::path::remove_filename(folder);
        line += folder.str().contains(',') ? " -Xlinker -rpath -Xlinker " + asWord(folder.str().str())
                                           : " -Wl,-rpath," + asWord(folder.str().str());
      }
    } else {
      for (const std::string& library : libraries_)
        line += " " + asWord(library);
      line += " -lstdc++ -lm -lpthread";
    }
    printf("  use it with: cc main.c%s\n", line.c_str());
  }

  Session& session_;
  DiagnosticEngine& diagnostics_;
  std::string path_;
  const notation::EntryInterface* way_; // in which C passes arrays; null: as pointers
  std::vector<std::string> libraries_;  // of Strata, that objects are linked with
  std::optional<CInterface> interface_;
  std::string machine_;
  bool isSpread_ = false; // a program, for a machine that may be spread over processes
};

} // namespace

int buildCommand(Session& session) {
  return Builder(session).build();
}

int runMainCommand(Session& session) {
  return Builder(session).run();
}

} // namespace strata::driver
