// See equations.h.
#include "compiler/interpret/equations.h"

#include "compiler/equations/dialect/system_of.h"
#include "compiler/equations/interpret.h"

#include <cstring>

namespace strata::interpret {

namespace {

using Number = equations::Value;

Number valueOf(const char* at, const ElementType& type) {
  if (type.kind == ElementType::Kind::Float) {
    if (type.bytes == 8) {
      double value = 0;
      std::memcpy(&value, at, sizeof value);
      return {0, value};
    }
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    return {0, static_cast<double>(value)};
  }
  uint64_t bits = 0;
  std::memcpy(&bits, at, type.bytes);
  if (type.kind == ElementType::Kind::Bool)
    return {static_cast<int64_t>(bits & 1), 0};
  const auto unused = static_cast<unsigned>(64 - 8 * type.bytes);
  return {static_cast<int64_t>(bits << unused) >> unused, 0};
}

void put(char* at, const ElementType& type, const Number& value) {
  if (type.kind == ElementType::Kind::Float && type.bytes == 8) {
    std::memcpy(at, &value.real, sizeof value.real);
  } else if (type.kind == ElementType::Kind::Float) {
    const auto real = static_cast<float>(value.real);
    std::memcpy(at, &real, sizeof real);
  } else {
    std::memcpy(at, &value.integer, type.bytes);
  }
}

/// Null, and `error` set, where an index leaves the block.
char* elementOf(const Argument& argument, const std::vector<int64_t>& index, uint64_t bytes, std::string& error) {
  int64_t at = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= argument.extents[i]) {
      error = "an index leaves an array";
      return nullptr;
    }
    at += index[i] * argument.strides[i];
  }
  return static_cast<char*>(argument.data) + at * static_cast<int64_t>(bytes);
}

bool execute(const equations::KernelSystem& kernel, const std::vector<Argument>& arguments, std::string& error) {
  std::vector<int64_t> sizes;
  for (const unsigned number : kernel.parameters)
    sizes.push_back(static_cast<int64_t>(arguments[number].scalar));
  std::vector<ElementType> inputs, outputs;
  for (const equations::SystemVariable& each : kernel.system.variables)
    if (each.role != equations::Role::Internal)
      (each.role == equations::Role::Input ? inputs : outputs).push_back(each.type);
  const auto read = [&](uint32_t input, const std::vector<int64_t>& index) {
    const Argument& from = arguments[kernel.inputs[input]];
    const ElementType& type = inputs[input];
    if (from.isScalar)
      return valueOf(reinterpret_cast<const char*>(&from.scalar), type);
    const char* at = elementOf(from, index, type.bytes, error);
    return at ? valueOf(at, type) : Number();
  };
  const auto write = [&](uint32_t output, const std::vector<int64_t>& index, const Number& value) {
    const ElementType& type = outputs[output];
    if (char* at = elementOf(arguments[kernel.outputs[output]], index, type.bytes, error))
      put(at, type, value);
  };
  if (const auto failure = equations::interpret(kernel.system, sizes, read, write))
    error = failure->message;
  return error.empty();
}

} // namespace

std::map<std::string, ExternalKernel> equationKernels(mlir::ModuleOp module) {
  std::map<std::string, ExternalKernel> found;
  module.walk([&](svm::EquationsOp equations) {
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    auto made = equations::systemOf(equations, diagnostics);
    if (!made)
      return;
    const std::string name = equations->getParentOfType<svm::KernelOp>().getName().str();
    found[name] = [kernel = std::move(*made)](const std::vector<Argument>& arguments, std::string& error) {
      return execute(kernel, arguments, error);
    };
  });
  return found;
}

} // namespace strata::interpret
