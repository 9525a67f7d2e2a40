// The short commands: cc, check, map, machine.
#include "compiler/driver/command/commands.h"
#include "base/machine/nodes.h"
#include "compiler/driver/command/hpvm_ir.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/driver/session/emit.h"
#include "compiler/driver/session/output_files.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/driver/session/tuned.h"
#include "compiler/drop_in/cc.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"

#include <utility>

namespace strata::driver {

int ccCommand(Session& session, const std::vector<std::string>& arguments, bool isCxx) {
  if (arguments.size() == 1 && arguments.front() == "--help") {
    std::fputs(drop_in::ccHelp(), stdout);
    return statusFine;
  }
  auto command = drop_in::ccCommand(*session.commandLine, arguments, isCxx, session.diagnostics);
  if (!command || !replaceHpvmIr(session, command->arguments))
    return finish(session);
  llvm::SmallVector<const char*> words;
  for (const std::string& word : command->arguments)
    words.push_back(word.c_str());
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::cl::ExpandResponseFiles(saver, llvm::cl::TokenizeGNUCommandLine, words);
  command->expanded.assign(words.begin(), words.end());
  drop_in::become(*command, session.diagnostics);
  return finish(session);
}

bool isProgram(llvm::StringRef name) {
  return descriptionOf(name) || isDialect(name);
}

int checkCommand(Session& session) {
  DataOptions data;
  if (!prepare(session, data))
    return finish(session);
  CompilerSession compilation(session);
  if (checkData(session, compilation.compiler, data))
    compilation.compiler.check();
  return finish(session);
}

int mapCommand(Session& session) {
  DataOptions data;
  if (!prepare(session, data))
    return finish(session);
  if (!session.options.compile.mappingTemplate)
    useTuned(session);
  if (session.options.compile.mappingForm.empty())
    session.options.compile.mappingForm = mappingFormOf(session.options.compile.program, session.options.output);
  CompilerSession compilation(session);
  std::string text =
      checkData(session, compilation.compiler, data) ? compilation.compiler.mappingText() : std::string();
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
      compile.programPlace = compile.machinePlace;
      CompilerSession compilation(session);
      machine = compilation.compiler.ownMachine();
    } else {
      machine = compile.machine.empty()
                    ? std::optional(describeHost())
                    : loadMachine(compile.machine, compile.machinePath, session.diagnostics, compile.machinePlace);
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
