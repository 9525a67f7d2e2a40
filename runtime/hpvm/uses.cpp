// The last item that works on an object is all that has to be known: items end in the order in which they begin.
#include "runtime/hpvm/uses.h"

namespace strata::hpvm {

void ObjectUses::add(uintptr_t begin, size_t bytes, bool isWritten, int64_t item) {
  Object& object = objects_[begin];
  object.bytes = bytes;
  object.lastUsed = item;
  if (isWritten)
    object.lastWritten = item;
}

ObjectUses::Use ObjectUses::of(uintptr_t begin, size_t bytes, int64_t done) const {
  Use most = Use::None;
  for (const auto& [other, object] : objects_) {
    const bool isShared = other == begin || (other < begin ? begin - other < object.bytes : other - begin < bytes);
    if (!isShared)
      continue;
    if (object.lastWritten > done)
      return Use::Written;
    if (object.lastUsed > done)
      most = Use::Read;
  }
  return most;
}

} // namespace strata::hpvm
