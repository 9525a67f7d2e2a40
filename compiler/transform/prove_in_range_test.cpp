// Which index checks are erased: nests that are known to be in range, and near misses of them. The names in the
// programs say what is expected: X and Y stay.
#include "compiler/transform/prove_in_range_testing.h"

#include <chrono>

using namespace mlir;
namespace svm = strata::svm;
using Context = strata::transform::ProveInRangeContext;

namespace {

const std::string vectorType = "memref<?xf32, strided<[1], offset: ?>>";
const std::string matrixType = "memref<?x?xf32, strided<[?, 1], offset: ?>>";

/// A kernel with vectors A (N), B (M), C (N + M - 1), matrices P (N x M), Q (N + K - 1 x M + L - 1), F (K x L), an
/// index %s, an i32 %w and the extents in %n, %m, %c, %k, %l, %qn, %qm, and constants %c0 … %c5.
std::string kernel(const std::string& body) {
  std::string text = "svm.kernel @k(";
  const char* names[] = {"A", "B", "C", "P", "Q", "F"};
  for (int array = 0; array < 6; ++array)
    text += std::string(array ? ", " : "") + "%" + names[array] + " : " + (array < 3 ? vectorType : matrixType) +
            " {svm.access = \"readwrite\"}";
  text +=
      ", %s : index, %w : i32, %x : i32, %flags : memref<?xi1, strided<[1], offset: ?>> {svm.access = \"read\"}) "
      "attributes {"
      "extents = [affine_map<()[s0, s1, s2, s3] -> (s0)>, affine_map<()[s0, s1, s2, s3] -> (s1)>, "
      "affine_map<()[s0, s1, s2, s3] -> (s0 + s1 - 1)>, affine_map<()[s0, s1, s2, s3] -> (s0, s1)>, "
      "affine_map<()[s0, s1, s2, s3] -> (s0 + s2 - 1, s1 + s3 - 1)>, affine_map<()[s0, s1, s2, s3] -> (s2, s3)>, "
      "affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>, affine_map<()[s0, s1, s2, s3] -> (s0)>]} {\n";
  for (int value = 0; value < 6; ++value)
    text += "%c" + std::to_string(value) + " = arith.constant " + std::to_string(value) + " : index\n";
  text += "%n = memref.dim %A, %c0 : " + vectorType + "\n%m = memref.dim %B, %c0 : " + vectorType +
          "\n%c = memref.dim %C, %c0 : " + vectorType + "\n%k = memref.dim %F, %c0 : " + matrixType +
          "\n%l = memref.dim %F, %c1 : " + matrixType + "\n%qn = memref.dim %Q, %c0 : " + matrixType +
          "\n%qm = memref.dim %Q, %c1 : " + matrixType + "\n";
  return text + body + "\nsvm.return\n}\n";
}

/// The names of the checks that stay.
std::string left(const std::string& body) {
  Context context;
  OwningOpRef<ModuleOp> module = context.parse(kernel(body));
  if (!module)
    return "does not parse";
  context.prove(*module);
  std::string names;
  module->walk([&](svm::IndexOp check) { names += check.getArray().str(); });
  return names;
}

std::string loop(const std::string& variable, const std::string& lower, const std::string& upper,
                 const std::string& body, const std::string& step = "%c1") {
  return "scf.for " + variable + " = " + lower + " to " + upper + " step " + step + " {\n" + body + "\n}\n";
}
std::string check(const std::string& index, const std::string& extent, const std::string& name) {
  return "svm.index " + index + " in " + extent + " of \"" + name + "\", 0\n";
}

// ---- proofs ----

TEST(ProveInRange, VectorAdd) {
  EXPECT_EQ(left(loop("%i", "%c0", "%n", check("%i", "%n", "A"))), "");
}

/// What is proved of a sum does not depend on how many others came before it of which nothing is known.
TEST(ProveInRange, AfterManySumsThatNothingIsKnownOf) {
  std::string body = "%s0 = arith.addi %w, %x : i32\n", unproved;
  for (int sum = 1; sum <= 300; ++sum) {
    const std::string number = std::to_string(sum), value = "%s" + number;
    body += value + " = arith.addi %s" + std::to_string(sum - 1) + ", %w : i32\n%p" + number + " = arith.index_cast " +
            value + " : i32 to index\n" + check("%p" + number, "%n", "X");
    unproved += "X";
  }
  const std::string related = "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n"
                              "%low = arith.cmpi sge, %w, %zero : i32\n%high = arith.cmpi slt, %w, %x : i32\n"
                              "%both = arith.andi %low, %high : i1\nscf.if %both {\n%next = arith.addi %w, %one : i32\n"
                              "%at = arith.index_cast %next : i32 to index\n%end = arith.index_cast %x : i32 to index\n"
                              "%past = arith.addi %end, %c1 : index\n" +
                              check("%at", "%past", "related") + "}\n";
  EXPECT_EQ(left(related), "");
  EXPECT_EQ(left(body + related), unproved);
}

TEST(ProveInRange, MatrixProduct) {
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      loop("%j", "%c0", "%m",
                           loop("%p", "%c0", "%k",
                                check("%i", "%n", "a") + check("%p", "%k", "b") + check("%j", "%m", "c"))))),
            "");
}

