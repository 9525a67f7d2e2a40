// Tests of the interpreter: programs in the dialect with results worked out by hand or by C++ itself.
#include "compiler/interpret/subject.h"

#include <chrono>
#include <cmath>
#include <numeric>

namespace strata::interpret {
namespace {

/// The value of one expression: `body` computes %r.
uint64_t value(const std::string& type, const std::string& body) {
  Subject subject("func.func @f() -> " + type + " {\n" + body + "\nreturn %r : " + type + "\n}");
  std::vector<uint64_t> results;
  EXPECT_TRUE(subject.call({}, &results)) << subject.text();
  return results.empty() ? 0xdead : results[0];
}
float value32(const std::string& body) {
  return llvm::bit_cast<float>(static_cast<uint32_t>(value("f32", body)));
}
double value64(const std::string& body) {
  return llvm::bit_cast<double>(value("f64", body));
}

TEST(Interpreter, IntegersHaveExactWidths) {
  EXPECT_EQ(value("i8", "%a = arith.constant 127 : i8 %b = arith.constant 2 : i8 %r = arith.addi %a, %b : i8"), 129u);
  EXPECT_EQ(value("i8", "%a = arith.constant -128 : i8 %b = arith.constant 3 : i8 %r = arith.divsi %a, %b : i8"),
            uint64_t(uint8_t(-42)));
  EXPECT_EQ(value("i8", "%a = arith.constant -128 : i8 %b = arith.constant 3 : i8 %r = arith.divui %a, %b : i8"), 42u);
  EXPECT_EQ(value("i64", "%a = arith.constant -7 : i64 %b = arith.constant 2 : i64 %r = arith.floordivsi %a, %b : i64"),
            uint64_t(-4));
  EXPECT_EQ(value("i64", "%a = arith.constant -7 : i64 %b = arith.constant 2 : i64 %r = arith.ceildivsi %a, %b : i64"),
            uint64_t(-3));
  EXPECT_EQ(value("i64", "%a = arith.constant -7 : i64 %b = arith.constant 2 : i64 %r = arith.remsi %a, %b : i64"),
            uint64_t(-1));
  EXPECT_EQ(value("i32", "%a = arith.constant -1 : i8 %r = arith.extsi %a : i8 to i32"), 0xffffffffu);
  EXPECT_EQ(value("i32", "%a = arith.constant -1 : i8 %r = arith.extui %a : i8 to i32"), 0xffu);
  EXPECT_EQ(value("i16", "%a = arith.constant -2 : i16 %b = arith.constant 1 : i16 %r = arith.shrsi %a, %b : i16"),
            0xffffu);
  EXPECT_EQ(value("i16", "%a = arith.constant -2 : i16 %b = arith.constant 1 : i16 %r = arith.shrui %a, %b : i16"),
            0x7fffu);
  EXPECT_EQ(value("i1", "%a = arith.constant -1 : i8 %b = arith.constant 1 : i8 %r = arith.cmpi slt, %a, %b : i8"), 1u);
  EXPECT_EQ(value("i1", "%a = arith.constant -1 : i8 %b = arith.constant 1 : i8 %r = arith.cmpi ult, %a, %b : i8"), 0u);
  EXPECT_EQ(value("i8", "%a = arith.constant -1 : i8 %b = arith.constant 1 : i8 %r = arith.maxui %a, %b : i8"), 255u);
  EXPECT_EQ(value("i32", "%a = arith.constant 1 : i32 %r = math.ctlz %a : i32"), 31u);
  EXPECT_EQ(value("i32", "%a = arith.constant -3 : i32 %b = arith.constant 5 : i32 %r = math.ipowi %a, %b : i32"),
            uint64_t(uint32_t(-243)));
  EXPECT_EQ(value("i8", "%a = arith.constant -128 : i8 %l, %r = arith.mulsi_extended %a, %a : i8"), 64u);
  EXPECT_EQ(
      value("i1",
            "%a = arith.constant -1 : i8 %b = arith.constant 1 : i8 %s, %r = arith.addui_extended %a, %b : i8, i1"),
      1u);
}

TEST(Interpreter, FloatsFollowIeee) {
  EXPECT_EQ(value32("%a = arith.constant 1.5 : f32 %b = arith.constant 0.1 : f32 %r = arith.mulf %a, %b : f32"),
            1.5f * 0.1f);
  float x = 1.0f + 0x1p-12f;
  EXPECT_EQ(
      value32("%a = arith.constant 1.000244140625 : f32 %c = arith.constant -1.0 : f32 %r = math.fma %a, %a, %c : f32"),
      std::fma(x, x, -1.0f));
  EXPECT_TRUE(std::isnan(
      value32("%a = arith.constant 0x7fc00000 : f32 %b = arith.constant 1.0 : f32 %r = arith.minimumf %a, %b : f32")));
  EXPECT_EQ(
      value32("%a = arith.constant 0x7fc00000 : f32 %b = arith.constant 1.0 : f32 %r = arith.minnumf %a, %b : f32"),
      1.0f);
  EXPECT_TRUE(std::signbit(
      value32("%a = arith.constant 0.0 : f32 %b = arith.constant -0.0 : f32 %r = arith.minimumf %a, %b : f32")));
  for (auto [predicate, ordered, nan] : {std::tuple{"olt", 1u, 0u},
                                         {"ult", 1u, 1u},
                                         {"one", 1u, 0u},
                                         {"une", 1u, 1u},
                                         {"oeq", 0u, 0u},
                                         {"ueq", 0u, 1u},
                                         {"ord", 1u, 0u},
                                         {"uno", 0u, 1u},
                                         {"uge", 0u, 1u}}) {
    std::string compare = std::string("%r = arith.cmpf ") + predicate + ", %a, %b : f64";
    EXPECT_EQ(value("i1", "%a = arith.constant 1.0 : f64 %b = arith.constant 2.0 : f64 " + compare), ordered)
        << predicate;
    EXPECT_EQ(value("i1", "%a = arith.constant 1.0 : f64 %b = arith.constant 0x7ff8000000000000 : f64 " + compare), nan)
        << predicate;
  }
  EXPECT_EQ(value("i32", "%a = arith.constant -2.7 : f64 %r = arith.fptosi %a : f64 to i32"), uint64_t(uint32_t(-2)));
  EXPECT_EQ(value64("%a = arith.constant -1 : i64 %r = arith.uitofp %a : i64 to f64"), 0x1p64);
  EXPECT_EQ(value64("%a = arith.constant 2.0 : f64 %r = math.rsqrt %a : f64"), 1.0 / std::sqrt(2.0));
  EXPECT_EQ(value64("%a = arith.constant 2.5 : f64 %r = math.roundeven %a : f64"), 2.0);
  EXPECT_EQ(
      value("f16", "%a = arith.constant 65504.0 : f16 %b = arith.constant 0.5 : f16 %r = arith.mulf %a, %b : f16"),
      0x77ffu);
  EXPECT_EQ(value("bf16", "%a = arith.constant 1.00390625 : f64 %r = arith.truncf %a : f64 to bf16"), 0x3f80u);
}

TEST(Interpreter, LoopsCarryValuesThatChangePlaces) {
  // Fibonacci: each iteration swaps and adds.
  EXPECT_EQ(value("i64", R"(%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %n = arith.constant 50 : index
      %a0 = arith.constant 0 : i64 %b0 = arith.constant 1 : i64
      %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %b = %b0) -> (i64, i64) {
        %c = arith.addi %a, %b : i64
        scf.yield %b, %c : i64, i64
      })"),
            12586269025u);
  // Collatz steps of 27, with while.
  EXPECT_EQ(value("i64", R"(%start = arith.constant 27 : i64 %zero = arith.constant 0 : i64 %c1 = arith.constant 1 : i64
      %c2 = arith.constant 2 : i64 %c3 = arith.constant 3 : i64
      %last, %r = scf.while (%x = %start, %k = %zero) : (i64, i64) -> (i64, i64) {
        %go = arith.cmpi ne, %x, %c1 : i64
        scf.condition(%go) %x, %k : i64, i64
      } do {
      ^bb0(%x: i64, %k: i64):
        %odd = arith.remsi %x, %c2 : i64
        %is = arith.cmpi eq, %odd, %c1 : i64
        %y = scf.if %is -> i64 {
          %t = arith.muli %x, %c3 : i64
          %u = arith.addi %t, %c1 : i64
          scf.yield %u : i64
        } else {
          %h = arith.divsi %x, %c2 : i64
          scf.yield %h : i64
        }
        %k1 = arith.addi %k, %c1 : i64
        scf.yield %y, %k1 : i64, i64
      })"),
            111u);
  EXPECT_EQ(value("i32", R"(%i = arith.constant 7 : index
      %r = scf.index_switch %i -> i32
      case 3 { %x = arith.constant 30 : i32 scf.yield %x : i32 }
      case 7 { %x = arith.constant 70 : i32 scf.yield %x : i32 }
      default { %x = arith.constant 0 : i32 scf.yield %x : i32 })"),
            70u);
}

TEST(Interpreter, SpansAreGoneThrough) {
  EXPECT_EQ(value("i32", R"(
      %c2 = arith.constant 2 : index
      %v = memref.alloca() : memref<i32>
      %seven = arith.constant 7 : i32
      svm.span "outer" of %c2 {
        svm.span "inner" {
          memref.store %seven, %v[] : memref<i32>
        }
      }
      %r = memref.load %v[] : memref<i32>)"),
            7u);
}

TEST(Interpreter, BranchesBetweenBlocksWork) {
  Subject subject(R"(func.func @f(%n: i64) -> i64 {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    cf.br ^loop(%n, %c0 : i64, i64)
  ^loop(%k: i64, %sum: i64):
    %s = arith.addi %sum, %k : i64
    %m = arith.subi %k, %c1 : i64
    %go = arith.cmpi sgt, %m, %c0 : i64
    cf.cond_br %go, ^loop(%m, %s : i64, i64), ^done
  ^done:
    return %s : i64
  })");
  std::vector<uint64_t> results;
  ASSERT_TRUE(subject.call({Argument::bits(100)}, &results)) << subject.text();
  EXPECT_EQ(results[0], 5050u);
}

