// What logical programs may do with distributed blocks and with functions that they only declare, and what they may not
// say of loops.
#include "compiler/ir/verify_logical.h"

#include "compiler/ir/svm.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace strata;

namespace {

/// What the verifier says, or an empty text.
std::string problem(const std::string& program) {
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) { said += diagnostic.str(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "!cut = memref<?xi32, strided<[1], offset: ?>, #svm.dist<\"l\"[4] per 1, (i) -> (i) at (i) -> (0)>>\n"
      "!plain = memref<?xi32, strided<[1], offset: ?>>\n" +
          program,
      mlir::ParserConfig(&context));
  EXPECT_TRUE(module) << said;
  if (module && succeeded(svm::verifyLogical(*module)))
    EXPECT_EQ(said, "");
  else
    EXPECT_NE(said, "");
  return said;
}

void expectProblem(const std::string& program, const std::string& part) {
  std::string said = problem(program);
  EXPECT_NE(said.find(part), std::string::npos) << said;
}

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

const std::string source = R"(svm.llvm_source @c "define i32 @twice(i32 %x) { ret i32 %x }")";

TEST(DeclaredFunctions, AreDefinedInAnLlvmSource) {
  std::string call = R"(
    func.func private @twice(i32) -> i32
    svm.kernel @k(%x: i32) {
      %y = func.call @twice(%x) : (i32) -> i32
      svm.return
    })";
  EXPECT_EQ(problem(source + call), "");
  expectProblem(call, "has no body; what a program calls is part of it, or in an LLVM source of it");
}

TEST(DeclaredFunctions, ArePrivateAndTakeScalars) {
  expectProblem(source + "func.func private @twice(!plain)", "takes or gives other than C's scalars");
  expectProblem(source + "func.func private @twice(i32) -> (i32, i32)", "takes or gives other than C's scalars");
  expectProblem(source + "func.func private @twice(i32) -> i32 attributes {svm.entry}",
                "is declared and seen from outside");
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
        "svm.spmd (%i) = (%c0) to (%c0) reduce(%p = %a : !plain with #svm.combiner<@two, \"two\">) {}"})
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
}

} // namespace
