// Looks at names only: nothing is opened, and what a device or a pipe is called says nothing about what goes there.
#include "compiler/driver/session/output_files.h"

#include "compiler/driver/compile/notations.h"

#include "base/data/npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace strata::driver {

STRATA_DIAGNOSTIC(otherSuffix, Error, "driver-output-suffix", "'{0}' ends in {1}, but {2}");
STRATA_DIAGNOSTIC(noStandardOutput, Error, "driver-no-standard-output",
                  "{0} writes a file, and '-' is standard output");
STRATA_DIAGNOSTIC(sameOutput, Error, "driver-same-output", "{0} and {1} would write the same file, '{2}'");
STRATA_DIAGNOSTIC(outputIsInput, Error, "driver-output-is-input", "{0} would overwrite '{1}', which is {2}");

namespace {

struct OutputFile {
  std::string option; // as messages name it
  std::string path;
  Location where;
  std::string holds;                     // "--out writes arrays of NumPy's"
  std::vector<llvm::StringRef> suffixes; // empty: any
  std::string help;                      // beside the names that would do
};

/// One text for all names of a file; files that are no files have none.
std::string identity(const std::string& path) {
  if (path.empty() || path == "-" || isSpecialFile(path))
    return "";
  llvm::SmallString<256> real;
  if (!llvm::sys::fs::real_path(path, real))
    return std::string(real);
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, real))
    return path;
  llvm::sys::path::append(real, llvm::sys::path::filename(path));
  return std::string(real);
}

class Files {
public:
  explicit Files(Session& session) : session_(session), options_(session.options) {}

  bool check(const std::vector<OutputOption>& arrays) {
    for (const OutputOption& array : arrays)
      files_.push_back(
          {"--out " + array.name, array.path, array.where, "--out writes an array in NumPy's format", {".npy"}, ""});
    add("--trace", options_.trace, "--trace writes JSON, or of a processor array a trace of its own",
        {".json", ".trace"}, "strata show draws a trace; --timeline writes a page");
    add("--timeline", options_.timeline, "a timeline is a page", {".html", ".htm"}, "");
    if (options_.stats.rfind("json:", 0) == 0)
      files_.push_back({"--stats",
                        options_.stats.substr(5),
                        place("--stats", options_.stats),
                        "--stats=json: writes JSON",
                        {".json"},
                        ""});
    add("--depfile", options_.dependencies, "", {}, "");
    add("--search", options_.searchPicture, "--search draws SVG", {".svg"}, "");
    addOutput();
    for (size_t number = 0; number < files_.size(); ++number)
      if (checkName(files_[number]) && checkIdentity(number))
        checkSuffix(files_[number]);
    return !session_.diagnostics.hasErrors();
  }

private:
  Location place(const char* option, const std::string& value) { return session_.commandLine->value(option, value); }

  void add(const char* option, const std::string& path, std::string holds, std::vector<llvm::StringRef> suffixes,
           std::string help) {
    if (!path.empty())
      files_.push_back({option, path, place(option, path), std::move(holds), std::move(suffixes), std::move(help)});
  }

  /// -o, by command.
  void addOutput() {
    const std::string& path = options_.output;
    if (path.empty() || path == "-")
      return;
    const llvm::StringRef command = options_.command, stage = options_.emit;
    OutputFile file{"-o", path, placeOfOutput(session_, path), "", {}, ""};
    if (command == "show" && isArrayTrace(options_.thing)) {
      file.holds = "strata show writes a processor array's trace as text or as a page";
      file.suffixes = {".html", ".htm", ".txt"};
    } else if (command == "show") {
      file.holds = "strata show draws SVG or writes a page";
      file.suffixes = {".svg", ".html", ".htm"};
      file.help = "browsers and rsvg-convert make other pictures of an SVG";
    } else if (command == "map" || command == "tune") {
      addMappingForm(file);
    } else if (command == "instantiate") {
      file.holds = "strata instantiate writes text, or a page";
      file.suffixes = {".config", ".txt", ".html"};
    } else if (command == "machine") {
      file.holds = options_.header ? "--header writes a C header" : "a machine's description is YAML";
      file.suffixes =
          options_.header ? std::vector<llvm::StringRef>{".h", ".hpp"} : std::vector<llvm::StringRef>{".yaml", ".yml"};
    } else if (command == "run" && !stage.empty()) {
      file.holds = "--emit=" + stage.str() + " writes text";
      file.suffixes = {".txt"};
      if (stage == "llvm")
        file.suffixes.push_back(".ll");
      else if (stage == "asm")
        file.suffixes.insert(file.suffixes.end(), {".s", ".S", ".asm"});
      else if (stage == "config")
        file.suffixes.push_back(".config");
      else if (stage == "svm" || stage == "placed" || stage == "scheduled")
        file.suffixes.push_back(".mlir");
      else
        file.suffixes.push_back("." + stage.str() == ".ast" ? ".ast" : ".text");
    }
    files_.push_back(std::move(file));
    // The header that declares what was built stands beside it.
    if (command == "build" && !llvm::sys::path::extension(path).empty()) {
      llvm::SmallString<256> header(path);
      llvm::sys::path::replace_extension(header, ".h");
      files_.push_back({"the header beside -o", std::string(header), placeOfOutput(session_, path), "", {}, ""});
    }
  }

