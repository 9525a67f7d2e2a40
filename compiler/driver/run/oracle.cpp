// The interpreter behind the command.
#include "compiler/driver/run/oracle.h"

#include "compiler/interpret/packed.h"
#include "compiler/ir/locations.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace strata::driver {

STRATA_DIAGNOSTIC(undefined, Error, "check-undefined", "{1} of '{0}' has no value: nothing wrote it");
STRATA_DIAGNOSTIC(differsInC, Error, "check-differs-in-c",
                  "'{0}' differs from what the interpreter computes: {1} is {2} and should be {3}; the program calls "
                  "functions in C");
STRATA_DIAGNOSTIC(differs, Error, "check-differs",
                  "'{0}' differs from what the interpreter computes: {1} is {2} and should be {3}; this is an error of "
                  "Strata");

bool interpret(mlir::ModuleOp program, const EntryPoint& entry, Interpreted& run, const InterpretMode& mode,
               const NativeKernels& kernels, DiagnosticEngine& diagnostics) {
  interpret::Options options;
  for (const auto& [name, code] : kernels.functions())
    options.kernels[name] = interpret::standIn(code);
  run.callsC = !options.kernels.empty();
  options.trackUndefined = mode.strict;
  options.splitReductions = mode.splitReductions;
  options.maxSteps = mode.maxSteps;
  auto interpreter = interpret::Interpreter::create(program, diagnostics, options);
  if (!interpreter)
    return false;
  std::vector<interpret::Argument> arguments;
  for (size_t position = 0; position < entry.arguments.size(); ++position) {
    Array& array = run.binding.arrays[position];
    if (entry.arguments[position].isBlock) {
      arguments.push_back(interpret::Argument::block(array.data(), blockShape(entry.arguments[position], array)));
    } else if (array.type().kind == ElementType::Kind::Struct) {
      arguments.push_back(interpret::Argument::record(array.data()));
    } else {
      uint64_t bits = 0;
      std::memcpy(&bits, array.data(), array.bytes());
      arguments.push_back(interpret::Argument::bits(bits));
    }
  }
  bool fine = interpreter->call(entry.name, arguments);
  run.output = interpreter->output();
  run.steps = interpreter->statistics().steps;
  run.failure = interpreter->failure().code;
  for (size_t position = 0; fine && position < entry.arguments.size(); ++position) {
    run.hasValue.push_back(interpreter->hasValue(position));
    run.distances.push_back(interpreter->distances(position));
  }
  if (auto place = interpreter->notFiniteAt(); fine && place)
    run.notFiniteAt = sourceLocation(diagnostics.sources(), *place);
  if (auto place = interpreter->decidedAt(); fine && place) {
    run.decidedAt = sourceLocation(diagnostics.sources(), *place);
    run.decidedByNotFinite = interpreter->isDecidedByNotFinite();
    mlir::emitRemark(*place) << "what is computed from here on depends on the order "
                             << (run.decidedByNotFinite ? "of a reduction, which a NaN or an infinity has reached"
                                                        : "in which a reduction is rounded")
                             << "; numbers are compared only roughly";
  }
  return fine;
}

STRATA_DIAGNOSTIC(orderDecides, Warning, "check-order-decides",
                  "'{0}' differs from what the interpreter computes: {1} is {2}, and {3} there");

namespace {

double valueAt(const std::byte* at, const ScalarRun& run) {
  using Kind = ElementType::Kind;
  auto read = [&]<typename T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  };
  if (run.kind == Kind::Float)
    return run.bytes == 4 ? read(float()) : read(double());
  if (run.kind == Kind::UnsignedInteger)
    return run.bytes == 1   ? read(uint8_t())
           : run.bytes == 2 ? read(uint16_t())
           : run.bytes == 4 ? read(uint32_t())
                            : read(uint64_t());
  return run.bytes == 1   ? read(int8_t())
         : run.bytes == 2 ? read(int16_t())
         : run.bytes == 4 ? read(int32_t())
                          : read(int64_t());
}

} // namespace

