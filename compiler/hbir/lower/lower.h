// Lowering: a checked HBIR program becomes a logical program in the svm dialect, and a mapping record that says where
// its parts go on a machine that has not the tiles it was written for. The module holds one entry point with an
// argument for each in and out array in text order. Not thread safe; the program must outlive the call only.
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "compiler/hbir/program/program.h"
#include "compiler/mapping/record.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace strata::hbir {

struct Lowered {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mapping::Record record;
};

/// The module verifies, and carries the machine, the notation and the record as attributes. The record distributes the
/// tiles to the processors that run control code at the machine's outermost level, and keeps all data in that level's
/// memory. Size and compile time do not depend on how many tiles or elements there are. Functions that the program
/// declares as extern are private functions without a body. `entry` is the entry point's name. Nothing after errors.
/// REQUIRES: the program passed the checks of its groups and layouts.
std::optional<Lowered> lower(const Program& program, const Machine& machine, mlir::MLIRContext& context,
                             DiagnosticEngine& diagnostics, const std::string& entry = "main");

} // namespace strata::hbir
