// Implements what is said of shared storage. Two streams are told of when both have been used since both are
// initialised, one of them by a push; which of the two comes second makes no difference.
#include "runtime/svm/sharing.h"

#include "runtime/svm/block.h"
#include "runtime/svm/program.h"
#include "runtime/svm/stream.h"

#include <algorithm>

namespace strata::svm {

namespace {

const Place& placeOf(const Storage& storage) {
  return storage.stream ? storage.stream->place : storage.block->place;
}

std::string quoted(const Storage& storage) {
  return storage.stream ? "stream '" + nameOf(*storage.stream) + "'" : "block '" + nameOf(*storage.block) + "'";
}

bool isUnaliased(const Storage& storage) {
  return storage.stream && (storage.stream->flags & STREAM_UNALIASED_RAM);
}

/// The kernels that use a stream, or did last.
std::vector<const KernelRecord*> kernelsOf(const StreamRecord& stream) {
  std::vector<const KernelRecord*> kernels;
  for (const StreamEnd* end : {&stream.pusher, &stream.popper})
    for (const KernelRecord* kernel :
         {static_cast<const KernelRecord*>(end->kernel.load()), static_cast<const KernelRecord*>(end->last.load())})
      if (kernel)
        kernels.push_back(kernel);
  return kernels;
}

bool isAtHand(const Storage& storage) {
  if (!storage.stream)
    return !storage.block->kernels.empty();
  return storage.stream->pusher.kernel.load() || storage.stream->popper.kernel.load();
}

bool isPushedToNow(const Storage& storage) {
  return storage.stream && storage.stream->pusher.kernel.load();
}

/// Whether something says that a kernel's stream lies where the other does.
bool isAnnounced(const Program& program, const KernelRecord* kernel, const Storage& other, uintptr_t begin,
                 uintptr_t end) {
  for (const KernelRecord* each : kernelsOf(*other.stream))
    if (kernel &&
        (each == kernel || program.ordered.contains({each, kernel}) || program.ordered.contains({kernel, each})))
      return true;
  return std::ranges::any_of(program.blocks, [&](const auto& block) {
    const Storage& storage = block.second->storage;
    return storage.begin <= begin && storage.end >= end;
  });
}

/// What two share, in the addresses of their memory.
std::string sharedAddresses(const Program& program, const Storage& storage, uintptr_t begin, uintptr_t end) {
  const machine::Node& node = storage.stream ? storage.stream->node : storage.block->node;
  const auto address = static_cast<uint64_t>(storage.stream ? storage.stream->address : storage.block->address);
  const uint64_t unit = program.machine().memories[node.index].unit;
  const uint64_t first = address + (begin - storage.begin) / unit, last = address + (end - 1 - storage.begin) / unit;
  return (first == last ? "address " + std::to_string(first)
                        : "addresses " + std::to_string(first) + " to " + std::to_string(last)) +
         " of " + program.nameOf(node);
}

void forget(Storage& storage, Storage& other) {
  std::erase(storage.sharers, &other);
  std::erase(other.sharers, &storage);
}

[[noreturn]] void failUnaliased(const Program& program, const Storage& later, const Storage& earlier,
                                const std::string& where, const Place& place) {
  const bool isLater = isUnaliased(later);
  failAt(place, "svm-unaliased",
         quoted(later) + " lies at " + where + ", as does " + quoted(earlier) +
             (placeOf(earlier).where().empty() ? "" : " of " + placeOf(earlier).where()) + "; " +
             quoted(isLater ? later : earlier) + " is STREAM_UNALIASED_RAM",
         "give each an address of its own, or leave the flag out");
}

} // namespace

std::vector<Storage*> Owners::take(Storage& storage) {
  std::vector<Storage*> found;
  if (storage.begin == storage.end)
    return found;
  const auto split = [&](uintptr_t at) {
    auto next = owned_.upper_bound(at);
    if (next == owned_.begin())
      return;
    auto& [begin, owned] = *std::prev(next);
    if (begin == at || owned.end <= at)
      return;
    owned_.emplace(at, Owned{owned.end, owned.storage});
    owned.end = at;
  };
  split(storage.begin);
  split(storage.end);
  const auto first = owned_.lower_bound(storage.begin), behind = owned_.lower_bound(storage.end);
  for (auto each = first; each != behind; ++each)
    if (each->second.storage != &storage && std::ranges::find(found, each->second.storage) == found.end())
      found.push_back(each->second.storage);
  owned_.erase(first, behind);
  owned_.emplace(storage.begin, Owned{storage.end, &storage});
  return found;
}

void noteStorage(Program& program, Storage& storage, const char* begin, uint64_t bytes, bool withData) {
  for (Storage* other : std::vector(storage.sharers))
    forget(storage, *other);
  storage.begin = reinterpret_cast<uintptr_t>(begin);
  storage.end = storage.begin + bytes;
  storage.withData = withData;
  storage.since = ++program.clock;
  for (Storage* other : program.owners.take(storage)) {
    if (other->begin >= storage.end || storage.begin >= other->end)
      continue; // it has been initialised elsewhere since
    if (storage.block && (other->block || !isUnaliased(*other)))
      continue; // a block says that it shares
    if (other->block && !isUnaliased(storage))
      continue;
    if (isUnaliased(storage) || isUnaliased(*other)) {
      // One that has been used and is empty is of the past, as is one that is no static variable.
      const void* variable = other->stream ? static_cast<const void*>(other->stream->stream) : other->block->block;
      const bool stands =
          isStatic(variable) && (other->used < other->since || (other->stream && inside(*other->stream) > 0));
      if (stands)
        failUnaliased(
            program, storage, *other,
            sharedAddresses(program, storage, std::max(storage.begin, other->begin), std::min(storage.end, other->end)),
            placeOf(storage));
    }
    storage.sharers.push_back(other);
    other->sharers.push_back(&storage);
  }
}

void noteStorageUse(Program& program, Storage& storage, const KernelRecord* kernel, bool writes) {
  storage.used = ++program.clock;
  if (writes)
    storage.written = storage.used;
  for (Storage* other : std::vector(storage.sharers)) {
    const uint64_t since = std::max(storage.since, other->since);
    const bool isUsed = other->used > since || isAtHand(*other);
    const bool isWritten = writes || other->written > since || isPushedToNow(*other) || storage.written > since;
    if (!isUsed || !isWritten)
      continue;
    Storage& later = storage.since > other->since ? storage : *other;
    Storage& earlier = &later == &storage ? *other : storage;
    const uintptr_t begin = std::max(storage.begin, other->begin), end = std::min(storage.end, other->end);
    const std::string where = sharedAddresses(program, storage, begin, end);
    if (isUnaliased(storage) || isUnaliased(*other))
      failUnaliased(program, later, earlier, where, placeOf(later));
    const bool inPlace =
        storage.begin == other->begin && storage.end == other->end && (storage.withData || other->withData);
    if (inPlace || isAnnounced(program, kernel, *other, begin, end))
      continue;
    forget(storage, *other);
    warnAt(placeOf(later), "svm-shared-storage",
           quoted(later) + " shares " + where + " with " + quoted(earlier) +
               (placeOf(earlier).where().empty() ? "" : " of " + placeOf(earlier).where()) +
               ", and both are in use: what is pushed to the one overwrites the other",
           "give each an address of its own; where they are meant to share, a block that lies there says so");
  }
}

} // namespace strata::svm
