// Each row of a box is a run; rows that follow each other are joined. See iteration_runs.h.
#include "runtime/array/iteration_runs.h"

#include <algorithm>

namespace strata::array {

namespace {

uint64_t hash(const std::vector<Box>& boxes) {
  uint64_t result = boxes.size();
  for (const Box& box : boxes)
    for (const Range& range : box)
      for (const int64_t number : {range.first, range.end}) {
        result = (result ^ static_cast<uint64_t>(number)) * 0x9E3779B97F4A7C15u;
        result ^= result >> 29;
      }
  return result;
}

/// The dimension whose ranges are runs: those within it are whole. 0 for a box that is one run.
size_t runDimension(const Box& box, const std::vector<int64_t>& extents) {
  size_t at = box.size();
  while (at > 1 && box[at - 1].first == 0 && box[at - 1].end == extents[at - 1])
    --at;
  return at == 0 ? 0 : at - 1;
}

bool isEmpty(const Box& box) {
  return std::ranges::any_of(box, [](const Range& range) { return range.first >= range.end; });
}

} // namespace

/// How many runs the box has before any are joined; mostRuns + 1 for more.
int64_t IterationTable::rows(const Box& box) const {
  if (isEmpty(box))
    return 0;
  int64_t count = 1;
  for (size_t i = 0; i < runDimension(box, extents_) && count <= mostRuns; ++i)
    count = std::min(box[i].end - box[i].first, mostRuns + 1) * count;
  return std::min(count, mostRuns + 1);
}

void IterationTable::append(const Box& box, IterationRuns& runs) const {
  if (isEmpty(box))
    return;
  const size_t dimension = runDimension(box, extents_);
  std::vector<int64_t> at(box.size()), strides(box.size());
  int64_t length = 1, number = 0;
  for (size_t i = box.size(); i-- > 0;) {
    strides[i] = i + 1 == box.size() ? 1 : strides[i + 1] * extents_[i + 1];
    at[i] = box[i].first;
    number += at[i] * strides[i];
    if (i >= dimension)
      length *= box[i].end - box[i].first;
  }
  for (;;) {
    runs.push_back({number, number + length});
    size_t i = dimension;
    for (; i > 0; --i) {
      number += strides[i - 1];
      if (++at[i - 1] < box[i - 1].end)
        break;
      number -= (box[i - 1].end - box[i - 1].first) * strides[i - 1];
      at[i - 1] = box[i - 1].first;
    }
    if (i == 0)
      return;
  }
}

const IterationRuns* IterationTable::find(const std::vector<Box>& boxes, std::string& wrong) {
  const uint64_t key = hash(boxes);
  const auto [first, end] = byHash_.equal_range(key);
  for (auto each = first; each != end; ++each)
    if (*each->second->boxes == boxes)
      return &each->second->runs;
  const int64_t before = runs_;
  for (const Box& box : boxes)
    runs_ += rows(box);
  if (runs_ > mostRuns) {
    wrong = "iterations in more than " + std::to_string(mostRuns) + " pieces, which is too many for a simulation";
    return nullptr;
  }
  IterationRuns& runs = entries_.emplace_back(Entry{&boxes, {}}).runs;
  runs.reserve(static_cast<size_t>(runs_ - before));
  for (const Box& box : boxes)
    append(box, runs);
  if (!std::ranges::is_sorted(runs, {}, &Range::first))
    std::ranges::sort(runs, {}, &Range::first);
  size_t kept = 0;
  for (const Range& each : runs) {
    if (kept != 0 && runs[kept - 1].end > each.first) {
      wrong = "an iteration that is in two of its boxes";
      return nullptr;
    }
    if (kept != 0 && runs[kept - 1].end == each.first)
      runs[kept - 1].end = each.end;
    else
      runs[kept++] = each;
  }
  runs.resize(kept);
  byHash_.emplace(key, &entries_.back());
  return &runs;
}

} // namespace strata::array
