// Implements the vector clocks. Even points are the stores right behind a fence, odd ones everything up to the next
// fence.
#include "compiler/interpret/instance_order.h"

#include <algorithm>
#include <limits>

namespace strata::interpret {

uint32_t Clock::at(uint32_t instance) const {
  const uint32_t piece = instance / PieceSize;
  return piece < pieces_.size() && pieces_[piece] ? (*pieces_[piece])[instance % PieceSize] : 0;
}

bool Clock::raise(uint32_t instance, uint32_t point) {
  if (at(instance) >= point)
    return false;
  const uint32_t piece = instance / PieceSize;
  if (piece >= pieces_.size())
    pieces_.resize(piece + 1);
  auto changed = pieces_[piece] ? std::make_shared<Piece>(*pieces_[piece]) : std::make_shared<Piece>();
  (*changed)[instance % PieceSize] = point;
  pieces_[piece] = std::move(changed);
  return true;
}

bool Clock::join(const Clock& other) {
  bool changed = false;
  if (pieces_.size() < other.pieces_.size())
    pieces_.resize(other.pieces_.size());
  for (size_t i = 0; i < other.pieces_.size(); ++i) {
    const auto& theirs = other.pieces_[i];
    auto& ours = pieces_[i];
    if (!theirs || ours == theirs)
      continue;
    if (!ours) {
      ours = theirs;
      changed = true;
      continue;
    }
    auto merged = std::make_shared<Piece>(*ours);
    bool weKnowMore = false, theyKnowMore = false;
    for (size_t k = 0; k < PieceSize; ++k) {
      weKnowMore |= (*ours)[k] > (*theirs)[k];
      theyKnowMore |= (*ours)[k] < (*theirs)[k];
      (*merged)[k] = std::max((*ours)[k], (*theirs)[k]);
    }
    if (theyKnowMore)
      ours = weKnowMore ? std::move(merged) : theirs;
    changed |= theyKnowMore;
  }
  return changed;
}

void InstanceOrder::begin() {
  first_ += static_cast<uint32_t>(instances_.size());
  instances_.clear();
}

uint32_t InstanceOrder::add(uint64_t iteration) {
  if (instances_.size() >= std::numeric_limits<uint32_t>::max() - first_)
    return 0;
  instances_.emplace_back().number = iteration;
  return first_ + static_cast<uint32_t>(instances_.size() - 1);
}

uint32_t InstanceOrder::writePoint(uint32_t instance) {
  Instance& who = of(instance);
  return 2 * who.fences + !std::exchange(who.afterFence, false);
}

bool InstanceOrder::isBefore(uint32_t other, uint32_t point, uint32_t instance) const {
  return other == instance || !isLive(other) || of(instance).clock.at(other - first_) >= point;
}

void InstanceOrder::observe(uint32_t instance, std::pair<uint64_t, uint64_t> element, uint32_t other, uint32_t point) {
  if (isLive(other) && other != instance)
    of(instance).observed[element] = {other, point};
}

void InstanceOrder::fence(uint32_t instance) {
  Instance& who = of(instance);
  // Points are 32 bits; an instance that passes more fences than that has been found to be without races long ago.
  if (who.fences >= std::numeric_limits<uint32_t>::max() / 2 - 1)
    return;
  bool changed = false;
  for (const auto& [element, write] : who.observed) {
    const auto [other, point] = write;
    // A store right behind a fence tells of everything before it; another tells of what was before its instance's last
    // fence.
    const Instance& writer = of(other);
    const uint32_t known = point % 2 ? std::max(point, 2u) - 2 : point;
    changed |= who.clock.raise(other - first_, known);
    auto later = std::upper_bound(writer.released.begin(), writer.released.end(), point / 2,
                                  [](uint32_t fence, const auto& entry) { return fence < entry.first; });
    if (later != writer.released.begin())
      changed |= who.clock.join(std::prev(later)->second);
  }
  ++who.fences;
  who.afterFence = true;
  if (changed)
    who.released.emplace_back(who.fences, who.clock);
  who.observed.clear();
}

void InstanceOrder::meet(const std::vector<uint32_t>& instances) {
  Clock all;
  for (uint32_t instance : instances)
    if (isLive(instance)) {
      all.join(of(instance).clock);
      all.raise(instance - first_, readPoint(instance));
    }
  for (uint32_t instance : instances)
    if (isLive(instance)) {
      Instance& who = of(instance);
      who.clock.join(all);
      if (who.fences < std::numeric_limits<uint32_t>::max() / 2 - 1)
        ++who.fences;
      who.afterFence = false;
      who.released.emplace_back(who.fences, who.clock);
      who.observed.clear();
    }
}

void InstanceOrder::setNumber(uint32_t instance, uint64_t number) {
  of(instance).number = number;
  of(instance).hasNumber = true;
}

void InstanceOrder::reset() {
  first_ = 1;
  instances_.clear();
}

} // namespace strata::interpret
