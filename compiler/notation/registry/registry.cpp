// The list of notations, and how a file comes to one of them.
#include "compiler/notation/registry/registry.h"

#include "compiler/hbir/notation.h"
#include "compiler/pla/notation.h"
#include "compiler/sequoia/notation.h"

#include "llvm/ADT/STLExtras.h"

namespace strata::notation {

llvm::ArrayRef<const Notation*> allNotations() {
  static const Notation* const notations[] = {&sequoia::notation(), &hbir::notation(), &pla::notation()};
  return notations;
}

const Notation* notationOf(llvm::StringRef file) {
  const auto* found =
      llvm::find_if(allNotations(), [&](const Notation* each) { return file.ends_with(each->description().ending); });
  return found == allNotations().end() ? nullptr : *found;
}

} // namespace strata::notation