std::optional<Difference> firstDifference(const Array& ours, const Array& oracle, const std::vector<double>& distances,
                                          bool rough) {
  if (std::memcmp(ours.data(), oracle.data(), ours.bytes()) == 0)
    return std::nullopt;
  auto runs = scalarRuns(ours.type());
  if (!runs)
    return std::nullopt;
  double largest = 0;
  auto forEach = [&](auto body) {
    for (uint64_t element = 0; element < ours.elements(); ++element)
      for (const ScalarRun& run : *runs)
        for (uint64_t number = 0; number < run.count; ++number)
          if (body(element, element * ours.type().bytes + run.offset + number * run.bytes, run))
            return;
  };
  forEach([&](uint64_t, uint64_t offset, const ScalarRun& run) {
    double value = std::fabs(valueAt(oracle.data() + offset, run));
    if (std::isfinite(value))
      largest = std::max(largest, value);
    return false;
  });
  std::optional<Difference> found;
  forEach([&](uint64_t element, uint64_t offset, const ScalarRun& run) {
    if (std::memcmp(ours.data() + offset, oracle.data() + offset, run.bytes) == 0)
      return false;
    double a = valueAt(ours.data() + offset, run), b = valueAt(oracle.data() + offset, run);
    double allowed = -1;
    if (run.kind == ElementType::Kind::Float) {
      if (std::isnan(a) && std::isnan(b))
        return false; // which NaN it is, no language says
      allowed = offset / 4 < distances.size() ? distances[offset / 4] : -1;
      // Beyond the format's largest number there is an infinity, in one order and not in another.
      const bool isRough = rough || !(allowed <= (run.bytes == 4 ? FLT_MAX : DBL_MAX));
      if (isRough)
        allowed = largest * (run.bytes == 4 ? 0x1p-10 : 0x1p-30);
      if (std::fabs(a - b) <= allowed)
        return false;
      if (isRough)
        allowed = -1;
    }
    found = {element, a, b, allowed};
    return true;
  });
  return found;
}

std::string numberText(double number) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", number);
  return text;
}

std::string elementText(const Array& array, uint64_t element) {
  if (array.shape().empty())
    return "it";
  std::string text;
  for (size_t dimension = array.shape().size(); dimension-- > 0;) {
    const auto extent = static_cast<uint64_t>(array.shape()[dimension]);
    text = std::to_string(element % extent) + (text.empty() ? "" : ", ") + text;
    element /= extent;
  }
  return "element [" + text + "]";
}

bool checkWritten(const EntryPoint& entry, const Interpreted& run, DiagnosticEngine& diagnostics) {
  bool fine = true;
  for (size_t position = 0; position < entry.arguments.size(); ++position) {
    const std::vector<bool>& hasValue = run.hasValue[position];
    auto missing = std::find(hasValue.begin(), hasValue.end(), false);
    if (missing == hasValue.end())
      continue;
    const auto element = static_cast<uint64_t>(missing - hasValue.begin());
    const auto count = std::count(hasValue.begin(), hasValue.end(), false);
    auto report = diagnostics.report(undefined, entry.arguments[position].where, entry.arguments[position].name,
                                     elementText(run.binding.arrays[position], element));
    if (count > 1)
      report.note(std::to_string(count) + " of its " + std::to_string(hasValue.size()) + " elements have none");
    report.help("write every element of an output, or take it as inout");
    fine = false;
  }
  return fine;
}

/// Where instances that run at once are given a block of all of them, to write to; nothing where none are.
static std::optional<Location> sharedAtOnce(mlir::ModuleOp program, DiagnosticEngine& diagnostics) {
  std::optional<Location> place;
  program.walk([&](svm::RunOp run) {
    auto loop = run->getParentOfType<svm::ParallelOp>();
    auto kernel = program.lookupSymbol<svm::KernelOp>(run.getKernel());
    if (place || !loop || !loop.getConcurrent() || !kernel)
      return;
    for (auto [position, argument] : llvm::enumerate(run.getArguments())) {
      auto block = mlir::dyn_cast<mlir::MemRefType>(argument.getType());
      if (block && !block.getMemorySpace() && kernel.access(static_cast<unsigned>(position)) != svm::Access::Read &&
          !loop->isAncestor(argument.getParentBlock()->getParentOp()))
        place = sourceLocation(diagnostics.sources(), run.getLoc());
    }
  });
  return place;
}

