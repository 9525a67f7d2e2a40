// Addresses are given out in order and not again: there are more of them than a run can use.
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

void* Addresses::next(const Stretch& stretch, std::atomic<size_t>& used, size_t bytes) {
  const size_t page = runtime::pageBytes();
  if (bytes > stretch.bytes)
    return nullptr;
  const size_t whole = (bytes + page - 1) / page * page, from = used.fetch_add(whole);
  return from + whole <= stretch.bytes ? stretch.first + from : nullptr;
}

void* Addresses::map(size_t bytes) {
  if (!isHome_)
    return computer_.map(bytes);
  void* base = next(home(), home_, bytes);
  return base && computer_.commit(base, bytes) ? base : nullptr;
}

void* Addresses::reserve(size_t bytes) {
  return isHome_ ? next(windows(), windows_, bytes) : computer_.reserve(bytes);
}

void* Addresses::reserveAlike(size_t bytes) {
  return next(stores(), stores_, bytes);
}

void Addresses::unmap(void* base, size_t bytes) {
  if (!home().has(base) && !stores().has(base) && !windows().has(base))
    return computer_.unmap(base, bytes);
  // The memory goes back, the addresses stay reserved.
  mmap(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

} // namespace strata::cluster
