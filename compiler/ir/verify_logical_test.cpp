// What logical programs may do with distributed blocks and with functions that they only declare, what they may not
// say of loops, and which marks are seen to be true.
#include "compiler/ir/verify_logical.h"

#include "compiler/ir/svm.h"

#include "compiler/ir/verify_logical_testing.h"

using namespace strata;
using svm::expectProblem;
using svm::problem;

namespace {

TEST(DistributedBlocks, AreMadeMovedGivenToKernelsAndIndexedThere) {
  EXPECT_EQ(problem(R"(
    svm.kernel @k(%a: !cut {svm.access = "readwrite"}, %t: index {svm.instance}) {
      %v = memref.load %a[%t] : !cut
      memref.store %v, %a[%t] : !cut
      svm.return
    }
    func.func @main(%a: !plain {svm.access = "readwrite"}) attributes {svm.entry} {
      %c0 = arith.constant 0 : index
      %n = memref.dim %a, %c0 : !plain
      %b = svm.block "A"(%n) : !cut
      svm.move %a to %b : !plain to !cut
      svm.run @k(%b, %c0) : (!cut, index) -> ()
      svm.move %b to %a : !cut to !plain
      return
    })"),
            "");
}

TEST(Streams, DoNotSayWhereTheyAre) {
  auto program = [](const std::string& where) {
    return "func.func private @f(%a: index) {\n%q = svm.stream \"q\"(%a)" + where + " : !svm.stream<f32>\nreturn\n}";
  };
  EXPECT_EQ(problem(program("")), "");
  for (const char* where : {" in @m", " through @f", " in @m at 16"})
    expectProblem(program(where), "says where on a machine it is");
}

TEST(Gathers, TakeNoDistributedBlocks) {
  const std::string plain = "memref<?xi32, strided<[1], offset: ?>>",
                    cut = "memref<?xi32, strided<[1], offset: ?>, #svm.dist<\"l\"[4] per 1, (i) -> (i mod 4) at (i) -> "
                          "(i floordiv 4)>>";
  auto program = [&](const std::string& type) {
    return "func.func private @f(%n: index, %a: " + plain +
           " {svm.access = \"readwrite\"}) {\n%b = svm.block(%n) : " + type + "\n%i = svm.block(%n) : " + plain +
           "\n%t = svm.gather %a[%i] to %b : " + plain + "[" + plain + "] to " + type +
           " -> !svm.token\nsvm.scatter %b to %a[%i] after(%t) : " + type + " to " + plain + "[" + plain +
           "]\nreturn\n}";
  };
  EXPECT_EQ(problem(program(plain)), "");
  expectProblem(program(cut), "uses a distributed block");
}

TEST(Gathers, ReadWhatTheyDoNotWrite) {
  auto program = [](const std::string& access, const std::string& operation) {
    const std::string row = "memref<?xi32, strided<[1], offset: ?>>";
    return "func.func private @f(%a: " + row + " {svm.access = \"" + access + "\"}, %b: " + row +
           " {svm.access = \"readwrite\"}) {\n" + operation + "\nreturn\n}";
  };
  const std::string row = "memref<?xi32, strided<[1], offset: ?>>", types = row + "[" + row + "] to " + row,
                    back = row + " to " + row + "[" + row + "]";
  EXPECT_EQ(problem(program("read", "svm.gather %a[%a] to %b : " + types)), "");
  EXPECT_EQ(problem(program("read", "svm.scatter %a to %b[%a] : " + back)), "");
  expectProblem(program("read", "svm.gather %b[%b] to %a : " + types), "says \"read\" of it");
  expectProblem(program("read", "svm.scatter %b to %a[%b] : " + back), "says \"read\" of it");
}

TEST(Attributes, ThatPassesBelieveStandInNoLogicalProgram) {
  for (const char* name : {"nonempty", "parallel", "reduces", "guard", "disjoint", "anything"})
    expectProblem(std::string("func.func private @f(%a: index) {\n%c1 = arith.constant 1 : index\n"
                              "scf.for %i = %c1 to %a step %c1 {\n} {svm.") +
                      name + "}\nreturn\n}",
                  std::string("carries 'svm.") + name + "'");
  EXPECT_EQ(problem("func.func private @f(%a: index) {\n%c1 = arith.constant 1 : index\n"
                    "scf.for %i = %c1 to %a step %c1 {\n} {svm.label = \"i\"}\nreturn\n}"),
            "");
}

/// A program with an attribute on its loop, function, argument, kernel and module.
std::string carrying(const std::string& loop, const std::string& function = "svm.entry",
                     const std::string& argument = "", const std::string& kernel = "svm.shared",
                     const std::string& module = "svm.program = \"x\"") {
  return "module attributes {" + module + "} {\nsvm.kernel @k() attributes {" + kernel +
         "} { svm.return }\nfunc.func @f(%a: index {" + argument + "}) attributes {" + function +
         "} {\n%c1 = arith.constant 1 : index\nscf.for %i = %c1 to %a step %c1 {\n} {" + loop + "}\nreturn\n}\n}";
}

TEST(Attributes, AreThoseOfTheDialect) {
  EXPECT_EQ(problem(carrying("svm.label = \"i\"", "svm.entry", "svm.name = \"n\"")), "");
  expectProblem(carrying("svm.lable = \"i\""), "carries 'svm.lable', which the dialect does not have; did you mean "
                                               "'svm.label'?");
  expectProblem(carrying("svm.something_else"), "which the dialect does not have; docs/dialect.md lists what it has");
  expectProblem(carrying("", "svm.entri"), "did you mean 'svm.entry'?");
  expectProblem(carrying("", "svm.entry", "svm.nam = \"n\""), "carries 'svm.nam' on argument 0, which the dialect does "
                                                              "not have; did you mean 'svm.name'?");
  EXPECT_EQ(problem(carrying("other.label = \"i\"")).find("svm."), std::string::npos);
}

TEST(Attributes, StandWhereTheyMeanSomething) {
  expectProblem(carrying("svm.entry"), "carries 'svm.entry', and is no function; take it away");
  expectProblem(carrying("", "svm.shared"), "carries 'svm.shared', and is no kernel");
  expectProblem(carrying("", "svm.name = \"f\""),
                "is no argument of a function, argument of a kernel or block; take it away");
  expectProblem(carrying("", "svm.entry", "svm.label = \"n\""),
                "carries 'svm.label' on argument 0, and that is no move, wait or 'scf.for'");
  expectProblem(carrying("", "svm.entry", "svm.instance"), "and that is no argument of a kernel");
  expectProblem(carrying("", "svm.entry", "", "svm.control = @p"), "carries 'svm.control', and is no function");
  expectProblem("func.func @f() -> (i32 {svm.name = \"r\"}) {\n%c = arith.constant 1 : i32\nreturn %c : i32\n}",
                "carries 'svm.name' on result 0; no attribute of the dialect stands on one");
}

TEST(Attributes, HoldWhatTheirDefinitionsSay) {
  EXPECT_EQ(problem(carrying("", "svm.entry, svm.sizes = [\"N\"], svm.extents = [affine_map<()[n] -> ()>]",
                             "svm.words = 1 : i64, svm.unsigned")),
            "");
  expectProblem(carrying("svm.label"), "carries 'svm.label' with unit; 'svm.label' is a string that is not empty, "
                                       "without zero characters and numbers in braces: svm.label = \"i#0\"");
  expectProblem(carrying("", "svm.entry = 1 : i64"), "'svm.entry' is a mark without a value");
  expectProblem(carrying("", "svm.entry, svm.sizes = \"N\""), "'svm.sizes' is a list of strings");
  expectProblem(carrying("", "svm.entry, svm.sizes = [3]"), "'svm.sizes' is a list of strings");
  expectProblem(carrying("", "svm.entry, svm.extents = [\"N\"]"), "'svm.extents' is a list of affine maps");
  expectProblem(carrying("", "svm.control = \"p\""), "'svm.control' is a name with @");
  expectProblem(carrying("", "svm.entry", "svm.words = 0 : i64"),
                "carries 'svm.words' on argument 0 with 0 : i64; 'svm.words' is an integer of 64 bits, 1 or more");
  expectProblem(carrying("", "svm.entry", "svm.words = 1 : i32"), "'svm.words' is an integer of 64 bits");
  expectProblem(carrying("", "svm.entry", "svm.access = \"look\""),
                "'svm.access' is \"read\", \"write\" or \"readwrite\"");
  expectProblem(carrying("", "svm.entry", "svm.access = \"reduce\""), "'svm.access' is \"read\", \"write\"");
  expectProblem(carrying("", "svm.entry", "svm.element_declarations = [\"struct s\"]"),
                "'svm.element_declarations' is a list of declarations");
  expectProblem(carrying("svm.flatten = \"x.map:3:4\""), "'svm.flatten' is a place in a file: svm.flatten = loc(");
  expectProblem(carrying("", "svm.entry", "", "svm.shared", "svm.stage = \"cooked\""),
                "'svm.stage' is \"logical\", \"placed\", \"scheduled\" or \"lowering\"");
  const std::string block = "func.func @f(%n: index) {\n%b = svm.block \"b\"(%n) {";
  EXPECT_EQ(problem(block + "svm.sized_by = [#svm.tunable<\"t\" of \"Top\">]} : !plain\nreturn\n}"), "");
  expectProblem(block + "svm.sized_by = \"'t' of instance 'Top'\"} : !plain\nreturn\n}",
                "'svm.sized_by' is a list of tunables: svm.sized_by = [#svm.tunable<\"block\" of \"Top\">]");
  expectProblem(block + "svm.grid = array<i64: -1>} : !plain\nreturn\n}",
                "'svm.grid' is an array of integers of 64 bits, 0 or more");
  expectProblem(
      "func.func @f(%n: index) {\nsvm.parallel (%i) = (%n) to (%n) {\n} {svm.subset = array<i64: 1, 0>}\nreturn\n}",
      "'svm.subset' is an array of two integers of 64 bits");
}

TEST(Attributes, OfOtherStagesAreNoProgramsToSay) {
  for (const char* block : {"svm.shares = \"a\"", "svm.stack = 0 : i64", "svm.buffers = 2 : i64", "svm.counted"})
    expectProblem(std::string("func.func @f(%n: index) {\n%b = svm.block \"b\"(%n) {") + block +
                      "} : !plain\nreturn\n}",
                  "which is not a program's to say: passes state it once they have made it so");
  expectProblem(
      "svm.kernel @k() { svm.return }\nfunc.func @f() {\nsvm.run @k() {svm.callee = @k} : () -> ()\nreturn\n}",
      "in a target's own; take it away");
}

/// A kernel over an array and a block that instances share.
std::string kernelOf(const std::string& body) {
  return R"(svm.kernel @k(%a: !plain {svm.access = "readwrite"}, %r: memref<?x!svm.record<"r", a: i32, b: i32>, strided<[1], offset: ?>>
      {svm.access = "readwrite"}, %flag: !cut {svm.access = "readwrite"}, %i: index {svm.instance}, %x: i32, %p: i1) attributes {svm.shared} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %mask = arith.constant 255 : i32
    %all = arith.constant -1 : i32
)" + body +
         "svm.return\n}\n";
}

