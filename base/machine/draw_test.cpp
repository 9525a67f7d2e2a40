// Drawings name what the machine has, are well-formed, and stay small however large the machine is.
#include "base/machine/test_machines.h"

namespace strata {
namespace {

using namespace machine;

/// Elements open and close in order, and no text holds a bare angle bracket or ampersand.
bool wellFormed(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const size_t end = xml.find('>', at);
    if (end == std::string::npos || xml.substr(at + 1, end - at - 1).find('<') != std::string::npos)
      return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.ends_with('/'))
      continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1))
        return false;
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  for (size_t at = xml.find('&'); at != std::string::npos; at = xml.find('&', at + 1))
    if (xml.find(';', at) > at + 5)
      return false;
  return open.empty();
}

struct Draw : MachineTest {};

TEST_F(Draw, ShowsEveryPart) {
  const std::string svg = drawMachine(valid(everythingText));
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(wellFormed(svg));
  for (const char* words : {"everything",
                            "level 0",
                            "level 1",
                            "level 2",
                            ">ls<",
                            ">256 KiB<",
                            ">spe<",
                            ">2 MiB<",
                            ">bus<",
                            ">wire<",
                            ">queue<",
                            ">pipe<",
                            "beside the levels",
                            ">cache<",
                            "array grid",
                            "4 × 2 elements",
                            "mul(3)",
                            ">GC<",
                            "what this computer has",
                            "latency 100 cycles",
                            "&quot;quoted&quot; &amp; &lt;marked&gt;"})
    EXPECT_NE(svg.find(words), std::string::npos) << words;
  EXPECT_EQ(svg, drawMachine(valid(everythingText)));
}

TEST_F(Draw, StaysSmallForLargeMachines) {
  Machine m = valid(everythingText);
  m.memories[0].count = m.processors[1].count = 1 << 20;
  m.processors[1].grid = {1 << 10, 1 << 10};
  m.processors[4].array[0].rows = m.processors[4].array[0].columns = 1024;
  EXPECT_TRUE(validate(m, diagnostics)) << said();
  const std::string svg = drawMachine(m);
  EXPECT_LT(svg.size(), 200000u);
  EXPECT_TRUE(wellFormed(svg));
  EXPECT_NE(svg.find(">1048569<"), std::string::npos);
  EXPECT_NE(svg.find("the first 16 × 16 elements are drawn"), std::string::npos);
}

TEST_F(Draw, AnyMachineDraws) {
  EXPECT_TRUE(wellFormed(drawMachine(Machine())));
  EXPECT_TRUE(wellFormed(drawMachine(describeHost())));
  Machine odd = valid(everythingText);
  odd.about = "<\x01&\xff é" + std::string(1000, 'x');
  odd.memories[0].name = "a name that is far too long for a box é é é é é é é é é é é é é é é";
  EXPECT_TRUE(wellFormed(drawMachine(odd)));
}

} // namespace
} // namespace strata
