// Integers and addresses of a function as polynomials: of arguments, symbols and the variables of counted loops where
// that can be seen, of other values of the function where not.
#pragma once

#include "compiler/raise/counted_loops.h"
#include "compiler/raise/polynomial.h"

#include "llvm/ADT/MapVector.h"

namespace strata::raise {

class Indices {
public:
  Indices(Analyses& analyses, CountedLoops& loops) : analyses_(analyses), loops_(loops) {}

  /// States what an argument is. `isSmall`: it and what is near it fit 31 bits.
  void state(const llvm::Argument* argument, Polynomial value, bool isSmall);
  const Atom* symbol(int number) { return atoms_.get({.symbol = number}); }

  /// An integer of at most 64 bits as one of 64. Promises of the instructions (nsw, nuw, disjoint) say where widening
  /// distributes: one that breaks its promise gives poison, for which any value will do.
  Polynomial of(const llvm::Value* value, Widening widening);
  Polynomial of(const llvm::SCEV* expression, Widening widening);
  /// Whether a value is an argument that is stated to be small, or near one, so that of() is all of it in 64 bits.
  bool isNearSmall(const llvm::Value* value, Widening widening) const { return isSmall(value, widening); }
  /// A variable of a counted loop that grows by the same in each iteration.
  std::optional<Polynomial> recurrence(const llvm::PHINode* phi, Widening widening);

  /// What a pointer is computed from: an argument, a local variable, or something else that is not followed.
  const llvm::Value* baseOf(const llvm::Value* pointer);
  /// Bytes from there.
  Polynomial bytesOf(const llvm::Value* pointer);
  /// Whether a pointer is one of several into one array, chosen by a branch or a select; it then has a value, the bytes
  /// from there.
  bool isChosen(const llvm::Value* pointer);
  /// Whether a pointer at a loop's head moves by the same in each iteration: then bytesOf() has the loop's variable,
  /// which counts iterations where the loop is no counted one.
  bool walksEvenly(const llvm::PHINode* pointer);

  /// Whether it was used that small arguments fit 31 bits.
  bool reliesOnSmall() const { return reliesOnSmall_; }

private:
  const Atom* unknown(const llvm::Value* value, Widening widening);
  Polynomial compute(const llvm::Value* value, Widening widening);
  /// Whether a value is a small argument with a small constant added; only such that are not negative for Unsigned.
  bool isSmall(const llvm::Value* value, Widening widening) const;
  Polynomial iterations(const llvm::Loop* loop);
  const llvm::Value* startOf(const llvm::Value* pointer);
  void findChosen();

  struct Statement {
    Polynomial value;
    bool isSmall = false;
  };
  Analyses& analyses_;
  CountedLoops& loops_;
  Atoms atoms_;
  std::map<const llvm::Value*, Statement> stated_;
  std::map<std::pair<const llvm::Value*, Widening>, Polynomial> known_; // what of() has given
  bool reliesOnSmall_ = false;
  struct Chosen {
    const llvm::Value* base = nullptr;
    unsigned shift = 0; // the bytes are a multiple of 2 to this
  };
  llvm::MapVector<const llvm::Value*, Chosen> chosen_;
  bool areChosenFound_ = false;
};

} // namespace strata::raise
