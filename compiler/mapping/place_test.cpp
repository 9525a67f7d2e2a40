// Placement, scheduling and their verifiers, on small programs in the dialect and a machine of two levels written out
// here.
#include "compiler/mapping/mapping_testing.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"

using namespace strata;
using mlir::ModuleOp;

namespace {

constexpr const char* machineText = R"(
machine: duo
memories:
  - {name: main, capacity: available, explicit: true}
  - {name: store, capacity: 4K, count: 4, alignment: 16, explicit: true}
processors:
  - {name: boss, kind: control, masters: [boss]}
  - {name: worker, kind: stream, count: 4, local: [store], masters: [boss]}
links:
  - {name: bus, ends: [boss, worker, main]}
levels:
  - {level: 0, memory: store, processor: worker}
  - {level: 1, memory: main, processor: boss}
)";

struct PlaceTest : MappingTest {
  PlaceTest() : MappingTest(machineText) {}

  /// With the kernel @k in front.
  mlir::OwningOpRef<ModuleOp> parse(const std::string& body, const std::string& stage = "logical") {
    return MappingTest::parse(kernel + body, stage);
  }

  static constexpr const char* kernel = R"(
    svm.kernel @k(%a: memref<?xf32, #v> {svm.access = "readwrite", svm.name = "A"}) { svm.return }
)";

  // One call of @k on `elements` elements of an array, copied to a block.
  static std::string program(const std::string& elements, const std::string& bound,
                             const std::string& attributes = "svm.entry") {
    return R"(
    func.func @main(%a: memref<?xf32, #v> {svm.access = "readwrite", svm.name = "A"}) attributes {)" +
           attributes + R"(} {
      %n = arith.constant )" +
           elements + R"( : index
      %zero = arith.constant 0 : index
      %two = arith.constant 2 : index
      svm.parallel "i" (%i) = (%zero) to (%two) {
        svm.scope "k#0" disjoint {
          %view = memref.subview %a[%i] [%n] [1] : memref<?xf32, #v> to memref<?xf32, #v>
          %b = svm.block "k#0.A" (%n) )" +
           bound + R"( : memref<?xf32, #v>
          svm.move %view to %b : memref<?xf32, #v> to memref<?xf32, #v>
          svm.run @k(%b) : (memref<?xf32, #v>) -> ()
          svm.move %b to %view : memref<?xf32, #v> to memref<?xf32, #v>
        }
      }
      return
    }
)";
  }

  static mapping::Record onWorkers(int64_t parts = 2) {
    mapping::Record record;
    mapping::FunctionPlacement& main = record.functions["main"];
    main.control = "boss";
    main.arguments = {"main"};
    main.blocks["k#0.A"] = "store";
    main.loops["i"].processor = "worker";
    main.loops["i"].parts = {parts};
    main.loops["i"].chunk = {1};
    main.calls["k#0"] = {"worker", ""};
    return record;
  }
};

