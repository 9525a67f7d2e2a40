// Placement and addresses on a machine of four levels with several processors at each: who has which instance, arrays
// in a virtual memory, and blocks that share an address.
#include "compiler/mapping/layout.h"
#include "compiler/mapping/mapping_testing.h"
#include "compiler/transform/builders.h"

#include "mlir/IR/Verifier.h"

using namespace strata;

namespace {

constexpr const char* levelsText = R"(
machine: tree
memories:
  - {name: main, capacity: available, explicit: true}
  - {name: pool, capacity: 8K, count: 2, alignment: 16, explicit: true}
  - {name: joined, over: pool}
  - {name: store, capacity: 4K, count: 4, alignment: 16, explicit: true}
processors:
  - {name: boss, kind: control, masters: [boss]}
  - {name: node, kind: control, count: 2, local: [pool], masters: [boss]}
  - {name: worker, kind: stream, count: 4, local: [store], masters: [node]}
links:
  - {name: bus, ends: [boss, node, worker, main, pool, store]}
levels:
  - {level: 0, memory: store, processor: worker}
  - {level: 1, memory: pool, processor: node}
  - {level: 2, memory: joined}
  - {level: 3, memory: main, processor: boss}
)";

struct LevelsTest : MappingTest {
  LevelsTest() : MappingTest(levelsText) {}

  /// Two parallel loops, the inner one in a function of its own, with a block inside.
  static constexpr const char* nest = R"(
    func.func @main() attributes {svm.entry} {
      %zero = arith.constant 0 : index
      %many = arith.constant 8 : index
      svm.parallel "i" (%i) = (%zero) to (%many) { func.call @inner() : () -> () }
      return
    }
    func.func private @inner() {
      %zero = arith.constant 0 : index
      %many = arith.constant 8 : index
      svm.parallel "j" (%j) = (%zero) to (%many) {
        %b = svm.block "b" (%many) : memref<?xf32, #v>
      }
      return
    }
)";

  static mapping::LoopPlacement distributed(const std::string& processor, int64_t parts) {
    mapping::LoopPlacement loop;
    loop.processor = processor;
    loop.parts = {parts};
    loop.chunk = {1};
    return loop;
  }

  mapping::Record nested(const std::string& outer, int64_t outerParts, const std::string& inner, int64_t innerParts,
                         const std::string& memory) {
    mapping::Record record;
    record.functions["main"].control = "boss";
    record.functions["main"].loops["i"] = distributed(outer, outerParts);
    record.functions["inner"].control = outer;
    record.functions["inner"].loops["j"] = distributed(inner, innerParts);
    record.functions["inner"].blocks["b"] = memory;
    return record;
  }

  bool places(const char* program, const mapping::Record& record) {
    diagnostics.clear();
    auto module = parse(program);
    return mapping::place(*module, record, machine, diagnostics) &&
           mapping::verifyPlaced(*module, machine, diagnostics);
  }
};

TEST_F(LevelsTest, LoopsDivideTheProcessorsOfTheLoopsAround) {
  EXPECT_TRUE(places(nest, nested("node", 2, "worker", 2, "store"))) << text();
  EXPECT_FALSE(places(nest, nested("node", 2, "worker", 3, "store")));
  EXPECT_TRUE(reported("placement-nested-parts")) << text();
  EXPECT_TRUE(places(nest, nested("worker", 2, "worker", 2, "store"))) << text();
  EXPECT_FALSE(places(nest, nested("worker", 4, "worker", 2, "store")));
  EXPECT_TRUE(reported("placement-nested-parts")) << text();
  EXPECT_TRUE(places(nest, nested("boss", 0, "worker", 4, "store"))) << text();
  EXPECT_FALSE(places(nest, nested("boss", 0, "worker", 5, "store")));
  EXPECT_TRUE(reported("placement-too-many-parts")) << text();
}

TEST_F(LevelsTest, LoopsAreDistributedToASubset) {
  auto some = [&](const std::string& outer, int64_t outerParts, int64_t parts, int64_t first, int64_t width) {
    mapping::Record record = nested(outer, outerParts, "worker", parts, "store");
    record.functions["inner"].loops["j"].first = first;
    record.functions["inner"].loops["j"].width = width;
    return record;
  };
  EXPECT_TRUE(places(nest, some("boss", 0, 2, 2, 2))) << text();
  EXPECT_FALSE(places(nest, some("boss", 0, 2, 3, 2)));
  EXPECT_TRUE(reported("placement-subset-outside")) << text();
  EXPECT_FALSE(places(nest, some("boss", 0, 3, 2, 2)));
  EXPECT_TRUE(reported("placement-too-many-parts")) << text();
  // A node stands for two workers, wherever they are.
  EXPECT_TRUE(places(nest, some("node", 2, 1, 1, 1))) << text();
  EXPECT_FALSE(places(nest, some("node", 2, 1, 2, 1)));
  EXPECT_TRUE(reported("placement-subset-outside")) << text();
  mapping::Record record = some("node", 2, 1, 1, 1);
  std::string error;
  EXPECT_EQ(mapping::fromAttribute(mapping::toAttribute(record, context.get()), error), record) << error;
}

