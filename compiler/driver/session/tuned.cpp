// Keys are hashes; a file's name begins with the program's, so that most runs see at once that there is none for it.
#include "compiler/driver/session/tuned.h"

#include "compiler/driver/compile/notations.h"
#include "compiler/driver/session/prepare.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>

namespace strata::driver {

namespace {

/// Of what decides which mapping is best and how it is written; another one: what was found before is not used.
constexpr const char* version = "strata " STRATA_VERSION " tuned 1";

std::string stemOf(const Session& session) {
  return llvm::sys::path::stem(session.options.compile.program).str();
}

/// Whether a notation's mappings are files at all.
bool isMapped(const std::string& program) {
  const notation::Description* notation = descriptionOf(program);
  return notation && !notation->mappingForms.empty();
}

} // namespace

std::string tunedFolder() {
  if (const char* given = std::getenv("STRATA_TUNED"))
    return given;
  llvm::SmallString<256> folder;
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data && *data)
    folder = data;
  else if (home && *home)
    llvm::sys::path::append(folder, home, ".local", "share");
  else
    return "";
  llvm::sys::path::append(folder, "strata", "tuned");
  return std::string(folder);
}

std::string tunedKey(const Session& session, Compiler& compiler, const Machine& machine) {
  const CompileOptions& compile = session.options.compile;
  std::string text = version;
  const auto add = [&](llvm::StringRef what, llvm::StringRef value) {
    text += "\n" + what.str() + " " + std::to_string(value.size()) + " " + value.str();
  };
  if (auto file = llvm::MemoryBuffer::getFile(compile.program))
    add("program", (*file)->getBuffer());
  for (const std::string& each : compile.includeDirectories)
    add("-I", each);
  for (const std::string& each : compile.definitions)
    add("-D", each);
  add("entry", compile.entry);
  for (const auto& [name, size] : compiler.knownSizes())
    add(name, std::to_string(size));
  add("machine", contentHash(machine));
  return stemOf(session) + "-" + llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, 16);
}

std::string tunedFile(const std::string& key) {
  llvm::SmallString<256> file(tunedFolder());
  llvm::sys::path::append(file, key + ".map");
  return std::string(file);
}

void useTuned(Session& session) {
  CompileOptions& compile = session.options.compile;
  const std::string folder = tunedFolder();
  if (session.options.isUntuned || !compile.mapping.empty() || folder.empty() || !isMapped(compile.program))
    return;
  bool isAny = false;
  std::error_code error;
  const std::string begin = stemOf(session) + "-";
  for (llvm::sys::fs::directory_iterator file(folder, error), end; !error && file != end && !isAny;
       file.increment(error))
    isAny = llvm::sys::path::filename(file->path()).starts_with(begin);
  if (!isAny)
    return;
  // What is wrong with the program is said when it is compiled.
  DiagnosticEngine quiet(session.diagnostics.sources());
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  CompileOptions options = compile;
  options.isTrial = true;
  Compiler compiler(context, quiet, options);
  const auto machine = quiet.hasErrors() ? std::nullopt : compiler.usedMachine();
  if (!machine)
    return;
  const std::string file = tunedFile(tunedKey(session, compiler, *machine));
  if (!llvm::sys::fs::exists(file))
    return;
  compile.mapping = file;
  session.options.isTuned = true;
}

} // namespace strata::driver
