// Addresses that come back are given again to who asks for as many; others in order.
#include "runtime/cluster/addresses.h"

#include <algorithm>
#include <sys/mman.h>

namespace strata::cluster {
namespace {

// Where the system puts nothing by itself: it begins at the end of the 47 bits, programs at the beginning.
char* at(uint64_t address) {
  return reinterpret_cast<char*>(address); // NOLINT(performance-no-int-to-ptr)
}
constexpr uint64_t begin = uint64_t(0x200) << 36, each = uint64_t(1) << 42;

} // namespace

Stretch Addresses::home() {
  return {at(begin), each};
}
Stretch Addresses::stores() {
  return {at(begin + each), each};
}
Stretch Addresses::windows() {
  return {at(begin + 2 * each), each};
}

bool Addresses::reserveStretches() {
  const std::initializer_list<Stretch> all = {home(), stores(), windows()};
  return std::all_of(all.begin(), all.end(), [](const Stretch& stretch) {
    return mmap(stretch.first, stretch.bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == stretch.first;
  });
}

static size_t inPages(size_t bytes) {
  const size_t page = runtime::pageBytes();
  return (std::max<size_t>(bytes, 1) + page - 1) / page * page;
}

void* Addresses::Given::take(size_t bytes) {
  if (bytes > stretch.bytes)
    return nullptr;
  const size_t whole = inPages(bytes);
  if (const auto found = back.find(whole); found != back.end()) {
    char* first = found->second;
    back.erase(found);
    return first;
  }
  if (whole > stretch.bytes - used)
    return nullptr;
  used += whole;
  return stretch.first + (used - whole);
}

bool Addresses::Given::giveBack(void* first, size_t bytes) {
  if (!stretch.has(first))
    return false;
  back.emplace(inPages(bytes), static_cast<char*>(first));
  return true;
}

void* Addresses::map(size_t bytes) {
  if (!isHome_)
    return computer_.map(bytes);
  void* base = nullptr;
  {
    const std::lock_guard guard(lock_);
    base = home_.take(bytes);
  }
  return base && computer_.commit(base, bytes) ? base : nullptr;
}

void* Addresses::reserve(size_t bytes) {
  if (!isHome_)
    return computer_.reserve(bytes);
  const std::lock_guard guard(lock_);
  return windows_.take(bytes);
}

void* Addresses::reserveAlike(size_t bytes) {
  const std::lock_guard guard(lock_);
  return stores_.take(bytes);
}

void Addresses::unmap(void* base, size_t bytes) {
  if (!home().has(base) && !stores().has(base) && !windows().has(base))
    return computer_.unmap(base, bytes);
  // The memory goes back, the addresses stay reserved. Nobody has them before they are.
  mmap(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  const std::lock_guard guard(lock_);
  for (Given* given : {&home_, &stores_, &windows_})
    if (given->giveBack(base, bytes))
      return;
}

} // namespace strata::cluster
