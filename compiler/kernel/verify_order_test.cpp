// Loops that are independent and loops that nearly are, as the verifier of their order sees them; with accesses that
// two iterations share as loops over small numbers find them.
#include "compiler/kernel/verify_order.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using strata::kernel::findConflict;

namespace {

struct Parsed {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  explicit Parsed(const std::string& body) {
    context.loadDialect<strata::svm::SvmDialect, scf::SCFDialect, memref::MemRefDialect, arith::ArithDialect>();
    const std::string row = "memref<?xf32, strided<[1], offset: ?>>",
                      plane = "memref<?x?xf32, strided<[?, 1], offset: ?>>",
                      line = "memref<?x!svm.record<\"z\", re: f32, im: f32>, strided<[1], offset: ?>>",
                      field = "memref<?xf32, strided<[2], offset: ?>>";
    std::string text = "svm.kernel @k(%a: " + row + " {svm.access = \"readwrite\"}, %p: " + plane +
                       " {svm.access = \"readwrite\"}, %z: " + line +
                       " {svm.access = \"readwrite\"}, %n: index, %m: index, %k: index) {\n";
    for (int number = 0; number < 4; ++number)
      text += "%c" + std::to_string(number) + " = arith.constant " + std::to_string(number) + " : index\n";
    text += "%re = svm.fields %z [0] : " + line + " -> " + field + "\n%im = svm.fields %z [1] : " + line + " -> " +
            field + "\n%x = arith.constant 1.0 : f32\n";
    module = parseSourceString<ModuleOp>(text + body + "\nsvm.return\n}", &context);
  }
};

std::string loop(const std::string& variable, const std::string& lower, const std::string& upper,
                 const std::string& body) {
  return "scf.for " + variable + " = " + lower + " to " + upper + " step %c1 {\n" + body + "}\n";
}
int fresh = 0;
std::string load(const std::string& block, const std::string& at) {
  const char* type = block == "%p"   ? "memref<?x?xf32, strided<[?, 1], offset: ?>>"
                     : block == "%a" ? "memref<?xf32, strided<[1], offset: ?>>"
                                     : "memref<?xf32, strided<[2], offset: ?>>";
  return "%l" + std::to_string(++fresh) + " = memref.load " + block + "[" + at + "] : " + type + "\n";
}
std::string store(const std::string& block, const std::string& at) {
  std::string text = load(block, at);
  return "memref.store %x, " + text.substr(text.find("load ") + 5);
}
std::string sum(const std::string& name, const std::string& a, const std::string& b, const char* op = "addi") {
  return name + " = arith." + op + " " + a + ", " + b + " : index\n";
}

/// Whether the outermost loop, or the one in it, has a conflict.
bool isInConflict(const std::string& body, bool isInner = false) {
  Parsed parsed(body);
  if (!parsed.module)
    return ADD_FAILURE() << body, false;
  SmallVector<scf::ForOp> loops;
  parsed.module->walk<WalkOrder::PreOrder>([&](scf::ForOp each) { loops.push_back(each); });
  return findConflict(loops[0], loops[isInner]).has_value();
}

} // namespace

TEST(VerifyOrder, SeesWhatIsIndependent) {
  EXPECT_FALSE(isInConflict(loop("%i", "%c0", "%n", load("%a", "%i") + store("%a", "%i"))));
  EXPECT_FALSE(isInConflict(loop("%i", "%c0", "%n", load("%p", "%i, %k") + store("%a", "%i"))));
  // Halves, and what lies in front of a range.
  EXPECT_FALSE(isInConflict(loop("%i", "%c0", "%n", sum("%f", "%i", "%n") + load("%a", "%f") + store("%a", "%i"))));
  EXPECT_FALSE(isInConflict(sum("%b", "%k", "%c1") + loop("%i", "%b", "%n", load("%a", "%k") + store("%a", "%i"))));
  EXPECT_FALSE(isInConflict(
      loop("%i", "%c0", "%n",
           sum("%d", "%i", "%c2", "muli") + sum("%e", "%d", "%c1") + load("%a", "%e") + store("%a", "%d"))));
  // Fields of one record.
  EXPECT_FALSE(isInConflict(loop("%i", "%c0", "%n", load("%re", "%k") + store("%im", "%i"))));
  // The inner loop's number decides, whatever the other index is.
  const std::string twice =
      loop("%j", "%c0", "%m", sum("%q", "%i", "%i", "muli") + load("%p", "%q, %j") + store("%p", "%i, %j"));
  EXPECT_FALSE(isInConflict(loop("%i", "%c0", "%n", twice), true));
  EXPECT_TRUE(isInConflict(loop("%i", "%c0", "%n", twice)));
}

