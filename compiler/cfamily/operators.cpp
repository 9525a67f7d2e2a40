// How operators are spelt.
#include "compiler/cfamily/operators.h"

namespace strata::cfamily {

const char* operatorText(Operator op) {
  static constexpr const char* texts[] = {"",   "+",  "-", "*", "/", "%",  "<<", ">>", "<", ">", "<=", ">=",
                                          "==", "!=", "&", "^", "|", "&&", "||", "+",  "-", "!", "~"};
  return texts[static_cast<unsigned>(op)];
}

Operator mirrored(Operator comparison) {
  switch (comparison) {
  case Operator::Less:
    return Operator::Greater;
  case Operator::LessEqual:
    return Operator::GreaterEqual;
  case Operator::Greater:
    return Operator::Less;
  case Operator::GreaterEqual:
    return Operator::LessEqual;
  default:
    return comparison;
  }
}

} // namespace strata::cfamily
