// One program in a region somewhere in a processor array. A region sees the array without the banks of borders that it
// does not touch: instantiation then leads data to the others, or says that it cannot. Who else is in the array is the
// caller's business (device.h). Safe to call from several threads.
#pragma once

#include "runtime/array/configuration.h"
#include "runtime/array/symbolic.h"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace strata::array {

struct DeviceError {
  /// Border: the region does not touch a border at which the program needs buffers.
  enum class Kind : uint8_t { Argument, Machine, Program, Occupied, Unfit, Border, State, Value, Memory, Internal };
  Kind kind = Kind::Internal;
  std::string message;
  std::string help;      // may be empty
  bool isCircle = false; // InstantiationError
};

/// Where a program is placed, and for what. Numbers by the names of parameters and of loops.
struct PlacementRequest {
  uint32_t row = 0, column = 0; // of the array: the region's element in the north west
  uint32_t rows = 1, columns = 1;
  machine::Corner corner = machine::Corner::NorthWest;
  std::vector<std::pair<std::string, int64_t>> sizes, tiles;
};

/// "2 x 3 elements at row 0, column 1".
std::string describe(const PlacementRequest& request);
/// "north-west".
std::string cornerName(machine::Corner corner);

struct PlacedProgram {
  PlacementRequest request;
  machine::ProcessorArray seen; // by the region
  Configuration configuration;
};

/// Why a region is none of the array, or a corner without a controller.
std::optional<DeviceError> checkRegion(const machine::ProcessorArray& array, const PlacementRequest& request);

/// REQUIRES (of both): validate(program, array) is empty. The place of the request.
std::variant<PlacedProgram, DeviceError> placeAt(const Symbolic& program, const machine::ProcessorArray& array,
                                                 const PlacementRequest& request);
/// The first place that serves, row after row from the north west, of those that are free; the request's own does not
/// count. An error of kind Occupied where none is free, else why the first free place does not serve.
std::variant<PlacedProgram, DeviceError> placeFirst(const Symbolic& program, const machine::ProcessorArray& array,
                                                    PlacementRequest request,
                                                    const std::function<bool(const PlacementRequest&)>& isFree);

/// A configuration that was made with the banks of all borders: where it could stand, and at which borders it would
/// then have banks that are not there (the region does not touch them).
struct BorderNeeds {
  uint32_t row = 0, column = 0;
  std::vector<machine::Side> untouched;
};
BorderNeeds borderNeeds(const machine::ProcessorArray& array, const Configuration& configuration);

/// "northern and eastern".
std::string sideList(const std::vector<machine::Side>& sides);

} // namespace strata::array
