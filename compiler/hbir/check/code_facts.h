// What one piece of code (a block, or the code outside groups) does to the names it mentions and to control, found by
// one walk before it is lowered. Facts refer to the program's nodes and own nothing; safe from any thread once made.
#pragma once

#include "compiler/hbir/program/program.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace strata::hbir {

/// Ways in which control leaves a statement other than by its end.
enum Jump : uint8_t { NoJump = 0, BreakJump = 1, FinishJump = 2 };

/// How shared data is touched.
struct Touch {
  bool read = false, written = false;
};

class CodeFacts {
public:
  explicit CodeFacts(const std::vector<StatementPtr>& body);

  /// A set of Jump: of a statement, and of the whole code.
  unsigned jumps(const Statement* statement) const;
  unsigned jumps() const { return jumps_; }
  /// Of an array of the data segment, or of a global variable.
  Touch touch(const Array* array) const { return find(arrays_, array); }
  Touch touch(const Symbol* global) const { return find(globals_, global); }
  /// Assigned somewhere behind its declaration.
  bool isWritten(const Symbol* symbol) const { return written_.contains(symbol); }
  /// Declared where a jump may have been taken before, so that its value does not dominate its uses.
  bool needsStorage(const Symbol* symbol) const { return stored_.contains(symbol); }
  /// Arrays that the code declares, in text order.
  const std::vector<const Symbol*>& localArrays() const { return localArrays_; }
  /// Shared data that decides what a waiting loop does: keys of arrays and of global variables.
  const std::unordered_set<const void*>& awaited() const { return awaited_; }
  /// Variables of the code's own that decide about the end of one.
  bool decides(const Symbol* symbol) const { return deciding_.contains(symbol); }
  bool waits() const { return waits_; }
  bool prints() const { return prints_; }

private:
  template <typename Key>
  static Touch find(const std::unordered_map<const Key*, Touch>& map, const Key* key) {
    auto found = map.find(key);
    return found == map.end() ? Touch() : found->second;
  }
  Touch* touched(const Symbol* symbol);
  unsigned statement(const Statement& statement, bool mayBeSkipped);
  unsigned sequence(const std::vector<StatementPtr>& statements, bool mayBeSkipped);
  void expression(const Expression* expression);

  std::unordered_map<const Statement*, unsigned> jumpsOf_;
  std::unordered_map<const Array*, Touch> arrays_;
  std::unordered_map<const Symbol*, Touch> globals_;
  std::unordered_set<const Symbol*> written_, stored_;
  std::vector<const Symbol*> localArrays_;
  std::unordered_set<const void*> awaited_;
  std::unordered_set<const Symbol*> deciding_;
  unsigned jumps_ = NoJump;
  bool waits_ = false, prints_ = false;
};

/// Whether a statement, or one in it, assigns to a symbol (an element of it, when it is an array).
bool assigns(const Statement* statement, const Symbol* symbol);
/// Whether a statement reads or assigns a symbol anywhere.
bool mentions(const Statement& statement, const Symbol* symbol);
/// Whether two symbols are one: an array of the data segment is known by the array.
bool areSame(const Symbol* a, const Symbol* b);

} // namespace strata::hbir
