// Where the program calls functions of hpvm.h: what strata cc has the program tell before each call (compiler/clang/),
// with or without debug information, and failures that say it. Where nothing was told, since another compiler made the
// caller, the debug information of the program is asked.
#pragma once

#include "runtime/abi.h"

#include <string>

extern "C" {
/* A call of the program. A constant of its code. */
typedef struct StrataHpvmPlace {
  const char* file;
  uint32_t line, column; /* from 1 */
  const char* function;  /* that the call stands in */
  const char* node;      /* the node function that is called; null: a function of hpvm.h is */
} StrataHpvmPlace;

/* Stands right before the call, and is about the calling thread. */
void strata_hpvm_at(const StrataHpvmPlace* place);
}

namespace strata::hpvm {

/// Who calls a function of hpvm.h.
struct Caller {
  const StrataHpvmPlace* place = nullptr; // null: not told
  const void* address = nullptr;          // where it goes on
};

/// Who calls the function of hpvm.h that calls this, first of all; what was told counts once. `address` is its return
/// address.
Caller takeCaller(const void* address);
/// The same of a call of the node function that this call stands in; null: not told.
const StrataHpvmPlace* takeNodeCall();

/// "w.c:33:14"; empty where it is not told. Does not ask the debug information.
std::string placeText(const Caller& caller);
/// The same for a sentence: "graph 'g', which was launched at w.c:33:14" has " at w.c:33:14" of it.
std::string atText(const Caller& caller);

[[noreturn]] void failAt(const Caller& caller, const char* code, const std::string& message, const std::string& help);

} // namespace strata::hpvm
