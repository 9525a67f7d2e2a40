// Bounds on sizes from callers to callees, and what they make of the memories.
#include "compiler/sequoia/sequoia_testing.h"

namespace strata::sequoia::testing {
namespace {

const char* filter = R"(
void task Filter(in float x[N + U - 1], in float h[U], out float y[N]);
void task<inner> Filter::Inner(in float x[N + U - 1], in float h[U], out float y[N]) {
  tunable T;
  mappar (long i = 0 : (N + T - 1) / T) { Filter(x[i * T; T + U - 1], h, y[i * T : min((i + 1) * T, N); T]); }
}
void task<leaf> Filter::Leaf(in float x[N + U - 1], in float h[U], out float y[N]) { y[0] = x[0] * h[0]; }
)";

std::string mappingOf(int64_t tunable, const std::string& data) {
  return "task Filter : entrypoint(Top) { instance Top::Inner(level 2) { tunable T = " + std::to_string(tunable) +
         "; " + data +
         " control(level 0) { callsite Filter() { target Low() { } } } } instance Low::Leaf(level 0) { } }";
}

struct Measured : Session {
  std::optional<InstanceGraph> graph;
  std::vector<InstanceSizes> sizes;
  bool fits = false;
  Measured(const std::string& program, const std::string& map, const KnownSizes& known = {}) {
    read(program);
    std::optional<Mapping> mapping = readMap(map);
    Machine cell = machine("cell");
    if (this->program && mapping)
      graph = resolve(*this->program, *mapping, cell, {}, diagnostics);
    if (!graph)
      return;
    sizes = propagateSizes(*graph, known);
    fits = checkDemand(*graph, cell, sizes, diagnostics);
    demand = measureDemand(*graph, cell, sizes);
  }
  std::vector<LevelDemand> demand;
};

TEST(SequoiaSizes, BoundsPassFromCallerToCallee) {
  Measured session(filter, mappingOf(100, "data() { array h() { elements = 5; } }"));
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_TRUE(session.fits) << session.rendered();
  const auto& leaf = session.sizes[1].extents;
  EXPECT_EQ(leaf[0][0].value, 104); // x: 100 + 5 - 1
  EXPECT_EQ(leaf[1][0].value, 5);   // h
  EXPECT_EQ(leaf[2][0].value, 100); // C
  EXPECT_FALSE(session.sizes[0].extents[2][0].value);
  ASSERT_EQ(leaf[2][0].because.size(), 1u);
  EXPECT_EQ(leaf[2][0].because[0].tunable->name, "T");
  // 16-byte alignment: 416 + 32 + 400.
  EXPECT_EQ(session.demand[0].total, 416u + 32u + 400u);
  EXPECT_FALSE(session.demand[2].total);
}

TEST(SequoiaSizes, ConditionsBoundWhatTheirTargetIsGiven) {
  std::string map = mappingOf(100, "");
  map.replace(map.find("target Low() { }"), 16, "target Low() { h.elements <= 5; } target Large() { }");
  map.insert(map.rfind('}'), "instance Large::Leaf(level 0) { }");
  Measured session(filter, map);
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.sizes[1].extents[0][0].value, 104); // x: 100 + 5 - 1
  EXPECT_EQ(session.sizes[1].extents[1][0].value, 5);   // h
  EXPECT_FALSE(session.sizes[2].extents[1][0].value);
}

TEST(SequoiaSizes, KnownSizesOfTheEntryHelp) {
  Measured session(filter, mappingOf(100, ""), {{"U", 3}, {"N", 60}});
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.sizes[1].extents[0][0].value, 62);
  EXPECT_EQ(session.sizes[1].extents[2][0].value, 60);
}