TEST(ProveInRange, ConvolutionOverAnEnlargedImage) {
  EXPECT_EQ(
      left(loop("%i", "%c0", "%n",
                loop("%j", "%c0", "%m",
                     loop("%u", "%c0", "%k",
                          loop("%v", "%c0", "%l",
                               "%y = arith.addi %i, %u : index\n%z = arith.addi %j, %v : index\n" +
                                   check("%y", "%qn", "a") + check("%z", "%qm", "b") + check("%z", "%qn", "X")))))),
      "X");
}

TEST(ProveInRange, ConstantAndLongerExtents) {
  EXPECT_EQ(left("%five = arith.constant 5 : index\n" +
                 loop("%i", "%c0", "%c5", check("%i", "%five", "A") + check("%i", "%c4", "X"))),
            "X");
  EXPECT_EQ(left(loop("%i", "%c1", "%n", loop("%j", "%c1", "%m", check("%i", "%c", "A") + check("%j", "%c", "B")))),
            "");
  EXPECT_EQ(left(loop("%i", "%c0", "%n", check("%i", "%c", "X"))), "X"); // M may be 0
}

TEST(ProveInRange, Strided) {
  EXPECT_EQ(left(loop("%i", "%c0", "%n", check("%i", "%n", "A"), "%c4")), "");
  std::string four = "%n4 = arith.muli %n, %c4 : index\n";
  EXPECT_EQ(left(four + loop("%i", "%c0", "%n4",
                             "%y = arith.addi %i, %c3 : index\n%z = arith.addi %i, %c4 : index\n" +
                                 check("%y", "%n4", "A") + check("%z", "%n4", "X"),
                             "%c4")),
            "AX"); // 4 * N may overflow
  EXPECT_EQ(left("%h = arith.divsi %n, %c4 : index\n%n4 = arith.muli %h, %c4 : index\n" +
                 loop("%i", "%c0", "%n4",
                      "%y = arith.addi %i, %c3 : index\n%z = arith.addi %i, %c4 : index\n" + check("%y", "%n", "A") +
                          check("%z", "%n", "X"),
                      "%c4")),
            "X");
}

TEST(ProveInRange, Reversed) {
  std::string reversed =
      "%t = arith.subi %n, %c1 : index\n%y = arith.subi %t, %i : index\n%z = arith.subi %n, %i : index\n";
  EXPECT_EQ(left(loop("%i", "%c0", "%n", reversed + check("%y", "%n", "A") + check("%z", "%n", "X"))), "X");
}

TEST(ProveInRange, TriangularLoops) {
  EXPECT_EQ(left(loop("%i", "%c0", "%n", loop("%j", "%c0", "%i", check("%j", "%n", "A")))), "");
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      loop("%j", "%i", "%n",
                           check("%j", "%n", "A") + "%d = arith.subi %j, %i : index\n" + check("%d", "%n", "B")))),
            "");
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      "%e = arith.addi %i, %c1 : index\n" + loop("%j", "%c0", "%e", check("%j", "%n", "A")))),
            "");
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      "%e = arith.addi %i, %c2 : index\n" + loop("%j", "%c0", "%e", check("%j", "%n", "X")))),
            "X");
}

