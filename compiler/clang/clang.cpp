// The command lines, and the reading of "file:line:column: error: message". The program is $STRATA_CLANG or clang-19.
#include "compiler/clang/clang.h"

#include "compiler/clang/c_text.h"

#include "base/process/process.h"
#include "base/process/temporary_folder.h"
#include "compiler/clang/headers.h"
#include "compiler/drop_in/drop_in.h"

#include <charconv>
#include <cstdlib>

namespace strata::clang {

STRATA_DIAGNOSTIC(clangError, Error, "clang-error", "{0}");
STRATA_DIAGNOSTIC(clangWarning, Warning, "clang-warning", "{0}");
STRATA_DIAGNOSTIC(clangFailed, Error, "clang-failed", "'{0}' {1}");
STRATA_DIAGNOSTIC(noFolder, Error, "clang-no-folder", "there is no place for temporary files: {0}");

namespace {

constexpr int timeoutSeconds = 300;

/// One line of Clang's messages taken apart. The place is empty when the line names none.
struct Message {
  std::string severity, text, file;
  uint32_t line = 0, column = 0;
};

std::optional<uint32_t> takeNumberAtEnd(std::string_view& text) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  std::string_view digits = text.substr(colon + 1);
  uint32_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

std::optional<Message> readMessage(std::string_view line) {
  size_t first = std::string_view::npos;
  Message message;
  for (std::string_view severity : {"fatal error", "error", "warning", "note"}) {
    std::string between = std::string(": ") + std::string(severity) + ": ";
    size_t at = line.find(between);
    if (at >= first)
      continue;
    first = at;
    message.severity = severity == "fatal error" ? "error" : severity;
    message.text = line.substr(at + between.size());
  }
  if (first == std::string_view::npos)
    return std::nullopt;
  std::string_view place = line.substr(0, first);
  auto column = takeNumberAtEnd(place);
  auto row = column ? takeNumberAtEnd(place) : std::nullopt;
  if (row) {
    message.file = place;
    message.line = *row;
    message.column = *column;
  }
  return message;
}

class Run {
public:
  explicit Run(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {
    if (!folder_.problem().empty())
      diagnostics_.report(noFolder, {}, folder_.problem()).help("set TMPDIR to a folder that can be written");
  }

  bool write(std::string_view name, std::string_view text) {
    if (!folder_.problem().empty())
      return false;
    if (folder_.write(name, text))
      return true;
    diagnostics_.report(noFolder, {}, "cannot write '" + folder_.path(name) + "'")
        .help("set TMPDIR to a folder that has room");
    return false;
  }

  std::string path(std::string_view name) const { return folder_.path(name); }

  /// Help for names that the user's text and a file of this folder define both, by the file's name.
  void helpWithRedefinitions(std::map<std::string, std::string> help) { redefinitionHelp_ = std::move(help); }
  /// The function that the user's text reports errors by.
  void helpToRaise(const std::string& function) { raise_ = function; }

  /// Runs Clang; the bytes of the file it wrote.
  std::optional<std::string> output(std::vector<std::string> arguments) {
    std::vector<std::string> command{drop_in::clangName()};
    // None of these options are the user's: what one of them is of no use for is nothing to warn of.
    command.emplace_back("--start-no-unused-arguments");
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.insert(command.end(), {"-o", path("output")});
    ProcessResult result = runProcess(command, {.timeoutSeconds = timeoutSeconds});
    if (!result.problem.empty()) {
      auto report = diagnostics_.report(clangFailed, {}, command.front(), result.problem);
      if (result.problem.rfind("cannot be started", 0) == 0)
        report.help("install the package clang-19, or set STRATA_CLANG to the program's path");
      return std::nullopt;
    }
    unsigned before = diagnostics_.errorCount();
    reportMessages(result.errors);
    auto bytes = result.status == 0 ? folder_.read("output") : std::nullopt;
    if (!bytes && diagnostics_.errorCount() == before)
      diagnostics_.report(clangFailed, {}, command.front(), "ended with status " + std::to_string(result.status))
          .note(result.errors.substr(0, 2000));
    return bytes;
  }

  /// Files of the user that were included become sources too, so that it is known what was read.
  void rememberIncluded() {
    std::string text = folder_.read("included").value_or(""), name;
    for (size_t at = std::min(text.find(": "), text.size()); at < text.size(); ++at) {
      if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') {
        name += text[++at];
      } else if (text[at] == ' ' || text[at] == '\n' || text[at] == '\\') {
        std::string error;
        if (name.size() > 1 && name.rfind(folder_.path(""), 0) != 0 && !diagnostics_.sources().find(name).valid())
          diagnostics_.sources().load(name, SourceKind::Program, error);
        name.clear();
      } else {
        name += text[at];
      }
    }
  }

private:
  void reportMessages(std::string_view text) {
    std::vector<Message> messages;
    while (!text.empty()) {
      size_t end = text.find('\n');
      if (auto message = readMessage(text.substr(0, end)))
        messages.push_back(std::move(*message));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    for (size_t position = 0; position < messages.size();) {
      const Message& message = messages[position++];
      // The linker has said why.
      if (message.text.starts_with("linker command failed") && diagnostics_.hasErrors())
        continue;
      auto report = diagnostics_.report(message.severity == "warning" ? clangWarning : clangError, placeOf(message),
                                        message.text);
      for (const std::string name : {"hpvm", "svm"})
        if (message.text.starts_with("'" + name + ".h' file not found"))
          report.help("a program that includes " + name + ".h is compiled by strata cc or strata c++");
      std::string generated = isOurs(message) ? nameInFolder(message) : "";
      // Notes belong to what stands before them.
      for (; position < messages.size() && messages[position].severity == "note"; ++position) {
        const Message& note = messages[position];
        Location where = placeOf(note);
        if (isOurs(note))
          generated = nameInFolder(note);
        if (where.valid())
          report.label(where, note.text);
        else
          report.note(note.text + shown(note));
      }
      if (message.text.ends_with("with exceptions disabled"))
        report.help("C++ that a program calls has no exceptions: report errors by " + raise_ + ", or end the process");
      if (message.text.ends_with("-Wglobal-constructors]"))
        report.help("put the variable into a function, as static: then it is made when the function is called first");
      if (message.text.find("redefinition") != std::string::npos ||
          message.text.find("does not match previous declaration") != std::string::npos)
        if (auto help = redefinitionHelp_.extract(generated))
          report.help(help.mapped());
    }
  }

  /// Whether a message is about generated text.
  bool isOurs(const Message& message) const {
    return !message.file.empty() && message.file.rfind(folder_.path(""), 0) == 0;
  }

  std::string nameInFolder(const Message& message) const { return message.file.substr(folder_.path("").size()); }

  /// The line of generated text that a message is about, which the user cannot look up.
  std::string shown(const Message& message) {
    if (!isOurs(message))
      return "";
    std::string text = folder_.read(nameInFolder(message)).value_or("");
    std::string_view rest = text;
    for (uint32_t line = 1; line < message.line && !rest.empty(); ++line)
      rest = rest.substr(std::min(rest.size(), rest.find('\n') + 1));
    const std::string_view found = rest.substr(0, rest.find('\n'));
    return found.empty() ? "" : ": " + std::string(found);
  }

  Location placeOf(const Message& message) {
    // A place in generated text says nothing to the user.
    if (message.file.empty() || isOurs(message))
      return {};
    SourceManager& sources = diagnostics_.sources();
    BufferId buffer = sources.find(message.file);
    std::string error;
    if (!buffer.valid())
      buffer = sources.load(message.file, SourceKind::Program, error);
    return buffer.valid() ? sources.at(buffer, message.line, message.column) : Location();
  }

  DiagnosticEngine& diagnostics_;
  TemporaryFolder folder_;
  std::map<std::string, std::string> redefinitionHelp_; // each is given once
  std::string raise_;
};

/// The options for a processor of this computer's architecture.
std::vector<std::string> optionsFor(const std::string& processor) {
#if defined(__x86_64__) || defined(__i386__)
  const char* const option = "-march=";
#else
  const char* const option = "-mcpu=";
#endif
  return processor.empty() ? std::vector<std::string>() : std::vector{option + processor};
}

std::optional<std::string> compile(const Source& source, std::vector<std::string> extra,
                                   DiagnosticEngine& diagnostics) {
  Run run(diagnostics);
  run.helpWithRedefinitions(source.redefinitionHelp);
  run.helpToRaise(source.raise);
  std::string file = source.isCxx ? "program.cpp" : "program.c";
  if (!run.write(file, source.text) || !run.write("strata.h", strataHeader()) ||
      !run.write("strata_abi.h", abiHeader()))
    return std::nullopt;
  for (const auto& [name, text] : source.headers)
    if (!run.write(name, text))
      return std::nullopt;
  // The processor is named here as well because macros such as __AVX2__ depend on it.
  std::vector<std::string> arguments{
      source.isCxx ? "-std=c++20" : "-std=gnu11", "-O2", "-fPIC", "-fwrapv",
      // A function with large variables must not step over the page below the stack.
      "-fstack-clash-protection",
      // A null pointer that is followed is a fault that can be told of, not code that may be left out.
      "-fno-delete-null-pointer-checks", "-fno-color-diagnostics", "-fno-caret-diagnostics", "-ferror-limit=20", "-MMD",
      "-MF", run.path("included"), "-I" + run.path(""), run.path(file)};
  for (const std::string& option : optionsFor(source.processor))
    arguments.push_back(option);
  for (const std::string& folder : source.includeFolders)
    arguments.push_back("-I" + folder);
  for (const std::string& definition : source.definitions)
    arguments.push_back("-D" + definition);
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  auto result = run.output(std::move(arguments));
  if (result)
    run.rememberIncluded();
  return result;
}

} // namespace

std::optional<std::string> compileToLlvm(const Source& source, DiagnosticEngine& diagnostics) {
  std::vector<std::string> arguments{"-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"};
  if (source.hasLines)
    arguments.emplace_back("-gline-tables-only");
  // The code is loaded into a running process, where nobody calls constructors or unwinds its frames.
  if (source.isCxx)
    arguments.insert(arguments.end(), {"-fno-exceptions", "-Werror=global-constructors"});
  return compile(source, arguments, diagnostics);
}

std::optional<std::string> compileToObject(const Source& source, DiagnosticEngine& diagnostics) {
  return compile(source, {"-c"}, diagnostics);
}

std::optional<std::string> linkShared(const SharedLibrary& library, DiagnosticEngine& diagnostics) {
  Run run(diagnostics);
  std::string exports = "{ global:";
  for (const std::string& name : library.exports)
    exports += " " + name + ";";
  exports += " local: *; };\n";
  if (!run.write("program.o", library.object) || !run.write("exports", exports))
    return std::nullopt;
  // Threads of the runtime live on when the library is closed: its code stays.
  std::vector<std::string> arguments{"-shared",
                                     "-fuse-ld=lld",
                                     "-Wl,-z,defs",
                                     "-Wl,-z,nodelete",
                                     "-Xlinker",
                                     "--soname=" + library.name,
                                     "-Xlinker",
                                     "--version-script=" + run.path("exports"),
                                     run.path("program.o"),
                                     "-Wl,--start-group"};
  arguments.insert(arguments.end(), library.libraries.begin(), library.libraries.end());
  arguments.insert(arguments.end(), {"-Wl,--end-group", "-lm", "-lpthread"});
  return run.output(std::move(arguments));
}

std::optional<std::string> linkExecutable(const Executable& executable, DiagnosticEngine& diagnostics) {
  Run run(diagnostics);
  if (!run.write("program.o", executable.object) || !run.write("strata.h", strataHeader()))
    return std::nullopt;
  for (const auto& [name, text] : executable.headers)
    if (!run.write(name, text))
      return std::nullopt;
  std::vector<std::string> arguments = optionsFor(executable.processor);
  arguments.insert(arguments.end(), {"-O2", "-fno-color-diagnostics", "-fno-caret-diagnostics", "-ferror-limit=20",
                                     "-I" + run.path("")});
  std::vector<std::string> inputs;
  for (const std::string& name : executable.files) {
    const std::string file = name.starts_with('-') ? "./" + name : name; // a file too
    if (!isCxxFile(file)) {
      inputs.push_back(file);
      continue;
    }
    // Apart from C, for which the option would be an error.
    std::vector<std::string> compilation = arguments;
    compilation.insert(compilation.end(), {"-std=c++20", "-c", file});
    auto object = run.output(std::move(compilation));
    inputs.push_back(run.path("main" + std::to_string(inputs.size()) + ".o"));
    if (!object || !run.write("main" + std::to_string(inputs.size() - 1) + ".o", *object))
      return std::nullopt;
  }
  arguments.emplace_back("-fuse-ld=lld"); // which a compilation alone has no use for
  if (executable.wrapsMain)
    arguments.emplace_back("-Wl,--wrap=main");
  arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), {run.path("program.o"), "-Wl,--start-group"});
  arguments.insert(arguments.end(), executable.libraries.begin(), executable.libraries.end());
  arguments.insert(arguments.end(), {"-Wl,--end-group", "-lstdc++", "-lm", "-lpthread"});
  return run.output(std::move(arguments));
}

} // namespace strata::clang
