// Parallel instances that share arrays: what is a race, what orders accesses, what they print, and what never ends.
#include "compiler/interpret/subject.h"

namespace strata::interpret {
namespace {

/// A program of `tiles` instances that share arrays A (one element for each tile) and flag, both zero at first, each
/// doing `body` with %A, %flag, %tile, %last (the number of the last tile), and constants %c0, %c1 : index, %zero, %one
/// : i32.
std::string program(const std::string& body, bool concurrent = true, bool started = true, int tiles = 4) {
  return R"(
!cut = memref<?xi32, strided<[1], offset: ?>, #svm.dist<"l"[4] per 1, (i) -> (i) at (i) -> (0)>>
svm.kernel @start(%A: !cut {svm.access = "write"}, %flag: !cut {svm.access = "write"}) {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : !cut
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %A[%i] : !cut
    memref.store %zero, %flag[%i] : !cut
  }
  svm.return
}
svm.kernel @work(%A: !cut {svm.access = "readwrite", svm.name = "A"},
                 %flag: !cut {svm.access = "readwrite", svm.name = "flag"}, %tile: index {svm.instance})
    attributes {svm.shared} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = memref.dim %A, %c0 : !cut
  %last = arith.subi %n, %c1 : index
  %number = arith.index_cast %tile : index to i32
  %first = arith.cmpi eq, %tile, %c0 : index
)" + body +
         R"(
  svm.return
}
func.func @f() {
  %c0 = arith.constant 0 : index
  %n = arith.constant )" +
         std::to_string(tiles) + R"( : index
  %A = svm.block "A"(%n) : !cut
  %flag = svm.block "flag"(%n) : !cut
)" + (started ? "svm.run @start(%A, %flag) : (!cut, !cut) -> ()\n" : "") +
         "svm.parallel (%tile) = (%c0) to (%n) " + (concurrent ? "concurrent " : "") + R"({
    svm.run @work(%A, %flag, %tile) : (!cut, !cut, index) -> ()
  }
  return
})";
}

const Options checked = [] {
  Options options;
  options.trackUndefined = true;
  return options;
}();

/// Waits until an element of flag is not zero.
std::string await(const std::string& element) {
  return "scf.while : () -> () {\n %set = memref.load %flag[" + element +
         "] {svm.awaited} : !cut\n %wait = arith.cmpi eq, %set, %zero : i32\n scf.condition(%wait)\n} do {\n "
         "svm.pause\n "
         "scf.yield\n}\n";
}
const std::string setFlag = "memref.store %one, %flag[%tile] : !cut\n";
const std::string setOwn = "memref.store %number, %A[%tile] : !cut\n";

TEST(Races, TwoValuesForOneElement) {
  for (bool concurrent : {false, true}) {
    std::string text = failure(program("memref.store %number, %A[%c2] : !cut", concurrent), "check-race", {}, checked);
    EXPECT_TRUE(has(text, "tile 0 writes element [2] of 'A', and tile 1 writes it, in no order")) << text;
    EXPECT_TRUE(has(text, "here tile 0 writes it")) << text;
  }
}

TEST(Races, OneValueForOneElementIsAWarningOnceForEachArray) {
  Subject subject(program("memref.store %one, %A[%c2] : !cut\n memref.store %one, %A[%c1] : !cut"), checked);
  // Tile 0 writes another value than the one that was there, nobody else does.
  EXPECT_TRUE(subject.call()) << subject.text();
  std::string text = subject.text();
  EXPECT_TRUE(has(text, "check-race-same-value")) << text;
  EXPECT_EQ(text.find("check-race-same-value"), text.rfind("check-race-same-value")) << text;
}

TEST(Races, AReadOfWhatAnotherWrites) {
  std::string body = setOwn + "%last0 = memref.load %A[%c0] : !cut";
  std::string text = failure(program(body), "check-race", {}, checked);
  EXPECT_TRUE(has(text, "tile 0 writes element [0] of 'A', and tile 1 reads it")) << text;
}

