// Calls of inline functions, which are lowered in place (the checker has refused recursion): the parameters are values
// or storage, `return` is a jump to the end.
#include "compiler/sequoia/lower/lower_body.h"

namespace strata::sequoia {

using mlir::Value;

STRATA_DIAGNOSTIC(inlineDepth, Error, "sequoia-inline-depth",
                  "calls of inline functions inside of calls nest expressions more than {0} deep");
STRATA_DIAGNOSTIC(inlineLimit, Error, "sequoia-inline-limit",
                  "task '{0}' calls inline functions in more than {1} places, counting calls inside of calls");

static constexpr size_t deepestInlining = 64, mostInlining = 20000;
/// Expressions around a call; its body may add as many as the parser lets one tree have.
static constexpr size_t deepestExpression = 4000;

/// The function has a large struct as a copy of its own.
Value BodyLowering::objectArgument(const Expr* expr) {
  Target given = object(expr);
  at(expr->location);
  Target copy = newObject(expr->type, expr->location, "an argument");
  copyObject(copy, given);
  return copy.storage;
}

Value BodyLowering::callFunction(const Expr* expr) {
  const Function* function = expr->function;
  const bool givesObject = module_.isWide(function->result);
  Values arguments;
  for (const Expr* operand : expr->operands)
    arguments.push_back(module_.isWide(operand->type) ? objectArgument(operand) : value(operand));
  at(expr->location);
  auto wrong = [&]() {
    return function->result->isVoid() ? Value()
           : givesObject              ? newObject(function->result, expr->location, function->name).storage
                                      : zeroOf(module_.typeOf(function->result));
  };
  if (nested_ >= deepestInlining || ++inlined_ > mostInlining) {
    if (inlined_ <= mostInlining + 1)
      module_.diagnostics.report(inlineLimit, expr->location, instance_.variant->taskName,
                                 inlined_ > mostInlining ? mostInlining : deepestInlining);
    inlined_ = mostInlining + 1;
    return wrong();
  }
  if (depth_ > deepestExpression) {
    module_.diagnostics.report(inlineDepth, expr->location, deepestExpression);
    return wrong();
  }
  ++nested_;
  for (auto [parameter, argument] : llvm::zip(function->parameters, arguments)) {
    Binding binding;
    if (module_.isWide(parameter->type)) {
      binding.storage = argument;
    } else if (module_.facts.isWritten(parameter)) {
      binding.storage = allocate(module_.typeOf(parameter->type));
      store(argument, binding.storage);
    } else {
      binding.value = argument;
    }
    names_->bindings[parameter] = binding;
  }
  Value savedBreak = breakFlag_, savedContinue = continueFlag_, savedFlag = returnFlag_, savedResult = returned_;
  breakFlag_ = continueFlag_ = returnFlag_ = returned_ = Value();
  Value result;
  const std::vector<Stmt*>& body = function->body->statements;
  unsigned early = NoJump;
  for (const Stmt* each : body)
    if (each != body.back())
      early |= module_.facts.jumps(each);
  const Stmt* last = body.empty() ? nullptr : body.back();
  if (early == NoJump && !givesObject && last && last->kind == StmtKind::Return && last->expression) {
    // The one return stands at the end: its value is the call's.
    for (const Stmt* each : body)
      if (each != last)
        statement(each);
    result = value(last->expression);
  } else {
    returnFlag_ = flag(false);
    if (givesObject) {
      Target result = newObject(function->result, expr->location, function->name);
      clearObject(result);
      returned_ = result.storage;
    } else if (!function->result->isVoid()) {
      returned_ = allocate(module_.typeOf(function->result));
      store(zeroOf(module_.typeOf(function->result)), returned_);
    }
    sequence(body);
    at(expr->location);
    if (returned_)
      result = givesObject ? returned_ : load(returned_);
  }
  breakFlag_ = savedBreak;
  continueFlag_ = savedContinue;
  returnFlag_ = savedFlag;
  returned_ = savedResult;
  --nested_;
  at(expr->location);
  return result;
}

} // namespace strata::sequoia
