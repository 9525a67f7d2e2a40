// What a user says about how loop programs go onto a processor array. All of it may be left out. Plain data; loops are
// named as in the program.
#pragma once

#include "base/machine/machine.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::target {

class ArrayRecorder;

struct ArrayOptions {
  // Of the symbolic mapping, which knows no sizes (compiler/target/array/map.h says what each means).
  std::optional<std::string> rowLoop, columnLoop; // distributed over rows and columns; "": none; nothing: chosen
  std::vector<std::string> order;                 // the outermost first; empty: chosen
  std::map<std::string, int64_t> leastTiles;
  struct Skew {
    std::string loop, by;
    int64_t factor = 1;
    friend auto operator<=>(const Skew&, const Skew&) = default;
  };
  std::vector<Skew> skews;
  bool isShared = false; // the array, with other programs

  // Of the instantiation, which knows them.
  std::optional<std::pair<uint32_t, uint32_t>> region; // rows and columns of elements; nothing: chosen
  std::optional<std::pair<uint32_t, uint32_t>> place;  // of a region: its first row and column; nothing: chosen
  std::map<std::string, int64_t> tile;   // iterations in a tile, by loop; others: as few as cover the loop
  std::optional<machine::Corner> corner; // of the controller; nothing: the first that the array has
  unsigned threads = 1;                  // that make programs of processor classes

  ArrayRecorder* recorder = nullptr; // is told of every run; outlives what is made with these options

  friend bool operator==(const ArrayOptions&, const ArrayOptions&) = default;
};

} // namespace strata::target
