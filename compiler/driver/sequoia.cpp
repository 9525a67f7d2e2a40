// Sequoia programs on their way into the pipeline. The mapping is a file's, or the default for the program and the
// machine; everything after that is the same for both.
#include "compiler/driver/sequoia.h"

#include "compiler/clang/external.h"
#include "compiler/driver/sizes.h"
#include "compiler/sequoia/default_mapping.h"
#include "compiler/sequoia/frontend.h"
#include "compiler/sequoia/lower.h"
#include "compiler/sequoia/mapping.h"
#include "compiler/sequoia/print_ast.h"
#include "compiler/sequoia/resolve.h"

#include "llvm/Support/Path.h"

namespace strata::driver {

STRATA_DIAGNOSTIC(mappingMade, Remark, "driver-mapping-made",
                  "no mapping was given, and one was made for machine '{0}'");
STRATA_DIAGNOSTIC(cannotReadMapping, Error, "driver-cannot-read-mapping", "cannot read mapping '{0}': {1}");

STRATA_DIAGNOSTIC(noMachineLevels, Error, "sequoia-machine-levels",
                  "machine '{0}' has no memory levels to map the program to");

struct SequoiaSource::Impl {
  std::unique_ptr<sequoia::Program> program;
  std::optional<sequoia::Mapping> mapping; // the file's
};

SequoiaSource::SequoiaSource() : impl_(std::make_unique<Impl>()) {}
SequoiaSource::~SequoiaSource() = default;

std::unique_ptr<SequoiaSource> SequoiaSource::read(BufferId file, DiagnosticEngine& diagnostics) {
  std::unique_ptr<SequoiaSource> source(new SequoiaSource());
  source->impl_->program = sequoia::readProgram(file, diagnostics);
  return source;
}

std::string SequoiaSource::syntaxTree() const {
  return sequoia::printAst(*impl_->program);
}

bool SequoiaSource::readMapping(const CompileOptions& options, DiagnosticEngine& diagnostics) {
  if (options.mapping.empty())
    return true;
  std::string error;
  BufferId file = diagnostics.sources().load(options.mapping, SourceKind::Mapping, error);
  if (!file.valid()) {
    diagnostics.report(cannotReadMapping, {}, options.mapping, error);
    return false;
  }
  impl_->mapping = sequoia::readMapping(file, diagnostics);
  return impl_->mapping.has_value();
}

std::string SequoiaSource::machineName() const {
  return impl_->mapping ? impl_->mapping->machine : "";
}
Location SequoiaSource::machinePlace() const {
  return impl_->mapping ? impl_->mapping->machinePlace.location : Location();
}

namespace {

/// Sizes known before compilation: those given, and those that an input array's shape settles.
sequoia::KnownSizes knownSizes(const sequoia::Program& program, const CompileOptions& options) {
  std::map<std::string, KnownSize> known;
  for (const auto& [name, value] : options.sizes)
    known[name] = {value, "--size"};
  std::vector<SizeEquation> equations;
  for (const sequoia::Task& task : program.tasks)
    if (task.prototype && (options.entry.empty() || options.entry == task.name))
      for (const sequoia::Variable* parameter : task.prototype->parameters) {
        auto shape = options.shapes.find(std::string(parameter->name));
        if (shape == options.shapes.end() || shape->second.size() != parameter->extents.size())
          continue;
        for (size_t dimension = 0; dimension < parameter->extents.size(); ++dimension) {
          const sequoia::LinearSize& extent = parameter->extents[dimension].linear;
          SizeEquation equation{{}, extent.constant, shape->second[dimension], ""};
          for (const auto& [coefficient, size] : extent.terms)
            equation.terms.push_back({coefficient, std::string(size->name)});
          equations.push_back(std::move(equation));
        }
      }
  solveSizes(equations, known);
  sequoia::KnownSizes result;
  for (const auto& [name, size] : known)
    result[name] = size.value;
  return result;
}

/// The file's mapping, or the default.
std::optional<sequoia::Mapping> mappingInUse(const sequoia::Program& program,
                                             const std::optional<sequoia::Mapping>& given,
                                             const CompileOptions& options, const Machine& machine,
                                             DiagnosticEngine& diagnostics) {
  if (machine.levels.empty()) {
    diagnostics.report(noMachineLevels, {}, machine.name)
        .help("list them in the machine's file under 'levels', from the innermost outwards");
    return std::nullopt;
  }
  if (given)
    return given;
  auto made = sequoia::defaultMapping(program, machine, options.entry, knownSizes(program, options), diagnostics);
  if (made)
    diagnostics.report(mappingMade, {}, machine.name).help("'strata map' with the same options writes it out");
  return made;
}

} // namespace

std::string SequoiaSource::mappingText(const CompileOptions& options, const Machine& machine,
                                       DiagnosticEngine& diagnostics) {
  auto mapping = mappingInUse(*impl_->program, impl_->mapping, options, machine, diagnostics);
  return mapping ? sequoia::writeMapping(*mapping) : "";
}

std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
SequoiaSource::lower(const CompileOptions& options, const Machine& machine, mlir::MLIRContext& context,
                     DiagnosticEngine& diagnostics) {
  auto mapping = mappingInUse(*impl_->program, impl_->mapping, options, machine, diagnostics);
  if (!mapping)
    return std::nullopt;
  // A default mapping is made for the entry asked for; a file's may have several.
  auto graph = sequoia::resolve(*impl_->program, *mapping, machine, impl_->mapping ? options.entry : "", diagnostics);
  if (!graph)
    return std::nullopt;
  auto lowered =
      sequoia::lower(*impl_->program, *graph, machine, context, diagnostics, knownSizes(*impl_->program, options));
  if (!lowered)
    return std::nullopt;
  // Files of external tasks are named as seen from the mapping file.
  std::vector<clang::ExternalTask> externals;
  for (const sequoia::ExternalTask& external : lowered->externals) {
    llvm::SmallString<256> file(external.file);
    if (!llvm::sys::path::is_absolute(file)) {
      file = llvm::sys::path::parent_path(options.mapping);
      llvm::sys::path::append(file, external.file);
    }
    clang::ExternalTask task{external.instance, std::string(file), {}, 0, {}};
    for (const sequoia::Variable* size : external.variant->sizeParameters)
      task.sizes.emplace_back(size->name);
    externals.push_back(std::move(task));
  }
  if (!clang::compileExternals(*lowered->module, externals, diagnostics))
    return std::nullopt;
  return std::make_pair(std::move(lowered->module), std::move(lowered->record));
}

} // namespace strata::driver