TEST(Races, AWriteOfWhatAnotherHasRead) {
  std::string body = "%v = memref.load %A[%last] : !cut\n" + setOwn;
  std::string text = failure(program(body, false), "check-race", {}, checked);
  EXPECT_TRUE(has(text, "reads element [3] of 'A', and tile 3 writes it")) << text;
}

TEST(Races, WithoutCheckingNobodyLooks) {
  Subject subject(program("memref.store %number, %A[%c2] : !cut"));
  EXPECT_TRUE(subject.call()) << subject.text();
}

TEST(Races, EachOnItsOwnIsNone) {
  Subject subject(program(setOwn + "%v = memref.load %A[%tile] : !cut\n" + setOwn, false), checked);
  EXPECT_TRUE(subject.call()) << subject.text();
  EXPECT_EQ(subject.text(), "");
}

TEST(Order, AFlagBehindAFenceTellsOfWhatWasBefore) {
  std::string body = "scf.if %first {\n" + setOwn + "svm.fence\n" + setFlag + "} else {\n" + await("%c0") +
                     "svm.fence\n%v = memref.load %A[%c0] : !cut\n}";
  Subject subject(program(body), checked);
  EXPECT_TRUE(subject.call()) << subject.text();
  EXPECT_EQ(subject.text(), "");
}

TEST(Order, ItIsHandedOn) {
  // Each waits for the one before and writes the element that all of them write.
  std::string body = "%before = arith.subi %tile, %c1 : index\nscf.if %first {\n} else {\n" + await("%before") +
                     "svm.fence\n}\nmemref.store %number, %A[%c0] : !cut\nsvm.fence\n" + setFlag;
  Subject subject(program(body), checked);
  EXPECT_TRUE(subject.call()) << subject.text();
  EXPECT_EQ(subject.text(), "");
}

TEST(Order, TheWaitedForFlagMayBeReset) {
  std::string body = "scf.if %first {\n svm.fence\n" + setFlag +
                     "} else {\n%second = arith.cmpi eq, %tile, %c1 : index\n" + "scf.if %second {\n" + await("%c0") +
                     "svm.fence\nmemref.store %zero, %flag[%c0] : !cut\n}\n}";
  Subject subject(program(body), checked);
  EXPECT_TRUE(subject.call()) << subject.text();
}

TEST(Order, WhatIsWrittenBehindTheFlagIsNotTold) {
  std::string body = "scf.if %first {\nsvm.fence\n" + setFlag + setOwn + "} else {\n" + await("%c0") +
                     "svm.fence\n%v = memref.load %A[%c0] : !cut\n}";
  std::string text = failure(program(body), "check-race", {}, checked);
  EXPECT_TRUE(has(text, "tile 0 writes element [0] of 'A', and tile 1 reads it")) << text;
}

TEST(Order, WithoutAFenceNothingIsTold) {
  std::string withoutFirst = "scf.if %first {\n" + setOwn + setFlag + "} else {\n" + await("%c0") +
                             "svm.fence\n%v = memref.load %A[%c0] : !cut\n}";
  failure(program(withoutFirst), "check-race", {}, checked);
  std::string withoutSecond = "scf.if %first {\n" + setOwn + "svm.fence\n" + setFlag + "} else {\n" + await("%c0") +
                              "%v = memref.load %A[%c0] : !cut\n}";
  failure(program(withoutSecond), "check-race", {}, checked);
}

TEST(Order, OneLoopComesAfterAnother) {
  std::string text = program(setOwn, false);
  size_t loop = text.find("svm.parallel");
  std::string twice = text.substr(loop, text.find("return", loop) - loop);
  // The second loop goes the other way round: each tile works on what another one had.
  std::string other = "%c3 = arith.constant 3 : index\n" + twice;
  other.replace(other.find("svm.run @work(%A, %flag, %tile)"), 31,
                "%o = arith.subi %c3, %tile : index\nsvm.run @work(%A, %flag, %o)");
  text.insert(text.find("return", loop), other);
  Subject subject(text, checked);
  EXPECT_TRUE(subject.call()) << subject.text();
  EXPECT_EQ(subject.text(), "");
}

