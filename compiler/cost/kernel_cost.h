// What a kernel takes on a class of processors, by its operations: each operation of its body costs what the machine
// says of its class, as often as loops execute it for given extents and scalars. Cycles are the processor's own. Used
// by one thread; module and machine outlive it.
//
// The body is counted as it stands. After tiling (compiler/kernel) that is what the processor executes: an operation on
// a vector counts once for each register that it takes.
#pragma once

#include "base/machine/figures.h"
#include "compiler/cost/known_values.h"
#include "compiler/ir/svm.h"

#include <map>
#include <set>
#include <string_view>

namespace strata::cost {

/// What is taken for granted because it depends on data, at a place of the program.
struct Assumption {
  mlir::Location at;
  std::string text;
};

/// The names under which a machine's `costs` may have what is not a kernel: classes of operations, and starting.
std::vector<std::string> costNames();
/// What starting work on a processor, and having it start a move, costs; 0 where a machine does not say.
inline constexpr const char *startCost = "kernel_start", *moveCost = "move_start";
/// The cost of a class of operations, or of a kernel by its name, that a processor states.
std::optional<double> statedCost(const machine::Processor& processor, std::string_view name);

class KernelCosts {
public:
  KernelCosts(const Machine& machine, std::vector<Assumption>& assumptions);

  /// Cycles of one run of a kernel on a processor of that class.
  double of(svm::KernelOp kernel, machine::ProcessorId processor, llvm::ArrayRef<Known> arguments);
  /// Of a single operation of control code, without its regions.
  double ofOperation(mlir::Operation* op, machine::ProcessorId processor);

private:
  /// What one class of processors takes for each class of operations.
  struct Table {
    std::vector<double> cycles;
    uint64_t vectorBytes;
  };
  struct Sum {
    double cycles = 0;
    bool isOpen = false; ///< something in it depends on a value that is not known
    void operator+=(const Sum& other) {
      cycles += other.cycles;
      isOpen |= other.isOpen;
    }
  };

  const Table& tableOf(machine::ProcessorId processor);
  Sum region(mlir::Region& region, KnownValues& values, const Table& table);
  Sum operation(mlir::Operation* op, KnownValues& values, const Table& table);
  Sum loop(mlir::Operation* op, mlir::Value iteration, std::optional<int64_t> lower, std::optional<int64_t> upper,
           std::optional<int64_t> step, KnownValues& values, const Table& table);
  void assume(mlir::Operation* op, const char* text);

  const Machine& machine_;
  const machine::Figures figures_;
  std::vector<Assumption>& assumptions_;
  std::set<const void*> assumed_;                                  // operations of which that was said
  std::vector<std::pair<mlir::Operation*, const char*>> assuming_; // by the kernel that is looked at
  std::map<uint32_t, Table> tables_;
  std::map<std::tuple<const void*, uint32_t, std::vector<int64_t>>, double> known_;
  uint64_t looked_ = 0; // operations of the kernel that is looked at
};

} // namespace strata::cost
