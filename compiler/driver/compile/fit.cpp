// Trials go through the whole front half of the compilation, down to addresses, so that what is said to fit does.
#include "compiler/driver/compile/fit.h"

#include "compiler/driver/compile/notations.h"

#include "compiler/ir/locations.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace strata::driver {

namespace {

constexpr unsigned mostHalvings = 6;
constexpr unsigned mostTrials = 16;

} // namespace

Trial tryToFit(CompileOptions options) {
  options.isTrial = true;
  // Of sources that are not these.
  options.entryPlace = options.programPlace = options.mappingPlace = options.machinePlace = options.targetPlace = {};
  options.functionsPlace = options.mappingFormPlace = options.arrayPlace = {};
  options.sizePlaces.clear();
  for (auto& [name, where] : options.otherEntries)
    where = {};
  SourceManager sources;
  DiagnosticEngine quiet(sources);
  DialectRegistry registry;
  svm::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  MlirDiagnostics forward(context, quiet);
  context.loadAllAvailableDialects();
  Compiler compiler(context, quiet, options);
  Trial trial;
  auto program = compiler.logical();
  trial.fits = program && compiler.place(*program) && compiler.schedule(*program);
  const notation::Description* notation = descriptionOf(options.program);
  for (const Diagnostic& diagnostic : quiet.all()) {
    StringRef code = diagnostic.kind->code;
    trial.overflows |= code == "schedule-does-not-fit" || (notation && code == notation->doesNotFit);
  }
  if (trial.fits)
    program->module->walk([&](svm::BlockOp block) {
      machine::MemoryId id = program->machine.memory(svm::memoryOf(block.getBlock().getType()).str());
      if (!id.valid() || !program->machine.isStore(id) || !block.getAddress())
        return;
      const machine::Memory& memory = program->machine[id];
      int64_t& bytes = trial.bytes[memory.name];
      bytes = std::max<int64_t>(bytes, static_cast<int64_t>(*block.getAddress()) +
                                           block.maxBytes(static_cast<int64_t>(memory.alignment)).value_or(0));
    });
  return trial;
}

unsigned halvingsNeeded(const CompileOptions& options) {
  CompileOptions smaller = options;
  for (unsigned halvings = 0; halvings <= mostHalvings; ++halvings) {
    smaller.halvings = halvings;
    Trial trial = tryToFit(smaller);
    if (trial.fits)
      return halvings;
    if (!trial.overflows)
      break;
  }
  return 0;
}

std::optional<FittingTunable> fittingTunable(const CompileOptions& options, const mapping::Overflow& overflow,
                                             llvm::function_ref<std::optional<int64_t>(StringRef, StringRef)> valueOf) {
  unsigned trials = 0;
  std::set<std::pair<std::string, std::string>> tried;
  for (const mapping::Overflow::Held& held : overflow.held)
    for (const auto& [name, instance] : held.sizedBy) {
      std::optional<int64_t> value = valueOf(name, instance);
      if (!value || *value < 2 || !tried.insert({name, instance}).second)
        continue;
      CompileOptions changed = options;
      std::optional<FittingTunable> found;
      auto attempt = [&](int64_t candidate) {
        ++trials;
        changed.chosen[{instance, name}] = candidate;
        Trial trial = tryToFit(changed);
        if (trial.fits)
          found = FittingTunable{name, instance, candidate, trial.bytes[overflow.memory]};
        return trial.fits;
      };
      // From what fits in proportion, upwards while it fits, else downwards until it does.
      const __int128 proportion =
          static_cast<__int128>(*value) * overflow.capacity / std::max<int64_t>(overflow.wanted, 1);
      const auto most = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(*value - 1)));
      int64_t candidate =
          static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(std::max<__int128>(proportion, 1))));
      candidate = std::min(candidate, most);
      if (attempt(candidate))
        while (trials < mostTrials && candidate * 2 <= most && attempt(candidate *= 2)) {
        }
      else
        while (trials < mostTrials && candidate > 1 && !attempt(candidate /= 2)) {
        }
      if (found || trials >= mostTrials)
        return found;
    }
  return std::nullopt;
}

} // namespace strata::driver
