// Mappings made by themselves: for the examples and on the machines that ship.
#include "compiler/sequoia/sequoia_testing.h"
#include "compiler/sequoia/tune/choices.h"
#include "compiler/sequoia/tune/rehearse.h"

#include <algorithm>
#include <tuple>

namespace strata::sequoia::testing {
namespace {

const char* examples[] = {"vectadd", "matmul",  "conv2d", "histogram", "sum", "scale", "saxpy", "conv1d", "sgemv",
                          "spmv",    "scatter", "sort",   "gravity",   "fft", "fft3d", "hmmer", "cg",     "heat"};

/// The machines that ship and have so many levels or more; what has none is for stream programs, and takes no mappings.
std::vector<std::string> machinesOfLevels(size_t least = 1) {
  Session session;
  std::vector<std::string> names;
  for (const std::string& name : machineNames({STRATA_SOURCE_DIR "/machines"}))
    if (session.machine(name).levels.size() >= least)
      names.push_back(name);
  EXPECT_FALSE(names.empty());
  return names;
}

TEST(SequoiaDefaultMapping, FitsAndReadsBack) {
  for (const char* example : examples) {
    for (const std::string& machineName : machinesOfLevels()) {
      for (const KnownSizes& known :
           {KnownSizes{}, KnownSizes{{"N", 300}, {"M", 277}, {"P", 33}, {"U", 5}, {"V", 3}, {"B", 64}}}) {
        SCOPED_TRACE(std::string(example) + " on " + machineName);
        Session session(exampleText(example));
        ASSERT_TRUE(session.program) << session.rendered();
        Machine machine = session.machine(machineName);
        std::optional<Mapping> mapping = defaultMapping(*session.program, machine, {}, known, session.diagnostics);
        ASSERT_TRUE(mapping) << session.rendered();
        std::string text = writeMapping(*mapping);
        std::optional<Mapping> again = session.readMap(text);
        ASSERT_TRUE(again) << session.rendered();
        EXPECT_EQ(*again, *mapping);
        std::optional<InstanceGraph> graph = resolve(*session.program, *again, machine, {}, session.diagnostics);
        ASSERT_TRUE(graph) << session.rendered();
        EXPECT_TRUE(checkDemand(*graph, machine, propagateSizes(*graph, known), session.diagnostics));
        EXPECT_EQ(session.codes(), "") << session.rendered();
      }
    }
  }
}

TEST(SequoiaDefaultMapping, SaysThatNoTunableCutsWhatDoesNotFit) {
  // Whole lines go to a local store, however few of them.
  Session session(exampleText("fft3d"));
  Machine machine = session.machine("smp-2level");
  EXPECT_FALSE(defaultMapping(*session.program, machine, {}, {{"L", 8}, {"M", 8}, {"N", 1000}}, session.diagnostics));
  EXPECT_EQ(session.codes(), "sequoia-does-not-fit");
  EXPECT_NE(session.rendered().find("no tunable makes it smaller: array 'a' has a dimension that is not cut"),
            std::string::npos)
      << session.rendered();
  EXPECT_EQ(session.rendered().find("it is 1"), std::string::npos) << session.rendered();
}

TEST(SequoiaDefaultMapping, DimensionsThatNeedNoBoundGetNone) {
  // Sequences are as many as there are; they and the model have a bound on their length.
  Session session(exampleText("hmmer"));
  for (const std::string& machineName : machinesOfLevels(2)) {
    SCOPED_TRACE(machineName);
    Machine machine = session.machine(machineName);
    std::optional<Mapping> mapping = defaultMapping(*session.program, machine, {}, {}, session.diagnostics);
    ASSERT_TRUE(mapping) << session.rendered();
    const MappedInstance* entry = mapping->findInstance("Viterbi_Batches");
    ASSERT_TRUE(entry && entry->data.size() == 1);
    std::map<std::string, std::vector<int64_t>> bounds;
    for (const MappedArray& array : entry->data[0].arrays)
      bounds[array.name.text] = array.elements.at(0).values;
    ASSERT_TRUE(bounds.contains("residues") && bounds.contains("step"));
    EXPECT_GE(bounds["residues"][0], 1000);
    EXPECT_GE(bounds["residues"][1], 16);
    EXPECT_EQ(bounds["step"][0], 9);
    EXPECT_GT(entry->tunables[0].value.value, 1);
  }
}

TEST(SequoiaDefaultMapping, TheMappingInXmlIsTheOneInBraces) {
  auto read = [](Session& session, const std::string& name) { return session.readMap(exampleFile("conv2d/" + name)); };
  Session session;
  std::optional<Mapping> xml = read(session, "cell.xml");
  ASSERT_TRUE(xml) << session.rendered();
  EXPECT_EQ(xml, read(session, "cell.map"));
}

TEST(SequoiaDefaultMapping, ShippedMappingsResolve) {
  for (const char* example : examples) {
    for (const std::string& machineName : machinesOfLevels()) {
      SCOPED_TRACE(std::string(example) + " on " + machineName);
      Session session(exampleText(example));
      // Processor arrays are for loop programs; other programs have no mappings to them.
      if (std::ranges::any_of(session.machine(machineName).processors,
                              [](const auto& each) { return !each.array.empty(); }))
        continue;
      std::optional<Mapping> mapping = session.readMap(exampleFile(std::string(example) + "/" + machineName + ".map"));
      ASSERT_TRUE(mapping) << session.rendered();
      EXPECT_FALSE(mapping->tasks.empty());
      Machine machine = session.machine(machineName);
      std::optional<InstanceGraph> graph = resolve(*session.program, *mapping, machine, {}, session.diagnostics);
      ASSERT_TRUE(graph) << session.rendered();
      EXPECT_TRUE(checkDemand(*graph, machine, propagateSizes(*graph, {}), session.diagnostics)) << session.rendered();
    }
  }
}

/// Arrays on a disk are cut for main memory first, by an instance of the same variant.
TEST(SequoiaDefaultMapping, CutsTwiceBelowADisk) {
  Session session(exampleText("matmul"));
  Machine machine = session.machine("cell-disk");
  auto mapping =
      defaultMapping(*session.program, machine, {}, {{"M", 8192}, {"N", 8192}, {"P", 8192}}, session.diagnostics);
  ASSERT_TRUE(mapping) << session.rendered();
  const MappedInstance* outer = mapping->findInstance("Product_Blocks");
  const MappedInstance* inner = mapping->findInstance("Product_Blocks_level2");
  ASSERT_TRUE(outer && inner);
  EXPECT_EQ(outer->level->value, 3);
  EXPECT_EQ(inner->level->value, 2);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_GT(outer->tunables[i].value.value, inner->tunables[i].value.value);
}

TEST(SequoiaDefaultMapping, PartsAreNeighboursWhereArraysAre) {
  // Arrays in a virtual memory have even shares; elsewhere processors take iterations in turn.
  for (const auto& [machineName, inTurn] : {std::pair("ranks", false), {"cluster", false}, {"cell", true}}) {
    SCOPED_TRACE(machineName);
    Session session(exampleText("vectadd"));
    Machine machine = session.machine(machineName);
    std::optional<Mapping> mapping = defaultMapping(*session.program, machine, {}, {}, session.diagnostics);
    ASSERT_TRUE(mapping) << session.rendered();
    const MappedLoop& loop = mapping->findInstance("AddVectors_Split")->control.at(0).loops.at(0);
    ASSERT_TRUE(loop.spmd);
    EXPECT_EQ(loop.spmd->iterationBlock.has_value(), inTurn);
  }
}

TEST(SequoiaDefaultMapping, LoopsAroundLeavesAreDealtToTheProcessors) {
  for (const char* example : {"vectadd", "conv1d", "spmv"}) {
    SCOPED_TRACE(example);
    Session session(exampleText(example));
    Machine machine = session.machine("cell");
    std::optional<Mapping> mapping =
        defaultMapping(*session.program, machine, {}, {{"N", 1000}, {"M", 1000}, {"U", 5}}, session.diagnostics);
    ASSERT_TRUE(mapping) << session.rendered();
    const MappedLoop& loop =
        mapping
            ->findInstance(mapping->tasks.back().entryPoints.empty() ? mapping->tasks.front().entryPoints[0].text
                                                                     : mapping->tasks.back().entryPoints[0].text)
            ->control[0]
            .loops[0];
    EXPECT_EQ(loop.level->value, 0);
    EXPECT_TRUE(loop.spmd);
  }
}

TEST(SequoiaDefaultMapping, ATaskThatHalvesItsArraysCallsItsLeafWhenTheyAreSmall) {
  Session session(exampleText("fft"));
  Machine machine = session.machine("cell");
  std::optional<Mapping> mapping = defaultMapping(*session.program, machine, {}, {{"N", 65536}}, session.diagnostics);
  ASSERT_TRUE(mapping) << session.rendered();
  const MappedInstance* halves = mapping->findInstance("FFT_Halves");
  ASSERT_TRUE(halves);
  const std::vector<MappedTarget>& targets = halves->control[0].callsites[0].targets;
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].instance.text, "FFT_Stages");
  ASSERT_EQ(targets[0].conditions.size(), 3u);
  // Three arrays of 8-byte elements in a quarter of 256 KiB.
  EXPECT_EQ(targets[0].conditions[0].bound.values, std::vector<int64_t>{2048});
  EXPECT_EQ(targets[1].instance.text, "FFT_Halves");
}

