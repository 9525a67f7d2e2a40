// Random nests of guards in loops that go in vector lanes: divisions and loads that only a guard makes possible, in
// kernels whose outer loop is over the columns of a matrix. Native code, lowered without any other optimisation, gives
// the elements that the interpreter gives. STRATA_RANDOM_KERNELS in the environment says how many kernels to try,
// STRATA_RANDOM_SEED where to begin.
#include "base/machine/machine.h"
#include "compiler/driver/compile/guards_testing.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/svm.h"
#include "compiler/mapping/place.h"
#include "compiler/target/host/engine.h"
#include "compiler/target/host/lower.h"
#include "compiler/target/target.h"
#include "compiler/transform/plain_arithmetic.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace strata;

namespace {

constexpr int64_t indicesInList = 3;

/// Writes kernels @k(A, F, C, s, t): a matrix of i32 to read, a list of three indices, a row of i32 to write, and
/// indices of any value; and @main, which runs it.
class LaneGenerator : driver::IndexGenerator {
public:
  explicit LaneGenerator(unsigned seed) : IndexGenerator(seed) {}

  std::string program() {
    const std::string arguments = "%A: !matrix {svm.access = \"read\"}, %F: !list {svm.access = \"read\"}, "
                                  "%C: !row {svm.access = \"readwrite\"}, %s: index, %t: index";
    values_ = {"%s", "%t", "%m", "%n", "%c0", "%c1"};
    const std::string body = block(0);
    return "!matrix = memref<?x?xi32, strided<[?, 1], offset: ?>>\n!row = memref<?xi32, strided<[1], offset: ?>>\n"
           "!list = memref<?xindex, strided<[1], offset: ?>>\nsvm.kernel @k(" +
           arguments +
           ") {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c3 = arith.constant 3 : index\n"
           "%m1 = arith.constant -1 : index\n%least = arith.constant -9223372036854775808 : index\n"
           "%sum = memref.alloca() : memref<i32>\n%m = memref.dim %A, %c0 : !matrix\n%n = memref.dim %C, %c0 : !row\n"
           "scf.for %j = %c0 to %n step %c1 {\n%start = memref.load %C[%j] : !row\n"
           "memref.store %start, %sum[] : memref<i32>\nscf.for %i = %c0 to %m step %c1 {\n"
           "%x = memref.load %A[%i, %j] : !matrix\n" +
           add("%x") + body + "}\n%end = memref.load %sum[] : memref<i32>\nmemref.store %end, %C[%j] : !row\n}\n" +
           "svm.return\n}\nfunc.func @main(" + arguments +
           ") attributes {svm.entry} {\n"
           "svm.run @k(%A, %F, %C, %s, %t) : (!matrix, !list, !row, index, index) -> ()\nreturn\n}\n";
  }

private:
  /// Takes a number into the sum of the column.
  std::string add(const std::string& number) {
    std::string before, behind;
    const char* kinds[] = {"addi", "subi", "muli", "xori"};
    return let("memref.load %sum[] : memref<i32>", before) +
           let(std::string("arith.") + kinds[pick(4)] + " " + before + ", " + number + " : i32", behind) +
           "memref.store " + behind + ", %sum[] : memref<i32>\n";
  }

  /// What only a guard makes possible, and a block of more behind the guard.
  std::string possible(int depth) {
    const auto before = values_;
    std::string text, holds, value, inner;
    const int choice = pick(3);
    if (choice == 0) { // an element of the list
      const std::string at = one();
      text = let("arith.cmpi ult, " + at + ", %c3 : index", holds);
      inner = let("memref.load %F[" + at + "] : !list", value);
    } else if (choice == 1) { // another row of the matrix
      const std::string row = one();
      std::string element;
      text = let("arith.cmpi ult, " + row + ", %m : index", holds);
      inner = let("memref.load %A[" + row + ", %j] : !matrix", element) + add(element);
    } else {
      const auto [condition, divided] = division(holds, value);
      text = condition;
      inner = divided;
    }
    if (!value.empty()) {
      std::string number;
      values_.push_back(value);
      inner += let("arith.index_cast " + value + " : index to i32", number) + add(number);
    }
    text += "scf.if " + holds + " {\n" + inner + block(depth + 1) + "}";
    values_ = before;
    if (pick(3) == 0)
      text += " else {\n" + block(depth + 1) + "}";
    return text + "\n";
  }

