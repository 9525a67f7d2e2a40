// Banks at the borders while an array is simulated: address generators that count through their iterations, words of
// the host's arrays, and outputs that take what comes in its cycle. Used by one thread.
#pragma once

#include "runtime/array/iteration_runs.h"
#include "runtime/array/simulate_registers.h"

#include <cstddef>

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
  bool isInside() { return (element_ >= wholeFirst_ && element_ < wholeEnd_) || isInsideBlock(); }
  void next() {
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
  bool isInsideBlock();
  bool isHeld(size_t dimension, int64_t index);

  const Bank* bank_;
  const IterationRuns* runs_;
  const ArrayLayout* array_;
  const Configuration* configuration_;
  size_t run_ = 0;
  int64_t iteration_ = 0, runEnd_ = 0, element_ = 0, elements_ = 1;
  int64_t cycle_ = 0;
  int64_t wholeFirst_ = 0, wholeEnd_ = 0; // elements that are in the block whatever has been accessed
  std::vector<int64_t> point_;            // the iteration's coordinates
  // Of a bank that holds a part of its block at a time: the iteration of the outer loops, and the indices accessed in
  // it.
  bool isOuterNew_ = true; // it may have changed since outer_ was set
  std::vector<int64_t> outer_;
  std::vector<Range> accessed_;
};

/// An element of an array as a register holds it, and back.
uint64_t loadElement(const std::byte* from, Type type);
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
