// The short commands: check, map, machine, show.
#include "compiler/driver/prepare.h"

namespace strata::driver {

STRATA_DIAGNOSTIC(notAProgram, Error, "driver-not-a-program", "'{0}' is shown as a machine");

namespace {

std::optional<Machine> machineOf(Session& session) {
  const std::string& name = session.options.compile.machine;
  if (name.empty())
    return describeHost();
  return loadMachine(name, session.options.compile.machinePath, session.diagnostics);
}

} // namespace

int checkCommand(Session& session) {
  DataOptions data;
  if (!prepare(session, data))
    return finish(session);
  CompilerSession compilation(session);
  compilation.compiler.check();
  return finish(session);
}

int mapCommand(Session& session) {
  DataOptions data;
  if (!prepare(session, data))
    return finish(session);
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
  CompileOptions& compile = session.options.compile;
  if (!llvm::StringRef(session.options.thing).ends_with(".hbir")) {
    if (!compile.mapping.empty() || !session.options.sizes.empty()) {
      session.diagnostics.report(notAProgram, session.commandLine->word(2), session.options.thing)
          .help("machines are shown without --map and --size");
      return finish(session);
    }
    compile.machine = session.options.thing;
    auto machine = machineOf(session);
    if (machine)
      writeText(session, session.options.output, drawMachine(*machine));
    return finish(session);
  }
  compile.program = session.options.thing;
  DataOptions data;
  if (!prepare(session, data))
    return finish(session);
  CompilerSession compilation(session);
  std::string drawing = compilation.compiler.view("drawing");
  if (!session.diagnostics.hasErrors())
    writeText(session, session.options.output, drawing);
  return finish(session);
}

} // namespace strata::driver
