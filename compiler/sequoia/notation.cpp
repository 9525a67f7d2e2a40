// Sequoia programs on their way into the pipeline. The mapping is a file's, or the default for the program and the
// machine; everything after that is the same for both.
#include "compiler/sequoia/notation.h"

#include "base/picture/html.h"
#include "compiler/notation/sizes.h"
#include "compiler/sequoia/check/frontend.h"
#include "compiler/sequoia/draw/draw.h"
#include "compiler/sequoia/external/array_interface.h"
#include "compiler/sequoia/external/external.h"
#include "compiler/sequoia/lower/lower.h"
#include "compiler/sequoia/mapping/mapping.h"
#include "compiler/sequoia/resolve/check_coverage.h"
#include "compiler/sequoia/resolve/resolve.h"
#include "compiler/sequoia/syntax/print_ast.h"
#include "compiler/sequoia/tune/choices.h"
#include "compiler/sequoia/tune/default_mapping.h"
#include "compiler/sequoia/tune/template_mapping.h"

#include "include/sequoia.h"

#include "llvm/Support/Path.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(mappingMade, Remark, "driver-mapping-made",
                  "no mapping was given, and one was made for machine '{0}'");
STRATA_DIAGNOSTIC(noMachineLevels, Error, "sequoia-machine-levels",
                  "machine '{0}' has no memory levels to map the program to");

namespace {

/// Sizes known before compilation: those given, and those that an input array's shape settles.
KnownSizes knownSizes(const Program& program, const notation::Options& options) {
  std::map<std::string, notation::KnownSize> known;
  for (const auto& [name, value] : options.sizes)
    known[name] = {value, "--size"};
  std::vector<notation::SizeEquation> equations;
  for (const Task& task : program.tasks)
    if (task.prototype && (options.entry.empty() || options.entry == task.name))
      for (const Variable* parameter : task.prototype->parameters) {
        auto shape = options.shapes.find(std::string(parameter->name));
        if (shape == options.shapes.end() || shape->second.size() != parameter->extents.size())
          continue;
        for (size_t dimension = 0; dimension < parameter->extents.size(); ++dimension) {
          const LinearSize& extent = parameter->extents[dimension].linear;
          notation::SizeEquation equation{{}, extent.constant, shape->second[dimension], ""};
          for (const auto& [coefficient, size] : extent.terms)
            equation.terms.push_back({coefficient, std::string(size->name)});
          equations.push_back(std::move(equation));
        }
      }
  solveSizes(equations, known);
  KnownSizes result;
  for (const auto& [name, size] : known)
    result[name] = size.value;
  return result;
}

/// The value of a tunable in a mapping; null where there is none.
const MappedNumber* findTunable(const Mapping& mapping, const std::string& instance, const std::string& name) {
  for (const MappedTask& task : mapping.tasks)
    for (const MappedInstance& each : task.instances)
      for (const MappedTunable& tunable : each.tunables)
        if (each.name.text == instance && tunable.name.text == name)
          return &tunable.value;
  return nullptr;
}

AskedEntry askedEntry(const notation::Options& options) {
  AskedEntry asked(options.entry, options.entryPlace);
  asked.others.assign(options.otherEntries.begin(), options.otherEntries.end());
  asked.isEvery = options.isLibrary;
  return asked;
}

/// Those of the mapping in use. One that was made has the entry points asked for, and no others.
AskedEntry entryOf(const notation::Options& options, bool isMade) {
  AskedEntry asked;
  asked.isEvery = true;
  return isMade ? asked : askedEntry(options);
}

/// The file's mapping, or the default.
std::optional<Mapping> mappingInUse(const Program& program, const std::optional<Mapping>& given,
                                    const notation::Options& options, const Machine& machine,
                                    DiagnosticEngine& diagnostics) {
  if (machine.levels.empty()) {
    const Location named = given ? given->machinePlace.location : Location();
    diagnostics.report(noMachineLevels, named.valid() ? named : Location{program.file, 0, 0}, machine.name)
        .help("list them in the machine's file under 'levels', from the innermost outwards");
    return std::nullopt;
  }
  if (given)
    return given;
  auto made = defaultMapping(program, machine, askedEntry(options), knownSizes(program, options), diagnostics,
                             options.halvings, options.isLibrary);
  if (made)
    choose(*made, options.chosen, program);
  if (made)
    diagnostics.report(mappingMade, {}, machine.name).help("'strata map' with the same options writes it out");
  return made;
}

class SequoiaProgram : public notation::Program {
public:
  explicit SequoiaProgram(std::unique_ptr<sequoia::Program> program) : program_(std::move(program)) {}

