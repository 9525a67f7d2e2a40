// The registered diagnostics of the interpreter and the places they point at.
#include "compiler/interpret/failures.h"
#include "compiler/ir/locations.h"

#include <map>
#include <memory>

namespace strata::interpret {

STRATA_DIAGNOSTIC(outOfBounds, Error, "interpret-out-of-bounds", "index {0} of dimension {1} is outside [0, {2})");
STRATA_DIAGNOSTIC(outsideStorage, Error, "interpret-outside-storage",
                  "the access reaches element {0} of a block that has {1} elements");
STRATA_DIAGNOSTIC(badView, Error, "interpret-bad-view",
                  "the access goes through a view that reaches beyond its source: {0}");
STRATA_DIAGNOSTIC(dead, Error, "interpret-use-after-scope", "{0} is used after the end of the region that it lives in");
STRATA_DIAGNOSTIC(undefinedRead, Error, "interpret-undefined-read", "{0} is read, and nothing has written it");
STRATA_DIAGNOSTIC(divisionByZero, Error, "interpret-division-by-zero", "division by zero");
STRATA_DIAGNOSTIC(divisionOverflow, Error, "interpret-division-overflow",
                  "the quotient of the least integer and -1 does not fit in its type");
STRATA_DIAGNOSTIC(badStep, Error, "interpret-bad-step", "a loop's step is {0}; it has to be positive");
STRATA_DIAGNOSTIC(badExtent, Error, "interpret-bad-extent", "a block is made with an extent of {0}");
STRATA_DIAGNOSTIC(castExtent, Error, "interpret-cast-extent", "an extent of {0} is cast to {1}");
STRATA_DIAGNOSTIC(moveExtents, Error, "interpret-move-extents",
                  "a block of extents {0} is moved to one of extents {1}");
STRATA_DIAGNOSTIC(moveOverlap, Error, "interpret-move-overlap", "the source and the destination of a move overlap");
STRATA_DIAGNOSTIC(argumentOverlap, Error, "interpret-argument-overlap",
                  "two arguments of '{0}' overlap, and one of them is written");
STRATA_DIAGNOSTIC(usesOverlap, Error, "check-overlap", "{0} and {1} are used at once and share {2}, and {3}");
STRATA_DIAGNOSTIC(iterationOverlap, Error, "check-iteration-overlap", "{0} and {1} share {2}, and {3}");
STRATA_DIAGNOSTIC(repeatedIndex, Error, "check-repeated-index", "{0} writes {1} more than once");
STRATA_DIAGNOSTIC(combinerOrder, Error, "check-combiner",
                  "the combiner '{0}' does not {1}: {2} is {3} in one order and {4} in another");
STRATA_DIAGNOSTIC(signedOverflow, Error, "check-signed-overflow", "{0} does not fit into a signed integer of {1} bits");
STRATA_DIAGNOSTIC(checkMemory, Error, "check-out-of-memory",
                  "to check {0} with its {1} elements for overlaps takes {2} bytes, and {3} are left");
STRATA_DIAGNOSTIC(outOfMemory, Error, "interpret-out-of-memory",
                  "a block of {0} bytes does not fit; blocks may take {1} bytes in all");
STRATA_DIAGNOSTIC(badDealloc, Error, "interpret-bad-dealloc",
                  "memref.dealloc is given a block that memref.alloc did not make, or that is gone");
STRATA_DIAGNOSTIC(tooDeep, Error, "interpret-too-deep", "more than {0} calls are active at once");
STRATA_DIAGNOSTIC(tooManyTasks, Error, "interpret-too-many-tasks",
                  "more than {0} instances, runs and moves are under way at once");
STRATA_DIAGNOSTIC(tooManyInstances, Error, "too-many-instances", "a concurrent loop has more than {0} instances");
STRATA_DIAGNOSTIC(tooManySteps, Error, "interpret-too-many-steps", "the program has not ended after {0} steps");
STRATA_DIAGNOSTIC(badCapacity, Error, "interpret-bad-capacity", "a stream is made with room for {0} elements");
STRATA_DIAGNOSTIC(pushAfterEnd, Error, "interpret-push-after-end", "stream {0} has ended; nothing more can be pushed");
STRATA_DIAGNOSTIC(badPeek, Error, "interpret-bad-peek",
                  "a peek {0} elements ahead in stream {1}, which has room for {2} elements");
STRATA_DIAGNOSTIC(deadlock, Error, "interpret-deadlock", "the program cannot go on: all that runs waits ({0} in all)");
STRATA_DIAGNOSTIC(race, Error, "check-race", "{2} element {1} of '{0}', and {3} it, in no order");
STRATA_DIAGNOSTIC(raceSameValue, Warning, "check-race-same-value",
                  "{2} element {1} of '{0}', and {3} it, in no order; the value is the same");
STRATA_DIAGNOSTIC(copiesDiffer, Warning, "check-copies-differ",
                  "of the copies of '{0}', number {1} goes back; another value, in element {3} of number {2}, is lost");
STRATA_DIAGNOSTIC(externalFunction, Error, "interpret-external-function",
                  "'{0}' is a function whose code is not in the program; it cannot be interpreted");
STRATA_DIAGNOSTIC(unsupported, Error, "interpret-unsupported", "the interpreter does not execute {0}");
STRATA_DIAGNOSTIC(external, Error, "interpret-external-kernel", "kernel '{0}' failed: {1}");
STRATA_DIAGNOSTIC(indexCheck, Error, "index-out-of-range",
                  "index {0} of '{1}' is outside dimension {2}, which has {3} elements");
STRATA_DIAGNOSTIC(partIndex, Error, "interpret-part-index",
                  "index {0}, number {1} of {2}, is outside dimension 0 of {3}, which has {4} elements");
STRATA_DIAGNOSTIC(unknownFunction, Error, "interpret-unknown-function",
                  "there is no function or kernel '{0}' to interpret");
STRATA_DIAGNOSTIC(badArgument, Error, "interpret-bad-argument", "argument {0} of '{1}': {2}");

const DiagnosticKind& kindOf(Fault fault) {
  switch (fault) {
  case Fault::OutOfBounds:
    return outOfBounds;
  case Fault::OutsideStorage:
    return outsideStorage;
  case Fault::BadView:
    return badView;
  case Fault::Dead:
    return dead;
  case Fault::Undefined:
    return undefinedRead;
  case Fault::DivisionByZero:
    return divisionByZero;
  case Fault::DivisionOverflow:
    return divisionOverflow;
  case Fault::BadStep:
    return badStep;
  case Fault::BadExtent:
    return badExtent;
  case Fault::CastExtent:
    return castExtent;
  case Fault::MoveExtents:
    return moveExtents;
  case Fault::MoveOverlap:
    return moveOverlap;
  case Fault::ArgumentOverlap:
    return argumentOverlap;
  case Fault::Overlap:
    return usesOverlap;
  case Fault::IterationOverlap:
    return iterationOverlap;
  case Fault::RepeatedIndex:
    return repeatedIndex;
  case Fault::Combiner:
    return combinerOrder;
  case Fault::SignedOverflow:
    return signedOverflow;
  case Fault::CheckMemory:
    return checkMemory;
  case Fault::OutOfMemory:
    return outOfMemory;
  case Fault::BadDealloc:
    return badDealloc;
  case Fault::TooDeep:
    return tooDeep;
  case Fault::TooManyTasks:
    return tooManyTasks;
  case Fault::TooManyInstances:
    return tooManyInstances;
  case Fault::TooManySteps:
    return tooManySteps;
  case Fault::BadCapacity:
    return badCapacity;
  case Fault::PushAfterEnd:
    return pushAfterEnd;
  case Fault::BadPeek:
    return badPeek;
  case Fault::Deadlock:
    return deadlock;
  case Fault::Race:
    return race;
  case Fault::RaceSameValue:
    return raceSameValue;
  case Fault::CopiesDiffer:
    return copiesDiffer;
  case Fault::ExternalFunction:
    return externalFunction;
  case Fault::Unsupported:
    return unsupported;
  case Fault::External:
    return external;
  case Fault::PartIndex:
    return partIndex;
  case Fault::Index:
    return indexCheck;
  case Fault::UnknownFunction:
    return unknownFunction;
  case Fault::BadArgument:
    return badArgument;
  }
  return unsupported;
}

const DiagnosticKind* kindOfCode(llvm::StringRef code) {
  for (const DiagnosticKind* kind : DiagnosticKind::all())
    if (code == kind->code)
      return kind;
  return nullptr;
}

const DiagnosticKind& kindOfRule(const std::string& code) {
  if (const DiagnosticKind* known = kindOfCode(code); known && known->severity == Severity::Error)
    return *known;
  // Programs name the codes of their rules; a kind lives as long as what was reported under it.
  static std::map<std::string, std::unique_ptr<DiagnosticKind>>& kinds =
      *new std::map<std::string, std::unique_ptr<DiagnosticKind>>();
  auto [entry, isNew] = kinds.try_emplace(code);
  if (isNew)
    entry->second = std::make_unique<DiagnosticKind>(Severity::Error, entry->first.c_str(), "{0}");
  return *entry->second;
}

std::string locationText(mlir::Location location) {
  FilePlace place = filePlace(location);
  return place.file.empty() ? "" : place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

void addPlace(Diagnostic& diagnostic, mlir::Location where, const std::string& text, const SourceManager& sources) {
  Location place = sourceLocation(sources, where);
  if (place.valid()) {
    diagnostic.labels.push_back({place, text});
    return;
  }
  std::string words = locationText(where);
  if (words.empty())
    words = text;
  else if (!text.empty())
    words += ": " + text;
  if (!words.empty())
    diagnostic.notes.push_back(words);
}

Diagnostic makeDiagnostic(Fault fault, mlir::Location where, const std::vector<std::string>& arguments,
                          const SourceManager& sources) {
  Diagnostic diagnostic;
  diagnostic.kind = &kindOf(fault);
  diagnostic.message = formatMessage(diagnostic.kind->format, arguments);
  addPlace(diagnostic, where, "", sources);
  return diagnostic;
}

} // namespace strata::interpret
