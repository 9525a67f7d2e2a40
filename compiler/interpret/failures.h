// What can go wrong while a program is interpreted, and how it is said. One list of faults, each with its registered
// diagnostic in failures.cpp.
#pragma once

#include "compiler/interpret/interpreter.h"

namespace strata::interpret {

enum class Fault {
  OutOfBounds,    // {0} index, {1} dimension, {2} extent
  OutsideStorage, // {0} element, {1} elements
  BadView,        // {0} what
  Dead,           // {0} what
  Undefined,      // {0} element
  DivisionByZero,
  DivisionOverflow,
  BadStep,     // {0} step
  BadExtent,   // {0} extent
  CastExtent,  // {0} extent, {1} wanted
  MoveExtents, // {0} source, {1} destination
  MoveOverlap,
  ArgumentOverlap,  // {0} kernel or function
  Overlap,          // {0}, {1} two blocks, {2} element, {3} who writes
  IterationOverlap, // the same
  RepeatedIndex,    // {0} block, {1} element
  Combiner,         // {0} combiner, {1} what it does not do, {2} element, {3}, {4} what two orders give
  SignedOverflow,   // {0} the operation, {1} bits
  CheckMemory,      // {0} array, {1} elements, {2} bytes, {3} bytes left
  OutOfMemory,      // {0} bytes, {1} limit
  BadDealloc,
  TooDeep,          // {0} limit
  TooManyTasks,     // {0} limit
  TooManyInstances, // {0} limit
  TooManySteps,     // {0} limit
  BadCapacity,      // {0} capacity
  PushAfterEnd,     // {0} stream
  BadPeek,          // {0} offset, {1} stream, {2} capacity
  Deadlock,         // {0} how many
  Race,             // {0} array, {1} element, {2} one instance and what it does, {3} the other
  RaceSameValue,    // the same
  CopiesDiffer,
  ExternalFunction, // {0} function
  Unsupported,      // {0} what
  External,         // {0} kernel, {1} reason
  PartIndex,        // {0} index, {1} position, {2} indices, {3} array, {4} extent
  Index,            // {0} index, {1} array, {2} dimension, {3} extent
  UnknownFunction,  // {0} name
  BadArgument,      // {0} position, {1} function, {2} what is wrong
};

const DiagnosticKind& kindOf(Fault fault);
/// The kind registered under a code, or null.
const DiagnosticKind* kindOfCode(llvm::StringRef code);

/// The error that a rule of a program is reported under, registered or not.
const DiagnosticKind& kindOfRule(const std::string& code);

/// A diagnostic of the fault at an operation's place, ready for labels and notes.
Diagnostic makeDiagnostic(Fault fault, mlir::Location where, const std::vector<std::string>& arguments,
                          const SourceManager& sources);
/// "file:line:column" of a location, or an empty string.
std::string locationText(mlir::Location location);
/// Adds a label at a place, or a note with the place in words when its file is not at hand.
void addPlace(Diagnostic& diagnostic, mlir::Location where, const std::string& text, const SourceManager& sources);

} // namespace strata::interpret