  std::string syntaxTree() const override { return printAst(*program_); }
  std::optional<std::string> view(llvm::StringRef, DiagnosticEngine&) const override { return std::nullopt; }

  std::vector<notation::Picture> pictures(const notation::Options& options,
                                          llvm::function_ref<std::optional<Machine>()> onMachine,
                                          DiagnosticEngine& diagnostics) override {
    auto machine = onMachine();
    auto mapping = machine ? mappingInUse(*program_, mapping_, options, *machine, diagnostics) : std::nullopt;
    auto graph =
        mapping ? resolve(*program_, *mapping, *machine, entryOf(options, !mapping_), diagnostics) : std::nullopt;
    if (!graph)
      return {};
    const std::string file = llvm::sys::path::filename(options.program).str();
    const std::string entry = graph->instances[graph->entry].name, tasks = "tasks of " + file;
    // What the drawings are made from is theirs, but for the program.
    struct Drawn {
      Machine machine;
      Mapping mapping;
      InstanceGraph graph;
      std::vector<InstanceSizes> sizes;
      std::string title;
    };
    auto drawn = std::make_shared<Drawn>(Drawn{std::move(*machine), std::move(*mapping), std::move(*graph), {}, ""});
    drawn->sizes = propagateSizes(drawn->graph, knownSizes(*program_, options));
    drawn->title = entry + " of " + file + " on " + drawn->machine.name;
    return {{"tasks", "", "Each variant of a task, and what its calls may become.",
             [this, tasks] { return drawTasks(*program_, tasks); }, false,
             [this, tasks] { return taskSheets(*program_, tasks); }},
            {"instances", "",
             "The instances that " + entry + " reaches, on " + drawn->machine.name +
                 ": data at the level of its memory, loops and calls at the level whose processor executes them.",
             [drawn] { return drawInstances(drawn->graph, drawn->machine, drawn->sizes, drawn->title); }, false,
             [drawn] { return instanceSheets(drawn->graph, drawn->machine, drawn->sizes, drawn->title); }},
            {"mapping", mapping_ ? "The mapping" : "The mapping, made by Strata", "",
             [drawn] { return picture::preformatted(writeMapping(drawn->mapping)); }, true}};
  }

  bool readMapping(const notation::Options& options, DiagnosticEngine& diagnostics) override {
    if (options.mapping.empty())
      return true;
    BufferId file = notation::loadMapping(options, diagnostics);
    if (!file.valid())
      return false;
    mapping_ = sequoia::readMapping(file, diagnostics);
    if (mapping_)
      choose(*mapping_, options.chosen, *program_);
    return mapping_.has_value();
  }
  bool canShrink() const override { return !mapping_; }
  std::optional<std::pair<int64_t, Location>> tunable(llvm::StringRef instance, llvm::StringRef name) const override {
    if (!mapping_)
      return std::nullopt;
    const MappedNumber* number = findTunable(*mapping_, instance.str(), name.str());
    return number ? std::optional(std::make_pair(number->value, number->place.location)) : std::nullopt;
  }
  std::string machineName() const override { return mapping_ ? mapping_->machine : ""; }
  Location machinePlace() const override { return mapping_ ? mapping_->machinePlace.location : Location(); }

