// Random nests of guards through each pass over kernels: divisions, remainders and loads under conditions, checks and
// loops that may not be entered. Whatever a pass moves, copies or erases, the kernel does the same for every operand,
// those with which what is not reached would trap among them. STRATA_RANDOM_KERNELS in the environment says how many
// kernels to try, STRATA_RANDOM_SEED where to begin.
#include "compiler/driver/compile/guards_testing.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/optimize.h"
#include "compiler/kernel/prefetch.h"
#include "compiler/transform/keep_loops.h"
#include "compiler/transform/plain_arithmetic.h"
#include "compiler/transform/prove_in_range.h"
#include "compiler/transform/prove_no_overflow.h"
#include "compiler/transform/use_equalities.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace strata;

namespace {

constexpr int64_t elements = 4;

/// Writes kernels @k(A, B, n, m, s, t, w, x): blocks of four i32, indices, and i32. None of them traps: what could is
/// behind a check or under a condition that sees to it.
class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string kernel() {
    const std::string vector = "memref<?xi32, strided<[1], offset: ?>>";
    std::string text = "svm.kernel @k(%A : " + vector + " {svm.access = \"read\"}, %B : " + vector +
                       " {svm.access = \"readwrite\"}, %n : index, %m : index, %s : index, %t : index, %w : i32, "
                       "%x : i32) {\n";
    for (const char* type : {"index", "i32"})
      for (const char* number : {"0", "1", "-1", "3"})
        text += constantName(type, number) + " = arith.constant " + number + " : " + type + "\n";
    text += constantName("index", "least") + " = arith.constant -9223372036854775808 : index\n" +
            constantName("i32", "least") + " = arith.constant -2147483648 : i32\n" +
            "%yes = arith.constant true\n%e = memref.dim %A, %index.0 : " + vector + "\n";
    values_["index"] = {"%n", "%m", "%s", "%t", "%e", "%index.0", "%index.1", "%index.m1", "%index.3"};
    values_["i32"] = {"%w", "%x", "%i32.0", "%i32.1", "%i32.m1", "%i32.3"};
    return text + block(0) + "svm.return\n}\n";
  }

private:
  int pick(size_t count) { return static_cast<int>(random_() % count); }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  static std::string constantName(const std::string& type, std::string number) {
    return "%" + type + "." + (number[0] == '-' ? "m" + number.substr(1) : number);
  }
  std::string typeOfChoice() { return pick(2) ? "index" : "i32"; }
  /// One of the values there are; recent ones are more interesting.
  std::string one(const std::string& type) {
    const std::vector<std::string>& all = values_[type];
    return all[all.size() - 1 - std::min(pick(all.size()), pick(all.size()))];
  }
  std::string add(const std::string& type, const std::string& expression, std::string* made = nullptr) {
    std::string name = fresh();
    values_[type].push_back(name);
    if (made)
      *made = name;
    return name + " = " + expression + "\n";
  }

  /// A truth value that is not kept.
  std::string condition(std::string& name) {
    static const char* predicates[] = {"slt", "sge", "eq", "ne", "ult", "sgt"};
    std::string type = typeOfChoice();
    name = fresh();
    return name + " = arith.cmpi " + predicates[pick(6)] + ", " + one(type) + ", " + one(type) + " : " + type + "\n";
  }

  std::string sum() {
    static const char* operations[] = {"addi", "subi", "muli", "maxsi", "minsi", "xori"};
    std::string type = typeOfChoice();
    return add(type, "arith." + std::string(operations[pick(6)]) + " " + one(type) + ", " + one(type) + " : " + type);
  }

  std::string cast() {
    if (pick(2))
      return add("i32", "arith.index_cast " + one("index") + " : index to i32");
    return add("index", "arith.index_cast " + one("i32") + " : i32 to index");
  }

  /// `guarded` with what makes it safe around it: a check before it, or a condition.
  static std::string guard(const std::string& holds, const std::string& code, const std::string& guarded, bool keeps) {
    if (keeps)
      return "svm.check " + holds + ", \"" + code + "\", \"a guard\"\n" + guarded;
    return "scf.if " + holds + " {\n" + guarded + "}\n";
  }

