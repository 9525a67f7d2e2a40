// libFuzzer target: any text as a program in the dialect: read, verified, placed on a machine of two levels, scheduled,
// and interpreted for a while on small arrays. Code is not generated, which would take too long for each input.
#include "compiler/driver/data/entry.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/canonicalize.h"
#include "compiler/ir/check_text.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/verify_logical.h"
#include "compiler/mapping/place.h"
#include "compiler/transform/guard_accesses.h"
#include "compiler/transform/prove_in_range.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace strata;

namespace {

constexpr const char* machineText = R"(
machine: duo
memories:
  - {name: main, capacity: available}
  - {name: store, capacity: 4K, count: 4, alignment: 16, explicit: true}
processors:
  - {name: boss, kind: control, masters: [boss]}
  - {name: worker, kind: stream, count: 4, local: [store], masters: [boss]}
links:
  - {name: bus, ends: [boss, worker, main]}
levels:
  - {level: 0, memory: store, processor: worker}
  - {level: 1, memory: main, processor: boss}
)";

void interpretFirstEntry(mlir::ModuleOp program, DiagnosticEngine& diagnostics) {
  interpret::Options options;
  options.maxSteps = 20000;
  options.maxBytes = 16 << 20;
  auto interpreter = interpret::Interpreter::create(program, diagnostics, options);
  for (auto function : program.getOps<mlir::func::FuncOp>()) {
    if (!interpreter || !function->hasAttr(svm::SvmDialect::entryAttr))
      continue;
    auto entry = driver::readEntry(function, diagnostics);
    if (!entry)
      return;
    std::vector<Array> arrays;
    std::vector<interpret::Argument> arguments;
    for (const driver::EntryArgument& argument : entry->arguments) {
      auto array = Array::create(argument.type, std::vector<int64_t>(argument.rank, 3), argument.name, diagnostics, {});
      if (!array)
        return;
      arrays.push_back(std::move(*array));
      void* data = arrays.back().data();
      if (argument.isBlock)
        arguments.push_back(interpret::Argument::block(data, driver::blockShape(argument, arrays.back())));
      else
        arguments.push_back(argument.type.kind == ElementType::Kind::Struct ? interpret::Argument::record(data)
                                                                            : interpret::Argument::bits(1));
    }
    interpreter->call(entry->name, arguments);
    return;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  std::string text(reinterpret_cast<const char*>(data), size);
  sources.add("fuzz.mlir", text, SourceKind::Program);
  if (svm::checkText(text))
    return 0;
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  MlirDiagnostics forward(context, diagnostics);
  auto program = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "fuzz.mlir");
  if (!program || mlir::failed(mlir::verify(*program)) || mlir::failed(svm::verifyLogical(*program)))
    return 0;
  interpretFirstEntry(*program, diagnostics);
  diagnostics.clear();
  auto machine = readMachine(diagnostics, sources.add("duo.yaml", machineText, SourceKind::Machine));
  mlir::PassManager passes(&context);
  passes.addPass(transform::createGuardAccessesPass());
  passes.addPass(strata::svm::createCanonicalizePass());
  passes.addPass(transform::createProveInRangePass());
  if (!machine || mlir::failed(passes.run(*program)))
    __builtin_trap(); // what verifies goes through
  mapping::Record record;
  if (auto attribute = (*program)->getAttrOfType<mlir::DictionaryAttr>(svm::SvmDialect::mappingAttr)) {
    std::string error;
    if (auto read = mapping::fromAttribute(attribute, error))
      record = std::move(*read);
  }
  if (mapping::place(*program, record, *machine, diagnostics) &&
      mapping::verifyPlaced(*program, *machine, diagnostics) && mlir::failed(mlir::verify(*program)))
    __builtin_trap();
  diagnostics.render({});
  return 0;
}
