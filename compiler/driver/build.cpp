// strata build: the compiled program and the C functions of its entry points in one module, optimised together, as an
// object file, an archive or a shared library with the runtime inside; and the header that declares them. Outputs
// appear together, or none does.
#include "compiler/clang/clang.h"
#include "compiler/driver/c_interface.h"
#include "compiler/driver/prepare.h"
#include "compiler/target/host/engine.h"
#include "compiler/target/host/lower.h"

#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace strata::driver {

STRATA_DIAGNOSTIC(unknownOutput, Error, "build-unknown-output",
                  "'{0}' is no kind of file that a program can be built as");
STRATA_DIAGNOSTIC(cannotWriteOutput, Error, "build-cannot-write", "cannot write '{0}': {1}");
STRATA_DIAGNOSTIC(noRuntime, Error, "build-no-runtime", "the runtime library '{0}' is not beside this strata");
STRATA_DIAGNOSTIC(interfaceFailed, Error, "build-internal",
                  "the C functions of the entry points do not fit the program: {0}; this is an error of Strata");

namespace {

/// Folders above the running program, nearest first: its installation, or the build and source trees that it is in.
std::vector<std::string> foldersAbove() {
  std::vector<std::string> folders;
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void*>(&foldersAbove));
  for (llvm::StringRef folder = llvm::sys::path::parent_path(self); !folder.empty() && folders.size() < 5;
       folder = llvm::sys::path::parent_path(folder))
    folders.push_back(folder.str());
  return folders;
}

std::string findAbove(const std::string& file) {
  for (const std::string& folder : foldersAbove())
    if (llvm::sys::fs::exists(folder + "/" + file))
      return folder + "/" + file;
  return "";
}

/// Files that are written under other names and then renamed, all or none.
class Outputs {
public:
  Outputs(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {}
  ~Outputs() {
    for (const auto& [beside, path] : files_)
      unlink(beside.c_str());
  }

  bool write(const std::string& path, llvm::StringRef bytes, mode_t mode) {
    std::string beside = path + ".part" + std::to_string(getpid());
    FILE* file = fopen(beside.c_str(), "wb");
    bool fine = file != nullptr;
    if (file)
      files_.emplace_back(beside, path);
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
    diagnostics_.report(cannotWriteOutput, {}, path, std::strerror(errno));
    return false;
  }

  DiagnosticEngine& diagnostics_;
  std::vector<std::pair<std::string, std::string>> files_;
};

class Builder {
public:
  explicit Builder(Session& session)
      : session_(session), diagnostics_(session.diagnostics), path_(session.options.output) {}

  int run() {
    llvm::StringRef suffix = llvm::sys::path::extension(path_);
    if ((suffix != ".o" && suffix != ".a" && suffix != ".so") || llvm::sys::path::stem(path_).empty()) {
      diagnostics_.report(unknownOutput, session_.commandLine->value("--output", path_), path_)
          .help("NAME.o is an object file, NAME.a an archive, NAME.so a shared library");
      return finish(session_);
    }
    if (!findRuntime())
      return finish(session_);
    DataOptions data;
    if (!prepare(session_, data))
      return finish(session_);
    std::string object = compile();
    if (diagnostics_.hasErrors() || object.empty())
      return finish(session_, statusOurError);
    auto bytes = suffix == ".a" ? archive(object) : suffix == ".so" ? shared(object) : object;
    llvm::SmallString<256> header(path_);
    llvm::sys::path::replace_extension(header, ".h");
    // What umask leaves of the usual permissions; umask can only be read by setting it.
    mode_t mask = umask(0);
    umask(mask);
    Outputs outputs(diagnostics_);
    if (bytes && outputs.write(std::string(header), interface_->header, 0666 & ~mask) &&
        outputs.write(path_, *bytes, (suffix == ".so" ? 0777 : 0666) & ~mask) && outputs.publish())
      tell(std::string(header));
    return finish(session_, bytes ? statusFine : statusOurError);
  }

private:
  bool findRuntime() {
    for (const char* name : {"libstrata_runtime_host.a", "libstrata_runtime_core.a"}) {
      std::string found = findAbove(std::string("lib/") + name);
      if (found.empty()) {
        diagnostics_.report(noRuntime, {}, name).help("run strata from its installation or from its build folder");
        return false;
      }
      libraries_.push_back(found);
    }
    return true;
  }