bool compare(mlir::ModuleOp program, const EntryPoint& entry, const Binding& run, const Interpreted& oracle,
             DiagnosticEngine& diagnostics) {
  bool reduces = false;
  program.walk([&](svm::ParallelOp loop) { reduces |= !loop.getReductions().empty(); });
  const bool rough = reduces && oracle.decidedAt;
  // Atomic updates of parallel iterations happen in any order; what they return, and how a sum is rounded, depends on
  // it.
  std::optional<Location> atomic;
  program.walk([&](mlir::memref::AtomicRMWOp update) {
    if (!atomic && (!update.getResult().use_empty() || mlir::isa<mlir::FloatType>(update.getType())))
      atomic = sourceLocation(diagnostics.sources(), update.getLoc());
  });
  // So do accesses by concurrent instances to a block that is not distributed; the interpreter does not watch those.
  const std::optional<Location> unordered = sharedAtOnce(program, diagnostics);
  static const std::vector<double> none;
  bool same = true;
  for (size_t position = 0; position < entry.arguments.size(); ++position) {
    if (!entry.arguments[position].written)
      continue;
    const std::vector<double>& distances = position < oracle.distances.size() ? oracle.distances[position] : none;
    if (auto found = firstDifference(run.arrays[position], oracle.binding.arrays[position], distances, rough)) {
      auto [element, ours, wanted, allowed] = *found;
      const std::string where = elementText(run.arrays[position], element);
      const std::vector<bool>& hasValue = oracle.hasValue[position];
      if (element < hasValue.size() && !hasValue[element]) {
        diagnostics.report(undefined, {}, entry.arguments[position].name, where)
            .help("write every element of an output, or take it as inout");
        same = false;
        continue;
      }
      const std::string a = numberText(ours), b = numberText(wanted);
      const bool isNotFinite = rough ? oracle.decidedByNotFinite : oracle.notFiniteAt.has_value();
      if (rough || isNotFinite) {
        auto report = diagnostics.report(orderDecides, rough ? *oracle.decidedAt : *oracle.notFiniteAt,
                                         entry.arguments[position].name, where, a, b);
        if (isNotFinite)
          report.label("a NaN or an infinity is among what is reduced; what comes of it here depends on the order")
              .help("keep such values out of the reduction, or combine so that they give the same in every order, as "
                    "fmin and fmax do");
        else
          report.label("what comes of this depends on the order in which a reduction is rounded, and so on the mapping")
              .help("both may be right; compare with a margin that is wider than the rounding of the reduction");
        continue;
      }
      if (atomic) {
        diagnostics.report(orderDecides, *atomic, entry.arguments[position].name, where, a, b)
            .label("atomic updates of parallel iterations have no order, and this result depends on it");
        continue;
      }
      if (unordered) {
        diagnostics.report(orderDecides, *unordered, entry.arguments[position].name, where, a, b)
            .label("instances that run at once write this block, and nothing orders what they write")
            .help("distribute the block, so that --check tells what they do in no order, or give each a block of its "
                  "own");
        continue;
      }
      auto report =
          diagnostics.report(oracle.callsC ? differsInC : differs, {}, entry.arguments[position].name, where, a, b);
      if (oracle.callsC)
        report
            .note("what a function in C does is not seen: one that keeps a state, or that touches what it was not "
                  "given, may do another thing each time")
            .help("keep no state in them, and let each write its own arguments only");
      if (char most[40]; allowed >= 0) {
        snprintf(most, sizeof most, "%.3g", allowed);
        report.note(std::string("another order of its reduction accounts for a difference of up to ") + most);
      }
      same = false;
    }
  }
  return same;
}

} // namespace strata::driver
