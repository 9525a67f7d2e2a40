// Two unknowns with coefficients of -1, 0 and 1: each dependence bounds row, column, their sum or their difference. The
// best integer point lies next to a point where two of the bounds or two of the goal's bends meet, so that the starts
// are the smallest. Proof: the goal is a sum of a function of row and one of column, each convex and linear between
// bends at integers; within a cell between bends it is linear, and the cell's borders are bounds of the same form.
// Bounds of this form with integer right sides, after a + b >= n on row + column and row - column has become row >=
// ceil(n / 2) and likewise for column, have only integer corners (Harvey and Stuckey 1997): where lines of neighbouring
// directions meet, the determinant is 1, and where row + column and row - column meet between integers the rounded
// bound cuts the corner off, at points that differ from it by a half in both. These are tried, with all others.
#include "runtime/array/starts.h"
#include "runtime/array/variables.h"

#include <algorithm>
#include <array>
#include <climits>

namespace strata::array {

namespace {

/// row · R + column · C >= least, of the dependence that asks for the most.
struct Limit {
  int64_t row = 0, column = 0, least = 0;
  const Arrival* arrival = nullptr;
};

/// The cycles by which the iteration at J + v follows the one at J; and all else of an arrival that does not depend on
/// the starts.
CheckedSum waitingTime(const Symbolic& symbolic, const Tiling& tiling, const Arrival& arrival) {
  CheckedSum iterations;
  for (size_t l = 0; l < arrival.distance.size(); ++l) {
    CheckedSum across;
    across.add(arrival.distance[l]);
    across.add(-arrival.crossing[l], tiling.tile[l]);
    iterations.add(across.value(), tiling.inner[l]);
  }
  CheckedSum result;
  result.add(iterations.fits() ? iterations.value() : INT64_MAX, symbolic.interval);
  result.add(arrival.slack);
  return result;
}

int64_t crossingOf(const Arrival& arrival, uint32_t loop) {
  return loop == Symbolic::none ? 0 : arrival.crossing[loop];
}

/// False where no value goes that way: the tile that it would come from does not exist, or no two iterations are so far
/// apart, within one tile or at all.
bool occurs(const Tiling& tiling, const Arrival& arrival) {
  for (size_t l = 0; l < arrival.distance.size(); ++l) {
    const int64_t distance = std::abs(arrival.distance[l]);
    if (distance >= tiling.count[l] || (arrival.crossing[l] == 0 && distance >= tiling.tile[l]))
      return false;
  }
  return (crossingOf(arrival, tiling.rowLoop) == 0 || tiling.rows > 1) &&
         (crossingOf(arrival, tiling.columnLoop) == 0 || tiling.columns > 1);
}

std::string formatDependence(const Arrival& arrival) {
  std::string text;
  for (const int64_t distance : arrival.distance)
    text += (text.empty() ? "" : ", ") + std::to_string(distance);
  return "(" + text + ")";
}

InstantiationError circle(const Symbolic& symbolic, const Limit& first, const Limit& second) {
  const std::vector<std::string> one = variablesOf(symbolic, *first.arrival),
                                 other = variablesOf(symbolic, *second.arrival);
  std::vector<std::string> all = one;
  for (const std::string& each : other)
    if (std::ranges::find(all, each) == all.end())
      all.push_back(each);
  return {"elements would wait for each other in a circle: the dependences of distance " +
              formatDependence(*first.arrival) + formatNames("of", one) + " and " + formatDependence(*second.arrival) +
              formatNames("of", other) + " cross tiles in opposite directions",
          "skew the loops so that no distance is negative in a distributed loop (--skew), or distribute other loops",
          true, false, std::move(all)};
}

/// Of two bounds, one below and one above.
struct Line {
  int64_t row, column, value; // row · R + column · C == value
};

class Plane {
public:
  Plane(const Symbolic& symbolic, const Tiling& tiling, int64_t hop, machine::Corner corner)
      : symbolic_(symbolic), height_(tiling.rows - 1), width_(tiling.columns - 1), hop_(hop),
        isSouth_(corner == machine::Corner::SouthWest || corner == machine::Corner::SouthEast),
        isEast_(corner == machine::Corner::NorthEast || corner == machine::Corner::SouthEast) {}

