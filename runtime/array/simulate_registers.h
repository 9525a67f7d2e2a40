// A register of an element while it is simulated: a list of values by the cycles in which they arrive. Who writes adds
// to it when the instruction is issued, who reads sees what has arrived by then. What hardware would get wrong is found
// when a value is read, when the list must grow, or at the end, so that it costs next to nothing. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata::array {

struct TimedValue {
  int64_t cycle; // of its arrival
  uint64_t value;
};

/// Memory for lists; all of it is given back at once.
class RegisterPool {
public:
  TimedValue* take(size_t count) {
    if (count > left_) {
      left_ = count > block ? count : block;
      blocks_.push_back(std::make_unique_for_overwrite<TimedValue[]>(left_));
      next_ = blocks_.back().get();
    }
    left_ -= count;
    next_ += count;
    return next_ - count;
  }

private:
  static constexpr size_t block = 1 << 14;
  std::vector<std::unique_ptr<TimedValue[]>> blocks_;
  TimedValue* next_ = nullptr;
  size_t left_ = 0;
};

enum class RegisterFault : uint8_t {
  None,
  Empty,      // read before anything has arrived
  Overfull,   // more values than the depth
  TakenTwice, // by two instructions of one cycle
  Unread,     // overwritten before it was read
  Together,   // two arrivals in one cycle
  Left,       // not read until the end
};

/// One register: a FIFO of some depth, or one that holds a value until the next arrives.
class RegisterState {
public:
  static constexpr uint32_t none = UINT32_MAX;

  RegisterState(bool isFifo, uint32_t depth) : depth_(depth), isFifo_(isFifo) {}

  // What is usual, in few instructions; false where it is not: then the three functions below do it or say what is
  // wrong.

  bool putNext(TimedValue arrival) {
    if (count_ == capacity_ || arrival.cycle <= last_) [[unlikely]]
      return false;
    last_ = arrival.cycle;
    at(count_++) = arrival;
    return true;
  }
  bool readNow(int64_t now, uint64_t& value) {
    if (count_ > 1 && at(1).cycle <= now) {
      if (!wasRead_) [[unlikely]]
        return false;
      pop();
      wasRead_ = false;
      if (count_ > 1 && at(1).cycle <= now) [[unlikely]]
        return false;
    }
    if (count_ == 0 || items_[head_].cycle > now) [[unlikely]]
      return false;
    wasRead_ = true;
    value = items_[head_].value;
    return true;
  }
  bool takeNow(int64_t now, uint64_t& value) {
    if (count_ == 0 || items_[head_].cycle > now || taken_ == now || (count_ > depth_ && at(depth_).cycle <= now))
        [[unlikely]]
      return false;
    taken_ = now;
    value = items_[head_].value;
    pop();
    return true;
  }

  /// Of a FIFO without values: one that comes and is taken in this cycle passes by. False where another was taken in
  /// it.
  bool passNow(int64_t now) {
    if (count_ != 0 || taken_ == now) [[unlikely]]
      return false;
    taken_ = now;
    return true;
  }

  /// REQUIRES: arrival.cycle > now; nothing was read in cycles after `now`.
  RegisterFault put(RegisterPool& pool, int64_t now, TimedValue arrival);
  /// Of a register that holds its value.
  RegisterFault read(int64_t now, uint64_t& value);
  /// Of a FIFO. A value takes its place from the cycle in which it arrives to that in which it is read, both included.
  RegisterFault take(int64_t now, uint64_t& value);
  /// After the last cycle.
  RegisterFault finish();

  /// How many values there are, those on their way included.
  uint32_t count() const { return count_; }
  uint32_t depth() const { return depth_; }
  bool isFifo() const { return isFifo_; }
  /// Which input wire of the simulation fills it, or none.
  uint32_t feed() const { return feed_; }
  void setFeed(uint32_t wire) { feed_ = wire; }
  /// The cycle in which the value number i arrives. REQUIRES: i < count().
  int64_t arrival(uint32_t i) const { return items_[(head_ + i) & (capacity_ - 1)].cycle; }

private:
  TimedValue& at(uint32_t i) { return items_[(head_ + i) & (capacity_ - 1)]; }
  void pop() {
    head_ = (head_ + 1) & (capacity_ - 1);
    --count_;
  }
  RegisterFault settle(int64_t now);
  RegisterFault makeRoom(RegisterPool& pool, int64_t now);
  RegisterFault insert(TimedValue arrival);

  TimedValue* items_ = nullptr;
  uint32_t head_ = 0, count_ = 0, capacity_ = 0; // the last is 0 or a power of two, the first less than it
  uint32_t depth_;                               // of a FIFO
  int64_t last_ = -1;                            // the cycle in which the last value arrives
  int64_t taken_ = -1;                           // the cycle in which the last value was
  uint32_t feed_ = none;
  bool isFifo_;
  bool wasRead_ = false; // the first value
};

} // namespace strata::array
