// Tells which of the three forms a program is written in, from its tokens alone, before it is parsed.
#pragma once

#include "compiler/hbir/syntax/ast.h"
#include "compiler/hbir/syntax/lexer.h"

namespace strata::hbir {

struct FormEvidence {
  Form form = Form::A;
  Location where;
  std::string reason; // completes "it was taken for form A because …"
};

FormEvidence detectForm(const std::vector<Token>& tokens);

} // namespace strata::hbir