  std::vector<notation::TunableInUse> tunables(const notation::Options& options, const Machine& machine,
                                               DiagnosticEngine& diagnostics) const override {
    auto mapping = mappingInUse(*program_, mapping_, options, machine, diagnostics);
    const KnownSizes known = knownSizes(*program_, options);
    std::vector<notation::TunableInUse> result;
    for (const MappedTask& mapped : mapping ? mapping->tasks : std::vector<MappedTask>()) {
      const Task* task = program_->findTask(mapped.name.text);
      for (const MappedInstance& instance : mapped.instances) {
        const TaskVariant* variant = task ? task->find(instance.variant.text) : nullptr;
        for (const MappedTunable& tunable : instance.tunables) {
          notation::TunableInUse& use = result.emplace_back();
          use = {instance.name.text, tunable.name.text, tunable.value.value, tunable.value.place.location, {}, {}};
          if (const Variable* declared = variant ? tunableNamed(*variant, tunable.name) : nullptr) {
            use.declared = declared->location;
            use.sizes = sizesDivided(*variant, declared, known);
          }
        }
      }
    }
    return result;
  }

  std::vector<notation::Choice> choices(const notation::Options& options, const Machine& machine,
                                        DiagnosticEngine& diagnostics) const override {
    auto mapping = mappingInUse(*program_, mapping_, options, machine, diagnostics);
    return mapping ? choicesOf(*program_, *mapping, machine, knownSizes(*program_, options))
                   : std::vector<notation::Choice>();
  }

  std::map<std::string, int64_t> sizes(const notation::Options& options) const override {
    const KnownSizes known = knownSizes(*program_, options);
    return {known.begin(), known.end()};
  }

  std::string mappingText(const notation::Options& options, const Machine& machine,
                          DiagnosticEngine& diagnostics) override {
    auto mapping = options.mappingTemplate ? templateMapping(*program_, machine, askedEntry(options), diagnostics)
                                           : mappingInUse(*program_, mapping_, options, machine, diagnostics);
    auto form = options.mappingForm == "xml" ? MappingForm::Xml : MappingForm::Braces;
    return mapping ? writeMapping(*mapping, form) : "";
  }

