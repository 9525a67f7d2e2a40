// The short commands: check, map, machine, show.
#include "compiler/driver/commands.h"
#include "compiler/ir/locations.h"

namespace strata::driver {


namespace {

/// Sizes given on the command line, for commands that need no data.
void takeSizes(Session& session) {
  for (const std::string& text : session.options.sizes)
    if (auto sizes = parseSizeOption(text, session.diagnostics, session.commandLine->value("--size", text)))
      for (const SizeOption& size : *sizes)
        session.options.compile.sizes[size.name] = size.value;
}

struct CompilerSession {
  explicit CompilerSession(Session& session)
      : context(registry(), mlir::MLIRContext::Threading::DISABLED), forward(context, session.diagnostics),
        compiler(context, session.diagnostics, session.options.compile) {}

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  MlirDiagnostics forward;
  Compiler compiler;
};

std::optional<Machine> machineOf(Session& session) {
  const std::string& name = session.options.compile.machine;
  if (name.empty())
    return describeHost();
  return loadMachine(name, session.options.compile.machinePath, session.diagnostics);
}

} // namespace

int checkCommand(Session& session) {
  takeSizes(session);
  CompilerSession compilation(session);
  compilation.compiler.check();
  return finish(session);
}

int mapCommand(Session& session) {
  takeSizes(session);
  CompilerSession compilation(session);
  std::string text = compilation.compiler.mappingText();
  if (!session.diagnostics.hasErrors())
    writeText(session, session.options.output, text);
  return finish(session);
}

int machineCommand(Session& session) {
  std::string text;
  if (session.options.list) {
    for (const std::string& name : machineNames(session.options.compile.machinePath))
      text += name + "\n";
  } else {
    auto machine = machineOf(session);
    if (!machine)
      return finish(session);
    text = writeMachine(*machine);
  }
  writeText(session, session.options.output, text);
  return finish(session);
}

int showCommand(Session& session) {
  auto machine = machineOf(session);
  if (machine)
    writeText(session, session.options.output, drawMachine(*machine));
  return finish(session);
}

} // namespace strata::driver