TEST(Marks, RestIsOfAnElementOfWhichAPartIsWritten) {
  const std::string load = "%v = memref.load %a[%i] {svm.remainder} : !plain\n",
                    store = "memref.store %w, %a[%i] : !plain\n";
  const std::string elsewhere = "goes elsewhere than back to its element";
  EXPECT_EQ(problem(kernelOf(load + "%m = arith.andi %v, %mask : i32\n%w = arith.ori %m, %x : i32\n" + store)), "");
  EXPECT_EQ(problem(kernelOf(load)), "");
  for (const char* made :
       {"%w = arith.addi %v, %x : i32\n", "%w = arith.ori %v, %x : i32\n", "%w = arith.andi %v, %all : i32\n",
        "%w = arith.andi %v, %v : i32\n", "%w = arith.select %p, %v, %x : i32\n"})
    expectProblem(kernelOf(load + made + store), elsewhere);
  expectProblem(kernelOf(load + "memref.store %v, %a[%i] : !plain\n"), elsewhere);
  expectProblem(kernelOf(load + "%w = arith.andi %v, %mask : i32\nmemref.store %w, %a[%c0] : !plain\n"), elsewhere);
  expectProblem(kernelOf(load + "%w = arith.andi %v, %mask : i32\nmemref.store %w, %flag[%i] : !cut\n"), elsewhere);
  expectProblem(kernelOf(load + "%c = arith.cmpi eq, %v, %zero : i32\n"), elsewhere);
  const std::string record = "memref<?x!svm.record<\"r\", a: i32, b: i32>, strided<[1], offset: ?>>\n";
  const std::string whole = "%v = memref.load %r[%i] {svm.remainder} : " + record,
                    back = "memref.store %w, %r[%i] : " + record;
  EXPECT_EQ(
      problem(kernelOf(whole + "%w = svm.with_field %v[1] = %x : i32 in !svm.record<\"r\", a: i32, b: i32>\n" + back)),
      "");
  expectProblem(
      kernelOf(whole +
               "%f = svm.field %v[1] : !svm.record<\"r\", a: i32, b: i32> -> i32\nmemref.store %f, %a[%i] : !plain\n"),
      elsewhere);
}

