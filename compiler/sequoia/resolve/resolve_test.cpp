// Mappings against a program and a machine: names, levels, targets, and the rules between them.
#include "compiler/sequoia/sequoia_testing.h"

namespace strata::sequoia::testing {
namespace {

const char* programText = R"(
void task Add(in float S[N], inout float D[N]);
void task<leaf> Add::Leaf(in float S[N], inout float D[N]) { for (long i = 0; i < N; i++) D[i] += S[i]; }
void task<inner> Add::Inner(in float S[N], inout float D[N]) {
  tunable block;
  float buffer[block];
  mappar (long i = 0 : (N + block - 1) / block) { Add(S[i * block; block], D[i * block; block]); }
  mapseq (long i = 0 : 1) { Add(S[0; block], D[0; block]); }
}
void task<ext> Add::Outside(in float S[N], inout float D[N]);
void task Total(in int S[N], inout int t);
void task Plus(in int a, inout int b);
void task<leaf> Plus::Leaf(in int a, inout int b) { b += a; }
void task<leaf> Total::Leaf(in int S[N], inout int t) { for (long i = 0; i < N; i++) t += S[i]; }
void task<inner> Total::Inner(in int S[N], inout int t) {
  tunable block;
  int first = 0;
  first = 1;
  mapreduce (long i = S[0] : N / block) { Total(S[i * block; block], reducearg<t, Plus>); }
}
)";

/// A mapping of Add to cell. The pieces named in the tests replace parts of it.
const std::string mapped = R"(
#include "cell"
task Add : entrypoint(Top) {
  instance Top::Inner(level 2) {
    tunable block = 1024;
    control(level 2) {
      loop i[0](level 0) { spmd { fullrange = 0,8; ways = 8; } }
      loop i[1](level 0) { }
      callsite Add[0]() { target Low() { } }
      callsite Add[1]() { target Low() { } }
    }
  }
  instance Low::Leaf(level 0) { }
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

struct Resolved : Session {
  std::optional<Mapping> mapping;
  std::optional<InstanceGraph> graph;
  Machine target;
  explicit Resolved(const std::string& map, const std::string& machineName = "cell", std::string_view entry = "") {
    read(programText);
    EXPECT_TRUE(this->program) << rendered();
    mapping = readMap(map);
    EXPECT_TRUE(mapping) << rendered();
    target = machine(machineName);
    if (mapping && this->program)
      graph = resolve(*this->program, *mapping, target, entry, diagnostics);
  }
};

// The rounding of a reduction may not depend on how many cores a computer has. Processors with stores below them are
// told apart, and a machine's description says how many they are.
TEST(SequoiaResolve, AReductionHasSixteenPartsWhereMemoryIsShared) {
  for (auto [machineName, level, ways] :
       {std::tuple("host", 0u, int64_t(16)), {"cell", 0u, 0}, {"cell", 2u, 0}, {"cell-disk", 3u, 0}}) {
    SCOPED_TRACE(machineName + std::to_string(level));
    const std::string at = "level " + std::to_string(level);
    Resolved session(
        "#include \"" + std::string(machineName) + "\"\ntask Total : entrypoint(Top) { instance Top::Inner(" + at +
            ") { tunable block = 8; control(" + at + ") { loop i(" + at +
            ") { spmd { ways = auto; } } callsite Total() { target Low() { } } callsite Plus() { target Sum() { "
            "} } } } instance Low::Leaf(level 0) { } }\ntask Plus { instance Sum::Leaf(level 0) { } }\n",
        machineName);
    ASSERT_TRUE(session.graph) << session.rendered();
    ASSERT_TRUE(session.graph->instances[0].loops[0].spmd);
    EXPECT_EQ(session.graph->instances[0].loops[0].spmd->ways, ways);
  }
}

TEST(SequoiaResolve, GivesTheGraphOfInstances) {
  Resolved session(mapped);
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.codes(), "");
  ASSERT_EQ(session.graph->instances.size(), 2u);
  const Instance& top = session.graph->instances[0];
  EXPECT_EQ(top.name, "Top");
  EXPECT_EQ(top.tunables, std::vector<int64_t>{1024});
  EXPECT_EQ(top.arrayLevels, (std::vector<unsigned>{2, 2, 2}));
  EXPECT_EQ(top.loops[0].level, 0u);
  ASSERT_TRUE(top.loops[0].spmd);
  EXPECT_EQ(top.loops[0].spmd->ways, 8);
  EXPECT_FALSE(top.loops[1].spmd);
  EXPECT_EQ(top.callsites[0].targets[0].instance, 1u);
  EXPECT_EQ(top.callsites[0].level, 0u);
}

TEST(SequoiaResolve, NearestLevelWins) {
  Resolved session(replaced(mapped, "tunable block", "data(level 2) { array buffer(level 1) { } }\n tunable block"));
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.graph->instances[0].arrayLevels, (std::vector<unsigned>{2, 2, 1}));
}

