// Equations of the dialect are read, mapped, and called with blocks of the interpreter's.
#include "compiler/target/array/kernels.h"

#include "compiler/equations/uniform.h"
#include "compiler/equations/verify.h"
#include "compiler/ir/locations.h"
#include "compiler/target/array/map.h"
#include "runtime/array/files.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <mutex>

namespace strata::array {

STRATA_DIAGNOSTIC(extentDiffers, Error, "array-extent", "{0}");
STRATA_DIAGNOSTIC(noExtents, Error, "array-no-extents", "kernel '{0}' does not state the extents of its arrays");

namespace {

std::string textOf(mlir::Operation* op) {
  std::string made;
  llvm::raw_string_ostream text(made);
  op->print(text);
  return made;
}

/// Everything that a mapping depends on beside the graph.
std::string keyOf(const Machine& machine, const machine::ProcessorArray& array, const target::ArrayOptions& options) {
  std::string key;
  llvm::raw_string_ostream text(key);
  text << '\n' << machine.name << '\n' << fingerprint(array) << ' ' << array.rows << ' ' << array.columns << '\n';
  const HostLink link = target::hostLink(machine);
  text << link.latency << ' ' << link.bandwidth.bytes << ' ' << link.bandwidth.cycles << '\n';
  text << (options.isShared ? "shared\n" : "");
  if (options.region)
    text << options.region->first << 'x' << options.region->second << '\n';
  for (const std::optional<std::string>& loop : {options.rowLoop, options.columnLoop})
    text << (loop ? "=" + *loop : "chosen") << '\n';
  for (const std::string& loop : options.order)
    text << loop << ',';
  for (const auto& [loop, tile] : options.leastTiles)
    text << ';' << loop << '=' << tile;
  for (const auto& [loop, by, factor] : options.skews)
    text << ';' << loop << '+' << factor << '*' << by;
  return key;
}

/// A block in C order: its own bytes, or a copy that is written back.
class Contiguous {
public:
  Contiguous(const interpret::Argument& argument, size_t bytes, bool isCopied = false)
      : argument_(argument), bytes_(bytes) {
    if (argument.isScalar)
      return;
    isCopied_ = isCopied;
    int64_t stride = 1;
    for (size_t i = argument.extents.size(); i-- > 0; stride *= argument.extents[i])
      isCopied_ |= argument.extents[i] > 1 && argument.strides[i] != stride;
    if (!isCopied_)
      return;
    copy_.resize(static_cast<size_t>(stride) * bytes);
    each([](std::byte* copy, std::byte* original, size_t count) { std::memcpy(copy, original, count); });
  }

  std::byte* data() {
    return isCopied_ ? copy_.data()
                     : static_cast<std::byte*>(argument_.isScalar ? const_cast<uint64_t*>(&argument_.scalar)
                                                                  : argument_.data);
  }
  void writeBack() {
    if (isCopied_)
      each([](std::byte* copy, std::byte* original, size_t count) { std::memcpy(original, copy, count); });
  }

private:
  void each(void (*move)(std::byte* copy, std::byte* original, size_t count)) {
    std::vector<int64_t> index(argument_.extents.size(), 0);
    for (size_t at = 0; at < copy_.size(); at += bytes_) {
      int64_t place = 0;
      for (size_t i = 0; i < index.size(); ++i)
        place += index[i] * argument_.strides[i];
      move(copy_.data() + at, static_cast<std::byte*>(argument_.data) + place * static_cast<int64_t>(bytes_), bytes_);
      for (size_t i = index.size(); i-- > 0 && ++index[i] == argument_.extents[i];)
        index[i] = 0;
    }
  }

