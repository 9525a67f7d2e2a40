// Python literals, as far as .npy headers use them: dictionaries, lists, tuples, strings, integers, booleans and None.
// Pure functions; the values own their text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata {

/// A parsed literal.
struct PythonLiteral {
  enum class Kind { None, Bool, Integer, String, Tuple, List, Dictionary };
  Kind kind = Kind::None;
  bool boolean = false;
  int64_t integer = 0;
  std::string string;
  std::vector<PythonLiteral> items; ///< of tuples and lists; of dictionaries: key, value, key, value, …

  bool isSequence() const { return kind == Kind::Tuple || kind == Kind::List; }
  /// A dictionary's value of a string key; null when there is none.
  const PythonLiteral* find(std::string_view key) const;
};

/// Parses one literal that fills the whole text but for white space. On failure returns false and says why in `error`,
/// with the byte at which it was seen. Nesting is limited to 32 levels.
bool parsePythonLiteral(std::string_view text, PythonLiteral& literal, std::string& error);

} // namespace strata