TEST_F(LevelsTest, ProcessorsThatShareAnInstanceMakeNothingInIt) {
  EXPECT_TRUE(places(nest, nested("node", 2, "worker", 0, "pool"))) << text();
  EXPECT_FALSE(places(nest, nested("node", 2, "worker", 2, "pool")));
  EXPECT_TRUE(reported("placement-shared-store")) << text();
  EXPECT_TRUE(places(nest, nested("node", 0, "worker", 0, "joined"))) << text();
  EXPECT_FALSE(places(nest, nested("node", 2, "worker", 0, "joined")));
  EXPECT_TRUE(reported("placement-shared-store")) << text();
  EXPECT_TRUE(places(nest, nested("node", 2, "worker", 2, "main"))) << text();
}

constexpr const char* arrays = R"(
    func.func @main() attributes {svm.entry} {
      %n = arith.constant 100 : index
      %m = arith.constant 10 : index
      %a = svm.block "a" (%n, %m) : memref<?x?xf32, #w>
      %b = svm.block "b" (%n) : memref<?xf32, #v>
      return
    }
)";

TEST_F(LevelsTest, ArraysInAVirtualMemoryAreDistributed) {
  mapping::Record record;
  mapping::FunctionPlacement& main = record.functions["main"];
  main.control = "boss";
  main.blocks = {{"a", "joined"}, {"b", "joined"}};
  main.layouts["b"] = {{2}, {8}};
  auto module = parse(arrays);
  ASSERT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  ASSERT_TRUE(mapping::verifyPlaced(*module, machine, diagnostics)) << text();
  ASSERT_TRUE(mapping::schedule(*module, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyScheduled(*module, machine, diagnostics)) << text();
  module->walk([](svm::BlockOp block) {
    // 50 rows of 40 bytes, padded to 48, in each; then 7 of 13 blocks of 8 elements.
    EXPECT_EQ(*block.getAddress(), *block.getLabel() == "a" ? 0 : 2400);
    EXPECT_EQ(*mapping::shareBytes(block, 16), *block.getLabel() == "a" ? 2400 : 224);
  });
  module->walk([](svm::BlockOp block) { block->removeAttr(svm::SvmDialect::gridAttr); });
  EXPECT_FALSE(mapping::verifyScheduled(*module, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-without-layout"));
}

TEST_F(LevelsTest, AGridTakesNoMoreInstancesThanThereAre) {
  mapping::Record record;
  mapping::FunctionPlacement& main = record.functions["main"];
  main.control = "boss";
  main.blocks["a"] = "joined";
  for (const std::vector<int64_t>& grid : {std::vector<int64_t>{2, 2}, {3, 1}, {2}, {0, 1}}) {
    main.layouts["a"] = {grid, {}};
    EXPECT_FALSE(places(arrays, record));
    EXPECT_TRUE(reported("placement-layout")) << text();
  }
  main.layouts["a"] = {{1, 2}, {}};
  EXPECT_TRUE(places(arrays, record)) << text();
}

TEST_F(LevelsTest, SharesAreCountedInTheMemoryUnderneath) {
  mapping::Record record;
  mapping::FunctionPlacement& main = record.functions["main"];
  main.control = "boss";
  main.blocks["a"] = "joined";
  main.blocks["b"] = "pool";
  main.layouts["a"] = {{1, 1}, {}}; // all 4800 bytes in the first
  auto module = parse(arrays);
  ASSERT_TRUE(mapping::place(*module, record, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::schedule(*module, machine, diagnostics)) << text();
  machine.memories[1].capacity.bytes = 5000;
  std::vector<mapping::Overflow> overflows;
  EXPECT_FALSE(mapping::schedule(*module, machine, diagnostics, &overflows));
  EXPECT_TRUE(reported("schedule-does-not-fit"));
  ASSERT_EQ(overflows.size(), 1u);
  EXPECT_EQ(overflows[0].memory, "pool");
  EXPECT_EQ(overflows[0].wanted, 5200);
}

TEST_F(LevelsTest, AdviceForAnEntryPointNamesLevels) {
  mapping::Record record;
  record.functions["main"].control = "boss";
  record.functions["main"].arguments = {"pool"};
  const char* entry = R"(
    func.func @main(%a: memref<?xf32, #v> {svm.access = "read", svm.name = "A"}) attributes {svm.entry} { return }
)";
  auto module = parse(entry);
  EXPECT_FALSE(mapping::place(*module, record, machine, diagnostics));
  EXPECT_NE(text().find("arrays in 'main' (level 3) or 'joined' (level 2),"), std::string::npos) << text();
  diagnostics.clear();
  machine.levels.pop_back(); // main memory has no level that a mapping could name
  module = parse(entry);
  EXPECT_FALSE(mapping::place(*module, record, machine, diagnostics));
  EXPECT_TRUE(reported("placement-entry-memory"));
  EXPECT_NE(text().find("arrays in 'joined' (level 2),"), std::string::npos) << text();
}

constexpr const char* sharing = R"(
    func.func @main() attributes {svm.control = @worker} {
      %n = arith.constant 600 : index
      svm.scope {
        %a = svm.block "a" (%n) : memref<?xf32, #v, #svm.mem<@store>>
        %b = svm.block "b" (%n) {svm.shares = "a"} : memref<?xf32, #v, #svm.mem<@store>>
        %c = svm.block "c" (%n) {svm.shares = "gone"} : memref<?xf32, #v, #svm.mem<@main>>
      }
      return
    }
)";

TEST_F(LevelsTest, BlocksThatMayShareAnAddressDo) {
  auto module = parse(sharing, "placed");
  ASSERT_TRUE(mapping::schedule(*module, machine, diagnostics)) << text();
  EXPECT_TRUE(mapping::verifyScheduled(*module, machine, diagnostics)) << text();
  module->walk([](svm::BlockOp block) {
    if (*block.getLabel() != "c")
      EXPECT_EQ(*block.getAddress(), 0);
  });
  module->walk([](svm::BlockOp block) { block->removeAttr(svm::SvmDialect::sharesAttr); });
  EXPECT_FALSE(mapping::verifyScheduled(*module, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-overlap"));
}

TEST_F(LevelsTest, TheVerifierFollowsWhoRunsAtOnce) {
  auto program = [&](const std::string& loop) {
    diagnostics.clear();
    return parse(R"(
    func.func @main() attributes {svm.control = @boss} {
      %zero = arith.constant 0 : index
      %four = arith.constant 4 : index
      svm.instances (%i) = (%zero) to (%four) on )" +
                     loop + R"( {
        %b = svm.block "b" (%four) at 0 : memref<?xf32, #v, #svm.mem<@pool>>
      }
      return
    }
)",
                 "scheduled");
  };
  auto apart = program("@node parts 2");
  EXPECT_TRUE(mapping::verifyScheduled(*apart, machine, diagnostics)) << text();
  auto together = program("@worker parts 4");
  EXPECT_FALSE(mapping::verifyScheduled(*together, machine, diagnostics));
  EXPECT_TRUE(reported("scheduled-shared-instance"));
  auto neighbours = program("@worker parts 2");
  neighbours->walk([](svm::InstancesOp instances) {
    instances->setAttr(svm::SvmDialect::subsetAttr, mlir::DenseI64ArrayAttr::get(instances.getContext(), {2, 2}));
  });
  EXPECT_FALSE(mapping::verifyScheduled(*neighbours, machine, diagnostics)) << "numbers 2 and 3: both in one node";
  auto half = program("@worker parts 2"); // numbers 0 and 2: one in each node
  EXPECT_TRUE(mapping::verifyScheduled(*half, machine, diagnostics)) << text();
}

TEST_F(LevelsTest, WhatHasNoBoundIsShownWithItsCallers) {
  auto module = parse(R"(
    func.func @outer(%n: index) attributes {svm.control = @worker} {
      func.call @middle(%n) : (index) -> ()
      return
    }
    func.func private @middle(%n: index) attributes {svm.control = @worker} {
      %a = svm.block "free" (%n) : memref<?xf32, #v, #svm.mem<@store>>
      return
    }
)",
                      "placed");
  EXPECT_FALSE(mapping::schedule(*module, machine, diagnostics));
  EXPECT_TRUE(reported("schedule-unbounded-block"));
  EXPECT_NE(text().find("'outer', which calls 'middle'"), std::string::npos) << text();
  EXPECT_NE(text().find("called from here"), std::string::npos) << text();
}

} // namespace
