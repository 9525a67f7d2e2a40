// The text is changed before it is parsed only where LLVM would not take it: attributes of arguments that it does not
// know. LLVM does not tell the lines of instructions, so they are counted again.
#include "compiler/hpvm/intrinsics/read_ir.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <cctype>
#include <map>

#include <sys/mman.h>
#include <unistd.h>

namespace strata::hpvm {

STRATA_DIAGNOSTIC(cannotRead, Error, "hpvm-ir-file", "'{0}' cannot be read: {1}");
STRATA_DIAGNOSTIC(badText, Error, "hpvm-ir-text", "this is no LLVM IR that LLVM 19 reads: {0}");
STRATA_DIAGNOSTIC(badBitcode, Error, "hpvm-ir-bitcode", "'{0}' is no bitcode that LLVM 19 reads: {1}");
STRATA_DIAGNOSTIC(invalid, Error, "hpvm-ir-invalid", "'{0}' is no valid LLVM IR: {1}");

namespace {

bool isWord(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '.' || letter == '-';
}

/// The line with `in` and `out`, where they stand as attributes of arguments, in quotes.
std::string quoteAttributes(llvm::StringRef line) {
  std::string result;
  bool isQuoted = false;
  for (size_t at = 0; at < line.size();) {
    if (line[at] == '"')
      isQuoted = !isQuoted;
    const bool begins =
        !isQuoted && isWord(line[at]) &&
        (at == 0 || !(isWord(line[at - 1]) || line[at - 1] == '%' || line[at - 1] == '@' || line[at - 1] == '$'));
    if (!begins) {
      result += line[at++];
      continue;
    }
    size_t end = at;
    while (end < line.size() && isWord(line[end]))
      ++end;
    const llvm::StringRef word = line.slice(at, end);
    result += word == "in" || word == "out" ? "\"" + word.str() + "\"" : word.str();
    at = end;
  }
  return result;
}

/// The text as LLVM takes it.
std::string accepted(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    const auto [line, rest] = text.split('\n');
    const llvm::StringRef begin = line.ltrim();
    result += begin.starts_with("define") || begin.starts_with("declare") ? quoteAttributes(line) : line.str();
    result += '\n';
    text = rest;
  }
  return result;
}

/// Where functions and their instructions stand in a text: lines and columns, from 1.
struct TextPlaces {
  struct Place {
    unsigned line = 0, column = 0;
  };
  std::map<std::string, std::pair<Place, std::vector<Place>>> functions;

  explicit TextPlaces(llvm::StringRef text) {
    unsigned number = 0;
    std::vector<Place>* body = nullptr;
    bool isList = false; // of a switch's cases
    while (!text.empty()) {
      const auto [whole, rest] = text.split('\n');
      text = rest;
      ++number;
      const llvm::StringRef line = whole.ltrim();
      const Place here{number, static_cast<unsigned>(whole.size() - line.size() + 1)};
      if (line.starts_with("define")) {
        auto& function = functions[nameIn(line)];
        function.first = here;
        body = &function.second;
      } else if (line.starts_with("}")) {
        body = nullptr;
      } else if (!body || line.empty() || line.starts_with(";") || line.starts_with("#") || isLabel(line)) {
        continue;
      } else if (isList || line.starts_with("to label") || line.starts_with("cleanup") || line.starts_with("catch") ||
                 line.starts_with("filter")) {
        isList = isList && !line.contains(']');
      } else {
        body->push_back(here);
        isList = line.starts_with("switch ") && !line.contains(']');
      }
    }
  }

private:
  static std::string nameIn(llvm::StringRef line) {
    llvm::StringRef name = line.split('@').second;
    return name.starts_with("\"") ? name.drop_front().split('"').first.str() : name.take_while(isWord).str();
  }
  static bool isLabel(llvm::StringRef line) {
    const llvm::StringRef name = line.take_while([](char letter) { return isWord(letter) || letter == '"'; });
    return !name.empty() && line.substr(name.size()).starts_with(":");
  }
};

/// Gives functions that have no lines those of the text.
void addLines(llvm::Module& module, const std::string& path, llvm::StringRef text) {
  if (!module.debug_compile_units().empty())
    return;
  TextPlaces places(text);
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile(llvm::sys::path::filename(path), llvm::sys::path::parent_path(path));
  builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "strata", false, "", 0);
  auto* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  for (llvm::Function& function : module) {
    const auto found = places.functions.find(function.getName().str());
    if (function.isDeclaration() || found == places.functions.end())
      continue;
    const auto& [begin, lines] = found->second;
    auto* scope = builder.createFunction(file, function.getName(), "", file, begin.line, type, begin.line,
                                         llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
    function.setSubprogram(scope);
    size_t next = 0;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const TextPlaces::Place place = next < lines.size() ? lines[next++] : begin;
      instruction.setDebugLoc(llvm::DILocation::get(module.getContext(), place.line, place.column, scope));
    }
  }
  builder.finalize();
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

} // namespace