TEST(Marks, RestOfAStoreIsThatOfItsLoad) {
  const std::string load = "%v = memref.load %a[%i] {svm.remainder} : !plain\n";
  EXPECT_EQ(problem(kernelOf(load + "memref.store %v, %a[%c0] {svm.remainder} : !plain\n")), "");
  expectProblem(kernelOf("memref.store %x, %a[%c0] {svm.remainder} : !plain\n"),
                "on the store of what that load reads");
  expectProblem(kernelOf("%v = memref.load %a[%i] : !plain\nmemref.store %v, %a[%c0] {svm.remainder} : !plain\n"),
                "on the store of what");
  expectProblem(
      kernelOf(
          load +
          "%w = memref.load %a[%c0] {svm.remainder} : !plain\nmemref.store %v, %a[%c0] {svm.remainder} : !plain\n"),
      "on the store of what");
}

TEST(Marks, ComparedIsWhatIsStoredNext) {
  const std::string begin =
      "%changed = memref.alloca() : memref<i1>\n%v = memref.load %flag[%i] {svm.compared} : !cut\n"
      "%d = arith.cmpi ne, %v, %x : i32\n%old = memref.load %changed[] : memref<i1>\n"
      "%new = arith.ori %old, %d : i1\nmemref.store %new, %changed[] : memref<i1>\n";
  const std::string poll = "%c = memref.load %changed[] : memref<i1>\nsvm.poll changed %c\n";
  const std::string wrong = "is not compared, for 'svm.poll' alone, with what is stored there next";
  EXPECT_EQ(problem(kernelOf(begin + "memref.store %x, %flag[%i] : !cut\n" + poll)), "");
  expectProblem(kernelOf(begin + poll), wrong);
  expectProblem(kernelOf(begin + "memref.store %zero, %flag[%i] : !cut\n" + poll), wrong);
  expectProblem(kernelOf(begin + "memref.store %x, %flag[%c0] : !cut\n" + poll), wrong);
  expectProblem(kernelOf(begin + "memref.store %x, %flag[%i] : !cut\n%w = arith.select %d, %x, %zero : "
                                 "i32\nmemref.store %w, %a[%i] : !plain\n"),
                wrong);
  expectProblem(kernelOf(begin + "memref.store %x, %flag[%i] : !cut\n%c = memref.load %changed[] : memref<i1>\n"
                                 "svm.poll changed %p state(%c : i1)\n"),
                wrong);
  expectProblem(kernelOf("%v = memref.load %flag[%i] {svm.compared} : !cut\nmemref.store %v, %a[%i] : !plain\n"),
                "not only compared");
}

