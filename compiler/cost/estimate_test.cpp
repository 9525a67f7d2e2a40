// Estimates of small programs, compared with what follows by hand from a machine whose figures are round.
#include "compiler/cost/estimate.h"
#include "compiler/mapping/mapping_testing.h"

namespace strata::cost {
namespace {

/// A byte takes half a cycle over the wire, a quarter in main memory, which passes it in 100 cycles, the wire in 20,
/// the store in 3. Two workers start in 50 cycles each, and move in 10.
constexpr const char* machineText = R"(
machine: two
clock: 1000MHz
memories:
  - {name: store, count: 2, capacity: 64K, width: 4, latency: 3, bandwidth: 16, explicit: true}
  - {name: main, capacity: available, width: 8, latency: 100, bandwidth: 4, explicit: true}
processors:
  - {name: control, kind: control, masters: [control], moves: 1}
  - {name: worker, kind: stream, count: 2, masters: [control], moves: 4, local: [store], vector: 4,
     costs: {kernel_start: 50, move_start: 10, add: 2, multiply: 5, load: 3, store: 4, branch: 1, given: 77}}
links:
  - {name: wire, ends: [control, worker, main, store], latency: 20, bandwidth: 2}
levels:
  - {level: 0, memory: store, processor: worker}
  - {level: 1, memory: main, processor: control}
)";

struct EstimateTest : MappingTest {
  EstimateTest() : MappingTest(machineText) {}

  /// Of a function @f in `body`; [m] and [s] stand for vectors in main memory and in the store.
  std::optional<Estimate> estimateOf(std::string body, llvm::ArrayRef<Known> arguments, bool keepsEvents = false) {
    const auto replaceAll = [&](const std::string& from, const std::string& to) {
      for (size_t at = body.find(from); at != std::string::npos; at = body.find(from, at + to.size()))
        body.replace(at, from.size(), to);
    };
    replaceAll("[m]", "memref<?xf32, #v, #svm.mem<@main>>");
    replaceAll("[s]", "memref<?xf32, #v, #svm.mem<@store>>");
    auto module = parse(body, "scheduled");
    return module ? estimate(*module, machine, "f", arguments, diagnostics, keepsEvents) : std::nullopt;
  }
  double cyclesOf(const std::string& body, llvm::ArrayRef<Known> arguments) {
    const auto made = estimateOf(body, arguments);
    EXPECT_TRUE(made) << text();
    return made ? made->cycles : -1;
  }
};

/// A function of the control processor with vector %a of main memory.
std::string function(const std::string& inner) {
  return "func.func @f(%a: [m]) attributes {svm.entry, svm.control = @control} {\n"
         "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c2 = arith.constant 2 : index\n"
         "  %n = memref.dim %a, %c0 : [m]\n" +
         inner + "  return\n}\n";
}

/// On both workers, each with the block %s of the whole extent.
std::string workers(const std::string& inner, const std::string& upper = "%c2") {
  return function("  svm.instances \"i\" (%p) = (%c0) to (" + upper +
                  ") on @worker parts 2 {\n    %s = svm.block \"s\"(%n) max [4096] at 0 : [s]\n" + inner + "  }\n");
}

constexpr double moved = 100 + 20 + 3; // until the first byte is there
constexpr double started = 50;         // a worker, by the control processor

TEST_F(EstimateTest, Moves) {
  const Known block = Known::block({1000});
  // Started, moved: 4,000 bytes at two a cycle over the wire.
  EXPECT_EQ(cyclesOf(workers("svm.move %a to %s : [m] to [s]\n", "%c1"), block), started + 10 + moved + 2000);
  // Both share the one wire: the second's bytes come behind the first's.
  EXPECT_EQ(cyclesOf(workers("svm.move %a to %s : [m] to [s]\n"), block), started + 10 + 2 * 2000 + moved);
  // Rows are read in accesses of 8 bytes: 12 become 16.
  EXPECT_EQ(cyclesOf(workers("svm.move %a to %s : [m] to [s]\n", "%c1"), Known::block({3})), started + 10 + moved + 8);
  // No bytes, no time but for the start.
  EXPECT_EQ(cyclesOf(workers("svm.move %a to %s : [m] to [s]\n", "%c1"), Known::block({0})), started + 10);
}

TEST_F(EstimateTest, MovesBesideTheirStarter) {
  const std::string two = "%t = svm.move %a to %s : [m] to [s] -> !svm.token\n"
                          "%u = svm.move %a to %s : [m] to [s] -> !svm.token\n";
  // The second's bytes come behind the first's; both are under way at once.
  EXPECT_EQ(cyclesOf(workers(two + "svm.wait %t, %u\n", "%c1"), Known::block({1000})), started + 10 + 2 * 2000 + moved);
  // A region ends when all that it has started has ended.
  EXPECT_EQ(cyclesOf(workers(two, "%c1"), Known::block({1000})), started + 10 + 2 * 2000 + moved);
  const auto made = estimateOf(workers(two + "svm.wait %t, %u\n", "%c1"), Known::block({1000}));
  ASSERT_TRUE(made && made->processors.size() == 2);
  EXPECT_EQ(made->processors[1].name, "worker");
  EXPECT_EQ(made->processors[1].used, 1u);
  EXPECT_EQ(made->processors[1].starting, started + 20);
  EXPECT_EQ(made->processors[1].waiting, 2 * 2000 + moved - 10);
}

constexpr const char* kernel = R"(
svm.kernel @k(%s: memref<?xf32, #v> {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %s, %c0 : memref<?xf32, #v>
  BODY
  svm.return
}
svm.kernel @given(%s: memref<?xf32, #v> {svm.access = "readwrite"}) {
  svm.return
}
)";

