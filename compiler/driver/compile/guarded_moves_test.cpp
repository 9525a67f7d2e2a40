// Random nests of guards in control code through each pass that moves copies, loads or loops there, alone and one after
// another: blocks that are filled and emptied under conditions and checks, where the views, divisions and loads that
// they need are only possible behind the guard. Whatever a pass makes earlier, later, once or not at all, the program
// gives what it gave before. STRATA_RANDOM_KERNELS in the environment says how many programs to try, STRATA_RANDOM_SEED
// where to begin.
#include "compiler/driver/compile/guards_testing.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/svm.h"
#include "compiler/transform/distribute.h"
#include "compiler/transform/eliminate_copies.h"
#include "compiler/transform/hoist_copies.h"
#include "compiler/transform/pipeline_loops.h"
#include "compiler/transform/unroll_loops.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace strata;

namespace {

constexpr int64_t arrayElements = 16, listElements = 3;

/// Writes placed functions @main(A, F, Y, n, s, k): arrays of 16 i32, of which Y is written, a list of three indices,
/// the number of iterations (at most 3), and indices of any value. Iterations of parallel loops write four elements of
/// Y each.
class MoveGenerator : driver::IndexGenerator {
public:
  explicit MoveGenerator(unsigned seed) : IndexGenerator(seed) {}

  std::string program() {
    values_ = {"%n", "%s", "%k", "%c0", "%c1"};
    const std::string body = block(0, false);
    return "!view = memref<?xi32, strided<[1], offset: ?>>\n"
           "!main = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>\n"
           "!near = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@near>>\n"
           "!list = memref<?xindex, strided<[1], offset: ?>, #svm.mem<@main>>\n" +
           kernel("step", "read", "%a") + kernel("grow", "readwrite", "%b") +
           "func.func @main(%A: !main {svm.access = \"read\"}, %F: !list {svm.access = \"read\"}, %Y: !main "
           "{svm.access = "
           "\"readwrite\"}, %n: index, %s: index, %k: index) attributes {svm.control = @core} {\n"
           "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c3 = arith.constant 3 : index\n"
           "%c4 = arith.constant 4 : index\n%c13 = arith.constant 13 : index\n%m1 = arith.constant -1 : index\n"
           "%least = arith.constant -9223372036854775808 : index\n" +
           body + "return\n}\n";
  }

private:
  /// y = x + `with`, or y = y + x + `with`, element by element.
  static std::string kernel(const std::string& name, const std::string& access, const std::string& added) {
    return "svm.kernel @" + name + "(%x: !view {svm.access = \"read\"}, %y: !view {svm.access = \"" +
           (access == "read" ? "write" : access) +
           "\"}) {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%a = arith.constant 1 : i32\n"
           "%n = memref.dim %y, %c0 : !view\nscf.for %i = %c0 to %n step %c1 {\n"
           "%l = memref.load %x[%i] : !view\n%b = memref.load " +
           (access == "read" ? "%x" : "%y") + "[%i] : !view\n%r = arith.addi %l, " + added +
           " : i32\nmemref.store %r, %y[%i] : !view\n}\nsvm.return\n}\n";
  }

  /// `guarded` where a condition holds: under it, or behind a check of it.
  std::string guard(const std::string& holds, const std::string& guarded) {
    if (pick(4) == 0)
      return "svm.check " + holds + ", \"guard\", \"a guard\"\n" + guarded;
    return "scf.if " + holds + " {\n" + guarded + "}\n";
  }

  /// What only a guard makes possible: a load of the list, or a division; and then a block of more.
  std::string possible(int depth, bool isParallel) {
    const auto before = values_;
    std::string text, holds, value;
    const int choice = isParallel && pick(2) ? 0 : pick(5);
    if (choice == 0) { // an element of Y, which changes
      std::string element;
      if (isParallel)
        text = let("arith.addi " + own_ + ", %c1 : index", element) + let("arith.cmpi ne, %n, %c0 : index", holds);
      else
        text = let("arith.cmpi ult, %s, %c13 : index", holds);
      std::string number, inner = let("memref.load %Y[" + (isParallel ? element : "%s") + "] : !main", number) +
                                  let("arith.index_cast " + number + " : i32 to index", value);
      values_.push_back(value);
      text += guard(holds, inner + block(depth + 1, isParallel));
    } else if (choice < 3) {
      const std::string at = one();
      text = let("arith.cmpi ult, " + at + ", %c3 : index", holds);
      std::string inner = let("memref.load %F[" + at + "] : !list", value);
      values_.push_back(value);
      text += guard(holds, inner + block(depth + 1, isParallel));
    } else {
      const auto [condition, divided] = division(holds, value);
      text = condition;
      std::string inner = divided;
      values_.push_back(value);
      text += guard(holds, inner + block(depth + 1, isParallel));
    }
    values_ = before;
    return text;
  }

  std::string condition(int depth, bool isParallel) {
    const char* kinds[] = {"slt", "ult", "ne", "sge"};
    std::string holds;
    std::string text =
        let(std::string("arith.cmpi ") + kinds[pick(4)] + ", " + one() + ", " + one() + " : index", holds);
    const auto before = values_;
    text += guard(holds, block(depth + 1, isParallel));
    values_ = before;
    return text;
  }