TEST(Marks, AwaitedDecidesALoopAndIsFenced) {
  const std::string head = "scf.while : () -> () {\n%v = memref.load %flag[%i] {svm.awaited} : !cut\n";
  const std::string condition = "%w = arith.cmpi eq, %v, %zero : i32\nscf.condition(%w)\n} do {\n";
  const std::string end = "svm.pause\nscf.yield\n}\n", touch = "%t = memref.load %flag[%c0] : !cut\n",
                    fence = "svm.fence\n";
  EXPECT_EQ(problem(kernelOf(head + condition + end + fence + touch)), "");
  EXPECT_EQ(problem(kernelOf(head + fence + touch + condition + end + touch.substr(0, 2) + "2" + touch.substr(2))), "");
  EXPECT_EQ(problem(kernelOf(head + condition + end)), "");
  const std::string unfenced = "touches memory before an 'svm.fence'", undecided = "no loop waits with it";
  expectProblem(kernelOf(head + condition + end + touch + fence), unfenced);
  expectProblem(kernelOf(head + touch + condition + end + fence), unfenced);
  expectProblem(kernelOf(head + condition + touch + end + fence), unfenced);
  expectProblem(
      kernelOf("%v = memref.load %flag[%i] {svm.awaited} : !cut\nsvm.fence\nmemref.store %v, %a[%i] : !plain\n"),
      undecided);
  expectProblem(
      kernelOf(
          "%c1 = arith.constant 1 : index\nscf.for %j = %c0 to %i step %c1 {\n%u = memref.load %flag[%j] : !cut\n" +
          head + condition + end + "}\n"),
      unfenced);
}

TEST(Marks, StandWhereTheyMeanSomething) {
  EXPECT_EQ(
      problem(kernelOf("%s = arith.addi %x, %x {svm.signed} : i32\n%v = memref.load %a[%i] {svm.kept} : !plain\n")),
      "");
  expectProblem(kernelOf("%s = arith.andi %x, %x {svm.signed} : i32\n"),
                "is no sum, difference or product of integers");
  expectProblem(kernelOf("memref.store %x, %a[%i] {svm.kept} : !plain\n"), "is no load");
  expectProblem(kernelOf("%m = memref.alloca() : memref<i32>\n%v = memref.load %m[] {svm.kept} : memref<i32>\n"),
                "is no load from a block of copies");
  expectProblem(kernelOf("%s = arith.addi %x, %x {svm.remainder} : i32\n"), "is no load or store");
  expectProblem(kernelOf("%s = arith.addi %x, %x {svm.compared} : i32\n"), "is no load");
  expectProblem(kernelOf("memref.store %x, %flag[%i] {svm.awaited} : !cut\n"), "is no load");
}

TEST(Marks, LayoutIsAboutHowABlockLies) {
  const std::string layout =
      "%b, %o, %n, %s = memref.extract_strided_metadata %a : !plain -> memref<i32>, index, index, index\n";
  EXPECT_EQ(
      problem(kernelOf(layout + "%h = arith.cmpi eq, %s, %c0 : index\nsvm.check %h, \"c\", \"m\" {svm.layout}\n")), "");
  expectProblem(kernelOf(layout + "%h = arith.cmpi eq, %s, %i : index\nsvm.check %h, \"c\", \"m\" {svm.layout}\n"),
                "follows from more than how a block lies");
  expectProblem(kernelOf("svm.check %p, \"c\", \"m\" {svm.layout}\n"), "follows from more than how a block lies");
}

TEST(DistributedBlocks, AreNoArgumentsOfFunctions) {
  expectProblem("func.func private @f(%a: !cut) { return }", "uses a distributed block");
}

TEST(DistributedBlocks, AreNotTouchedByControlCode) {
  expectProblem(R"(func.func @main(%n: index) {
      %b = svm.block "A"(%n) : !cut
      %v = memref.load %b[%n] : !cut
      return
    })",
                "uses a distributed block; such blocks are made and moved as a whole, given to kernels");
}