std::string kernelOf(std::string inner) {
  std::string made = kernel;
  return made.replace(made.find("BODY"), 4, inner);
}

TEST_F(EstimateTest, Kernels) {
  const std::string run = workers("svm.run @k(%s) on @worker : ([s]) -> ()\n", "%c1");
  // For each element a load (3), a product (5), a store (4) and an iteration (1). Each depends on the one before, so
  // that there is nothing to tile.
  const std::string body = "scf.for %i = %c1 to %n step %c1 {\n  %j = arith.subi %i, %c1 : index\n"
                           "  %x = memref.load %s[%j] : memref<?xf32, #v>\n  %y = arith.mulf %x, %x : f32\n"
                           "  memref.store %y, %s[%i] : memref<?xf32, #v>\n}";
  EXPECT_EQ(cyclesOf(kernelOf(body) + run, Known::block({101})), started + 100 * 13);
  // A triangle: iteration i of 0 … 9 has i of the inner ones.
  const std::string triangle = "scf.for %i = %c0 to %n step %c1 {\n  %x = memref.load %s[%i] : memref<?xf32, #v>\n"
                               "  %z = scf.for %j = %c0 to %i step %c1 iter_args(%w = %x) -> (f32) {\n"
                               "    %y = arith.addf %w, %w : f32\n    scf.yield %y : f32\n  }\n"
                               "  memref.store %z, %s[%c0] : memref<?xf32, #v>\n}";
  EXPECT_EQ(cyclesOf(kernelOf(triangle) + run, Known::block({10})), started + 10 * (1 + 3 + 4) + 45 * (1 + 2));
  // A cost that the machine states for the kernel's name.
  EXPECT_EQ(cyclesOf(kernelOf("") + workers("svm.run @given(%s) on @worker : ([s]) -> ()\n", "%c1"), Known::block({9})),
            started + 77);
}

