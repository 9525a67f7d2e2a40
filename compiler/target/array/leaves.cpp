// See leaves.h.
#include "compiler/target/array/leaves.h"

#include "compiler/equations/extract/ranges.h"
#include "compiler/ir/locations.h"
#include "compiler/target/array/select.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace strata::array {

using equations::KernelSize;
using equations::Known;

STRATA_DIAGNOSTIC(interpreted, Remark, "array-interpreted", "kernel '{0}' runs on the core, and not on the array: {1}");
STRATA_DIAGNOSTIC(lacks, Warning, "array-lacks",
                  "kernel '{0}' runs on the core, since the array lacks what it computes with: {1}");

namespace {

constexpr size_t mostSets = 16;  // sets of sizes that one kernel is mapped for
constexpr size_t mostRounds = 4; // of finding out which sizes have to be known

std::string keyOf(svm::KernelOp kernel, const Known& known, const std::map<KernelSize, int64_t>& wanted) {
  std::string key;
  llvm::raw_string_ostream text(key);
  kernel.print(text);
  for (const auto& [size, interval] : known) {
    text << '\n' << size.argument << '.' << (size.dimension ? static_cast<int64_t>(*size.dimension) : -1);
    for (const std::optional<int64_t>& end : {interval.least, interval.most})
      text << ' ' << (end ? std::to_string(*end) : "-");
  }
  for (const auto& [size, value] : wanted)
    text << ' ' << value;
  return key;
}

bool isLack(const Diagnostic& diagnostic) {
  const llvm::StringRef code = diagnostic.kind->code;
  return code == "array-operation" || code == "array-word";
}

} // namespace

void reportOnCore(DiagnosticEngine& diagnostics, const Location& where, const std::string& kernel,
                  const std::string& why) {
  diagnostics.report(interpreted, where, kernel, why);
}

Leaf::Leaf(svm::KernelOp kernel, mlir::ModuleOp program, const Machine& machine, const target::ArrayOptions& options,
           DiagnosticEngine& diagnostics)
    : kernel_(kernel), name_(kernel.getName().str()), machine_(machine), options_(options), diagnostics_(diagnostics),
      known_(equations::knownOfRuns(kernel, program)) {
  Failure failure;
  general_ = map(known_, {}, failure);
  if (general_)
    return;
  if (!kernel.canBlock()) // streams are nothing that an array is handed
    fixed_ = failure.sizes;
  if (fixed_.empty())
    report(failure);
}

std::unique_ptr<ArrayKernel> Leaf::map(const Known& known, const Sizes& wanted, Failure& failure) {
  equations::Refusal refusal;
  std::optional<equations::Extraction> made =
      equations::extract(kernel_, diagnostics_.sources(), refusal, {known, /*mayLeaveOut=*/true, wanted});
  if (!made) {
    failure = {refusal.reason, {}, refusal.lacksOperation, {}, {}, refusal.sizes};
    if (refusal.location)
      failure.place = sourceLocation(diagnostics_.sources(), *refusal.location);
    if (failure.isLack)
      failure.notes.push_back("the units have " + unitsText(target::arrayProcessor(machine_)->array.front()));
    return nullptr;
  }
  made->graph.name = name_;
  DiagnosticEngine said(diagnostics_.sources());
  std::unique_ptr<target::ArrayRunner> runner =
      mapped(keyOf(kernel_, known, wanted), made->graph, machine_, options_, said);
  if (!runner) {
    const auto error = std::find_if(said.all().begin(), said.all().end(),
                                    [](const Diagnostic& each) { return each.severity == Severity::Error; });
    if (error == said.all().end()) {
      failure.reason = "it finds no mapping";
      return nullptr;
    }
    failure = {
        error->message, error->labels.empty() ? Location() : error->labels[0].location, isLack(*error), {}, {}, {}};
    if (failure.isLack)
      failure.notes = error->notes, failure.helps = error->helps;
    else
      failure.sizes = made->spans;
    return nullptr;
  }
  auto kernel = std::make_unique<ArrayKernel>();
  kernel->name = name_;
  kernel->location = made->graph.location;
  kernel->inputs = made->inputs;
  kernel->outputs = made->outputs;
  for (const KernelSize& size : made->parameters)
    kernel->parameters.push_back({size, bitsOf(size)});
  kernel->isCopied.assign(made->inputs.size(), false);
  for (const equations::Extraction::Pair& pair : made->pairs)
    kernel->isCopied[pair.input] = true;
  kernel->leavesOut = made->leavesOut;
  kernel->runner = std::move(runner);
  return kernel;
}

