// The dialect's attributes as data: which there are, what each holds, what it stands on and at which stages it is
// legal (attributes.def), for the verifiers of all stages and for targets. Stateless.
#pragma once

#include "compiler/ir/svm.h"

namespace strata::svm {

struct AttributeDefinition;

/// The attribute of a name, or null.
const AttributeDefinition* findAttribute(llvm::StringRef name);
llvm::StringRef nameOf(const AttributeDefinition& attribute);
/// "logical and placed programs", for messages.
std::string stagesOf(const AttributeDefinition& attribute);

/// Whether the dialect has such an attribute, on such an operation and with such a value; said through MLIR's
/// diagnostics where it has not. `argument`: it stands on that argument of a function or kernel.
mlir::LogicalResult verifyAttribute(mlir::Operation* op, mlir::NamedAttribute attribute,
                                    std::optional<unsigned> argument = std::nullopt);

/// The attributes of an operation and of its arguments that no program of this stage has.
void forEachStray(mlir::Operation* op, Stage stage, llvm::function_ref<void(const AttributeDefinition&)> body);
/// Takes them away from all operations of a program.
void dropStrays(mlir::ModuleOp program, Stage stage);

} // namespace strata::svm