int64_t tunable(const Mapping& mapping, std::string_view name) {
  for (const MappedTask& task : mapping.tasks)
    for (const MappedInstance& instance : task.instances)
      for (const MappedTunable& each : instance.tunables)
        if (each.name.text == name)
          return each.value.value;
  return -1;
}

std::optional<Mapping> make(Session& session, const std::string& machineName, const KnownSizes& known = {},
                            std::string_view entry = {}) {
  Machine machine = session.machine(machineName);
  return defaultMapping(*session.program, machine, entry, known, session.diagnostics);
}

TEST(SequoiaDefaultMapping, ABlockThatMustDivideDoes) {
  Session session(inner("tunable t; mappar (long i = 0 : N / t) { Copy(A[i * t; t], B[i * t; t]); }"));
  ASSERT_TRUE(session.program) << session.rendered();
  std::optional<Mapping> mapping = make(session, "host", {{"N", 30000}}, "T");
  ASSERT_TRUE(mapping) << session.rendered();
  EXPECT_GT(tunable(*mapping, "t"), 100);
  EXPECT_EQ(30000 % tunable(*mapping, "t"), 0);
}

TEST(SequoiaDefaultMapping, ATunableThatCountsPartsStaysSmall) {
  Session session(inner("tunable parts; mappar (long i = 0 : parts) { Copy(A[i * N / parts : (i + 1) * N / parts;], "
                        "B[i * N / parts : (i + 1) * N / parts;]); }"));
  ASSERT_TRUE(session.program) << session.rendered();
  std::optional<Mapping> mapping = make(session, "host", {}, "T");
  ASSERT_TRUE(mapping) << session.rendered();
  EXPECT_EQ(tunable(*mapping, "parts"), 16);
}

