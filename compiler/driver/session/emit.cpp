// See emit.h.
#include "compiler/driver/session/emit.h"

#include "compiler/driver/compile/notations.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/driver/session/streamed_file.h"
#include "compiler/driver/session/tuned.h"
#include "compiler/ir/passes.h"
#include "compiler/target/registry/registry.h"
#include "runtime/core/progress.h"

#include "runtime/cluster/beginning.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace strata::driver {

STRATA_DIAGNOSTIC(unknownStage, Error, "driver-unknown-stage", "there is nothing called '{0}' to emit");
STRATA_DIAGNOSTIC(noForm, Error, "target-no-form", "target '{0}' has no form '{1}' of a program");
STRATA_DIAGNOSTIC(unknownPass, Error, "driver-unknown-pass", "no pass '{0}' is run on this program{1}");

/// after:PASS and after:PASS:RUN. Nothing where it is of another form.
static std::optional<std::pair<std::string, unsigned>> passOf(llvm::StringRef stage) {
  if (!stage.consume_front("after:"))
    return std::nullopt;
  auto [pass, number] = stage.split(':');
  unsigned run = 0;
  if (pass.empty() || (stage.contains(':') && (number.getAsInteger(10, run) || run == 0)))
    return std::nullopt;
  return std::pair(pass.str(), run);
}

/// The module as a pass left it, of a program that has been compiled as far as it goes.
static int emitAfterPass(Session& session, const std::string& pass, unsigned run) {
  if (!session.watch.text().empty()) {
    writeText(session, session.options.output, session.watch.text());
  } else if (!session.diagnostics.hasErrors()) {
    const std::vector<std::string> names = session.watch.names();
    const bool hasRun = llvm::is_contained(names, pass);
    auto report = session.diagnostics.report(unknownPass, session.commandLine->value("--emit", session.options.emit),
                                             pass, hasRun ? " " + std::to_string(run) + " times" : std::string());
    if (const svm::PassDefinition* known = svm::findPass(pass); known && !hasRun)
      report.help("it stands " + known->place.str() + " (docs/passes.md)");
    else if (const std::string nearest = nearestName(pass, names); !hasRun && !nearest.empty())
      report.help("did you mean '" + nearest + "'?");
    report.help("in order, these are: " + llvm::join(names, ", "));
  }
  return finish(session);
}

int emitCommand(Session& session) {
  const std::string& stage = session.options.emit;
  std::vector<std::string> views, stages{"ast"};
  for (const notation::Notation* notation : notation::allNotations())
    views.insert(views.end(), notation->description().views.begin(), notation->description().views.end());
  stages.insert(stages.end(), views.begin(), views.end());
  stages.insert(stages.end(), {"svm", "placed", "scheduled"});
  for (const target::Target* target : target::allTargets())
    for (const target::Form& form : target->forms())
      if (!llvm::is_contained(stages, form.name))
        stages.push_back(form.name.str());
  const auto pass = passOf(stage);
  if (!pass && std::find(stages.begin(), stages.end(), stage) == stages.end()) {
    session.diagnostics.report(unknownStage, session.commandLine->value("--emit", stage), stage)
        .help("one of " + llvm::join(stages, ", ") + ", after:PASS");
    return finish(session);
  }
  if (pass)
    session.watch.keepAfter(pass->first, pass->second);
  DataOptions data;
  if (!prepare(session, data))
    return finish(session);
  useTuned(session);
  CompilerSession compilation(session);
  Compiler& compiler = compilation.compiler;
  if (!checkData(session, compiler, data))
    return finish(session);
  auto write = [&](const std::string& text) {
    writeText(session, session.options.output, text);
    return finish(session);
  };
  if (stage == "ast") {
    std::string tree = compiler.syntaxTree();
    return session.diagnostics.hasErrors() ? finish(session) : write(tree);
  }
  if (llvm::is_contained(views, stage)) {
    std::string text = compiler.view(stage);
    return session.diagnostics.hasErrors() ? finish(session) : write(text);
  }
  auto program = compiler.logical();
  if (pass) {
    if (program)
      compiler.compile(*program, session.options.optimization, {});
    return emitAfterPass(session, pass->first, pass->second);
  }
  if (!program)
    return finish(session);
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream stream(text);
    mlir::OpPrintingFlags flags;
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
    program->module->print(stream, flags);
    return text + "\n";
  };
  if (stage == "svm")
    return write(print());
  if (stage == "placed" || stage == "scheduled") {
    const bool fine = compiler.place(*program) && (stage == "placed" || compiler.schedule(*program));
    return fine ? write(print()) : finish(session);
  }
  const target::Target& target = *program->target;
  if (llvm::none_of(target.forms(), [&](const target::Form& form) { return form.name == stage; })) {
    session.diagnostics.report(noForm, session.commandLine->value("--emit", stage), target.name().str(), stage)
        .help("--emit=svm writes the program, which --target runs on another target");
    return finish(session);
  }
  auto artefact = compiler.compile(*program, session.options.optimization, {});
  auto text = artefact ? artefact->text(stage) : std::nullopt;
  return text ? write(*text) : finish(session);
}

} // namespace strata::driver