TEST(SequoiaResolve, TargetsHaveConditions) {
  Resolved session(replaced(mapped, "callsite Add[0]() { target Low() { } }",
                            "callsite Add[0]() { target Low() { S.elements <= 100; } target Low() { } }"));
  ASSERT_TRUE(session.graph) << session.rendered();
  const auto& targets = session.graph->instances[0].callsites[0].targets;
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].conditions[0].array->name, "S");
  EXPECT_EQ(targets[0].conditions[0].bound.values, std::vector<int64_t>{100});
}

TEST(SequoiaResolve, ReportsWhatDoesNotMatch) {
  struct Case {
    const char *code, *from, *to;
  };
  Case cases[] = {
      {"sequoia-mapping-task", "task Add", "task Ad"},
      {"sequoia-mapping-variant", "Top::Inner", "Top::Iner"},
      {"sequoia-mapping-instance", "instance Low::Leaf(level 0) { }",
       "instance Low::Leaf(level 0) { } instance Low::Leaf(level 0) { }"},
      {"sequoia-mapping-name", "tunable block", "tunable blok"},
      {"sequoia-mapping-name", "loop i[0]", "loop j"},
      {"sequoia-mapping-name", "tunable block", "data() { array T() { } } tunable block"},
      {"sequoia-mapping-ambiguous", "loop i[0]", "loop i"},
      {"sequoia-mapping-ambiguous", "callsite Add[0]", "callsite Add"},
      {"sequoia-mapping-lexnum", "loop i[1]", "loop i[2]"},
      {"sequoia-mapping-repeated", "loop i[1]", "loop i[0]"},
      {"sequoia-mapping-tunable", "tunable block = 1024;", ""},
      {"sequoia-mapping-tunable-too-large", "tunable block = 1024;", "tunable block = 1099511627777;"},
      {"sequoia-mapping-tunable-negative", "tunable block = 1024;", "tunable block = -1;"},
      {"sequoia-mapping-tunable-negative", "tunable block = 1024;", "tunable block = -1099511627777;"},
      {"sequoia-mapping-divisor", "tunable block = 1024;", "tunable block = divisor(1024);"},
      {"sequoia-mapping-contradiction", "tunable block",
       "data() { array S() { elements >= 9; elements <= 5; } } tunable block"},
      {"sequoia-mapping-contradiction", "tunable block",
       "data() { array S() { pitch = 9; pitch <= 5; } } tunable block"},
      {"sequoia-mapping-contradiction", "target Low() { }",
       "target Low() { S.elements >= 9; D.elements <= 5; S.elements = 8; } target Low() { }"},
      {"sequoia-mapping-contradiction", "target Low() { }", "target Low() { instantiations < 0; } target Low() { }"},
      {"sequoia-mapping-contradiction", "target Low() { }",
       "target Low() { instantiations > 3; instantiations < 4; } target Low() { }"},
      {"sequoia-mapping-callsite", "callsite Add[1]() { target Low() { } }", ""},
      {"sequoia-mapping-targets", "callsite Add[1]() { target Low() { } }", "callsite Add[1]() { }"},
      {"sequoia-mapping-target", "target Low", "target Lowe"},
      {"sequoia-mapping-target", "entrypoint(Top)", "entrypoint(Tip)"},
      {"sequoia-mapping-level", "Top::Inner(level 2)", "Top::Inner(level 3)"},
      {"sequoia-mapping-level-missing", "Low::Leaf(level 0)", "Low::Leaf()"},
      {"sequoia-mapping-entry", ": entrypoint(Top)", ""},
      {"sequoia-mapping-unreached", "instance Low::Leaf(level 0) { }",
       "instance Low::Leaf(level 0) { } instance Lost::Leaf(level 0) { }"},
      {"sequoia-mapping-rank", "tunable block", "data() { array S() { elements <= 1, 2; } } tunable block"},
      {"sequoia-mapping-precondition", "tunable block", "data() { array buffer() { elements <= 1; } } tunable block"},
      {"sequoia-mapping-spmd", "ways = 8", "ways = 9"},
      {"sequoia-mapping-spmd", "ways = 8", "ways = 0"},
      {"sequoia-mapping-spmd", "fullrange = 0,8", "fullrange = 4,12"},
      {"sequoia-mapping-spmd", "fullrange = 0,8; ways = 8", "fullrange = 4,8; ways = 5"},
      {"sequoia-mapping-spmd", "ways = 8", "iterblk = 0"},
      {"sequoia-mapping-spmd", "loop i[1](level 0) { }", "loop i[1](level 0) { spmd { ways = 2; } }"},
      {"sequoia-mapping-hidden-target", "target Low() { }", "target Low() { } target Low() { S.elements <= 3; }"},
      {"sequoia-mapping-scratch", "tunable block", "scratch = 8; tunable block"},
      {"sequoia-mapping-layout", "tunable block", "data() { array S() { blockcyclic { grid = 0; } } } tunable block"},
      {"sequoia-mapping-rank", "tunable block", "data() { array S() { blockcyclic { grid = 1,2; } } } tunable block"},
      {"sequoia-mapping-grid", "tunable block",
       "data() { array buffer(level 1) { blockcyclic { grid = 9; } } } tunable block"},
      {"sequoia-mapping-grid", "tunable block",
       "data() { array buffer(level 1) { blockcyclic { grid = 9223372036854775807; } } } tunable block"},
      {"sequoia-mapping-share-alone", "tunable block", "data() : spaceshare(S) { } tunable block"},
      {"sequoia-mapping-repeated", "tunable block", "data() : spaceshare(S, D, S) { } tunable block"},
      {"sequoia-mapping-copy", "target Low() { }", "target Low() : copy(T) { }"},
      {"sequoia-mapping-external", "Low::Leaf(level 0)", "Low::Leaf(level 0) : external(\"a.c\")"},
      {"sequoia-mapping-external", "Low::Leaf", "Low::Outside"},
      {"sequoia-mapping-swp", "loop i[1](level 0) { }", "loop i[1](level 0) { swp = 2; }"},
      {"sequoia-mapping-count", "loop i[1](level 0) { }", "loop i[1](level 0) { unroll = 0; }"},
      {"sequoia-mapping-precondition", "tunable block", "data() { array buffer() { pitch <= 1; } } tunable block"},
      {"sequoia-mapping-rank", "tunable block", "data() { array S() { pitch <= 1, 2; } } tunable block"},
      {"sequoia-mapping-leaf-level", "Low::Leaf(level 0)", "Low::Leaf(level 2)"},
      {"sequoia-mapping-argument-level", "tunable block", "data(level 1) { } tunable block"},
      {"sequoia-mapping-recursion", "target Low() { }", "target Top() { }"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(each.code) + ": " + each.to);
    std::string text = replaced(mapped, each.from, each.to);
    if (std::string(each.code) == "sequoia-mapping-argument-level")
      text = replaced(text, "Low::Leaf(level 0) { }", "Low::Leaf(level 0) { data(level 2) { } }");
    Resolved session(text);
    EXPECT_TRUE(session.find(each.code)) << session.rendered();
    EXPECT_FALSE(session.graph);
  }
}

