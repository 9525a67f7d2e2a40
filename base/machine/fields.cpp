// Fields of a mapping by name and type; see fields.h.
#include "base/machine/fields.h"

#include <algorithm>

namespace strata::machine {

STRATA_DIAGNOSTIC(wrongType, Error, "machine-wrong-type", "'{0}' takes {1}");
STRATA_DIAGNOSTIC(unknownField, Error, "machine-unknown-field", "{1} has no field '{0}'");
STRATA_DIAGNOSTIC(missingField, Error, "machine-missing-field", "{1} needs the field '{0}'");
STRATA_DIAGNOSTIC(badValue, Error, "machine-bad-value", "'{0}' is not a value of '{1}', which takes {2}");
STRATA_DIAGNOSTIC(unknownName, Error, "machine-unknown-name", "no {0} is named '{1}'");
STRATA_DIAGNOSTIC(tooMany, Error, "machine-too-many", "'{0}' has {1} entries; at most {2} are read");

namespace {

constexpr size_t longestList = 1024;

std::string quotedList(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

} // namespace

Fields::Fields(DiagnosticEngine& diagnostics, const YamlNode& node, std::string what)
    : diagnostics_(diagnostics), node_(node), what_(std::move(what)) {
  if (node.kind != YamlNode::Kind::Mapping)
    diagnostics_.report(wrongType, node.location, what_, "fields, as in 'name: value'");
}

Fields::~Fields() {
  for (const YamlNode& key : node_.keys) {
    if (std::find(known_.begin(), known_.end(), key.text) != known_.end())
      continue;
    // A field that is needed and misspelt is not missing besides.
    std::string near = nearestName(key.text, missing_);
    std::erase(missing_, near);
    DiagnosticBuilder message = diagnostics_.report(unknownField, key.location, key.text, what_);
    if (near.empty())
      near = nearestName(key.text, known_);
    if (!near.empty())
      message.help("did you mean '" + near + "'?");
    message.note("its fields are " + quotedList(known_));
  }
  for (const std::string& name : missing_)
    diagnostics_.report(missingField, node_.location, name, what_);
}

const YamlNode* Fields::get(const char* name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end())
    known_.push_back(name);
  for (size_t i = 0; i < node_.keys.size(); ++i)
    if (node_.keys[i].text == name)
      return &node_.items[i];
  return nullptr;
}

const YamlNode* Fields::need(const char* name) {
  const YamlNode* found = get(name);
  if (!found && node_.kind == YamlNode::Kind::Mapping)
    missing_.emplace_back(name);
  return found;
}

Origin Fields::origin() const {
  Origin origin;
  origin.location = node_.location;
  for (size_t i = 0; i < node_.keys.size(); ++i) {
    const Location& place = node_.items[i].location;
    origin.fields.emplace_back(node_.keys[i].text, place);
    if (node_.keys[i].text == "name")
      origin.location = place;
  }
  return origin;
}

void Fields::wrong(const YamlNode& value, const std::string& field, const std::string& takes) {
  if (value.kind == YamlNode::Kind::Scalar)
    diagnostics_.report(badValue, value.location, value.text, field, takes);
  else
    diagnostics_.report(wrongType, value.location, field, takes);
}

void Fields::wrongSize(const YamlNode& value, const std::string& field, const std::string& takes) {
  DiagnosticBuilder report = diagnostics_.report(badValue, value.location, value.text, field, takes);
  // 64KB, 64kB, 64k: thousands to some, and 1024 to others.
  std::string text = value.text;
  if (text.empty())
    return;
  if (text.size() > 2 && (text.ends_with("B") || text.ends_with("b")))
    text.pop_back();
  text.back() = text.back() == 'k' ? 'K' : text.back() == 'm' ? 'M' : text.back() == 'g' ? 'G' : text.back();
  if (const auto bytes = parseSize(text))
    report.help("write " + text + " for " + std::to_string(*bytes) + " bytes");
}

const YamlNode* Fields::scalar(const char* name, const char* takes) {
  const YamlNode* value = get(name);
  if (value && value->kind != YamlNode::Kind::Scalar) {
    wrong(*value, name, takes);
    return nullptr;
  }
  return value;
}

void Fields::text(const char* name, std::string& value) {
  if (const YamlNode* found = scalar(name, "a text"))
    value = found->text;
}

void Fields::count(const char* name, uint64_t& value) {
  const char* takes = "a whole number such as 8";
  if (const YamlNode* found = scalar(name, takes)) {
    if (const auto parsed = parseCount(found->text))
      value = *parsed;
    else
      wrong(*found, name, takes);
  }
}

void Fields::size(const char* name, uint64_t& value) {
  const char* takes = "a size such as 16, 256K or 8G";
  if (const YamlNode* found = scalar(name, takes)) {
    if (const auto parsed = parseSize(found->text))
      value = *parsed;
    else
      wrongSize(*found, name, takes);
  }
}

void Fields::count(const char* name, std::optional<uint64_t>& value) {
  uint64_t known = 0;
  count(name, known);
  if (get(name))
    value = known;
}

void Fields::size(const char* name, std::optional<uint64_t>& value) {
  uint64_t known = 0;
  size(name, known);
  if (get(name))
    value = known;
}

void Fields::capacity(const char* name, Capacity& value) {
  const char* takes = "a size such as 256K, 'available' (as much as the computer has) or 'unknown'";
  if (const YamlNode* found = scalar(name, takes)) {
    if (const auto parsed = parseCapacity(found->text))
      value = *parsed;
    else
      wrongSize(*found, name, takes);
  }
}

void Fields::clock(const char* name, uint64_t& value) {
  const char* takes = "a frequency such as 800MHz or 3.2GHz";
  if (const YamlNode* found = scalar(name, takes)) {
    if (const auto parsed = parseClock(found->text))
      value = *parsed;
    else
      wrong(*found, name, takes);
  }
}

void Fields::bandwidth(const char* name, Bandwidth& value) {
  const char* takes = "bytes per cycle such as 8, or 1/4 for a byte in four cycles";
  if (const YamlNode* found = scalar(name, takes)) {
    if (const auto parsed = parseBandwidth(found->text))
      value = *parsed;
    else
      wrong(*found, name, takes);
  }
}

void Fields::flag(const char* name, bool& value) {
  if (const YamlNode* found = scalar(name, "'true' or 'false'")) {
    if (found->text == "true" || found->text == "false")
      value = found->text == "true";
    else
      wrong(*found, name, "'true' or 'false'");
  }
}

void Fields::word(const char* name, const std::vector<std::string>& words, size_t& value) {
  const std::string takes = "one of " + quotedList(words);
  if (const YamlNode* found = scalar(name, takes.c_str())) {
    const auto at = std::find(words.begin(), words.end(), found->text);
    if (at != words.end()) {
      value = static_cast<size_t>(at - words.begin());
      return;
    }
    DiagnosticBuilder message = diagnostics_.report(badValue, found->location, found->text, name, takes);
    const std::string near = nearestName(found->text, words);
    if (!near.empty())
      message.help("did you mean '" + near + "'?");
  }
}

const std::vector<YamlNode>* Fields::list(const char* name) {
  const YamlNode* found = get(name);
  if (!found || found->kind == YamlNode::Kind::Empty)
    return nullptr;
  if (found->kind != YamlNode::Kind::List) {
    wrong(*found, name, "a list");
    return nullptr;
  }
  if (found->items.size() > longestList) {
    diagnostics_.report(tooMany, found->location, name, found->items.size(), longestList);
    return nullptr;
  }
  return &found->items;
}

std::vector<const YamlNode*> Fields::words(const char* name) {
  const YamlNode* found = get(name);
  std::vector<const YamlNode*> words;
  if (!found)
    return words;
  if (found->kind == YamlNode::Kind::Scalar)
    return {found};
  if (found->kind != YamlNode::Kind::List) {
    wrong(*found, name, "a name or a list of names");
    return words;
  }
  if (found->items.size() > longestList) {
    diagnostics_.report(tooMany, found->location, name, found->items.size(), longestList);
    return words;
  }
  for (const YamlNode& item : found->items) {
    if (item.kind == YamlNode::Kind::Scalar)
      words.push_back(&item);
    else
      wrong(item, name, "a name or a list of names");
  }
  return words;
}

std::optional<uint32_t> resolveName(DiagnosticEngine& diagnostics, const YamlNode& node, const char* what,
                                    const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), node.text);
  if (found != names.end())
    return static_cast<uint32_t>(found - names.begin());
  // What has no name yet, or a wrong one, may be what is meant; that is reported there, and each name here once.
  if (std::find(names.begin(), names.end(), "") != names.end())
    return std::nullopt;
  for (const Diagnostic& each : diagnostics.all()) {
    if (each.kind != &unknownName)
      continue;
    const Location& where = each.labels[0].location;
    if (diagnostics.sources().buffer(where.buffer).text().substr(where.begin, where.end - where.begin) == node.text)
      return std::nullopt;
  }
  DiagnosticBuilder message = diagnostics.report(unknownName, node.location, what, node.text);
  const std::string near = nearestName(node.text, names);
  if (node.text.find(',') != std::string::npos)
    message.help("a list stands in brackets: [a, b]");
  else if (!near.empty())
    message.help("did you mean '" + near + "'?");
  else if (!names.empty() && names.size() <= 16)
    message.note("there are " + quotedList(names));
  return std::nullopt;
}

} // namespace strata::machine
