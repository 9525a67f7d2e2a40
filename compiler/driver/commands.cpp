// The short commands: check, map, machine.
#include "base/machine/nodes.h"
#include "compiler/driver/notations.h"
#include "compiler/driver/output_files.h"
#include "compiler/driver/prepare.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <utility>

namespace strata::driver {

std::string findAbove(const std::string& file) {
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, reinterpret_cast<void*>(&findAbove));
  llvm::StringRef folder = llvm::sys::path::parent_path(self);
  for (int levels = 0; levels < 5 && !folder.empty(); ++levels, folder = llvm::sys::path::parent_path(folder))
    if (std::string path = (folder + "/" + file).str(); llvm::sys::fs::exists(path))
      return path;
  return "";
}

bool isProgram(llvm::StringRef name) {
  return descriptionOf(name) || isDialect(name);
}

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
  if (session.options.compile.mappingForm.empty())
    session.options.compile.mappingForm = mappingFormOf(session.options.compile.program, session.options.output);
  CompilerSession compilation(session);
  std::string text = compilation.compiler.mappingText();
  if (!session.diagnostics.hasErrors())
    writeText(session, session.options.output, text);
  return finish(session);
}

int machineCommand(Session& session) {
  if (!checkOutputFiles(session, {}))
    return finish(session);
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
      machine = compile.machine.empty() ? std::optional(describeHost())
                                        : loadMachine(compile.machine, compile.machinePath, session.diagnostics);
    }
    if (!machine)
      return finish(session);
    if (session.options.header) {
      const std::optional<std::string> header = machine::writeNodeHeader(*machine, session.diagnostics);
      if (!header)
        return finish(session);
      text = *header;
    } else {
      text = writeMachine(*machine);
    }
  }
  writeText(session, session.options.output, text);
  return finish(session);
}

} // namespace strata::driver
