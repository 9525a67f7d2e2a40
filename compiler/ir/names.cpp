// What is a placeholder is what the runtime fills in (runtime/core/failure.cpp): a number in braces.
#include "compiler/ir/names.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;

namespace strata::svm {

bool holdsPlaceholder(StringRef text, unsigned* most) {
  constexpr size_t mostDigits = 9;
  bool found = false;
  for (size_t at = text.find('{'); at != StringRef::npos; at = text.find('{', at + 1)) {
    const StringRef digits = text.substr(at + 1).take_while(llvm::isDigit);
    if (digits.empty() || !text.substr(at + 1 + digits.size()).starts_with("}"))
      continue;
    const StringRef figures = digits.ltrim('0');
    unsigned number = std::numeric_limits<unsigned>::max();
    if (figures.size() <= mostDigits && figures.getAsInteger(10, number))
      number = 0; // nothing but zeros
    if (most)
      *most = found ? std::max(*most, number) : number;
    found = true;
  }
  return found;
}

StringRef problemOfName(StringRef name) {
  if (name.empty())
    return "is empty";
  if (name.contains('\0'))
    return "has a zero character";
  return holdsPlaceholder(name) ? "has a number in braces, where messages put a value" : "";
}

LogicalResult verifyName(Operation* op, StringRef what, StringRef name) {
  const StringRef problem = problemOfName(name);
  if (problem.empty())
    return success();
  return op->emitOpError() << "has " << what << " that " << problem;
}

LogicalResult verifyLabel(Operation* op, std::optional<StringRef> label) {
  return label ? verifyName(op, "a label", *label) : success();
}

} // namespace strata::svm
