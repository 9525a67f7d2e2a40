// The short commands: check, map, machine, show.
#include "compiler/driver/prepare.h"

#include <utility>

namespace strata::driver {

STRATA_DIAGNOSTIC(notAProgram, Error, "driver-not-a-program", "'{0}' is shown as a machine");

namespace {

std::optional<Machine> machineOf(Session& session) {
  const std::string& name = session.options.compile.machine;
  if (name.empty())
    return describeHost();
  return loadMachine(name, session.options.compile.machinePath, session.diagnostics);
}

/// Whether a name is that of a program rather than of a machine.
bool isProgram(llvm::StringRef name) {
  return name.ends_with(".hbir") || name.ends_with(".sq") || name.ends_with(".mlir");
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
  CompileOptions& compile = session.options.compile;
  std::string text;
  if (session.options.list) {
    for (const std::string& name : machineNames(compile.machinePath))
      text += name + "\n";
  } else {
    std::optional<Machine> machine;
    if (isProgram(compile.machine)) {
      compile.program = std::exchange(compile.machine, "");
      CompilerSession compilation(session);
      machine = compilation.compiler.ownMachine();
    } else {
      machine = machineOf(session);
    }
    if (!machine)
      return finish(session);
    text = writeMachine(*machine);
  }
  writeText(session, session.options.output, text);
  return finish(session);
}

int showCommand(Session& session) {
  CompileOptions& compile = session.options.compile;
  const std::string& thing = session.options.thing;
  if (!isProgram(thing)) {
    if (!compile.mapping.empty() || !session.options.sizes.empty()) {
      session.diagnostics.report(notAProgram, session.commandLine->word(2), thing)
          .help("machines are shown without --map and --size");
      return finish(session);
    }
    compile.machine = thing;
    auto machine = machineOf(session);
    if (machine)
      writeText(session, session.options.output, drawMachine(*machine));
    return finish(session);
  }
  compile.program = thing;
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
