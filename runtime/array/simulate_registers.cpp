// What registers do seldom. See simulate_registers.h.
#include "runtime/array/simulate_registers.h"

#include <algorithm>

namespace strata::array {

RegisterFault RegisterState::put(RegisterPool& pool, int64_t now, TimedValue arrival) {
  if (count_ == capacity_)
    if (const RegisterFault fault = makeRoom(pool, now); fault != RegisterFault::None)
      return fault;
  return putNext(arrival) ? RegisterFault::None : insert(arrival);
}

RegisterFault RegisterState::read(int64_t now, uint64_t& value) {
  if (const RegisterFault fault = settle(now); fault != RegisterFault::None)
    return fault;
  return readNow(now, value) ? RegisterFault::None : RegisterFault::Empty;
}

RegisterFault RegisterState::take(int64_t now, uint64_t& value) {
  if (takeNow(now, value))
    return RegisterFault::None;
  if (count_ == 0 || at(0).cycle > now)
    return RegisterFault::Empty;
  return taken_ == now && (count_ <= depth_ || at(depth_).cycle > now) ? RegisterFault::TakenTwice
                                                                       : RegisterFault::Overfull;
}

/// Drops what was overwritten by now.
RegisterFault RegisterState::settle(int64_t now) {
  while (count_ > 1 && at(1).cycle <= now) {
    if (!wasRead_)
      return RegisterFault::Unread;
    pop();
    wasRead_ = false;
  }
  return RegisterFault::None;
}

RegisterFault RegisterState::makeRoom(RegisterPool& pool, int64_t now) {
  if (!isFifo_) {
    if (const RegisterFault fault = settle(now); fault != RegisterFault::None)
      return fault;
    if (count_ < capacity_)
      return RegisterFault::None;
  } else if (count_ > depth_ && at(depth_).cycle <= now) {
    return RegisterFault::Overfull;
  }
  const uint32_t capacity = std::max<uint32_t>(4, 2 * capacity_);
  TimedValue* items = pool.take(capacity);
  for (uint32_t i = 0; i < count_; ++i)
    items[i] = at(i);
  items_ = items;
  capacity_ = capacity;
  head_ = 0;
  return RegisterFault::None;
}

RegisterFault RegisterState::insert(TimedValue arrival) {
  uint32_t place = count_;
  while (place > 0 && at(place - 1).cycle >= arrival.cycle)
    --place;
  if (place < count_ && at(place).cycle == arrival.cycle)
    return RegisterFault::Together;
  for (uint32_t i = count_++; i > place; --i)
    at(i) = at(i - 1);
  at(place) = arrival;
  return RegisterFault::None;
}

RegisterFault RegisterState::finish() {
  if (isFifo_)
    return count_ == 0 ? RegisterFault::None : count_ > depth_ ? RegisterFault::Overfull : RegisterFault::Left;
  if (const RegisterFault fault = settle(INT64_MAX); fault != RegisterFault::None)
    return fault;
  return count_ == 0 || wasRead_ ? RegisterFault::None : RegisterFault::Left;
}

} // namespace strata::array
