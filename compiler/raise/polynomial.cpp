// Terms in a map, by the numbers of their atoms.
#include "compiler/raise/polynomial.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace strata::raise {

static bool isBefore(const Atom* left, const Atom* right) {
  return left->number < right->number;
}

const Atom* Atoms::get(Atom atom) {
  for (const Atom& known : atoms_)
    if (known.value == atom.value && known.expression == atom.expression && known.loop == atom.loop &&
        known.symbol == atom.symbol && known.widening == atom.widening && known.bits == atom.bits &&
        known.shift == atom.shift)
      return &known;
  atom.number = static_cast<unsigned>(atoms_.size());
  return &atoms_.emplace_back(atom);
}

bool ProductOrder::operator()(const Product& left, const Product& right) const {
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(), isBefore);
}

Polynomial Polynomial::constant(int64_t value) {
  Polynomial made;
  made.addTerm({}, static_cast<uint64_t>(value));
  return made;
}

Polynomial Polynomial::of(const Atom* atom) {
  Polynomial made;
  made.addTerm({atom}, 1);
  return made;
}

void Polynomial::addTerm(const Product& product, uint64_t factor) {
  int64_t& known = terms_[product];
  known = static_cast<int64_t>(static_cast<uint64_t>(known) + factor);
  if (!known)
    terms_.erase(product);
}

Polynomial& Polynomial::add(const Polynomial& other, int64_t factor) {
  for (const auto& [product, each] : std::map(other.terms_)) // which may be this one
    addTerm(product, static_cast<uint64_t>(each) * static_cast<uint64_t>(factor));
  return *this;
}

Polynomial Polynomial::times(const Polynomial& other) const {
  Polynomial result;
  for (const auto& [left, leftFactor] : terms_)
    for (const auto& [right, rightFactor] : other.terms_) {
      Product both(left);
      llvm::append_range(both, right);
      llvm::sort(both, isBefore);
      result.addTerm(both, static_cast<uint64_t>(leftFactor) * static_cast<uint64_t>(rightFactor));
    }
  return result;
}

std::optional<Polynomial> Polynomial::dividedBy(int64_t divisor) const {
  Polynomial result;
  for (const auto& [product, factor] : terms_) {
    if (factor % divisor)
      return std::nullopt;
    result.addTerm(product, static_cast<uint64_t>(factor / divisor));
  }
  return result;
}

} // namespace strata::raise
