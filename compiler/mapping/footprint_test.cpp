// Footprints: how indices of one dimension are taken apart, what guards say, and what is refused.
#include "compiler/mapping/footprint.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace strata;

namespace {

/// A kernel over y and x; its arguments are an array to read, one to write, sizes n and m, and the ranges of y and x.
std::string kernel(const std::string& body) {
  return R"(module attributes {svm.stage = "logical"} {
    svm.kernel @k(%from: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read"},
                  %to: memref<?xf32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %n: index, %m: i32,
                  %y0: index, %y1: index, %x0: index, %x1: index) {
      %c1 = arith.constant 1 : index
      scf.for %y = %y0 to %y1 step %c1 {
        scf.for %x = %x0 to %x1 step %c1 {)" +
         body + R"(
        } {svm.unordered}
      } {svm.unordered}
      svm.return
    }
  })";
}

class FootprintTest : public testing::Test {
protected:
  FootprintTest() {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  std::string nameOf(mlir::Value value) {
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
    if (!argument)
      return "v";
    if (auto loop = llvm::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp()))
      return loop == footprint_->instances[0] ? "y" : loop == footprint_->instances[1] ? "x" : "k";
    return argument.getArgNumber() == 2 ? "n" : "m";
  }
  std::string text(const mapping::IndexTerm& term) {
    std::string product = std::to_string(term.factor);
    for (mlir::Value parameter : term.parameters)
      product += "*" + nameOf(parameter);
    return term.variable ? product + "*" + nameOf(term.variable) : product;
  }
  std::string text(const mapping::IndexSum& sum) {
    std::string all;
    for (const mapping::IndexTerm& term : sum)
      all += (all.empty() ? "" : " + ") + text(term);
    return all.empty() ? "0" : all;
  }

  /// The footprint of a body: a line for each array, with strides, coordinates of each access, and guards.
  std::string of(const std::string& body) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(kernel(body), &context_);
    EXPECT_TRUE(module_);
    if (!module_)
      return "";
    svm::KernelOp kernel = *module_->getOps<svm::KernelOp>().begin();
    mapping::FootprintProblem problem{"", kernel.getLoc()};
    footprint_ = mapping::footprintOf(kernel, {4, 6}, problem);
    if (!footprint_)
      return "refused: " + problem.what;
    std::string all;
    for (const mapping::Box& box : footprint_->boxes) {
      all += (box.argument ? "to [" : "from [");
      for (const mapping::IndexTerm& stride : box.strides)
        all += (all.back() == '[' ? "" : ", ") + text(stride);
      all += box.isWhole ? "] whole" : "]";
      for (const mapping::BoxAccess& access : box.accesses) {
        all += access.isStore ? access.isCertain ? " store(" : " store?(" : " load(";
        for (const mapping::IndexSum& coordinate : access.coordinates)
          all += (all.back() == '(' ? "" : ", ") + text(coordinate);
        all += ")";
        for (const mapping::Clip& clip : access.clips)
          all += " " + std::to_string(clip.dimension) + (clip.isUpper ? "<=" : ">=") + text(clip.bound) +
                 (clip.onlyIf ? " if " + text(*clip.onlyIf) : "");
      }
      all += "\n";
    }
    return all;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::optional<mapping::Footprint> footprint_;
};

const char* const load = "%v = memref.load %from[%i] : memref<?xf32, strided<[1], offset: ?>>\n";
const char* const store = "memref.store %f, %to[%i] : memref<?xf32, strided<[1], offset: ?>>\n";

TEST_F(FootprintTest, rowsAreTakenApart) {
  EXPECT_EQ(of(R"(%r = arith.muli %y, %n : index
                  %s = arith.addi %r, %x : index
                  %c3 = arith.constant -3 : index
                  %i = arith.addi %s, %c3 : index )" +
               std::string(load)),
            "from [1*n, 1] load(1*y, -3 + 1*x)\n");
  EXPECT_EQ(of(R"(%w = arith.index_cast %m : i32 to index
                  %p = arith.muli %w, %n : index
                  %c3 = arith.constant 3 : index
                  %p3 = arith.muli %p, %c3 : index
                  %r = arith.muli %p3, %y : index
                  %q = arith.muli %w, %x : index
                  %q3 = arith.muli %q, %c3 : index
                  %b = arith.subi %r, %p3 : index
                  %i = arith.addi %b, %q3 : index )" +
               std::string(load)),
            "from [3*m*n, 3*m, 1] load(-1 + 1*y, 1*x, 0)\n");
}