TEST(SequoiaSizes, TooSmallAMemoryNamesWhoWantsWhat) {
  Measured session(filter, mappingOf(65536, "data() { array h() { elements = 5; } }"));
  EXPECT_FALSE(session.fits);
  const Diagnostic* found = session.find("sequoia-does-not-fit");
  ASSERT_TRUE(found) << session.rendered();
  EXPECT_NE(found->message.find("'ls' holds 262144 bytes"), std::string::npos) << found->message;
  EXPECT_EQ(found->notes.size(), 3u);
  EXPECT_NE(found->notes[0].find("array 'x' of instance 'Low' wants 262160 bytes (65540 elements of 4 bytes)"),
            std::string::npos)
      << found->notes[0];
  ASSERT_EQ(found->helps.size(), 1u);
  EXPECT_NE(found->helps[0].find("tunable 'T' of instance 'Top'"), std::string::npos);
}

TEST(SequoiaSizes, AnUnboundedArrayIsNamedWithItsCallers) {
  Measured session(filter, mappingOf(64, ""));
  EXPECT_FALSE(session.fits);
  const Diagnostic* found = session.find("sequoia-not-bounded");
  ASSERT_TRUE(found) << session.rendered();
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_EQ(found->notes[0], "it is reached by way of 'Top', which calls 'Low'");
  EXPECT_EQ(found->labels.size(), 3u) << "the array, its instance and the caller";
}

TEST(SequoiaSizes, ALongChainOfCallersIsAbridged) {
  std::string prototypes, variants, map;
  for (int i = 0; i < 12; ++i) {
    const std::string number = std::to_string(i), next = std::to_string(i + 1);
    const bool last = i == 11;
    prototypes += "void task T" + number + "(inout float a[N]);\n";
    variants += std::string("void task<") + (last ? "leaf" : "inner") + "> T" + number + "::V(inout float a[N]) { " +
                (last ? "a[0] = 1;" : "T" + next + "(a);") + " }\n";
    map += "task T" + number + (i == 0 ? " : entrypoint(I0)" : "") + " { instance I" + number + "::V" +
           (last ? "(level 0) { }"
                 : "(level 2) { control(level 2) { callsite T" + next + "() { target I" + next + "() { } } } }") +
           " }\n";
  }
  Measured session(prototypes + variants, map);
  const Diagnostic* found = session.find("sequoia-not-bounded");
  ASSERT_TRUE(found) << session.rendered();
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_EQ(found->notes[0],
            "it is reached by way of 'I0', which calls 'I1', which calls 'I2', which calls 'I3', which by way of 4 "
            "more calls 'I8', which calls 'I9', which calls 'I10', which calls 'I11'");
}

std::string chosen(const std::string& targets) {
  return "task Filter : entrypoint(Top) { instance Top::Inner(level 2) { tunable T = 100; data() { array h() { "
         "elements = 5; } } "
         "control(level 0) { callsite Filter() { " +
         targets + " } } } instance Low::Leaf(level 0) { } instance Other::Leaf(level 0) { } }";
}

TEST(SequoiaSizes, ConditionsBoundTheirTargets) {
  Measured session(filter, chosen("target Low() { y.elements <= 40; } target Other() { }"));
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.sizes[1].extents[2][0].value, 40); // Low: C, of the caller's 40 at most
  EXPECT_EQ(session.sizes[2].extents[2][0].value, 100);
}

TEST(SequoiaSizes, ConditionsThatAreSettledLeaveTargetsOut) {
  // Of at most 60 elements, 80 are never reached, and fewer than 90 always.
  Measured session(filter,
                   chosen("target Other() { y.elements >= 80; } target Low() { y.elements <= 90; } target Other() { }"),
                   {{"N", 60}});
  ASSERT_TRUE(session.graph) << session.rendered();
  size_t other = session.graph->instances[1].name == "Other" ? 1 : 2;
  EXPECT_EQ(session.sizes[other].extents[2][0].value, 0) << "nothing of it is ever made";
  EXPECT_EQ(session.sizes[3 - other].extents[2][0].value, 60);
}