TEST(DistributedBlocks, HaveOneIndexForEachDimension) {
  expectProblem(
      R"(svm.kernel @k(%a: memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.dist<"l"[4] per 1, (i) -> (i) at (i) -> (0)>> {svm.access = "read"}) {
      svm.return
    })",
      "uses a block of 2 dimensions whose distribution maps 1 indices");
}

TEST(DistributedBlocks, AreNotInNamedMemories) {
  expectProblem(R"(func.func @main(%n: index) {
      %b = svm.block "A"(%n) : memref<?xi32, strided<[1], offset: ?>, #svm.mem<@ls>>
      return
    })",
                "uses a block in a named memory");
}

TEST(Names, AreShownAsTheyStand) {
  EXPECT_EQ(problem("func.func @\"a b{x}\"() { return }"), "");
  expectProblem("func.func @\"a{0}\"() { return }", "has a name that has a number in braces");
  expectProblem("func.func @\"\"() { return }", "has a name that is empty");
  expectProblem("func.func @\"a\\00b\"() { return }", "has a name that has a zero character");
  expectProblem("func.func @f() attributes {svm.entry, svm.sizes = [\"\"]} { return }",
                "has a name in 'svm.sizes' that is empty");
}

TEST(Spans, AreOfNoNegativeNumberOfInstances) {
  const auto program = [](const std::string& count) {
    return "func.func @f() {\n%n = arith.constant " + count + " : index\nsvm.span \"s\" of %n {\n}\nreturn\n}";
  };
  EXPECT_EQ(problem(program("0")), "");
  expectProblem(program("-1"), "is of -1 instances; there are 0 or more");
}

TEST(DeclaredFunctions, AreAllThatKernelsCall) {
  expectProblem(R"(
    func.func @here() { return }
    svm.kernel @k() {
      func.call @here() : () -> ()
      svm.return
    })",
                "calls 'here' from a kernel; kernels call declared functions only");
}

const std::string writer = R"(
    svm.kernel @fill(%x: !plain {svm.access = "write"}) {
      %c0 = arith.constant 0 : index
      %v = arith.constant 7 : i32
      memref.store %v, %x[%c0] : !plain
      svm.return
    }
    func.func @set(%x: !plain) {
      svm.run @fill(%x) : (!plain) -> ()
      return
    })";

TEST(ReadArguments, OfKernelsAreNotStoredTo) {
  for (std::string store :
       {"memref.store %v, %x[%c0] : !plain", "affine.store %v, %x[0] : !plain",
        "%y = memref.subview %x[0] [%c1] [1] : !plain to !plain\n memref.store %v, %y[%c0] : !plain",
        "%y = memref.cast %x : !plain to !plain\n memref.store %v, %y[%c0] : !plain"})
    expectProblem(R"(svm.kernel @k(%x: !plain {svm.access = "read", svm.name = "x"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %v = arith.constant 7 : i32
      scf.for %i = %c0 to %c1 step %c1 {
        )" + store + "\n } svm.return }",
                  "writes 'x' of 'k', which says \"read\" of it");
}

TEST(ReadArguments, OfFunctionsAreWrittenByNothingThatIsDoneWithThem) {
  for (std::string use :
       {"memref.store %v, %a[%c0] : !plain", "svm.move %b to %a : !plain to !plain",
        "svm.run @fill(%a) : (!plain) -> ()", "func.call @set(%a) : (!plain) -> ()",
        "%part = memref.subview %a[%c0] [%c0] [1] : !plain to !plain\n svm.run @fill(%part) : (!plain) -> ()",
        "%part = memref.subview %a[%c0] [%c0] [1] : !plain to !plain\n svm.move %b to %part : !plain to !plain",
        "svm.parallel (%i) = (%c0) to (%c0) reduce(%p = %a : !plain with #svm.combiner<@two, \"two\">) {}"})
    expectProblem(writer + R"(
    func.func @two(%x: !plain {svm.access = "read"}, %y: !plain {svm.access = "readwrite"}) { return }
    func.func @main(%a: !plain {svm.access = "read", svm.name = "A"}, %b: !plain {svm.access = "readwrite"}) attributes {svm.entry} {
      %c0 = arith.constant 0 : index
      %v = arith.constant 7 : i32
      )" + use + "\n return }",
                  "writes 'A' of 'main'");
}

TEST(ReadArguments, MayBeReadInEveryWay) {
  EXPECT_EQ(problem(writer + R"(
    svm.kernel @look(%x: !plain {svm.access = "read"}, %y: !plain {svm.access = "write"}) {
      %c0 = arith.constant 0 : index
      %part = memref.subview %x[%c0] [%c0] [1] : !plain to !plain
      %v = memref.load %part[%c0] : !plain
      memref.store %v, %y[%c0] : !plain
      svm.return
    }
    func.func @see(%x: !plain) { return }
    func.func @main(%a: !plain {svm.access = "read"}, %b: !plain {svm.access = "readwrite"}) attributes {svm.entry} {
      svm.run @look(%a, %b) : (!plain, !plain) -> ()
      svm.move %a to %b : !plain to !plain
      func.call @see(%a) : (!plain) -> ()
      func.call @set(%b) : (!plain) -> ()
      return
    })"),
            "");
}

