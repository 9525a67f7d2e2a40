// Which instances of a class take part in a piece of work, and which things each of them has: iterations of a parallel
// loop, elements of an array over many memories. An InstanceRange is consecutive instances of one class. Shares says
// how things are distributed: in contiguous shares or block-cyclically. All rules are here;
// compiler/transform/distribute_iterations.h emits those of Shares for numbers that are known only when a program runs.
//
// Plain values; every function is pure, may be called from any thread, and gives a constant for constants. Units are
// instances and things, both counted from 0 and up to 2^63 - 1. Nothing overflows: a range that would reach numbers
// beyond that is none (std::nullopt), and arguments that make no sense are moved to the nearest that do, as each
// function says.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

namespace strata::machine {

/// a / b, rounded up. REQUIRES: a >= 0, b >= 1.
template <std::integral Count>
constexpr Count divideUp(Count a, Count b) {
  return a / b + (a % b != 0);
}

/// Instances of an inner class that belong to each of `outer` instances around them: they are distributed in order,
/// evenly, and those of a last incomplete round belong to nobody. No instances around count as one.
template <std::integral Count>
constexpr Count instancesEach(Count inner, Count outer) {
  return inner / std::max<Count>(outer, 1);
}

/// Instances first … first + width - 1 of a class, of which there is one at least. The class may have fewer: what is
/// distributed to more parts than there are processors goes on behind them.
class InstanceRange {
public:
  /// Instance 0.
  constexpr InstanceRange() = default;
  /// Nothing where `first` is negative, `width` not positive, or their sum no number of 64 bits.
  static constexpr std::optional<InstanceRange> of(int64_t first, int64_t width) {
    if (first < 0 || width < 1 || first > most - width)
      return std::nullopt;
    return InstanceRange(first, width);
  }
  /// All of a class of `count`, of which there is one at least.
  static constexpr InstanceRange all(int64_t count) { return {0, std::max<int64_t>(count, 1)}; }
  /// The instances of a memory that belong to processor `number` of its class, with as many of both its own one. With
  /// more memories each processor has as many as all others, and nobody the remainder. With fewer, neighbours share
  /// one, as many as it takes for the memories to do (the last may have fewer). Nothing where the class has no such
  /// processor.
  static constexpr std::optional<InstanceRange> memoriesOf(int64_t number, int64_t processors, int64_t memories) {
    if (number < 0 || number >= processors)
      return std::nullopt;
    if (const int64_t each = instancesEach(memories, processors); each > 0)
      return InstanceRange(number * each, each);
    return InstanceRange(number / divideUp(processors, std::max<int64_t>(memories, 1)), 1);
  }

  constexpr int64_t first() const { return first_; }
  /// How many; 1 or more.
  constexpr int64_t width() const { return width_; }
  constexpr bool contains(int64_t number) const { return number >= first_ && number - first_ < width_; }

  /// `width` instances from number `from` of this range on. They may reach behind its end; see hasSubset.
  constexpr std::optional<InstanceRange> subset(int64_t from, int64_t width) const {
    return from < 0 || from > most - first_ ? std::nullopt : of(first_ + from, width);
  }
  /// Whether that many from there on lie in this range.
  constexpr bool hasSubset(int64_t from, int64_t width) const {
    return from >= 0 && width >= 1 && width <= width_ && from <= width_ - width;
  }

  /// The width of each of `parts` equal parts: instances that do not divide are in none, and each part has one at
  /// least. Less than one part counts as one.
  constexpr int64_t partWidth(int64_t parts) const { return std::max<int64_t>(instancesEach(width_, parts), 1); }
  /// Part `number` of so many; behind the end of the range where there are more parts than instances.
  constexpr std::optional<InstanceRange> part(int64_t number, int64_t parts) const {
    int64_t from = 0;
    if (__builtin_mul_overflow(number, partWidth(parts), &from))
      return std::nullopt;
    return subset(from, partWidth(parts));
  }

  /// The instances of another class, of `others`, that belong to those of this range of a class of `own`: where there
  /// are more of the other class, all that each one has (instancesEach); where there are fewer, the one that the first
  /// belongs to, and as many from there on as this range has whole sets of, one at least. Those of this class that
  /// belong to nobody have others behind the end. No instances of a class count as one.
  constexpr std::optional<InstanceRange> inClass(int64_t own, int64_t others) const {
    own = std::max<int64_t>(own, 1);
    others = std::max<int64_t>(others, 1);
    if (others < own) {
      const int64_t each = instancesEach(own, others);
      return of(first_ / each, std::max<int64_t>(width_ / each, 1));
    }
    int64_t first = 0, width = 0;
    if (__builtin_mul_overflow(first_, instancesEach(others, own), &first) ||
        __builtin_mul_overflow(width_, instancesEach(others, own), &width))
      return std::nullopt;
    return of(first, width);
  }

  friend constexpr bool operator==(const InstanceRange&, const InstanceRange&) = default;

private:
  static constexpr int64_t most = std::numeric_limits<int64_t>::max();
  constexpr InstanceRange(int64_t first, int64_t width) : first_(first), width_(width) {}