  /// Four elements of an array, from a place that any value gives.
  std::string part(const std::string& array, const std::string& at, std::string& view) {
    std::string begin;
    std::string text = let("arith.remui " + at + ", %c13 : index", begin);
    return text + let("memref.subview " + array + "[" + begin + "] [%c4] [1] : !main to !main", view);
  }

  /// Blocks that mirror parts of the arrays, and a kernel that works on them.
  std::string copies(const std::string& own, const std::string& place = "") {
    std::string text, from, to, within;
    if (place.empty() && pick(4) == 0) { // in the scope, behind a check that stays there
      std::string isSome, isOne, never, holds, divided;
      const std::string right = one();
      text += let("arith.cmpi ne, " + right + ", %c0 : index", isSome);
      within = let("memref.load %F[%c0] : !list", isOne) +
               let("arith.cmpi slt, " + isOne + ", " + isOne + " : index", never) +
               let("arith.ori " + isSome + ", " + never + " : i1", holds) + "svm.check " + holds +
               ", \"guard\", \"a guard\"\n" + let("arith.remui %k, " + right + " : index", divided) +
               part("%A", divided, from);
    }
    const bool grows = pick(2), sees = own.empty() && pick(4) == 0;
    if (own.empty()) // all of Y may be used
      text += part("%Y", one(), to);
    else
      text += let("memref.subview %Y[" + own + "] [%c4] [1] : !main to !main", to);
    if (within.empty())
      text += part(sees ? "%Y" : "%A", place.empty() ? one() : place, from);
    const std::string x = fresh(), y = fresh();
    const std::string memoryOfX = pick(3) ? "!near" : "!main", memoryOfY = pick(3) ? "!near" : "!main";
    const bool isDisjoint = !sees && pick(2);
    text += "svm.scope \"part\"" + std::string(isDisjoint ? " disjoint" : "") + " {\n" + x +
            " = svm.block \"x\"(%c4) max [4] : " + memoryOfX + "\n" + y +
            " = svm.block \"y\"(%c4) max [4] : " + memoryOfY + "\n" + within + "svm.move " + from + " to " + x +
            " : !main to " + memoryOfX + "\n";
    if (grows)
      text += "svm.move " + to + " to " + y + " : !main to " + memoryOfY + "\n";
    text += std::string("svm.run @") + (grows ? "grow" : "step") + "(" + x + ", " + y + ") on @core : (" + memoryOfX +
            ", " + memoryOfY + ") -> ()\nsvm.move " + y + " to " + to + " : " + memoryOfY + " to !main\n}\n";
    return text;
  }

  /// The part of Y that an iteration has written decides whether, or from where, it copies another.
  std::string again() {
    std::string element, number, value, bit, holds;
    std::string text = copies(own_) + let("arith.addi " + own_ + ", %c1 : index", element) +
                       let("memref.load %Y[" + element + "] : !main", number) +
                       let("arith.index_cast " + number + " : i32 to index", value);
    if (pick(3) == 0)
      return text + copies(own_, value);
    text += let("arith.andi " + value + ", %c1 : index", bit) + let("arith.cmpi eq, " + bit + ", %c0 : index", holds);
    return text + "scf.if " + holds + " {\n" + copies(own_) + "}\n";
  }

  std::string loop(int depth) {
    const std::string variable = "%i" + std::to_string(next_++);
    const auto before = values_;
    values_.push_back(variable);
    std::string text;
    if (pick(2)) {
      std::string own;
      std::string inner = let("arith.muli " + variable + ", %c4 : index", own);
      own_ = own;
      inner += block(depth + 1, true);
      own_.clear();
      if (pick(3) == 0) {
        const char* chunks[] = {"0", "1", "2"};
        text = "svm.parallel \"p\" (" + variable + ") = (%c0) to (%n) on @core parts " + std::to_string(1 + pick(3)) +
               " chunk " + chunks[pick(3)] + " {\n" + inner + "}\n";
      } else {
        text = "scf.for " + variable + " = %c0 to %n step %c1 {\n" + inner + "} {svm.parallel, svm.label = \"p\"" +
               (pick(4) ? ", svm.stages = " + std::to_string(2 + pick(3)) + " : i64" : "") +
               (pick(3) ? "" : ", svm.unroll = 2 : i64") + "}\n";
      }
    } else {
      text = "scf.for " + variable + " = %c0 to %n step %c1 {\n" + block(depth + 1, false) + "}" +
             (pick(3) ? "" : " {svm.label = \"s\", svm.unroll = 2 : i64}") + "\n";
    }
    values_ = before;
    return text;
  }

  std::string block(int depth, bool isParallel) {
    std::string text;
    for (int count = 1 + pick(3); count > 0; --count) {
      const int choice = pick(depth < 4 ? isParallel ? 9 : 8 : 2);
      if (choice < 3)
        text += copies(isParallel ? own_ : "");
      else if (choice < 5)
        text += possible(depth, isParallel);
      else if (choice < 6)
        text += condition(depth, isParallel);
      else
        text += isParallel ? again() : loop(depth);
    }
    return text;
  }