TEST(SequoiaDefaultMapping, LoopsThatReadArraysStayWithThem) {
  Session session(inner("tunable t; for (int i = 0; i < 3; i++) { int k = (int)A[i]; mapseq (int j = 0 : k) { Copy(A[j "
                        "* t; t], B[j * t; t]); } }"));
  ASSERT_TRUE(session.program) << session.rendered();
  std::optional<Mapping> mapping = make(session, "cell", {}, "T");
  ASSERT_TRUE(mapping) << session.rendered();
  EXPECT_EQ(mapping->findInstance("T_I")->control[0].loops[0].level->value, 2);
}

TEST(SequoiaDefaultMapping, ATaskThatCallsItselfHasAnInstanceAtEachLevel) {
  Session session(exampleText("matmul"));
  std::optional<Mapping> mapping = make(session, "smp-2level", {{"M", 4000}, {"N", 4000}, {"P", 4000}});
  ASSERT_TRUE(mapping) << session.rendered();
  const MappedInstance* outer = mapping->findInstance("Product_Blocks");
  const MappedInstance* inner = mapping->findInstance("Product_Blocks_level1");
  ASSERT_TRUE(outer && inner) << writeMapping(*mapping);
  EXPECT_EQ(outer->level->value, 2);
  EXPECT_EQ(inner->level->value, 1);
  EXPECT_EQ(outer->control[0].loops[0].level->value, 1);
  EXPECT_EQ(outer->control[0].loops[0].spmd->ways->value, 2);
  EXPECT_EQ(inner->control[0].loops[0].level->value, 0);
  EXPECT_FALSE(inner->control[0].loops[0].spmd) << "each processor has one store of level 0";
  EXPECT_GT(outer->tunables[0].value.value, inner->tunables[0].value.value) << "the outer store is larger";
  EXPECT_FALSE(make(session, "cell")->findInstance("Product_Blocks_level1")) << "a virtual level is none of these";

  std::optional<Mapping> spread = make(session, "cluster");
  ASSERT_TRUE(spread) << session.rendered();
  EXPECT_EQ(spread->findInstance("Product_Blocks")->control[0].loops[0].spmd->ways->value, 4);
  EXPECT_EQ(spread->findInstance("Product_Blocks_level1")->control[0].loops[0].spmd->ways->value, 2);
  // Sizes that nobody knows are bounded by what the virtual level holds, not by what a leaf takes.
  EXPECT_GT(spread->findInstance("Product_Blocks")->data[0].arrays[0].elements[0].values[0], 4000);
}

