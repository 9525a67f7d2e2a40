// See simulate_banks.h.
#include "runtime/array/simulate_banks.h"

#include <algorithm>

namespace strata::array {

AddressGenerator::AddressGenerator(const Bank& bank, const IterationRuns& runs, const ArrayLayout& array,
                                   const Configuration& configuration)
    : bank_(&bank), runs_(&runs), array_(&array), configuration_(&configuration), point_(configuration.extents.size()) {
  for (const int64_t extent : array.extents)
    elements_ *= extent;
  interval_ = configuration.interval;
  if (!bank.strides.empty())
    stride_ = bank.strides.back();
  // A block that is all of the array but for the first dimension lies in one piece.
  bool isPiece = bank.blockLoops == 0;
  for (size_t i = 1; i < array.extents.size(); ++i)
    isPiece &= bank.block[i] == Range{0, array.extents[i]};
  if (isPiece) {
    const int64_t row = array.extents.empty() || elements_ == 0 ? elements_ : elements_ / array.extents[0];
    const Range rows = array.extents.empty() ? Range{0, 1} : bank.block[0];
    wholeFirst_ = rows.first * row;
    wholeEnd_ = rows.end * row;
  }
  jump();
}

/// To the beginning of the run.
void AddressGenerator::jump() {
  if (isDone())
    return;
  isOuterNew_ = true;
  iteration_ = (*runs_)[run_].first;
  runEnd_ = (*runs_)[run_].end;
  cycle_ = bank_->start + iteration_ * configuration_->interval;
  element_ = bank_->base;
  int64_t rest = iteration_;
  for (size_t i = point_.size(); i-- > 0;) {
    point_[i] = rest % configuration_->extents[i];
    rest /= configuration_->extents[i];
    element_ += bank_->strides[i] * point_[i];
  }
}

void AddressGenerator::nextRun() {
  ++run_;
  jump();
}

/// To the next iteration, which is one of the run.
void AddressGenerator::count() {
  cycle_ += configuration_->interval;
  for (size_t i = point_.size(); i-- > 0;) {
    isOuterNew_ |= i < bank_->blockLoops;
    element_ += bank_->strides[i];
    if (++point_[i] < configuration_->extents[i])
      return;
    element_ -= bank_->strides[i] * point_[i];
    point_[i] = 0;
  }
}

/// Whether one more index of the array leaves room for what belongs to the same block.
bool AddressGenerator::isHeld(size_t dimension, int64_t index) {
  Range& range = accessed_[dimension];
  range = range.first == range.end ? Range{index, index + 1}
                                   : Range{std::min(range.first, index), std::max(range.end, index + 1)};
  return range.end - range.first <= bank_->held[dimension];
}

/// Whether the word is inside, and how many after it: an access moves by the same step in every dimension of the array,
/// so that those between two that are inside are inside, too.
bool AddressGenerator::findInside() {
  const auto isWhole = [&](int64_t element) { return element >= wholeFirst_ && element < wholeEnd_; };
  if (!isWhole(element_) && !isInsideBlock(element_))
    return false;
  inside_ = 1;
  constexpr int64_t fewest = 4; // for less it does not pay
  if (point_.empty() || iteration_ < tried_ || bank_->blockLoops == point_.size())
    return true;
  const int64_t words = std::min(runEnd_ - iteration_, configuration_->extents.back() - point_.back());
  if (words < fewest)
    return true;
  const int64_t last = element_ + (words - 1) * stride_;
  before_ = accessed_;
  if ((isWhole(element_) && isWhole(last)) || (isInsideBlock(last) && isStraight(element_, last, words))) {
    inside_ = words;
  } else {
    accessed_ = before_;
    tried_ = iteration_ + words;
  }
  return true;
}

/// Whether `words` elements at equal distances are so in each dimension of the array, also where one ends in a row and
/// the next stands in another. REQUIRES: both ends lie in the array.
bool AddressGenerator::isStraight(int64_t from, int64_t to, int64_t words) const {
  for (size_t i = array_->extents.size(); i-- > 1;) {
    if ((to % array_->extents[i] - from % array_->extents[i]) % (words - 1) != 0)
      return false;
    from /= array_->extents[i];
    to /= array_->extents[i];
  }
  return (to - from) % (words - 1) == 0;
}

bool AddressGenerator::isInsideBlock(int64_t element) {
  if (element < 0 || element >= elements_)
    return false;
  const bool isPart = bank_->blockLoops != 0;
  if (isPart && isOuterNew_ && (outer_.empty() || !std::equal(outer_.begin(), outer_.end(), point_.begin()))) {
    outer_.assign(point_.begin(), point_.begin() + bank_->blockLoops);
    accessed_.assign(bank_->block.size(), {});
  }
  isOuterNew_ = false;
  int64_t rest = element;
  for (size_t i = bank_->block.size(); i-- > 0;) {
    int64_t index = rest; // of the first dimension, as the element is in the array
    if (i > 0) {
      index = rest % array_->extents[i];
      rest /= array_->extents[i];
    }
    if (index < bank_->block[i].first || index >= bank_->block[i].end || (isPart && !isHeld(i, index)))
      return false;
  }
  return true;
}

void storeElement(std::byte* to, Type type, uint64_t value) {
  if (type == Type::Bool)
    value &= 1;
  std::memcpy(to, &value, bytes(type));
}

OutputBank::Fault OutputBank::keep(uint64_t value) {
  if (!generator.isInside())
    return Fault::Outside;
  const Type type = generator.array().type;
  storeElement(memory + generator.element() * bytes(type), type, value);
  last = generator.cycle();
  generator.next();
  return Fault::None;
}

OutputBank::Fault OutputBank::put(int64_t now, TimedValue word) {
  if (generator.isDone() || word.cycle < generator.cycle())
    return Fault::Unexpected;
  if (word.cycle > generator.cycle()) {
    if (generator.cycle() <= now)
      return Fault::Missing;
    auto place = waiting.begin();
    while (place != waiting.end() && place->cycle < word.cycle)
      ++place;
    if (place != waiting.end() && place->cycle == word.cycle)
      return Fault::Together;
    waiting.insert(place, word);
    return Fault::None;
  }
  Fault fault = keep(word.value);
  while (fault == Fault::None && !waiting.empty()) {
    if (generator.isDone() || waiting.front().cycle < generator.cycle())
      return Fault::Unexpected;
    if (waiting.front().cycle > generator.cycle())
      break;
    fault = keep(waiting.front().value);
    waiting.erase(waiting.begin());
  }
  return fault;
}

} // namespace strata::array
