// The interpreter's public face: a resolved program and the machine that executes it.
#include "compiler/interpret/interpreter.h"

#include "compiler/interpret/equations.h"
#include "compiler/interpret/machine.h"
#include "compiler/interpret/resolver.h"

#include "llvm/ADT/bit.h"

#include <unistd.h>

namespace strata::interpret {

Argument Argument::real(float value) {
  return bits(llvm::bit_cast<uint32_t>(value));
}
Argument Argument::real(double value) {
  return bits(llvm::bit_cast<uint64_t>(value));
}
Argument Argument::block(void* data, std::vector<int64_t> extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(1, extents[i]);
  return block(data, std::move(extents), std::move(strides));
}

class Interpreter::Implementation {
public:
  Implementation(mlir::ModuleOp module, DiagnosticEngine& diagnostics, Options given)
      : options(std::move(given)), module(module),
        program(Resolver(module, options.splitReductions, offered(options)).run()),
        machine(program, diagnostics, options) {}
  static std::set<std::string> offered(const Options& options) {
    std::set<std::string> names;
    for (const auto& [name, offer] : options.offers)
      names.insert(name);
    return names;
  }
  Options options;
  mlir::ModuleOp module;
  Program program;
  Machine machine;
};

Interpreter::Interpreter(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Interpreter::~Interpreter() = default;

std::unique_ptr<Interpreter> Interpreter::create(mlir::ModuleOp module, DiagnosticEngine& diagnostics,
                                                 Options options) {
  if (!options.maxBytes) {
    // Three quarters of this computer's memory: beyond it the operating system would end the process without a word.
    uint64_t pages = static_cast<uint64_t>(std::max(1L, sysconf(_SC_PHYS_PAGES)));
    options.maxBytes = pages / 4 * 3 * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  options.kernels.merge(equationKernels(module));
  return std::unique_ptr<Interpreter>(
      new Interpreter(std::make_unique<Implementation>(module, diagnostics, std::move(options))));
}

bool Interpreter::call(llvm::StringRef function, const std::vector<Argument>& arguments,
                       std::vector<uint64_t>* results) {
  Implementation& all = *implementation_;
  auto found = all.program.functionByName.find(function);
  if (found == all.program.functionByName.end())
    return all.machine.fail(Fault::UnknownFunction, all.module.getLoc(), {function.str()});
  return all.machine.call(found->second, arguments, results);
}

const Statistics& Interpreter::statistics() const {
  return implementation_->machine.statistics();
}
const Failure& Interpreter::failure() const {
  return implementation_->machine.failure();
}

const std::vector<bool>& Interpreter::hasValue(size_t argument) const {
  return implementation_->machine.hasValue(argument);
}

std::vector<double> Interpreter::distances(size_t argument) const {
  return implementation_->machine.distances(argument);
}
std::optional<mlir::Location> Interpreter::decidedAt() const {
  return implementation_->machine.decidedAt();
}

bool Interpreter::isDecidedByNotFinite() const {
  return implementation_->machine.isDecidedByNotFinite();
}

std::optional<mlir::Location> Interpreter::notFiniteAt() const {
  return implementation_->machine.notFiniteAt();
}

std::string Interpreter::output() const {
  return implementation_->machine.output();
}

} // namespace strata::interpret