/// The same task at two levels: what divides outside has to be divided inside.
TEST(SequoiaDefaultMapping, ABlockDividesAtEveryLevel) {
  const std::string cut = "tunable t; mappar (long i = 0 : N / t) { T(A[i * t; t], B[i * t; t]); }";
  for (int64_t size : {1000, 1009, 30000, 131072, 999983}) {
    Session session(
        "void task T(in float A[N], out float B[N]);\n"
        "void task<leaf> T::L(in float A[N], out float B[N]) { for (long i = 0; i < N; i++) B[i] = A[i]; }\n"
        "void task<inner> T::I(in float A[N], out float B[N]) { " +
        cut + " }\n");
    ASSERT_TRUE(session.program) << session.rendered();
    std::optional<Mapping> mapping = make(session, "smp-2level", {{"N", size}}, "T");
    ASSERT_TRUE(mapping) << session.rendered();
    const int64_t outer = mapping->findInstance("T_I")->tunables[0].value.value;
    const int64_t inner = mapping->findInstance("T_I_level1")->tunables[0].value.value;
    EXPECT_EQ(size % outer, 0) << outer;
    EXPECT_EQ(outer % inner, 0) << outer << ", " << inner;
  }
}

TEST(SequoiaDefaultMapping, WhatOnlyARunKnowsIsSettledThere) {
  Session session(inner("tunable t; mappar (long i = 0 : N / t) { Copy(A[i * t; t], B[i * t; t]); }"));
  std::optional<Mapping> mapping = make(session, "cell", {}, "T");
  ASSERT_TRUE(mapping) << session.rendered();
  EXPECT_TRUE(mapping->findInstance("T_I")->tunables[0].isDivisor) << writeMapping(*mapping);
  // A library is called with other sizes than the usual ones.
  Machine machine = session.machine("cell");
  mapping = defaultMapping(*session.program, machine, "T", {{"N", 1000}}, session.diagnostics, 0, /*anySizes=*/true);
  ASSERT_TRUE(mapping) << session.rendered();
  EXPECT_TRUE(mapping->findInstance("T_I")->tunables[0].isDivisor) << writeMapping(*mapping);
  Session up(inner("tunable t; mappar (long i = 0 : (N + t - 1) / t) { Copy(A[i * t; t], B[i * t; t]); }"));
  mapping = make(up, "cell", {}, "T");
  ASSERT_TRUE(mapping) << up.rendered();
  EXPECT_FALSE(mapping->findInstance("T_I")->tunables[0].isDivisor) << "it rounds up";
}

TEST(SequoiaDefaultMapping, MaximaHoldAllAndShiftsAreSmall) {
  Session session(inner("tunable t, most; mappar (long i = 0 : (N + t - 1) / t) { "
                        "Copy(A[i * t : min(i * t + t, N); most], B[i * t : min(i * t + t, N); most]); }"));
  std::optional<Mapping> mapping = make(session, "cell", {{"N", 5000}}, "T");
  ASSERT_TRUE(mapping) << session.rendered();
  EXPECT_GE(tunable(*mapping, "most"), tunable(*mapping, "t"));
  Session shifts(
      inner("tunable k; mappar (long i = 0 : N >> k) { Copy(A[i << k : (i + 1) << k;], B[i << k : (i + 1) << k;]); }"));
  mapping = make(shifts, "host", {{"N", 3000}}, "T");
  ASSERT_TRUE(mapping) << shifts.rendered();
  EXPECT_EQ(3000 % (1 << tunable(*mapping, "k")), 0);
}

/// Where one tunable sets how long rows are, they fill a few registers before there are more of them.
TEST(SequoiaDefaultMapping, RowsComeBeforeMoreOfThem) {
  Session session(exampleText("fft3d"));
  for (const char* machine : {"cell", "cluster"}) {
    std::optional<Mapping> mapping = make(session, machine, {{"L", 64}, {"M", 64}, {"N", 64}}, "FFT3D");
    ASSERT_TRUE(mapping) << session.rendered();
    EXPECT_GE(mapping->findInstance("Turn_Bundles")->tunables[1].value.value, 64) << machine << writeMapping(*mapping);
  }
}

