// Trial compilations, which say whether a program fits its machine's memories under another mapping than the one in
// use: with other tunables, or with smaller ones chosen by default. Silent; each has a context of its own.
#pragma once

#include "compiler/driver/compile/pipeline.h"
#include "compiler/mapping/place.h"

namespace strata::driver {

struct Trial {
  bool fits = false;
  bool overflows = false;               // the reason why it does not is the size of a memory
  std::map<std::string, int64_t> bytes; // of one instance of each explicit memory, when it fits
};
Trial tryToFit(CompileOptions options);

/// How often the room that a default mapping aims at has to be halved before the program fits; 0 when nothing helps.
unsigned halvingsNeeded(const CompileOptions& options);

/// A value of one tunable with which a program fits, the largest power of two that was found.
struct FittingTunable {
  std::string name, instance;
  int64_t value = 0;
  int64_t bytes = 0; // that are then in use
};
/// Tries the tunables that set the size of what overflowed a memory, those of the largest blocks first; a few times.
std::optional<FittingTunable>
fittingTunable(const CompileOptions& options, const mapping::Overflow& overflow,
               llvm::function_ref<std::optional<int64_t>(llvm::StringRef, llvm::StringRef)> valueOf);

} // namespace strata::driver
