// Implements tracks: the grain doubles until half of the room is free, so that adding costs constant time on average.
#include "runtime/svm/track.h"

#include <algorithm>

namespace strata::svm {

bool Track::join(std::vector<Stretch>& all, const Stretch& next) const {
  if (all.empty() || next.end - all.back().begin > grain_)
    return false;
  Stretch& last = all.back();
  last.end = next.end;
  last.within += next.within;
  last.times += next.times;
  if (last.what != next.what)
    last.what = Stretch::several;
  return true;
}

void Track::add(int64_t begin, int64_t end, uint32_t what, size_t most) {
  const Stretch next{begin, end, end - begin, 1, what};
  if (join(stretches_, next))
    return;
  stretches_.push_back(next);
  if (stretches_.size() <= most)
    return;
  while (stretches_.size() > std::max<size_t>(most / 2, 1)) {
    grain_ = std::max<int64_t>(1000, grain_ * 2);
    std::vector<Stretch> joined;
    for (const Stretch& stretch : stretches_)
      if (!join(joined, stretch))
        joined.push_back(stretch);
    stretches_ = std::move(joined);
  }
}

} // namespace strata::svm
