// The happens-before order of the instances of one parallel loop, kept as vector clocks. An instance's time is divided
// into points by its fences: before the first fence; at the first store behind it; from there to the next fence; and so
// on. A store right behind a fence is a release, a load of that value with a fence behind it an acquire: what the
// storing instance did before its fence happened before what the loading one does after its own.
//
// Clocks share equal pieces, which are copied when written. Plain data, not thread safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace strata::interpret {

/// By instance, up to which of its points everything happened before. 0: nothing did.
class Clock {
public:
  uint32_t at(uint32_t instance) const;
  /// Raises one instance's point, and all points to those of another clock; false when they were there already.
  bool raise(uint32_t instance, uint32_t point);
  bool join(const Clock& other);

private:
  static constexpr uint32_t PieceSize = 64;
  using Piece = std::array<uint32_t, PieceSize>;
  std::vector<std::shared_ptr<const Piece>> pieces_;
};

/// The instances of the outermost parallel loop under way. Instances are numbered from 1 across all loops, so that an
/// instance of an earlier loop is known by its number: all that it did happened before.
class InstanceOrder {
public:
  /// A loop begins, and what the last one's instances did happened before.
  void begin();
  /// A new instance; 0 when numbers are used up, and no order is asked for any more.
  uint32_t add(uint64_t iteration);
  bool isLive(uint32_t instance) const { return instance >= first_ && instance - first_ < instances_.size(); }

  /// The point of a read, or of a write, that the instance does now.
  uint32_t readPoint(uint32_t instance) const { return 2 * of(instance).fences + 1; }
  uint32_t writePoint(uint32_t instance);
  /// Whether what `other` did at a point happened before what `instance` does now.
  bool isBefore(uint32_t other, uint32_t point, uint32_t instance) const;
  /// The instance has read, in a loop that waits, what `other` wrote at a point; it counts at the next fence. `element`
  /// identifies the read.
  void observe(uint32_t instance, std::pair<uint64_t, uint64_t> element, uint32_t other, uint32_t point);
  void fence(uint32_t instance);
  /// Instances that have waited for each other: what each of them did before happened before what each does now.
  void meet(const std::vector<uint32_t>& instances);

  void setNumber(uint32_t instance, uint64_t number);
  /// How messages call it: by the processor's number where a kernel was told it, else by its iteration.
  std::pair<bool, uint64_t> number(uint32_t instance) const { return {of(instance).hasNumber, of(instance).number}; }
  void reset();

private:
  struct Instance {
    uint32_t fences = 0;
    bool afterFence = false; ///< nothing has been stored since the last one
    bool hasNumber = false;
    uint64_t number = 0;
    Clock clock;
    /// The clock as it was from a fence on, where it had changed.
    std::vector<std::pair<uint32_t, Clock>> released;
    std::map<std::pair<uint64_t, uint64_t>, std::pair<uint32_t, uint32_t>> observed;
  };
  Instance& of(uint32_t instance) { return instances_[instance - first_]; }
  const Instance& of(uint32_t instance) const { return instances_[instance - first_]; }

  uint32_t first_ = 1; ///< the number of the first instance of this loop
  std::vector<Instance> instances_;
};

} // namespace strata::interpret