TEST_F(PlaceTest, PutsBlocksLoopsAndRunsWhereTheRecordSays) {
  auto module = parse(program("16", "max [16]"));
  ASSERT_TRUE(mapping::place(*module, onWorkers(), machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyPlaced(*module, machine, diagnostics)) << text();
  module->walk([](svm::BlockOp block) { EXPECT_EQ(svm::memoryOf(block.getBlock().getType()), "store"); });
  module->walk([](svm::RunOp run) { EXPECT_EQ(*run.getProcessor(), "worker"); });
  module->walk([](svm::ParallelOp loop) { EXPECT_EQ(*loop.getProcessor(), "worker"); });
  EXPECT_EQ(svm::stageOf(*module), svm::Stage::Placed);
}

TEST_F(PlaceTest, WithoutARecordAllGoesWhereControlIs) {
  auto module = parse(program("16", "max [16]"));
  ASSERT_TRUE(mapping::place(*module, {}, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyPlaced(*module, machine, diagnostics)) << text();
  module->walk([](svm::BlockOp block) { EXPECT_EQ(svm::memoryOf(block.getBlock().getType()), "main"); });
}

TEST_F(PlaceTest, MarksCallsThatStayCallsAndCopiesThatStay) {
  auto module = parse(program("16", "max [16]"));
  mapping::Record record = onWorkers();
  record.functions["main"].calls["k#0"].dynamic = true;
  record.functions["main"].calls["k#0"].keep = {0};
  ASSERT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  module->walk([](svm::RunOp run) { EXPECT_TRUE(svm::SvmDialect::dynamicAttr.isOn(run)); });
  unsigned kept = 0;
  module->walk([&](svm::MoveOp move) { kept += svm::SvmDialect::keepAttr.isOn(move); });
  EXPECT_EQ(kept, 2u);
  auto again = parse(program("16", "max [16]"));
  record.functions["main"].calls["k#0"].keep = {1};
  EXPECT_FALSE(mapping::place(*again, record, machine, diagnostics));
  EXPECT_TRUE(reported("placement-kept-argument"));
}

TEST_F(PlaceTest, TheRecordReadsBackFromItsAttribute) {
  mapping::Record record = onWorkers();
  record.functions["main"].loops["i"].stages = 2;
  record.functions["main"].loops["i"].unroll = 3;
  record.functions["main"].loops["j"].flatten = true;
  record.functions["main"].loops["j"].place = {"x.map", 3, 4};
  record.functions["main"].calls["k#0"].dynamic = true;
  record.functions["main"].calls["k#0"].keep = {0, 2};
  std::string error;
  auto back = mapping::fromAttribute(mapping::toAttribute(record, context.get()), error);
  ASSERT_TRUE(back) << error;
  EXPECT_EQ(*back, record);
}

TEST_F(PlaceTest, ARecordThatIsNoneSaysWhere) {
  std::string error;
  auto attribute =
      llvm::cast<mlir::DictionaryAttr>(mlir::parseAttribute("{main = {loops = {i = {parts = -1}}}}", context.get()));
  EXPECT_FALSE(mapping::fromAttribute(attribute, error));
  EXPECT_NE(error.find("main / loops / i / parts"), std::string::npos) << error;
  for (const char* text : {"{main = {calls = {k = {keep = 3}}}}", "{main = {calls = {k = {keep = array<i64: -1>}}}}",
                           "{main = {calls = {k = {dynamic = 1}}}}"}) {
    error.clear();
    auto wrong = llvm::cast<mlir::DictionaryAttr>(mlir::parseAttribute(text, context.get()));
    EXPECT_FALSE(mapping::fromAttribute(wrong, error));
    EXPECT_NE(error.find("main / calls / k"), std::string::npos) << error;
  }
}

TEST_F(PlaceTest, NamesThatAreNotOnTheMachine) {
  auto module = parse(program("16", "max [16]"));
  mapping::Record record = onWorkers();
  record.functions["main"].blocks["k#0.A"] = "stor";
  record.functions["main"].calls["k#0"].processor = "workr";
  EXPECT_FALSE(mapping::place(*module, record, machine, diagnostics));
  EXPECT_TRUE(reported("placement-unknown-memory"));
  EXPECT_TRUE(reported("placement-unknown-processor"));
  EXPECT_NE(text().find("did you mean 'store'?"), std::string::npos);
}

TEST_F(PlaceTest, NamesThatAreNotInTheProgram) {
  auto module = parse(program("16", "max [16]"));
  mapping::Record record = onWorkers();
  record.functions["main"].loops["j"].processor = "worker";
  record.functions["main"].arguments = {"main", "main"};
  EXPECT_FALSE(mapping::place(*module, record, machine, diagnostics));
  EXPECT_TRUE(reported("placement-unknown-label"));
  EXPECT_TRUE(reported("placement-argument-count"));
  diagnostics.clear();
  record = {};
  record.functions["mani"];
  auto again = parse(program("16", "max [16]"));
  EXPECT_FALSE(mapping::place(*again, record, machine, diagnostics));
  EXPECT_TRUE(reported("placement-unknown-function"));
}

TEST_F(PlaceTest, MorePartsThanProcessorsWithStores) {
  auto module = parse(program("16", "max [16]"));
  EXPECT_FALSE(mapping::place(*module, onWorkers(5), machine, diagnostics));
  EXPECT_TRUE(reported("placement-too-many-parts"));
  diagnostics.clear();
  auto fits = parse(program("16", "max [16]"));
  EXPECT_TRUE(mapping::place(*fits, onWorkers(4), machine, diagnostics)) << text();
}

TEST_F(PlaceTest, AGridOfMoreDimensionsThanTheLoop) {
  mapping::Record record = onWorkers(2);
  record.functions["main"].loops["i"].parts = {2, 2};
  auto module = parse(program("16", "max [16]"));
  EXPECT_FALSE(mapping::place(*module, record, machine, diagnostics));
  EXPECT_TRUE(reported("placement-loop-dimensions")) << text();
  EXPECT_NE(text().find("'i' of 1 dimension(s)"), std::string::npos) << text();
}

TEST_F(PlaceTest, ARecordsNumbersForEachDimensionReadBack) {
  mapping::Record record = onWorkers(2);
  mapping::LoopPlacement& loop = record.functions["main"].loops["i"];
  loop.parts = {2, 3};
  loop.chunk = {0, 4};
  loop.first = 1;
  loop.width = 2;
  std::string error;
  EXPECT_EQ(mapping::fromAttribute(mapping::toAttribute(record, context.get()), error), record) << error;
  for (const char* wrong : {"parts = [1, 0]", "parts = \"x\"", "chunk = [-1]", "subset = [1]", "subset = [0, 0]"}) {
    auto attribute = llvm::cast<mlir::DictionaryAttr>(
        mlir::parseAttribute("{main = {loops = {i = {" + std::string(wrong) + "}}}}", context.get()));
    EXPECT_FALSE(mapping::fromAttribute(attribute, error)) << wrong;
  }
}

TEST_F(PlaceTest, AMachineWithoutControl) {
  Machine none = machine;
  none.levels.clear();
  for (machine::Processor& processor : none.processors)
    processor.masters.clear();
  auto module = parse(program("16", "max [16]"));
  EXPECT_FALSE(mapping::place(*module, {}, none, diagnostics));
  EXPECT_TRUE(reported("placement-no-processor"));
}

TEST_F(PlaceTest, AnEntryPointsArraysMustBeReachableFromOutside) {
  auto module = parse(program("16", "max [16]"));
  mapping::Record record = onWorkers();
  record.functions["main"].arguments = {"store"};
  EXPECT_FALSE(mapping::place(*module, record, machine, diagnostics));
  EXPECT_TRUE(reported("placement-entry-memory"));
  EXPECT_NE(text().find("place the entry point's arrays in 'main' (level 1)"), std::string::npos) << text();
}

TEST_F(PlaceTest, ARunMustReachItsBlocks) {
  auto module = parse(program("16", "max [16]"));
  mapping::Record record = onWorkers();
  record.functions["main"].blocks["k#0.A"] = "main"; // the workers' code cannot touch it
  EXPECT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  EXPECT_FALSE(mapping::verifyPlaced(*module, machine, diagnostics));
  EXPECT_TRUE(reported("placed-out-of-reach"));
}

TEST_F(PlaceTest, AFunctionTakesAnArgumentInOneMemory) {
  const std::string text_ = R"(
    func.func @work(%x: memref<?xi32, strided<[1], offset: ?>>) { return }
    func.func @main(%n: index) attributes {svm.entry} {
      %x = svm.block "x"(%n) max [16] : memref<?xi32, strided<[1], offset: ?>>
      func.call @work(%x) : (memref<?xi32, strided<[1], offset: ?>>) -> ()
      return
    })";
  mapping::Record record;
  record.functions["main"].blocks["x"] = "store";
  auto module = parse(text_);
  ASSERT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  EXPECT_FALSE(mapping::verifyPlaced(*module, machine, diagnostics));
  EXPECT_TRUE(reported("placed-argument-elsewhere"));
  EXPECT_NE(text().find("takes its argument 0 in 'main', and is given 'x', which lies in 'store'"), std::string::npos)
      << text();

  diagnostics.clear();
  record.functions["work"].arguments = {"store"};
  module = parse(text_);
  ASSERT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyPlaced(*module, machine, diagnostics)) << text();
}