TEST(Interpreter, RecursionIsDeepButNotEndless) {
  const char* program = R"(func.func @f(%n: i64) -> i64 {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %go = arith.cmpi sgt, %n, %c0 : i64
    %r = scf.if %go -> i64 {
      %m = arith.subi %n, %c1 : i64
      %s = func.call @f(%m) : (i64) -> i64
      %t = arith.addi %s, %n : i64
      scf.yield %t : i64
    } else {
      scf.yield %c0 : i64
    }
    return %r : i64
  })";
  Subject subject(program);
  std::vector<uint64_t> results;
  ASSERT_TRUE(subject.call({Argument::bits(5000)}, &results));
  EXPECT_EQ(results[0], 5000u * 5001u / 2);
  EXPECT_NE(failure(program, "interpret-too-deep", {Argument::bits(1u << 30)}).find("test.mlir:7"), std::string::npos);
}

TEST(Interpreter, AffineLoopsComputeTheirBounds) {
  Subject subject(R"(func.func @f(%a: memref<?x?xi64>, %n: index) {
    affine.for %i = 0 to %n {
      affine.for %j = max affine_map<(d0) -> (d0 - 2, 0)>(%i) to min affine_map<(d0)[s0] -> (d0 + 2, s0)>(%i)[%n] {
        %v = affine.apply affine_map<(d0, d1) -> (d0 * 10 + d1 mod 3 + d1 floordiv 2)>(%i, %j)
        %w = arith.index_cast %v : index to i64
        affine.if affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j) {
          affine.store %w, %a[%i, %j] : memref<?x?xi64>
        }
      }
    }
    return
  })");
  std::vector<int64_t> a(36, -1), expected(36, -1);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = std::max<int64_t>(0, i - 2); j <= i; ++j)
      expected[i * 6 + j] = i * 10 + j % 3 + j / 2;
  ASSERT_TRUE(subject.call({Argument::block(a.data(), {6, 6}), Argument::bits(6)})) << subject.text();
  EXPECT_EQ(a, expected);
}