  std::vector<mlir::func::FuncOp> entries(Compiler& compiler, mlir::ModuleOp module) {
    std::vector<mlir::func::FuncOp> found;
    for (auto function : module.getOps<mlir::func::FuncOp>())
      if (function->hasAttr(svm::SvmDialect::entryAttr))
        found.push_back(function);
    if (session_.options.compile.entry.empty() && !found.empty())
      return found;
    std::string name = compiler.entryName(module); // reports when there is none
    return name.empty() ? std::vector<mlir::func::FuncOp>()
                        : std::vector{module.lookupSymbol<mlir::func::FuncOp>(name)};
  }

  /// The program and its C functions as one object file. Empty on errors (reported).
  std::string compile() {
    CompilerSession compilation(session_);
    Compiler& compiler = compilation.compiler;
    auto program = compiler.logical();
    if (!program)
      return "";
    auto functions = entries(compiler, *program->module);
    if (functions.empty())
      return "";
    machine_ = program->machine.name;
    interface_ =
        makeCInterface(functions, program->machine, llvm::sys::path::filename(session_.options.compile.program).str(),
                       llvm::sys::path::stem(path_).str() + "_h", diagnostics_);
    if (!interface_ || !compiler.place(*program) || !compiler.schedule(*program))
      return "";
    llvm::LLVMContext context;
    auto code = compiler.lower(*program, context);
    if (!code || !join(*code, context) || !host::optimize(*code, {}, diagnostics_))
      return "";
    return host::emit(*code, {}, /*assembly=*/false, diagnostics_);
  }

  /// Brings the C functions into the program's module. Nothing else of it stays visible.
  bool join(llvm::Module& code, llvm::LLVMContext& context) {
    clang::Source source;
    source.text = interface_->source;
    auto text = clang::compileToLlvm(source, diagnostics_);
    if (!text)
      return false;
    llvm::SMDiagnostic problem;
    auto functions = llvm::parseIR(llvm::MemoryBufferRef(*text, "entry points"), problem, context);
    if (!functions) {
      diagnostics_.report(interfaceFailed, {}, problem.getMessage().str());
      return false;
    }
    functions->setDataLayout(code.getDataLayout());
    functions->setTargetTriple(code.getTargetTriple());
    if (llvm::Linker::linkModules(code, std::move(functions))) {
      diagnostics_.report(interfaceFailed, {}, "they do not link");
      return false;
    }
    for (llvm::Function& function : code)
      if (!function.isDeclaration() && !llvm::is_contained(interface_->functions, function.getName().str()))
        function.setLinkage(llvm::GlobalValue::InternalLinkage);
    return true;
  }

  std::optional<std::string> archive(const std::string& object) {
    std::string member = llvm::sys::path::stem(path_).str() + ".o";
    std::vector<llvm::NewArchiveMember> members;
    members.emplace_back(llvm::MemoryBufferRef(object, member));
    auto bytes = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
    if (!bytes) {
      diagnostics_.report(interfaceFailed, {}, llvm::toString(bytes.takeError()));
      return std::nullopt;
    }
    return (*bytes)->getBuffer().str();
  }

  std::optional<std::string> shared(const std::string& object) {
    clang::SharedLibrary library;
    library.name = llvm::sys::path::filename(path_).str();
    library.object = object;
    library.libraries = libraries_;
    // Static where it can be: the library is to load on its own.
    library.libraries.insert(library.libraries.end(),
                             {"-Wl,-Bstatic", "-lboost_context", "-luring", "-Wl,-Bdynamic", "-lstdc++"});
    library.exports = interface_->functions;
    library.exports.push_back("sq*");
    return clang::linkShared(library, diagnostics_);
  }

  void tell(const std::string& header) {
    std::string names;
    for (const std::string& name : interface_->functions)
      names += (names.empty() ? "" : ", ") + name;
    printf("%s, %s: %s for %s\n", path_.c_str(), header.c_str(), names.c_str(), machine_.c_str());
    std::string include = findAbove("include/sequoia.h");
    std::string options = include.empty() ? "" : " -I" + llvm::sys::path::parent_path(include).str();
    std::string libraries;
    if (llvm::sys::path::extension(path_) != ".so")
      libraries = " " + libraries_[0] + " " + libraries_[1] + " -lboost_context -luring -lstdc++ -lm -lpthread";
    printf("  use it with: cc main.c%s %s%s\n", options.c_str(), path_.c_str(), libraries.c_str());
  }

  Session& session_;
  DiagnosticEngine& diagnostics_;
  std::string path_;
  std::vector<std::string> libraries_;
  std::optional<CInterface> interface_;
  std::string machine_;
};

} // namespace

int buildCommand(Session& session) {
  return Builder(session).run();
}

} // namespace strata::driver
