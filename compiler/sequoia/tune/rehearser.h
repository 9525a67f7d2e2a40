// The interpreter of control that a rehearsal is: rehearse.cpp has statements and calls, rehearse_loops.cpp loops,
// rehearse_expressions.cpp values, rehearse_coverage.cpp which elements are taken.
#pragma once

#include "compiler/sequoia/check/stepping.h"
#include "compiler/sequoia/check/tunable_uses.h"
#include "compiler/sequoia/tune/rehearse.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace strata::sequoia::rehearsal {

struct Value {
  enum class Kind : uint8_t { Unknown, Integer, Real } kind = Kind::Unknown;
  int64_t integer = 0;
  double real = 0;
  bool varies = false;        // another one in each iteration
  std::vector<uint32_t> from; // tunables, ascending

  bool isInteger() const { return kind == Kind::Integer; }
  static Value of(int64_t integer) {
    Value value;
    value.kind = Kind::Integer;
    value.integer = integer;
    return value;
  }
  static Value of(double real) {
    Value value;
    value.kind = Kind::Real;
    value.real = real;
    return value;
  }
  /// Takes over where another value comes from.
  Value& after(const Value& other) {
    varies |= other.varies;
    if (!other.from.empty() && other.from != from) {
      std::vector<uint32_t> both;
      std::set_union(from.begin(), from.end(), other.from.begin(), other.from.end(), std::back_inserter(both));
      from = std::move(both);
    }
    return *this;
  }
  std::optional<bool> truth() const {
    if (kind == Kind::Unknown)
      return std::nullopt;
    return isInteger() ? integer != 0 : real != 0;
  }
};

/// What is known of where a quotient goes.
struct Use {
  bool isBound = false;   // of an iteration
  bool isCovered = false; // what a division leaves over is taken up beside it
  bool isOneMore = false; // a positive constant is added
};

void variablesOf(const Expr* expr, std::set<const Variable*>& variables);

/// A digest with one more part.
size_t combined(size_t before, size_t part);

using Scalars = std::map<const Variable*, Value>;

class Rehearser {
public:
  Rehearser(const InstanceGraph& graph, const KnownSizes& known);
  Rehearsal run();

private:
  enum class Flow : uint8_t { Next, Break, Continue, Return };

  /// From the first to the last element that calls of an instance write.
  struct Taken {
    int64_t begin = 0, end = 0;
    bool isKnown = true, isAny = false;
    std::vector<uint32_t> from;
  };

  struct Frame {
    uint32_t index = 0;
    const Instance* instance = nullptr;
    Scalars scalars;
    std::vector<std::vector<Value>> extents; // by the array's index
    bool isInner = true;
    unsigned loops = 0; // of C around
    Value returned;
    std::map<const Variable*, int64_t> settled;                // tunables that the instance settles when it begins
    std::map<std::pair<const Variable*, size_t>, Taken> taken; // by array and dimension
    std::vector<uint32_t> steered;                             // tunables that conditions and counts follow from
  };

  /// The elements of an array in one dimension that iterations have taken so far.
  struct Cover {
    int64_t begin = 0, end = 0, extent = 0;
    bool isKnown = true;
  };

  /// What the executions of an instance leave of an array.
  struct Left {
    const Expr* expr = nullptr;
    int64_t extents = 0; // their greatest common divisor
    int64_t extent = 0, taken = 0;
    std::vector<uint32_t> from;
  };

  struct Division {
    uint32_t instance = 0;
    const Expr* expr = nullptr;
    int64_t divided = 0, divisor = 0;
    bool isMisfit = false, isUnknown = false;
    std::vector<uint32_t> from;
  };

  // What is found, and expressions (rehearse_expressions.cpp).
  void report(Misfit::Kind kind, uint32_t instance, const Expr* expr, int64_t value, int64_t other,
              const std::vector<uint32_t>& from, int64_t extent = 0, size_t dimension = 0);
  /// A division whose divisor follows from tunables.
  void divide(const Expr* expr, const Value& divided, std::optional<int64_t> divisor, const Value& by, Use use);
  /// The same for one that has to come out, with the variables that the divisor is made of.
  void noteDivision(const Expr* expr, const Value& divided, std::optional<int64_t> divisor, const Value& by,
                    const std::set<const Variable*>& variables);

