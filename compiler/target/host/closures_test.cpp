// What parts capture, in programs of the LLVM dialect: what goes by value passes, and addresses on the starter's stack
// are found however they get into a closure.
#include "compiler/target/host/closures.h"

#include "compiler/ir/svm.h"
#include "compiler/target/host/lower.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <string>

namespace strata::host {
namespace {

/// What is said of a program whose starter puts the value that `make` makes into a closure; empty: nothing.
std::string found(const std::string& make, const std::string& type, const std::string& others = "") {
  const std::string program = R"(
    llvm.func @strata_spmd(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr)
    llvm.func @strata_acquire(i64, !llvm.ptr) -> !llvm.ptr
    llvm.func @part(!llvm.ptr, i64)
    )" + others + R"(
    llvm.func @starter(%given: !llvm.ptr, %some: i1) {
      %one = llvm.mlir.constant(1 : i64) : i64
      %word = llvm.mlir.constant(1 : i32) : i32
      %none = llvm.mlir.zero : !llvm.ptr
      %variable = llvm.alloca %one x !llvm.array<4 x f32> : (i64) -> !llvm.ptr
      %closure = llvm.alloca %one x !llvm.struct<(i64, )" +
                              type + R"()> : (i64) -> !llvm.ptr
      )" + make + R"(
      %second = llvm.getelementptr %closure[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, )" +
                              type + R"()>
      llvm.store %one, %closure : i64, !llvm.ptr
      llvm.store %value, %second : )" +
                              type + R"(, !llvm.ptr
      %body = llvm.mlir.addressof @part : !llvm.ptr
      llvm.call @strata_spmd(%body, %closure, %one, %one, %none) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> ()
      llvm.return
    })";
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) { said += diagnostic.str(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program, &context);
  if (!module)
    return "does not parse: " + said;
  svm::setStage(*module, svm::Stage::Lowering);
  mlir::PassManager passes(&context);
  passes.addPass(createVerifyClosuresPass());
  const bool fine = mlir::succeeded(passes.run(*module));
  EXPECT_EQ(fine, said.empty());
  return said;
}

const std::string stack = "a part captures the address of a variable on the stack of its starter";

TEST(Closures, ValuesAndBlocksPass) {
  EXPECT_EQ(found("%value = llvm.load %variable : !llvm.ptr -> f32", "f32"), "");
  EXPECT_EQ(found("%value = llvm.call @strata_acquire(%one, %none) : (i64, !llvm.ptr) -> !llvm.ptr", "!llvm.ptr"), "");
  EXPECT_EQ(found(R"(%empty = llvm.mlir.undef : !llvm.struct<(ptr, i64)>
      %half = llvm.insertvalue %given, %empty[0] : !llvm.struct<(ptr, i64)>
      %value = llvm.insertvalue %one, %half[1] : !llvm.struct<(ptr, i64)>)",
                  "!llvm.struct<(ptr, i64)>"),
            "");
  // An extent is no address, although the description that it is taken from holds one.
  EXPECT_EQ(found(R"(%empty = llvm.mlir.undef : !llvm.struct<(ptr, i64)>
      %half = llvm.insertvalue %variable, %empty[0] : !llvm.struct<(ptr, i64)>
      %described = llvm.insertvalue %one, %half[1] : !llvm.struct<(ptr, i64)>
      %value = llvm.extractvalue %described[1] : !llvm.struct<(ptr, i64)>)",
                  "i64"),
            "");
  // What a caller gives is memory that outlasts its frame.
  EXPECT_EQ(found("%value = llvm.getelementptr %given[1] : (!llvm.ptr) -> !llvm.ptr, f32", "!llvm.ptr",
                  "llvm.func @caller(%list: !llvm.ptr, %some: i1) { %block = llvm.load %list : !llvm.ptr -> !llvm.ptr\n"
                  "llvm.call @starter(%block, %some) : (!llvm.ptr, i1) -> ()\n llvm.return }"),
            "");
}

TEST(Closures, AddressesOnTheStackAreFound) {
  EXPECT_EQ(found("%value = llvm.getelementptr %variable[1] : (!llvm.ptr) -> !llvm.ptr, f32", "!llvm.ptr"), stack);
  EXPECT_EQ(found("%value = llvm.ptrtoint %variable : !llvm.ptr to i64", "i64"), stack);
  EXPECT_EQ(found(R"(%empty = llvm.mlir.undef : !llvm.struct<(ptr, i64)>
      %half = llvm.insertvalue %variable, %empty[0] : !llvm.struct<(ptr, i64)>
      %value = llvm.insertvalue %one, %half[1] : !llvm.struct<(ptr, i64)>)",
                  "!llvm.struct<(ptr, i64)>"),
            stack);
  EXPECT_EQ(found("%value = llvm.select %some, %given, %variable : i1, !llvm.ptr", "!llvm.ptr"), stack);
  EXPECT_EQ(found(R"(llvm.cond_br %some, ^join(%given : !llvm.ptr), ^other
    ^other:
      llvm.br ^join(%variable : !llvm.ptr)
    ^join(%value: !llvm.ptr):)",
                  "!llvm.ptr"),
            stack);
}

TEST(Closures, AddressesThatCallersGiveAreFound) {
  const std::string given = "%value = llvm.getelementptr %given[1] : (!llvm.ptr) -> !llvm.ptr, f32";
  const std::string between = "llvm.func @between(%some: i1, %block: !llvm.ptr) {\n"
                              "llvm.call @starter(%block, %some) : (!llvm.ptr, i1) -> ()\n llvm.return }\n";
  EXPECT_EQ(found(given, "!llvm.ptr", between), "");
  EXPECT_EQ(found(given, "!llvm.ptr",
                  between + "llvm.func @outer(%some: i1) { %one = llvm.mlir.constant(1 : i64) : i64\n"
                            "%slot = llvm.alloca %one x f32 : (i64) -> !llvm.ptr\n"
                            "llvm.call @between(%some, %slot) : (i1, !llvm.ptr) -> ()\n llvm.return }"),
            stack);
}

// The buffers of a pipelined loop take turns, and a function that the loop calls gives them to others: they lie in
// scratch memory, whichever iteration it is.
TEST(Closures, BuffersThatTakeTurnsAreNotOnTheStack) {
  const std::string program = R"(
    !row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>
    module attributes {svm.stage = "scheduled"} {
      func.func private @given(%row: !row) attributes {svm.control = @core} {
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %one = arith.constant 1 : i32
        svm.instances (%p) = (%c0) to (%c2) on @core {
          memref.store %one, %row[%p] : !row
        }
        return
      }
      func.func @f(%n: index) attributes {svm.control = @core, svm.entry} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        svm.scope {
          %a = svm.block "a"(%c4) max [4] : !row
          %b = svm.block "b"(%c4) max [4] : !row
          %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%now = %a, %next = %b) -> (!row, !row) {
            func.call @given(%now) : (!row) -> ()
            scf.yield %next, %now : !row, !row
          }
          func.call @given(%last#0) : (!row) -> ()
        }
        return
      }
    })";
  mlir::DialectRegistry registry;
  svm::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) { said += diagnostic.str(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program, &context);
  ASSERT_TRUE(module) << said;
  EXPECT_TRUE(lowerToLlvmDialect(*module, describeHost(), machine::Figures())) << said;
}

} // namespace
} // namespace strata::host
