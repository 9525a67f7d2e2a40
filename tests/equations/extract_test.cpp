// Kernels as equations compute the same bits as before: each of kernels.mlir through the interpreter as it is, as
// equations and as the loops made of them, on random data of several sizes.
#include "base/source/diagnostic.h"
#include "compiler/equations/dialect/lower_equations.h"
#include "compiler/equations/extract/extract.h"
#include "compiler/equations/extract/extract_equations.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

using namespace strata;

namespace {

class Kernels : public testing::Test {
protected:
  Kernels() : context_(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context_.loadAllAvailableDialects();
    std::ifstream file(STRATA_SOURCE_DIR "/tests/equations/kernels.mlir");
    std::stringstream text;
    text << file.rdbuf();
    all_ = mlir::parseSourceString<mlir::ModuleOp>(text.str(), mlir::ParserConfig(&context_), "kernels.mlir");
  }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry made;
    svm::registerDialects(made);
    return made;
  }

  /// The module with one kernel, and a function that hands its arguments on.
  mlir::OwningOpRef<mlir::ModuleOp> alone(svm::KernelOp kernel) {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::cast<mlir::ModuleOp>(all_->clone());
    for (svm::KernelOp each : llvm::make_early_inc_range(module->getOps<svm::KernelOp>()))
      if (each.getName() != kernel.getName())
        each.erase();
    svm::KernelOp own = *module->getOps<svm::KernelOp>().begin();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
    auto main = builder.create<mlir::func::FuncOp>(own.getLoc(), "main", own.getFunctionType());
    main->setAttr(svm::SvmDialect::entryAttr, builder.getUnitAttr());
    for (unsigned i = 0; i < own.getNumArguments(); ++i)
      for (const mlir::NamedAttribute& each : mlir::function_interface_impl::getArgAttrs(own, i))
        main.setArgAttr(i, each.getName(), each.getValue());
    builder.setInsertionPointToStart(main.addEntryBlock());
    builder.create<svm::RunOp>(own.getLoc(), mlir::Type(), mlir::FlatSymbolRefAttr::get(own.getNameAttr()),
                               main.getArguments(), mlir::ValueRange(), mlir::FlatSymbolRefAttr());
    builder.create<mlir::func::ReturnOp>(own.getLoc());
    return module;
  }

  using Data = std::vector<std::vector<char>>;

  /// What the arguments are afterwards.
  Data run(mlir::ModuleOp module, svm::KernelOp kernel, Data data, const std::vector<std::vector<int64_t>>& extents,
           const std::string& what) {
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    auto interpreter = interpret::Interpreter::create(module, diagnostics, {});
    std::vector<interpret::Argument> arguments;
    for (size_t i = 0; i < data.size(); ++i) {
      if (mlir::isa<mlir::MemRefType>(kernel.getArgumentTypes()[i])) {
        arguments.push_back(interpret::Argument::block(data[i].data(), extents[i]));
        continue;
      }
      uint64_t bits = 0;
      std::memcpy(&bits, data[i].data(), data[i].size());
      arguments.push_back(interpret::Argument::bits(bits));
    }
    EXPECT_TRUE(interpreter->call("main", arguments)) << what << ": " << diagnostics.render({});
    return data;
  }