// What the bodies below begin with, and do to the argument %x that is "write".
const std::string constantsOfBody = R"(
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      )",
                  loadX = "%v = memref.load %x[%c0] : !plain\n", storeX = "memref.store %one, %x[%c0] : !plain\n",
                  partOfX = "%part = memref.subview %x[%c0] [%c1] [1] : !plain to !plain\n";

/// A kernel with an argument that is "write".
std::string outOf(const std::string& body, const std::string& attributes = "") {
  return R"(svm.kernel @k(%x: !plain {svm.access = "write", svm.name = "x"}, %y: !plain {svm.access = "readwrite"}, %p: i1))" +
         attributes + " {" + constantsOfBody + body + "\nsvm.return\n}";
}

TEST(WriteArguments, OfKernelsAreNotReadBeforeTheyAreWritten) {
  const std::string said = "reads 'x' of 'k' before anything is written to it";
  expectProblem(outOf(loadX), said);
  expectProblem(outOf(loadX + storeX), said);
  expectProblem(outOf(partOfX + "%v = memref.load %part[%c0] : !plain\n" + storeX), said);
  expectProblem(outOf("%v = affine.load %x[0] : !plain\n" + storeX), said);
  expectProblem(
      outOf("scf.for %i = %c0 to %c1 step %c1 {\n" + loadX + "memref.store %v, %y[%c0] : !plain\n}\n" + storeX), said);
  expectProblem(outOf("scf.if %p {\n" + loadX + "}\n" + storeX), said);
  // It may have been written, by what stands before it, in the round before, or in another region.
  EXPECT_EQ(problem(outOf(storeX + loadX)), "");
  EXPECT_EQ(problem(outOf(partOfX + "memref.store %one, %part[%c0] : !plain\n" + loadX)), "");
  EXPECT_EQ(problem(outOf("scf.if %p {\n" + storeX + "}\n" + loadX)), "");
  EXPECT_EQ(problem(outOf("scf.for %i = %c0 to %c1 step %c1 {\n" + loadX + storeX + "}\n")), "");
  EXPECT_EQ(problem(outOf("%n = memref.dim %x, %c0 : !plain\n" + storeX)), "");
  // Others may have.
  EXPECT_EQ(problem(outOf(loadX + storeX, " attributes {svm.shared}")), "");
  EXPECT_EQ(problem(outOf(loadX + storeX, " attributes {may_alias}")), "");
  EXPECT_EQ(problem(outOf("%v = memref.load %x[%c0] {svm.remainder} : !plain\n")), "");
}

/// A function with an argument that is "write", among what it may run and call.
std::string controlOf(const std::string& body) {
  return R"(
    svm.kernel @get(%x: !plain {svm.access = "readwrite"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = memref.dim %x, %c0 : !plain
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %x[%i] : !plain
        memref.store %v, %x[%i] : !plain
      }
      svm.return
    }
    svm.kernel @set(%x: !plain {svm.access = "readwrite"}) {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      memref.store %one, %x[%c0] : !plain
      %v = memref.load %x[%c0] : !plain
      svm.return
    }
    svm.kernel @perhaps(%x: !plain {svm.access = "readwrite"}, %p: i1, %m: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.if %p {
        %v = memref.load %x[%c0] : !plain
      }
      scf.for %i = %c0 to %m step %c1 {
        %v = memref.load %x[%i] : !plain
      }
      svm.return
    }
    svm.kernel @see(%x: !plain {svm.access = "read"}) {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : !plain
      svm.return
    }
    svm.kernel @other(%x: !plain {svm.access = "read"}) attributes {blackbox = "other"}
    svm.kernel @beside(%x: !plain {svm.access = "readwrite"}) attributes {svm.shared} {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : !plain
      svm.return
    }
    svm.kernel @add(%x: !plain {svm.access = "read"}, %y: !plain {svm.access = "readwrite"}) {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : !plain
      %w = memref.load %y[%c0] : !plain
      %s = arith.addi %v, %w : i32
      memref.store %s, %y[%c0] : !plain
      svm.return
    }
    func.func @inner(%x: !plain) {
      svm.run @get(%x) : (!plain) -> ()
      return
    }
    func.func @again(%x: !plain, %p: i1) {
      scf.if %p {
        func.call @again(%x, %p) : (!plain, i1) -> ()
      }
      return
    }
    func.func @f(%x: !plain {svm.access = "write", svm.name = "x"}, %y: !plain {svm.access = "readwrite"}, %p: i1, %m: index) {)" +
         constantsOfBody + body + "\nreturn\n}";
}