TEST(SequoiaDefaultMapping, AMaxOfALowerLevelHoldsWhatTheUpperOnesPass) {
  Session session("void task Main(inout int x[N]);\nvoid task<leaf> Main::L(inout int x[N]) { x[0] = 1; }\n"
                  "void task<inner> Main::I(inout int x[N]) { tunable t, most; "
                  "mapseq (long i = 0 : (N + t - 1) / t) { Main(x[i * t : min(i * t + t, N); most]); } }\n");
  std::optional<Mapping> mapping = make(session, "cell-disk", {}, "Main");
  ASSERT_TRUE(mapping) << session.rendered();
  for (const char* name : {"Main_I", "Main_I_level2"}) {
    const auto& tunables = mapping->findInstance(name)->tunables;
    EXPECT_GE(tunables[1].value.value, tunables[0].value.value) << writeMapping(*mapping);
  }
}

TEST(SequoiaDefaultMapping, LoopsOfCLeaveNothingOut) {
  for (const char* loop : {"for (long i = 0; i + t <= N; i += t)", "for (long i = N - t; i >= 0; i -= t)",
                           "for (long i = 0; i < N / t * t; i += t)", "long i = -t; while ((i += t) <= N - t)",
                           "for (long i = 0; i != N; i += t)", "for (long i = N - t; -t != i; i = i - t)"}) {
    const std::string text = inner(std::string("tunable t; ") + loop + " { Copy(A[i; t], B[i; t]); }");
    Session known(text);
    std::optional<Mapping> mapping = make(known, "cell", {{"N", 3000}}, "T");
    ASSERT_TRUE(mapping) << loop << known.rendered();
    EXPECT_GT(tunable(*mapping, "t"), 1) << loop;
    EXPECT_EQ(3000 % tunable(*mapping, "t"), 0) << loop << writeMapping(*mapping);
    EXPECT_FALSE(known.find("sequoia-default-divides")) << known.rendered();
    Session any(text);
    mapping = make(any, "cell", {}, "T");
    ASSERT_TRUE(mapping) << loop << any.rendered();
    EXPECT_TRUE(mapping->findInstance("T_I")->tunables[0].isDivisor) << loop << writeMapping(*mapping);
    EXPECT_TRUE(any.find("sequoia-default-divides")) << any.rendered();
  }
  // Where the tunable is larger than the size.
  Session taken(inner("tunable t; mappar (long i = 0 : (N - t) / t + 1) { Copy(A[i * t; t], B[i * t; t]); }"));
  std::optional<Mapping> whole = make(taken, "host", {{"N", 703}}, "T");
  ASSERT_TRUE(whole) << taken.rendered();
  EXPECT_EQ(tunable(*whole, "t"), 703);
  // Of a while loop, where it begins is not read off the text.
  Session steps(inner("tunable t; long i = 0; while (i != N) { Copy(A[i; t], B[i; t]); i += t; }"));
  std::optional<Mapping> stepped = make(steps, "host", {{"N", 70651}}, "T");
  ASSERT_TRUE(stepped) << steps.rendered();
  EXPECT_EQ(70651 % tunable(*stepped, "t"), 0);
  EXPECT_GT(tunable(*stepped, "t"), 1);
  // Elements that no value takes are left out by the program, and a loop that takes the rest asks for nothing.
  for (const char* body : {"for (long i = 0; i < N; i += t) { Copy(A[i; t], B[i; t]); }",
                           "for (long i = 1; i < N - 1; i += t) { Copy(A[i : min(i + t, N - 1);], "
                           "B[i : min(i + t, N - 1);]); }"}) {
    Session session(inner(std::string("tunable t; ") + body));
    std::optional<Mapping> mapping = make(session, "host", {{"N", 3000}}, "T");
    ASSERT_TRUE(mapping) << body << session.rendered();
    EXPECT_GT(tunable(*mapping, "t"), 1) << body;
    EXPECT_FALSE(session.find("sequoia-default-divides")) << session.rendered();
  }
}

