// The short commands: check, map, machine, show.
#include "compiler/driver/prepare.h"

namespace strata::driver {

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
  auto machine = machineOf(session);
  if (machine)
    writeText(session, session.options.output, drawMachine(*machine));
  return finish(session);
}

} // namespace strata::driver