TEST(SequoiaResolve, PitchesDynamicCallsAndCountsReachTheGraph) {
  std::string text = replaced(mapped, "tunable block", "data() { array S() { pitch >= 8; } } tunable block");
  text = replaced(text, "target Low() { }", "target Low() : dynamic { instantiations < 3; } target Low() { }");
  Resolved session(text);
  ASSERT_TRUE(session.graph) << session.rendered();
  const Instance& top = session.graph->instances[0];
  ASSERT_EQ(top.pitchPreconditions.size(), 1u);
  EXPECT_EQ(top.pitchPreconditions[0].bound.relation, Relation::AtLeast);
  const std::vector<ResolvedTarget>& targets = top.callsites[0].targets;
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_TRUE(targets[0].dynamic);
  EXPECT_FALSE(targets[1].dynamic);
  ASSERT_EQ(targets[0].conditions.size(), 1u);
  EXPECT_FALSE(targets[0].conditions[0].array);
  EXPECT_EQ(session.graph->counted, std::vector<uint32_t>{1});
  EXPECT_TRUE(top.countsSelections);
  EXPECT_FALSE(session.graph->instances[1].countsSelections);
}

TEST(SequoiaResolve, ForcedCopiesAreNamedByEitherSide) {
  auto positions = [](const std::string& call,
                      const std::string& copy) -> std::pair<std::vector<uint32_t>, std::string> {
    Session each(inner("float D[8];\nfloat S[8];\n{ float D[8]; Copy(A[0;8], D); }\n" + call));
    EXPECT_TRUE(each.program) << each.rendered();
    std::optional<Mapping> mapping = each.readMap(
        "task T : entrypoint(Top) { instance Top::I(level 0) { control() { callsite Copy[0]() { target Low() { } } "
        "callsite Copy[1]() { target Low() : copy(" +
        copy + ") { } } } } }\ntask Copy { instance Low::L(level 0) { } }");
    Machine host = each.machine("host");
    std::optional<InstanceGraph> graph =
        each.program && mapping ? resolve(*each.program, *mapping, host, "", each.diagnostics) : std::nullopt;
    const Diagnostic* wrong = each.find("sequoia-mapping-copy");
    std::string message =
        wrong ? wrong->message + (wrong->helps.empty() ? "" : "; " + wrong->helps[0]) : each.rendered();
    return {graph ? graph->instances[0].callsites[1].targets[0].forcedCopies : std::vector<uint32_t>(),
            graph ? "" : message};
  };
  using Positions = std::vector<uint32_t>;
  // The parameters of Copy are S and D.
  EXPECT_EQ(positions("Copy(A, B);", "S").first, Positions{0});
  EXPECT_EQ(positions("Copy(A, B);", "B").first, Positions{1});
  EXPECT_EQ(positions("Copy(A, B);", "D, A").first, (Positions{0, 1}));
  EXPECT_EQ(positions("Copy(S, B);", "S").first, Positions{0});
  EXPECT_NE(positions("Copy(A, B);", "C").second.find("no array argument is called so"), std::string::npos);
  EXPECT_NE(positions("Copy(D, B);", "D").second.find("another argument of the call"), std::string::npos);
}

