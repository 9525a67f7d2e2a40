// Sums of products of integers that are not known yet, with constant factors: what indices and bounds of loops are made
// of. The arithmetic is that of 64-bit integers, as that of addresses.
#pragma once

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace strata::raise {

/// How an integer of fewer than 64 bits becomes one of 64.
enum class Widening { Signed, Unsigned };

/// One integer: a value of the function, an expression of it, the variable of a counted loop, or a symbol, which the
/// caller has a value for (the index of an instance, an extent). Exactly one of them is set.
struct Atom {
  const llvm::Value* value = nullptr;
  const llvm::SCEV* expression = nullptr;
  const llvm::Loop* loop = nullptr;
  int symbol = -1;
  Widening widening = Widening::Signed;
  unsigned bits = 0;   // of a value: that many of its lower bits, with their sign; 0: all
  unsigned shift = 0;  // of a value: shifted right so far, which loses nothing
  unsigned number = 0; // of the atom
};

/// Atoms with equal contents are one. Owns them.
class Atoms {
public:
  const Atom* get(Atom atom);

private:
  std::deque<Atom> atoms_;
};

/// Atoms in the order of their numbers.
using Product = std::vector<const Atom*>;
struct ProductOrder {
  bool operator()(const Product& left, const Product& right) const;
};

class Polynomial {
public:
  Polynomial() = default;
  static Polynomial constant(int64_t value);
  static Polynomial of(const Atom* atom);

  Polynomial& add(const Polynomial& other, int64_t factor = 1);
  Polynomial times(const Polynomial& other) const;
  /// Nothing where a factor is no multiple of `divisor`.
  std::optional<Polynomial> dividedBy(int64_t divisor) const;

  const std::map<Product, int64_t, ProductOrder>& terms() const { return terms_; }

private:
  void addTerm(const Product& product, uint64_t factor);

  std::map<Product, int64_t, ProductOrder> terms_; // none is 0
};

} // namespace strata::raise
