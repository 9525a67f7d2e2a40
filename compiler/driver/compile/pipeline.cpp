// The whole compilation from top to bottom. The order of the passes, and why each stands where it does, is written here
// and nowhere else.
#include "compiler/driver/compile/pipeline.h"

#include "compiler/driver/compile/division.h"
#include "compiler/driver/compile/fit.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/driver/compile/part_code.h"
#include "compiler/driver/compile/pass_watch.h"
#include "compiler/equations/dialect/lower_equations.h"
#include "compiler/equations/dialect/verify_kernels.h"
#include "compiler/ir/canonicalize.h"
#include "compiler/ir/check_text.h"
#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/verify_logical.h"
#include "compiler/kernel/optimize.h"
#include "compiler/mapping/place.h"
#include "compiler/target/processor.h"
#include "compiler/target/registry/registry.h"
#include "compiler/transform/count_accesses.h"
#include "compiler/transform/distribute.h"
#include "compiler/transform/eliminate_copies.h"
#include "compiler/transform/expand_reductions.h"
#include "compiler/transform/fuse_multiply_add.h"
#include "compiler/transform/guard_accesses.h"
#include "compiler/transform/hoist_copies.h"
#include "compiler/transform/in_place.h"
#include "compiler/transform/instrument.h"
#include "compiler/transform/keep_loops.h"
#include "compiler/transform/pipeline_loops.h"
#include "compiler/transform/plain_arithmetic.h"
#include "compiler/transform/prove_in_range.h"
#include "compiler/transform/prove_no_overflow.h"
#include "compiler/transform/restore_dimensions.h"
#include "compiler/transform/split_barriers.h"
#include "compiler/transform/unroll_loops.h"
#include "compiler/transform/use_equalities.h"
#include "runtime/core/progress.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace mlir;
using strata::svm::SvmDialect;

