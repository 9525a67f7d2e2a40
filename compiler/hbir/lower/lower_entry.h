// The entry point of a lowered program: arrays in, the code outside groups, one iteration for each tile that has code,
// arrays out; and where all of it goes. Lives during one lower() only.
#pragma once

#include "compiler/cfamily/lower/lower_values.h"
#include "compiler/hbir/lower/lower_module.h"

namespace strata::hbir {

class EntryLowering : cfamily::CodeBuilder {
public:
  EntryLowering(ModuleLowering& module, mapping::FunctionPlacement& placement);
  void run();

private:
  using Values = llvm::SmallVector<mlir::Value, 4>;

  /// Tiles that are numbered together: those of a group that code names and of all groups inside of it. The tiles of
  /// two families are different ones.
  struct Family {
    const Group* top = nullptr;
    std::vector<size_t> blocks; // of code, in text order
    /// One iteration for each value of these, at these coordinates.
    std::vector<GroupIndex> variables;
    std::vector<IndexExpression> tile;
    int64_t iterations = 0;
  };

  void at(const Location& location) { place_ = module_.place(location); }
  Value evaluate(const IndexExpression& expression, mlir::ValueRange variables);

  // lower_entry.cpp
  mlir::func::FuncOp beginFunction();
  void checkExtents();
  void makeBlocks();
  Value makeBlock(mlir::MemRefType type, const std::vector<int64_t>& extents, const std::string& label);
  void moveIn();
  void forgetZeros();
  void moveOut();
  /// A kernel that copies between a whole array and its copies, and a run of it.
  enum class Exchange : uint8_t { Scatter, Gather, Spread };
  void exchange(const SharedBlock& block, Exchange kind, Value whole);
  void runKernel(const KernelPlan& plan, mlir::ValueRange scalars);

  // lower_tiles.cpp
  void runTiles();
  std::vector<Family> families();
  void chooseIterations(Family& family);
  void runFamily(const Family& family, Value iteration);
  void runBlock(const Family& family, size_t number, const Values& variables, const Values& tile, Value tileNumber);
  /// Finds the values of a block's variables that give a tile: values, those it has to search for, and what must hold.
  struct Solution {
    Values variables; // null: searched for
    Value condition;  // null: nothing
  };
  Solution solve(const CodeBlock& block, const Values& tile);
  void require(Solution& solution, Value condition);

  ModuleLowering& module_;
  mapping::FunctionPlacement& placement_;
  std::string processor_, memory_;
  std::string argumentMemory_; // where the caller keeps the arrays
  int64_t processors_ = 1;
  std::vector<const Array*> arguments_;
  mlir::Block* entry_ = nullptr;
  std::map<const SharedBlock*, Value> made_;
  Value finished_;
};

} // namespace strata::hbir
