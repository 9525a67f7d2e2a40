// The XML form of a mapping: what is read, that it is the same as the brace form, and where what is wrong stands.
#include "compiler/sequoia/sequoia_testing.h"

namespace strata::sequoia::testing {
namespace {

/// Every element and attribute of the form.
const char* everyElement = R"(<?xml version="1.0"?>
<!-- a mapping -->
<mapping>
<machine filename="cell.xml"/>
<entrypoints> Top, Other </entrypoints>
<taskmapping name="Main">
<instance name="Top">
<variant> Inner </variant>
<filename> fast &amp; small.cpp </filename>
<cellforceuniqueoverlay />
<tunable name="T"> 64 </tunable>
<tunable name="U" lexnum="1">-8</tunable>
<level> 2 </level>
<scratch> 4096 </scratch>
<data>
<level> 2 </level>
<spaceshare> A, B[1] </spaceshare>
<array name="A" lexnum='2'>
<level> 1 </level>
<arraynumelmtprecond type="boundabove"> 1024,128 </arraynumelmtprecond>
<arraysizeprecond type="exact" name="a">7</arraysizeprecond>
<arraypitchprecond type="boundbelow"> 16 </arraypitchprecond>
<blockcyclic><grid>2,4</grid><blocksize>64</blocksize></blockcyclic>
</array>
</data>
<data/>
<ctrl>
<level> 0 </level>
<loop name="i" lexnum="1">
<level> 2 </level>
<swp> 2 </swp>
<unroll> 3 </unroll>
<flatten />
<spmd>
<fullrange> 0,8 </fullrange>
<ways> auto </ways>
<iterblk> 16 </iterblk>
</spmd>
</loop>
<loop name="j"><spmd><ways> 4 </ways></spmd></loop>
<callsite name="Main" lexnum="2">
<target name="Leaf">
<arraysizecond name="A" type="boundabove"> 16,32 </arraysizecond>
<numinstcond type="geq"> 3 </numinstcond>
<forcedynamiccall />
<forcecopy name="A" />
<forcecopy name="B" />
</target>
<target name="Other">
</target>
</callsite>
</ctrl>
</instance>
<instance name="Other"><variant>Leaf</variant></instance>
</taskmapping>
</mapping>
)";

/// The same between braces.
const char* between = R"(#include "cell.xml"
task Main : entrypoint(Top, Other) {
  instance Top::Inner(level 2) : unique overlay external("fast & small.cpp") {
    tunable T = 64;
    tunable U[1] = -8;
    scratch = 4096;
    data(level 2) : spaceshare(A, B[1]) {
      array A[2](level 1) { elements <= 1024, 128; elements = 7; pitch >= 16; blockcyclic { grid = 2,4; blocksize = 64; } }
    }
    data() { }
    control(level 0) {
      loop i[1](level 2) : flat { swp = 2; unroll = 3; spmd { fullrange = 0,8; ways = auto; iterblk = 16; } }
      loop j() { spmd { ways = 4; } }
      callsite Main[2]() {
        target Leaf() : dynamic copy(A, B) { A.elements <= 16, 32; instantiations >= 3; }
        target Other() { }
      }
    }
  }
  instance Other::Leaf() { }
}
)";

TEST(SequoiaXmlMapping, SaysTheSameAsBraces) {
  Session session;
  std::optional<Mapping> xml = session.readMap(everyElement), braces = session.readMap(between);
  ASSERT_TRUE(xml && braces) << session.rendered();
  EXPECT_EQ(session.codes(), "");
  EXPECT_EQ(*xml, *braces) << writeMapping(*xml) << writeMapping(*braces);
  // XML to braces to XML, and back again.
  std::string asBraces = writeMapping(*xml), asXml = writeMapping(*braces, MappingForm::Xml);
  std::optional<Mapping> second = session.readMap(asXml), third = session.readMap(asBraces);
  ASSERT_TRUE(second && third) << session.rendered() << asXml << asBraces;
  EXPECT_EQ(*second, *xml);
  EXPECT_EQ(writeMapping(*third, MappingForm::Xml), asXml);
  EXPECT_EQ(writeMapping(*second), asBraces);
}

TEST(SequoiaXmlMapping, KnowsEveryRelation) {
  std::pair<const char*, Relation> counts[] = {{"lt", Relation::Less},
                                               {"leq", Relation::AtMost},
                                               {"eq", Relation::Equal},
                                               {"geq", Relation::AtLeast},
                                               {"gt", Relation::Greater}};
  for (auto [type, relation] : counts) {
    Session session;
    std::optional<Mapping> mapping = session.readMap(
        "<mapping><taskmapping name='T'><instance name='A'><variant>V</variant><ctrl><callsite name='T'>"
        "<target name='A'><numinstcond type='" +
        std::string(type) + "'>5</numinstcond></target></callsite></ctrl></instance></taskmapping></mapping>");
    ASSERT_TRUE(mapping) << session.rendered();
    const SizeBound& bound = mapping->findInstance("A")->control[0].callsites[0].targets[0].conditions[0].bound;
    EXPECT_EQ(bound.relation, relation);
    EXPECT_EQ(bound.values, std::vector<int64_t>{5});
    Session again;
    EXPECT_EQ(again.readMap(writeMapping(*mapping, MappingForm::Xml)), mapping) << again.rendered();
  }
}

