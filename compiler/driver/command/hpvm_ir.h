// Programs in HPVM IR on the command line: files of LLVM IR with main and its graphs.
#pragma once

#include "compiler/driver/session/session.h"

#include <string>
#include <vector>

namespace strata::driver {

/// Whether a file's name says that it is LLVM IR.
bool isIrFile(llvm::StringRef file);

/// strata run, check and build of such a file, which has a main.
int irCommand(Session& session);

/// Puts in the place of each file of HPVM IR among the arguments of a compiler what it means in LLVM IR, in memory.
/// Other files stay. False on errors (reported).
bool replaceHpvmIr(Session& session, std::vector<std::string>& arguments);

} // namespace strata::driver