TEST(SequoiaDefaultMapping, RowsOfStencilsAreWhole) {
  const auto tunable = [](const Mapping& mapping, std::string_view name) -> int64_t {
    for (const MappedTask& task : mapping.tasks)
      for (const MappedInstance& instance : task.instances)
        for (const MappedTunable& each : instance.tunables)
          if (each.name.text == name)
            return each.value.value;
    return 0;
  };
  // Blocks of a product are square all the same: what they have in common is used again.
  Session heat(exampleText("heat")), heat3d(exampleText("heat3d")), matmul(exampleText("matmul"));
  for (const int64_t size : {500, 1000, 4000}) {
    const auto mapping = make(heat, "host", {{"M", size}, {"N", size}}, "Heat");
    ASSERT_TRUE(mapping) << heat.rendered();
    EXPECT_GE(tunable(*mapping, "columns"), size);
    EXPECT_LE(tunable(*mapping, "columns"), 2 * size);
    EXPECT_GE(tunable(*mapping, "rows"), 8);
    EXPECT_LE(tunable(*mapping, "rows"), std::max<int64_t>(size / 8, 8)); // there is enough for several processors
  }
  const auto body = make(heat3d, "host", {{"L", 200}, {"M", 200}, {"N", 200}}, "Heat");
  ASSERT_TRUE(body) << heat3d.rendered();
  EXPECT_GE(tunable(*body, "columns"), 198);
  EXPECT_GE(tunable(*body, "rows"), 8);
  EXPECT_GE(tunable(*body, "layers"), 8);
  const auto product = make(matmul, "host", {{"M", 4096}, {"N", 4096}, {"P", 4096}}, "Product");
  ASSERT_TRUE(product) << matmul.rendered();
  EXPECT_LT(tunable(*product, "width"), 4096);
}

TEST(SequoiaDefaultMapping, TheLoopThatHasEnoughIterationsIsDistributed) {
  Session session(R"(
void task F(in float x[H][W], out float y[H][W]);
void task<inner> F::Tiles(in float x[H][W], out float y[H][W])
{
  tunable th, tw;
  mappar (long i = 0 : (H + th - 1) / th, long j = 0 : (W + tw - 1) / tw) {
    F(x[i * th; th][j * tw; tw], y[i * th; th][j * tw; tw]);
  }
}
void task<leaf> F::Pixels(in float x[H][W], out float y[H][W])
{
  for (long i = 0; i < H; i++)
    for (long j = 0; j < W; j++)
      y[i][j] = sqrt(x[i][j]);
}
)");
  const auto distributed = [](const Mapping& mapping) {
    std::string names;
    for (const MappedTask& task : mapping.tasks)
      for (const MappedInstance& instance : task.instances)
        for (const ControlMapping& control : instance.control)
          for (const MappedLoop& loop : control.loops)
            names += loop.spmd ? loop.name.text : "";
    return names;
  };
  for (const char* machine : {"host", "cell"}) {
    SCOPED_TRACE(machine);
    for (const auto& [height, width, loop] :
         {std::tuple(1, 1000000, "j"), {4, 100000, "j"}, {120, 8000, "i"}, {8000, 120, "i"}, {3, 3, "i"}}) {
      const auto mapping = make(session, machine, {{"H", height}, {"W", width}}, "F");
      ASSERT_TRUE(mapping) << session.rendered();
      EXPECT_EQ(distributed(*mapping), loop) << height << " by " << width;
    }
    EXPECT_EQ(distributed(*make(session, machine, {}, "F")), "i"); // nothing is known of the sizes
  }
}

TEST(SequoiaDefaultMapping, ATaskThatCutsItselfIntoPartsEnds) {
  const std::string task = R"(
void task A(in int x[N], out int y[N]);
void task<leaf> A::L(in int x[N], out int y[N]) { for (long i = 0; i < N; i++) y[i] = x[i] * 2; }
void task<inner> A::I(in int x[N], out int y[N]) { tunable P; )";
  Session exact(task + R"(long c = N / P;
  mappar (long i = 0 : P) { A(x[i * c : (i + 1) * c; ], y[i * c : (i + 1) * c; ]); } })");
  Session rounded(task + R"(long c = (N + P - 1) / P;
  mappar (long i = 0 : P) { A(x[min(i * c, N) : min((i + 1) * c, N);], y[min(i * c, N) : min((i + 1) * c, N);]); } })");
  AskedEntry every;
  every.isEvery = true;
  for (Session* session : {&exact, &rounded})
    for (const char* name : {"host", "cell", "smp-2level"})
      for (const int64_t size : {1, 7, 1000, 9973, 10000, 20000, 30030, 65536, 1000000}) {
        SCOPED_TRACE(std::string(session == &exact ? "exact" : "rounded") + " on " + name + " with " +
                     std::to_string(size));
        const auto mapping = make(*session, name, {{"N", size}}, "A");
        ASSERT_TRUE(mapping) << session->rendered();
        const auto graph = resolve(*session->program, *mapping, session->machine(name), every, session->diagnostics);
        ASSERT_TRUE(graph) << session->rendered();
        const Rehearsal rehearsal = rehearse(*graph, {{"N", size}});
        EXPECT_FALSE(rehearsal.isEndless);
        EXPECT_TRUE(rehearsal.misfits.empty());
        for (const Instance& instance : graph->instances)
          for (const int64_t parts : instance.tunables)
            EXPECT_LE(parts, size == 9973 ? size : 64); // a prime
      }
}

