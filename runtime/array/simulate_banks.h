// Banks at the borders while an array is simulated: address generators that count through their iterations, words of
// the host's arrays, and outputs that take what comes in its cycle. Used by one thread.
#pragma once

#include "runtime/array/iteration_runs.h"
#include "runtime/array/simulate_registers.h"

#include <cstddef>
#include <cstring>

namespace strata::array {

/// An address generator between two of its iterations. REQUIRES: what it is made of lives longer.
class AddressGenerator {
public:
  AddressGenerator(const Bank& bank, const IterationRuns& runs, const ArrayLayout& array,
                   const Configuration& configuration);

  /// Whether there are no more words.
  bool isDone() const { return run_ == runs_->size(); }
  // REQUIRES (all below): not isDone().
  /// When the word passes the border's port.
  int64_t cycle() const { return cycle_; }
  /// Which element of the array it is.
  int64_t element() const { return element_; }
  /// Whether that lies in the bank's block, and what has been accessed since the last new block fits what it holds.
  bool isInside() { return inside_ > 0 || findInside(); }
  void next() {
    if (inside_ > 1) {
      --inside_;
      ++iteration_;
      ++point_.back();
      cycle_ += interval_;
      element_ += stride_;
      return;
    }
    inside_ = 0;
    if (++iteration_ == runEnd_)
      nextRun();
    else
      count();
  }

  const Bank& bank() const { return *bank_; }
  const ArrayLayout& array() const { return *array_; }

private:
  void nextRun();
  void jump();
  void count();
  bool findInside();
  bool isInsideBlock(int64_t element);
  bool isStraight(int64_t from, int64_t to, int64_t words) const;
  bool isHeld(size_t dimension, int64_t index);

  const Bank* bank_;
  const IterationRuns* runs_;
  const ArrayLayout* array_;
  const Configuration* configuration_;
  size_t run_ = 0;
  int64_t iteration_ = 0, runEnd_ = 0, element_ = 0, elements_ = 1;
  int64_t cycle_ = 0;
  int64_t interval_ = 1, stride_ = 0; // of the innermost loop
  /// So many words from here on differ in the innermost loop alone and are inside; none: it is not known yet.
  int64_t inside_ = 0;
  int64_t tried_ = 0;                     // up to this iteration that was tried in vain
  int64_t wholeFirst_ = 0, wholeEnd_ = 0; // elements that are in the block whatever has been accessed
  std::vector<int64_t> point_;            // the iteration's coordinates
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
void storeElement(std::byte* to, Type type, uint64_t value);

/// What an output bank expects and what has come too early to be the next: values are sent when their instructions are
/// issued, not when they arrive.
struct OutputBank {
  AddressGenerator generator;
  std::byte* memory;
  std::vector<TimedValue> waiting; // by cycle

  enum class Fault : uint8_t { None, Unexpected, Missing, Together, Outside };
  /// REQUIRES: word.cycle > now. `Missing`: the word that is next did not come in its cycle.
  Fault put(int64_t now, TimedValue word);
  int64_t last = -1; // the cycle in which the last word came

private:
  Fault keep(uint64_t value);
};

} // namespace strata::array
