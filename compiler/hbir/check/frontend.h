// Reads an HBIR program: splits it into tokens, tells its form, parses and checks it. The Program that comes out owns
// all of its parts except the source files, which stay with the diagnostics' SourceManager. Not thread safe.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hbir/mapping/mapping.h"
#include "compiler/hbir/program/program.h"

#include <map>
#include <memory>
#include <string>

namespace strata::hbir {

struct ReadOptions {
  /// Values that replace constants of the data segment.
  std::map<std::string, int64_t> constants;
  std::map<std::string, Location> places; // where they stand on the command line
};

/// The checked program, with a mapping put in when one is given; null when there are errors, which are then in
/// `diagnostics`.
std::unique_ptr<Program> readProgram(BufferId file, DiagnosticEngine& diagnostics, const ReadOptions& options,
                                     const Mapping* mapping = nullptr);

} // namespace strata::hbir
