// Kernels that take and give the packed structs of streaming launches (runtime/hpvm/graph_table.h), as LLVM code.
#pragma once

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace strata::hpvm {

/// The bytes of a value in a packed struct.
uint64_t packedBytes(const llvm::Type* type);

/// A function (launch: 64 bits, a pointer for each field, a pointer to a byte): stores the fields of the next item, and
/// whether there is one. Without one the fields stay as they are.
llvm::Function* makeNext(llvm::Module& module, const std::vector<llvm::Type*>& fields, const std::string& name);

/// A function (launch: 64 bits, the fields; those that are pointers as 64 bits): gives them to the host.
llvm::Function* makeDeliver(llvm::Module& module, const std::vector<llvm::Type*>& fields, const std::string& name);

} // namespace strata::hpvm