  void limit(const Limit& limit) {
    for (Limit& known : limits_)
      if (known.row == limit.row && known.column == limit.column) {
        if (limit.least > known.least)
          known = limit;
        return;
      }
    limits_.push_back(limit);
  }

  std::variant<Starts, InstantiationError> best() const {
    std::vector<Line> lines;
    for (const Limit& limit : limits_)
      lines.push_back({limit.row, limit.column, limit.least});
    for (const int64_t bend : {int64_t{0}, hop_, -hop_}) {
      lines.push_back({1, 0, bend});
      lines.push_back({0, 1, bend});
    }
    std::optional<std::array<int64_t, 2>> cost;
    Starts result;
    const auto consider = [&](int64_t row, int64_t column) {
      for (const Limit& limit : limits_)
        if (limit.row * row + limit.column * column < limit.least)
          return;
      const int64_t first = firstStart(row, column);
      const int64_t last = first + std::max<int64_t>(0, row * height_) + std::max<int64_t>(0, column * width_);
      const std::array<int64_t, 2> here = {last, std::abs(row) * height_ + std::abs(column) * width_};
      if (cost && !(here < *cost))
        return;
      cost = here;
      result = {first, row, column};
    };
    for (size_t i = 0; i < lines.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Line &a = lines[i], &b = lines[j];
        const int64_t determinant = a.row * b.column - a.column * b.row; // -2 to 2
        if (determinant == 0)
          continue;
        const int64_t sign = determinant < 0 ? -1 : 1;
        const int64_t row = sign * (a.value * b.column - a.column * b.value);
        const int64_t column = sign * (a.row * b.value - a.value * b.row), by = std::abs(determinant);
        for (const int64_t r : {floorDivide(row, by), ceilDivide(row, by)})
          for (const int64_t c : {floorDivide(column, by), ceilDivide(column, by)})
            consider(r, c);
      }
    if (cost)
      return result;
    return explain();
  }

private:
  /// The least that lets every element start when the control signals have reached it. Both are linear in row and
  /// column, so that the region's corners decide.
  int64_t firstStart(int64_t row, int64_t column) const {
    int64_t first = 0;
    for (const int64_t r : {int64_t{0}, height_})
      for (const int64_t c : {int64_t{0}, width_}) {
        const int64_t hops = (isSouth_ ? height_ - r : r) + (isEast_ ? width_ - c : c);
        first = std::max({first, hops * hop_ - r * row - c * column, -r * row - c * column});
      }
    return first;
  }

  /// Two dependences whose limits cannot be kept together, as opposite ones or through a third.
  InstantiationError explain() const {
    for (const Limit& a : limits_)
      for (const Limit& b : limits_)
        if (a.row == -b.row && a.column == -b.column && a.least + b.least > 0)
          return circle(symbolic_, a, b);
    // Without opposite ones, three go round; two of them that are diagonal to each other are named.
    for (const Limit& a : limits_)
      for (const Limit& b : limits_)
        if (&a != &b && a.row * b.row + a.column * b.column < 0)
          return circle(symbolic_, a, b);
    return circle(symbolic_, limits_.front(), limits_.back());
  }