TEST_F(PlaceTest, TheSurroundingProgramsMemoryIsOfAnySize) {
  const std::string text_ = R"(
    func.func @main(%address: i64, %n: index) attributes {svm.entry} {
      %x = svm.memory_at "x" %address(%n) : memref<?xi32, strided<[1], offset: ?>>
      %y = svm.memory_at %address(%n) : memref<?xi32, strided<[1], offset: ?>>
      %r = svm.apart %x, %y : memref<?xi32, strided<[1], offset: ?>>, memref<?xi32, strided<[1], offset: ?>>
      return
    })";
  auto module = parse(text_);
  ASSERT_TRUE(mapping::place(*module, {}, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyPlaced(*module, machine, diagnostics)) << text();
  mapping::Record record;
  record.functions["main"].blocks["x"] = "store";
  module = parse(text_);
  ASSERT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  EXPECT_FALSE(mapping::verifyPlaced(*module, machine, diagnostics));
  EXPECT_TRUE(reported("placed-memory-at")) << text();
}

TEST_F(PlaceTest, TheVerifierFindsWhatPlaceDoesNotDo) {
  auto unplaced = parse(program("16", "max [16]"), "placed");
  EXPECT_FALSE(mapping::verifyPlaced(*unplaced, machine, diagnostics));
  EXPECT_TRUE(reported("placed-without-location"));

  diagnostics.clear();
  auto module = parse(program("16", "max [16]"));
  ASSERT_TRUE(mapping::place(*module, onWorkers(), machine, diagnostics)) << text();
  module->walk([&](svm::RunOp run) { run.setProcessor("boss"); });
  EXPECT_FALSE(mapping::verifyPlaced(*module, machine, diagnostics));
  EXPECT_TRUE(reported("placed-wrong-processor"));
  module->walk([&](svm::ParallelOp loop) { loop.setProcessor("nobody"); });
  EXPECT_FALSE(mapping::verifyPlaced(*module, machine, diagnostics));
  EXPECT_TRUE(reported("placed-not-on-machine"));
}