TEST(SequoiaResolve, SelectionsInParallelIterationsCannotBeCounted) {
  const char* twice = R"(
task Add : entrypoint(Top) {
  instance Top::Inner(level 2) {
    tunable block = 1024;
    control(level 2) {
      callsite Add[0]() { target FIRST() { } }
      callsite Add[1]() { target SECOND() { } }
    }
  }
  instance Middle::Inner(level 2) {
    tunable block = 512;
    control(level 2) {
      callsite Add[0]() { target Low() { instantiations < 3; } target Other() { } }
      callsite Add[1]() { target Low() { } }
    }
  }
  instance Low::Leaf(level 0) { }
  instance Other::Leaf(level 0) { }
}
)";
  // The first call stands in a mappar, the second in a mapseq.
  Resolved parallel(replaced(replaced(twice, "FIRST", "Middle"), "SECOND", "Low"));
  EXPECT_TRUE(parallel.find("sequoia-mapping-parallel-count")) << parallel.rendered();
  EXPECT_FALSE(parallel.graph);
  Resolved sequential(replaced(replaced(twice, "FIRST", "Low"), "SECOND", "Middle"));
  ASSERT_TRUE(sequential.graph) << sequential.rendered();
  EXPECT_TRUE(sequential.graph->instances[0].countsSelections);
}