bool isHpvmIr(llvm::StringRef contents) {
  return contents.contains("llvm.hpvm.");
}

std::unique_ptr<llvm::Module> parseText(llvm::StringRef text, llvm::SMDiagnostic& problem, llvm::LLVMContext& context) {
  // LLVM's other readers bring debug information up to date, and end the process where the module is not valid. The
  // one that does not takes files alone.
  const int file = memfd_create("strata", 0);
  if (file < 0)
    return llvm::parseAssemblyString(text, problem, context);
  {
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/false);
    stream << text;
  }
  lseek(file, 0, SEEK_SET);
  auto parsed = llvm::parseAssemblyFileWithIndexNoUpgradeDebugInfo(
      "/proc/self/fd/" + std::to_string(file), problem, context, nullptr,
      [](llvm::StringRef, llvm::StringRef) { return std::optional<std::string>(); });
  close(file);
  return std::move(parsed.Mod);
}

std::unique_ptr<llvm::Module> readIr(const std::string& path, llvm::LLVMContext& context,
                                     DiagnosticEngine& diagnostics) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    diagnostics.report(cannotRead, {}, path, buffer.getError().message());
    return nullptr;
  }
  const llvm::StringRef contents = (*buffer)->getBuffer();
  std::unique_ptr<llvm::Module> module;
  if (contents.starts_with("BC\xC0\xDE") || contents.starts_with("\xDE\xC0\x17\x0B")) {
    auto read = llvm::parseBitcodeFile((*buffer)->getMemBufferRef(), context);
    if (!read) {
      const std::string said = llvm::toString(read.takeError());
      diagnostics.report(badBitcode, {}, path, said)
          .help(llvm::StringRef(said).contains_insensitive("attribute")
                    ? "a fork of LLVM has numbered attributes of its own, which nobody else can tell: write it as text "
                      "(.ll) with that fork's llvm-dis"
                    : "write it as text (.ll) with the llvm-dis of the LLVM that made it");
      return nullptr;
    }
    module = std::move(*read);
  } else {
    llvm::SMDiagnostic problem;
    const std::string text = accepted(contents);
    module = parseText(text, problem, context);
    if (!module) {
      std::string error;
      const BufferId file = diagnostics.sources().load(path, SourceKind::Program, error);
      const Location at = file.valid() && problem.getLineNo() > 0
                              ? diagnostics.sources().at(file, static_cast<unsigned>(problem.getLineNo()),
                                                         static_cast<unsigned>(std::max(problem.getColumnNo(), 0)) + 1)
                              : Location();
      diagnostics.report(badText, at, problem.getMessage().str());
      return nullptr;
    }
    llvm::SmallString<256> whole(path);
    llvm::sys::fs::make_absolute(whole);
    addLines(*module, std::string(whole), contents);
  }
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  if (llvm::verifyModule(*module, &stream)) {
    diagnostics.report(invalid, {}, path, llvm::StringRef(wrong).split('\n').first.str());
    return nullptr;
  }
  return replaceIntrinsics(*module, diagnostics) ? std::move(module) : nullptr;
}

} // namespace strata::hpvm