/// A text, the code that it is refused with, and the line and column where.
struct Case {
  const char *text, *code;
  uint32_t line, column;
};

TEST(SequoiaXmlMapping, RefusesWhatIsWrongInItsPlace) {
  Case cases[] = {
      // Not well formed.
      {"<mapping>\n  <machine filename=\"a\">\n</mapping>", "sequoia-mapping-xml", 2, 4},
      {"<mapping>\n  <entrypoints>a<entrypoints>\n</mapping>", "sequoia-mapping-xml", 2, 18},
      {"<mapping>\n  <entrypoints>a</entrypoints\n</mapping>", "sequoia-mapping-xml", 2, 30},
      {"<mapping>\n  <entrypoints>a/entrypoints>\n</mapping>", "sequoia-mapping-xml", 2, 17},
      {"<mapping>\n  <entrypoints a</entrypoints>\n</mapping>", "sequoia-mapping-xml", 2, 15},
      {"<mapping>\n  <machine filename=\"a\"/\n</mapping>", "sequoia-mapping-xml", 2, 25},
      {"<mapping>\n  taskmapping name=\"a\">\n</taskmapping></mapping>", "sequoia-mapping-xml", 2, 3},
      {"<mapping>\n  < filename=\"a\"/>\n</mapping>", "sequoia-mapping-xml", 2, 3},
      {"<mapping>\n  </machine>\n</mapping>", "sequoia-mapping-xml", 2, 3},
      {"<mapping>\n  <taskmapping name='T'>\n", "sequoia-mapping-xml", 2, 25},
      {"<mapping>\n <!-- open", "sequoia-mapping-xml", 2, 10},
      {"<mapping>\n <! count; 1 -->\n</mapping>", "sequoia-mapping-xml", 2, 2},
      {"<mapping/>\n<mapping/>", "sequoia-mapping-xml", 2, 2},
      {"<mapping/>\n stray", "sequoia-mapping-xml", 2, 2},
      {"<!-- nothing -->", "sequoia-mapping-xml", 1, 1},
      {"<mapping>\n<machine filename=cell/></mapping>", "sequoia-mapping-xml", 2, 19},
      // Elements and attributes.
      {"\n<maping/>", "sequoia-mapping-xml-root", 2, 2},
      {"<mapping>\n <taskmaping name='T'/></mapping>", "sequoia-mapping-xml-element", 2, 3},
      {"<mapping>\n <machine file='T'/></mapping>", "sequoia-mapping-xml-attribute", 2, 11},
      {"<mapping>\n <machine/></mapping>", "sequoia-mapping-xml-missing", 2, 3},
      {"<mapping>\n <taskmapping/></mapping>", "sequoia-mapping-xml-missing", 2, 3},
      {"<mapping><taskmapping name='T'>\n<instance name='A'/></taskmapping></mapping>", "sequoia-mapping-xml-missing",
       2, 2},
      {"<mapping>\n words </mapping>", "sequoia-mapping-xml-text", 2, 2},
      {"<mapping><machine filename='a'/>\n<machine filename='b'/></mapping>", "sequoia-mapping-twice", 2, 2},
      {"<mapping><machine filename='a'\n filename='b'/></mapping>", "sequoia-mapping-twice", 2, 2},
      {"<mapping><machine filename='a\"b'/></mapping>", "sequoia-mapping-file-name", 1, 29},
      {"<mapping><taskmapping name='1T'/></mapping>", "sequoia-mapping-syntax", 1, 29},
      {"<mapping>\n<entrypoints> Top </entrypoints></mapping>", "sequoia-mapping-xml-entry", 2, 15},
      {"<mapping><taskmapping name='?'/></mapping>", "sequoia-mapping-blank", 1, 29},
  };
  for (const Case& each : cases) {
    Session session;
    EXPECT_FALSE(session.readMap(each.text)) << each.text;
    const Diagnostic* found = session.find(each.code);
    ASSERT_TRUE(found) << each.text << "\n" << session.rendered();
    ASSERT_FALSE(found->labels.empty());
    LineColumn at = session.sources.lineColumn(found->labels[0].location);
    EXPECT_EQ(at.line, each.line) << session.rendered();
    EXPECT_EQ(at.column, each.column) << session.rendered();
  }
}