  void apply(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass, const std::string& what) {
    mlir::PassManager passes(&context_);
    passes.addPass(std::move(pass));
    ASSERT_TRUE(mlir::succeeded(passes.run(module))) << what;
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> all_;
};

TEST_F(Kernels, KeepTheirBits) {
  ASSERT_TRUE(all_);
  std::mt19937 random(7);
  for (svm::KernelOp kernel : all_->getOps<svm::KernelOp>()) {
    const std::string name = kernel.getName().str();
    mlir::OwningOpRef<mlir::ModuleOp> original = alone(kernel), equations = alone(kernel);
    apply(*equations, equations::createExtractEquationsPass(), name);
    ASSERT_EQ((*equations->getOps<svm::KernelOp>().begin()).kind(), svm::KernelKind::Equations) << name;
    mlir::OwningOpRef<mlir::ModuleOp> loops = mlir::cast<mlir::ModuleOp>(equations->clone());
    apply(*loops, equations::createLowerEquationsPass(), name);
    for (int trial = 0; trial < 12; ++trial) {
      std::vector<int64_t> sizes;
      for (int i = 0; i < 3; ++i)
        sizes.push_back(trial < 2 ? trial : static_cast<int64_t>(random() % 9));
      Data data;
      std::vector<std::vector<int64_t>> extents;
      std::string what = name + " with";
      for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
        const mlir::AffineMap map = mlir::cast<mlir::AffineMapAttr>((*kernel.getExtents())[i]).getValue();
        extents.emplace_back();
        size_t count = 1;
        for (const mlir::AffineExpr each : map.getResults()) {
          extents.back().push_back(sizes[mlir::cast<mlir::AffineSymbolExpr>(each).getPosition()]);
          count *= static_cast<size_t>(extents.back().back());
          what += " " + std::to_string(extents.back().back());
        }
        const mlir::Type type = kernel.getArgumentTypes()[i];
        if (type.isIndex()) {
          const uint64_t value = random() % 6;
          what += " " + std::to_string(value);
          data.emplace_back(sizeof value);
          std::memcpy(data.back().data(), &value, sizeof value);
          continue;
        }
        data.emplace_back(4 * count);
        data.back().reserve(1);
        for (size_t at = 0; at < count; ++at) {
          const float real = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 977.0f;
          const auto integer = static_cast<int32_t>(random());
          const bool isReal = mlir::getElementTypeOrSelf(type).isF32();
          std::memcpy(data.back().data() + 4 * at, isReal ? static_cast<const void*>(&real) : &integer, 4);
        }
      }
      const Data expected = run(*original, kernel, data, extents, what);
      EXPECT_EQ(run(*equations, kernel, data, extents, what + " as equations"), expected) << what;
      EXPECT_EQ(run(*loops, kernel, data, extents, what + " as loops"), expected) << what;
    }
  }
}

TEST_F(Kernels, BecomeForwardGraphs) {
  ASSERT_TRUE(all_);
  for (svm::KernelOp kernel : all_->getOps<svm::KernelOp>()) {
    SourceManager sources;
    equations::Refusal refusal;
    const std::optional<equations::Extraction> made = equations::extract(kernel, sources, refusal);
    ASSERT_TRUE(made) << kernel.getName().str() << ": " << refusal.reason;
    EXPECT_TRUE(made->isForward) << kernel.getName().str();
  }
}

TEST_F(Kernels, AreRefusedWithAReason) {
  const char* text = R"(
    svm.kernel @gather(%x: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read"},
                       %at: memref<?xi32, strided<[1], offset: ?>> {svm.access = "read"},
                       %y: memref<?xf32, strided<[1], offset: ?>> {svm.access = "write"}) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = memref.dim %y, %c0 : memref<?xf32, strided<[1], offset: ?>>
      scf.for %i = %c0 to %n step %c1 {
        %k = memref.load %at[%i] : memref<?xi32, strided<[1], offset: ?>>
        %j = arith.index_cast %k : i32 to index
        %v = memref.load %x[%j] : memref<?xf32, strided<[1], offset: ?>>
        memref.store %v, %y[%i] : memref<?xf32, strided<[1], offset: ?>>
      }
      svm.return
    })";
  SourceManager sources;
  sources.add("gather.mlir", text, SourceKind::Program);
  DiagnosticEngine diagnostics(sources);
  diagnostics.enableRemarks(true);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context_), "gather.mlir");
  ASSERT_TRUE(module);
  svm::KernelOp kernel = *module->getOps<svm::KernelOp>().begin();
  equations::Refusal refusal;
  EXPECT_FALSE(equations::extract(kernel, sources, refusal));
  equations::report(refusal, kernel, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_STREQ(diagnostics.all()[0].kind->code, "equations-extract");
  EXPECT_EQ(diagnostics.all()[0].message, "kernel 'gather' has no equations: an index is not affine");
  const Location place = diagnostics.all()[0].labels.at(0).location;
  EXPECT_EQ(sources.buffer(place.buffer).lineColumn(place.begin).line, 11u);
}

