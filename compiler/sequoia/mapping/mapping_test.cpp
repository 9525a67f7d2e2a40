// The brace form of a mapping: reading, writing back, and what is refused.
#include "compiler/sequoia/sequoia_testing.h"

namespace strata::sequoia::testing {
namespace {

/// Every directive of the form once.
const char* everything = R"(
#include "cell.xml"
task Main : entrypoint(Top) entrypoint(Other) {
  instance Top::Inner(level 2) : unique overlay external("fast.cpp") {
    tunable T = 64; /* a comment */
    tunable U[1] = 8;
    tunable V = divisor(512);
    scratch = 4096;
    data(level 2) : spaceshare(A, B[1]) {
      array A[2](level 1) {
        elements <= 1024, 128;
        elements = 7;
        pitch >= 16;
        blockcyclic { grid = 2, 4; blocksize = 64; }
      }
    }
    data() { }
    control(level 0) {
      loop i[1](level 2) : flat {
        swp = 2;
        unroll = 3;
        spmd { fullrange = 0,8; ways = auto; iterblk = 16; }
      }
      loop j() { spmd { ways = 4; } } // the other kind of ways
      callsite Main[2]() {
        target Leaf() : dynamic copy(A, B) { A.elements <= 16, 32; instantiations >= 3; }
        target Other() { }
      }
    }
  }
}
)";

TEST(SequoiaMapping, ReadsBackEqual) {
  Session session;
  std::optional<Mapping> mapping = session.readMap(everything);
  ASSERT_TRUE(mapping) << session.rendered();
  EXPECT_EQ(mapping->machine, "cell.xml");
  const MappedInstance* top = mapping->findInstance("Top");
  ASSERT_TRUE(top);
  EXPECT_EQ(mapping->tasks[0].entryPoints.size(), 2u);
  EXPECT_EQ(top->variant.text, "Inner");
  EXPECT_TRUE(top->uniqueOverlay);
  EXPECT_EQ(top->externalFile, "fast.cpp");
  EXPECT_EQ(top->tunables[1].name.lexnum, 1u);
  EXPECT_TRUE(top->tunables[2].isDivisor && !top->tunables[1].isDivisor);
  EXPECT_EQ(top->data[0].arrays[0].elements[0].relation, Relation::AtMost);
  EXPECT_EQ(top->data[0].arrays[0].blockCyclic->grid, (std::vector<int64_t>{2, 4}));
  EXPECT_TRUE(top->control[0].loops[0].spmd->waysAuto);
  EXPECT_EQ(top->control[0].callsites[0].targets[0].conditions[1].bound.relation, Relation::AtLeast);

  Session again;
  std::optional<Mapping> second = again.readMap(writeMapping(*mapping));
  ASSERT_TRUE(second) << again.rendered() << writeMapping(*mapping);
  EXPECT_EQ(*second, *mapping);
  second->tasks[0].instances[0].tunables[0].value.value = 65;
  EXPECT_FALSE(*second == *mapping);
}

TEST(SequoiaMapping, ReadsNumbersAsCHasThem) {
  std::pair<const char*, int64_t> cases[] = {{"0x1000", 4096}, {"0XfFu", 255}, {"64ul", 64},  {"1LL", 1},
                                             {"010", 8},       {"0", 0},       {"-0x10", -16}};
  for (auto [text, value] : cases) {
    Session session;
    auto mapping = session.readMap("task T { instance A::B() { tunable T = " + std::string(text) + "; } }");
    ASSERT_TRUE(mapping) << text << "\n" << session.rendered();
    EXPECT_EQ(mapping->tasks[0].instances[0].tunables[0].value.value, value) << text;
  }
}

TEST(SequoiaMapping, ComparesAlikeEverywhere) {
  std::pair<const char*, Relation> cases[] = {{"<", Relation::Less},
                                              {"<=", Relation::AtMost},
                                              {"=", Relation::Equal},
                                              {">=", Relation::AtLeast},
                                              {">", Relation::Greater}};
  for (auto [sign, relation] : cases) {
    Session session;
    const std::string bound = " " + std::string(sign) + " 4;";
    auto mapping = session.readMap("task T { instance A::B() { data() { array x() { elements" + bound + " pitch" +
                                   bound + " } } control() { callsite S() { target C() { x.elements" + bound +
                                   " instantiations" + bound + " } } } } }");
    ASSERT_TRUE(mapping) << sign << "\n" << session.rendered();
    const MappedInstance& instance = mapping->tasks[0].instances[0];
    EXPECT_EQ(instance.data[0].arrays[0].elements[0].relation, relation);
    EXPECT_EQ(instance.data[0].arrays[0].pitch[0].relation, relation);
    for (const TargetCondition& condition : instance.control[0].callsites[0].targets[0].conditions)
      EXPECT_EQ(condition.bound.relation, relation);
    // Both forms say the same.
    for (MappingForm form : {MappingForm::Braces, MappingForm::Xml}) {
      Session again;
      auto second = again.readMap(writeMapping(*mapping, form));
      ASSERT_TRUE(second) << again.rendered();
      EXPECT_EQ(*second, *mapping);
    }
  }
}

TEST(SequoiaMapping, RefusesWhatIsWrong) {
  std::pair<const char*, const char*> cases[] = {
      {"task { }", "sequoia-mapping-syntax"},
      {"include \"cell\"", "sequoia-mapping-syntax"},
      {"task T { instance A::B { } }", "sequoia-mapping-syntax"},
      {"task T { instance A::B() { tunable T; } }", "sequoia-mapping-syntax"},
      {"task T { instance A::B() { loop i() { } } }", "sequoia-mapping-syntax"},
      {"task T { instance A::B() {", "source-missing-closing-brace"},
      {"task T { instance A::B() { tunable T = 99999999999999999999; } }", "sequoia-mapping-number"},
      {"task T { instance A::B() { tunable T = 12x; } }", "sequoia-mapping-number"},
      {"task T { instance A::B() { tunable T = 0x; } }", "sequoia-mapping-number"},
      {"task T { instance A::B() { tunable T = 09; } }", "sequoia-mapping-number"},
      {"task T { instance A::B() { tunable T = 1uu; } }", "sequoia-mapping-number"},
      {"#include \"a\"\n#include \"b\"", "sequoia-mapping-twice"},
      {"task T { instance A::B() { control() { loop i() { swp = 1; swp = 2; } } } }", "sequoia-mapping-twice"},
      {"task T { instance A::B() { control() { loop i() { spmd { ways = 1; ways = auto; } } } } }",
       "sequoia-mapping-twice"},
      {"task T { instance A::B() { control() { loop i() { spmd { fullrange = 0,1; fullrange = 0,2; } } } } }",
       "sequoia-mapping-twice"},
      {"task T { instance A::B() { control() { loop i() { spmd { } spmd { } } } } }", "sequoia-mapping-twice"},
      {"task T { instance A::B() { data() { array S() { blockcyclic { } blockcyclic { } } } } }",
       "sequoia-mapping-twice"},
      {"task T { instance A::B() { data() { array S() { blockcyclic { grid = 1; grid = 2; } } } } }",
       "sequoia-mapping-twice"},
      {"task T { instance A::B() external(\"a\") external(\"b\") { } }", "sequoia-mapping-twice"},
      {"task T { instance A::B() unique overlay unique overlay { } }", "sequoia-mapping-twice"},
      {"task T : entrypoint(A, A) { instance A::B() { } }", "sequoia-mapping-twice"},
      {"task T { instance A::B() external(\"\") { } }", "sequoia-mapping-file-name"},
      {"#include \"a\nb\"", "sequoia-mapping-file-name"},
      {"task T { instance A::B() { tunable T = ?; } }", "sequoia-mapping-blank"},
      {"task T : entrypoint(?) { }", "sequoia-mapping-blank"},
      {"task T { instance A::B() external(\"?\") { } }", "sequoia-mapping-blank"},
      {"task T { instance A::B(level -1) { } }", "sequoia-mapping-syntax"},
  };
  for (auto [text, code] : cases) {
    Session session;
    EXPECT_FALSE(session.readMap(text)) << text;
    EXPECT_TRUE(session.find(code)) << text << "\n" << session.rendered();
  }
}

TEST(SequoiaMapping, TheNearestWordIsTold) {
  Session session;
  EXPECT_FALSE(session.readMap("task T { instance A::B() { control() { loop i() { spmd { way = auto; } } } } }"));
  ASSERT_EQ(session.codes(), "sequoia-mapping-syntax") << session.rendered();
  EXPECT_EQ(session.diagnostics.all()[0].helps, std::vector<std::string>{"did you mean 'ways'?"});
  Session far;
  EXPECT_FALSE(far.readMap("task T { instance A::B() { control() { loop i() { spmd { } ( } } } }"));
  EXPECT_TRUE(far.diagnostics.all()[0].helps.empty()) << far.rendered();
}

TEST(SequoiaMapping, WhatIsMeantIsTold) {
  const struct {
    std::string text;
    const char *code, *part;
  } cases[] = {
      {"task T : entry(A) { }", "sequoia-mapping-syntax", "did you mean 'entrypoint'?"},
      {"task T { instance A::B(0) { } }", "sequoia-mapping-syntax", "expected 'level' and its number"},
      {"task T { instance A::B(level 0) { tunable t = 4 * 4; } }", "sequoia-mapping-syntax",
       "write out what it comes to"},
      {"task T { instance A::B(level 0) { tunable t = 4.0; } }", "sequoia-mapping-syntax",
       "write out what it comes to"},
      {"task T { instance A::B(level 0) { tunable t = 16K; } }", "sequoia-mapping-number", "16384 for 16K"},
      {"task T { instance A::B(level 0) { tunable t = 4; # four\n } }", "sequoia-mapping-syntax", "begins with '//'"},
      {"task T { instance A::B(level 0) { tunable t = 4\n } }", "sequoia-mapping-syntax",
       "expected ';' after the value of the tunable, found the end of the line"},
  };
  for (const auto& each : cases) {
    Session session;
    EXPECT_FALSE(session.readMap(each.text)) << each.text;
    EXPECT_EQ(session.codes(), each.code) << each.text << session.rendered();
    EXPECT_NE(session.rendered().find(each.part), std::string::npos) << each.text << session.rendered();
  }
}

TEST(SequoiaMapping, EveryBlankIsReported) {
  Session session;
  EXPECT_FALSE(session.readMap("task T : entrypoint(?) {\n  instance A::B(level ?) {\n    tunable U = ?;\n  }\n}\n"));
  EXPECT_EQ(session.codes(), "sequoia-mapping-blank sequoia-mapping-blank sequoia-mapping-blank") << session.rendered();
}

TEST(SequoiaMapping, ReportsSeveralErrorsInTheirLines) {
  Session session;
  EXPECT_FALSE(session.readMap(
      "task T {\n  instance A::B() {\n    tunable = 1;\n    tunable U = 2;\n    data { }\n  }\n}\ntusk\n"));
  ASSERT_EQ(session.codes(), "sequoia-mapping-syntax sequoia-mapping-syntax sequoia-mapping-syntax")
      << session.rendered();
  EXPECT_EQ(session.sources.lineColumn(session.diagnostics.all()[1].labels[0].location).line, 5u);
  EXPECT_EQ(session.sources.lineColumn(session.diagnostics.all()[2].labels[0].location).line, 8u);
}

} // namespace
} // namespace strata::sequoia::testing
