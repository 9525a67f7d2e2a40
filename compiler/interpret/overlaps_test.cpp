// Overlaps of what parallel iterations and operands of calls touch: which accesses have no order, what is reported and
// what is not, and that numbers which nobody uses are given back.
#include "compiler/interpret/iterations.h"
#include "compiler/interpret/subject.h"

#include <algorithm>
#include <random>

namespace strata::interpret {
namespace {

const Options overlapChecks = [] {
  Options options;
  options.trackUndefined = true;
  return options;
}();

/// A function on blocks A and B of 8 integers each, with constants %c0 to %c8 and %one : i32.
std::string onBlocks(const std::string& body) {
  std::string constants;
  for (int i = 0; i <= 8; ++i)
    constants += "  %c" + std::to_string(i) + " = arith.constant " + std::to_string(i) + " : index\n";
  return R"(
!block = memref<?xi32, strided<[1], offset: ?>>
svm.kernel @sum(%x: !block {svm.access = "read"}, %y: !block {svm.access = "readwrite"}) { svm.return }
func.func @f(%A: !block {svm.name = "A", svm.access = "readwrite"}, %B: !block {svm.name = "B", svm.access = "readwrite"}) {
  %one = arith.constant 1 : i32
)" + constants +
         body + "\n  return\n}";
}

struct Blocks {
  std::vector<int32_t> a = std::vector<int32_t>(8), b = std::vector<int32_t>(8);
  std::vector<Argument> arguments() { return {Argument::block(a.data(), {8}), Argument::block(b.data(), {8})}; }
};

std::string fails(const std::string& body, const std::string& code, Options options = overlapChecks) {
  Blocks run;
  return failure(onBlocks(body), code, run.arguments(), std::move(options));
}

void isFine(const std::string& body, Options options = overlapChecks) {
  Blocks run;
  Subject subject(onBlocks(body), std::move(options));
  EXPECT_TRUE(subject.call(run.arguments())) << subject.text();
  EXPECT_EQ(subject.text(), "");
}

TEST(Overlaps, IterationsThatWriteOneElement) {
  const std::string body = "svm.parallel \"i\" (%i) = (%c0) to (%c4) {\n%k = arith.divui %i, %c2 : index\n"
                           "memref.store %one, %A[%k] : !block\n}";
  std::string text = fails(body, "check-iteration-overlap");
  EXPECT_TRUE(has(text, "an access with i = 0 and an access with i = 1 share element [0] of 'A', and both write it"))
      << text;
  Options unchecked;
  isFine(body, unchecked);
  isFine("svm.parallel \"i\" (%i) = (%c0) to (%c4) {\nmemref.store %one, %A[%i] : !block\n}");
}

TEST(Overlaps, AReaderAndAWriter) {
  const std::string read = "%v = memref.load %A[%c2] : !block\n", write = "memref.store %one, %A[%i] : !block\n";
  for (const std::string& body : {read + write, write + read})
    EXPECT_TRUE(has(fails("svm.parallel \"i\" (%i) = (%c0) to (%c4) {\n" + body + "}", "check-iteration-overlap"),
                    "share element [2] of 'A'"));
  isFine("svm.parallel \"i\" (%i) = (%c3) to (%c8) {\n" + read + write + "}");
}

TEST(Overlaps, ThreeReadersAndAWriterAmongThem) {
  // The writer is one of the readers: another one's reading must not be forgotten.
  for (int writer = 0; writer < 4; ++writer)
    EXPECT_TRUE(
        has(fails("svm.parallel \"i\" (%i) = (%c0) to (%c4) {\n%v = memref.load %A[%c2] : !block\n"
                  "%w = arith.cmpi eq, %i, %c" +
                      std::to_string(writer) + " : index\nscf.if %w {\nmemref.store %one, %A[%c2] : !block\n}\n}",
                  "check-iteration-overlap"),
            "element [2] of 'A'"));
}

TEST(Overlaps, LoopsOneAfterAnotherHaveAnOrder) {
  const std::string loop = "svm.parallel \"i\" (%i) = (%c0) to (%c4) {\nmemref.store %one, %A[%i] : !block\n}\n";
  isFine(loop + loop);
  isFine("scf.for %k = %c0 to %c2 step %c1 {\n" + loop + "} {svm.label = \"k\"}");
  // What is made within an iteration is its own.
  isFine("svm.parallel \"i\" (%i) = (%c0) to (%c4) {\n%t = svm.block \"t\"(%c1) : !block\n"
         "memref.store %one, %t[%c0] : !block\n}");
}

TEST(Overlaps, NestsOfLoops) {
  auto nest = [](const std::string& index) {
    return "svm.parallel \"i\" (%i) = (%c0) to (%c2) {\nscf.for %k = %c0 to %c2 step %c1 {\nsvm.parallel \"j\" (%j) = "
           "(%c0) to "
           "(%c3) {\n%x = arith.muli %i, %c3 : index\n%y = arith.addi %x, %j : index\nmemref.store %one, %A[" +
           index + "] : !block\n}\n} {svm.label = \"k#1\"}\n}";
  };
  isFine(nest("%y"));
  std::string text = fails(nest("%j"), "check-iteration-overlap");
  EXPECT_TRUE(has(text, "an access with i = 0, k = 1, j = 0 and an access with i = 1, k = 0, j = 0")) << text;
  text = fails(nest("%i"), "check-iteration-overlap");
  EXPECT_TRUE(has(text, "with i = 0, k = 0, j = 0 and an access with i = 0, k = 0, j = 1")) << text;
  // A loop that runs in order, of iterations that were parallel in the source.
  EXPECT_TRUE(has(fails("scf.for %k = %c0 to %c2 step %c1 {\nmemref.store %one, %A[%c0] : !block\n} "
                        "{svm.label = \"k\", svm.parallel}",
                        "check-iteration-overlap"),
                  "with k = 1"));
}

TEST(Overlaps, AtomicAccessesHaveNoOrderToKeep) {
  isFine("svm.parallel \"i\" (%i) = (%c0) to (%c4) {\n%o = memref.atomic_rmw addi %one, %A[%c0] : (i32, !block) -> "
         "i32\n}");
}

TEST(Overlaps, WhatALoopReduces) {
  auto loop = [](const std::string& access, const std::string& upper = "%c4") {
    return "svm.parallel \"i\" (%i) = (%c0) to (" + upper +
           ") reduce(%p = %A : !block with #svm.combiner<@sum, \"sum\">) {\n" + access + "\n}\n";
  };
  const std::string add = "%v = memref.load %p[%c0] : !block\n%w = arith.addi %v, %one : i32\n"
                          "memref.store %w, %p[%c0] : !block";
  Blocks run;
  Subject subject(onBlocks(loop(add)), overlapChecks);
  ASSERT_TRUE(subject.call(run.arguments())) << subject.text();
  EXPECT_EQ(run.a[0], 4);
  std::string text = fails(loop("%v = memref.load %A[%i] : !block\n" + std::string()), "check-iteration-overlap");
  EXPECT_TRUE(has(text, "through the reduction only")) << text;
  isFine(loop("%v = memref.load %B[%i] : !block"));
  isFine("svm.parallel \"k\" (%k) = (%c0) to (%c2) {\n" + loop(add, "%c0") + "}");
  EXPECT_TRUE(has(fails("svm.parallel \"k\" (%k) = (%c0) to (%c2) {\n" + loop(add) + "}", "check-iteration-overlap"),
                  "with k = 0 and an access with k = 1"));
}

TEST(Overlaps, OperandsOfACall) {
  auto call = [](const std::string& from, const std::string& to, const std::string& mark = "{svm.disjoint_operands}") {
    return "svm.scope {\n%t = svm.block \"t\"(%c3) : !block\n%u = svm.block \"u\"(%c3) : !block\n%x = memref.subview "
           "%A[" +
           from + "] [3] [1] : !block to memref<3xi32, strided<[1], offset: ?>>\n%y = memref.subview %A[" + to +
           "] [3] [1] : !block to memref<3xi32, strided<[1], offset: ?>>\n"
           "svm.move %x to %t {svm.operand = 0 : i64} : memref<3xi32, strided<[1], offset: ?>> to !block\n"
           "svm.move %y to %u {svm.operand = 1 : i64} : memref<3xi32, strided<[1], offset: ?>> to !block\n"
           "svm.move %u to %y {svm.operand = 1 : i64} : !block to memref<3xi32, strided<[1], offset: ?>>\n} " +
           mark + "\n";
  };
  std::string text = fails(call("%c0", "%c2"), "check-overlap");
  EXPECT_TRUE(has(text, "are used at once and share element [2] of 'A', and the second one writes it")) << text;
  isFine(call("%c0", "%c3"));
  isFine(call("%c0", "%c2", ""));
  isFine(call("%c0", "%c3") + call("%c3", "%c0"));
}

TEST(Overlaps, AnOperandWritesAnElementOnce) {
  auto scatter = [](const std::string& index) {
    return "svm.scope {\nscf.for %i = %c0 to %c4 step %c1 {\n%k = " + index +
           "\nmemref.store %one, %A[%k] {svm.operand = 0 : i64} : !block\n}\n} {svm.disjoint_operands}\n";
  };
  EXPECT_TRUE(has(fails(scatter("arith.divui %i, %c2 : index"), "check-repeated-index"),
                  "an access writes element [0] of 'A' more than once"));
  isFine(scatter("arith.addi %i, %c2 : index") + scatter("arith.addi %i, %c2 : index"));
}

TEST(Overlaps, MemoryIsBounded) {
  Options small = overlapChecks;
  small.maxBytes = 1000;
  auto body = [](int elements) {
    return "%s = arith.constant " + std::to_string(elements) +
           " : index\n%t = svm.block \"t\"(%s) {svm.name = \"t\"} : !block\nsvm.parallel \"i\" (%i) = (%c0) to (%c4) "
           "{\n"
           "memref.store %one, %t[%i] : !block\n}";
  };
  EXPECT_TRUE(has(fails(body(150), "check-out-of-memory", small), "'t' with its 150 elements"));
  isFine(body(20), small);
}

TEST(Overlaps, ManyIterationsAreForgotten) {
  // A million iterations, each of which writes an element of its own of eight, in loops one after another.
  Blocks run;
  Subject subject(
      onBlocks("%n = arith.constant 131072 : index\nscf.for %k = %c0 to %n step %c1 {\n"
               "svm.parallel \"i\" (%i) = (%c0) to (%c8) {\nmemref.store %one, %A[%i] : !block\n}\n} {svm.label = "
               "\"k\"}\nsvm.parallel \"i\" (%i) = (%c0) to (%c2) {\nmemref.store %one, %A[%c1] : !block\n}"),
      overlapChecks);
  EXPECT_FALSE(subject.call(run.arguments()));
  EXPECT_TRUE(has(subject.text(), "an access with i = 0 and an access with i = 1 share element [1] of 'A'"))
      << subject.text();
}

TEST(Iterations, OrderIsThatOfTheTree) {
  // Random trees; the order of two nodes by the ways to them, written out.
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Iterations tree;
    struct Way {
      std::vector<std::array<uint32_t, 3>> steps; // group, kind, number among siblings
      uint32_t node;
    };
    std::vector<Way> ways{{{}, 0}};
    struct Group {
      uint32_t parent, number;
      Iterations::Kind kind;
    };
    std::vector<Group> groups;
    for (int i = 0; i < 60; ++i) {
      if (groups.empty() || random() % 3 == 0)
        groups.push_back({static_cast<uint32_t>(random() % ways.size()), tree.newGroup(),
                          random() % 2 ? Iterations::Kind::Parallel : Iterations::Kind::Sequential});
      const Group& group = groups[random() % groups.size()];
      Way way = ways[group.parent];
      way.steps.push_back({group.number, static_cast<uint32_t>(group.kind), static_cast<uint32_t>(i)});
      way.node = tree.add(way.node, group.number, group.kind, 0, i);
      ways.push_back(way);
    }
    auto expected = [](const Way& a, const Way& b) {
      for (size_t i = 0; i < std::min(a.steps.size(), b.steps.size()); ++i)
        if (a.steps[i] != b.steps[i])
          return a.steps[i][0] == b.steps[i][0] && a.steps[i][1] == static_cast<uint32_t>(Iterations::Kind::Parallel);
      return false;
    };
    auto compare = [&] {
      for (const Way& a : ways)
        for (const Way& b : ways)
          ASSERT_EQ(tree.areParallel(a.node, b.node), expected(a, b)) << "seed " << seed;
    };
    compare();
    // Some are forgotten; the others keep their order.
    std::shuffle(ways.begin(), ways.end(), random);
    ways.resize(ways.size() / 3);
    std::vector<uint32_t> accesses;
    for (const Way& way : ways)
      accesses.push_back(tree.addAccess(way.node, 7));
    tree.collect(
        [&](const Iterations::Visitor& visit) {
          for (uint32_t& access : accesses)
            visit(access);
        },
        [](const Iterations::Visitor&) {});
    for (size_t i = 0; i < ways.size(); ++i) {
      ways[i].node = tree.access(accesses[i]).node;
      EXPECT_EQ(tree.access(accesses[i]).pc, 7u);
    }
    compare();
  }
}

} // namespace
} // namespace strata::interpret
