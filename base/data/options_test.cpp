// The options that name data, and where on the command line their diagnostics point.
#include "base/data/data_testing.h"
#include "base/data/options.h"

namespace strata {
namespace {

TEST_F(DataTest, UnderstandsSizes) {
  const auto sizes = parseSizeOption("N=1024,M=0", diagnostics_, {});
  ASSERT_TRUE(sizes && sizes->size() == 2);
  EXPECT_EQ((*sizes)[0].name, "N");
  EXPECT_EQ((*sizes)[0].value, 1024);
  EXPECT_EQ((*sizes)[1].value, 0);
}

TEST_F(DataTest, RefusesMalformedSizes) {
  const std::pair<const char*, const char*> cases[] = {{"", "data-option"},
                                                       {"N", "data-option"},
                                                       {"N=1,", "data-option"},
                                                       {"=1", "data-option-name"},
                                                       {"1N=1", "data-option-name"},
                                                       {"N M=1", "data-option-name"},
                                                       {"N=", "data-size"},
                                                       {"N=-1", "data-size"},
                                                       {"N=1.5", "data-size"},
                                                       {"N=1k", "data-size"},
                                                       {"N=9223372036854775808", "data-size"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_FALSE(parseSizeOption(text, diagnostics_, {})) << text;
    EXPECT_EQ(code(), expected) << text;
  }
}

TEST_F(DataTest, UnderstandsInputsAndOutputs) {
  const auto input = parseInputOption("A=random:7", diagnostics_, {});
  ASSERT_TRUE(input);
  EXPECT_EQ(input->name, "A");
  EXPECT_EQ(input->spec.kind, InputSpec::Kind::Random);
  EXPECT_EQ(input->spec.seed, 7u);
  EXPECT_EQ(parseInputOption("x=a=b.npy", diagnostics_, {})->spec.path, "a=b.npy");
  const auto output = parseOutputOption("C=complex:c.npy", diagnostics_, {});
  ASSERT_TRUE(output);
  EXPECT_TRUE(output->complexPairs);
  EXPECT_EQ(output->path, "c.npy");
}

TEST_F(DataTest, RefusesMalformedInputsAndOutputs) {
  EXPECT_FALSE(parseInputOption("A", diagnostics_, {}));
  EXPECT_EQ(code(), "data-option");
  EXPECT_FALSE(parseInputOption("A=", diagnostics_, {}));
  EXPECT_EQ(code(), "data-generator");
  EXPECT_FALSE(parseOutputOption("C=", diagnostics_, {}));
  EXPECT_EQ(code(), "data-option");
  EXPECT_FALSE(parseOutputOption("?=c.npy", diagnostics_, {}));
  EXPECT_EQ(code(), "data-option-name");
}

TEST_F(DataTest, NamesGivenTwiceAreErrors) {
  EXPECT_FALSE(checkRepeated(*parseSizeOption("N=1,N=2", diagnostics_, {}), diagnostics_));
  EXPECT_EQ(code(), "data-repeated");
  EXPECT_TRUE(checkRepeated(*parseSizeOption("N=1,M=2", diagnostics_, {}), diagnostics_));
}

TEST_F(DataTest, ErrorsPointIntoTheCommandLine) {
  const CommandLine line(sources_, {"strata", "run", "my program.sq", "--size", "N=4,M=x", "--size=N=4"});
  const Location sizes = line.value("--size", "N=4,M=x");
  ASSERT_TRUE(sizes.valid());
  EXPECT_FALSE(parseSizeOption("N=4,M=x", diagnostics_, sizes));
  ASSERT_EQ(diagnostics_.all().size(), 1u);
  const Location place = diagnostics_.all()[0].labels.at(0).location;
  EXPECT_EQ(sources_.buffer(place.buffer).text().substr(place.begin, place.end - place.begin), "x");
  EXPECT_EQ(sources_.lineColumn(place).column, std::string("strata run 'my program.sq' --size N=4,M=x").size());
  EXPECT_TRUE(line.value("--size", "N=4").valid());
  EXPECT_FALSE(line.value("--size", "N=4", 1).valid());
  EXPECT_FALSE(line.value("--in", "N=4").valid());
  const auto at = [&](const Location& where) { return sources_.lineColumn(where).column; };
  EXPECT_EQ(at(line.find("run")), at(line.word(1)));
  EXPECT_FALSE(line.find("run", 2).valid());
  EXPECT_FALSE(line.find("run", 99).valid());
  EXPECT_EQ(at(line.option("--size")), at(line.word(3)));
  EXPECT_FALSE(line.option("--si").valid());
}

} // namespace
} // namespace strata