  std::string division() {
    static const char* operations[] = {"remsi", "remui", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivui"};
    std::string operation = operations[pick(8)], type = typeOfChoice(), left = one(type), right = one(type);
    std::string holds = fresh(), zero = constantName(type, "0"), text;
    text = holds + " = arith.cmpi ne, " + right + ", " + zero + " : " + type + "\n";
    if (operation.find("si") != std::string::npos) {
      std::string a = fresh(), b = fresh(), either = fresh(), both = fresh();
      text += a + " = arith.cmpi ne, " + left + ", " + constantName(type, "least") + " : " + type + "\n" + b +
              " = arith.cmpi ne, " + right + ", " + constantName(type, "-1") + " : " + type + "\n" + either +
              " = arith.ori " + a + ", " + b + " : i1\n" + both + " = arith.andi " + holds + ", " + either + " : i1\n";
      holds = both;
    }
    const bool keeps = pick(2);
    auto before = values_;
    std::string inner = add(type, "arith." + operation + " " + left + ", " + right + " : " + type);
    if (!keeps)
      inner += block(3) + store();
    text += guard(holds, "division", inner, keeps);
    if (!keeps)
      values_ = before;
    return text;
  }

  std::string load() {
    std::string at = one("index");
    if (pick(2))
      return "svm.index " + at + " in %e of \"A\", 0\n" + add("i32", read(at));
    std::string holds = fresh();
    auto before = values_;
    std::string inner = add("i32", read(at)) + block(3) + store();
    values_ = before;
    return holds + " = arith.cmpi ult, " + at + ", %e : index\n" + guard(holds, "", inner, false);
  }

  std::string read(const std::string& at) {
    return "memref.load " + std::string(pick(3) ? "%A" : "%B") + "[" + at +
           "] : memref<?xi32, strided<[1], offset: ?>>";
  }

  std::string store() {
    const char* places[] = {"%index.0", "%index.1", "%index.3"};
    return "memref.store " + one("i32") + ", %B[" + places[pick(3)] + "] : memref<?xi32, strided<[1], offset: ?>>\n";
  }

  std::string nested(int depth) {
    auto before = values_;
    std::string text = block(depth + 1);
    values_ = before;
    return text;
  }

  std::string block(int depth) {
    std::string text;
    for (int count = 2 + pick(4); count > 0; --count) {
      const int choice = pick(depth < 3 ? 10 : 3);
      if (choice < 2) {
        text += choice ? sum() : cast();
      } else if (choice < 3) {
        text += store();
      } else if (choice < 6) {
        text += division();
      } else if (choice < 7) {
        text += load();
      } else if (choice < 8) {
        std::string holds;
        text += condition(holds);
        text += "scf.if " + holds + " {\n" + nested(depth) + "} else {\n" + nested(depth) + "}\n";
      } else {
        // Few iterations, or none: from 0 to n or m, which are small.
        std::string variable = fresh(), to = pick(2) ? "%n" : "%m";
        values_["index"].push_back(variable);
        std::string body = nested(depth);
        values_["index"].pop_back();
        text += "scf.for " + variable + " = %index.0 to " + to + " step %index.1 {\n" + body + "}\n";
      }
    }
    return text;
  }

  std::mt19937 random_;
  std::map<std::string, std::vector<std::string>> values_;
  int next_ = 0;
};

/// What a kernel did: the code of the check that failed, or nothing, and what B holds.
struct Outcome {
  std::string failure;
  std::vector<int32_t> b;
  bool operator==(const Outcome&) const = default;
};

class Guards : public driver::RandomDialectTest {
protected:
  /// What the kernel does with each of several sets of operands.
  std::vector<Outcome> outcomes(ModuleOp module, unsigned seed) {
    SourceManager sources;
    strata::DiagnosticEngine diagnostics(sources);
    interpret::Options options;
    options.maxSteps = 1000000;
    auto interpreter = interpret::Interpreter::create(module, diagnostics, std::move(options));
    std::mt19937 random(seed);
    const int64_t special[] = {0, 0, 0, 1, -1, 2, 3, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX};
    std::vector<Outcome> all;
    for (int trial = 0; interpreter && trial < 12; ++trial) {
      std::vector<int32_t> a(elements);
      Outcome outcome{"", std::vector<int32_t>(elements, 7)};
      for (int32_t& each : a)
        each = static_cast<int32_t>(special[random() % 11]);
      std::vector<interpret::Argument> arguments{interpret::Argument::block(a.data(), {elements}),
                                                 interpret::Argument::block(outcome.b.data(), {elements})};
      for (int count = 0; count < 2; ++count)
        arguments.push_back(interpret::Argument::bits(random() % 3));
      for (int count = 0; count < 4; ++count)
        arguments.push_back(interpret::Argument::bits(static_cast<uint64_t>(special[random() % 11]) &
                                                      (count < 2 ? ~uint64_t(0) : 0xffffffffu)));
      if (!interpreter->call("k", arguments))
        outcome.failure = interpreter->failure().code;
      all.push_back(std::move(outcome));
    }
    return all;
  }
};

TEST_F(Guards, HoldThroughEveryPass) {
  using Make = std::unique_ptr<Pass> (*)();
  const std::pair<const char*, Make> passes[] = {
      {"plain arithmetic", transform::createPlainArithmeticPass},
      {"keep loops", transform::createKeepLoopsPass},
      {"common subexpressions", svm::createCommonSubexpressionsPass},
      {"equalities", transform::createUseEqualitiesPass},
      {"in range", transform::createProveInRangePass},
      {"no overflow", transform::createProveNoOverflowPass},
      {"canonical form", [] { return createCanonicalizerPass(); }},
      {"invariants", kernel::createMoveInvariantsPass},
      {"prefetch", kernel::createPrefetchRowsPass},
  };
  const unsigned first = firstSeed(), count = programCount(250);
  size_t failing = 0, all = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const std::string text = Generator(seed).kernel();
    OwningOpRef<ModuleOp> program = parse(text);
    ASSERT_TRUE(program) << text;
    const std::vector<Outcome> expected = outcomes(*program, seed);
    ASSERT_FALSE(expected.empty());
    for (const Outcome& outcome : expected) {
      ASSERT_TRUE(outcome.failure.empty() || outcome.failure == "division" || outcome.failure == "index-out-of-range")
          << outcome.failure << "; seed " << seed << "\n"
          << text;
      failing += !outcome.failure.empty();
      ++all;
    }
    auto check = [&](ModuleOp module, const char* name) {
      const std::vector<Outcome> given = outcomes(module, seed);
      ASSERT_EQ(given.size(), expected.size());
      for (size_t trial = 0; trial < given.size(); ++trial)
        ASSERT_TRUE(given[trial] == expected[trial])
            << "after " << name << ": '" << given[trial].failure << "' rather than '" << expected[trial].failure
            << "'; seed " << seed << ", operands " << trial << "\n"
            << text;
    };
    OwningOpRef<ModuleOp> whole = parse(text);
    for (auto [name, make] : passes) {
      OwningOpRef<ModuleOp> alone = parse(text);
      // The canonical form of casts is right behind this pass only (tests/transform/index_casts.mlir).
      for (ModuleOp module : {*alone, *whole}) {
        PassManager manager(&context_);
        if (module == *alone)
          manager.addPass(transform::createPlainArithmeticPass());
        auto pass = make();
        if (pass->getOpName() && *pass->getOpName() == "svm.kernel")
          manager.nest<svm::KernelOp>().addPass(std::move(pass));
        else
          manager.addPass(std::move(pass));
        ASSERT_TRUE(succeeded(manager.run(module))) << name << "\n" << text;
        check(module, name);
        if (HasFatalFailure())
          return;
      }
    }
  }
  // The kernels are worth something: many end well, and some are stopped by a check.
  EXPECT_GT(failing, all / 20);
  EXPECT_LT(failing, all / 2);
}

} // namespace