  Value variable(const Variable* variable) const;
  static Value fitted(Value value, const Type* type);
  Value evaluate(const Expr* expr, Use use = {});
  static Value cast(const Expr& expr, Value value);
  static Value unary(const Expr& expr, Value value);
  Value binary(const Expr& expr, Use use);
  static Value realOf(Operator op, const Value& left, const Value& right);
  Value integerOf(const Expr& expr, const Type* type, const Value& left, const Value& right, Use use);
  Value logical(const Expr& expr);
  Value conditional(const Expr& expr, Use use);
  Value assign(const Expr& expr);
  void set(const Expr* target, Value value);
  Value call(const Expr& expr, Use use);
  Value builtin(const Expr& expr, Use use);

  // Statements (rehearse.cpp).
  /// What a statement may assign is not known afterwards.
  void forget(const Stmt* stmt);
  /// What a loop assigns is another value each time.
  void markVarying(const Stmt* loop);
  Flow execute(const Stmt* stmt);
  Flow executeAll(const std::vector<Stmt*>& statements);
  Flow branch(const Stmt& stmt);
  Flow choose(const Stmt& stmt);

  // Loops (rehearse_loops.cpp).
  Flow repeat(const Stmt& stmt);
  bool meets(const Stmt& stmt, const Stepping& stepping);
  bool isAlikeEachTime(const Stmt& stmt, const Stepping& stepping) const;
  std::optional<int64_t> repetitionsLeft(const Stmt& stmt, const Stepping& stepping);
  /// Of `count` iterations from the one that is about to begin, about `most`.
  void repeatSome(const Stmt& stmt, const Stepping& stepping, int64_t count, int64_t most);
  std::optional<int64_t> stepOf(const Stepping& stepping);
  void iterate(const Stmt& stmt);
  template <typename Body>
  size_t digestOf(Body body);
  /// Goes through about `most` of more iterations than that: the first, the last, some between, and where what is
  /// called changes. at(iteration): goes through one, and gives the digest of what it calls.
  template <typename At>
  void goThroughSome(__int128 count, int64_t most, At at);
  /// Goes through the iterations between two at which what is called changes, at most so many; gives what is left of
  /// that number.
  template <typename At>
  int64_t lookBetween(std::pair<__int128, size_t> first, const std::pair<__int128, size_t>& last, int64_t most, At at);

  // Blocks and calls (rehearse.cpp).
  std::vector<Value> block(const Expr& expr, bool isWritten = false);
  Value range(const BlockRange& range, const Value& extent, Taken* taken = nullptr);
  void cover(const BlockRange& range, const Value& start, const Value& end, const Value& extent);
  /// Tells which arrays the iterations of a loop, as many as a tunable says, do not take to their end.
  void reportShort(const Loop& loop, const Value& end);
  /// Finds what the instance that ends leaves of its arrays, where that follows from tunables.
  void findLeft();
  /// The tunables that the instance settles when it begins, where all that they divide is known.
  void settle(Frame& frame) const;
  void steer(const Value& condition);
  void taskCall(const Stmt& stmt);
  std::optional<bool> holds(const ResolvedTarget& target) const;
  template <typename ExtentsOf, typename ScalarOf>
  void call(uint32_t index, ExtentsOf extentsOf, ScalarOf scalarOf);
  Value linear(const LinearSize& size, const Scalars& sizes) const;
  /// Goes through an instance, unless it has been entered like this before.
  void enter(uint32_t index, Scalars sizes, Scalars scalars);

  const InstanceGraph& graph_;
  const KnownSizes& known_;
  Rehearsal result_;
  std::vector<TunableUse> uses_;
  std::vector<uint32_t> first_;     // of each instance, among uses_
  std::vector<Division> divisions_; // in the order in which they were met
  std::map<std::pair<uint32_t, const Expr*>, size_t> divisionAt_;
  std::set<std::tuple<Misfit::Kind, uint32_t, const Expr*, size_t>> reported_;
  std::set<std::vector<int64_t>> seen_;
  std::vector<std::vector<int64_t>> open_; // those of `seen_` that are being executed
  std::map<std::tuple<uint32_t, const Variable*, size_t>, Left> left_;
  mutable std::map<const TaskVariant*, TunableUses> usesOf_;
  std::map<const BlockRange*, Cover> covers_; // by the iterations that are gone through
  Frame* frame_ = nullptr;
  Use returnUse_;
  size_t depth_ = 0, calls_ = 0;
  int64_t steps_ = 0;
  size_t entered_ = 0; // a digest of the instances entered, and of the sizes that they were entered with
};

} // namespace strata::sequoia::rehearsal
