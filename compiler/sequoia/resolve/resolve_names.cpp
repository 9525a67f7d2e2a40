// Names that a mapping uses for objects of a variant, and numbers of levels: what they mean, or why they mean nothing.
#include "compiler/sequoia/resolve/resolver.h"

#include <algorithm>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(unknownObject, Error, "sequoia-mapping-name", "'{0}::{1}' has no {2} named '{3}'");
STRATA_DIAGNOSTIC(ambiguousObject, Error, "sequoia-mapping-ambiguous", "'{0}::{1}' has {2} {3}s named '{4}'");
STRATA_DIAGNOSTIC(lexnumRange, Error, "sequoia-mapping-lexnum",
                  "'{0}::{1}' has only {2} {3}s named '{4}'; they are counted from 0");
STRATA_DIAGNOSTIC(objectTwice, Error, "sequoia-mapping-repeated", "{0} '{1}' is mapped twice in instance '{2}'");
STRATA_DIAGNOSTIC(levelRange, Error, "sequoia-mapping-level",
                  "level {0} does not exist; machine '{1}' has levels 0 to {2}");

void Resolver::suggest(DiagnosticBuilder& builder, std::string_view name, const std::vector<std::string>& candidates) {
  if (std::string nearest = nearestName(name, candidates); !nearest.empty())
    builder.help("did you mean '" + nearest + "'?");
}

void Resolver::offer(DiagnosticBuilder& builder, const std::string& before, std::vector<std::string> candidates) {
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  constexpr size_t many = 12;
  if (candidates.empty() || candidates.size() > many)
    return;
  std::string text;
  for (const std::string& each : candidates)
    text += (text.empty() ? "'" : ", '") + each + "'";
  builder.help(before + text);
}

template <typename List, typename NameOf, typename PlaceOf>
std::optional<uint32_t> Resolver::lookUp(const MappedName& name, const List& list, NameOf nameOf, PlaceOf placeOf,
                                         const char* what) {
  auto [named, isFirst] = named_.try_emplace(&list);
  if (isFirst)
    for (uint32_t i = 0; i < list.size(); ++i)
      named->second[nameOf(list[i])].push_back(i);
  const auto found = named->second.find(name.text);
  const std::vector<uint32_t> matches = found == named->second.end() ? std::vector<uint32_t>() : found->second;
  const TaskVariant& variant = *current_->resolved.variant;
  const Location& where = name.place.location;
  if (matches.empty()) {
    DiagnosticBuilder builder =
        diagnostics_.report(unknownObject, where, variant.taskName, variant.name, what, name.text);
    builder.label(variant.location, "the variant");
    std::vector<std::string> names;
    for (const auto& each : list)
      names.emplace_back(nameOf(each));
    if (nearestName(name.text, names).empty())
      offer(builder, std::string(what) + "s of this variant are ", names);
    else
      suggest(builder, name.text, names);
    return std::nullopt;
  }
  if (name.lexnum && *name.lexnum >= matches.size()) {
    diagnostics_.report(lexnumRange, where, variant.taskName, variant.name, matches.size(), what, name.text)
        .label(placeOf(list[matches.back()]), "number " + std::to_string(matches.size() - 1) + ", the last");
    return std::nullopt;
  }
  if (!name.lexnum && matches.size() > 1) {
    DiagnosticBuilder builder =
        diagnostics_.report(ambiguousObject, where, variant.taskName, variant.name, matches.size(), what, name.text);
    builder.label(placeOf(list[matches[0]]), "number 0").label(placeOf(list[matches[1]]), "number 1");
    builder.help("say which: " + name.text + "[0], " + name.text + "[1], … (in XML lexnum=\"0\", lexnum=\"1\", …)");
    return std::nullopt;
  }
  return matches[name.lexnum.value_or(0)];
}

static auto nameOfVariable = [](const Variable* each) { return each->name; };
static auto placeOfObject = [](const auto* each) { return each->location; };

std::optional<uint32_t> Resolver::tunableNamed(const MappedName& name) {
  return lookUp(name, current_->resolved.variant->tunables, nameOfVariable, placeOfObject, "tunable");
}

std::optional<uint32_t> Resolver::arrayNamed(const MappedName& name) {
  return lookUp(name, current_->resolved.variant->arrays, nameOfVariable, placeOfObject, "array");
}

std::optional<uint32_t> Resolver::loopNamed(const MappedName& name) {
  return lookUp(
      name, current_->resolved.variant->loops, [](const Loop* each) { return each->variableName; },
      [](const Loop* each) { return each->variableLocation; }, "loop");
}

std::optional<uint32_t> Resolver::callsiteNamed(const MappedName& name) {
  return lookUp(
      name, current_->resolved.variant->callsites, [](const Callsite* each) { return each->callee->name; },
      placeOfObject, "callsite");
}

bool Resolver::first(Seen& seen, uint32_t index, const char* what, const MappedName& name, const Location& where) {
  if (!seen[index]) {
    seen[index] = &name;
    return true;
  }
  diagnostics_.report(objectTwice, name.place.location, what, name.text, current_->resolved.name)
      .label(seen[index]->place.location, "first here")
      .label(where, "the " + std::string(what));
  return false;
}

unsigned Resolver::level(const OptionalNumber& number, unsigned otherwise) {
  if (!number)
    return otherwise;
  if (number->value >= 0 && static_cast<uint64_t>(number->value) < machine_.levels.size())
    return static_cast<unsigned>(number->value);
  DiagnosticBuilder builder = diagnostics_.report(levelRange, number->place.location, number->value, machine_.name,
                                                  static_cast<int64_t>(machine_.levels.size()) - 1);
  if (machine_.origin.location.valid())
    builder.label(machine_.origin.location, "the machine");
  if (mapping_.machine.empty())
    builder.help("the mapping names no machine: write #include \"MACHINE\" at its beginning, in XML: <machine "
                 "filename=\"MACHINE\"/>");
  return otherwise;
}

} // namespace strata::sequoia