TEST(Interpreter, ViewsAndReshapesReachTheRightElements) {
  Subject subject(R"(func.func @f(%a: memref<?x?xi32, strided<[?, 1], offset: ?>>, %r: memref<8xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %v = memref.subview %a[1, 2] [2, 3] [2, 1] : memref<?x?xi32, strided<[?, 1], offset: ?>> to memref<2x3xi32, strided<[?, 1], offset: ?>>
    %x = memref.load %v[%c1, %c2] : memref<2x3xi32, strided<[?, 1], offset: ?>>
    memref.store %x, %r[%c0] : memref<8xi32>
    %row = memref.subview %a[3, 0] [1, 4] [1, 1] : memref<?x?xi32, strided<[?, 1], offset: ?>> to memref<4xi32, strided<[1], offset: ?>>
    %y = memref.load %row[%c3] : memref<4xi32, strided<[1], offset: ?>>
    memref.store %y, %r[%c1] : memref<8xi32>
    %e = memref.expand_shape %r [[0, 1]] output_shape [2, 4] : memref<8xi32> into memref<2x4xi32>
    memref.store %x, %e[%c1, %c3] : memref<2x4xi32>
    %flat = memref.collapse_shape %e [[0, 1]] : memref<2x4xi32> into memref<8xi32>
    %t = memref.transpose %e (i, j) -> (j, i) : memref<2x4xi32> to memref<4x2xi32, strided<[1, 4]>>
    memref.store %y, %t[%c2, %c1] : memref<4x2xi32, strided<[1, 4]>>
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %v : memref<2x3xi32, strided<[?, 1], offset: ?>> -> memref<i32>, index, index, index, index, index
    %again = memref.reinterpret_cast %base to offset: [%offset], sizes: [2], strides: [%strides#0] : memref<i32> to memref<2xi32, strided<[?], offset: ?>>
    %z = memref.load %again[%c1] : memref<2xi32, strided<[?], offset: ?>>
    memref.store %z, %flat[%c2] : memref<8xi32>
    %d = memref.dim %a, %c1 : memref<?x?xi32, strided<[?, 1], offset: ?>>
    %di = arith.index_cast %d : index to i32
    memref.store %di, %flat[%c3] : memref<8xi32>
    return
  })");
  std::vector<int32_t> a(4 * 7), r(8, -1);
  std::iota(a.begin(), a.end(), 0);
  // Rows of 5 elements, 7 apart.
  ASSERT_TRUE(subject.call({Argument::block(a.data(), {4, 5}, {7, 1}), Argument::block(r.data(), {8})}))
      << subject.text();
  EXPECT_EQ(r, (std::vector<int32_t>{3 * 7 + 4, 3 * 7 + 3, 3 * 7 + 2, 5, -1, -1, 3 * 7 + 3, 3 * 7 + 4}));
}

