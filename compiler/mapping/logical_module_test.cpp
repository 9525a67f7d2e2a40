// The frame of a logical program: what a notation builds with it passes the verifier of logical programs, with the
// attributes that the command reads; a body that breaks a rule does not.
#include "compiler/mapping/logical_module.h"
#include "compiler/mapping/mapping_testing.h"

#include <gtest/gtest.h>

namespace strata::mapping {
namespace {

struct LogicalModuleTest : testing::Test {
  LogicalModuleTest() : diagnostics(sources), place(mlir::UnknownLoc::get(&context)), frame(context, place) {}

  /// A kernel that stores a number of the given width into the element of its argument.
  void makeStore(unsigned width) {
    mlir::OpBuilder builder(&context);
    svm::KernelOp kernel = frame.kernel(
        place, "store", {LogicalModule::block(svm::viewType(0, builder.getI32Type()), "x", svm::Access::Write)});
    builder.setInsertionPointToStart(LogicalModule::makeBody(kernel));
    mlir::Value number = builder.create<mlir::arith::ConstantIntOp>(place, 7, width);
    mlir::OperationState store(place, mlir::memref::StoreOp::getOperationName(),
                               {number, kernel.getBody().getArgument(0)}, {}, {});
    builder.create(store);
    builder.create<svm::ReturnOp>(place);
  }

  SourceManager sources;
  DiagnosticEngine diagnostics;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::Location place;
  LogicalModule frame;
};

TEST_F(LogicalModuleTest, HasWhatTheCommandReads) {
  makeStore(32);
  mlir::OpBuilder builder(&context);
  mlir::AffineExpr size = mlir::getAffineSymbolExpr(0, &context);
  mlir::func::FuncOp entry = frame.entry(
      place, "main",
      {LogicalModule::block(svm::viewType(2, builder.getF32Type()), "a", svm::Access::ReadWrite, {size, size * 2}, 1),
       LogicalModule::block(svm::viewType(1, builder.getF32Type()), "b", svm::Access::Read, llvm::ArrayRef<int64_t>{8}),
       LogicalModule::scalar(builder.getI32Type(), "c")},
      {"n"});
  builder.setInsertionPointToStart(&entry.getBody().front());
  builder.create<mlir::func::ReturnOp>(place);
  Record record;
  auto module = frame.finish("toy", nullptr, &record, diagnostics);
  ASSERT_TRUE(module) << diagnostics.render({});
  EXPECT_EQ(svm::SvmDialect::programAttr.of(*module).getValue(), "toy");
  EXPECT_TRUE(svm::SvmDialect::entryAttr.isOn(entry));
  EXPECT_EQ(svm::SvmDialect::accessAttr.of(entry, 1), svm::Access::Read);
  EXPECT_FALSE(svm::SvmDialect::accessAttr.of(entry, 2));
  auto maps = svm::SvmDialect::extentsAttr.of(entry);
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(llvm::cast<mlir::AffineMapAttr>(maps[0]).getValue().getNumResults(), 2u);
  EXPECT_EQ(llvm::cast<mlir::AffineMapAttr>(maps[2]).getValue().getNumResults(), 0u);
}

TEST_F(LogicalModuleTest, ExtentsThatAreNotKnownAreNotStated) {
  mlir::OpBuilder builder(&context);
  mlir::func::FuncOp entry =
      frame.entry(place, "main", {LogicalModule::block(svm::viewType(1, builder.getF32Type()), "", svm::Access::Read)});
  builder.setInsertionPointToStart(&entry.getBody().front());
  builder.create<mlir::func::ReturnOp>(place);
  EXPECT_TRUE(frame.finish("toy", nullptr, nullptr, diagnostics)) << diagnostics.render({});
  EXPECT_FALSE(svm::SvmDialect::extentsAttr.isOn(entry));
  EXPECT_FALSE(svm::SvmDialect::nameAttr.of(entry, 0));
}

TEST_F(LogicalModuleTest, WhatIsNotValidIsReported) {
  makeStore(64);
  EXPECT_FALSE(frame.finish("toy", nullptr, nullptr, diagnostics));
  EXPECT_TRUE(diagnostics.hasErrors());
}

} // namespace
} // namespace strata::mapping
