// Loop programs on their way into the pipeline. The program is read, relieved of its reductions and verified when it is
// opened, so that every later step has equations that keep their rules.
#include "compiler/pla/notation.h"

#include "base/machine/addressing.h"
#include "compiler/clang/c_text.h"
#include "compiler/equations/phases.h"
#include "compiler/equations/print.h"
#include "compiler/equations/reduce.h"
#include "compiler/equations/uniform.h"
#include "compiler/equations/verify.h"
#include "compiler/pla/check/check.h"
#include "compiler/pla/draw/dependences.h"
#include "compiler/pla/lower/lower.h"
#include "compiler/pla/syntax/parser.h"

#include "llvm/Support/Path.h"

#include <algorithm>
#include <set>

namespace strata::pla {

STRATA_DIAGNOSTIC(oneMappingForm, Error, "pla-mapping-form", "the mapping of '{0}' has one form, and no template");
STRATA_DIAGNOSTIC(otherEntry, Error, "pla-entry", "a loop program has one entry point, '{0}', and not '{1}'");

namespace {

class PlaProgram : public notation::Program {
public:
  static std::unique_ptr<notation::Program> read(BufferId file, const notation::Options& options,
                                                 DiagnosticEngine& diagnostics) {
    std::unique_ptr<PlaProgram> made(new PlaProgram());
    parse(tokenize(file, diagnostics), made->tree_, diagnostics);
    if (diagnostics.hasErrors())
      return nullptr;
    std::string name = clang::asIdentifier(llvm::sys::path::stem(options.program));
    if (llvm::StringRef(name).starts_with("strata"))
      name = "loop_" + name;
    if (made->tree_.name.text.empty())
      made->tree_.name.text = name;
    if (!made->tree_.name.location.valid())
      made->tree_.name.location = {file, 0, 0};
    const std::optional<equations::System> written = check(made->tree_, name, diagnostics);
    if (!written)
      return nullptr;
    std::optional<equations::System> system = equations::withoutReductions(*written, diagnostics);
    if (!system || !equations::verify(*system, diagnostics))
      return nullptr;
    made->system_ = std::move(*system);
    return made;
  }

  std::string syntaxTree() const override { return printTree(tree_); }

  bool readMapping(const notation::Options& options, DiagnosticEngine& diagnostics) override {
    if (options.mapping.empty())
      return true;
    const BufferId text = notation::loadMapping(options, diagnostics);
    auto read = text.valid() ? notation::readNodeMapping(diagnostics, text) : std::nullopt;
    if (read)
      mapping_ = std::move(*read);
    return read.has_value();
  }
  std::string machineName() const override { return mapping_.machine; }
  Location machinePlace() const override { return mapping_.machinePlace; }

  std::vector<notation::Choice> choices(const notation::Options& options, const Machine& machine,
                                        DiagnosticEngine&) const override {
    if (machine::processorsBesideControl(machine) == 0 || !equations::isDivided(system_))
      return {};
    int64_t most = 0;
    for (const auto& [name, size] : options.sizes)
      most = std::max(most, size);
    for (const auto& [name, shape] : options.shapes)
      for (const int64_t extent : shape)
        most = std::max(most, extent);
    const notation::MappedNode* node = mapping_.of(system_.name);
    const int64_t stated = node && !node->block.empty() ? node->block.front() : noBlock;
    std::set<int64_t> all{noBlock, stated};
    for (int64_t size = leastBlock; size < most; size *= 2)
      all.insert({size, size + size / 2});
    notation::Choice block{system_.name, blockChoice, stated, {all.begin(), all.end()}};
    return {block};
  }

  std::string mappingText(const notation::Options& options, const Machine& machine,
                          DiagnosticEngine& diagnostics) override {
    if (options.mappingTemplate || !options.mappingForm.empty()) {
      diagnostics.report(oneMappingForm, options.mappingFormPlace, options.program)
          .help("leave out --template and --format");
      return "";
    }
    if (!checkMapping(system_, mapping_, machine, diagnostics))
      return "";
    const machine::ProcessorId control = machine::defaultPlaces(machine).control;
    notation::NodeMapping made;
    made.machine = machine.name;
    made.nodes.push_back({system_.name, control.valid() ? machine[control].name : "", {}, {}, {}, {}});
    const notation::NodeMapping used = mappingInUse(options);
    if (const notation::MappedNode* node = used.of(system_.name))
      made.nodes.back().block = node->block;
    return notation::text(made);
  }

