// The checker's own state, which its files share: names of a program, and what each expression is. Internal to this
// folder.
#pragma once

#include "compiler/pla/check/check.h"

#include <map>
#include <set>

namespace strata::pla {

/// Thrown after a message has been given; caught where checking can go on.
struct CheckError {};

class Checker {
public:
  Checker(const SyntaxTree& tree, DiagnosticEngine& diagnostics) : tree_(tree), diagnostics_(diagnostics) {}

  std::optional<equations::System> run(const std::string& name);

private:
  // check.cpp: declarations and equations
  void declareParameters();
  void declareIterators(const LoopSyntax& loop);
  void declareVariable(const DeclarationSyntax& declared);
  void declareName(const NameSyntax& name);
  void checkEquation(const EquationSyntax& syntax);
  void requireUses();
  ElementType typeOf(const NameSyntax& name);
  const equations::SystemVariable& resolve(const NameSyntax& name, uint32_t& number);
  std::vector<equations::Affine> indices(const Expr& element, const equations::SystemVariable& of);

  // conditions.cpp: affine expressions and conditions
  equations::Affine affine(const Expr& expression);
  std::optional<int64_t> constantOf(const Expr& expression);
  equations::Space condition(const Expr& expression, bool isNegated = false);
  equations::Space comparison(const Expr& expression, bool isNegated);
  equations::Space compareRemainder(const Expr& remainder, Operator op, int64_t right, const Location& where);
  equations::Space both(const equations::Space& left, const equations::Space& right, const Location& where);
  equations::Space either(equations::Space left, const equations::Space& right, const Location& where);
  bool mentionsIterators(const Expr& expression);

  // values.cpp: expressions that compute
  equations::Expression value(const Expr& expression);
  equations::Expression number(const Expr& expression);
  equations::Expression named(const Expr& expression);
  equations::Expression unary(const Expr& expression);
  equations::Expression binary(const Expr& expression);
  equations::Expression conditional(const Expr& expression);
  equations::Expression call(const Expr& expression);
  equations::Expression reduction(const Expr& expression);
  equations::Expression converted(equations::Expression operand, const ElementType& type, const Location& where);
  equations::Expression truth(const Expr& expression);
  void unify(equations::Expression& left, equations::Expression& right, const Location& where);
  equations::Expression assigned(equations::Expression value, const ElementType& type, const Expr& syntax);

  const SyntaxTree& tree_;
  DiagnosticEngine& diagnostics_;
  equations::System system_;
  std::map<std::string, Location, std::less<>> names_;
  std::map<std::string, uint32_t, std::less<>> parameters_, iterators_, variables_;
  std::set<uint32_t> defined_;  // internal variables that some equation defines
  bool onlyParameters_ = false; // iterators are not allowed here
};

} // namespace strata::pla