TEST(Interpreter, NegativeStridesAreTheCallersRight) {
  Subject subject("func.func @f(%a: memref<?xi32, strided<[?], offset: ?>>, %b: memref<?xi32>) {\n"
                  "svm.move %a to %b : memref<?xi32, strided<[?], offset: ?>> to memref<?xi32>\nreturn }");
  std::vector<int32_t> a{1, 2, 3, 4}, b(4);
  ASSERT_TRUE(subject.call({Argument::block(&a[3], {4}, {-1}), Argument::block(b.data(), {4})})) << subject.text();
  EXPECT_EQ(b, (std::vector<int32_t>{4, 3, 2, 1}));
  EXPECT_EQ(subject.interpreter->statistics().moves, 1u);
  EXPECT_EQ(subject.interpreter->statistics().bytesMoved, 16u);
}

TEST(Interpreter, CountsWhatRan) {
  Subject subject(R"(
  svm.kernel @k(%n: index) {
    svm.count "elements" by %n : index
    svm.return
  }
  func.func @f(%n: index) {
    svm.run @k(%n) : (index) -> ()
    %t = svm.run @k(%n) : (index) -> !svm.token
    svm.wait %t
    return
  })");
  ASSERT_TRUE(subject.call({Argument::bits(21)})) << subject.text();
  EXPECT_EQ(subject.interpreter->statistics().kernelRuns, 2u);
  EXPECT_EQ(subject.interpreter->statistics().counters.at("elements"), 42);
}