const char* reduction = R"(
void task Count(in int A[N], inout int bins[B]);
void task Add(in int part[B], inout int bins[B]);
void task<inner> Count::Split(in int A[N], inout int bins[B]) {
  tunable T;
  mapreduce (long i = 0 : (N + T - 1) / T) { Count(A[i * T; T], reducearg<bins, Add>); }
}
void task<leaf> Count::Leaf(in int A[N], inout int bins[B]) { bins[0] += A[0]; }
void task<leaf> Add::Leaf(in int part[B], inout int bins[B]) { bins[0] += part[0]; }
)";

TEST(SequoiaSizes, PrivateCopiesAndBuffersCount) {
  auto mapping = [](const std::string& loop) {
    return "task Count : entrypoint(Top) { instance Top::Split(level 2) { tunable T = 1000; "
           "data() { array bins() { elements <= 100; } } control(level 0) { loop i() { " +
           loop +
           " } callsite Count() { target Low() { } } } } instance Low::Leaf(level 0) { } } "
           "task Add { instance Plus::Leaf(level 0) { } }";
  };
  Measured one(reduction, mapping(""));
  ASSERT_TRUE(one.graph) << one.rendered();
  EXPECT_EQ(one.demand[0].total, 4000u + 400u);
  // The leaf works on the private copy: it stands for the leaf's own block.
  Measured eight(reduction, mapping("spmd { fullrange = 0,8; ways = 8; }"));
  ASSERT_TRUE(eight.graph) << eight.rendered();
  EXPECT_EQ(eight.demand[0].total, 4000u + 400u);
  Measured pipelined(reduction, mapping("swp = 2; spmd { fullrange = 0,8; ways = 8; }"));
  ASSERT_TRUE(pipelined.graph) << pipelined.rendered();
  EXPECT_EQ(pipelined.demand[0].total, 8000u + 400u);
}

TEST(SequoiaSizes, IndicesOfAGatherTakeRoomToo) {
  const char* program = R"(
void task Gather(in int I[N], in double A[M], out double C[N]);
void task Take(in double A[N], out double C[N]);
void task<inner> Gather::Inner(in int I[N], in double A[M], out double C[N]) {
  tunable T;
  mappar (long i = 0 : (N + T - 1) / T) { Take(A[I[i * T; T]], C[i * T; T]); }
}
void task<leaf> Take::Leaf(in double A[N], out double C[N]) { C[0] = A[0]; }
)";
  auto mapping = [](int64_t tunable) {
    return "task Gather : entrypoint(Top) { instance Top::Inner(level 2) { tunable T = " + std::to_string(tunable) +
           "; control(level 0) { callsite Take() { target Low() { } } } } } task Take { instance Low::Leaf(level 0) { "
           "} }";
  };
  Measured session(program, mapping(100));
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_TRUE(session.fits) << session.rendered();
  EXPECT_EQ(session.demand[0].total, 400u + 800u + 800u);
  Measured large(program, mapping(16000));
  EXPECT_FALSE(large.fits);
  const Diagnostic* found = large.find("sequoia-does-not-fit");
  ASSERT_TRUE(found) << large.rendered();
  EXPECT_NE(found->notes[0].find("wants 64000 bytes (16000 elements of 8 bytes, for indices of 4 bytes"),
            std::string::npos)
      << found->notes[0];
}

TEST(SequoiaSizes, ABoundStatedTwiceIsNotTakenOffTwice) {
  // The most elements of the block say nothing about where the array ends.
  const char* program = R"(
void task Top(in int A[N]);
void task Part(in int A[N]);
void task<inner> Top::Inner(in int A[N]) { Part(A[1 : 3 : 1; 2]); }
void task<leaf> Part::Leaf(in int A[N]) { long n = N; }
)";
  Measured session(program,
                   "task Top : entrypoint(In) { instance In::Inner(level 2) { control(level 2) { callsite Part() "
                   "{ target Low() { } } } } } task Part { instance Low::Leaf(level 0) { } }");
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.demand[0].total, 16u); // two elements, aligned
}

} // namespace
} // namespace strata::sequoia::testing
