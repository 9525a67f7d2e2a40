// The interpreter of the svm dialect: the oracle that every target is compared with. It executes a logical program on
// one thread, operation by operation, and takes copies literally; it shares no code with targets or the runtime.
// The module and the engine must outlive the interpreter; memory given as arguments stays the caller's. Not thread
// safe.
#pragma once

#include "base/source/diagnostic.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::interpret {

/// What a function is called with: a scalar, or a view of the caller's memory for a block or a record.
struct Argument {
  bool isScalar = true;
  bool isRecord = false;
  /// The scalar's bits, in the low bits: an integer of any width up to 64, or the pattern of a float or double.
  uint64_t scalar = 0;
  /// The element at index (0, …, 0); for a record argument, its bytes as C lays them out.
  void* data = nullptr;
  std::vector<int64_t> extents;
  std::vector<int64_t> strides; ///< in elements; may be negative

  static Argument bits(uint64_t value) { return {true, false, value, nullptr, {}, {}}; }
  static Argument real(float value);
  static Argument real(double value);
  /// Rows of adjacent elements in C order. No extents: a single element.
  static Argument block(void* data, std::vector<int64_t> extents);
  static Argument block(void* data, std::vector<int64_t> extents, std::vector<int64_t> strides) {
    return {false, false, 0, data, std::move(extents), std::move(strides)};
  }
  static Argument record(const void* bytes) { return {false, true, 0, const_cast<void*>(bytes), {}, {}}; }
};

/// Stands in for a kernel whose body is no region (llvm, black box), or for a function without one. Blocks arrive as
/// views of the interpreter's memory, checked to lie within it; a function's result goes into a single element behind
/// its arguments. On failure it returns false and says why in `error`. It must not throw.
using ExternalKernel = std::function<bool(const std::vector<Argument>& arguments, std::string& error)>;

/// May execute a run of a kernel in place of its body, with what a stand-in gets; what is declined is executed as it
/// stands.
enum class Offered { Declined, Done, Failed };
using KernelOffer = std::function<Offered(const std::vector<Argument>& arguments, std::string& error)>;

struct Options {
  /// Report a read of an element that nothing has written since its block was made. Arguments of access "write" count
  /// as unwritten at first. Without it such a read gives all bits one (a NaN). Also report accesses of one element of a
  /// distributed block by two iterations of an svm.parallel that nothing orders, where one of them writes.
  bool trackUndefined = false;
  /// Try reductions in several orders: in three parts, which are combined in every order that may give something else.
  /// A combiner that does not commute or associate is reported; needs trackUndefined.
  bool splitReductions = false;
  /// How many calls may be active at once in one run.
  uint32_t maxDepth = 10000;
  /// Instances of one concurrent svm.parallel, and runs and moves under way at once.
  uint64_t maxTasks = 65536;
  /// Bytes of blocks alive at once; 0: three quarters of this computer's memory.
  uint64_t maxBytes = 0;
  /// Instructions after which the call is given up; 0: never.
  uint64_t maxSteps = 0;
  /// By the symbol of the kernel or function.
  std::map<std::string, ExternalKernel> kernels;
  /// By the symbol of a kernel whose body is a region, without streams. Not with trackUndefined: what they write cannot
  /// be seen.
  std::map<std::string, KernelOffer> offers;
};

/// What the calls so far have done.
struct Statistics {
  uint64_t steps = 0;      ///< instructions, of which an operation takes about one
  uint64_t moves = 0;      ///< svm.move
  uint64_t bytesMoved = 0; ///< by svm.move
  uint64_t kernelRuns = 0; ///< svm.run
  std::map<std::string, int64_t> counters;
};

/// Why the last call failed.
struct Failure {
  std::string code;    ///< the diagnostic's, or that of the svm.check that failed
  std::string message; ///< filled in
};

class Interpreter {
public:
  /// Resolves every function and kernel of a verified module. What the interpreter does not know becomes a diagnostic
  /// only when it is reached.
  static std::unique_ptr<Interpreter> create(mlir::ModuleOp module, DiagnosticEngine& diagnostics,
                                             Options options = {});
  ~Interpreter();

  /// Calls a function or a kernel and returns when it and everything it started has ended. False when it failed; the
  /// engine has the reason then, and memory is as the failure left it. `results` receives the function's scalar
  /// results.
  bool call(llvm::StringRef function, const std::vector<Argument>& arguments, std::vector<uint64_t>* results = nullptr);

  const Statistics& statistics() const;
  const Failure& failure() const;
  /// By element of a block argument of the last call, in C order: whether it has a value. Empty when everything has, or
  /// without Options::trackUndefined.
  const std::vector<bool>& hasValue(size_t argument) const;
  /// For every four bytes of a block argument of the last call, how far the number that begins there may be from what
  /// it is when the program's reductions are made in another order: infinite when no bound is known, and negative when
  /// it is the same bits in every order. Empty when everything is. Only with Options::trackUndefined.
  std::vector<double> distances(size_t argument) const;
  /// Where the last call first did something that depends on the order of a reduction: which branch it took, or an
  /// integer that it made of a number. Then distances say nothing.
  std::optional<mlir::Location> decidedAt() const;
  /// Whether the reason is a NaN or an infinity in the numbers that are reduced, and not rounding.
  bool isDecidedByNotFinite() const;
  /// Where the last call first compared a NaN while it reduced, or later. Which of two numbers stays may depend on the
  /// order then.
  std::optional<mlir::Location> notFiniteAt() const;
  /// What the last call has printed, in the order in which it comes out.
  std::string output() const;

private:
  class Implementation;
  explicit Interpreter(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

} // namespace strata::interpret
