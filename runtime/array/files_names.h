// Names in the text form of symbolic configurations: when a name stands as it is, and what else stands for the thing.
#pragma once

#include "runtime/array/symbolic.h"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace strata::array::files {

inline constexpr std::array<std::string_view, 6> registerPrefixes = {"none", "rd", "fd", "id", "od", "f"};

inline bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
inline bool isWordCharacter(char c) {
  return isDigit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
inline bool isIdentifier(std::string_view text) {
  if (text.empty() || isDigit(text[0]))
    return false;
  for (const char c : text)
    if (!isWordCharacter(c))
      return false;
  return true;
}

/// Things by their names, as far as these are words that nothing else of the list is called; "$n" is the thing with
/// number n.
class Names {
public:
  void add(const std::string& name) {
    const auto [found, isNew] = numbers_.try_emplace(name, count_);
    if (!isNew)
      found->second = ambiguous;
    names_.push_back(name);
    ++count_;
  }
  size_t size() const { return count_; }
  /// REQUIRES: number < size().
  std::string text(size_t number) const {
    const std::string& name = names_[number];
    return isIdentifier(name) && numbers_.at(name) == number ? name : "$" + std::to_string(number);
  }
  /// size() when there is none, or more than one.
  size_t number(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() || found->second == ambiguous ? count_ : found->second;
  }

private:
  static constexpr size_t ambiguous = ~size_t{0};
  size_t count_ = 0;
  std::vector<std::string> names_;
  std::map<std::string, size_t, std::less<>> numbers_;
};

/// The names of inputs and of outputs, made when they are asked for first; the lists do not change from then on.
class ArrayNames {
public:
  const Names& of(const std::vector<SymbolicArray>& list) {
    const auto [found, isNew] = names_.try_emplace(&list);
    if (isNew)
      for (const SymbolicArray& each : list)
        found->second.add(each.name);
    return found->second;
  }

private:
  std::map<const void*, Names> names_;
};

} // namespace strata::array::files