const ArrayKernel* Leaf::kernelFor(const std::vector<interpret::Argument>& arguments) {
  std::optional<target::ArrayError> problem;
  bool mayAdd = !fixed_.empty();
  const auto isReady = [&](const ArrayKernel& kernel) {
    const std::optional<target::ArrayError> found = kernel.prepare(arguments);
    if (found && !problem)
      problem = found;
    mayAdd |= found && kernel.leavesOut;
    return !found;
  };
  if (general_ && isReady(*general_))
    return general_.get();
  for (const Sized& each : sized_)
    if (std::all_of(each.sizes.begin(), each.sizes.end(),
                    [&](const auto& size) { return valueOf(size.first, arguments) == size.second; }) &&
        isReady(*each.kernel))
      return each.kernel.get();
  if (declined_.contains(sizesOf(arguments)))
    return nullptr;
  if (const ArrayKernel* made = mayAdd ? add(arguments) : nullptr; made && isReady(*made))
    return made;
  if (problem)
    reportOnCore(diagnostics_, sourceLocation(diagnostics_.sources(), kernel_.getLoc()), name_, problem->message);
  declined_.insert(sizesOf(arguments));
  return nullptr;
}

const ArrayKernel* Leaf::add(const std::vector<interpret::Argument>& arguments) {
  Failure failure;
  if (sized_.size() + declined_.size() >= mostSets) {
    failure.reason = "it is called with more than " + std::to_string(mostSets) + " different sets of sizes";
    report(failure);
    return nullptr;
  }
  // Numbers in the place of some sizes may show that others are needed, too.
  Sized made;
  for (const KernelSize& size : fixed_)
    made.sizes[size] = valueOf(size, arguments);
  for (size_t round = 0; round < mostRounds; ++round) {
    Known known = known_;
    for (const auto& [size, value] : made.sizes)
      known[size] = {value, value};
    made.kernel = map(known, sizesOf(arguments), failure);
    const size_t before = made.sizes.size();
    for (const KernelSize& size : failure.sizes)
      made.sizes.try_emplace(size, valueOf(size, arguments));
    if (made.kernel || made.sizes.size() == before)
      break;
  }
  if (!made.kernel) {
    report(failure);
    return nullptr;
  }
  return sized_.emplace_back(std::move(made)).kernel.get();
}

void Leaf::each(const std::function<void(const std::string& name, target::ArrayRunner& runner)>& function) const {
  std::set<std::string> names;
  const auto call = [&](std::string name, const ArrayKernel& kernel) {
    for (size_t number = 2; !names.insert(name).second; ++number) // for other sizes than those that are numbers in it
      if (const std::string next = name + " #" + std::to_string(number); !names.contains(next))
        name = next;
    function(name, *kernel.runner);
  };
  if (general_)
    call(name_, *general_);
  for (const Sized& made : sized_) {
    std::string name = name_;
    for (const auto& [size, value] : made.sizes)
      name += " " + svm::KernelOp(kernel_).argumentName(size.argument) +
              (size.dimension ? "." + std::to_string(*size.dimension) : std::string()) + "=" + std::to_string(value);
    call(name, *made.kernel);
  }
}

Leaf::Sizes Leaf::sizesOf(const std::vector<interpret::Argument>& arguments) const {
  Sizes made;
  for (unsigned number = 0; number < arguments.size(); ++number)
    if (arguments[number].isScalar && svm::KernelOp(kernel_).getArgumentTypes()[number].isIntOrIndex())
      made[{number, std::nullopt}] = valueOf({number, std::nullopt}, arguments);
    else
      for (unsigned dimension = 0; dimension < arguments[number].extents.size(); ++dimension)
        made[{number, dimension}] = arguments[number].extents[dimension];
  return made;
}

unsigned Leaf::bitsOf(const KernelSize& size) const {
  const mlir::Type type = svm::KernelOp(kernel_).getArgumentTypes()[size.argument];
  return size.dimension || type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

int64_t Leaf::valueOf(const KernelSize& size, const std::vector<interpret::Argument>& arguments) const {
  return size.dimension ? arguments[size.argument].extents[*size.dimension]
                        : llvm::SignExtend64(arguments[size.argument].scalar, bitsOf(size));
}

void Leaf::report(const Failure& failure) {
  const Location here = sourceLocation(diagnostics_.sources(), kernel_.getLoc());
  DiagnosticBuilder builder = diagnostics_.report(failure.isLack ? lacks : interpreted, here, name_, failure.reason);
  if (failure.place.valid() && here.valid())
    builder.label(failure.place, "here");
  for (const std::string& each : failure.notes)
    builder.note(each);
  for (const std::string& each : failure.helps)
    builder.help(each);
  if (failure.isLack)
    builder.help("--werror makes it an error");
}

} // namespace strata::array