TEST(Interpreter, ConcurrentInstancesThatPollEachOtherEnd) {
  // Instance i waits until instance i - 1 has counted.
  Subject subject(R"(func.func @f(%turn: memref<i64>) {
    %c0 = arith.constant 0 : index
    %c9 = arith.constant 9 : index
    %one = arith.constant 1 : i64
    %eight = arith.constant 8 : i64
    svm.parallel (%i) = (%c0) to (%c9) concurrent {
      %i64 = arith.index_cast %i : index to i64
      %mine = arith.subi %eight, %i64 : i64
      scf.while : () -> () {
        %now = memref.load %turn[] : memref<i64>
        %wait = arith.cmpi ne, %now, %mine : i64
        scf.condition(%wait)
      } do {
        scf.yield
      }
      %next = arith.addi %mine, %one : i64
      memref.store %next, %turn[] : memref<i64>
    }
    return
  })");
  int64_t turn = 0;
  ASSERT_TRUE(subject.call({Argument::block(&turn, {})})) << subject.text();
  EXPECT_EQ(turn, 9);
}

TEST(Interpreter, MemoryAtAnAddressIsTheProgramsOrOutside) {
  Subject subject(R"(
    !block = memref<?xi32, strided<[1], offset: ?>>
    func.func @f(%a: !block, %inside: i64, %outside: i64, %n: index) -> i64 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = svm.memory_at "x" %inside(%n) : !block
      %y = svm.memory_at "y" %outside(%n) : !block
      %v = memref.load %x[%c0] : !block
      memref.store %v, %y[%c1] : !block
      memref.store %v, %x[%c1] : !block
      %one = svm.apart %x, %a : !block, !block
      %two = svm.apart %x, %y : !block, !block
      %none = svm.memory_at "none" %inside(%c0) : !block
      %three = svm.apart %none, %a : !block, !block
      %i = arith.extui %one : i1 to i64
      %j = arith.extui %two : i1 to i64
      %k = arith.extui %three : i1 to i64
      %ten = arith.constant 10 : i64
      %p = arith.muli %i, %ten : i64
      %q = arith.addi %p, %j : i64
      %s = arith.muli %q, %ten : i64
      %r = arith.addi %s, %k : i64
      return %r : i64
    })");
  std::vector<int32_t> inside{1, 2, 3, 4}, outside{5, 6, 7};
  const auto addressOf = [](const int32_t* of) { return Argument::bits(std::bit_cast<uint64_t>(of)); };
  std::vector<uint64_t> results;
  ASSERT_TRUE(subject.call(
      {Argument::block(inside.data(), {4}), addressOf(inside.data() + 2), addressOf(outside.data()), Argument::bits(2)},
      &results))
      << subject.text();
  EXPECT_EQ(inside, (std::vector<int32_t>{1, 2, 3, 3}));
  EXPECT_EQ(outside, (std::vector<int32_t>{5, 3, 7}));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], 11u); // shared, apart, apart
}