TEST(SequoiaDefaultMapping, ChoicesAreSetAgainAsTheyWereFound) {
  for (const char* example : examples)
    for (const std::string& machineName : machinesOfLevels()) {
      SCOPED_TRACE(std::string(example) + " on " + machineName);
      Session session(exampleText(example));
      const Machine machine = session.machine(machineName);
      const KnownSizes known{{"N", 300}, {"M", 277}, {"P", 33}, {"U", 5}, {"V", 3}, {"B", 64}};
      auto mapping = defaultMapping(*session.program, machine, {}, known, session.diagnostics);
      ASSERT_TRUE(mapping) << session.rendered();
      const Mapping before = *mapping;
      notation::Chosen own, other;
      for (const notation::Choice& choice : choicesOf(*session.program, *mapping, machine, known)) {
        EXPECT_TRUE(std::is_sorted(choice.values.begin(), choice.values.end()));
        EXPECT_EQ(std::count(choice.values.begin(), choice.values.end(), choice.value), 1);
        own[{choice.instance, choice.name}] = choice.value;
        other[{choice.instance, choice.name}] = choice.values.back();
      }
      choose(*mapping, own, *session.program);
      EXPECT_EQ(*mapping, before);
      choose(*mapping, other, *session.program);
      for (const notation::Choice& choice : choicesOf(*session.program, *mapping, machine, known))
        EXPECT_EQ(choice.value, (other[{choice.instance, choice.name}])) << choice.name << " of " << choice.instance;
    }
}

TEST(SequoiaDefaultMapping, ManyBlocksOfOneSizeTakeAll) {
  // A task that calls itself is entered with the blocks too.
  const std::string itself = "void task T(in int A[N], out int B[N]);\n"
                             "void task<leaf> T::L(in int A[N], out int B[N]) { B[0] = A[0]; }\n"
                             "void task<inner> T::I(in int A[N], out int B[N]) { tunable t; "
                             "for (long i = 0; i < t; i++) { T(A[i * 64; 64], B[i * 64; 64]); } }\n";
  const std::string shifted =
      inner("tunable t; for (long i = 0; i < 1L << t; i++) { Copy(A[i * 64; 64], B[i * 64; 64]); }");
  for (int64_t size : {5000, 70651, 1000003, 100000000}) {
    Session session(itself);
    std::optional<Mapping> mapping = make(session, "host", {{"N", size}}, "T");
    ASSERT_TRUE(mapping) << session.rendered();
    EXPECT_GE(tunable(*mapping, "t"), (size + 63) / 64);
    EXPECT_LE(tunable(*mapping, "t"), std::max<int64_t>(1024, (size + 63) / 64));
    Session shift(shifted);
    mapping = make(shift, "host", {{"N", size}}, "T");
    ASSERT_TRUE(mapping) << shift.rendered();
    EXPECT_GE(int64_t(1) << tunable(*mapping, "t"), (size + 63) / 64);
  }
}

TEST(SequoiaDefaultMapping, SaysWhatDoesNotComeOut) {
  Session session(inner("tunable t; mappar (long i = 0 : N / (t + 1)) { Copy(A[i * t; t], B[i * t; t]); }"));
  EXPECT_FALSE(make(session, "host", {{"N", 7919}}, "T"));
  EXPECT_EQ(session.codes(), "sequoia-default-tunable");
  EXPECT_NE(session.rendered().find("'N / (t + 1)' leaves nothing: it divides 7919 by 2"), std::string::npos)
      << session.rendered();
  EXPECT_NE(session.rendered().find("the last value tried is 1"), std::string::npos) << session.rendered();
}

TEST(SequoiaDefaultMapping, SaysWhichLoopMeetsNoEnd) {
  Session session(inner("tunable t; for (long i = 0; i != N; i += 2 * t) { Copy(A[i; 2 * t], B[i; 2 * t]); }"));
  EXPECT_FALSE(make(session, "host", {{"N", 7919}}, "T"));
  EXPECT_EQ(session.codes(), "sequoia-default-steps");
  EXPECT_NE(session.rendered().find("the end that 'i != N' states: that is 7919 away, and its steps are 2"),
            std::string::npos)
      << session.rendered();
}