TEST(ProveInRange, GuardedNeighbours) {
  std::string neighbours = "%b = arith.subi %i, %c1 : index\n%a = arith.addi %i, %c1 : index\n"
                           "%t = arith.subi %n, %c1 : index\n%first = arith.cmpi eq, %i, %c0 : index\n"
                           "%last = arith.cmpi eq, %i, %t : index\n";
  EXPECT_EQ(left(loop("%i", "%c0", "%n", neighbours + check("%b", "%n", "X") + check("%a", "%n", "Y"))), "XY");
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      neighbours + "%edge = arith.ori %first, %last : i1\nscf.if %edge {\n} else {\n" +
                          check("%b", "%n", "A") + check("%a", "%n", "B") + "}\n")),
            "");
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      neighbours + "scf.if %first {\n" + check("%b", "%n", "X") + "} else {\n" +
                          check("%b", "%n", "A") + check("%a", "%n", "Y") + "}\n")),
            "XY");
}

TEST(ProveInRange, ShortCircuitGuard) {
  EXPECT_EQ(left("%zero = arith.constant false\n%p = arith.cmpi sge, %s, %c0 : index\n%g = scf.if %p -> (i1) {\n"
                 "%q = arith.cmpi slt, %s, %n : index\nscf.yield %q : i1\n} else {\nscf.yield %zero : i1\n}\n"
                 "scf.if %g {\n" +
                 check("%s", "%n", "A") + "} else {\n" + check("%s", "%n", "X") + "}\n"),
            "X");
}

TEST(ProveInRange, OneUnsignedComparisonGuardsBothSides) {
  EXPECT_EQ(left("%q = arith.cmpi ult, %s, %n : index\nscf.if %q {\n" + check("%s", "%n", "A") + "}\n"), "");
  EXPECT_EQ(left("%q = arith.cmpi slt, %s, %n : index\nscf.if %q {\n" + check("%s", "%n", "X") + "}\n"), "X");
}

TEST(ProveInRange, ChecksThatWerePassed) {
  EXPECT_EQ(left("%p = arith.cmpi sge, %s, %c0 : index\n%q = arith.cmpi slt, %s, %n : index\n" +
                 check("%s", "%n", "X") + "svm.check %p, \"a\", \"b\"\nsvm.check %q, \"a\", \"b\"\n" +
                 check("%s", "%n", "A") + loop("%i", "%c0", "%s", check("%i", "%n", "B"))),
            "X");
}

TEST(ProveInRange, Remainders) {
  EXPECT_EQ(left(loop("%i", "%c0", "%m", "%r = arith.remsi %i, %n : index\n" + check("%r", "%n", "A"))), "");
  EXPECT_EQ(left("%r = arith.remsi %s, %n : index\n" + check("%r", "%n", "X")), "X");
  EXPECT_EQ(left("%r = arith.remui %s, %n : index\n" + check("%r", "%n", "A")), "");
  EXPECT_EQ(left(loop("%i", "%c0", "%n", "%h = arith.divui %i, %c2 : index\n" + check("%h", "%n", "A"))), "");
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      "%t = arith.addi %i, %c1 : index\n%r = arith.remui %t, %n : index\n" + check("%r", "%n", "A"))),
            "");
  EXPECT_EQ(left("%m5 = arith.andi %s, %c3 : index\n" + check("%m5", "%c4", "A") + check("%m5", "%c3", "X")), "X");
}