TEST(WriteArguments, OfFunctionsAreNotReadBeforeTheyAreWritten) {
  const std::string length = "%n = memref.dim %x, %c0 : !plain\n",
                    sum = "reduce(%q = %x : !plain with #svm.combiner<@add, \"add\">) {\n";
  auto run = [](const std::string& kernel, const std::string& more = "", const std::string& types = "") {
    return "svm.run @" + kernel + "(%x" + more + ") : (!plain" + types + ") -> ()\n";
  };
  const std::string said = "reads 'x' of 'f' before anything is written to it";
  for (const std::string& read :
       {loadX, run("get"), std::string("svm.move %x to %y : !plain to !plain\n"),
        std::string("svm.gather %x[%y] to %y : !plain[!plain] to !plain\n"),
        std::string("svm.gather %y[%x] to %y : !plain[!plain] to !plain\n"),
        std::string("svm.scatter %x to %y[%y] : !plain to !plain[!plain]\n"),
        std::string("func.call @inner(%x) : (!plain) -> ()\n"), partOfX + "svm.run @get(%part) : (!plain) -> ()\n",
        "svm.scope \"s\" {\n" + loadX + "}\n", length + "scf.for %i = %c0 to %n step %c1 {\n" + loadX + "}\n",
        length + "svm.parallel (%i) = (%c0) to (%n) {\n" + loadX + "}\n",
        length + "svm.parallel (%i) = (%c0) to (%n) " + sum + "%v = memref.load %q[%c0] : !plain\n}\n",
        std::string("%t = svm.run @get(%x) : (!plain) -> !svm.token\nsvm.wait %t\n")}) {
    SCOPED_TRACE(read);
    expectProblem(controlOf(read), said);
    EXPECT_EQ(problem(controlOf(storeX + read)), "");
    EXPECT_EQ(problem(controlOf("scf.if %p {\n" + storeX + "}\n" + read)), "");
  }
  expectProblem(controlOf(loadX + storeX), said);
  // What is executed only where a scalar says so may be executed never.
  EXPECT_EQ(problem(controlOf("scf.if %p {\n" + loadX + "}\n" + storeX)), "");
  EXPECT_EQ(problem(controlOf("scf.for %i = %c0 to %m step %c1 {\n" + loadX + "}\n" + storeX)), "");
  EXPECT_EQ(problem(controlOf("scf.for %i = %c1 to %c0 step %c1 {\n" + loadX + "}\n" + storeX)), "");
  EXPECT_EQ(problem(controlOf("svm.parallel (%i) = (%c0) to (%m) {\n" + loadX + "}\n")), "");
  EXPECT_EQ(problem(controlOf(run("perhaps", ", %p, %m", ", i1, index"))), "");
  EXPECT_EQ(problem(controlOf("func.call @again(%x, %p) : (!plain, i1) -> ()\n")), "");
  // In the first round nothing is written; but a view may have no elements then, or where a scalar says so.
  const std::string part = " [1] : !plain to !plain\nsvm.run @see(%part) : (!plain) -> ()\n",
                    loop = length + "scf.for %i = %c0 to %n step %c1 {\n";
  expectProblem(controlOf(loop + loadX + storeX + "}\n"), said);
  expectProblem(controlOf(loop + "%part = memref.subview %x[%c0] [%i]" + part + "}\n"), said);
  EXPECT_EQ(problem(controlOf(loop + "%part = memref.subview %x[%c0] [%i]" + part + storeX + "}\n")), "");
  EXPECT_EQ(problem(controlOf("%part = memref.subview %x[%c0] [%m]" + part)), "");
  // It may have been written by others; or nothing is known of what reads it.
  EXPECT_EQ(problem(controlOf(run("set"))), "");
  EXPECT_EQ(problem(controlOf(run("other"))), "");
  EXPECT_EQ(problem(controlOf(run("beside"))), "");
  EXPECT_EQ(problem(controlOf("%t = svm.run @get(%x) : (!plain) -> !svm.token\n" + storeX + "svm.wait %t\n")), "");
  EXPECT_EQ(problem(controlOf(length + "svm.parallel (%i) = (%c0) to (%n) " + sum +
                              "memref.store %one, %q[%c0] : !plain\n}\n")),
            "");
  // A copy that hands an argument on is not followed.
  EXPECT_EQ(problem(controlOf("svm.scope \"s\" {\nsvm.move %x to %y {svm.operand = 0} : !plain to !plain\n}\n")), "");
}

TEST(WriteArguments, OfConcurrentInstancesMayBeWrittenByOthers) {
  auto program = [](const std::string& concurrent) {
    return R"(
    func.func @g(%x: !plain {svm.access = "write", svm.name = "x"}) {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : !plain
      memref.store %v, %x[%c0] : !plain
      return
    }
    func.func @f(%x: !plain) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : !plain
      svm.parallel (%i) = (%c0) to (%n) )" +
           concurrent + R"( {
        func.call @g(%x) : (!plain) -> ()
      }
      return
    })";
  };
  EXPECT_EQ(problem(program("concurrent")), "");
  expectProblem(program(""), "reads 'x' of 'g' before anything is written to it");
}

TEST(Instances, WaitAndChangeInKernels) {
  const std::string wait = "svm.barrier\n";
  EXPECT_EQ(problem("svm.kernel @fine() {" + wait + "svm.return }"), "");
  expectProblem("func.func @main() attributes {svm.entry} {" + wait + "return }",
                "stands outside of kernels, which run on instances");
  expectProblem(R"(svm.kernel @k() {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      scf.for %i = %zero to %one step %one {
        svm.barrier
      } {svm.unordered}
      svm.return })",
                "waits for other iterations of an unordered loop, which are no instances");
}