TEST_F(PlaceTest, MovesNeedARoute) {
  Machine cut = machine;
  cut.links.clear();
  auto module = parse(program("16", "max [16]"));
  ASSERT_TRUE(mapping::place(*module, onWorkers(), cut, diagnostics)) << text();
  EXPECT_FALSE(mapping::verifyPlaced(*module, cut, diagnostics));
  EXPECT_TRUE(reported("placed-no-route"));
}

/// Two blocks of `bytes` at once in the store of 4096 bytes.
std::string twoBlocks(int64_t elements) {
  std::string n = std::to_string(elements);
  return R"(
    func.func @main() attributes {svm.control = @worker} {
      %n = arith.constant )" +
         n + R"( : index
      %a = svm.block "first" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      svm.scope { %c = svm.block "inner" (%n) : memref<?xf32, #v, #svm.mem<@store>> }
      svm.scope { %d = svm.block "other" (%n) : memref<?xf32, #v, #svm.mem<@store>> }
      return
    }
)";
}

TEST_F(PlaceTest, SchedulesBlocksThatLiveAtOnceApartAndOthersTogether) {
  auto module = parse(twoBlocks(512), "placed");
  ASSERT_TRUE(mapping::schedule(*module, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyScheduled(*module, machine, diagnostics)) << text();
  std::map<std::string, int64_t> addresses;
  module->walk([&](svm::BlockOp block) { addresses[block.getLabel()->str()] = *block.getAddress(); });
  EXPECT_EQ(addresses["first"], 0);
  EXPECT_EQ(addresses["inner"], 2048);
  EXPECT_EQ(addresses["other"], 2048);
}

TEST_F(PlaceTest, WhatDoesNotFitIsListed) {
  auto module = parse(twoBlocks(516), "placed");
  EXPECT_FALSE(mapping::schedule(*module, machine, diagnostics));
  EXPECT_TRUE(reported("schedule-does-not-fit"));
  EXPECT_NE(text().find("block 'first' takes 2064 bytes"), std::string::npos) << text();
}

TEST_F(PlaceTest, TheTotalIsOfAllThatLivesAtOnce) {
  // Of what lives at once, the most is told, in one message; what lives at another time has its own.
  auto module = parse(R"(
    func.func @main(%c: i1) attributes {svm.control = @worker} {
      %n = arith.constant 516 : index
      %a = svm.block "first" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      scf.if %c {
        %b = svm.block "inner" (%n) : memref<?xf32, #v, #svm.mem<@store>>
        %d = svm.block "second" (%n) : memref<?xf32, #v, #svm.mem<@store>>
        scf.if %c {
          %e = svm.block "third" (%n) : memref<?xf32, #v, #svm.mem<@store>>
        }
        func.call @callee() : () -> ()
      }
      scf.if %c {
        %f = svm.block "other" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      }
      return
    }
    func.func private @callee() attributes {svm.control = @worker} {
      %n = arith.constant 16 : index
      %a = svm.block "small" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      return
    }
)",
                      "placed");
  EXPECT_FALSE(mapping::schedule(*module, machine, diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 2u) << text();
  EXPECT_EQ(diagnostics.all()[0].message, "memory 'store' holds 4096 bytes and 8256 are wanted at once");
  EXPECT_EQ(diagnostics.all()[0].notes.size(), 4u) << text();
  EXPECT_EQ(diagnostics.all()[1].message, "memory 'store' holds 4096 bytes and 4128 are wanted at once");
}

TEST_F(PlaceTest, BlocksWithoutBoundAreRefused) {
  auto module = parse(R"(
    func.func @main(%n: index) attributes {svm.control = @worker} {
      %a = svm.block "free" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      return
    }
)",
                      "placed");
  EXPECT_FALSE(mapping::schedule(*module, machine, diagnostics));
  EXPECT_TRUE(reported("schedule-unbounded-block"));
}