TEST(Checks, AnElementWithoutAValueIsNamed) {
  std::string text =
      failure(program("%v = memref.load %A[%tile] : !cut", true, false), "interpret-undefined-read", {}, checked);
  EXPECT_TRUE(has(text, "element [0] of 'A'")) << text;
  EXPECT_TRUE(has(text, "in tile 0")) << text;
}

TEST(Checks, AnIndexOutOfRangeIsNamed) {
  std::string text = failure(program("%v = memref.load %A[%n] : !cut"), "interpret-out-of-bounds", {}, checked);
  EXPECT_TRUE(has(text, "of 'A'")) << text;
  EXPECT_TRUE(has(text, "in tile 0")) << text;
}

TEST(Pauses, AllThatWaitIsADeadlock) {
  std::string text = failure(program(await("%tile")), "interpret-deadlock", {}, checked);
  EXPECT_TRUE(has(text, "tile 2, in 'work', waits in this loop for what another instance is to do")) << text;
}

TEST(Pauses, ALoopThatCountsGoesOn) {
  // It waits for nobody, but for its own count.
  std::string body = R"(
    %c1000 = arith.constant 1000 : index
    scf.while (%i = %c0) : (index) -> (index) {
      %more = arith.cmpi ult, %i, %c1000 : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      svm.pause
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    })";
  Subject subject(program(body), checked);
  EXPECT_TRUE(subject.call()) << subject.text();
  // The same with the count in a variable.
  std::string variable = R"(
    %c1000 = arith.constant 1000 : i32
    %count = memref.alloca() : memref<i32>
    memref.store %zero, %count[] : memref<i32>
    scf.while : () -> () {
      %i = memref.load %count[] : memref<i32>
      %more = arith.cmpi ult, %i, %c1000 : i32
      scf.condition(%more)
    } do {
      svm.pause
      %i = memref.load %count[] : memref<i32>
      %next = arith.addi %i, %one : i32
      memref.store %next, %count[] : memref<i32>
      scf.yield
    })";
  Subject other(program(variable), checked);
  EXPECT_TRUE(other.call()) << other.text();
}

TEST(Output, ComesOutInOrder) {
  Subject subject(program("%wide = arith.extsi %number : i32 to i64\n%back = arith.subi %last, %tile : index\n"
                          "svm.print %back, \"%d|%5x|%c%%\\0A\" (%wide, %wide, %wide : i64, i64, i64)\n"
                          "%real = arith.sitofp %number : i32 to f64\nsvm.print %back, \"%.1f\\0A\" (%real : f64)"));
  ASSERT_TRUE(subject.call()) << subject.text();
  std::string expected;
  for (int tile = 3; tile >= 0; --tile)
    expected += std::to_string(tile) + "|    " + std::to_string(tile) + "|" + static_cast<char>(tile) + "%\n" +
                std::to_string(tile) + ".0\n";
  EXPECT_EQ(subject.interpreter->output(), expected);
}

TEST(ExternalFunctions, MayStandIn) {
  const std::string program = R"(
    func.func private @outside(i32) -> i32
    func.func @f() -> i32 {
      %one = arith.constant 41 : i32
      %r = func.call @outside(%one) : (i32) -> i32
      return %r : i32
    })";
  std::string text = failure(program, "interpret-external-function");
  EXPECT_TRUE(has(text, "'outside' is a function whose code is not in the program")) << text;
  Options options;
  options.kernels["outside"] = [](const std::vector<Argument>& arguments, std::string&) {
    *static_cast<int32_t*>(arguments[1].data) = static_cast<int32_t>(arguments[0].scalar) + 1;
    return true;
  };
  Subject subject(program, options);
  std::vector<uint64_t> results;
  ASSERT_TRUE(subject.call({}, &results)) << subject.text();
  EXPECT_EQ(results, std::vector<uint64_t>{42});
}

} // namespace
} // namespace strata::interpret
