// HBIR programs on their way into the pipeline. Sizes are constants of the program, so they, and the mapping file, are
// put in when it is read; files of C functions are compiled when it is lowered.
#include "compiler/hbir/notation.h"

#include "compiler/clang/c_text.h"
#include "compiler/clang/functions.h"
#include "compiler/hbir/check/frontend.h"
#include "compiler/hbir/draw/views.h"
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/layout/layout.h"
#include "compiler/hbir/lower/lower.h"
#include "compiler/hbir/mapping/mapping.h"
#include "compiler/hbir/mapping/target.h"
#include "compiler/hbir/program/print_ast.h"

#include "llvm/Support/Path.h"

namespace strata::hbir {

STRATA_DIAGNOSTIC(oneMappingForm, Error, "hbir-mapping-form", "the mapping of '{0}' has one form, and no template");
STRATA_DIAGNOSTIC(otherEntry, Error, "hbir-entry", "an HBIR program has one entry point, '{0}', and not '{1}'");

namespace {

std::string cType(ScalarType type) {
  switch (type) {
  case ScalarType::Int:
    return "int";
  case ScalarType::Float:
    return "float";
  case ScalarType::Bool:
    return "bool";
  }
  return "";
}

class HbirProgram : public notation::Program {
public:
  static std::unique_ptr<notation::Program> read(BufferId file, const notation::Options& options,
                                                 DiagnosticEngine& diagnostics) {
    std::unique_ptr<HbirProgram> made(new HbirProgram());
    std::optional<Mapping> mapping;
    if (!options.mapping.empty()) {
      BufferId text = notation::loadMapping(options, diagnostics);
      if (text.valid())
        mapping = hbir::readMapping(text, diagnostics);
      if (!mapping)
        return nullptr;
    }
    ReadOptions reading;
    reading.constants = options.sizes;
    reading.places = options.sizePlaces;
    made->program_ = readProgram(file, diagnostics, reading, mapping ? &*mapping : nullptr);
    if (!made->program_)
      return nullptr;
    return made;
  }

  std::string syntaxTree() const override { return printAst(*program_); }
  bool readMapping(const notation::Options&, DiagnosticEngine&) override { return true; }
  bool hasFixedSizes() const override { return true; }
  std::string mappingText(const notation::Options& options, const Machine&, DiagnosticEngine& diagnostics) override {
    if (options.mappingTemplate || !options.mappingForm.empty())
      diagnostics.report(oneMappingForm, options.mappingFormPlace, options.program)
          .help("leave out --template and --format");
    return writeMapping(*program_);
  }

  std::optional<std::string> view(llvm::StringRef name, DiagnosticEngine&) const override {
    if (name == "groups")
      return groupsText(*program_);
    if (name == "layout")
      return layoutText(*program_);
    return std::nullopt;
  }

  std::vector<notation::Picture> pictures(const notation::Options& options,
                                          llvm::function_ref<std::optional<Machine>()>,
                                          DiagnosticEngine& diagnostics) override {
    if (!checkEntry(options, entryName(options.program), diagnostics))
      return {};
    return {{"tiles", "Tiles and memories", "", [this] { return drawProgram(*program_); }}};
  }

  std::optional<Machine> ownMachine(DiagnosticEngine& diagnostics) const override {
    Machine machine = toMachine(*program_, "target");
    return validate(machine, diagnostics) ? std::optional(std::move(machine)) : std::nullopt;
  }

  std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
  lower(const notation::Options& options, const Machine& machine, mlir::MLIRContext& context,
        DiagnosticEngine& diagnostics) override {
    std::string entry = entryName(options.program);
    if (!checkEntry(options, entry, diagnostics))
      return std::nullopt;
    auto lowered = hbir::lower(*program_, machine, context, diagnostics, entry);
    if (!lowered)
      return std::nullopt;
    std::vector<clang::ScalarFunction> functions;
    for (const Extern& declared : program_->externs) {
      clang::ScalarFunction function{declared.name, {}, declared.result ? cType(*declared.result) : "", declared.where};
      for (ScalarType parameter : declared.parameters)
        function.parameters.push_back(cType(parameter));
      functions.push_back(std::move(function));
    }
    if (!clang::compileFunctions(*lowered->module, options.functions, functions, diagnostics,
                                 {options.includeDirectories, options.definitions, options.cpu}))
      return std::nullopt;
    return std::make_pair(std::move(lowered->module), std::move(lowered->record));
  }

private:
  HbirProgram() = default;

  static bool checkEntry(const notation::Options& options, const std::string& entry, DiagnosticEngine& diagnostics) {
    if (options.entry.empty() || options.entry == entry)
      return true;
    diagnostics.report(otherEntry, options.entryPlace, entry, options.entry).help("leave out --entry");
    return false;
  }

  /// The language has no name for a program, so it has its file's.
  std::string entryName(llvm::StringRef file) const {
    std::string name = clang::asIdentifier(llvm::sys::path::stem(file));
    if (llvm::StringRef(name).starts_with("strata"))
      name = "hbir_" + name;
    while (llvm::any_of(program_->externs, [&](const Extern& declared) { return declared.name == name; }))
      name += "_";
    return name;
  }

  std::unique_ptr<hbir::Program> program_;
};

notation::Description describe() {
  notation::Description is;
  is.name = "HBIR";
  is.article = "an";
  is.ending = ".hbir";
  is.filesOfC = notation::FilesOfC::Functions;
  is.filesOfCAbout = "the functions that an HBIR program calls";
  is.functionsHelp = "they belong to HBIR programs with extern declarations";
  is.sizeAbout = "In HBIR, constants of the data segment";
  is.describesMachine = true;
  is.mappingForms = {{"braces", "the mapping is written with braces", {".map", ".hbir", ".txt"}}};
  is.views = {"groups", "layout"};
  is.pictures = {"tiles"};
  is.examples = {
      {"run", "  strata run examples/hbir/vectadd/vectadd.hbir --in A=random --in B=random:2 --out C=C.npy\n"},
      {"show", "  strata show examples/hbir/matmul/matmul.hbir -o matmul.html\n"}};
  return is;
}

class HbirNotation : public notation::Notation {
public:
  const notation::Description& description() const override { return description_; }

  std::unique_ptr<notation::Program> read(BufferId file, const notation::Options& options,
                                          DiagnosticEngine& diagnostics) const override {
    return HbirProgram::read(file, options, diagnostics);
  }

private:
  const notation::Description description_ = describe();
};

} // namespace

const notation::Notation& notation() {
  static const HbirNotation notation;
  return notation;
}

} // namespace strata::hbir