// A function that calls itself while it holds a block, one that it calls, and one that is called beside it.
constexpr const char* recursive = R"(
    func.func @main() attributes {svm.control = @worker} {
      %n = arith.constant 16 : index
      %a = svm.block "before" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      func.call @deeper() : () -> ()
      func.call @beside() : () -> ()
      return
    }
    func.func private @deeper() attributes {svm.control = @worker} {
      %n = arith.constant 16 : index
      %a = svm.block "mine" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      func.call @deeper() : () -> ()
      func.call @callee() : () -> ()
      return
    }
    func.func private @callee() attributes {svm.control = @worker} {
      %n = arith.constant 16 : index
      %a = svm.block "theirs" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      return
    }
    func.func private @beside() attributes {svm.control = @worker} {
      %n = arith.constant 64 : index
      %a = svm.block "other" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      return
    }
)";

TEST_F(PlaceTest, FunctionsThatCallThemselvesKeepBlocksOnAStack) {
  auto module = parse(recursive, "placed");
  ASSERT_TRUE(mapping::schedule(*module, machine, diagnostics)) << text();
  module->walk([&](svm::BlockOp block) {
    const bool isStacked = *block.getLabel() == "mine" || *block.getLabel() == "theirs";
    auto stack = svm::SvmDialect::stackAttr.of(block);
    EXPECT_EQ(bool(stack), isStacked) << block.getLabel()->str();
    if (isStacked)
      EXPECT_EQ(stack.getInt(), 320); // behind "before" and "other"
    else
      EXPECT_EQ(*block.getAddress(), *block.getLabel() == "before" ? 0 : 64);
  });
  EXPECT_TRUE(mapping::verifyScheduled(*module, machine, diagnostics)) << text();
  module->walk([](svm::BlockOp block) {
    if (*block.getLabel() == "mine")
      block->setAttr(svm::SvmDialect::stackAttr, mlir::OpBuilder(block).getI64IntegerAttr(312));
  });
  EXPECT_FALSE(mapping::verifyScheduled(*module, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-overlap"));
}

TEST_F(PlaceTest, OneBlockOnAStackHasToFit) {
  std::string large = recursive;
  large.replace(large.find("constant 64"), 11, "constant 1000");
  auto module = parse(large, "placed");
  EXPECT_FALSE(mapping::schedule(*module, machine, diagnostics));
  EXPECT_TRUE(reported("schedule-does-not-fit"));
  EXPECT_NE(text().find("'deeper' is called by a function that calls itself"), std::string::npos) << text();
}

TEST_F(PlaceTest, CalleesLieAboveTheirCallers) {
  auto module = parse(R"(
    func.func @main() attributes {svm.control = @worker} {
      %n = arith.constant 16 : index
      %a = svm.block "mine" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      func.call @callee() : () -> ()
      return
    }
    func.func private @callee() attributes {svm.control = @worker} {
      %n = arith.constant 16 : index
      %a = svm.block "theirs" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      return
    }
)",
                      "placed");
  ASSERT_TRUE(mapping::schedule(*module, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyScheduled(*module, machine, diagnostics)) << text();
  module->walk([](svm::BlockOp block) { EXPECT_EQ(*block.getAddress(), *block.getLabel() == "mine" ? 0 : 64); });
}

TEST_F(PlaceTest, TheVerifierFindsWrongAddresses) {
  auto module = parse(twoBlocks(512), "placed");
  EXPECT_FALSE(mapping::verifyScheduled(*module, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-without-address"));
  module->walk([](svm::BlockOp block) { block.setAddress(1024); });
  EXPECT_FALSE(mapping::verifyScheduled(*module, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-overlap"));
  module->walk([](svm::BlockOp block) { block.setAddress(2056); });
  EXPECT_FALSE(mapping::verifyScheduled(*module, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-bad-address"));
}

/// A stream of so many elements beside a block of 1024 bytes, in a store of 4096.
std::string blockAndStream(const std::string& capacity) {
  return R"(
    func.func @main(%any: index) attributes {svm.control = @worker} {
      %n = arith.constant 256 : index
      %c = arith.constant )" +
         capacity + R"( : index
      svm.scope {
        %a = svm.block "mine" (%n) : memref<?xf32, #v, #svm.mem<@store>>
        %q = svm.stream "queue"(%c) in @store : !svm.stream<f64>
        %b = svm.block "more" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      }
      return
    }
)";
}

TEST_F(PlaceTest, StreamsTakeTheirPartOfAMemory) {
  auto module = parse(blockAndStream("255"), "placed"); // 2040 bytes, in units of 16
  ASSERT_TRUE(mapping::schedule(*module, machine, diagnostics)) << text();
  module->walk([](svm::StreamOp stream) { EXPECT_EQ(*stream.getAddress(), 1024U); });
  module->walk([](svm::BlockOp block) { EXPECT_EQ(*block.getAddress(), *block.getLabel() == "mine" ? 0 : 3072); });
  EXPECT_TRUE(mapping::verifyScheduled(*module, machine, diagnostics)) << text();
  module->walk([](svm::StreamOp stream) { stream.setAddress(1040); });
  EXPECT_FALSE(mapping::verifyScheduled(*module, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-overlap"));
}

TEST_F(PlaceTest, StreamsThatDoNotFitAreToldOfAsBlocksAre) {
  auto module = parse(blockAndStream("257"), "placed");
  EXPECT_FALSE(mapping::schedule(*module, machine, diagnostics));
  EXPECT_TRUE(reported("schedule-does-not-fit"));
  EXPECT_NE(text().find("stream 'queue' takes 2056 bytes"), std::string::npos) << text();
}

TEST_F(PlaceTest, StreamsInAStoreHaveAConstantCapacity) {
  std::string program = blockAndStream("1");
  program.replace(program.find("(%c) in"), 4, "(%any)");
  auto module = parse(program, "placed");
  EXPECT_FALSE(mapping::schedule(*module, machine, diagnostics));
  EXPECT_TRUE(reported("schedule-unbounded-block"));
  EXPECT_NE(text().find("stream 'queue' has no static bound"), std::string::npos) << text();
}

TEST_F(PlaceTest, ReductionsAreSplitAlikeOnEveryNumberOfCores) {
  const std::string program = R"(
    func.func @add(%x: memref<?xf32, #v> {svm.access = "read"}, %y: memref<?xf32, #v> {svm.access = "readwrite"}) { return }
    func.func @main(%a: memref<?xf32, #v> {svm.access = "readwrite"}) attributes {svm.entry} {
      %zero = arith.constant 0 : index
      %n = memref.dim %a, %zero : memref<?xf32, #v>
      svm.parallel "i" (%i) = (%zero) to (%n) reduce(%p = %a : memref<?xf32, #v> with #svm.combiner<@add, "add">) {}
      return
    }
)";
  for (unsigned cores : {1U, 2U, 3U, 16U, 64U}) {
    auto module = parse(program);
    Machine host = describeHost(cores);
    ASSERT_TRUE(mapping::place(*module, {}, host, diagnostics)) << text();
    module->walk([](svm::ParallelOp loop) { EXPECT_EQ(loop.allParts(), 16); });
  }
}

TEST_F(PlaceTest, LoopsKeepWhatTheMappingMakesOfThem) {
  auto module = parse(program("16", "max [16]"));
  mapping::Record record = onWorkers();
  record.functions["main"].loops["i"].stages = 2;
  record.functions["main"].loops["i"].unroll = 3;
  ASSERT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  module->walk([](svm::ParallelOp loop) {
    EXPECT_EQ(svm::SvmDialect::stagesAttr.of(loop).getInt(), 2);
    EXPECT_EQ(svm::SvmDialect::unrollAttr.of(loop).getInt(), 3);
  });
  std::string error;
  auto attribute =
      llvm::cast<mlir::DictionaryAttr>(mlir::parseAttribute("{main = {loops = {i = {stages = 0}}}}", context.get()));
  EXPECT_FALSE(mapping::fromAttribute(attribute, error));
  EXPECT_NE(error.find("main / loops / i / stages is not at least 1"), std::string::npos) << error;
}

TEST_F(PlaceTest, FlatLoopsHaveConstantBounds) {
  auto flat = [&](int64_t parts) {
    auto module = parse(program("16", "max [16]"));
    mapping::Record record = onWorkers(parts);
    record.functions["main"].loops["i"].flatten = true;
    EXPECT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
    return mapping::checkFlattening(*module, diagnostics);
  };
  EXPECT_TRUE(flat(0)) << text();
  EXPECT_FALSE(flat(2));
  EXPECT_TRUE(reported("mapping-flatten"));
}

/// A loop that fills one buffer while it works on the other, as the pipeliner makes it. `after`: what the move into the
/// next buffer comes after; `waits`: what an iteration waits for; `next`: what it hands on.
std::string pipelined(const std::string& waits, const std::string& next, const std::string& second = "%b1",
                      const std::string& after = "") {
  const std::string near = "memref<?xf32, #v, #svm.mem<@store>>", far = "memref<?xf32, #v, #svm.mem<@main>>";
  return "func.func @main(%n: index, %a: " + far + R"() attributes {svm.control = @worker} {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %e = arith.constant 16 : index
      svm.scope {
        %b0 = svm.block "x"(%e) max [16] at 0 {svm.buffers = 2 : i64} : )" +
         near + R"(
        %b1 = svm.block "x"(%e) max [16] at 64 {svm.buffers = 2 : i64} : )" +
         near + R"(
        %first = svm.move %a to %b0 : )" +
         far + " to " + near + R"( -> !svm.token
        %none = memref.subview %b0[0] [%zero] [1] : )" +
         near + " to " + near + R"(
        %empty = svm.move %none to %none : )" +
         near + " to " + near + R"( -> !svm.token
        %r:4 = scf.for %i = %zero to %n step %one iter_args(%now = %b0, %then = )" +
         second + ", %filled = %first, %sent = %empty) -> (" + near + ", " + near + R"(, !svm.token, !svm.token) {
          %started = svm.move %a to %then )" +
         after + " : " + far + " to " + near + R"( -> !svm.token
          )" +
         waits + R"(
          svm.run @k(%now) on @worker : ()" +
         near + R"() -> ()
          %gone = svm.move %now to %a : )" +
         near + " to " + far + R"( -> !svm.token
          scf.yield )" +
         next + " : " + near + ", " + near + R"(, !svm.token, !svm.token
        }
        svm.wait %r#2, %r#3
      }
      return
    }
)";
}

