// The mapping record: where the parts of a logical program go, whatever notation said so. Front ends make one beside
// the program, place() consumes it, and it travels in the module as the attribute `svm.mapping`, which is its text
// form. Plain data.
#pragma once

#include "compiler/ir/locations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::mapping {

/// A loop: the processor class that executes it, and for parallel loops how it is distributed.
struct LoopPlacement {
  std::string processor;
  /// In how many parts each dimension is distributed; dimensions behind the last number are in one. Empty: not
  /// distributed, one processor executes all iterations.
  std::vector<int64_t> parts;
  /// The subset: the first that takes part of the processors that the surrounding code has, and how many do; 0: all.
  int64_t first = 0, width = 0;
  /// Of each dimension, iterations distributed at a time, block-cyclic; 0, and behind the last number: one contiguous
  /// share each.
  std::vector<int64_t> chunk;
  /// Iterations of which transfers are under way at once; 1: each ends before the next begins.
  int64_t stages = 1;
  /// Copies of the body that stand one after another in each iteration.
  int64_t unroll = 1;
  /// Whether no loop remains; its bounds are constants then.
  bool flatten = false;
  /// Where the mapping says all this, for messages; no file: nowhere.
  FilePlace place;
  /// Where a parallel loop's private copies of what it reduces lie; empty: where the processor's code keeps things.
  std::string memory;
  friend bool operator==(const LoopPlacement&, const LoopPlacement&) = default;
};

/// A call: the processor class that executes it, and for a reduction's combiner the memory of its operands.
struct CallPlacement {
  std::string processor;
  std::string memory;
  bool dynamic = false;        // it stays a call, whatever the callee
  std::vector<int64_t> keep{}; // positions of arguments whose copies stay
  friend bool operator==(const CallPlacement&, const CallPlacement&) = default;
};

/// How an array in a virtual memory is distributed to the instances underneath: how many of them each dimension goes
/// to, and how many elements at a time (block-cyclic). One number a dimension; a block size of 0 gives each an even
/// share.
struct LayoutPlacement {
  std::vector<int64_t> grid, blockSize;
  friend bool operator==(const LayoutPlacement&, const LayoutPlacement&) = default;
};

/// A stream: the memory that its elements lie in, or the class of FIFOs that they go through; one of the two, or
/// neither.
struct StreamPlacement {
  std::string memory, fifo;
  friend bool operator==(const StreamPlacement&, const StreamPlacement&) = default;
};

/// One control function. Names are those of the machine; labels are those of the program's operations.
struct FunctionPlacement {
  std::string control;
  std::vector<std::string> arguments;        // a memory for each argument; empty for scalars
  std::map<std::string, std::string> blocks; // label to memory
  std::map<std::string, StreamPlacement> streams;
  std::map<std::string, LoopPlacement> loops;
  std::map<std::string, CallPlacement> calls;
  std::map<std::string, LayoutPlacement> layouts; // label of a block in a virtual memory
  std::map<std::string, std::string> shares;      // label of a block to that of the block whose address it takes too
  friend bool operator==(const FunctionPlacement&, const FunctionPlacement&) = default;
};

/// What is not named goes where the function's control is.
struct Record {
  std::map<std::string, FunctionPlacement> functions;
  friend bool operator==(const Record&, const Record&) = default;
};

mlir::DictionaryAttr toAttribute(const Record& record, mlir::MLIRContext* context);
/// Reads a record back. On failure sets `error` to what is wrong and where in the dictionary.
std::optional<Record> fromAttribute(mlir::DictionaryAttr attribute, std::string& error);

} // namespace strata::mapping