TEST_F(FootprintTest, constantsAreStridesWhereSmallerFactorsAreThere) {
  EXPECT_EQ(of(R"(%c64 = arith.constant 64 : index
                  %c63 = arith.constant 63 : index
                  %r = arith.muli %y, %c64 : index
                  %s = arith.addi %r, %x : index
                  %i = arith.addi %s, %c63 : index )" +
               std::string(load)),
            "from [64, 1] load(1 + 1*y, -1 + 1*x)\n");
  EXPECT_EQ(of(R"(%c3 = arith.constant 3 : index
                  %r = arith.muli %y, %c3 : index
                  %i = arith.addi %r, %x : index )" +
               std::string(load)),
            "from [1] load(3*y + 1*x)\n");
  EXPECT_EQ(of(R"(%c64 = arith.constant 64 : index
                  %i = arith.muli %y, %c64 : index )" +
               std::string(load)),
            "from [1] load(64*y)\n");
}

TEST_F(FootprintTest, guardsAreBoundsOfCoordinates) {
  EXPECT_EQ(of(R"(%i = arith.addi %x, %c1 : index
                  %a = arith.cmpi slt, %i, %n : index
                  %w = arith.index_cast %m : i32 to index
                  %b = arith.cmpi ult, %x, %w : index
                  %both = arith.andi %a, %b : i1
                  scf.if %both { )" +
               std::string(load) + "}"),
            "from [1] load(1 + 1*x) 0<=-1 + 1*n 0<=1*m if 1*m 0>=1 if 1*m\n")
      << "what is compared without a sign says something only where it is not negative";
}

TEST_F(FootprintTest, narrowIntegersCountWhereTheyDoNotWrap) {
  EXPECT_EQ(of(R"(%narrow = arith.index_cast %x : index to i32
                  %next = arith.addi %narrow, %m overflow<nsw> : i32
                  %i = arith.index_cast %next : i32 to index )" +
               std::string(load)),
            "from [1] load(1*m + 1*x)\n");
  EXPECT_EQ(footprint_->narrow.size(), 1u);
  EXPECT_EQ(of(R"(%narrow = arith.index_cast %x : index to i32
                  %next = arith.addi %narrow, %m : i32
                  %i = arith.index_cast %next : i32 to index )" +
               std::string(load)),
            "from [1] whole load()\n");
}

TEST_F(FootprintTest, loopsInside) {
  EXPECT_EQ(of(R"(%end = arith.minsi %x, %n : index
                  scf.for %k = %c1 to %end step %c1 {
                    %i = arith.addi %x, %k : index )" +
               std::string(load) + "}"),
            "from [1] load(1*x + 1*k)\n");
  EXPECT_EQ(footprint_->inner.size(), 1u);
  EXPECT_EQ(footprint_->bounds.size(), 3u);
  EXPECT_EQ(of(R"(%end = arith.divsi %x, %n : index
                  scf.for %k = %c1 to %end step %c1 {
                    %i = arith.addi %x, %k : index )" +
               std::string(load) + "}"),
            "from [1] whole load()\n");
}

TEST_F(FootprintTest, whatIsWrittenHasToBeKnown) {
  EXPECT_EQ(of(R"(%f = arith.constant 1.0 : f32
                  %i = arith.muli %x, %x : index )" +
               std::string(store)),
            "refused: an array that it writes at indices that are no sums of products of its instances and arguments");
  EXPECT_EQ(of(R"(%f = arith.constant 1.0 : f32
                  %r = arith.muli %y, %n : index
                  %i = arith.addi %r, %x : index )" +
               std::string(store)),
            "to [1*n, 1] store(1*y, 1*x)\n");
  EXPECT_EQ(of(R"(%f = arith.constant 1.0 : f32
                  %w = arith.index_cast %m : i32 to index
                  %r = arith.muli %y, %n : index
                  %s = arith.muli %x, %w : index
                  %i = arith.addi %r, %s : index )" +
               std::string(store)),
            "refused: indices with strides that are no multiples of each other");
}

} // namespace
