// Banks at the borders while an array is simulated: address generators that count through their iterations, words of
// the host's arrays, and outputs that take what comes in its cycle. Used by one thread.
#pragma once

#include "runtime/array/iteration_runs.h"
#include "runtime/array/simulate_registers.h"

#include <cstddef>
#include <cstring>

namespace strata::array {

/// Quotients by one number, by a multiplication where both fit in 32 bits: the rounded inverse in 64 bits is exact then
/// (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
class Divisor {
public:
  explicit Divisor(int64_t by) : by_(by) {
    if (by > 1 && by <= UINT32_MAX)
      inverse_ = UINT64_MAX / static_cast<uint64_t>(by) + 1;
  }
  /// REQUIRES: value >= 0.
  int64_t quotient(int64_t value) const {
    if (inverse_ == 0 || value > UINT32_MAX)
      return value / by_;
    return static_cast<int64_t>(static_cast<unsigned __int128>(inverse_) * static_cast<uint64_t>(value) >> 64);
  }

private:
  int64_t by_;
  uint64_t inverse_ = 0;
};

/// An address generator between two of its iterations. REQUIRES: what it is made of lives longer.
class AddressGenerator {
public:
  AddressGenerator(const Bank& bank, const IterationRuns& runs, const ArrayLayout& array,
                   const Configuration& configuration);

  /// Whether there are no more words.
  bool isDone() const { return isDone_; }
  // REQUIRES (all below): not isDone().
  /// When the word passes the border's port.
  int64_t cycle() const { return cycle_; }
  /// Which element of the array it is.
  int64_t element() const { return element_; }
  /// Whether that lies in the bank's block, and what has been accessed since the last new block fits what it holds.
  bool isInside() { return inside_ > 0 || findInside(); }
  void next() {
    if (inside_ > 1) {
      skip(1);
      return;
    }
    nextUnusual();
  }
  /// So many words from this one on are inside and stride() elements and interval() cycles apart. REQUIRES: isInside().
  int64_t straight() const { return inside_; }
  int64_t stride() const { return stride_; }
  int64_t interval() const { return interval_; }
  /// Past all of them. REQUIRES: isInside().
  void skipStraight() {
    skip(inside_ - 1);
    nextUnusual();
  }

  const Bank& bank() const { return *bank_; }
  const ArrayLayout& array() const { return *array_; }

private:
  void skip(int64_t words) {
    inside_ -= words;
    cycle_ += words * interval_;
    element_ += words * stride_;
  }
  void nextUnusual();
  void jump();
  void count();
  bool isAllOf(const Box& box) const;
  bool findInside();
  bool isInsideBlock(int64_t element);
  bool isStraight(int64_t from, int64_t to, int64_t words) const;
  bool isHeld(size_t dimension, int64_t index);

  const Bank* bank_;
  const IterationRuns* runs_;
  const ArrayLayout* array_;
  const Configuration* configuration_;
  size_t run_ = 0;
  bool isDone_ = false;
  int64_t iteration_ = 0, runEnd_ = 0, element_ = 0, elements_ = 1;
  int64_t cycle_ = 0;
  int64_t interval_ = 1, stride_ = 0; // of the innermost loop
  /// So many words from here on differ in the innermost loop alone and are inside; none: it is not known yet.
  int64_t inside_ = 0;
  int64_t words_ = 0;          // how many they were in the first of them, which iteration_ and point_ still tell
  int64_t tried_ = 0;          // up to this iteration that was tried in vain
  std::vector<int64_t> point_; // the iteration's coordinates
  std::vector<Divisor> loops_, extents_; // of the iterations, and of the array
  bool isAllInside_ = false;             // whatever the iteration is
  bool isPart_ = false;                  // the bank holds a part of its block at a time, of more than an iteration
  // Of a bank that holds a part of its block at a time: the iteration of the outer loops, and the indices accessed in
  // it.
  bool isOuterNew_ = true; // it may have changed since outer_ was set
  std::vector<int64_t> outer_;
  std::vector<Range> accessed_, before_;
};

/// An element of an array as a register holds it, and back.
inline uint64_t loadElement(const std::byte* from, Type type) {
  const auto as = [&]<typename T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  };
  switch (type) {
  case Type::Bool:
    return as(uint8_t{}) != 0;
  case Type::Int8:
    return as(int8_t{});
  case Type::Int16:
    return as(int16_t{});
  case Type::Int32:
    return as(int32_t{});
  case Type::Uint8:
    return as(uint8_t{});
  case Type::Uint16:
    return as(uint16_t{});
  case Type::Uint32:
  case Type::Float32:
    return as(uint32_t{});
  case Type::Int64:
  case Type::Uint64:
  case Type::Float64:
    return as(uint64_t{});
  }
  return 0;
}
inline void storeElement(std::byte* to, Type type, uint64_t value) {
  const auto as = [&]<typename T>(T kept) { std::memcpy(to, &kept, sizeof kept); };
  switch (bytes(type)) {
  case 1:
    return as(static_cast<uint8_t>(type == Type::Bool ? value & 1 : value));
  case 2:
    return as(static_cast<uint16_t>(value));
  case 4:
    return as(static_cast<uint32_t>(value));
  default:
    return as(value);
  }
}

