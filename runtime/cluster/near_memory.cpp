// Pieces are kept until there are as many as one call of the system takes, or somebody waits for them. Pieces that
// follow each other on both sides are one.
#include "runtime/cluster/near_memory.h"

#include <cerrno>
#include <climits>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace strata::cluster {

static constexpr size_t mostPieces = IOV_MAX;

void NearMemory::permit() {
#ifdef PR_SET_PTRACER
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
#endif
}

bool NearMemory::reaches(const int64_t* there, int64_t value) const {
  int64_t read = ~value;
  const iovec to{&read, sizeof read}, from{const_cast<int64_t*>(there), sizeof read};
  return process_vm_readv(process_, &to, 1, &from, 1, 0) == sizeof read && read == value;
}

void NearMemory::add(Pending& pending, const NearCopy& copy) {
  const bool isDense = copy.hereStep == copy.bytes && copy.thereStep == copy.bytes;
  const int64_t pieces = isDense ? 1 : copy.elements;
  const auto length = static_cast<size_t>(isDense ? copy.elements * copy.bytes : copy.bytes);
  if (copy.elements <= 0 || copy.bytes <= 0)
    return;
  const std::lock_guard guard(lock_);
  for (int64_t i = 0; i < pieces; ++i) {
    char* const here = copy.here + i * copy.hereStep;
    char* const there = copy.there + i * copy.thereStep;
    if (!pending.here.empty()) {
      iovec &lastHere = pending.here.back(), &lastThere = pending.there.back();
      if (static_cast<char*>(lastHere.iov_base) + lastHere.iov_len == here &&
          static_cast<char*>(lastThere.iov_base) + lastThere.iov_len == there) {
        lastHere.iov_len += length;
        lastThere.iov_len += length;
        continue;
      }
    }
    pending.here.push_back({here, length});
    pending.there.push_back({there, length});
    if (pending.here.size() == mostPieces)
      carryOut(pending);
  }
}

void NearMemory::flush() {
  const std::lock_guard guard(lock_);
  carryOut(writes_);
  carryOut(reads_);
}

void NearMemory::carryOut(Pending& pending) const {
  // The system may copy less than all of it at once.
  size_t at = 0;
  while (at < pending.here.size()) {
    const size_t count = pending.here.size() - at;
    const auto call = pending.isWrite ? process_vm_writev : process_vm_readv;
    const ssize_t copied = call(process_, &pending.here[at], count, &pending.there[at], count, 0);
    if (copied < 0 && errno != EINTR && errno != EAGAIN)
      while (true) // the other process has ended, and this one will be
        pause();
    for (auto left = static_cast<size_t>(copied < 0 ? 0 : copied); left > 0;) {
      iovec &here = pending.here[at], &there = pending.there[at];
      if (left >= here.iov_len) {
        left -= here.iov_len;
        ++at;
        continue;
      }
      here = {static_cast<char*>(here.iov_base) + left, here.iov_len - left};
      there = {static_cast<char*>(there.iov_base) + left, there.iov_len - left};
      left = 0;
    }
  }
  pending.here.clear();
  pending.there.clear();
}

} // namespace strata::cluster
