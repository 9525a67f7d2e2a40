// The C side of a built program: for every entry point a function of C that checks its arguments and calls the compiled
// code, and the header that declares them. Made from the logical program; the text is compiled by Clang.
#pragma once

#include "compiler/driver/compile/pipeline.h"
#include "compiler/notation/entry_interface.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::driver {

struct CInterface {
  std::string header;     // includes one header of Strata, and nothing else that is not C's own
  target::Interface code; // includes that, and "strata_abi.h" (compiler/clang/clang.h)
};

/// Arrays are passed as `interface` says; with null as pointers, with sizes before them. `name`, `headerName` and
/// `processor`, which the code is for, are for comments and the header's guard. Nothing when an entry point cannot be a
/// C function (reported).
std::optional<CInterface> makeCInterface(const std::vector<mlir::func::FuncOp>& entries, const LogicalProgram& program,
                                         const notation::EntryInterface* interface, const std::string& name,
                                         const std::string& headerName, const std::string& processor,
                                         DiagnosticEngine& diagnostics);

/// Whether a machine may be spread over several processes.
bool isSpread(const Machine& machine);
/// C text behind that of the entry points for a program that is linked with --wrap=main: its main begins with finding
/// the other processes. `library` is the path of the one that speaks MPI, empty where there is none.
std::string mainOfNodes(const std::string& library);
inline constexpr const char* mainOfNodesName = "__wrap_main"; // the function that it is

} // namespace strata::driver
