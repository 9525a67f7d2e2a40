// What the tests of random guards share: a context with the dialect, how many programs of which numbers they try, and
// the values and divisions of index type that their programs are made of.
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace strata::driver {

/// A number of the environment, or `otherwise`.
inline unsigned environmentNumber(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

/// Parses programs of the dialect; the environment says how many are tried, and from which number on.
class RandomDialectTest : public ::testing::Test {
protected:
  RandomDialectTest() {
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
  }
  /// The programs to try are those of this number and the following ones: the night asks for more.
  static unsigned firstSeed() { return environmentNumber("STRATA_RANDOM_SEED", 0); }
  static unsigned programCount(unsigned byDay) { return environmentNumber("STRATA_RANDOM_KERNELS", byDay); }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

/// Values of index type by name, and operations on them, as text. Programs have %c0, %m1 (-1) and %least (the least
/// value) for division().
class IndexGenerator {
protected:
  explicit IndexGenerator(unsigned seed) : random_(seed) {}

  int pick(size_t count) { return static_cast<int>(random_() % count); }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  /// One of the values there are; recent ones are more interesting.
  std::string one() {
    return values_[values_.size() - 1 - static_cast<size_t>(std::min(pick(values_.size()), pick(values_.size())))];
  }
  std::string let(const std::string& expression, std::string& name) {
    name = fresh();
    return name + " = " + expression + "\n";
  }
  /// A division or remainder, named `value`, and before it the condition `holds` under which it does not trap.
  std::pair<std::string, std::string> division(std::string& holds, std::string& value) {
    const char* kinds[] = {"remui", "remsi", "divui", "divsi", "floordivsi", "ceildivsi"};
    const std::string left = one(), right = one();
    std::string isSome, fitsLeft, fitsRight, fits;
    std::string condition = let("arith.cmpi ne, " + right + ", %c0 : index", isSome);
    condition += let("arith.cmpi ne, " + left + ", %least : index", fitsLeft);
    condition += let("arith.cmpi ne, " + right + ", %m1 : index", fitsRight);
    condition += let("arith.ori " + fitsLeft + ", " + fitsRight + " : i1", fits);
    condition += let("arith.andi " + isSome + ", " + fits + " : i1", holds);
    return {condition, let(std::string("arith.") + kinds[pick(6)] + " " + left + ", " + right + " : index", value)};
  }

  std::mt19937 random_;
  std::vector<std::string> values_;
  int next_ = 0;
};

} // namespace strata::driver