TEST_F(EstimateTest, WhatDependsOnData) {
  const std::string body = "%x = memref.load %s[%c0] : memref<?xf32, #v>\n%zero = arith.constant 0.0 : f32\n"
                           "%is = arith.cmpf ogt, %x, %zero : f32\nscf.if %is {\n"
                           "  memref.store %zero, %s[%c0] : memref<?xf32, #v>\n}";
  const auto made =
      estimateOf(kernelOf(body) + workers("svm.run @k(%s) on @worker : ([s]) -> ()\n", "%c1"), Known::block({9}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cycles, started + 3 + 2 + 1 + 4); // the dearer side
  const auto unknown = estimateOf(workers("%x = memref.load %s[%c0] : [s]\n%i = arith.fptosi %x : f32 to i64\n"
                                          "%j = arith.index_cast %i : i64 to index\n"
                                          "scf.for %k = %c0 to %j step %c1 {\n  svm.move %a to %s : [m] to [s]\n}\n",
                                          "%c1"),
                                  Known::block({9}));
  ASSERT_TRUE(unknown);
  ASSERT_EQ(unknown->assumptions.size(), 1u);
  EXPECT_NE(unknown->assumptions[0].text.find("8 times is assumed"), std::string::npos);
}

TEST_F(EstimateTest, InstancesAndTurns) {
  // Four instances on two processors take two turns; each is started.
  const std::string run = kernelOf("") + function("  %c4 = arith.constant 4 : index\n"
                                                  "  svm.instances \"i\" (%p) = (%c0) to (%c4) on @worker parts 4 {\n"
                                                  "    %s = svm.block \"s\"(%n) max [4096] at 0 : [s]\n"
                                                  "    svm.run @given(%s) on @worker : ([s]) -> ()\n  }\n");
  EXPECT_EQ(cyclesOf(run, Known::block({9})), 2 * (50 + 77));
  const auto made = estimateOf(run, Known::block({9}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->processors[1].used, 2u);
  EXPECT_EQ(made->processors[1].computing, 4 * 77);
  EXPECT_EQ(*made->seconds, made->cycles * 1e-9);
}

/// Transfers are served in the order of their times, whoever's they are, and what is free serves the next.
TEST_F(EstimateTest, WhatIsShared) {
  // The first instance computes for 77 cycles before it moves, the second moves at once: it comes first.
  const std::string body = "%is = arith.cmpi eq, %p, %c0 : index\nscf.if %is {\n"
                           "  svm.run @given(%s) on @worker : ([s]) -> ()\n}\nsvm.move %a to %s : [m] to [s]\n";
  const auto made = estimateOf(kernelOf("") + workers(body), Known::block({1000}), /*keepsEvents=*/true);
  ASSERT_TRUE(made);
  std::map<std::pair<uint64_t, std::string>, std::pair<double, double>> moves;
  for (const Estimate::Event& each : made->events)
    if (each.kind == Estimate::Event::Kind::Move)
      moves[{each.instance, each.name}] = {each.begin, each.end};
  ASSERT_EQ(moves.size(), 2u);
  const auto &first = moves.begin()->second, &second = std::prev(moves.end())->second;
  EXPECT_LT(second.first, first.first);
  EXPECT_EQ(first.first, second.first + 2000);
  EXPECT_EQ(first.second - first.first, 2000 + moved);
  EXPECT_EQ(made->cycles, first.second);
}

/// Of a long loop a few iterations stand for all: the sums are those of all.
TEST_F(EstimateTest, LongLoops) {
  const std::string body =
      "  %c = arith.constant COUNT : index\n  scf.for %i = %c0 to %c step %c1 {\n"
      "    svm.count \"turns\" by %c1 : index\n    svm.run @given(%s) on @worker : ([s]) -> ()\n  }\n";
  for (const int64_t count : {100, 1000000}) {
    std::string text = kernelOf("") + workers(body, "%c1");
    text.replace(text.find("COUNT"), 5, std::to_string(count));
    const auto made = estimateOf(text, Known::block({9}));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->counters.at("turns"), count);
    EXPECT_EQ(made->cycles, started + static_cast<double>(count) * 78);
    EXPECT_EQ(made->isSampled, count > 100);
  }
}

/// Variables in memory are followed; a loop with a condition ends when it ends.
TEST_F(EstimateTest, Variables) {
  const std::string body =
      "  %v = memref.alloca() : memref<i64>\n  %one = arith.constant 1 : i64\n"
      "  %ten = arith.constant 1000 : i64\n  memref.store %one, %v[] : memref<i64>\n"
      "  scf.while : () -> () {\n    %x = memref.load %v[] : memref<i64>\n"
      "    %is = arith.cmpi slt, %x, %ten : i64\n    scf.condition(%is)\n  } do {\n"
      "    %x = memref.load %v[] : memref<i64>\n    %y = arith.addi %x, %x : i64\n"
      "    memref.store %y, %v[] : memref<i64>\n    svm.count \"turns\" by %c1 : index\n    scf.yield\n  }\n";
  const auto made = estimateOf(function(body), Known::block({9}));
  ASSERT_TRUE(made) << text();
  EXPECT_EQ(made->counters.at("turns"), 10);
  EXPECT_TRUE(made->assumptions.empty());
}

/// What would take for ever to look at is not looked at in full; what would to follow is refused.
TEST_F(EstimateTest, DeepNests) {
  const auto nest = [](unsigned depth, const std::string& upper, const std::string& inner) {
    std::string text;
    for (unsigned i = 0; i < depth; ++i)
      text += "scf.for %i" + std::to_string(i) + " = %c0 to " +
              (upper == "before" ? (i ? "%i" + std::to_string(i - 1) : "%n") : upper) + " step %c1 {\n";
    text += inner;
    for (unsigned i = 0; i < depth; ++i)
      text += "}\n";
    return text;
  };
  const std::string store =
      "%x = memref.load %s[%c0] : memref<?xf32, #v>\nmemref.store %x, %s[%c0] : memref<?xf32, #v>\n";
  const std::string run = workers("svm.run @k(%s) on @worker : ([s]) -> ()\n", "%c1");
  // Two iterations of each of 30 loops, each inside the other: each costs what is in it and 1 for itself.
  double wanted = 3 + 4;
  for (unsigned i = 0; i < 30; ++i)
    wanted = 2 * (wanted + 1);
  EXPECT_EQ(cyclesOf(kernelOf(nest(30, "%n", store)) + run, Known::block({2})), started + wanted);
  // Bounds that follow from those around: by a sample.
  EXPECT_GT(cyclesOf(kernelOf(nest(12, "before", store)) + run, Known::block({100})), started);
  // Conditions that depend on data, in each other.
  EXPECT_GT(cyclesOf(kernelOf("%f = memref.load %s[%c0] : memref<?xf32, #v>\n%l = arith.fptosi %f : f32 to i64\n"
                              "%d = arith.index_cast %l : i64 to index\n" +
                              nest(30, "%d", store)) +
                         run,
                     Known::block({100})),
            started);
  // Long for one processor, and there are very many.
  EXPECT_FALSE(estimateOf(function("  %c5000 = arith.constant 5000 : index\n  %many = arith.constant 60000 : index\n"
                                   "  svm.instances \"i\" (%p) = (%c0) to (%many) on @worker parts 60000 {\n" +
                                   nest(1, "%c5000", "svm.count \"turns\" by %c1 : index\n") + "  }\n"),
                          Known::block({9})));
  EXPECT_TRUE(reported("estimate-too-long"));
  EXPECT_FALSE(estimateOf(function("  %many = arith.constant 70000 : index\n"
                                   "  svm.instances \"i\" (%p) = (%c0) to (%many) on @worker parts 70000 {\n  }\n"),
                          Known::block({9})));
  EXPECT_TRUE(reported("estimate-too-many"));
}

/// One that does not end for an estimate is an error.
TEST_F(EstimateTest, EndlessCalls) {
  const std::string body = "func.func @f(%a: [m]) attributes {svm.entry, svm.control = @control} {\n"
                           "  call @f(%a) : ([m]) -> ()\n  return\n}\n";
  EXPECT_FALSE(estimateOf(body, Known::block({9})));
  EXPECT_TRUE(reported("estimate-too-deep"));
}

} // namespace
} // namespace strata::cost