TEST(ProveInRange, MinimumMaximumAndSelection) {
  EXPECT_EQ(
      left("%t = arith.subi %n, %c1 : index\n%lo = arith.maxsi %s, %c0 : index\n%y = arith.minsi %lo, %t : index\n" +
           check("%y", "%n", "X") + loop("%i", "%c0", "%n", check("%y", "%n", "A"))),
      "X"); // without the loop, N may be 0; the second is proved, or repeats the first
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      "%t = arith.subi %n, %c1 : index\n%lo = arith.maxsi %s, %c0 : index\n"
                      "%y = arith.minsi %lo, %t : index\n" +
                          check("%y", "%n", "A"))),
            "");
  EXPECT_EQ(left(loop("%i", "%c0", "%n",
                      "%t = arith.addi %i, %c1 : index\n%over = arith.cmpi sge, %t, %n : index\n"
                      "%y = arith.select %over, %c0, %t : index\n" +
                          check("%y", "%n", "A"))),
            "");
  std::string tile = "%e0 = arith.addi %i, %c4 : index\n%e = arith.minsi %e0, %n : index\n";
  EXPECT_EQ(left(loop("%i", "%c0", "%n", tile + loop("%j", "%i", "%e", check("%j", "%n", "A")), "%c4")), "");
}

TEST(ProveInRange, ThirtyTwoBitIndices) {
  std::string bound = "%n32 = arith.index_cast %n : index to i32\n%z32 = arith.constant 0 : i32\n"
                      "%one = arith.constant 1 : i32\n";
  std::string loop32 = bound + "scf.for %i = %z32 to %n32 step %one : i32 {\n";
  EXPECT_EQ(left(loop32 + "%y = arith.index_cast %i : i32 to index\n" + check("%y", "%n", "A") + "}\n"), "");
  EXPECT_EQ(left(loop32 + "%a = arith.addi %i, %one overflow<nsw> : i32\n%y = arith.index_cast %a : i32 to index\n" +
                 check("%y", "%n", "X") + "}\n"),
            "X");
  EXPECT_EQ(left(loop32 +
                 "%a = arith.addi %i, %one : i32\n%b = arith.subi %a, %one : i32\n"
                 "%y = arith.index_cast %b : i32 to index\n" +
                 check("%y", "%n", "A") + "}\n"),
            "");
  // A sum that wraps and comes back is what it was; one that is said not to wrap is not believed.
  EXPECT_EQ(left("%a = arith.addi %w, %x : i32\n%b = arith.subi %a, %x : i32\n"
                 "%y = arith.index_cast %b : i32 to index\n%v = arith.index_cast %w : i32 to index\n"
                 "%p = arith.cmpi sge, %v, %c0 : index\n%q = arith.cmpi slt, %v, %n : index\n"
                 "%g = arith.andi %p, %q : i1\nscf.if %g {\n" +
                 check("%y", "%n", "A") + "}\n"),
            "");
  EXPECT_EQ(left("%a = arith.addi %w, %x overflow<nsw> : i32\n%y = arith.index_cast %a : i32 to index\n"
                 "%v = arith.index_cast %w : i32 to index\n%u = arith.index_cast %x : i32 to index\n"
                 "%p = arith.cmpi sge, %v, %c0 : index\n%q = arith.cmpi sge, %u, %c0 : index\n"
                 "%r = arith.cmpi slt, %y, %n : index\n%g = arith.andi %p, %q : i1\n"
                 "%h = arith.andi %g, %r : i1\nscf.if %h {\n" +
                 check("%y", "%n", "X") + "}\n"),
            "X");
  EXPECT_EQ(left("%a = arith.addi %w, %x : i32\n%y = arith.index_castui %a : i32 to index\n"
                 "%v = arith.index_castui %w : i32 to index\n%u = arith.index_castui %x : i32 to index\n"
                 "%sum = arith.addi %v, %u : index\n%q = arith.cmpi slt, %sum, %n : index\nscf.if %q {\n" +
                 check("%y", "%n", "A") + "}\n"),
            "");
  EXPECT_EQ(left("%a = arith.addi %w, %x : i32\n%y = arith.index_castui %a : i32 to index\n"
                 "%v = arith.index_castui %w : i32 to index\n%q = arith.cmpi slt, %v, %n : index\nscf.if %q {\n" +
                 check("%y", "%n", "X") + "}\n"),
            "X");
}

TEST(ProveInRange, AffineLoops) {
  std::string body = "affine.for %i = 0 to %n step 2 {\n affine.for %j = affine_map<(d0) -> (d0)>(%i) to min "
                     "affine_map<(d0)[s0] -> (d0 + 2, s0)>(%i)[%n] {\n" +
                     check("%j", "%n", "A") + "%y = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%j)\n" +
                     check("%y", "%n", "B") + "%z = affine.apply affine_map<(d0) -> (d0 + 1)>(%j)\n" +
                     check("%z", "%n", "X") + "}\n}\n";
  EXPECT_EQ(left(body), "X");
}