TEST_F(PlaceTest, BuffersUnderWayAreLeftAlone) {
  const std::string rotated = "%then, %now, %started, %gone";
  auto verify = [&](const std::string& text) {
    diagnostics.clear();
    auto module = parse(text, "scheduled");
    return module && mapping::verifyScheduled(*module, machine, diagnostics);
  };
  EXPECT_TRUE(verify(pipelined("svm.wait %filled", rotated, "%b1", "after(%sent)"))) << text();
  // Used before it is filled; filled while it is emptied; handed on although it is not the next one's.
  EXPECT_FALSE(verify(pipelined("", rotated, "%b1", "after(%sent)")));
  EXPECT_TRUE(reported("scheduled-transfer-overlap")) << text();
  EXPECT_FALSE(verify(pipelined("svm.wait %filled", rotated)));
  EXPECT_TRUE(reported("scheduled-transfer-overlap")) << text();
  EXPECT_FALSE(verify(pipelined("svm.wait %filled", "%now, %then, %started, %gone", "%b1", "after(%sent)")));
  EXPECT_TRUE(reported("scheduled-transfer-overlap")) << text();
  // One block as two buffers; a token that nobody has any more.
  EXPECT_FALSE(verify(pipelined("svm.wait %filled", rotated, "%b0", "after(%sent)")));
  EXPECT_TRUE(reported("scheduled-same-buffer")) << text();
  EXPECT_FALSE(verify(pipelined("svm.wait %filled", "%then, %now, %started, %started", "%b1", "after(%sent)")));
}

