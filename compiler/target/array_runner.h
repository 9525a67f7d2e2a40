// A symbolic configuration at work on a machine's processor array: sizes and a region make it concrete, the simulator
// runs it, and both leave figures. A configuration is made once for each set of sizes. Used by one thread at a time.
//
// A region whose place the user gives sees the borders that it touches there, and is refused when the program needs
// others. A region without a place has buffers at all its borders, wherever it would stand: remarks() say where the
// array has none.
#pragma once

#include "compiler/target/array_options.h"
#include "runtime/array/instantiate.h"
#include "runtime/array/placement.h"
#include "runtime/array/simulate.h"
#include "runtime/array/transfers.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace strata::target {

/// Why there is no configuration or no result, or what is to be said of one; the code is that of a diagnostic.
struct ArrayError {
  const DiagnosticKind* kind = nullptr; // its format is "{0}"
  std::string message, help;
  bool isCircle = false;                                     // array::InstantiationError
  std::vector<std::string> variables = {};                   // array::InstantiationError
  std::vector<std::pair<Location, std::string>> places = {}; // of them, with some words
};

/// The machine's processor with an array; null where it has none.
const machine::Processor* arrayProcessor(const Machine& machine);

/// The link that fills and empties the buffers of the machine's array: the first that ends at its processor.
array::HostLink hostLink(const Machine& machine);

/// Why a symbolic configuration cannot run on a machine: made for another array, or damaged.
std::optional<ArrayError> misfit(const array::Symbolic& symbolic, const Machine& machine);

/// Why a program has no place in an array, or why its run there failed.
ArrayError errorOf(array::DeviceError error);

/// Figures of runs, by names that begin with "array ". `configuration` may be null.
std::map<std::string, int64_t> arrayFigures(const array::Symbolic& symbolic, const machine::ProcessorArray& array,
                                            const array::SimulationStatistics& sum, int64_t runs,
                                            const array::Configuration* configuration);

class ArrayRunner {
public:
  /// The same program mapped such that no value crosses tiles against its loop's direction, and remarks on how.
  struct Forward {
    array::Symbolic symbolic;
    std::vector<ArrayError> remarks;
  };

  /// `array` outlives it. REQUIRES: validate(symbolic, array) is empty.
  ArrayRunner(array::Symbolic symbolic, const machine::ProcessorArray& array, ArrayOptions options,
              const array::HostLink& link = {});

  /// What is mapped when elements would wait for each other in a circle: called once at most.
  void setForward(std::function<std::optional<Forward>()> make) { makeForward_ = std::move(make); }

  const array::Symbolic& symbolic() const { return symbolic_; }
  /// Where the options and sizes, one for each parameter, would have it; a region that they leave open is the largest
  /// that there is work for, and one whose place they leave open is in the north west.
  std::variant<array::PlacementRequest, ArrayError> request(const std::vector<int64_t>& sizes) const;
  /// The configuration for sizes. Valid as long as this lives.
  std::variant<const array::Configuration*, ArrayError> configuration(const std::vector<int64_t>& sizes);
  /// Arrays are those of the symbolic configuration, in its order, in C order.
  std::optional<ArrayError> run(const std::vector<int64_t>& sizes, std::span<const std::byte* const> inputs,
                                std::span<std::byte* const> outputs);

  /// What is to be said of the last configuration: that its loops were skewed, and what it takes for granted: buffers
  /// at borders that its region cannot touch.
  std::vector<ArrayError> remarks() const;

  /// Since the last reset.
  bool hasRun() const { return runs_ > 0; }
  /// Of the runs since the last reset, together.
  const array::SimulationStatistics& statistics() const { return sum_; }
  /// Figures of the runs since the last reset, by names that begin with "array ".
  std::map<std::string, int64_t> figures() const;
  void resetFigures();

  ArrayRunner(const ArrayRunner&) = delete;
  ArrayRunner& operator=(const ArrayRunner&) = delete;

private:
  std::variant<array::InstantiationOptions, ArrayError> instantiationOptions(const std::vector<int64_t>& sizes) const;
  std::variant<const array::Configuration*, ArrayError> placed(const std::vector<int64_t>& sizes);
  std::variant<const array::Configuration*, ArrayError> instantiated(const std::vector<int64_t>& sizes);

  array::Symbolic symbolic_;
  std::function<std::optional<Forward>()> makeForward_;
  std::optional<Forward> forward_;
  const array::Symbolic* used_ = &symbolic_; // while a configuration is made
  const machine::ProcessorArray& array_;
  ArrayOptions options_;
  array::HostLink link_;
  struct Made {
    const array::Symbolic* symbolic = nullptr;
    std::unique_ptr<array::Configuration> configuration;
    array::BorderNeeds needs;
    std::optional<machine::ProcessorArray> seen; // by a region whose place was given
    double seconds = 0;                          // that it took
    bool isTimed = false;
    std::optional<array::TransferTimes> transfers; // of a run, once one is timed; nothing for too many blocks
  };
  std::map<std::vector<int64_t>, Made> made_; // by sizes
  std::map<std::vector<int64_t>, ArrayError> failed_;
  Made* last_ = nullptr;
  array::SimulationStatistics sum_; // of the runs
  array::TransferTimes transfers_;  // of the runs, as far as they are known
  bool hasTransfers_ = true;        // they are, of all runs
  int64_t runs_ = 0;
};

} // namespace strata::target
