// Tests of what can go wrong while a program is interpreted: one program, at least, for every diagnostic.
#include "compiler/interpret/subject.h"

#include <cmath>

namespace strata::interpret {
namespace {

/// A kernel that reads element `index` of a block.
std::string reading(const std::string& index) {
  return std::string("func.func @f(%a: ") + one + ") {\n%i = arith.constant " + index +
         " : index\n%x = memref.load %a[%i] : " + one + "\nreturn }";
}

TEST(InterpreterFailures, AccessesAreChecked) {
  std::vector<float> a(4);
  std::vector<Argument> whole{Argument::block(a.data(), {4})};
  EXPECT_NE(failure(reading("4"), "interpret-out-of-bounds", whole).find("test.mlir:3"), std::string::npos);
  failure(reading("-1"), "interpret-out-of-bounds", whole);
  failure(std::string("func.func @f(%a: ") + one + ") {\n%c0 = arith.constant 0 : index\n" +
              "%v = memref.reinterpret_cast %a to offset: [9], sizes: [1], strides: [1] : " + one +
              " to memref<1xf32, strided<[1], offset: 9>>\n%x = memref.load %v[%c0] : memref<1xf32, strided<[1], "
              "offset: 9>>\nreturn }",
          "interpret-outside-storage", whole);
  EXPECT_NE(failure(std::string("func.func @f(%a: ") + one + ") {\n%c0 = arith.constant 0 : index\n" +
                        "%v = memref.subview %a[3] [2] [1] : " + one + " to memref<2xf32, strided<[1], offset: ?>>\n" +
                        "%x = memref.load %v[%c0] : memref<2xf32, strided<[1], offset: ?>>\nreturn }",
                    "interpret-bad-view", whole)
                .find("test.mlir:3"),
            std::string::npos);
  failure(std::string("func.func @f(%a: ") + one + ") {\n%v = memref.cast %a : " + one +
              " to memref<5xf32, strided<[1], offset: ?>>\nreturn }",
          "interpret-cast-extent", whole);
}

TEST(InterpreterFailures, AViewThatIsNeverUsedIsNoError) {
  std::vector<float> a(4);
  Subject subject(std::string("func.func @f(%a: ") + one + ") {\n%v = memref.subview %a[3] [2] [1] : " + one +
                  " to memref<2xf32, strided<[1], offset: ?>>\nreturn }");
  EXPECT_TRUE(subject.call({Argument::block(a.data(), {4})}));
}

TEST(InterpreterFailures, BlocksEndWithTheirRegion) {
  // A region waits for the moves that it has started, but not for those that it hands on.
  const std::string block = std::string("%b = svm.block(%n) : ") + one + "\n%t = svm.move %a to %b : " + one + " to " +
                            one + " -> !svm.token\n",
                    begin = std::string("func.func @f(%a: ") + one + ") {\n%n = arith.constant 4 : index\n";
  std::vector<float> values(4);
  Subject subject(begin + "svm.scope {\n" + block + "}\nreturn }");
  EXPECT_TRUE(subject.call({Argument::block(values.data(), {4})})) << subject.text();
  failure(begin + "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%x = svm.block(%n) : " + one +
              "\n%s = svm.move %a to %x : " + one + " to " + one +
              " -> !svm.token\n%r = scf.for %i = %c0 to %c1 step %c1 iter_args(%k = %s) -> (!svm.token) {\n" + block +
              "scf.yield %t : !svm.token\n}\nsvm.wait %r\nreturn }",
          "interpret-use-after-scope", {Argument::block(values.data(), {4})});
  failure("func.func @f() {\n%a = memref.alloc() : memref<f32>\nmemref.dealloc %a : memref<f32>\nmemref.dealloc %a : "
          "memref<f32>\nreturn }",
          "interpret-bad-dealloc");
}

TEST(InterpreterFailures, UndefinedElementsAreFoundWhenAsked) {
  std::string program =
      "func.func @f(%a: memref<f32> {svm.access = \"write\"}) {\n%b = memref.alloca() : memref<f32>\n"
      "memref.copy %b, %a : memref<f32> to memref<f32>\n%x = memref.load %a[] : memref<f32>\nreturn }";
  float a = 0;
  Options options;
  options.trackUndefined = true;
  EXPECT_NE(failure(program, "interpret-undefined-read", {Argument::block(&a, {})}, options).find("test.mlir:4"),
            std::string::npos);
  Subject subject(program);
  EXPECT_TRUE(subject.call({Argument::block(&a, {})}));
  EXPECT_TRUE(std::isnan(a));
}

TEST(InterpreterFailures, ForgottenElementsKeepTheirValuesAndCountAsNotWritten) {
  std::string program =
      "func.func @f(%a: memref<f32> {svm.access = \"write\"}) {\n"
      "%b = svm.block() : memref<f32, strided<[], offset: ?>>\n%x = arith.constant 2.0 : f32\n"
      "memref.store %x, %b[] : memref<f32, strided<[], offset: ?>>\n"
      "svm.forget %b : memref<f32, strided<[], offset: ?>>\n"
      "%y = memref.load %b[] : memref<f32, strided<[], offset: ?>>\nmemref.store %y, %a[] : memref<f32>\nreturn }";
  float a = 0;
  Options options;
  options.trackUndefined = true;
  EXPECT_NE(failure(program, "interpret-undefined-read", {Argument::block(&a, {})}, options).find("test.mlir:6"),
            std::string::npos);
  Subject subject(program);
  EXPECT_TRUE(subject.call({Argument::block(&a, {})}));
  EXPECT_EQ(a, 2);
}

TEST(InterpreterFailures, ArithmeticIsChecked) {
  failure("func.func @f(%x: i32) {\n%z = arith.constant 0 : i32\n%r = arith.divsi %x, %z : i32\nreturn }",
          "interpret-division-by-zero", {Argument::bits(1)});
  failure("func.func @f(%x: i32) {\n%z = arith.constant -1 : i32\n%r = arith.divsi %x, %z : i32\nreturn }",
          "interpret-division-overflow", {Argument::bits(0x80000000u)});
  failure("func.func @f(%n: index) {\nscf.for %i = %n to %n step %n {\n}\nreturn }", "interpret-bad-step",
          {Argument::bits(0)});
}

TEST(InterpreterFailures, MakingBlocksIsChecked) {
  std::string program = std::string("func.func @f(%n: index) {\n%b = svm.block(%n) : ") + one + "\nreturn }";
  failure(program, "interpret-bad-extent", {Argument::bits(~uint64_t(0))});
  failure(program, "interpret-out-of-memory", {Argument::bits(uint64_t(1) << 61)});
  Options options;
  options.maxBytes = 64;
  failure(program, "interpret-out-of-memory", {Argument::bits(17)}, options);
}

TEST(InterpreterFailures, MovesAreChecked) {
  std::vector<float> a(6);
  auto program = [](int from, int to, int target) {
    return std::string("func.func @f(%a: ") + one + ") {\n%v = memref.subview %a[0] [" + std::to_string(from) +
           "] [1] : " + one + " to memref<" + std::to_string(from) +
           "xf32, strided<[1], offset: ?>>\n%w = memref.subview %a[" + std::to_string(target) + "] [" +
           std::to_string(to) + "] [1] : " + one + " to memref<" + std::to_string(to) +
           "xf32, strided<[1], offset: ?>>\nsvm.move %v to %w : memref<" + std::to_string(from) +
           "xf32, strided<[1], offset: ?>> to memref<" + std::to_string(to) +
           "xf32, strided<[1], offset: ?>>\nreturn }";
  };
  failure(program(2, 3, 3), "interpret-move-extents", {Argument::block(a.data(), {6})});
  failure(program(3, 3, 2), "interpret-move-overlap", {Argument::block(a.data(), {6})});
  Subject subject(program(3, 3, 3));
  EXPECT_TRUE(subject.call({Argument::block(a.data(), {6})})) << subject.text();
}

TEST(InterpreterFailures, GathersAreChecked) {
  std::vector<float> a{1, 2, 3, 4, 5, 6};
  std::vector<int32_t> i(4);
  // Of the last four elements by four indices to the first `count`, or of the first to the last four.
  auto program = [](const std::string& operation, int count) {
    const std::string list = "memref<?xi32, strided<[1], offset: ?>>", part = "memref<?xf32, strided<[1], offset: ?>>";
    return "func.func @f(%a: " + part + ", %i: " + list + ") {\n%c4 = arith.constant 4 : index\n%n = arith.constant " +
           std::to_string(count) + " : index\n%x = memref.subview %a[2] [%c4] [1] : " + part + " to " + part +
           "\n%y = memref.subview %a[0] [%n] [1] : " + part + " to " + part +
           "\n%l = memref.subview %i[0] [%n] [1] : " + list + " to " + list + "\n" + operation + "\nreturn }";
  };
  const std::string part = "memref<?xf32, strided<[1], offset: ?>>", list = "memref<?xi32, strided<[1], offset: ?>>";
  const std::string gather = "svm.gather %x[%l] to %y : " + part + "[" + list + "] to " + part;
  const std::string scatter = "svm.scatter %y to %x[%l] : " + part + " to " + part + "[" + list + "]";
  auto arguments = [&] {
    return std::vector<Argument>{Argument::block(a.data(), {6}), Argument::block(i.data(), {4})};
  };
  i = {3, 0, 9, 9};
  for (const std::string& operation : {gather, scatter}) {
    a = {1, 2, 3, 4, 5, 6};
    Subject subject(program(operation, 2));
    ASSERT_TRUE(subject.call(arguments())) << subject.text();
    EXPECT_EQ(a, operation == gather ? (std::vector<float>{6, 3, 3, 4, 5, 6}) : (std::vector<float>{1, 2, 2, 4, 5, 1}));
    EXPECT_EQ(subject.interpreter->statistics().moves, 1U);
    EXPECT_EQ(subject.interpreter->statistics().bytesMoved, 8U);
    failure(program(operation, 3), "interpret-argument-overlap", arguments());
    for (int32_t outside : {4, -1}) {
      i[1] = outside;
      failure(program(operation, 2), "interpret-part-index", arguments());
    }
    i[1] = 0;
  }
  failure(program("svm.gather %x[%i] to %y : " + part + "[" + list + "] to " + part, 2), "interpret-move-extents",
          arguments());
}

TEST(InterpreterFailures, LimitsEndWhatWouldNotEnd) {
  Options options;
  options.maxSteps = 100000;
  failure("func.func @f() {\n%t = arith.constant true\nscf.while : () -> () {\nscf.condition(%t)\n} do "
          "{\nscf.yield\n}\nreturn }",
          "interpret-too-many-steps", {}, options);
  options.maxTasks = 10;
  failure("func.func @f(%n: index) {\n%c0 = arith.constant 0 : index\nsvm.parallel (%i) = (%c0) to (%n) concurrent "
          "{\n}\nreturn }",
          "interpret-too-many-tasks", {Argument::bits(100)}, options);
}

TEST(InterpreterFailures, ConcurrentLoopsHaveNoMoreInstancesThanThereMayBe) {
  const std::string line = "func.func @f(%n: index) {\n%c0 = arith.constant 0 : index\nsvm.parallel (%i) = (%c0) to "
                           "(%n) concurrent {\n}\nreturn }",
                    grid =
                        "func.func @f(%n: index, %m: index) {\n%c0 = arith.constant 0 : index\nsvm.parallel (%i, %j) "
                        "= (%c0, %c0) to (%n, %m) concurrent {\n}\nreturn }";
  auto bits = [](uint64_t n) { return Argument::bits(n); };
  const uint64_t most = uint64_t(1) << 31;
  std::string text = failure(line, "too-many-instances", {bits(most + 1)});
  EXPECT_NE(text.find("more than 2147483648 instances"), std::string::npos) << text;
  EXPECT_NE(text.find("let each instance do the work of several"), std::string::npos) << text;
  failure(line, "interpret-too-many-tasks", {bits(most)});
  failure(grid, "too-many-instances", {bits(uint64_t(1) << 32), bits(uint64_t(1) << 32)});
  failure(grid, "too-many-instances", {bits(uint64_t(1) << 20), bits((uint64_t(1) << 11) + 1)});
  failure(grid, "interpret-too-many-tasks", {bits(uint64_t(1) << 20), bits(uint64_t(1) << 11)});
}

TEST(InterpreterFailures, StreamsAreChecked) {
  auto program = [](const std::string& capacity, const std::string& body) {
    return "func.func @f() {\n%c = arith.constant " + capacity +
           " : index\n%x = arith.constant 7 : i32\n%q = svm.stream \"q\"(%c) : !svm.stream<i32>\n" +
           "svm.run @k(%q, %x) : (!svm.stream<i32>, i32) -> ()\nreturn }\nsvm.kernel @k(%q: !svm.stream<i32>, %x: i32) "
           "{\n" +
           body + "\nsvm.return }";
  };
  failure(program("0", ""), "interpret-bad-capacity");
  failure(program("2", "svm.end %q : !svm.stream<i32>\nsvm.push %x to %q : i32 to !svm.stream<i32>"),
          "interpret-push-after-end");
  failure(program("2", "%o = arith.constant 2 : index\n%p, %m = svm.peek %q[%o] : !svm.stream<i32> -> i32"),
          "interpret-bad-peek");
  std::string text =
      failure(program("1", "svm.push %x to %q : i32 to !svm.stream<i32>\nsvm.push %x to %q : i32 to !svm.stream<i32>"),
              "interpret-deadlock");
  EXPECT_NE(text.find("waits for room in stream 'q', which is full with 1"), std::string::npos) << text;
  text = failure(program("1", "%p, %m = svm.pop %q : !svm.stream<i32> -> i32"), "interpret-deadlock");
  EXPECT_NE(text.find("'k' waits for an element of stream 'q', which has 0 and has not ended"), std::string::npos)
      << text;
}

TEST(InterpreterFailures, ChecksKeepTheirCodes) {
  std::string program = "func.func @f(%c: i1, %i: index) {\nsvm.check %c, \"my-rule\", \"{0} is odd\" help \"use an "
                        "even one\" (%i : index)\n"
                        "svm.index %i in %i of \"A\", 1\nreturn }";
  std::string text = failure(program, "my-rule", {Argument::bits(0), Argument::bits(3)});
  EXPECT_NE(text.find("3 is odd"), std::string::npos);
  EXPECT_NE(text.find("use an even one"), std::string::npos);
  EXPECT_NE(text.find("error[my-rule]"), std::string::npos) << text;
  text = failure(program, "index-out-of-range", {Argument::bits(1), Argument::bits(3)});
  EXPECT_NE(text.find("index 3 of 'A' is outside dimension 1, which has 3 elements"), std::string::npos) << text;
}

TEST(InterpreterFailures, CallsAreChecked) {
  Subject subject("func.func @g() { return }");
  EXPECT_FALSE(subject.interpreter->call("f", {}));
  EXPECT_EQ(subject.interpreter->failure().code, "interpret-unknown-function");
  std::string program = std::string("func.func @f(%a: ") + one + ") { return }";
  float a = 0;
  failure(program, "interpret-bad-argument");
  failure(program, "interpret-bad-argument", {Argument::bits(1)});
  failure(program, "interpret-bad-argument", {Argument::block(&a, {})});
  failure(program, "interpret-bad-argument", {Argument::block(&a, {-1})});
  failure(program, "interpret-bad-argument", {Argument::block(nullptr, {1})});
}

TEST(InterpreterFailures, UnknownOperationsAreNamed) {
  EXPECT_NE(failure("func.func @f(%a: memref<4xf32>) {\n%c = arith.constant 0 : index\n%p = "
                    "memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index\nreturn }",
                    "interpret-unsupported", {Argument::block(std::vector<float>(4).data(), {4})})
                .find("'memref.extract_aligned_pointer_as_index'"),
            std::string::npos);
  failure("func.func @f() {\n%c = arith.constant 1 : index\n%q = svm.stream(%c) : !svm.stream<i128>\nreturn }",
          "interpret-unsupported");
  std::string deep = "func.func @f(%c: i1) {\n";
  for (int i = 0; i < 600; ++i)
    deep += "scf.if %c {\n";
  for (int i = 0; i < 600; ++i)
    deep += "}\n";
  EXPECT_NE(failure(deep + "return }", "interpret-unsupported", {Argument::bits(1)}).find("nested deeper"),
            std::string::npos);
}

} // namespace
} // namespace strata::interpret