TEST_F(PlaceTest, TokensOfBuffersAreNotLost) {
  auto module = parse(pipelined("", "%then, %now, %started, %gone", "%b1", "after(%sent)"), "scheduled");
  EXPECT_FALSE(mapping::verifyScheduled(*module, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-lost-transfer")) << text();
}

// An array over the memories of another machine's tiles.
constexpr const char* distributed = R"(
    svm.kernel @tile(%a: memref<?xf32, #v, #svm.dist<"l"[8] per 1, (i) -> (i mod 8) at (i) -> (i floordiv 8)>> {svm.access = "readwrite", svm.name = "A"},
                     %t: index {svm.instance}) {
      %x = memref.load %a[%t] : memref<?xf32, #v, #svm.dist<"l"[8] per 1, (i) -> (i mod 8) at (i) -> (i floordiv 8)>>
      memref.store %x, %a[%t] : memref<?xf32, #v, #svm.dist<"l"[8] per 1, (i) -> (i mod 8) at (i) -> (i floordiv 8)>>
      svm.return
    }
    func.func @main(%a: memref<?xf32, #v> {svm.access = "readwrite", svm.name = "A"}) attributes {svm.entry} {
      %zero = arith.constant 0 : index
      %n = memref.dim %a, %zero : memref<?xf32, #v>
      svm.scope "program" disjoint {
        %b = svm.block "A"(%n) : memref<?xf32, #v, #svm.dist<"l"[8] per 1, (i) -> (i mod 8) at (i) -> (i floordiv 8)>>
        svm.move %a to %b : memref<?xf32, #v> to memref<?xf32, #v, #svm.dist<"l"[8] per 1, (i) -> (i mod 8) at (i) -> (i floordiv 8)>>
        svm.parallel "tiles" (%i) = (%zero) to (%n) concurrent {
          svm.run @tile(%b, %i) : (memref<?xf32, #v, #svm.dist<"l"[8] per 1, (i) -> (i mod 8) at (i) -> (i floordiv 8)>>, index) -> ()
        }
        svm.move %b to %a : memref<?xf32, #v, #svm.dist<"l"[8] per 1, (i) -> (i mod 8) at (i) -> (i floordiv 8)>> to memref<?xf32, #v>
      }
      return
    }
)";

std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

TEST_F(PlaceTest, GathersDistributedArraysOnAMachineWithoutTheirMemories) {
  auto module = parse(distributed);
  ASSERT_TRUE(module);
  EXPECT_TRUE(mapping::place(*module, {}, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyPlaced(*module, machine, diagnostics)) << text();
  EXPECT_EQ(printed(*module).find("svm.dist"), std::string::npos) << printed(*module);
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
  module->walk([&](svm::BlockOp block) { EXPECT_EQ(svm::memoryOf(block.getBlock().getType()), "main"); });
}

TEST_F(PlaceTest, GathersThemWhereTheRecordSays) {
  auto module = parse(distributed);
  ASSERT_TRUE(module);
  mapping::Record record;
  record.functions["main"].blocks["A"] = "store";
  EXPECT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  module->walk([&](svm::BlockOp block) { EXPECT_EQ(svm::memoryOf(block.getBlock().getType()), "store"); });
}

TEST_F(PlaceTest, TheVerifierFindsWhatIsStillDistributed) {
  auto module = parse(distributed);
  ASSERT_TRUE(module);
  EXPECT_FALSE(mapping::verifyPlaced(*module, machine, diagnostics));
  EXPECT_TRUE(reported("placed-not-on-machine")) << text();
}

} // namespace