TEST(SequoiaResolve, LocalSpaceIsOfExternalTasks) {
  std::string text = replaced(mapped, "instance Low::Leaf(level 0) { }",
                              "instance Low::Outside(level 0) external(\"a.c\") { scratch = 100; }");
  Resolved session(text);
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.graph->instances[1].scratch, 100);
  Resolved none(replaced(text, "scratch = 100", "scratch = 0"));
  EXPECT_TRUE(none.find("sequoia-mapping-scratch")) << none.rendered();
}

TEST(SequoiaResolve, ALevelMayStandInABlockAlone) {
  Resolved session(replaced(mapped, "instance Low::Leaf(level 0) { }", "instance Low::Leaf() { data(level 0) { } }"));
  EXPECT_TRUE(session.graph) << session.rendered();
}

TEST(SequoiaResolve, TunablesMayBeZero) {
  Resolved session(replaced(mapped, "block = 1024", "block = 0"));
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.graph->instances[0].tunables, std::vector<int64_t>{0});
}

TEST(SequoiaResolve, WhatAgreesIsNoContradiction) {
  for (const char* conditions : {"S.elements >= 5; S.elements <= 5;", "S.elements <= 3; D.elements >= 4;",
                                 "instantiations < 1; instantiations >= 0;", "instantiations > 2; S.elements <= 1;",
                                 "S.elements <= 9223372036854775807; S.elements >= 9223372036854775807;"}) {
    Resolved session(
        replaced(mapped, "target Low() { }", std::string("target Low() { ") + conditions + " } target Low() { }"));
    EXPECT_FALSE(session.find("sequoia-mapping-contradiction")) << session.rendered();
  }
}

TEST(SequoiaResolve, OneMistakeIsOneMessage) {
  std::pair<const char*, std::pair<const char*, const char*>> cases[] = {
      {"sequoia-mapping-task", {"task Add", "task Ad"}},
      {"sequoia-mapping-variant", {"Top::Inner", "Top::Iner"}},
      {"sequoia-mapping-target", {"entrypoint(Top)", "entrypoint(Tip)"}},
      {"sequoia-mapping-name", {"tunable block", "tunable blok"}},
      {"sequoia-mapping-name", {"callsite Add[0]", "callsite Ad[0]"}},
      {"sequoia-mapping-ambiguous", {"callsite Add[0]", "callsite Add"}},
      {"sequoia-mapping-lexnum", {"callsite Add[1]", "callsite Add[2]"}},
  };
  for (const auto& [code, change] : cases) {
    Resolved session(replaced(mapped, change.first, change.second));
    EXPECT_EQ(session.codes(), code) << session.rendered();
  }
}

TEST(SequoiaResolve, MessagesSayWhereAndWhatToChange) {
  struct Case {
    const char *from, *to, *said;
  };
  Case cases[] = {
      {"block = 1024", "block = -1024", "test.map:5:21 (mapping)"},
      {"loop i[0]", "loop something", "loops of this variant are 'i'"},
      {"callsite Add[1]() { target Low() { } }", "", "write callsite Add[1]() {"},
      {"target Low", "target Elsewhere", "instances of 'Add' are 'Low', 'Top'"},
      {"ways = 8", "ways = 9", "test.map:7:59 (mapping)"},
      {"ways = 8", "ways = 9", "write 8 at most, or 'auto'"},
      {"fullrange = 0,8", "fullrange = 0,9", "level 0 has processors 0,8"},
      {"fullrange = 0,8", "fullrange = 5,3", "there are no processors from 5 up to, without, 3"},
      {"loop i[1](level 0) { }", "loop i[1](level 0) { swp = 2; }", "take 'swp' out"},
      {"loop i[1](level 0) { }", "loop i[1](level 0) { spmd { } }", "take 'spmd' out"},
      {"#include \"cell\"", "", "the mapping names no machine"},
      {"tunable block", "data() { array S() { elements >= 9; elements <= 5; } } tunable block",
       "instance 'Top' could never be called: the elements of 'S' in dimension 0 would have to be 9 or more and 5 or "
       "fewer"},
  };
  for (const Case& each : cases) {
    // Without a machine of the mapping, another one is used.
    Resolved session(replaced(mapped, each.from, each.to), *each.to || *each.from != '#' ? "cell" : "host");
    EXPECT_NE(session.rendered().find(each.said), std::string::npos) << each.to << "\n" << session.rendered();
  }
}

