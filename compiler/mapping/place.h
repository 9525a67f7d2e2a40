// Placement: a logical program and a mapping record become a placed program on a machine. place() is the only thing
// that makes a placed program, for every notation.
#pragma once

#include "base/machine/machine.h"
#include "compiler/ir/svm.h"
#include "compiler/mapping/record.h"

namespace strata::mapping {

/// Places `program` in place: gives every block its memory, every loop, call and run its processor, and makes each
/// change of processor a visible region. Names that the machine lacks, labels that the program lacks, and operands out
/// of reach are reported; the program is then unusable. REQUIRES: the program is logical and verifies.
bool place(mlir::ModuleOp program, const Record& record, const Machine& machine, DiagnosticEngine& diagnostics);

/// The memory that place() puts an argument of a function in; none where the record names what the machine lacks.
machine::MemoryId argumentMemory(mlir::func::FuncOp function, unsigned position, const Record& record,
                                 const Machine& machine);

/// What a placed program must satisfy on its machine: names resolve, every operand can be reached by the processor that
/// touches it, control stands at the level of the data it touches, moves connect memories that are linked. Shares no
/// code with place().
bool verifyPlaced(mlir::ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics);

/// Checks that the loops which the mapping flattens can be: constant bounds, and not too many copies. REQUIRES: a
/// placed program in which constants have been propagated, before its iterations are distributed.
bool checkFlattening(mlir::ModuleOp program, DiagnosticEngine& diagnostics);

/// A memory that cannot hold what it is to hold at once.
struct Overflow {
  struct Held {
    int64_t bytes = 0;
    std::vector<std::pair<std::string, std::string>> sizedBy; // the tunables that set it, each with its instance
  };
  std::string memory;
  int64_t capacity = 0, wanted = 0;
  std::vector<Held> held; // the largest first
};

/// Fixes the address of every block and stream in an explicit memory, so that blocks that live at once do not overlap,
/// and checks the capacity. Functions that call themselves while they hold blocks in a memory, and all that they call,
/// have theirs on a stack behind every address; what they take in all is known when the program runs. What does not fit
/// is reported with who holds how much, and added to `overflows`, one for each report. Leaves a scheduled program.
/// REQUIRES: a placed program whose iterations have been distributed.
bool schedule(mlir::ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics,
              std::vector<Overflow>* overflows = nullptr);

/// What a scheduled program must satisfy: every block and stream in explicit memory has an aligned address inside the
/// memory and overlaps no other that lives at the same time, through all calls; stacks begin behind all addresses.
/// Shares no code with schedule().
bool verifyScheduled(mlir::ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics);

} // namespace strata::mapping