  const interpret::Argument& argument_;
  size_t bytes_;
  bool isCopied_ = false;
  std::vector<std::byte> copy_;
};

/// An error where blocks are smaller than the equations take them to be.
std::optional<target::ArrayError> checkExtents(const std::vector<ArrayLayout>& layouts,
                                               const std::vector<unsigned>& numbers,
                                               const std::vector<interpret::Argument>& arguments) {
  for (size_t i = 0; i < layouts.size(); ++i)
    if (!arguments[numbers[i]].isScalar && arguments[numbers[i]].extents != layouts[i].extents)
      return target::ArrayError{&extentDiffers,
                                "a kernel's array '" + layouts[i].name + "' has other extents than it is declared with",
                                "give a block with the extents that the kernel states"};
  return std::nullopt;
}

/// Whether all arrays have as many extents as they have indices: only then their elements are known.
bool haveExtents(const equations::Graph& graph) {
  for (const equations::Node& node : graph.nodes) {
    for (const equations::Operand& operand : node.operands)
      if (const auto* use = std::get_if<equations::InputUse>(&operand))
        if (graph.inputs[use->input].extents.size() != use->index.size())
          return false;
    if (node.isOutput && graph.outputs[node.target].extents.size() != node.index.size())
      return false;
  }
  return true;
}

/// False on errors (reported).
bool mapKernel(svm::EquationsOp equations, ArrayKernel& kernel, const Machine& machine,
               const target::ArrayOptions& options, DiagnosticEngine& diagnostics) {
  std::optional<equations::KernelSystem> made = equations::systemOf(equations, diagnostics);
  if (!made)
    return false;
  // Kernels that a notation makes of its programs carry their names.
  llvm::StringRef name(kernel.name);
  name.consume_back(".equations");
  made->system.name = name.str();
  // Processors of an array have no memory in common: what one uses of another is passed on.
  const std::optional<equations::Graph> graph = equations::uniform(made->system, diagnostics);
  if (!graph || !equations::verify(*graph, diagnostics))
    return false;
  if (!haveExtents(*graph)) {
    diagnostics.report(noExtents, graph->location, name.str())
        .help("state the extents of its arrays: 'extents' of the kernel");
    return false;
  }
  kernel.runner = mapped(textOf(equations->getParentOp()), *graph, machine, options, diagnostics);
  kernel.location = graph->location;
  for (const std::vector<equations::Array>* arrays : {&graph->outputs, &graph->inputs})
    for (const equations::Array& each : *arrays)
      kernel.places.insert_or_assign(each.name, each.location);
  for (const equations::Node& each : graph->nodes) // where a variable is computed first
    if (!each.isOutput)
      kernel.places.try_emplace(graph->variables[each.target].name, each.location);
  kernel.inputs = std::move(made->inputs);
  kernel.outputs = std::move(made->outputs);
  kernel.isCopied.assign(kernel.inputs.size(), false);
  for (const unsigned number : made->parameters)
    kernel.parameters.push_back({{number, std::nullopt}, 64});
  return kernel.runner != nullptr;
}

} // namespace

std::vector<int64_t> ArrayKernel::sizes(const std::vector<interpret::Argument>& arguments) const {
  std::vector<int64_t> found;
  for (const auto& [size, bits] : parameters)
    if (size.dimension)
      found.push_back(arguments[size.argument].extents[*size.dimension]);
    else
      found.push_back(llvm::SignExtend64(arguments[size.argument].scalar, bits));
  return found;
}

target::ArrayError ArrayKernel::placed(target::ArrayError error) const {
  constexpr size_t most = 4;
  for (const std::string& name : error.variables)
    if (const auto found = places.find(name); found != places.end() && error.places.size() < most)
      error.places.emplace_back(found->second, "'" + name + "'");
  return error;
}

std::optional<target::ArrayError> ArrayKernel::prepare(const std::vector<interpret::Argument>& arguments) const {
  const auto made = runner->configuration(sizes(arguments));
  if (const auto* error = std::get_if<target::ArrayError>(&made))
    return placed(*error);
  const Configuration& configuration = *std::get<const Configuration*>(made);
  if (auto error = checkExtents(configuration.inputs, inputs, arguments))
    return error;
  return checkExtents(configuration.outputs, outputs, arguments);
}

std::optional<target::ArrayError> ArrayKernel::run(const std::vector<interpret::Argument>& arguments) const {
  if (auto error = prepare(arguments))
    return error;
  const Symbolic& symbolic = runner->symbolic();
  std::vector<Contiguous> from, to;
  for (size_t i = 0; i < inputs.size(); ++i)
    from.emplace_back(arguments[inputs[i]], bytes(symbolic.inputs[i].type), isCopied[i]);
  for (size_t i = 0; i < outputs.size(); ++i)
    to.emplace_back(arguments[outputs[i]], bytes(symbolic.outputs[i].type));
  std::vector<const std::byte*> given;
  std::vector<std::byte*> taken;
  for (Contiguous& each : from)
    given.push_back(each.data());
  for (Contiguous& each : to)
    taken.push_back(each.data());
  const auto error = runner->run(sizes(arguments), given, taken);
  for (Contiguous& each : to)
    each.writeBack();
  return error;
}

namespace {

/// What is mapped is kept, by `key` and all that it depends on beside the graph. `isForward`: MapOptions.
std::optional<Symbolic> symbolicOf(const std::string& key, const equations::Graph& graph, const Machine& machine,
                                   const target::ArrayOptions& options, bool isForward, DiagnosticEngine& diagnostics) {
  static std::mutex lock;
  static std::map<std::string, Symbolic> known;
  const machine::ProcessorArray& array = target::arrayProcessor(machine)->array.front();
  const std::string all = key + keyOf(machine, array, options) + (isForward ? "forward" : "");
  {
    const std::lock_guard guard(lock);
    if (const auto found = known.find(all); found != known.end())
      return found->second;
  }
  MapOptions wanted;
  wanted.rowLoop = options.rowLoop;
  wanted.columnLoop = options.columnLoop;
  wanted.region = options.region;
  wanted.isShared = options.isShared;
  wanted.link = target::hostLink(machine);
  wanted.order = options.order;
  wanted.leastTiles = options.leastTiles;
  for (const auto& [loop, by, factor] : options.skews)
    wanted.skews.push_back({loop, by, factor});
  wanted.isForward = isForward;
  std::optional<Symbolic> made = map(graph, machine.name, array, wanted, diagnostics);
  if (made) {
    const std::lock_guard guard(lock);
    known.try_emplace(all, *made);
  }
  return made;
}

} // namespace

std::unique_ptr<target::ArrayRunner> mapped(const std::string& key, const equations::Graph& graph,
                                            const Machine& machine, const target::ArrayOptions& options,
                                            DiagnosticEngine& diagnostics) {
  std::optional<Symbolic> made = symbolicOf(key, graph, machine, options, false, diagnostics);
  if (!made)
    return nullptr;
  auto runner = std::make_unique<target::ArrayRunner>(std::move(*made), target::arrayProcessor(machine)->array.front(),
                                                      options, target::hostLink(machine));
  // Nobody who says how loops are skewed has it changed.
  if (options.skews.empty())
    runner->setForward([key, graph, &machine, options, &sources = diagnostics.sources()] {
      DiagnosticEngine said(sources);
      said.enableRemarks(true);
      std::optional<target::ArrayRunner::Forward> forward;
      if (std::optional<Symbolic> symbolic = symbolicOf(key, graph, machine, options, true, said))
        forward = {std::move(*symbolic), {}};
      for (const Diagnostic& each : said.all())
        if (forward && each.severity == Severity::Remark)
          forward->remarks.push_back({each.kind, each.message, ""});
      return forward;
    });
  return runner;
}

std::optional<std::vector<ArrayKernel>> mapKernels(mlir::ModuleOp program, const Machine& machine,
                                                   const target::ArrayOptions& options, DiagnosticEngine& diagnostics) {
  std::vector<ArrayKernel> kernels;
  bool fine = true;
  program.walk([&](svm::EquationsOp equations) {
    ArrayKernel kernel;
    kernel.name = equations->getParentOfType<svm::KernelOp>().getName().str();
    fine &= mapKernel(equations, kernel, machine, options, diagnostics);
    kernels.push_back(std::move(kernel));
  });
  return fine ? std::optional(std::move(kernels)) : std::nullopt;
}

} // namespace strata::array