TEST(SequoiaResolve, SuggestsNamesAndPointsIntoBothFiles) {
  Resolved session(replaced(mapped, "tunable block", "tunable blok"));
  const Diagnostic* found = session.find("sequoia-mapping-name");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->helps[0], "did you mean 'block'?");
  EXPECT_EQ(session.sources.buffer(found->labels[0].location.buffer).kind(), SourceKind::Mapping);
  EXPECT_EQ(session.sources.lineColumn(found->labels[0].location).line, 5u);
  EXPECT_EQ(session.sources.buffer(found->labels[1].location.buffer).kind(), SourceKind::Program);
}

TEST(SequoiaResolve, HintsAreRemarks) {
  Resolved session(replaced(mapped, "Low::Leaf(level 0)", "Low::Leaf(level 0) : unique overlay"));
  EXPECT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.codes(), "sequoia-mapping-hint");
  std::pair<const char*, const char*> idle[][2] = {
      {{"tunable block", "data() { array S() { blockcyclic { grid = 2; } } } tunable block"},
       {"a block-cyclic layout of 'S'", "level 2 is one memory"}},
      {{"fullrange = 0,8; ways = 8;", "fullrange = 2,5; ways = 1; iterblk = 4;"},
       {"'iterblk'", "one processor takes all"}},
  };
  for (const auto& [change, said] : idle) {
    Resolved changed(replaced(mapped, change.first, change.second));
    EXPECT_TRUE(changed.graph) << changed.rendered();
    const Diagnostic* hint = changed.find("sequoia-mapping-hint");
    ASSERT_TRUE(hint) << changed.rendered();
    EXPECT_EQ(hint->kind->severity, Severity::Remark);
    EXPECT_NE(hint->message.find(said.first), std::string::npos) << hint->message;
    EXPECT_NE(hint->message.find(said.second), std::string::npos) << hint->message;
    EXPECT_EQ(changed.sources.buffer(hint->labels[0].location.buffer).kind(), SourceKind::Mapping);
  }
}

TEST(SequoiaResolve, WhatBecomesOfALoop) {
  Resolved session(replaced(replaced(mapped, "ways = 8; }", "ways = 8; } swp = 2; unroll = 4;"),
                            "loop i[1](level 0) { }", "loop i[1](level 0) : flat { }"));
  ASSERT_TRUE(session.graph) << session.rendered();
  EXPECT_EQ(session.codes(), "");
  EXPECT_EQ(session.graph->instances[0].loops[0].pipelineStages, 2);
  EXPECT_EQ(session.graph->instances[0].loops[0].unroll, 4);
  EXPECT_FALSE(session.graph->instances[0].loops[0].flatten);
  EXPECT_TRUE(session.graph->instances[0].loops[1].flatten);
  EXPECT_EQ(session.sources.buffer(session.graph->instances[0].loops[1].place.buffer).kind(), SourceKind::Mapping);
}