  std::string own_; // where the part of Y begins that an iteration writes
};

/// What a program did: whether a check failed, and what Y holds if none did.
struct Given {
  std::string failure;
  std::vector<int32_t> y;
  bool operator==(const Given&) const = default;
};

class GuardedMoves : public driver::RandomDialectTest {
protected:
  /// A program as the passes take it.
  OwningOpRef<ModuleOp> parse(const std::string& text) {
    OwningOpRef<ModuleOp> program = RandomDialectTest::parse(text);
    if (program)
      svm::setStage(*program, svm::Stage::Placed);
    return program;
  }

  std::vector<Given> results(ModuleOp module, unsigned seed) {
    SourceManager sources;
    strata::DiagnosticEngine diagnostics(sources);
    interpret::Options options;
    options.maxSteps = 1000000;
    auto interpreter = interpret::Interpreter::create(module, diagnostics, std::move(options));
    std::mt19937 random(seed);
    const int64_t special[] = {0, 0, 1, 2, 3, -1, 7, INT64_MIN, INT64_MAX};
    std::vector<Given> all;
    for (int trial = 0; interpreter && trial < 10; ++trial) {
      std::vector<int32_t> a(arrayElements);
      std::vector<int64_t> list(listElements);
      Given given{"", std::vector<int32_t>(arrayElements)};
      for (int32_t& each : a)
        each = static_cast<int32_t>(random() % 100);
      for (int32_t& each : given.y)
        each = static_cast<int32_t>(random() % 100);
      for (int64_t& each : list)
        each = special[random() % 9];
      std::vector<interpret::Argument> arguments{interpret::Argument::block(a.data(), {arrayElements}),
                                                 interpret::Argument::block(list.data(), {listElements}),
                                                 interpret::Argument::block(given.y.data(), {arrayElements}),
                                                 interpret::Argument::bits(random() % 4)};
      for (int count = 0; count < 2; ++count)
        arguments.push_back(interpret::Argument::bits(static_cast<uint64_t>(special[random() % 9])));
      if (!interpreter->call("main", arguments)) {
        given.failure = interpreter->failure().code;
        given.y.clear(); // what a failed run leaves is nobody's
      }
      all.push_back(std::move(given));
    }
    return all;
  }
};

TEST_F(GuardedMoves, HoldThroughEveryPass) {
  using Make = std::unique_ptr<Pass> (*)();
  const std::pair<const char*, Make> passes[] = {
      {"distribute", transform::createDistributePass},
      {"eliminate copies", transform::createEliminateCopiesPass},
      {"common subexpressions", svm::createCommonSubexpressionsPass},
      {"hoist copies", transform::createHoistCopiesPass},
      {"canonical form", [] { return createCanonicalizerPass(); }},
      {"pipeline loops", transform::createPipelineLoopsPass},
      {"unroll loops", transform::createUnrollLoopsPass},
  };
  const unsigned first = firstSeed(), count = programCount(60);
  size_t failing = 0, all = 0;
  std::map<std::string, size_t> changed; // programs that a pass alone has changed
  for (unsigned seed = first; seed < first + count; ++seed) {
    const std::string text = MoveGenerator(seed).program();
    OwningOpRef<ModuleOp> program = parse(text);
    ASSERT_TRUE(program) << text;
    const std::vector<Given> expected = results(*program, seed);
    ASSERT_FALSE(expected.empty()) << text;
    for (const Given& given : expected) {
      ASSERT_TRUE(given.failure.empty() || given.failure == "guard") << given.failure << "; seed " << seed << "\n"
                                                                     << text;
      failing += !given.failure.empty();
      ++all;
    }
    OwningOpRef<ModuleOp> whole = parse(text);
    for (auto [name, make] : passes) {
      OwningOpRef<ModuleOp> alone = parse(text);
      for (ModuleOp module : {*alone, *whole}) {
        PassManager manager(&context_);
        manager.addPass(make());
        ASSERT_TRUE(succeeded(manager.run(module))) << name << ", seed " << seed << "\n" << text;
        const std::vector<Given> given = results(module, seed);
        ASSERT_EQ(given.size(), expected.size());
        for (size_t trial = 0; trial < given.size(); ++trial)
          ASSERT_TRUE(given[trial] == expected[trial])
              << "after " << name << (module == *alone ? " alone" : "") << ": '" << given[trial].failure
              << "' rather than '" << expected[trial].failure << "'; seed " << seed << ", operands " << trial << "\n"
              << text;
      }
      changed[name] += !OperationEquivalence::isEquivalentTo(*alone, *program, OperationEquivalence::IgnoreLocations);
    }
  }
  // The programs are worth something: many end well, some are stopped by a check, and every pass finds work.
  EXPECT_GT(failing, all / 20);
  EXPECT_LT(failing, all / 2);
  for (auto [name, make] : passes)
    EXPECT_GT(changed[name], count / 10) << name;
}

} // namespace