  std::optional<std::string> view(llvm::StringRef name, DiagnosticEngine& diagnostics) const override {
    if (name == "equations")
      return equations::print(system_);
    if (name != "uniform")
      return std::nullopt;
    const std::optional<equations::Graph> graph = equations::uniform(system_, diagnostics);
    return graph ? std::optional(equations::print(*graph)) : std::nullopt;
  }

  std::vector<notation::Picture> pictures(const notation::Options& options,
                                          llvm::function_ref<std::optional<Machine>()>,
                                          DiagnosticEngine& diagnostics) override {
    if (!checkEntry(options, diagnostics))
      return {};
    return {{"dependences", "Dependences of " + system_.name,
             "Each box is a variable with the equations that define it; an arrow is a use, with its distance where it "
             "leads to another iteration, or with the instance where that changes. Where an equation holds is said "
             "when the pointer rests on its box.",
             [this] { return drawDependences(system_); }}};
  }

  std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
  lower(const notation::Options& options, const Machine& machine, mlir::MLIRContext& context,
        DiagnosticEngine& diagnostics) override {
    if (!checkEntry(options, diagnostics))
      return std::nullopt;
    return pla::lower(system_, {options.sizes, options.shapes, options.sizePlaces}, mappingInUse(options), machine,
                      context, diagnostics);
  }

private:
  static constexpr const char* blockChoice = "block";
  static constexpr int64_t noBlock = 0, leastBlock = 4; // none is stated; the least that a search tries

  PlaProgram() = default;

  /// The mapping file's, with what was chosen otherwise.
  notation::NodeMapping mappingInUse(const notation::Options& options) const {
    notation::NodeMapping used = mapping_;
    const auto chosen = options.chosen.find({system_.name, blockChoice});
    if (chosen == options.chosen.end())
      return used;
    const auto isProgram = [&](const notation::MappedNode& each) { return each.node == system_.name; };
    auto node = std::find_if(used.nodes.begin(), used.nodes.end(), isProgram);
    if (node == used.nodes.end())
      node = used.nodes.insert(node, {system_.name, "", {}, {}, {}, {}});
    node->block.clear();
    if (chosen->second != noBlock)
      node->block.push_back(chosen->second);
    return used;
  }

  bool checkEntry(const notation::Options& options, DiagnosticEngine& diagnostics) const {
    if (options.entry.empty() || options.entry == system_.name)
      return true;
    diagnostics.report(otherEntry, options.entryPlace, system_.name, options.entry).help("leave out --entry");
    return false;
  }

  SyntaxTree tree_;
  equations::System system_;
  notation::NodeMapping mapping_;
};

notation::Description describe() {
  notation::Description is;
  is.name = "loop";
  is.article = "a";
  is.ending = ".pla";
  is.filesOfCAbout = "the main of a loop program";
  is.functionsHelp = "a loop program has no functions in C";
  is.mappingForms = {{"nodes", "the mapping is a list of nodes", {".yaml", ".yml"}}};
  is.mayBeMappedByTargets = true;
  is.choicesAbout = "how many iterations of a loop program a processor takes at a time";
  is.views = {"equations", "uniform"};
  is.pictures = {"dependences"};
  is.examples = {
      {"run", "  strata run examples/pla/fir/fir.pla --size N=1000,T=8 --in x=random --in h=random:2 --out y=y.npy\n"
              "  strata run examples/pla/fir/fir.pla --size N=64,T=4 --in x=random --in h=random:2 --machine array-4x4 "
              "--trace fir.trace\n"
              "  strata run examples/pla/vectadd/vectadd.pla --size N=64 --in a=iota --in b=1 + "
              "examples/pla/sum/sum.pla --size N=9 --in x=1 --machine array-4x4\n"},
      {"map", "  strata map examples/pla/fir/fir.pla --machine array-4x4 -o fir.sym\n"}};
  return is;
}

class PlaNotation : public notation::Notation {
public:
  const notation::Description& description() const override { return description_; }

  std::unique_ptr<notation::Program> read(BufferId file, const notation::Options& options,
                                          DiagnosticEngine& diagnostics) const override {
    return PlaProgram::read(file, options, diagnostics);
  }

private:
  const notation::Description description_ = describe();
};

} // namespace

const notation::Notation& notation() {
  static const PlaNotation notation;
  return notation;
}

} // namespace strata::pla