TEST(ProveInRange, DataDependentIndexStays) {
  EXPECT_EQ(left("%T = memref.alloca() : memref<4xindex>\n" +
                 loop("%i", "%c0", "%c4",
                      "%y = memref.load %T[%i] : memref<4xindex>\n" + check("%i", "%c4", "A") + check("%y", "%n", "X") +
                          check("%y", "%n", "again"))),
            "X");
}

TEST(ProveInRange, RepeatedChecks) {
  EXPECT_EQ(left(check("%s", "%n", "X") + check("%s", "%m", "Y") + loop("%i", "%c0", "%n", check("%s", "%n", "again")) +
                 "%t = arith.addi %s, %c0 : index\n" + check("%t", "%m", "again")),
            "XY");
  // One in a loop that may not run says nothing about what follows.
  EXPECT_EQ(left(loop("%i", "%c0", "%n", check("%s", "%m", "X")) + check("%s", "%m", "Y")), "XY");
}

TEST(ProveInRange, ControlFunctions) {
  Context context;
  OwningOpRef<ModuleOp> module =
      context.parse("func.func @f(%A : " + vectorType +
                    ") {\n%c0 = arith.constant 0 : index\n%n = memref.dim %A, %c0 : " + vectorType +
                    "\nsvm.parallel \"i\" (%i) = (%c0) to (%n) {\n" + check("%i", "%n", "A") + "}\n" +
                    check("%n", "%n", "X") + "%v = memref.subview %A[0] [%n] [1] : " + vectorType + " to " +
                    vectorType + "\n%d = memref.dim %v, %c0 : " + vectorType +
                    "\nsvm.parallel \"j\" (%i) = (%c0) to (%n) {\n" + check("%i", "%d", "B") + "}\nreturn\n}\n");
  context.prove(*module);
  std::string names;
  module->walk([&](svm::IndexOp op) { names += op.getArray().str(); });
  EXPECT_EQ(names, "X");
}

TEST(ProveInRange, LongAndDeepProgramsEnd) {
  std::string chain = "%v0 = arith.addi %s, %s : index\n";
  for (int next = 1; next < 3000; ++next)
    chain += "%v" + std::to_string(next) + " = arith.addi %v" + std::to_string(next - 1) + ", %v" +
             std::to_string(next - 1) + " : index\n";
  EXPECT_EQ(left(chain + check("%v2999", "%n", "X")), "X");
  std::string conditions = "%b0 = arith.cmpi slt, %s, %n : index\n";
  for (int next = 1; next < 200; ++next)
    conditions += "%b" + std::to_string(next) + " = arith." + (next % 2 ? "andi" : "ori") + " %b" +
                  std::to_string(next - 1) + ", %b" + std::to_string(next - 1) + " : i1\n";
  EXPECT_EQ(left(conditions + "scf.if %b199 {\n" + check("%s", "%n", "X") + "}\n"), "X");
}

TEST(ProveInRange, IsFast) {
  std::string checks;
  for (int access = 0; access < 20; ++access)
    checks += "%y" + std::to_string(access) + " = arith.addi %i, %u : index\n%z" + std::to_string(access) +
              " = arith.addi %j, %v : index\n" + check("%y" + std::to_string(access), "%qn", "a") +
              check("%z" + std::to_string(access), "%qm", "b");
  Context context;
  OwningOpRef<ModuleOp> module = context.parse(kernel(
      loop("%i", "%c0", "%n", loop("%j", "%c0", "%m", loop("%u", "%c0", "%k", loop("%v", "%c0", "%l", checks))))));
  auto begin = std::chrono::steady_clock::now();
  context.prove(*module);
  double microseconds = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  RecordProperty("microseconds_per_check", std::to_string(microseconds / 40));
  EXPECT_LT(microseconds / 40, 1e6); // what an exponential search reaches, and no slow machine
}

} // namespace
