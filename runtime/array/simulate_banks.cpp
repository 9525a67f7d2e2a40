// See simulate_banks.h.
#include "runtime/array/simulate_banks.h"

#include <algorithm>

namespace strata::array {

AddressGenerator::AddressGenerator(const Bank& bank, const IterationRuns& runs, const ArrayLayout& array,
                                   const Configuration& configuration)
    : bank_(&bank), runs_(&runs), array_(&array), configuration_(&configuration), point_(configuration.extents.size()) {
  for (const int64_t extent : configuration.extents)
    loops_.emplace_back(extent);
  for (const int64_t extent : array.extents) {
    elements_ *= extent;
    extents_.emplace_back(extent);
  }
  // What is accessed in one iteration fits where anything does.
  isPart_ = bank.blockLoops != 0 && (bank.blockLoops != point_.size() || std::ranges::count(bank.held, 0) != 0);
  interval_ = configuration.interval;
  if (!bank.strides.empty())
    stride_ = bank.strides.back();
  isAllInside_ = !isPart_ && std::ranges::all_of(bank.enable, [&](const Box& box) { return isAllOf(box); });
  jump();
}

/// Whether the bank's block has the elements of all iterations of a box: along each loop an access moves by the same
/// steps in every dimension of the array, so that the ends of the loops tell. False where it is not that simple.
bool AddressGenerator::isAllOf(const Box& box) const {
  int64_t first = bank_->base;
  for (size_t l = 0; l < box.size(); ++l) {
    if (box[l].first >= box[l].end)
      return true;
    first += bank_->strides[l] * box[l].first;
  }
  const size_t dimensions = array_->extents.size();
  std::vector<int64_t> from(dimensions), to(dimensions);
  const auto split = [&](int64_t element, std::vector<int64_t>& indices) {
    if (element < 0 || element >= elements_)
      return false;
    for (size_t i = dimensions; i-- > 0;) {
      const int64_t above = i == 0 ? 0 : extents_[i].quotient(element);
      indices[i] = element - above * array_->extents[i];
      element = above;
    }
    return true;
  };
  if (!split(first, from))
    return false;
  std::vector<Range> reached;
  for (const int64_t index : from)
    reached.push_back({index, index + 1});
  for (size_t l = 0; l < box.size(); ++l) {
    const int64_t steps = box[l].end - box[l].first - 1;
    if (steps == 0)
      continue;
    if (!split(first + steps * bank_->strides[l], to))
      return false;
    for (size_t i = 0; i < dimensions; ++i) {
      const int64_t moved = to[i] - from[i];
      if (moved % steps != 0)
        return false;
      (moved < 0 ? reached[i].first : reached[i].end) += moved;
    }
  }
  for (size_t i = 0; i < dimensions; ++i)
    if (reached[i].first < bank_->block[i].first || reached[i].end > bank_->block[i].end)
      return false;
  return true;
}

/// To the beginning of the run.
void AddressGenerator::jump() {
  isDone_ = run_ == runs_->size();
  if (isDone_)
    return;
  isOuterNew_ = true;
  iteration_ = (*runs_)[run_].first;
  runEnd_ = (*runs_)[run_].end;
  cycle_ = bank_->start + iteration_ * configuration_->interval;
  element_ = bank_->base;
  int64_t rest = iteration_;
  for (size_t i = point_.size(); i-- > 0;) {
    const int64_t outer = loops_[i].quotient(rest);
    point_[i] = rest - outer * configuration_->extents[i];
    rest = outer;
    element_ += bank_->strides[i] * point_[i];
  }
}

/// After the last of the words that are known to be inside.
void AddressGenerator::nextUnusual() {
  if (words_ > 1) {
    iteration_ += words_ - 1;
    point_.back() += words_ - 1;
  }
  inside_ = words_ = 0;
  if (++iteration_ < runEnd_)
    return count();
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
  const int64_t words =
      point_.empty() ? 1 : std::min(runEnd_ - iteration_, configuration_->extents.back() - point_.back());
  if (isAllInside_) {
    inside_ = words_ = words;
    return true;
  }
  if (!isInsideBlock(element_))
    return false;
  inside_ = words_ = 1;
  constexpr int64_t fewest = 3; // for less it does not pay
  if (words < fewest || iteration_ < tried_)
    return true;
  const int64_t last = element_ + (words - 1) * stride_;
  before_ = accessed_;
  if (isInsideBlock(last) && isStraight(element_, last, words)) {
    inside_ = words_ = words;
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
    const int64_t fromAbove = extents_[i].quotient(from), toAbove = extents_[i].quotient(to);
    if ((to - from - (toAbove - fromAbove) * array_->extents[i]) % (words - 1) != 0)
      return false;
    from = fromAbove;
    to = toAbove;
  }
  return (to - from) % (words - 1) == 0;
}

bool AddressGenerator::isInsideBlock(int64_t element) {
  if (element < 0 || element >= elements_)
    return false;
  if (isPart_ && isOuterNew_ && (outer_.empty() || !std::equal(outer_.begin(), outer_.end(), point_.begin()))) {
    outer_.assign(point_.begin(), point_.begin() + bank_->blockLoops);
    accessed_.assign(bank_->block.size(), {});
  }
  isOuterNew_ = false;
  int64_t rest = element;
  for (size_t i = bank_->block.size(); i-- > 0;) {
    int64_t index = rest; // of the first dimension, as the element is in the array
    if (i > 0) {
      const int64_t above = extents_[i].quotient(rest);
      index = rest - above * array_->extents[i];
      rest = above;
    }
    if (index < bank_->block[i].first || index >= bank_->block[i].end || (isPart_ && !isHeld(i, index)))
      return false;
  }
  return true;
}

void OutputBank::keep(uint64_t value) {
  storeElement(words.at(), words.type(), value);
  last = words.cycle();
  words.next();
}

OutputBank::Fault OutputBank::put(int64_t now, TimedValue word) {
  if (word.cycle < words.cycle() || words.isDone())
    return Fault::Unexpected;
  if (word.cycle > words.cycle()) {
    if (words.cycle() <= now)
      return Fault::Missing;
    auto place = waiting.begin();
    while (place != waiting.end() && place->cycle < word.cycle)
      ++place;
    if (place != waiting.end() && place->cycle == word.cycle)
      return Fault::Together;
    waiting.insert(place, word);
    return Fault::None;
  }
  if (!words.isInside())
    return Fault::Outside;
  keep(word.value);
  while (!waiting.empty() && waiting.front().cycle <= words.cycle()) {
    if (waiting.front().cycle < words.cycle())
      return Fault::Unexpected;
    if (!words.isInside())
      return Fault::Outside;
    keep(waiting.front().value);
    waiting.erase(waiting.begin());
  }
  return Fault::None;
}

} // namespace strata::array
