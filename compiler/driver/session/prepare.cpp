// Preparation of a command (see the header).
#include "compiler/driver/session/prepare.h"

#include "compiler/driver/session/array_arguments.h"
#include "compiler/driver/session/output_files.h"

namespace strata::driver {

bool prepare(Session& session, DataOptions& data) {
  const Options& options = session.options;
  auto place = [&](const char* option, const std::string& value) { return session.commandLine->value(option, value); };
  for (const std::string& text : options.sizes)
    if (auto sizes = parseSizeOption(text, session.diagnostics, place("--size", text)))
      data.sizes.insert(data.sizes.end(), sizes->begin(), sizes->end());
  for (const std::string& text : options.inputs)
    if (auto input = parseInputOption(text, session.diagnostics, place("--in", text)))
      data.inputs.push_back(*input);
  for (const std::string& text : options.outputs)
    if (auto output = parseOutputOption(text, session.diagnostics, place("--out", text)))
      data.outputs.push_back(*output);
  checkRepeated(data.sizes, session.diagnostics);
  checkRepeated(data.inputs, session.diagnostics);
  checkRepeated(data.outputs, session.diagnostics);
  if (!readArrayArguments(session) || !checkOutputFiles(session, data.outputs) ||
      !openInputFiles(data, session.diagnostics))
    return false;
  for (const SizeOption& size : data.sizes) {
    session.options.compile.sizes[size.name] = size.value;
    session.options.compile.sizePlaces[size.name] = size.where;
  }
  for (const auto& [name, file] : data.files)
    session.options.compile.shapes[name] = file.shape();
  return true;
}

bool checkData(Session& session, Compiler& compiler, DataOptions& data) {
  if (data.inputs.empty() && data.outputs.empty() && data.sizes.empty())
    return true;
  mlir::OwningOpRef<mlir::ModuleOp> module = compiler.lowered();
  if (!module)
    return !session.diagnostics.hasErrors();
  if (compiler.hasFixedSizes())
    data.sizes.clear();
  DiagnosticEngine quiet(session.sources);
  std::vector<EntryPoint> entries;
  for (auto function : module->getOps<mlir::func::FuncOp>())
    if (function->hasAttr(svm::SvmDialect::entryAttr))
      if (auto entry = readEntry(function, quiet))
        entries.push_back(std::move(*entry));
  const std::string& asked = session.options.compile.entry;
  if (llvm::any_of(entries, [&](const EntryPoint& entry) { return entry.name == asked; }))
    std::erase_if(entries, [&](const EntryPoint& entry) { return entry.name != asked; });
  return entries.empty() || checkArguments(entries, data, session.diagnostics);
}

static mlir::DialectRegistry dialects() {
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  return registry;
}

/// The options, with the watch where something is asked of it.
static CompileOptions watched(Session& session) {
  CompileOptions options = session.options.compile;
  if (session.options.timePasses || session.options.emit.rfind("after:", 0) == 0)
    options.watch = &session.watch;
  return options;
}

CompilerSession::CompilerSession(Session& session)
    : context(dialects(), mlir::MLIRContext::Threading::DISABLED), forward(context, session.diagnostics),
      compiler(context, session.diagnostics, watched(session)) {
  // Passes make operations of dialects that a program need not use.
  context.loadAllAvailableDialects();
}

} // namespace strata::driver
