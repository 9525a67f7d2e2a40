// Walks the instances of a graph and their statements with the level of the control that runs them.
#include "compiler/sequoia/resolve/check_levels.h"

#include <algorithm>
#include <utility>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(controlData, Error, "sequoia-mapping-control-data",
                  "control at level {0} of instance '{1}' reads '{2}', which is at level {3}");
STRATA_DIAGNOSTIC(upwardCall, Error, "sequoia-mapping-upward",
                  "instance '{0}' at level {1} cannot be called from {2} at level {3}");
STRATA_DIAGNOSTIC(upwardArgument, Error, "sequoia-mapping-argument-level",
                  "array '{0}' of instance '{1}' is at level {2}, and is given '{3}' of instance '{4}' at level {5}");
STRATA_DIAGNOSTIC(leafLevel, Error, "sequoia-mapping-leaf-level",
                  "leaf instance '{0}' has array '{1}' at level {2}, which the processors of level 0 do not reach");
STRATA_DIAGNOSTIC(leafProcessor, Error, "sequoia-mapping-leaf-processor",
                  "no processor of level 0 runs leaf instance '{0}'");
STRATA_DIAGNOSTIC(loopLevels, Error, "sequoia-mapping-loop-level",
                  "loop '{0}' at level {1} is inside of loop '{2}' at level {3}");
STRATA_DIAGNOSTIC(endlessRecursion, Error, "sequoia-mapping-recursion", "instance '{0}' calls itself without end{1}");

namespace {

class LevelCheck {
public:
  LevelCheck(const InstanceGraph& graph, const Machine& machine, DiagnosticEngine& diagnostics)
      : graph_(graph), machine_(machine), diagnostics_(diagnostics) {}

  void run() {
    for (const Instance& each : graph_.instances) {
      instance_ = &each;
      if (each.variant->kind == TaskKind::Inner)
        inner();
      else
        leaf();
    }
    recursion();
  }

private:
  void inner() {
    for (const ResolvedLoop& loop : instance_->loops) {
      const Loop* parent = loop.loop->parent;
      if (parent && instance_->loops[parent->index].level < loop.level)
        loopAbove(loop, instance_->loops[parent->index]);
    }
    known_ = knownEverywhere(*instance_->variant);
    statement(instance_->variant->body, instance_->controlLevel);
    for (const ResolvedCallsite& site : instance_->callsites)
      for (const ResolvedTarget& target : site.targets)
        call(site, graph_.instances[target.instance]);
  }

  void loopAbove(const ResolvedLoop& loop, const ResolvedLoop& around) {
    const Location& said = loop.place.valid() ? loop.place : around.place.valid() ? around.place : instance_->place;
    DiagnosticBuilder report = diagnostics_.report(loopLevels, said, loop.loop->variableName, loop.level,
                                                   around.loop->variableName, around.level);
    report.label(loop.loop->location, "the loop");
    if (loop.place.valid() && around.place.valid())
      report.label(around.place, "the loop around it");
    report.note("control passes from outer levels to inner ones")
        .help("map loop '" + std::string(loop.loop->variableName) + "' to level " + std::to_string(around.level) +
              " or further in, or loop '" + std::string(around.loop->variableName) + "' to level " +
              std::to_string(loop.level) + " or further out");
  }