TEST(Memory, IsFoundByFunctions) {
  const std::string find = R"(
      %address = arith.constant 4096 : i64
      %n = arith.constant 4 : index
      %x = svm.memory_at "x" %address(%n) : !plain
      )";
  EXPECT_EQ(problem("func.func @main() attributes {svm.entry} {" + find + "return }"), "");
  expectProblem("svm.kernel @k() {" + find + "svm.return }", "does not belong in a kernel");
}

TEST(Tables, AreConstantAndRead) {
  const auto kernel = [](const std::string& use) {
    return "memref.global \"private\" constant @t : memref<2xi32> = dense<[1, 2]>\n"
           "svm.kernel @k(%a: !plain {svm.access = \"readwrite\"}, %i: index) {\n"
           "%t = memref.get_global @t : memref<2xi32>\n" +
           use + "\nsvm.return }";
  };
  EXPECT_EQ(problem(kernel("%v = memref.load %t[%i] : memref<2xi32>\nmemref.store %v, %a[%i] : !plain")), "");
  expectProblem(kernel("%v = memref.load %a[%i] : !plain\nmemref.store %v, %t[%i] : memref<2xi32>"),
                "is used in another way than by loads in a kernel");
  expectProblem("memref.global \"private\" constant @t : memref<2xi32> = dense<[1, 2]>\n"
                "func.func @main() attributes {svm.entry} { %t = memref.get_global @t : memref<2xi32>\nreturn }",
                "is used in another way than by loads in a kernel");
  for (const char* table :
       {"\"private\" @t : memref<2xi32> = dense<[1, 2]>", "constant @t : memref<2xi32> = dense<[1, 2]>",
        "\"private\" constant @t : memref<2xi32> = uninitialized"})
    expectProblem("memref.global " + std::string(table), "is not private, or not constant, or has no values");
  expectProblem("memref.global \"private\" constant @t : memref<2xindex> = dense<[1, 2]>", "has the type");
  for (const char* shape : {"16777217xi8", "1099511627776xi64", "4294967296x4294967296xi64"})
    expectProblem("memref.global \"private\" constant @t : memref<" + std::string(shape) + "> = dense<1>",
                  "has more than 16777216 bytes");
  EXPECT_EQ(problem("memref.global \"private\" constant @t : memref<16777216xi8> = dense<1>"), "");
}

TEST(Views, OneDimensionIsTakenAsSeveral) {
  const auto program = [](const std::string& to) {
    return R"(func.func @main(%x: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read"}, %n: index) attributes {svm.entry} {
      %v = memref.reinterpret_cast %x to offset: [%n], sizes: [%n, %n], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to )" +
           to + "\nreturn }";
  };
  EXPECT_EQ(problem(program("memref<?x?xf32, strided<[?, 1], offset: ?>>")), "");
}

TEST(Entries, ExtentsAreNoProductsOfSizes) {
  const auto program = [](const std::string& extent) {
    return R"(func.func @main(%x: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read"})
      attributes {svm.entry, svm.sizes = ["m", "n"], svm.extents = [affine_map<()[m, n] -> ()" +
           extent + ")>]} { return }";
  };
  EXPECT_EQ(problem(program("2 * m + n")), "");
  expectProblem(program("m * n"), "that are products of sizes, or divided by one; give these a size of their own");
}

TEST(Loops, WithoutAnOrderAreThoseOfKernels) {
  const std::string loop = R"(
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      scf.for %i = %zero to %one step %one {
      } {svm.unordered}
      )";
  EXPECT_EQ(problem("svm.kernel @fine() {" + loop + "svm.return }"), "");
  expectProblem("func.func @main() attributes {svm.entry} {" + loop + "return }",
                "carries 'svm.unordered', which is said of loops in kernels");
}

TEST(Arguments, AreNotOneBlockTwiceWhereItIsWritten) {
  const std::string kernel = R"(
    svm.kernel @two(%x: !plain {svm.access = "read"}, %y: !plain {svm.access = "readwrite"}) { svm.return }
    func.func @both(%x: !plain, %y: !plain) {
      svm.run @two(%x, %y) : (!plain, !plain) -> ()
      return
    }
    func.func @main(%a: !plain {svm.access = "readwrite"}) attributes {svm.entry} {
      )";
  expectProblem(kernel + "svm.run @two(%a, %a) : (!plain, !plain) -> () return }",
                "gives one block as arguments 0 and 1");
  expectProblem(kernel + "func.call @both(%a, %a) : (!plain, !plain) -> () return }",
                "gives one block as arguments 0 and 1");
  EXPECT_EQ(problem(R"(
    svm.kernel @two(%x: !plain {svm.access = "read"}, %y: !plain {svm.access = "readwrite"}) attributes {may_alias} { svm.return }
    func.func @main(%a: !plain {svm.access = "readwrite"}) attributes {svm.entry} {
      svm.run @two(%a, %a) : (!plain, !plain) -> ()
      return
    })"),
            "");
}

} // namespace
