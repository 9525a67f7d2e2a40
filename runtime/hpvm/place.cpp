// A place for each of the two kinds of calls, of each thread.
#include "runtime/hpvm/place.h"

#include "runtime/core/source_line.h"

#include <utility>

namespace strata::hpvm {

static thread_local const StrataHpvmPlace* lastCall = nullptr;
static thread_local const StrataHpvmPlace* lastNodeCall = nullptr;

Caller takeCaller(const void* address) {
  return {std::exchange(lastCall, nullptr), address};
}

const StrataHpvmPlace* takeNodeCall() {
  return std::exchange(lastNodeCall, nullptr);
}

std::string placeText(const Caller& caller) {
  if (!caller.place)
    return "";
  return std::string(caller.place->file) + ":" + std::to_string(caller.place->line) + ":" +
         std::to_string(caller.place->column);
}

std::string atText(const Caller& caller) {
  return caller.place ? " at " + placeText(caller) : "";
}

void failAt(const Caller& caller, const char* code, const std::string& message, const std::string& help) {
  const runtime::SourceLine found = caller.place ? runtime::SourceLine() : runtime::sourceLine({caller.address});
  const char* const file = caller.place ? caller.place->file : found.file.c_str();
  const StrataCheck check{code,
                          message.c_str(),
                          help.c_str(),
                          file,
                          caller.place ? caller.place->line : found.line,
                          caller.place ? caller.place->column : 0};
  strata_fail(&check, nullptr, 0);
}

} // namespace strata::hpvm

void strata_hpvm_at(const StrataHpvmPlace* place) {
  (place->node ? strata::hpvm::lastNodeCall : strata::hpvm::lastCall) = place;
}