TEST(Interpreter, KernelsMayBeOffered) {
  const std::string program = R"(
  svm.kernel @double(%x: memref<?xi32, strided<[?], offset: ?>> {svm.access = "readwrite"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?xi32, strided<[?], offset: ?>>
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<?xi32, strided<[?], offset: ?>>
      %b = arith.addi %a, %a : i32
      memref.store %b, %x[%i] : memref<?xi32, strided<[?], offset: ?>>
    }
    svm.return
  }
  func.func @f(%x: memref<?xi32, strided<[?], offset: ?>> {svm.access = "readwrite"}) attributes {svm.entry} {
    svm.run @double(%x) : (memref<?xi32, strided<[?], offset: ?>>) -> ()
    svm.run @double(%x) : (memref<?xi32, strided<[?], offset: ?>>) -> ()
    return
  })";
  std::vector<int32_t> a{1, 2};
  Options options;
  int offers = 0;
  options.offers["double"] = [&](const std::vector<Argument>& arguments, std::string&) {
    if (offers++ == 0)
      return Offered::Declined;
    static_cast<int32_t*>(arguments[0].data)[0] = 77;
    return Offered::Done;
  };
  Subject subject(program, options);
  ASSERT_TRUE(subject.call({Argument::block(a.data(), {2})})) << subject.text();
  EXPECT_EQ(offers, 2);
  EXPECT_EQ(a, (std::vector<int32_t>{77, 4}));
  options.offers["double"] = [](const std::vector<Argument>&, std::string& error) {
    error = "it is too warm";
    return Offered::Failed;
  };
  EXPECT_NE(
      failure(program, "interpret-external-kernel", {Argument::block(a.data(), {2})}, options).find("it is too warm"),
      std::string::npos);
}

TEST(Interpreter, ExternalKernelsMayStandIn) {
  std::string program = std::string("svm.kernel @box(") + one +
                        R"( {svm.access = "readwrite"}, f32) attributes {blackbox = "scale"}
  func.func @f(%a: )" + one +
                        R"() {
    %s = arith.constant 3.0 : f32
    %v = memref.subview %a[1] [2] [1] : )" +
                        one + " to memref<2xf32, strided<[1], offset: ?>>\n" +
                        "%w = memref.cast %v : memref<2xf32, strided<[1], offset: ?>> to " + one + R"(
    svm.run @box(%w, %s) : ()" +
                        one + R"(, f32) -> ()
    return
  })";
  std::vector<float> a{1, 2, 3, 4};
  EXPECT_NE(failure(program, "interpret-unsupported", {Argument::block(a.data(), {4})}).find("'box'"),
            std::string::npos);
  Options options;
  options.kernels["box"] = [](const std::vector<Argument>& arguments, std::string& error) {
    float factor = llvm::bit_cast<float>(static_cast<uint32_t>(arguments[1].scalar));
    for (int64_t i = 0; i < arguments[0].extents[0]; ++i)
      static_cast<float*>(arguments[0].data)[i * arguments[0].strides[0]] *= factor;
    return true;
  };
  Subject subject(program, options);
  ASSERT_TRUE(subject.call({Argument::block(a.data(), {4})})) << subject.text();
  EXPECT_EQ(a, (std::vector<float>{1, 6, 9, 4}));
  options.kernels["box"] = [](const std::vector<Argument>&, std::string& error) {
    error = "no such file";
    return false;
  };
  EXPECT_NE(
      failure(program, "interpret-external-kernel", {Argument::block(a.data(), {4})}, options).find("no such file"),
      std::string::npos);
}

TEST(Interpreter, IsQuickEnoughToBeAnOracle) {
  Subject subject(R"(func.func @f(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %n: index) {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %n {
        affine.for %k = 0 to %n {
          %x = affine.load %a[%i, %k] : memref<?x?xf32>
          %y = affine.load %b[%k, %j] : memref<?x?xf32>
          %z = affine.load %c[%i, %j] : memref<?x?xf32>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %z, %p : f32
          affine.store %s, %c[%i, %j] : memref<?x?xf32>
        }
      }
    }
    return
  })");
  const int64_t n = 100;
  std::vector<float> a(n * n), b(n * n), c(n * n), expected(n * n);
  for (int64_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < n; ++k)
        expected[i * n + j] += a[i * n + k] * b[k * n + j];
  auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(subject.call({Argument::block(a.data(), {n, n}), Argument::block(b.data(), {n, n}),
                            Argument::block(c.data(), {n, n}), Argument::bits(n)}))
      << subject.text();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(c, expected);
  RecordProperty("operations_per_second",
                 std::to_string(static_cast<double>(subject.interpreter->statistics().steps) / seconds));
  printf("%.0f million operations a second (wall clock)\n",
         static_cast<double>(subject.interpreter->statistics().steps) / seconds / 1e6);
}

} // namespace
} // namespace strata::interpret