const std::string total = R"(
task Total : entrypoint(Top) {
  instance Top::Inner(level 2) {
    tunable block = 1024;
    control() { loop i(level 2) { } callsite Total() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
task Plus { instance PlusLow::Leaf(level 0) { } }
)";

TEST(SequoiaResolve, ControlStandsBesideItsData) {
  Resolved beside(total);
  EXPECT_TRUE(beside.graph) << beside.rendered();
  ASSERT_EQ(beside.graph->instances[0].callsites.size(), 2u);
  EXPECT_EQ(beside.graph->instances[0].callsites[1].targets.size(), 1u) << "the only instance of the combining task";
  Resolved away(replaced(total, "loop i(level 2)", "loop i(level 0)"));
  EXPECT_TRUE(away.find("sequoia-mapping-control-data")) << away.rendered();
  EXPECT_NE(away.rendered().find("map loop 'i' to level 2"), std::string::npos) << away.rendered();
  EXPECT_NE(away.rendered().find(":5:22 (mapping)"), std::string::npos) << away.rendered();
}

TEST(SequoiaResolve, ControlPassesInwards) {
  Session session(inner("mapseq (int i = 0 : 2, int j = 0 : 2) { Scale(x, B[0;8]); }"));
  std::optional<Mapping> mapping = session.readMap(R"(
task T : entrypoint(Top) {
  instance Top::I(level 2) {
    control() { loop i(level 0) { } loop j(level 2) { } callsite Scale() { target Low() { } } }
  }
}
task Scale { instance Low::L(level 0) { } }
)");
  ASSERT_TRUE(session.program && mapping) << session.rendered();
  Machine cell = session.machine("cell");
  EXPECT_FALSE(resolve(*session.program, *mapping, cell, {}, session.diagnostics));
  const Diagnostic* found = session.find("sequoia-mapping-loop-level");
  ASSERT_TRUE(found) << session.rendered();
  EXPECT_EQ(session.sources.lineColumn(found->labels[0].location).line, 4u) << session.rendered();
  EXPECT_NE(session.rendered().find("map loop 'j' to level 0 or further in"), std::string::npos) << session.rendered();
}

TEST(SequoiaResolve, LeavesRunWhereKernelsRun) {
  Resolved session(mapped);
  ASSERT_TRUE(session.graph);
  for (machine::Processor& processor : session.target.processors)
    processor.userKernels = false;
  EXPECT_FALSE(resolve(*session.program, *session.mapping, session.target, {}, session.diagnostics));
  EXPECT_TRUE(session.find("sequoia-mapping-leaf-processor")) << session.rendered();
}

TEST(SequoiaResolve, TheEntryCanBeChosen) {
  EXPECT_TRUE(Resolved(mapped, "cell", "Add").graph);
  EXPECT_TRUE(Resolved(mapped, "cell", "Top").graph);
  Resolved other(mapped, "cell", "Low");
  EXPECT_TRUE(other.find("sequoia-mapping-entry"));
}

// One error, not three: what hangs on a task that is not there is not looked for.
TEST(SequoiaResolve, AMappingOfAnotherProgramIsToldOnce) {
  Resolved session("task Other : entrypoint(Begin) { instance Begin::Inner(level 2) { } }");
  EXPECT_FALSE(session.graph);
  const Diagnostic* found = session.find("sequoia-mapping-task");
  ASSERT_TRUE(found) << session.rendered();
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_EQ(found->notes[0].find("its tasks are 'Add'"), 0u) << found->notes[0];
  EXPECT_EQ(session.diagnostics.errorCount(), 1u) << session.rendered();
}

TEST(SequoiaResolve, InnerCallsGoDownwards) {
  std::string twoLevels = R"(
task Add : entrypoint(Top) {
  instance Top::Inner(level 2) {
    tunable block = 1024;
    control(level 0) { callsite Add[0]() { target Middle() { } } callsite Add[1]() { target Low() { } } }
  }
  instance Middle::Inner(level 2) {
    tunable block = 512;
    control(level 0) { callsite Add[0]() { target Low() { } } callsite Add[1]() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
)";
  Resolved session(twoLevels);
  EXPECT_TRUE(session.find("sequoia-mapping-upward")) << session.rendered();
  EXPECT_NE(
      session.rendered().find("put the control of 'Middle' at level 0 or further in, or the control that calls it "
                              "at level 2 or further out"),
      std::string::npos)
      << session.rendered();
  EXPECT_TRUE(Resolved(replaced(twoLevels, "control(level 0)", "control(level 2)")).graph);
}

} // namespace
} // namespace strata::sequoia::testing