  std::string loop(int depth) {
    const std::string variable = "%i" + std::to_string(next_++);
    const auto before = values_;
    values_.push_back(variable);
    std::string number;
    std::string text = let("arith.index_cast " + variable + " : index to i32", number) + add(number) + block(depth + 1);
    text = "scf.for " + variable + " = %c0 to %" + (pick(2) ? "m" : "c3") + " step %c1 {\n" + text + "}\n";
    values_ = before;
    return text;
  }

  std::string block(int depth) {
    std::string text;
    for (int count = depth < 4 ? 1 + pick(3) : 0; count > 0; --count)
      text += pick(4) ? possible(depth) : loop(depth);
    return text;
  }
};

class GuardedLanes : public driver::RandomDialectTest {
protected:
};

TEST_F(GuardedLanes, GiveWhatTheInterpreterGives) {
  const unsigned first = firstSeed(), count = programCount(12);
  const Machine machine = describeHost();
  size_t vectorised = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const std::string text = LaneGenerator(seed).program();
    SourceManager sources;
    strata::DiagnosticEngine diagnostics(sources);
    auto program = parse(text);
    ASSERT_TRUE(program) << text;
    OwningOpRef<ModuleOp> original(program->clone());
    auto interpreter = interpret::Interpreter::create(*original, diagnostics);
    llvm::LLVMContext llvmContext;
    // MLIR's expansion of quotients that are rounded up is wrong for the smallest number; this pass makes others of
    // them.
    PassManager plain(program->getContext());
    plain.addPass(transform::createPlainArithmeticPass());
    ASSERT_TRUE(mapping::place(*program, {}, machine, diagnostics) && succeeded(plain.run(*program)) &&
                mapping::schedule(*program, machine, diagnostics) &&
                host::lowerToLlvmDialect(*program, machine, machine::figuresOf(machine)))
        << text;
    auto module = host::translate(*program, llvmContext, diagnostics);
    host::CodeOptions options;
    options.optimization = 0;
    ASSERT_TRUE(module && host::optimize(*module, options, diagnostics)) << text;
    std::string llvmText;
    llvm::raw_string_ostream(llvmText) << *module;
    vectorised += llvmText.find(" x i32> @llvm.masked.load") != std::string::npos;
    auto engine = host::Engine::create(host::emit(*module, options, false, diagnostics), {}, diagnostics);
    ASSERT_TRUE(engine && interpreter) << text;
    auto* entry =
        reinterpret_cast<void (*)(void**)>(engine->lookup(target::packedSymbol("main"), diagnostics)); // NOLINT
    ASSERT_TRUE(entry) << text;
    std::mt19937 random(seed);
    const int64_t special[] = {0, 0, 1, 2, 3, -1, 7, INT64_MIN, INT64_MAX};
    for (int64_t columns : {0, 1, 5, 16, 17, 64, 70}) {
      const auto rows = static_cast<int64_t>(random() % 4);
      std::vector<int32_t> a(static_cast<size_t>(rows * columns) + 1), c(static_cast<size_t>(columns) + 1), again;
      std::vector<int64_t> list(indicesInList);
      for (int32_t& each : a)
        each = static_cast<int32_t>(random());
      for (int32_t& each : c)
        each = static_cast<int32_t>(random());
      for (int64_t& each : list)
        each = special[random() % 9];
      int64_t s = special[random() % 9], t = special[random() % 9];
      again = c;
      ASSERT_TRUE(interpreter->call("main", {interpret::Argument::block(a.data(), {rows, columns}),
                                             interpret::Argument::block(list.data(), {indicesInList}),
                                             interpret::Argument::block(c.data(), {columns}),
                                             interpret::Argument::bits(static_cast<uint64_t>(s)),
                                             interpret::Argument::bits(static_cast<uint64_t>(t))}))
          << interpreter->failure().message << "; seed " << seed << "\n"
          << text;
      struct {
        void* data;
        int64_t words[4];
      } matrix{a.data(), {rows, columns, columns, 1}}, ofList{list.data(), {indicesInList, 1, 0, 0}},
          row{again.data(), {columns, 1, 0, 0}};
      void* packed[] = {&matrix, &ofList, &row, &s, &t};
      entry(packed);
      ASSERT_EQ(again, c) << "seed " << seed << ", " << rows << " rows of " << columns << ", s " << s << ", t " << t
                          << ", list " << list[0] << ", " << list[1] << ", " << list[2] << "\n"
                          << text;
    }
  }
  EXPECT_GT(vectorised, count / 2);
}

} // namespace