  void call(const ResolvedCallsite& site, const Instance& callee) {
    if (callee.variant->kind == TaskKind::Inner && callee.controlLevel > site.level)
      diagnostics_.report(upwardCall, callee.place, callee.name, callee.controlLevel, "control", site.level)
          .label(site.callsite->location, "the call")
          .help("put the control of '" + callee.name + "' at level " + std::to_string(site.level) +
                " or further in, or the control that calls it at level " + std::to_string(callee.controlLevel) +
                " or further out");
    const auto& arguments = site.callsite->statement->arguments;
    for (size_t i = 0; i < arguments.size() && !site.callsite->isCombiner; ++i) {
      const Expr& value = *arguments[i].value;
      if (value.kind != ExprKind::Block)
        continue;
      unsigned from = instance_->arrayLevels[value.variable->index];
      unsigned to = callee.arrayLevels[callee.variant->parameters[i]->index];
      if (to > from)
        diagnostics_
            .report(upwardArgument, callee.place, callee.variant->parameters[i]->name, callee.name, to,
                    value.variable->name, instance_->name, from)
            .label(instance_->place, "the instance that gives it")
            .label(value.location, "the argument")
            .note("data moves down, from a memory to one nearer to the processors, and back")
            .help("put array '" + std::string(callee.variant->parameters[i]->name) + "' of '" + callee.name +
                  "' at level " + std::to_string(from) + " or further in, or '" + std::string(value.variable->name) +
                  "' of '" + instance_->name + "' at level " + std::to_string(to) + " or further out");
    }
  }

  void leaf() {
    machine::ProcessorId processor = machine_.controllerOf(0);
    if (!processor.valid() || (instance_->variant->kind == TaskKind::Leaf && !machine_[processor].userKernels)) {
      diagnostics_.report(leafProcessor, instance_->place.valid() ? instance_->place : instance_->variant->location,
                          instance_->name);
      return;
    }
    for (const Variable* array : instance_->variant->arrays) {
      unsigned level = instance_->arrayLevels[array->index];
      machine::MemoryId memory = machine_.levels[level].memory;
      if (level == 0 || !(machine_.isExplicit(memory) || machine_[memory].files))
        continue;
      diagnostics_.report(leafLevel, instance_->place, instance_->name, array->name, level)
          .label(array->location, "the array")
          .help("put the instance at level 0");
      return; // its other arrays are there for the same reason
    }
  }

  // Statements of an inner task. Arguments of task calls and blocks are transfers, and free of the rule.
  void statement(const Stmt* stmt, unsigned level) {
    if (!stmt)
      return;
    switch (stmt->kind) {
    case StmtKind::Map: {
      const ResolvedLoop* around = std::exchange(loop_, &instance_->loops[stmt->loop->index]);
      expression(stmt->loop->start, loop_->level);
      expression(stmt->loop->end, loop_->level);
      statement(stmt->body, loop_->level);
      loop_ = around;
      return;
    }
    case StmtKind::TaskCall:
    case StmtKind::Copy:
      for (const Argument& argument : stmt->arguments)
        if (argument.value->kind != ExprKind::Variable)
          expression(argument.value, level);
      return;
    default:
      break;
    }
    if (stmt->expression)
      expression(stmt->expression, level);
    if (stmt->step)
      expression(stmt->step, level);
    for (const Variable* variable : stmt->variables) {
      expression(variable->initializer, level);
      for (const Expr* each : variable->stores)
        expression(each->operands[1], level);
    }
    for (const Stmt* child : {stmt->initial, stmt->body, stmt->otherwise})
      statement(child, level);
    for (const Stmt* child : stmt->statements)
      statement(child, level);
    for (const SwitchSection& section : stmt->sections)
      for (const Stmt* child : section.statements)
        statement(child, level);
  }

  void expression(const Expr* expr, unsigned level) {
    if (!expr)
      return;
    if (expr->kind == ExprKind::Element)
      touches(*expr, instance_->arrayLevels[expr->variable->index], level);
    else if (expr->kind == ExprKind::Variable && !known_.contains(expr->variable))
      touches(*expr, instance_->scalarLevel, level);
    for (const Expr* operand : expr->operands)
      expression(operand, level);
    for (const BlockRange& range : expr->ranges)
      for (const Expr* part : {range.start, range.end, range.stride, range.max})
        expression(part, level);
  }