/// Items of an instance that are refused.
TEST(SequoiaXmlMapping, RefusesItemsThatAreWrong) {
  std::pair<const char*, const char*> cases[] = {
      {"<level> two </level>", "sequoia-mapping-number"},
      {"<level> -1 </level>", "sequoia-mapping-syntax"},
      {"<level> 1 2 </level>", "sequoia-mapping-syntax"},
      {"<level/>", "sequoia-mapping-xml-missing"},
      {"<level> ? </level>", "sequoia-mapping-blank"},
      {"<level>1</level><level>2</level>", "sequoia-mapping-twice"},
      {"<level> <b/> </level>", "sequoia-mapping-xml-element"},
      {"<tunable name='T' lexnum='-1'>1</tunable>", "sequoia-mapping-syntax"},
      {"<tunable name='T'>99999999999999999999</tunable>", "sequoia-mapping-number"},
      {"<tunable lexnum='0'>1</tunable>", "sequoia-mapping-xml-missing"},
      {"<tunable name='T' lex='0'>1</tunable>", "sequoia-mapping-xml-attribute"},
      {"<filename> </filename>", "sequoia-mapping-file-name"},
      {"<cellforceuniqueoverlay>yes</cellforceuniqueoverlay>", "sequoia-mapping-xml-text"},
      {"<data><spaceshare/></data>", "sequoia-mapping-xml-missing"},
      {"<data><spaceshare>A,,B</spaceshare></data>", "sequoia-mapping-syntax"},
      {"<data><array name='A'><arraysizeprecond type='above'>1</arraysizeprecond></array></data>",
       "sequoia-mapping-xml-type"},
      {"<data><array name='A'><arraysizeprecond>1</arraysizeprecond></array></data>", "sequoia-mapping-xml-missing"},
      {"<data><array name='A'><arraysizeprecond type='exact'>1 2</arraysizeprecond></array></data>",
       "sequoia-mapping-syntax"},
      {"<ctrl><loop name='i'><spmd><fullrange>8</fullrange></spmd></loop></ctrl>", "sequoia-mapping-syntax"},
      {"<ctrl><loop name='i'><spmd><ways>4</ways><ways>auto</ways></spmd></loop></ctrl>", "sequoia-mapping-twice"},
      {"<ctrl><loop name='i'><spmd><ways>some</ways></spmd></loop></ctrl>", "sequoia-mapping-number"},
      {"<ctrl><callsite name='T'><target name='A'><numinstcond type='le'>1</numinstcond></target></callsite></ctrl>",
       "sequoia-mapping-xml-type"},
  };
  for (auto [item, code] : cases) {
    Session session;
    EXPECT_FALSE(session.readMap("<mapping><taskmapping name='T'><instance name='A'><variant>V</variant>" +
                                 std::string(item) + "</instance></taskmapping></mapping>"))
        << item;
    EXPECT_TRUE(session.find(code)) << item << "\n" << session.rendered();
  }
}

TEST(SequoiaXmlMapping, SuggestsNamesAndShowsWhatIsOpen) {
  Session session;
  session.readMap("<mapping>\n<taskmaping name='T'/></mapping>");
  ASSERT_TRUE(session.find("sequoia-mapping-xml-element"));
  EXPECT_EQ(session.find("sequoia-mapping-xml-element")->helps[0], "did you mean 'taskmapping'?");
  Session open;
  open.readMap("<mapping>\n <taskmapping name='a>b'>\n</mapping>");
  const Diagnostic* found = open.find("sequoia-mapping-xml");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->message, "the mapping is not well-formed XML: '<taskmapping>' is not closed");
  ASSERT_EQ(found->labels.size(), 2u);
  EXPECT_EQ(open.sources.lineColumn(found->labels[0].location).line, 2u);
  EXPECT_EQ(open.sources.lineColumn(found->labels[1].location).line, 3u);
}

TEST(SequoiaXmlMapping, TheFormIsToldByItsFirstCharacter) {
  Session session;
  EXPECT_TRUE(session.readMap("\xEF\xBB\xBF \n<mapping/>")) << session.rendered();
  EXPECT_TRUE(session.readMap("\xEF\xBB\xBF// a mapping\n")) << session.rendered();
  EXPECT_TRUE(session.readMap("")) << session.rendered();
}

TEST(SequoiaXmlMapping, PlacesAreThoseOfValues) {
  Session session;
  std::optional<Mapping> mapping = session.readMap(everyElement);
  ASSERT_TRUE(mapping);
  const MappedInstance& top = *mapping->findInstance("Top");
  auto at = [&](const Place& place) {
    LineColumn found = session.sources.lineColumn(place.location);
    return std::to_string(found.line) + ":" + std::to_string(found.column);
  };
  EXPECT_EQ(at(mapping->machinePlace), "4:20");
  EXPECT_EQ(at(top.name.place), "7:17");
  EXPECT_EQ(at(top.level->place), "13:9");
  EXPECT_EQ(at(top.tunables[1].value.place), "12:30");
  EXPECT_EQ(at(top.data[0].arrays[0].elements[0].place), "20:2");
  EXPECT_EQ(at(mapping->tasks[0].entryPoints[1].place), "5:20");
}

} // namespace
} // namespace strata::sequoia::testing