  std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
  lower(const notation::Options& options, const Machine& machine, mlir::MLIRContext& context,
        DiagnosticEngine& diagnostics) override {
    auto mapping = mappingInUse(*program_, mapping_, options, machine, diagnostics);
    if (!mapping)
      return std::nullopt;
    auto graph = resolve(*program_, *mapping, machine, entryOf(options, !mapping_), diagnostics);
    if (!graph)
      return std::nullopt;
    warnOfUncovered(*graph, knownSizes(*program_, options), diagnostics);
    auto lowered = sequoia::lower(*program_, *graph, machine, context, diagnostics, knownSizes(*program_, options));
    if (!lowered)
      return std::nullopt;
    // Files of external tasks are named as seen from the mapping file.
    std::vector<external::ExternalTask> externals;
    for (const ExternalTask& external : lowered->externals) {
      llvm::SmallString<256> file(external.file);
      if (!llvm::sys::path::is_absolute(file)) {
        file = llvm::sys::path::parent_path(options.mapping);
        llvm::sys::path::append(file, external.file);
      }
      external::ExternalTask task{external.instance, std::string(file), {}, external.scratch, external.where};
      for (const Variable* size : external.variant->sizeParameters)
        task.sizes.emplace_back(size->name);
      for (const Variable* parameter : external.variant->parameters)
        task.parameters[std::string(parameter->name)] = parameter->location;
      externals.push_back(std::move(task));
    }
    if (!external::compileExternals(*lowered->module, externals, diagnostics,
                                    {options.includeDirectories, options.definitions, options.cpu}))
      return std::nullopt;
    return std::make_pair(std::move(lowered->module), std::move(lowered->record));
  }

private:
  std::unique_ptr<sequoia::Program> program_;
  std::optional<Mapping> mapping_; // the file's
};

/// What external tasks may call beside the runtime.
std::vector<target::Symbol> symbols() {
#define STRATA_SYMBOL(NAME) {#NAME, reinterpret_cast<void*>(&(NAME))}
  return {STRATA_SYMBOL(sqFreeArray),    STRATA_SYMBOL(sqAllocArray1D), STRATA_SYMBOL(sqAllocArray2D),
          STRATA_SYMBOL(sqAllocArray3D), STRATA_SYMBOL(sqAllocArray4D), STRATA_SYMBOL(sqAllocArray5D),
          STRATA_SYMBOL(sqAllocArray6D), STRATA_SYMBOL(sqAllocArray7D), STRATA_SYMBOL(sqAllocArray8D),
          STRATA_SYMBOL(sqAllocArray9D), STRATA_SYMBOL(sqRaiseError),   STRATA_SYMBOL(sqSetErrorHandler),
          STRATA_SYMBOL(sqIsFatal)};
#undef STRATA_SYMBOL
}

notation::Description describe() {
  notation::Description is;
  is.name = "Sequoia";
  is.article = "a";
  is.ending = ".sq";
  is.filesOfC = notation::FilesOfC::Main;
  is.filesOfCAbout = "the main of a Sequoia program";
  is.functionsHelp = "external tasks are named in the mapping file";
  is.isPreprocessed = true;
  is.choosesEntries = true;
  is.mappingForms = {{"braces", "the mapping is written with braces", {".map", ".txt"}},
                     {"xml", "the mapping is written as XML", {".xml"}}};
  is.choicesAbout = "tunables and leaves of Sequoia programs, and how their loops are distributed and move blocks";
  is.templateAbout = "write a mapping of the program's every tunable, loop, array and call, with the values left to be "
                     "filled in; not with --map";
  is.pictures = {"tasks", "instances", "mapping"};
  is.examples = {
      {"",
       "A first run:\n"
       "  strata run examples/sequoia/vectadd/vectadd.sq --size N=1000000 --in A=random --in B=random --out C=C.npy\n"
       "The same on a simulated machine with explicit local stores:\n"
       "  strata run examples/sequoia/vectadd/vectadd.sq --machine cell --size N=1000000 --in A=random --in B=random "
       "--stats\n"},
      {"run",
       "  strata run examples/sequoia/vectadd/vectadd.sq --size N=1000000 --in A=random --in B=1 --out C=C.npy\n"
       "  strata run examples/sequoia/vectadd/vectadd.sq --machine cell --size N=100000 --in A=iota --in B=1 --stats\n"
       "  strata run examples/sequoia/vectadd/vectadd.sq --size N=1000 --in A=random --in B=random --check\n"},
      {"check", "  strata check examples/sequoia/vectadd/vectadd.sq\n"
                "  strata check examples/sequoia/vectadd/vectadd.sq --map examples/sequoia/vectadd/cell.map\n"},
      {"build", "  strata build examples/sequoia/vectadd/vectadd.sq -o vectadd.so\n"
                "  strata build examples/project/smooth.sq --map examples/project/smooth.map "
                "--main examples/project/main.c -o smooth\n"},
      {"map",
       "  strata map examples/sequoia/vectadd/vectadd.sq --machine cell -o cell.map\n"
       "  strata map examples/sequoia/vectadd/vectadd.sq --machine cell --template\n"
       "  strata map examples/sequoia/vectadd/vectadd.sq --map examples/sequoia/vectadd/cell.map --format=xml\n"},
      {"tune",
       "  strata tune examples/sequoia/matmul/matmul.sq --size M=256,N=256,P=256 --time 5\n"
       "  strata tune examples/sequoia/vectadd/vectadd.sq --size N=1000000 --time 5 -o fast.map --search search.svg\n"},
      {"show", "  strata show examples/sequoia/vectadd/vectadd.sq --machine cell --size N=100000 -o vectadd.html\n"}};
  is.doesNotFit = "sequoia-does-not-fit";
  is.sizeMismatch = "sequoia-size-mismatch";
  is.symbols = symbols();
  is.interface = &external::arrayInterface();
  return is;
}

class SequoiaNotation : public notation::Notation {
public:
  const notation::Description& description() const override { return description_; }

  std::unique_ptr<notation::Program> read(BufferId file, const notation::Options& options,
                                          DiagnosticEngine& diagnostics) const override {
    PreprocessOptions preprocessing;
    preprocessing.includeDirectories = options.includeDirectories;
    preprocessing.definitions = options.definitions;
    auto program = readProgram(file, diagnostics, preprocessing);
    return program ? std::make_unique<SequoiaProgram>(std::move(program)) : nullptr;
  }

private:
  const notation::Description description_ = describe();
};

} // namespace

const notation::Notation& notation() {
  static const SequoiaNotation notation;
  return notation;
}

} // namespace strata::sequoia
