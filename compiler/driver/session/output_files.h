// The files that a command is asked to write, looked at before it begins: their names say what they will hold, no two
// outputs are one file, and none is a file that the command reads.
#pragma once

#include "compiler/driver/session/session.h"

namespace strata::driver {

/// REQUIRES: the options have been parsed, `outputs` from --out. False on errors (reported, each at its option).
bool checkOutputFiles(Session& session, const std::vector<OutputOption>& outputs);

/// What one of several programs writes.
struct ProgramOutputs {
  std::string program; // its file
  std::vector<OutputOption> outputs;
};
/// That none writes what another one writes or is. REQUIRES: each has passed the check above. False on errors
/// (reported).
bool checkOutputFilesApart(Session& session, const std::vector<ProgramOutputs>& programs);

/// Where the command line names a file that is written; no valid place where it does not.
Location placeOfOutput(const Session& session, const std::string& path);

/// The form of a program's mapping that a suffix of the mapping's file asks for; empty where it leaves the form open.
std::string mappingFormOf(const std::string& program, const std::string& path);

} // namespace strata::driver
