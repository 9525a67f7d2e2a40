// How much of a test is done: what repeats itself with other data is done a little by day, when everybody waits for it,
// and much by night. For tests alone.
#pragma once

#include <cstdlib>
#include <vector>

namespace strata {

/// The first by day, the second by night: when STRATA_NIGHT is set, as `./dev nightly` sets it.
inline size_t byDay(size_t day, size_t night) {
  return std::getenv("STRATA_NIGHT") ? night : day;
}

/// Which of so many ways the case with this number is tried in: by day in one, by night in all.
inline std::vector<size_t> inTurn(size_t ways, size_t number) {
  std::vector<size_t> chosen{number % ways};
  if (byDay(0, 1) == 1)
    for (size_t more = 1; more < ways; ++more)
      chosen.push_back((number + more) % ways);
  return chosen;
}

} // namespace strata
