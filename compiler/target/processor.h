// Processors that code is generated for, as LLVM knows them: by their names, by what they have in common, and by what
// code for one of them needs of the computer that it is loaded on. Functions of C and C++ may be compiled for more than
// the code around them; multiply-adds are fused, or not, before that is decided. Any thread.
#pragma once

#include "base/machine/figures.h"
#include "base/source/diagnostic.h"
#include "compiler/clang/carried_ir.h"
#include "compiler/target/target.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <optional>
#include <string>

namespace strata::target {

/// This computer's.
Processor thisProcessor();

/// A name as --cpu takes it: one of Clang's (-march, on Arm -mcpu), or "native" and nothing for this computer's.
/// Nothing where there is no such processor of this computer's architecture (reported).
std::optional<Processor> processorOf(const std::string& name, DiagnosticEngine& diagnostics, Location where = {});

/// What a function of C or C++ was compiled for; nothing where it does not say.
std::optional<Processor> processorOf(const llvm::Function& function);

/// A processor that has what both have.
Processor common(const Processor& left, const Processor& right);

/// The figures of a machine for code that is for one processor: registers are no larger and no more than it has.
machine::Figures limited(machine::Figures figures, const Processor& processor);

/// The features that code for a processor may use and the computer that it runs on may lack, as
/// strata_require_processor (runtime/abi.h) takes them.
std::string neededFeatures(const Processor& processor);

/// Has a module call strata_require_processor before main, or as it is loaded. `made`: the name of its file, or empty.
void requireProcessor(llvm::Module& module, const Processor& processor, const std::string& made);

/// Compiles the functions of a module for a processor. What comes from C or C++ and is compiled for more stays apart,
/// and is called.
void setProcessor(llvm::Module& module, llvm::TargetMachine& machine);

/// Each product and sum that C allows to be rounded once (llvm.fmuladd) is decided: once, unless the function's file
/// was compiled for a processor that the user chose (clang::statesProcessor) and that fuses none. So a result depends
/// on no other processor, and not on how code is optimised.
void settleMultiplyAdds(llvm::Module& module);

} // namespace strata::target