/// The words that pass between a bank and an array in memory, one after the other.
template <typename Byte>
class Words {
public:
  Words(AddressGenerator generator, Byte* memory)
      : generator_(std::move(generator)), memory_(memory), interval_(generator_.interval()),
        type_(generator_.array().type) {
    begin();
  }

  bool isDone() const { return cycle_ == INT64_MAX; }
  /// When the next word passes the border's port; INT64_MAX when there is none.
  int64_t cycle() const { return cycle_; }
  // REQUIRES (all below): not isDone().
  /// Whether the next word's element is in the bank's block.
  bool isInside() { return left_ > 0 || findInside(); }
  /// Which one it is. REQUIRES: not isInside(), or it was not asked.
  int64_t element() const { return generator_.element(); }
  /// Where it is. REQUIRES: isInside().
  Byte* at() const { return at_; }
  /// Whether the next word is inside, and the one after it as well, at the usual distance: then nextStraight() will do,
  /// which calls nothing.
  bool isStraight() const { return left_ > 1; }
  /// REQUIRES: isStraight().
  void nextStraight() {
    --left_;
    at_ += step_;
    cycle_ += interval_;
  }
  /// REQUIRES: isInside().
  void next() {
    if (isStraight())
      return nextStraight();
    generator_.skipStraight();
    begin();
  }

  const Bank& bank() const { return generator_.bank(); }
  Type type() const { return type_; }

private:
  void begin() {
    cycle_ = generator_.isDone() ? INT64_MAX : generator_.cycle();
    left_ = 0;
  }
  [[gnu::noinline]] bool findInside() {
    if (!generator_.isInside())
      return false;
    left_ = generator_.straight();
    at_ = memory_ + generator_.element() * int64_t{bytes(type_)};
    step_ = generator_.stride() * int64_t{bytes(type_)};
    return true;
  }

  AddressGenerator generator_; // at the first of those that are left
  Byte* memory_;
  Byte* at_ = nullptr;
  int64_t cycle_, left_, step_ = 0, interval_;
  Type type_;
};

/// What an output bank expects and what has come too early to be the next: values are sent when their instructions are
/// issued, not when they arrive.
struct OutputBank {
  Words<std::byte> words;
  std::vector<TimedValue> waiting; // by cycle

  enum class Fault : uint8_t { None, Unexpected, Missing, Together, Outside };
  /// What is usual: the next word in its cycle, and not the last of a row. False where it is not: then put() does it or
  /// says what is wrong.
  bool putNext(TimedValue word) {
    if (!waiting.empty() || word.cycle != words.cycle() || !words.isStraight()) [[unlikely]]
      return false;
    storeElement(words.at(), words.type(), word.value);
    last = word.cycle;
    words.nextStraight();
    return true;
  }
  /// REQUIRES: word.cycle > now. `Missing`: the word that is next did not come in its cycle.
  Fault put(int64_t now, TimedValue word);
  int64_t last = -1; // the cycle in which the last word came

private:
  void keep(uint64_t value);
};

} // namespace strata::array