  const Symbolic& symbolic_;
  int64_t height_, width_, hop_;
  bool isSouth_, isEast_;
  std::vector<Limit> limits_;
};

} // namespace

std::variant<Starts, InstantiationError> makeStarts(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                                    const Tiling& tiling, machine::Corner corner) {
  Plane plane(symbolic, tiling, static_cast<int64_t>(array.control.hop), corner);
  std::vector<const Arrival*> arrivals;
  for (const Arrival& arrival : symbolic.arrivals)
    arrivals.push_back(&arrival);
  for (const Fifo& fifo : symbolic.fifos)
    arrivals.push_back(&fifo.arrival);
  // Starts are multiplied with the number of elements and added up.
  constexpr int64_t longest = int64_t{1} << 58;
  for (const Arrival* arrival : arrivals) {
    if (!occurs(tiling, *arrival))
      continue;
    const CheckedSum waiting = waitingTime(symbolic, tiling, *arrival);
    CheckedSum total;
    total.add(waiting.value(), tiling.rows + tiling.columns);
    if (!waiting.fits() || !total.fits() || std::abs(total.value()) > longest)
      return tooLarge("the time between the starts of two elements");
    const int64_t row = crossingOf(*arrival, tiling.rowLoop), column = crossingOf(*arrival, tiling.columnLoop);
    if (row == 0 && column == 0) {
      if (waiting.value() < 0) {
        std::vector<std::string> names = variablesOf(symbolic, *arrival);
        return InstantiationError{"a value" + formatNames("of", names) + " of distance " + formatDependence(*arrival) +
                                      " is used " + std::to_string(-waiting.value()) +
                                      " cycles before it is there, with tiles of " + formatExtents(tiling.tile),
                                  "choose larger tiles", false, false, std::move(names)};
      }
      continue;
    }
    plane.limit({row, column, -waiting.value(), arrival});
  }
  return plane.best();
}

namespace {

/// An input FIFO gets a value only in iterations at the face of the neighbour's tile: in each pass over the loop that
/// crosses, in |distance| of its iterations, which follow each other, with all of the loops inside.
int64_t mostInWindow(const Tiling& tiling, const Arrival& arrival, int64_t window) {
  window = std::min(window, tiling.tile[0] * tiling.inner[0]);
  int64_t most = window;
  for (size_t l = 0; l < arrival.crossing.size(); ++l) {
    if (arrival.crossing[l] == 0)
      continue;
    const int64_t pass = tiling.tile[l] * tiling.inner[l];
    const int64_t atFace = std::min(tiling.tile[l], std::abs(arrival.distance[l])) * tiling.inner[l];
    most = std::min(most, window / pass * atFace + std::min(atFace, window % pass));
  }
  return most;
}

} // namespace

std::optional<InstantiationError> setDepths(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                            const Tiling& tiling, const Starts& starts, Configuration& configuration) {
  configuration.feedbackDepths.assign(array.registers.feedback, 0);
  configuration.inputDepths.assign(array.registers.input, 0);
  for (const Access& access : symbolic.accesses)
    if (!access.isOutput)
      configuration.inputDepths[access.reg.index] = 1;
  for (const Fifo& fifo : symbolic.fifos) {
    const bool isFeedback = fifo.reg.kind == Register::Kind::Feedback;
    int64_t depth = 1;
    if (occurs(tiling, fifo.arrival)) {
      const int64_t cycles = waitingTime(symbolic, tiling, fifo.arrival).value() +
                             crossingOf(fifo.arrival, tiling.rowLoop) * starts.row +
                             crossingOf(fifo.arrival, tiling.columnLoop) * starts.column;
      const int64_t window = floorDivide(cycles, symbolic.interval) + 1;
      depth = std::max<int64_t>(1, mostInWindow(tiling, fifo.arrival, window));
    }
    const uint64_t available = isFeedback ? array.registers.feedbackDepth : array.registers.inputDepth;
    if (static_cast<uint64_t>(depth) > available) {
      std::vector<std::string> names = variablesOf(symbolic, fifo.reg);
      return InstantiationError{
          std::string(isFeedback ? "feedback" : "input") + " register " + name(fifo.reg) + " holds " +
              std::to_string(depth) + " values" + formatNames("of", names) + " with tiles of " +
              formatExtents(tiling.tile) + ", the array's hold " + std::to_string(available),
          isFeedback
              ? "choose smaller tiles of the inner loops, or an order in which the loop that carries the value is "
                "further inside"
              : "choose smaller tiles of the loops inside of the distributed ones, or distribute other loops",
          false, false, std::move(names)};
    }
    std::vector<uint64_t>& depths = isFeedback ? configuration.feedbackDepths : configuration.inputDepths;
    depths[fifo.reg.index] = std::max(depths[fifo.reg.index], static_cast<uint64_t>(depth));
  }
  return std::nullopt;
}

} // namespace strata::array