  int64_t first_ = 0, width_ = 1;
};

/// How `count` things are distributed to `parts` parts: a contiguous share for each, or in chunks of so many things,
/// one chunk for each part in turn (block-cyclic). Eight things, two parts: 0-3 and 4-7 contiguous, 0 1 4 5 and 2 3 6 7
/// in chunks of two. Every thing falls to one part, and a part has its things in order. A negative count counts as 0,
/// less than one part or a chunk of less than one thing as one.
class Shares {
public:
  /// Contiguous, as parallel loops are distributed: the first (count mod parts) parts have one thing more than the
  /// others.
  static constexpr Shares contiguous(int64_t count, int64_t parts) { return {count, parts, 0}; }
  /// Thing i falls to part i / chunk mod parts.
  static constexpr Shares blockCyclic(int64_t count, int64_t parts, int64_t chunk) {
    return {count, parts, std::max<int64_t>(chunk, 1)};
  }
  /// As the mapping of a parallel loop says: chunk 0 is contiguous.
  static constexpr Shares ofLoop(int64_t count, int64_t parts, int64_t chunk) {
    return chunk > 0 ? blockCyclic(count, parts, chunk) : contiguous(count, parts);
  }
  /// As a dimension of an array is laid over instances: a block size of 0 makes one chunk for each part, of which the
  /// last ones may be shorter or have nothing, so that the owner of an element is found by one division.
  static constexpr Shares ofDimension(int64_t extent, int64_t parts, int64_t blockSize) {
    if (blockSize <= 0)
      blockSize = divideUp(std::max<int64_t>(extent, 0), std::max<int64_t>(parts, 1));
    return blockCyclic(extent, parts, blockSize);
  }
  /// Iterations from `lower` up to but without `upper`, 2^63 - 1 where there are more.
  static constexpr int64_t iterations(int64_t lower, int64_t upper) {
    if (upper <= lower)
      return 0;
    const uint64_t count = static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower);
    return static_cast<int64_t>(std::min<uint64_t>(count, std::numeric_limits<int64_t>::max()));
  }

  constexpr int64_t count() const { return count_; }
  constexpr int64_t parts() const { return parts_; }
  /// 0: contiguous.
  constexpr int64_t chunk() const { return chunk_; }

  /// How many parts have anything; these are the first ones.
  constexpr int64_t busy() const { return std::min(parts_, chunk_ ? divideUp(count_, chunk_) : count_); }

  /// Things of a part; 0 for a number that is no part's.
  constexpr int64_t size(int64_t part) const {
    if (part < 0 || part >= busy())
      return 0;
    if (!chunk_)
      return count_ / parts_ + (part < count_ % parts_);
    // Whole chunks but for the last of all, which may be shorter.
    const int64_t chunks = divideUp(count_, chunk_), own = chunks / parts_ + (part < chunks % parts_);
    const bool hasLast = (chunks - 1) % parts_ == part;
    return (own - 1) * chunk_ + (hasLast ? count_ - (chunks - 1) * chunk_ : chunk_);
  }
  /// Room for the things of any part where each of its chunks takes a whole one's; no more than for all things.
  constexpr int64_t room() const {
    if (!chunk_)
      return size(0);
    int64_t room = 0;
    const int64_t rounds = divideUp(divideUp(count_, chunk_), parts_);
    return __builtin_mul_overflow(rounds, chunk_, &room) ? count_ : std::min(room, count_);
  }

  /// The first thing of a part, with contiguous shares also the end of the part before it; `count` where there is none.
  constexpr int64_t begin(int64_t part) const {
    if (part >= busy())
      return count_;
    part = std::max<int64_t>(part, 0);
    return chunk_ ? part * chunk_ : part * (count_ / parts_) + std::min(part, count_ % parts_);
  }
  /// The thing in place `place` of a part. REQUIRES: 0 <= place < size(part).
  constexpr int64_t at(int64_t part, int64_t place) const {
    if (!chunk_)
      return begin(part) + place;
    return (place / chunk_ * parts_ + part) * chunk_ + place % chunk_;
  }

  /// The part that has a thing. REQUIRES (here and below): 0 <= thing < count.
  constexpr int64_t partOf(int64_t thing) const {
    if (chunk_)
      return thing / chunk_ % parts_;
    const int64_t share = count_ / parts_, longer = count_ % parts_; // parts before `longer` have one more
    if (longer > 0 && thing / (share + 1) < longer)
      return thing / (share + 1);
    return (thing - longer) / share;
  }
  /// The place of a thing among those of its part, from 0 on.
  constexpr int64_t placeOf(int64_t thing) const {
    return chunk_ ? thing / chunk_ / parts_ * chunk_ + thing % chunk_ : thing - begin(partOf(thing));
  }
  /// How many things from this one on follow each other in its part too, itself included.
  constexpr int64_t run(int64_t thing) const {
    if (parts_ == 1)
      return count_ - thing;
    if (!chunk_)
      return begin(partOf(thing)) + size(partOf(thing)) - thing;
    return std::min(chunk_ - thing % chunk_, count_ - thing);
  }

  friend constexpr bool operator==(const Shares&, const Shares&) = default;

private:
  constexpr Shares(int64_t count, int64_t parts, int64_t chunk)
      : count_(std::max<int64_t>(count, 0)), parts_(std::max<int64_t>(parts, 1)), chunk_(chunk) {}

  int64_t count_, parts_, chunk_;
};

} // namespace strata::machine