TEST(VerifyOrder, SeesWhatIsNot) {
  EXPECT_TRUE(isInConflict(loop("%i", "%c0", "%n", store("%a", "%k"))));
  EXPECT_TRUE(isInConflict(loop("%i", "%c0", "%n", sum("%f", "%i", "%c1") + load("%a", "%f") + store("%a", "%i"))));
  EXPECT_TRUE(isInConflict(sum("%f0", "%n", "%c1", "subi") +
                           loop("%i", "%c0", "%n", sum("%f", "%i", "%f0") + load("%a", "%f") + store("%a", "%i"))));
  EXPECT_TRUE(isInConflict(loop("%i", "%k", "%n", load("%a", "%k") + store("%a", "%i"))));
  EXPECT_TRUE(isInConflict(loop("%i", "%c0", "%n", load("%im", "%k") + store("%im", "%i"))));
  EXPECT_TRUE(isInConflict(loop("%i", "%c0", "%n", loop("%j", "%c0", "%m", store("%a", "%j")))));
  EXPECT_TRUE(isInConflict("%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (f32) {\n"
                           "%u = arith.addf %t, %t : f32\nscf.yield %u : f32\n}\n"));
}

// Two loops, with indices that are sums of their numbers: what two iterations of one of them share is found by going
// through them, for bounds that are numbers.
TEST(VerifyOrder, AgreesWithGoingThroughTheIterations) {
  std::mt19937 random(1);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  struct Index {
    int i, j, constant;
  };
  int inConflict = 0;
  for (int round = 0; round < 150; ++round) {
    const int rows = pick(0, 3), columns = pick(1, 3);
    const Index write{pick(0, 2), pick(0, 3), pick(0, 3)}, read{pick(0, 2), pick(0, 3), pick(0, 3)};
    const auto indexText = [&](const std::string& name, const Index& index) {
      const auto number = [](int value) { return "%c" + std::to_string(value); };
      return sum(name + "i", "%i", number(index.i), "muli") + sum(name + "j", "%j", number(index.j), "muli") +
             sum(name + "s", name + "i", name + "j") + sum(name, name + "s", number(index.constant));
    };
    const std::string body =
        loop("%i", "%c0", "%c" + std::to_string(rows),
             loop("%j", "%c0", "%c" + std::to_string(columns),
                  indexText("%w", write) + indexText("%r", read) + load("%a", "%r") + store("%a", "%w")));
    for (const bool isInner : {false, true}) {
      bool isShared = false;
      for (int point = 0; point < rows * columns * rows * columns; ++point) {
        const int one = point % (rows * columns), other = point / (rows * columns);
        const int i = one / columns, j = one % columns, k = other / columns, l = other % columns;
        const auto at = [](const Index& index, int row, int column) {
          return index.i * row + index.j * column + index.constant;
        };
        const bool isOther = isInner ? j != l : i != k;
        isShared |= isOther && (at(write, i, j) == at(write, k, l) || at(write, i, j) == at(read, k, l));
      }
      inConflict += isShared;
      EXPECT_EQ(isInConflict(body, isInner), isShared) << body;
    }
  }
  EXPECT_GT(inConflict, 50);
  EXPECT_LT(inConflict, 250);
}