const char* const sized = R"(
  !v = memref<?xf32, strided<[1], offset: ?>>
  !m = memref<?x?xf32, strided<[?, 1], offset: ?>>
  svm.kernel @total(%x: !m {svm.access = "read", svm.name = "x"}, %y: memref<f32, strided<[], offset: ?>> {svm.access = "write", svm.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %x, %c0 : !m
    %n = memref.dim %x, %c1 : !m
    %all = scf.for %i = %c0 to %m step %c1 iter_args(%s = %zero) -> f32 {
      %row = scf.for %j = %c0 to %n step %c1 iter_args(%r = %s) -> f32 {
        %a = memref.load %x[%i, %j] : !m
        %sum = arith.addf %r, %a : f32
        scf.yield %sum : f32
      }
      scf.yield %row : f32
    }
    memref.store %all, %y[] : memref<f32, strided<[], offset: ?>>
    svm.return
  }
  svm.kernel @rows(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "readwrite", svm.name = "y"},
                   %width: index {svm.name = "width"}, %begin: index {svm.name = "begin"}, %end: index {svm.name = "end"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      scf.for %j = %c0 to %width step %c1 {
        %row = arith.muli %i, %width : index
        %at = arith.addi %row, %j : index
        %a = memref.load %x[%at] : !v
        memref.store %a, %y[%at] : !v
      }
    }
    svm.return
  })";

TEST_F(Kernels, SizesThatAreNumbersMakeThemUniform) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(sized, mlir::ParserConfig(&context_));
  ASSERT_TRUE(module);
  SourceManager sources;
  equations::Refusal refusal;
  auto total = module->lookupSymbol<svm::KernelOp>("total");
  const equations::KernelSize width{0, 1};
  const auto symbolic = equations::extract(total, sources, refusal);
  ASSERT_TRUE(symbolic) << refusal.reason;
  EXPECT_EQ(symbolic->spans, (std::vector<equations::KernelSize>{width}));
  const auto numbered = equations::extract(total, sources, refusal, {{{width, {3, 3}}}, false, {}});
  ASSERT_TRUE(numbered) << refusal.reason;
  EXPECT_TRUE(numbered->spans.empty());
  bool goesBack = false; // from the end of a row to the beginning of the next
  for (const equations::Node& node : numbered->graph.nodes)
    for (const equations::Operand& operand : node.operands)
      if (const auto* use = std::get_if<equations::Use>(&operand))
        goesBack |= use->distance == std::vector<int64_t>{1, -2};
  EXPECT_TRUE(goesBack);

  auto rows = module->lookupSymbol<svm::KernelOp>("rows");
  EXPECT_FALSE(equations::extract(rows, sources, refusal));
  EXPECT_EQ(refusal.reason, "an index is not affine");
  const equations::KernelSize factor{2, std::nullopt}, begin{3, std::nullopt}, end{4, std::nullopt};
  EXPECT_EQ(refusal.sizes, (std::vector<equations::KernelSize>{factor}));
  // Without rows, begin and end may be anything: that is left out, or there is no simple condition.
  const equations::Known known = {{factor, {4, 4}}};
  EXPECT_FALSE(equations::extract(rows, sources, refusal, {known, false, {}}));
  EXPECT_NE(refusal.reason.find("no simple condition"), std::string::npos) << refusal.reason;
  for (const bool areWanted : {false, true}) {
    equations::ExtractOptions options{known, true, {}};
    if (areWanted)
      options.wanted = {{begin, 2}, {end, 5}};
    const auto made = equations::extract(rows, sources, refusal, options);
    ASSERT_TRUE(made) << refusal.reason;
    EXPECT_TRUE(made->leavesOut);
    EXPECT_TRUE(made->graph.outputs[0].isPartial);
  }
}

} // namespace