  void touches(const Expr& expr, unsigned dataLevel, unsigned controlLevel) {
    if (dataLevel == controlLevel)
      return;
    const Location place = loop_ && loop_->place.valid() ? loop_->place : instance_->place;
    auto report =
        diagnostics_.report(controlData, place, controlLevel, instance_->name, expr.variable->name, dataLevel);
    report.label(expr.location, "read here").label(expr.variable->location, "declared here");
    const std::string what = loop_ ? "loop '" + std::string(loop_->loop->variableName) + "'" : "the control";
    const std::string help = "map " + what + " to level " + std::to_string(dataLevel);
    if (expr.kind == ExprKind::Element)
      report.help(help + ", or array '" + std::string(expr.variable->name) + "' to level " +
                  std::to_string(controlLevel));
    else
      report.help(help + ": scalars are at the level of the instance");
  }

  /// A cycle of calls is endless when nothing on it depends on a size. Searches for cycles of unconditional first
  /// targets.
  void recursion() {
    std::vector<char> state(graph_.instances.size()); // 1: on the path, 2: done
    struct Frame {
      uint32_t instance;
      size_t site = 0;
    };
    auto sure = [&](const ResolvedCallsite& site) -> const ResolvedTarget* {
      return !site.targets.empty() && site.targets[0].conditions.empty() ? &site.targets[0] : nullptr;
    };
    for (uint32_t root = 0; root < graph_.instances.size(); ++root) {
      if (state[root] == 2)
        continue;
      std::vector<Frame> path = {{root}};
      state[root] = 1;
      while (!path.empty()) {
        Frame& frame = path.back();
        const Instance& instance = graph_.instances[frame.instance];
        if (frame.site == instance.callsites.size()) {
          state[frame.instance] = 2;
          path.pop_back();
          continue;
        }
        const ResolvedCallsite& site = instance.callsites[frame.site++];
        const ResolvedTarget* target = sure(site);
        if (!target)
          continue;
        if (state[target->instance] == 1) {
          const Instance& callee = graph_.instances[target->instance];
          diagnostics_
              .report(endlessRecursion, callee.place, callee.name,
                      frame.instance == target->instance ? "" : " by way of '" + instance.name + "'")
              .label(site.callsite->location, "the call")
              .help("let this callsite call a leaf, or put a condition on a size before this target");
        } else if (state[target->instance] == 0) {
          state[target->instance] = 1;
          path.push_back({target->instance});
        }
      }
    }
  }

  const InstanceGraph& graph_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  const Instance* instance_ = nullptr;
  const ResolvedLoop* loop_ = nullptr; // the innermost around the statement
  std::set<const Variable*> known_;
};

} // namespace

std::set<const Variable*> knownEverywhere(const TaskVariant& variant) {
  std::set<const Variable*> known(variant.sizeParameters.begin(), variant.sizeParameters.end());
  known.insert(variant.tunables.begin(), variant.tunables.end());
  for (const Loop* loop : variant.loops)
    known.insert(loop->variable);
  // In lexical order, so that what an initial value mentions has been judged.
  for (const Variable* scalar : variant.scalars)
    if (scalar->kind == VariableKind::Local && !scalar->isAssigned && scalar->initializer &&
        readsOnly(scalar->initializer, known))
      known.insert(scalar);
  return known;
}

bool readsOnly(const Expr* expr, const std::set<const Variable*>& known) {
  if (!expr)
    return true;
  if (expr->kind == ExprKind::Element || expr->kind == ExprKind::Assign || expr->kind == ExprKind::Increment ||
      (expr->kind == ExprKind::Variable && !known.contains(expr->variable)))
    return false;
  for (const Expr* operand : expr->operands)
    if (!readsOnly(operand, known))
      return false;
  for (const BlockRange& range : expr->ranges)
    for (const Expr* part : {range.start, range.end, range.stride, range.max})
      if (!readsOnly(part, known))
        return false;
  return true;
}

void checkLevels(const InstanceGraph& graph, const Machine& machine, DiagnosticEngine& diagnostics) {
  LevelCheck(graph, machine, diagnostics).run();
}

} // namespace strata::sequoia
