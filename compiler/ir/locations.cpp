// Implements the conversion of locations and diagnostics.
#include "compiler/ir/locations.h"

#include "base/source/characters.h"
#include "base/source/nearest_name.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"

#include <set>

namespace strata {

STRATA_DIAGNOSTIC(irError, Error, "dialect-error", "{0}");
STRATA_DIAGNOSTIC(undefinedValue, Error, "dialect-undefined-value", "'{0}' is defined nowhere that is seen from here");
STRATA_DIAGNOSTIC(irWarning, Warning, "dialect-warning", "{0}");
STRATA_DIAGNOSTIC(irRemark, Remark, "dialect-remark", "{0}");

mlir::Location locationAt(const SourceManager& sources, const Location& place, mlir::MLIRContext& context) {
  if (!place.valid())
    return mlir::UnknownLoc::get(&context);
  const LineColumn at = sources.lineColumn(place);
  return mlir::FileLineColLoc::get(&context, sources.buffer(place.buffer).name(), at.line, at.column);
}

FilePlace filePlace(mlir::Location location) {
  FilePlace place;
  location->walk([&](mlir::Location inner) {
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(inner)) {
      place = {file.getFilename().str(), file.getLine(), file.getColumn()};
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return place;
}

mlir::Location locationOf(const FilePlace& place, mlir::MLIRContext* context) {
  if (place.file.empty())
    return mlir::UnknownLoc::get(context);
  return mlir::FileLineColLoc::get(context, place.file, place.line, place.column);
}

std::string placeName(mlir::Location location) {
  auto named = llvm::dyn_cast<mlir::NameLoc>(location);
  return named ? named.getName().str() : std::string();
}

mlir::Location placePart(mlir::Location location, unsigned part) {
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(location);
  return fused && part < fused.getLocations().size() ? fused.getLocations()[part] : location;
}

Location sourceLocation(const SourceManager& sources, mlir::Location location) {
  FilePlace place = filePlace(location);
  BufferId buffer = sources.find(place.file);
  return buffer.valid() && place.line ? sources.at(buffer, place.line, std::max(place.column, 1u)) : Location();
}

namespace {

/// The names in a text that begin with `mark`, as "%i" and "!block".
std::vector<std::string> namesWith(char mark, llvm::StringRef text) {
  std::set<std::string> names;
  for (size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
    const llvm::StringRef name = text.substr(at + 1).take_while(isWordCharacter);
    if (!name.empty())
      names.insert(mark + name.str());
  }
  return {names.begin(), names.end()};
}

/// Proposes the nearest name for one that MLIR's parser does not know and has in its message.
void proposeForParser(DiagnosticBuilder& report, llvm::StringRef message, const Location& where,
                      const SourceManager& sources, mlir::MLIRContext& context) {
  const llvm::StringRef quoted = message.split('\'').second.split('\'').first;
  const llvm::StringRef text = where.valid() ? llvm::StringRef(sources.buffer(where.buffer).text()) : "";
  if (message.starts_with("undefined symbol alias id")) {
    for (const char mark : {'!', '#'})
      if (text.contains(mark + quoted.str()))
        proposeName(report, mark + quoted.str(), namesWith(mark, text));
  } else if (message.starts_with("custom op '") && message.contains("is unknown")) {
    std::vector<std::string> names;
    for (mlir::RegisteredOperationName each : context.getRegisteredOperations())
      names.push_back(each.getStringRef().str());
    proposeName(report, quoted, names);
  }
}

/// The value that stands at a place; empty when none does.
std::string valueAt(const Location& where, const SourceManager& sources) {
  const llvm::StringRef rest =
      where.valid() ? llvm::StringRef(sources.buffer(where.buffer).text()).substr(where.begin) : "";
  return rest.starts_with("%") ? "%" + rest.drop_front().take_while(isWordCharacter).str() : "";
}

/// The place of an attribute that the dialect does not have, behind the beginning of its operation, which is all that
/// MLIR knows of it.
Location attributeAt(llvm::StringRef message, const Location& where, const SourceManager& sources) {
  if (!where.valid() || !message.contains("which the dialect does not have"))
    return where;
  const llvm::StringRef name = message.split(" carries '").second.split('\'').first;
  const llvm::StringRef text = sources.buffer(where.buffer).text();
  for (size_t at = text.find(name, where.begin); at != text.npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end == text.size() || !isWordCharacter(text[end]))
      return {where.buffer, static_cast<uint32_t>(at), static_cast<uint32_t>(end)};
  }
  return where;
}

/// Whether the parser says once more, of a whole operation, what it has said of a part of it.
bool saysAgain(llvm::StringRef message, const Location& where, const DiagnosticEngine& engine) {
  if (!(message.starts_with("custom op '") || message.starts_with("failed to parse ")) || !where.valid() ||
      engine.all().empty())
    return false;
  const Diagnostic& last = engine.all().back();
  return last.kind == &irError && !last.labels.empty() && last.labels[0].location.buffer == where.buffer &&
         engine.sources().lineColumn(last.labels[0].location).line == engine.sources().lineColumn(where).line;
}

} // namespace

MlirDiagnostics::MlirDiagnostics(mlir::MLIRContext& context, DiagnosticEngine& engine) : context_(context) {
  // The place shows the operation already, as the user wrote it. For printing it MLIR would verify the whole program.
  context.printOpOnDiagnostic(false);
  handler_ = context.getDiagEngine().registerHandler([&engine, &context](mlir::Diagnostic& diagnostic) {
    const DiagnosticKind* kind = &irRemark;
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      kind = &irError;
    else if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning)
      kind = &irWarning;
    const std::string message = diagnostic.str();
    const Location where =
        attributeAt(message, sourceLocation(engine.sources(), diagnostic.getLocation()), engine.sources());
    if (kind == &irError && saysAgain(message, where, engine))
      return mlir::success();
    const std::string value =
        message == "use of undeclared SSA value name" ? valueAt(where, engine.sources()) : std::string();
    if (!value.empty()) {
      DiagnosticBuilder out = engine.report(undefinedValue, where, value);
      proposeName(out, value, namesWith('%', engine.sources().buffer(where.buffer).text()));
      return mlir::success();
    }
    DiagnosticBuilder out = engine.report(*kind, where, message);
    proposeForParser(out, message, where, engine.sources(), context);
    for (mlir::Diagnostic& note : diagnostic.getNotes())
      out.note(note.str());
    return mlir::success();
  });
}

MlirDiagnostics::~MlirDiagnostics() {
  context_.getDiagEngine().eraseHandler(handler_);
}

} // namespace strata
