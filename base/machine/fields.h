// Takes the fields of one mapping of a description, by name and type. What is missing, of the wrong type or left over
// is reported at its place. Lives while one mapping is read; the tree must outlive it.
#pragma once

#include "base/machine/quantity.h"
#include "base/machine/yaml_tree.h"

namespace strata::machine {

class Fields {
public:
  /// `what` says what the mapping describes ("a memory"). Reports when the node is no mapping, and then has no fields.
  Fields(DiagnosticEngine& diagnostics, const YamlNode& node, std::string what);
  /// Reports fields that were never asked for, with the nearest that were.
  ~Fields();
  Fields(const Fields&) = delete;

  /// The value of a field, or nullptr.
  const YamlNode* get(const char* name);
  /// As get, and reports when it is missing.
  const YamlNode* need(const char* name);
  /// The fields' places, and that of the one called "name" (or of the mapping) for the whole.
  Origin origin() const;

  // Each leaves `value` as it is when the field is missing or wrong.
  void text(const char* name, std::string& value);
  void count(const char* name, uint64_t& value);
  void size(const char* name, uint64_t& value);
  // The same where nothing said is different from every value.
  void count(const char* name, std::optional<uint64_t>& value);
  void size(const char* name, std::optional<uint64_t>& value);
  void capacity(const char* name, Capacity& value);
  void clock(const char* name, uint64_t& value);
  void bandwidth(const char* name, Bandwidth& value);
  void flag(const char* name, bool& value);
  /// The index of a word among `words`.
  void word(const char* name, const std::vector<std::string>& words, size_t& value);
  /// The items of a list (a single item stands for a list of one); nullptr for none. Bounded in length.
  const std::vector<YamlNode>* list(const char* name);
  /// The scalars of a list.
  std::vector<const YamlNode*> words(const char* name);

  DiagnosticEngine& diagnostics() { return diagnostics_; }
  /// Reports a value that is not what the field takes.
  void wrong(const YamlNode& value, const std::string& field, const std::string& takes);
  /// The same of a size, with the number of bytes that may have been meant.
  void wrongSize(const YamlNode& value, const std::string& field, const std::string& takes);
  const YamlNode& node() const { return node_; }

private:
  const YamlNode* scalar(const char* name, const char* takes);

  DiagnosticEngine& diagnostics_;
  const YamlNode& node_;
  const std::string what_;
  std::vector<std::string> known_;
  std::vector<std::string> missing_; // those that were needed; reported at the end, where none is a misspelt one
};

/// The place in a list of the name that a scalar holds; reports with the nearest name when there is none. `what` is the
/// list's subject ("memory").
std::optional<uint32_t> resolveName(DiagnosticEngine& diagnostics, const YamlNode& node, const char* what,
                                    const std::vector<std::string>& names);

} // namespace strata::machine
