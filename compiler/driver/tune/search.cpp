// Downhill from several places (see the header).
#include "compiler/driver/tune/search.h"

#include <algorithm>
#include <limits>

namespace strata::driver {

namespace {

constexpr unsigned mostFruitless = 64; // random places in a row of which none is new, or none is any good
constexpr size_t farthest = 4;         // how far to look behind values that are refused

class Search {
public:
  Search(const SearchSpace& space, const Evaluate& evaluate, const std::function<bool()>& isOver)
      : space_(space), evaluate_(evaluate), isOver_(isOver) {
    for (const size_t count : space.counts)
      if (__builtin_mul_overflow(combinations_, count, &combinations_))
        combinations_ = std::numeric_limits<uint64_t>::max();
  }

  SearchResult run() {
    best_ = space_.begin;
    bestCost_ = costOf(best_).value_or(std::numeric_limits<double>::infinity());
    descend(best_, bestCost_);
    for (unsigned fruitless = 0; fruitless < mostFruitless && !isOver(); ++fruitless) {
      const Point place = somewhere();
      const bool isNew = !costs_.contains(place);
      const std::optional<double> cost = costOf(place);
      if (!isNew || !cost)
        continue;
      fruitless = 0;
      // From a place that is many times worse the way down is long, and leads where others have led.
      constexpr double tooBad = 4;
      if (*cost < tooBad * bestCost_)
        descend(place, *cost);
    }
    return {best_, bestCost_, isExhausted()};
  }

private:
  bool isExhausted() const { return costs_.size() >= combinations_; }
  bool isOver() const { return isExhausted() || isOver_(); }

  std::optional<double> costOf(const Point& point) {
    if (auto at = costs_.find(point); at != costs_.end())
      return at->second;
    const std::optional<double> cost = evaluate_(point);
    costs_.emplace(point, cost);
    if (cost && *cost < gainShare * bestCost_) {
      best_ = point;
      bestCost_ = *cost;
    }
    return cost;
  }

  /// One choice moved by so many places; nothing where there are not so many.
  std::optional<Point> moved(const Point& point, size_t choice, int direction, size_t by) const {
    if (direction < 0 ? point[choice] < by : point[choice] + by >= space_.counts[choice])
      return std::nullopt;
    Point other = point;
    other[choice] = direction < 0 ? other[choice] - by : other[choice] + by;
    return other;
  }

  /// Takes a step where it gains.
  bool goTo(const std::optional<Point>& other, Point& point, double& cost) {
    if (!other || isOver())
      return false;
    const std::optional<double> there = costOf(*other);
    if (!there || *there >= gainShare * cost)
      return false;
    point = *other;
    cost = *there;
    return true;
  }

  /// The nearest place in a direction that is not refused, farther while it is better by too little to tell, then on by
  /// doubled steps.
  bool goAlong(size_t choice, int direction, Point& point, double& cost) {
    size_t step = 1;
    for (;;) {
      const auto other = moved(point, choice, direction, step);
      if (!other || isOver())
        return false;
      const std::optional<double> there = costOf(*other);
      if (there && *there < gainShare * cost)
        break;
      if (there ? *there >= cost : step == farthest)
        return false;
      step += there ? step : 1;
    }
    while (goTo(moved(point, choice, direction, step), point, cost))
      step *= 2;
    return true;
  }

  bool goAlone(Point& point, double& cost) {
    bool gains = false;
    for (size_t choice = 0; choice < point.size(); ++choice)
      gains |= goAlong(choice, 1, point, cost) || goAlong(choice, -1, point, cost);
    return gains;
  }

  bool goTogether(Point& point, double& cost) {
    for (size_t first = 0; first < point.size(); ++first)
      for (size_t second = first + 1; second < point.size(); ++second)
        for (const auto& [one, other] : {std::pair(1, -1), std::pair(-1, 1), std::pair(1, 1), std::pair(-1, -1)}) {
          const auto half = moved(point, first, one, 1);
          if (half && goTo(moved(*half, second, other, 1), point, cost))
            return true;
        }
    return false;
  }

  void descend(Point point, double cost) {
    while (!isOver() && (goAlone(point, cost) || goTogether(point, cost))) {
    }
  }

  /// The next of a fixed sequence of places.
  Point somewhere() {
    Point place;
    for (const size_t count : space_.counts) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u; // Knuth's linear congruential generator
      place.push_back(static_cast<size_t>((state_ >> 33) % count));
    }
    return place;
  }

  const SearchSpace& space_;
  const Evaluate& evaluate_;
  const std::function<bool()>& isOver_;
  uint64_t combinations_ = 1;
  std::map<Point, std::optional<double>> costs_;
  Point best_;
  double bestCost_ = std::numeric_limits<double>::infinity();
  uint64_t state_ = 1;
};

} // namespace

SearchResult search(const SearchSpace& space, const Evaluate& evaluate, const std::function<bool()>& isOver) {
  return Search(space, evaluate, isOver).run();
}

} // namespace strata::driver
