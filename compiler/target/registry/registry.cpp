// The list of targets, and how a machine comes to one of them.
#include "compiler/target/registry/registry.h"

#include "compiler/target/array/target.h"
#include "compiler/target/host/target.h"
#include "compiler/target/interpreter/target.h"

#include "llvm/ADT/STLExtras.h"

namespace strata::target {

STRATA_DIAGNOSTIC(unknownTarget, Error, "target-unknown", "there is no target '{0}'");
STRATA_DIAGNOSTIC(otherPart, Error, "target-part",
                  "processor '{0}' of machine '{1}' is of target '{2}', to which target '{3}' gives no work");

llvm::ArrayRef<const Target*> allTargets() {
  static const Target* const targets[] = {&host::target(), &interpret::target(), &array::target()};
  return targets;
}

const Target* findTarget(llvm::StringRef name) {
  const auto* found = llvm::find_if(allTargets(), [&](const Target* target) { return target->name() == name; });
  return found == allTargets().end() ? nullptr : *found;
}

namespace {

const Target* lookUp(const std::string& name, Location where, DiagnosticEngine& diagnostics) {
  if (const Target* target = findTarget(name))
    return target;
  std::vector<std::string> names;
  std::string list;
  for (const Target* target : allTargets()) {
    names.push_back(target->name().str());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  auto report = diagnostics.report(unknownTarget, where, name);
  if (const std::string nearest = nearestName(name, names); !nearest.empty())
    report.help("did you mean '" + nearest + "'?");
  report.help("the targets are: " + list);
  return nullptr;
}

} // namespace

const Target* targetOf(const Machine& machine, const std::string& name, Location where, DiagnosticEngine& diagnostics) {
  const Target* target = !name.empty()             ? lookUp(name, where, diagnostics)
                         : !machine.target.empty() ? lookUp(machine.target, machine.origin.of("target"), diagnostics)
                                                   : allTargets().front();
  // A target that was asked for by name runs all of the program.
  if (!target || !name.empty())
    return target;
  for (const machine::Processor& processor : machine.processors) {
    const Location place = processor.origin.of("target");
    if (processor.target.empty() || processor.target == target->name())
      continue;
    const Target* part = lookUp(processor.target, place, diagnostics);
    if (part && !target->givesWorkTo(*part))
      diagnostics.report(otherPart, place, processor.name, machine.name, part->name().str(), target->name().str())
          .help("leave 'target' out there, or give the whole machine a target that does");
    if (!part || !target->givesWorkTo(*part))
      return nullptr;
  }
  return target;
}

} // namespace strata::target
