// What a program would take on the machine that it is placed on, from the description alone: nothing runs, and the
// machine need not be there. The control code of a scheduled program is carried out for given sizes, with a clock for
// each processor; moves take what memories and links between say, kernels what their operations cost. docs/estimates.md
// tells the model.
//
// One thread; the same estimate every time, on any computer.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/cost/kernel_cost.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::cost {

/// All times are cycles of the machine's reference clock.
struct Estimate {
  double cycles = 0;
  std::optional<double> seconds; ///< where the machine states its clock
  /// What one class of processors did, all of them together.
  struct Processors {
    std::string name;
    uint64_t count = 0, used = 0;
    double computing = 0; ///< kernels and control code
    double waiting = 0;   ///< for moves
    double starting = 0;  ///< being started, and starting moves
  };
  std::vector<Processors> processors; ///< that did something, in the machine's order
  /// What a class of memories or links carried, all instances together.
  struct Carrier {
    std::string name;
    uint64_t count = 0;
    double busy = 0;
  };
  std::vector<Carrier> carriers;           ///< those that state a bandwidth and were used, in the machine's order
  std::map<std::string, int64_t> counters; ///< of the program's own counts: those of strata run --stats
  std::vector<Assumption> assumptions;
  bool isSampled = false; ///< of long loops a few iterations stand for the others
  /// What happened, where that was asked for; begins and ends in cycles.
  struct Event {
    enum class Kind : uint8_t { Run, Wait, Move };
    Kind kind;
    uint32_t processor; ///< its class, by number in the machine
    uint64_t instance;
    std::string name; ///< of the kernel, or of the block that is moved or waited for
    double begin, end, bytes;
  };
  std::vector<Event> events;
  bool isCutOff = false; ///< there were more
};

/// REQUIRES: a scheduled program of this machine that verifies, counted or not, which is changed: its kernels are tiled
/// for the machine. `entry` is a function of it, the arguments are what is known of its own. Nothing on errors
/// (reported).
std::optional<Estimate> estimate(mlir::ModuleOp scheduled, const Machine& machine, llvm::StringRef entry,
                                 llvm::ArrayRef<Known> arguments, DiagnosticEngine& diagnostics,
                                 bool keepsEvents = false);

} // namespace strata::cost