TEST(SequoiaDefaultMapping, SaysWhatNoValueCovers) {
  Session session(inner("tunable t; for (long i = 0; i < t % 100 + 5; i++) { Copy(A[i * 64; 64], B[i * 64; 64]); }"));
  EXPECT_FALSE(make(session, "host", {{"N", 100000}}, "T"));
  EXPECT_EQ(session.codes(), "sequoia-default-uncovered");
  EXPECT_NE(session.rendered().find("'B[i * 64; 64]' takes all elements: of 100000 in dimension 0 it takes"),
            std::string::npos)
      << session.rendered();
  // What the program leaves out with all values is its own affair.
  for (const char* body :
       {"for (long i = 1; i + t <= N - 1; i += t) { Copy(A[i; t], B[i; t]); }",
        "for (long i = 0; i < t; i++) { Copy(A[1 + i * 64; 64], B[1 + i * 64; 64]); }",
        "mappar (long i = 0 : (N - 2 + t - 1) / t) { Copy(A[1 + i * t : min(1 + i * t + t, N - 1);], "
        "B[1 + i * t : min(1 + i * t + t, N - 1);]); }"}) {
    Session interior(inner(std::string("tunable t; ") + body));
    EXPECT_TRUE(make(interior, "host", {{"N", 5000}}, "T")) << body << interior.rendered();
  }
}

TEST(SequoiaDefaultMapping, ReportsWhatCannotBeMapped) {
  Session unknown(exampleText("matmul"));
  EXPECT_FALSE(make(unknown, "host", {}, "Prodact"));
  EXPECT_TRUE(unknown.find("sequoia-entry-unknown")) << unknown.rendered();
  EXPECT_EQ(unknown.diagnostics.all()[0].helps[0], "did you mean 'Product'?");
  EXPECT_EQ(unknown.diagnostics.all()[0].notes[0], "its tasks are 'Product'");
  Session far(exampleText("matmul"));
  EXPECT_FALSE(make(far, "host", {}, "Elsewhere"));
  EXPECT_EQ(far.diagnostics.all()[0].helps[0], "without a mapping, --entry takes the name of a task");
  Session instance(exampleText("matmul")); // the name that runs print
  EXPECT_TRUE(make(instance, "host", {}, "Product_Blocks")) << instance.rendered();
  Session leafInstance(exampleText("matmul")); // not what the default mapping begins with
  EXPECT_FALSE(make(leafInstance, "host", {}, "Product_Rows"));

  Session two(leaf("y = 1;") + "void task U(in int a); void task<leaf> U::L(in int a) { }");
  EXPECT_FALSE(make(two, "host"));
  EXPECT_TRUE(two.find("sequoia-entry-unclear")) << two.rendered();
  EXPECT_NE(two.rendered().find("the program has 2 tasks to start with; --entry says which one is meant"),
            std::string::npos);
  EXPECT_NE(two.rendered().find("task 'U'"), std::string::npos) << two.rendered();

  Session endless("void task R(in int A[N]); void task<inner> R::I(in int A[N]) { R(A); }");
  EXPECT_FALSE(make(endless, "host"));
  EXPECT_TRUE(endless.find("sequoia-default-leaf")) << endless.rendered();
}

TEST(SequoiaDefaultMapping, CallsNestAThousandDeep) {
  auto chain = [](int inner) {
    std::string text;
    for (int i = 0; i <= inner; ++i)
      text += "void task T" + std::to_string(i) + "(inout int A[N]);\n";
    for (int i = 0; i < inner; ++i)
      text += "void task<inner> T" + std::to_string(i) + "::I(inout int A[N]) { T" + std::to_string(i + 1) + "(A); }\n";
    return text + "void task<leaf> T" + std::to_string(inner) + "::L(inout int A[N]) { A[0] = 1; }\n";
  };
  Session deep(chain(1000));
  EXPECT_TRUE(make(deep, "host")) << deep.rendered();
  Session deeper(chain(1001));
  EXPECT_FALSE(make(deeper, "host"));
  EXPECT_TRUE(deeper.find("sequoia-default-depth")) << deeper.rendered();
  EXPECT_NE(deeper.rendered().find("task<inner> T1000::I"), std::string::npos) << deeper.rendered();
}

} // namespace
} // namespace strata::sequoia::testing