  void addMappingForm(OutputFile& file) const {
    const notation::Description* notation = descriptionOf(options_.compile.program);
    if (!notation || notation->mappingForms.empty() || notation->mayBeMappedByTargets)
      return;
    const std::string asked = options_.compile.mappingForm.empty() ? mappingFormOf(options_.compile.program, file.path)
                                                                   : options_.compile.mappingForm;
    const auto named = llvm::find_if(notation->mappingForms, [&](const auto& form) { return form.name == asked; });
    const notation::MappingForm& form = named == notation->mappingForms.end() ? notation->mappingForms.front() : *named;
    file.holds = form.holds;
    file.suffixes.assign(form.endings.begin(), form.endings.end());
  }

  void checkSuffix(const OutputFile& file) {
    const llvm::StringRef suffix = llvm::sys::path::extension(file.path);
    if (suffix.empty() || file.suffixes.empty() || llvm::is_contained(file.suffixes, suffix) ||
        identity(file.path).empty())
      return;
    std::string names;
    for (llvm::StringRef each : file.suffixes)
      names += (names.empty() ? "" : each == file.suffixes.back() ? " or " : ", ") + each.str();
    session_.diagnostics.report(otherSuffix, file.where, file.path, suffix.str(), file.holds)
        .help("give it a name that ends in " + names + (file.help.empty() ? "" : "; " + file.help));
  }

  /// What goes to standard output with - is not among the files.
  bool checkName(const OutputFile& file) {
    if (file.path != "-")
      return true;
    session_.diagnostics.report(noStandardOutput, file.where, file.option)
        .help("name a file; one that is called so is ./-");
    return false;
  }

  bool checkIdentity(size_t second) {
    const OutputFile& file = files_[second];
    const std::string self = identity(file.path);
    if (self.empty())
      return true;
    for (size_t first = 0; first < second; ++first)
      if (identity(files_[first].path) == self) {
        session_.diagnostics.report(sameOutput, file.where, files_[first].option, file.option, file.path)
            .label(files_[first].where, "here first")
            .help("give each a file of its own");
        return false;
      }
    const CompileOptions& compile = options_.compile;
    std::vector<std::pair<std::string, const char*>> inputs{
        {compile.program, "the program"}, {compile.mapping, "the mapping"}, {options_.thing, "what is shown"}};
    if (llvm::StringRef(compile.machine).ends_with(".yaml") || compile.machine.find('/') != std::string::npos)
      inputs.emplace_back(compile.machine, "the machine's description");
    for (const std::string& name : compile.functions)
      inputs.emplace_back(name, "a file of the program's functions");
    for (const std::string& name : options_.mains)
      inputs.emplace_back(name, "a file with the program's main");
    // A mapping may be rewritten in place: strata map --map FILE -o FILE.
    for (const auto& [path, what] : inputs)
      if (!path.empty() && identity(path) == self && llvm::sys::fs::exists(path) &&
          !((options_.command == "map" || options_.command == "tune") && path == compile.mapping)) {
        session_.diagnostics.report(outputIsInput, file.where, file.option, file.path, what)
            .help("write to another file");
        return false;
      }
    return true;
  }

  Session& session_;
  const Options& options_;
  std::vector<OutputFile> files_;
};

} // namespace

Location placeOfOutput(const Session& session, const std::string& path) {
  for (const char* option : {"-o", "--output", "--trace", "--timeline", "--depfile", "--search"})
    if (session.commandLine)
      if (const Location found = session.commandLine->value(option, path); found.valid())
        return found;
  return {};
}

std::string mappingFormOf(const std::string& program, const std::string& path) {
  const notation::Description* notation = descriptionOf(program);
  for (size_t form = 1; notation && form < notation->mappingForms.size(); ++form)
    if (llvm::is_contained(notation->mappingForms[form].endings, llvm::sys::path::extension(path)))
      return notation->mappingForms[form].name;
  return "";
}

bool checkOutputFiles(Session& session, const std::vector<OutputOption>& outputs) {
  return Files(session).check(outputs);
}

bool checkOutputFilesApart(Session& session, const std::vector<ProgramOutputs>& programs) {
  for (size_t second = 0; second < programs.size(); ++second)
    for (const OutputOption& output : programs[second].outputs) {
      const std::string self = identity(output.path), option = "--out " + output.name;
      for (size_t first = 0; first < programs.size() && !self.empty(); ++first) {
        if (first == second)
          continue;
        if (identity(programs[first].program) == self)
          session.diagnostics.report(outputIsInput, output.where, option, output.path, "another program")
              .help("write to another file");
        for (const OutputOption& other : programs[first].outputs)
          if (first < second && identity(other.path) == self)
            session.diagnostics.report(sameOutput, output.where, "--out " + other.name, option, output.path)
                .label(other.where, "here first")
                .help("give each a file of its own");
      }
    }
  return !session.diagnostics.hasErrors();
}

} // namespace strata::driver