namespace strata::driver {

STRATA_DIAGNOSTIC(unknownNotation, Error, "driver-unknown-notation", "'{0}' is in no notation that this version reads");
STRATA_DIAGNOSTIC(noFunctions, Error, "driver-no-functions", "'{0}' takes no files of C functions, such as '{1}'");
STRATA_DIAGNOSTIC(cannotRead, Error, "driver-cannot-read", "cannot read '{0}': {1}");
STRATA_DIAGNOSTIC(notLogical, Error, "driver-not-logical", "'{0}' is a {1} program; programs enter in logical form");
STRATA_DIAGNOSTIC(badMapping, Error, "driver-bad-mapping-attribute", "the program's mapping does not read: {0}");
STRATA_DIAGNOSTIC(otherMachine, Warning, "driver-other-machine",
                  "the program was mapped to machine '{0}' as it was described then; the description has changed");
STRATA_DIAGNOSTIC(otherMapping, Warning, "driver-mapping-of-other-machine",
                  "the mapping is for machine '{0}', and the program goes onto '{1}'");
STRATA_DIAGNOSTIC(nestedTooDeeply, Error, "driver-nested-too-deeply", "the program is nested too deeply here");
STRATA_DIAGNOSTIC(usedBeforeDefined, Error, "driver-used-before-defined", "'{0}' is used before it is defined");
STRATA_DIAGNOSTIC(noEntry, Error, "driver-no-entry", "the program has no entry point");
STRATA_DIAGNOSTIC(unknownEntry, Error, "driver-unknown-entry", "the program has no entry point '{0}'");
STRATA_DIAGNOSTIC(severalEntries, Error, "driver-several-entries", "the program has several entry points");
STRATA_DIAGNOSTIC(passFailed, Error, "driver-internal",
                  "a compilation phase failed on a program that was checked; this is an error of Strata");
STRATA_DIAGNOSTIC(noMappingForm, Error, "driver-no-mapping-form",
                  "a program in the dialect has no mapping form of its own");
STRATA_DIAGNOSTIC(noView, Error, "driver-no-view", "'{0}' is in a notation that has no view '{1}'");
STRATA_DIAGNOSTIC(noTargetForm, Error, "driver-no-target-form", "target '{0}' writes no mapping in the form '{1}'");
STRATA_DIAGNOSTIC(unusedArrayOption, Error, "driver-array-options",
                  "nothing of '{0}' goes onto a processor array on machine '{1}'");
STRATA_DIAGNOSTIC(arrayMapping, Error, "driver-array-mapping",
                  "the program goes onto the processor array of '{0}', which takes no mapping file");
STRATA_DIAGNOSTIC(otherForm, Error, "driver-other-mapping-form", "'{0}' has no mapping in the form '{1}'");
STRATA_DIAGNOSTIC(noTree, Error, "driver-no-tree", "a program in the dialect has no syntax tree");

struct Compiler::Source {
  BufferId file;
  std::unique_ptr<notation::Program> notation; // null: a program in the dialect
};

static bool isC(llvm::StringRef file) {
  return llvm::is_contained({".c", ".cc", ".cpp", ".cxx", ".C"}, llvm::sys::path::extension(file));
}

static bool isLlvmIr(llvm::StringRef file) {
  return llvm::is_contained({".ll", ".bc"}, llvm::sys::path::extension(file));
}

/// The program of a notation, read and checked. Null when it is wrong (reported), and for programs in the dialect.
static std::unique_ptr<notation::Program> readProgram(BufferId file, const CompileOptions& options,
                                                      DiagnosticEngine& diagnostics) {
  const notation::Notation* notation = notation::notationOf(options.program);
  if (!options.functions.empty() && !takesFunctions(options.program)) {
    const notation::Description* description = descriptionOf(options.program);
    diagnostics.report(noFunctions, options.functionsPlace, options.program, options.functions.front())
        .help(
            description
                ? description->functionsHelp
                : llvm::join(ofNotations([](const notation::Description& each) { return each.functionsHelp; }), "; "));
  }
  if (notation)
    return notation->read(file, options, diagnostics);
  if (!isDialect(options.program))
    diagnostics.report(unknownNotation, options.programPlace, options.program)
        .help(
            isC(options.program)
                ? "strata cc and strata c++ compile C and C++ with dataflow graphs, as cc and c++ do: strata cc -O2 " +
                      options.program + " -o PROGRAM"
            : isSymbolic(options.program)
                ? "it is what a program becomes for a processor array: strata instantiate " + options.program +
                      " --size … shows it for sizes, with -o FILE.html as a page, and strata run executes it"
            : isLlvmIr(options.program)
                ? "LLVM IR is read where it holds dataflow graphs, by strata run, check and build"
                : llvm::join(ofNotations([](const notation::Description& each) {
                               return each.name + " programs end in " + each.ending;
                             }),
                             ", ") +
                      ", programs in the dialect in .mlir, and the LLVM IR of programs with graphs in .ll or .bc");
  return nullptr;
}

/// "HBIR programs have groups and layout".
static std::string viewsOfNotations() {
  return llvm::join(ofNotations([](const notation::Description& each) {
                      return each.views.empty() ? "" : each.name + " programs have " + listed(each.views, "and");
                    }),
                    "; ");
}

/// The place of a module, or the beginning of the program that it was made of.
static Location placeOf(ModuleOp module, BufferId program, const SourceManager& sources) {
  const Location where = sourceLocation(sources, module.getLoc());
  return where.valid() ? where : Location{program, 0, 0};
}

Compiler::Compiler(MLIRContext& context, DiagnosticEngine& diagnostics, CompileOptions options)
    : context_(context), diagnostics_(diagnostics), options_(std::move(options)), source_(std::make_unique<Source>()) {
  tell("reading");
  std::string error;
  source_->file = diagnostics_.sources().load(options_.program, SourceKind::Program, error);
  if (!source_->file.valid()) {
    diagnostics_.report(cannotRead, options_.programPlace, options_.program, error);
    return;
  }
  source_->notation = readProgram(source_->file, options_, diagnostics_);
  isChecked_ = source_->notation != nullptr;
}

Compiler::Compiler(NoFile, MLIRContext& context, DiagnosticEngine& diagnostics, CompileOptions options)
    : context_(context), diagnostics_(diagnostics), options_(std::move(options)), source_(std::make_unique<Source>()),
      isChecked_(true) {}

Compiler::~Compiler() = default;

std::optional<Machine> Compiler::machine(const std::string& named, Location where) {
  std::string name = options_.machine;
  // A file is a machine of the user's own, perhaps one that is nearly the mapping's.
  const bool isName = llvm::StringRef(name).find_first_of("/.") == llvm::StringRef::npos;
  if (!name.empty() && isName && where.valid() && !named.empty() && llvm::sys::path::stem(named) != name)
    diagnostics_.report(otherMapping, where, named, name)
        .label(options_.machinePlace, "chosen here")
        .help("leave --machine out, or give a mapping that is for it");
  if (name.empty())
    name = named;
  else
    where = options_.machinePlace;
  const char* environment = std::getenv("STRATA_MACHINE");
  if (name.empty() && environment) {
    name = environment;
    where = {diagnostics_.sources().add("STRATA_MACHINE", name, SourceKind::CommandLine), 0,
             static_cast<uint32_t>(name.size())};
  }
  // The machine is what this computer is, not how many threads it may use: a mapping must not depend on that.
  if (name.empty())
    return describeHost();
  return loadMachine(name, options_.machinePath, diagnostics_, where);
}

bool Compiler::check() {
  if (diagnostics_.hasErrors())
    return false;
  if (source_->notation && options_.mapping.empty() && options_.sizes.empty() && options_.shapes.empty()) {
    // Read and checked already. A mapping is made for sizes, but that there is such a machine can be told.
    const notation::Program& notation = *source_->notation;
    if (options_.machine.empty() && options_.target.empty() && !std::getenv("STRATA_MACHINE"))
      return true;
    auto onto = machine(notation.machineName(), notation.machinePlace());
    return onto && target::targetOf(*onto, options_.target, options_.targetPlace, diagnostics_);
  }
  auto program = logical();
  if (!program || !source_->notation)
    return program.has_value();
  // Sizes that a run is given bound blocks and loops. Without them only what holds for all sizes is looked at.
  if (options_.sizes.empty() && options_.shapes.empty())
    return mapping::place(*program->module, program->record, program->machine, diagnostics_) &&
           mapping::verifyPlaced(*program->module, program->machine, diagnostics_);
  if (options_.target.empty() && PartCode::isNeeded(*program))
    return compile(*program, 0, {}) != nullptr;
  return place(*program) && schedule(*program) &&
         (program->target->takes() != svm::Stage::Scheduled ||
          program->target->supports({*program->module, program->machine}, diagnostics_));
}

std::string Compiler::syntaxTree() {
  if (diagnostics_.hasErrors())
    return "";
  if (source_->notation)
    return source_->notation->syntaxTree();
  diagnostics_.report(noTree, options_.programPlace);
  return "";
}

/// Nothing where the target decides nothing that could be written; empty on errors (reported).
std::optional<std::string> Compiler::targetsMapping() {
  const bool isNotation = source_->notation != nullptr;
  if (isNotation && !options_.mapping.empty() && !descriptionOf(options_.program)->mayBeMappedByTargets)
    return std::nullopt;
  auto onto =
      isNotation ? machine(source_->notation->machineName(), source_->notation->machinePlace()) : machine("", {});
  const target::Target* target =
      onto ? target::targetOf(*onto, options_.target, options_.targetPlace, diagnostics_) : nullptr;
  if (!target)
    return "";
  const llvm::ArrayRef<target::Form> forms = target->mappingForms();
  if (forms.empty())
    return std::nullopt;
  auto program = logical();
  if (!program)
    return "";
  if (!target->maps(*program->module))
    return std::nullopt;
  const std::string form = options_.mappingForm.empty() ? forms.front().name.str() : options_.mappingForm;
  if (llvm::none_of(forms, [&](const target::Form& each) { return each.name == form; })) {
    std::vector<std::string> names;
    for (const target::Form& each : forms)
      names.push_back(each.name.str());
    diagnostics_.report(noTargetForm, options_.mappingFormPlace, target->name().str(), form)
        .help("it writes " + listed(names));
    return "";
  }
  auto artefact = compile(*program, 0, {});
  return artefact ? artefact->text(form).value_or("") : "";
}

/// The form that a mapping is asked for in is one of the notation's, where it has several.
bool Compiler::checkMappingForm() {
  const std::vector<notation::MappingForm>& forms = descriptionOf(options_.program)->mappingForms;
  const std::string& form = options_.mappingForm;
  if (form.empty() || forms.size() < 2 || llvm::any_of(forms, [&](const auto& each) { return each.name == form; }))
    return true;
  std::vector<std::string> names;
  for (const notation::MappingForm& each : forms)
    names.push_back(each.name);
  diagnostics_.report(otherForm, options_.mappingFormPlace, options_.program, form)
      .help("its mapping is written as " + listed(names));
  return false;
}

void Compiler::reportUnusedArrayOption(const Machine& machine) {
  diagnostics_.report(unusedArrayOption, options_.arrayPlace, options_.program, machine.name)
      .help("programs of loop equations do, on machines with a processor array: strata machine --list");
}

std::string Compiler::mappingText() {
  if (diagnostics_.hasErrors())
    return "";
  if (const auto text = targetsMapping(); text || diagnostics_.hasErrors())
    return text.value_or("");
  if (!source_->notation) {
    diagnostics_.report(noMappingForm, options_.programPlace).help("its mapping is the attribute 'svm.mapping'");
    return "";
  }
  if (!source_->notation->readMapping(options_, diagnostics_))
    return "";
  if (!checkMappingForm())
    return "";
  auto onto = machine(source_->notation->machineName(), source_->notation->machinePlace());
  if (onto && options_.arrayPlace.valid()) {
    reportUnusedArrayOption(*onto);
    return "";
  }
  if (onto)
    settleMapping(*onto);
  return onto ? source_->notation->mappingText(options_, *onto, diagnostics_) : "";
}

std::string Compiler::view(StringRef name) {
  if (diagnostics_.hasErrors())
    return "";
  auto text = source_->notation ? source_->notation->view(name, diagnostics_) : std::nullopt;
  if (!text && !diagnostics_.hasErrors())
    diagnostics_.report(noView, options_.programPlace, options_.program, name.str()).help(viewsOfNotations());
  return text.value_or("");
}

std::vector<Picture> Compiler::pictures() {
  if (diagnostics_.hasErrors())
    return {};
  if (!source_->notation) {
    diagnostics_.report(noView, options_.programPlace, options_.program, "pictures")
        .help(listed(notationsThat([](const notation::Description& each) { return !each.pictures.empty(); }), "and") +
              " programs have pictures");
    return {};
  }
  notation::Program& notation = *source_->notation;
  // A machine that is named is one, whether it is in the picture or not.
  if (!notation.readMapping(options_, diagnostics_) || (!options_.machine.empty() && !machine("", {})))
    return {};
  auto pictures = notation.pictures(
      options_, [&] { return machine(notation.machineName(), notation.machinePlace()); }, diagnostics_);
  if (pictures.empty() && !diagnostics_.hasErrors())
    diagnostics_.report(noView, options_.programPlace, options_.program, "pictures");
  return pictures;
}

std::optional<Machine> Compiler::ownMachine() {
  if (diagnostics_.hasErrors())
    return std::nullopt;
  auto own = source_->notation ? source_->notation->ownMachine(diagnostics_) : std::nullopt;
  if (!own && !diagnostics_.hasErrors())
    diagnostics_.report(noView, options_.programPlace, options_.program, "machine")
        .help(listed(notationsThat([](const notation::Description& each) { return each.describesMachine; }), "and") +
              " programs describe the machine they are for");
  return own;
}

std::vector<TunableInUse> Compiler::tunables() {
  const auto onto = source_->notation ? usedMachine() : std::nullopt;
  return onto ? source_->notation->tunables(options_, *onto, diagnostics_) : std::vector<TunableInUse>();
}

std::vector<notation::Choice> Compiler::choices() {
  const auto onto = usedMachine();
  if (!onto || !source_->notation)
    return {};
  settleMapping(*onto);
  return source_->notation->choices(options_, *onto, diagnostics_);
}

std::optional<Machine> Compiler::usedMachine() {
  if (diagnostics_.hasErrors())
    return std::nullopt;
  if (!source_->notation)
    return machine("", {});
  if (!source_->notation->readMapping(options_, diagnostics_))
    return std::nullopt;
  return machine(source_->notation->machineName(), source_->notation->machinePlace());
}

std::map<std::string, int64_t> Compiler::knownSizes() const {
  return source_->notation ? source_->notation->sizes(options_) : options_.sizes;
}

bool Compiler::isMappedByDefault() const {
  return source_->notation && options_.mapping.empty();
}

bool Compiler::hasFixedSizes() const {
  return source_->notation && source_->notation->hasFixedSizes();
}

std::optional<LogicalProgram> Compiler::fromNotation() {
  if (!source_->notation->readMapping(options_, diagnostics_))
    return std::nullopt;
  auto onto = machine(source_->notation->machineName(), source_->notation->machinePlace());
  if (!onto)
    return std::nullopt;
  tell("finding a mapping", "for");
  settleMapping(*onto);
  tell("lowering");
  auto lowered = source_->notation->lower(options_, *onto, context_, diagnostics_);
  if (!lowered)
    return std::nullopt;
  return withTarget(std::move(lowered->first), std::move(lowered->second), std::move(*onto));
}

OwningOpRef<ModuleOp> Compiler::lowered() {
  if (diagnostics_.hasErrors())
    return {};
  if (!source_->notation) {
    auto program = logical();
    return program ? std::move(program->module) : OwningOpRef<ModuleOp>();
  }
  DiagnosticEngine quiet(diagnostics_.sources());
  if (!source_->notation->readMapping(options_, quiet))
    return {};
  const auto onto = machine(source_->notation->machineName(), source_->notation->machinePlace());
  auto made = onto ? source_->notation->lower(options_, *onto, context_, quiet) : std::nullopt;
  return made ? std::move(made->first) : OwningOpRef<ModuleOp>();
}

std::optional<LogicalProgram> Compiler::withTarget(OwningOpRef<ModuleOp> module, mapping::Record record,
                                                   Machine machine) {
  const target::Target* target = target::targetOf(machine, options_.target, options_.targetPlace, diagnostics_);
  if (!target)
    return std::nullopt;
  return LogicalProgram{std::move(module), std::move(record), std::move(machine), target};
}

/// A default mapping aims at filling the memories; where that was too much, one that aims at less is used.
void Compiler::settleMapping(const Machine& machine) {
  bool isLimited = false;
  for (uint32_t number = 0; number < machine.memories.size(); ++number)
    isLimited |= machine.isStore(machine::MemoryId{number});
  if (!isLimited || isSettled_ || options_.isTrial || !source_->notation->canShrink())
    return;
  isSettled_ = true;
  options_.halvings = halvingsNeeded(options_);
}

std::optional<LogicalProgram> Compiler::fromDialect() {
  const SourceBuffer& buffer = diagnostics_.sources().buffer(source_->file);
  if (auto problem = svm::checkText(buffer.text())) {
    Location where{source_->file, static_cast<uint32_t>(problem->begin), static_cast<uint32_t>(problem->end)};
    if (problem->kind == svm::TextProblem::NestedTooDeeply)
      diagnostics_.report(nestedTooDeeply, where).help("move inner parts to functions of their own");
    else
      diagnostics_.report(usedBeforeDefined, where,
                          std::string(buffer.text().substr(problem->begin, problem->end - problem->begin)));
    return std::nullopt;
  }
  ParserConfig config(&context_);
  auto module = parseSourceString<ModuleOp>(buffer.text(), config, buffer.name());
  if (!module)
    return std::nullopt;
  if (svm::Stage stage = svm::stageOf(*module); stage != svm::Stage::Logical) {
    diagnostics_.report(notLogical, options_.programPlace, options_.program, svm::stringifyStage(stage).str())
        .help("write it with --emit=svm");
    return std::nullopt;
  }
  std::string named;
  if (auto name = (*module)->getAttrOfType<StringAttr>(SvmDialect::machineAttr))
    named = name.getValue().str();
  auto onto = machine(named, {});
  if (!onto)
    return std::nullopt;
  mapping::Record record;
  auto hash = (*module)->getAttrOfType<StringAttr>(SvmDialect::machineHashAttr);
  auto attribute = (*module)->getAttrOfType<DictionaryAttr>(SvmDialect::mappingAttr);
  // A mapping belongs to the machine it was made for. On another one, the program is placed anew.
  if (attribute && (named.empty() || named == onto->name)) {
    std::string error;
    auto read = mapping::fromAttribute(attribute, error);
    if (!read) {
      diagnostics_.report(badMapping, placeOf(*module, source_->file, diagnostics_.sources()), error);
      return std::nullopt;
    }
    record = std::move(*read);
    if (hash && hash.getValue() != contentHash(*onto))
      diagnostics_.report(otherMachine, options_.programPlace, onto->name);
  }
  return withTarget(std::move(module), std::move(record), std::move(*onto));
}

std::optional<LogicalProgram> Compiler::logical() {
  if (diagnostics_.hasErrors())
    return std::nullopt;
  auto program = verified(source_->notation ? fromNotation() : fromDialect());
  const bool goesOntoArray = program && program->target->maps(*program->module);
  if (program && options_.arrayPlace.valid() && !goesOntoArray) {
    reportUnusedArrayOption(program->machine);
    return std::nullopt;
  }
  if (goesOntoArray && !options_.mapping.empty()) {
    diagnostics_.report(arrayMapping, options_.mappingPlace, program->machine.name)
        .help("leave --map out; --tile, --row and their like say how (strata run --help)");
    return std::nullopt;
  }
  return program;
}

std::optional<LogicalProgram> Compiler::adopt(OwningOpRef<ModuleOp> module, mapping::Record record, Machine machine) {
  return verified(withTarget(std::move(module), std::move(record), std::move(machine)));
}

std::optional<LogicalProgram> Compiler::verified(std::optional<LogicalProgram> program) {
  if (!program)
    return std::nullopt;
  ModuleOp module = *program->module;
  if (failed(verify(module)) || failed(svm::verifyLogical(module)) || !equations::verifyKernels(module, diagnostics_))
    return std::nullopt;
  bool fine = runPasses(module, [](PassManager& passes) {
    // Multiply-adds are fused here, once, by the language's rule; nothing later contracts.
    passes.addPass(transform::createFuseMultiplyAddPass());
  });
  return fine ? std::move(program) : std::nullopt;
}

void Compiler::tell(const char* phase, const char* preposition) const {
  if (options_.isTrial)
    return;
  runtime::tellProgress(std::string(phase) + (*preposition ? " " : "") + preposition + " " + options_.program);
  if (options_.watch)
    options_.watch->begin(phase);
}

void Compiler::prepare(PassManager& passes) const {
  passes.enableVerifier(options_.verifyEach);
  if (options_.watch && !options_.isTrial)
    options_.watch->watch(passes);
}

bool Compiler::runPasses(ModuleOp module, llvm::function_ref<void(PassManager&)> add) {
  PassManager passes(&context_);
  prepare(passes);
  add(passes);
  if (succeeded(passes.run(module)))
    return true;
  diagnostics_.report(passFailed, {});
  return false;
}

bool Compiler::place(LogicalProgram& program, Instrumentation instrumentation) {
  tell("placing");
  equations::Division division = takeDivision(*program.module, program.machine, program.record);
  if (!runPasses(*program.module, [&](PassManager& passes) {
        passes.addPass(equations::createLowerEquationsPassFor(division));
        passes.addPass(transform::createSplitBarriersPass());
      }))
    return false;
  leaveOutUndivided(program.record, division, *program.module, diagnostics_);
  if (instrumentation == Instrumentation::Count &&
      !runPasses(*program.module, [](PassManager& passes) { passes.addPass(transform::createCountAccessesPass()); }))
    return false;
  if (!mapping::place(*program.module, program.record, program.machine, diagnostics_) ||
      !mapping::verifyPlaced(*program.module, program.machine, diagnostics_))
    return false;
  // Index checks are proved after placement, which refers to operations that this may find unused, and before loops are
  // distributed: what holds for all iterations holds for every part of them.
  bool fine = runPasses(*program.module, [&](PassManager& passes) {
    // Before MLIR's own passes see the program: flags of arithmetic that nobody has proved are dropped.
    passes.addPass(transform::createPlainArithmeticPass());
    passes.addPass(transform::createKeepLoopsPass());
    // A front end has made its language's checks explicit; a program written in the dialect gets its checks here.
    if (!isChecked_)
      passes.addPass(transform::createGuardAccessesPass());
    // Sizes that are checked to be equal become one, which folds checks and bounds further down.
    passes.addPass(svm::createCommonSubexpressionsPass());
    passes.addPass(transform::createUseEqualitiesPass());
    passes.addPass(svm::createCommonSubexpressionsPass());
    passes.addPass(svm::createCanonicalizePass());
    passes.addPass(transform::createProveInRangePass());
    passes.addNestedPass<svm::KernelOp>(transform::createRestoreDimensionsPass());
    passes.addPass(transform::createProveNoOverflowPass());
  });
  // Sizes have become constants where the program and the mapping say so.
  return fine && mapping::checkFlattening(*program.module, diagnostics_);
}

bool Compiler::schedule(LogicalProgram& program, Instrumentation instrumentation) {
  tell("scheduling");
  ModuleOp module = *program.module;
  if (!runPasses(module, [&](PassManager& passes) {
        // Reductions before distribution: their private copies belong to the parts that distribution makes.
        passes.addPass(transform::createExpandReductionsPass());
        passes.addPass(transform::createDistributePass());
        // Copies within one memory go first; what is left between memories moves out of loops.
        passes.addPass(transform::createEliminateCopiesPass());
        passes.addPass(svm::createCommonSubexpressionsPass());
        passes.addPass(transform::createHoistCopiesPass());
        // A block that has moved out may now mirror a view in its own memory.
        passes.addPass(transform::createEliminateCopiesPass());
        // Figures and spans stand beside the moves and runs that they count, once it is decided which copies are made.
        passes.addPass(instrumentation == Instrumentation::Count ? transform::createInstrumentPass()
                                                                 : transform::createEraseCountsPass());
        // Loops are pipelined when it is decided which copies they make, and with their figures in place: a transfer
        // that is started ahead is counted in the iteration that it is for. Unrolling comes last: it copies the
        // bodies of pipelined loops.
        passes.addPass(svm::createCanonicalizePass());
        passes.addPass(transform::createPipelineLoopsPassFor(program.machine));
        passes.addPass(transform::createUnrollLoopsPass());
        passes.addPass(transform::createInPlacePassFor(program.machine, instrumentation == Instrumentation::Count));
        // All moves, runs and waits that a trace names are there by now.
        if (instrumentation == Instrumentation::Trace)
          passes.addPass(transform::createTracePass());
        passes.addPass(svm::createCanonicalizePass());
        passes.addPass(svm::createCommonSubexpressionsPass());
        // Kernels last: the code around them does not change any more.
        kernel::addOptimizationPasses(passes);
      }))
    return false;
  return assignAddresses(program) && mapping::verifyScheduled(module, program.machine, diagnostics_);
}

/// Schedules; what does not fit is reported with a tunable with which it would.
bool Compiler::assignAddresses(LogicalProgram& program) {
  std::vector<mapping::Overflow> overflows;
  DiagnosticEngine reported(diagnostics_.sources());
  const bool fits = mapping::schedule(*program.module, program.machine, reported, &overflows);
  size_t next = 0;
  for (Diagnostic diagnostic : reported.all()) {
    if (StringRef(diagnostic.kind->code) == "schedule-does-not-fit" && next < overflows.size()) {
      const mapping::Overflow& overflow = overflows[next++];
      const notation::Program* notation = source_->notation.get();
      auto valueOf = [&](StringRef name, StringRef instance) -> std::optional<int64_t> {
        auto known = notation->tunable(instance, name);
        return known ? std::optional(known->first) : std::nullopt;
      };
      if (auto other = notation && !options_.isTrial ? fittingTunable(options_, overflow, valueOf) : std::nullopt) {
        auto known = notation->tunable(other->instance, other->name);
        diagnostic.labels.push_back({known->second, "with " + std::to_string(other->value) + " here it fits"});
        diagnostic.helps.push_back("with " + other->name + " = " + std::to_string(other->value) + " in instance '" +
                                   other->instance + "' it fits (" + std::to_string(other->bytes) + " of " +
                                   std::to_string(overflow.capacity) + " bytes)");
      }
    }
    diagnostics_.add(std::move(diagnostic));
  }
  return fits;
}

std::unique_ptr<target::Artefact> Compiler::compile(LogicalProgram& program, unsigned optimization,
                                                    const target::NativeFunctions& natives,
                                                    Instrumentation instrumentation, DiagnosticEngine* saidByTarget) {
  DiagnosticEngine& said = saidByTarget ? *saidByTarget : diagnostics_;
  const target::Target& target = *program.target;
  // Processors of other targets run kernels that those targets compile, from the program as it is now. A target that
  // was asked for by name runs all of it.
  OwningOpRef<ModuleOp> logical;
  if (options_.target.empty() && PartCode::isNeeded(program))
    logical = program.module->clone();
  if ((target.takes() != svm::Stage::Logical && !place(program, instrumentation)) ||
      (target.takes() == svm::Stage::Scheduled && !schedule(program, instrumentation)))
    return nullptr;
  target::Program given{*program.module, program.machine};
  if (logical) {
    auto parts = PartCode::compile(*logical, *program.module, program, *this, optimization, diagnostics_);
    if (!parts)
      return nullptr;
    given.parts = parts_.emplace_back(std::move(parts))->parts();
  }
  if (!target.supports(given, said))
    return nullptr;
  target::Settings settings;
  settings.optimization = optimization;
  settings.instrumentation = instrumentation;
  settings.sanitizers = options_.sanitizers;
  settings.processor = options_.processor;
  if (!settings.processor && !options_.cpu.empty()) {
    settings.processor = target::processorOf(options_.cpu, diagnostics_, options_.cpuPlace);
    if (!settings.processor)
      return nullptr;
  }
  settings.symbols = symbolsOfNotations();
  settings.verifies = options_.verifyEach;
  settings.array = options_.array;
  settings.sizes = options_.sizes;
  settings.prepare = [this](PassManager& passes) { prepare(passes); };
  settings.begin = [this](const char* phase) { tell(phase); };
  tell("translating");
  return target.compile(given, settings, natives, said);
}

std::string Compiler::entryName(ModuleOp module) {
  std::vector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(SvmDialect::entryAttr))
      names.push_back(function.getName().str());
  if (names.empty()) {
    diagnostics_.report(noEntry, placeOf(module, source_->file, diagnostics_.sources()))
        .help("give the function that is to be called the attribute svm.entry (docs/dialect.md)");
    return "";
  }
  std::string list;
  for (const std::string& name : names)
    list += (list.empty() ? "" : ", ") + name;
  if (options_.entry.empty()) {
    if (names.size() == 1)
      return names.front();
    diagnostics_.report(severalEntries, options_.programPlace).help("choose one with --entry: " + list);
    return "";
  }
  if (llvm::is_contained(names, options_.entry))
    return options_.entry;
  // A notation's entry point may be named by its task; then the instance made of it is meant when there is one only.
  if (source_->notation && names.size() == 1)
    return names.front();
  diagnostics_.report(unknownEntry, options_.entryPlace, options_.entry).help("there are: " + list);
  return "";
}

} // namespace strata::driver
