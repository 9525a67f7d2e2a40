// Pictures of programs and mappings: what they name, where loops stand, and that no words stand on each other.
#include "compiler/sequoia/draw/draw.h"
#include "compiler/sequoia/sequoia_testing.h"

#include <map>
#include <regex>

namespace strata::sequoia::testing {
namespace {

struct Drawn : Session {
  std::string tasks, instances;
  Drawn(const std::string& program, const std::string& map) {
    read(program);
    std::optional<Mapping> mapping = readMap(map);
    Machine cell = machine("cell");
    std::optional<InstanceGraph> graph;
    if (this->program && mapping)
      graph = resolve(*this->program, *mapping, cell, {}, diagnostics);
    if (!graph)
      return;
    tasks = drawTasks(*this->program, "tasks");
    instances = drawInstances(*graph, cell, propagateSizes(*graph, {}), "instances");
  }
};

struct Words {
  double x = 0, y = 0;
  std::string text;
};

/// The texts of a drawing that begin where they stand.
std::vector<Words> wordsOf(const std::string& svg) {
  static const std::regex pattern(
      "<text x=\"([0-9.]+)\" y=\"([0-9.]+)\"( class=\"[^\"]*\")?>(<title>[^<]*</title>)?([^<]*)<");
  std::vector<Words> words;
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at)
    if ((*at)[3].str().find("middle") == std::string::npos)
      words.push_back({std::stod((*at)[1]), std::stod((*at)[2]), (*at)[5]});
  return words;
}

void nothingOverlaps(const std::string& svg) {
  std::vector<Words> words = wordsOf(svg);
  EXPECT_GT(words.size(), 5u);
  for (size_t i = 0; i < words.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      const Words &a = words[i], &b = words[k];
      if (std::abs(a.y - b.y) >= 11)
        continue;
      const Words &left = a.x < b.x ? a : b, &right = a.x < b.x ? b : a;
      EXPECT_LE(left.x + static_cast<double>(left.text.size()) * 6, right.x) << a.text << " and " << b.text;
    }
}

double yOf(const std::string& svg, const std::string& text) {
  for (const Words& words : wordsOf(svg))
    if (words.text == text)
      return words.y;
  ADD_FAILURE() << "no words '" << text << "'";
  return 0;
}

TEST(SequoiaDraw, TheExamplesHaveTheirNames) {
  for (const char* example : {"vectadd", "matmul", "conv2d", "sum", "histogram"}) {
    SCOPED_TRACE(example);
    std::string name = example;
    Drawn drawn(exampleFile(name + "/" + name + ".sq"), exampleFile(name + "/cell.map"));
    ASSERT_NE(drawn.instances, "") << drawn.rendered();
    nothingOverlaps(drawn.tasks);
    nothingOverlaps(drawn.instances);
    for (const Task& task : drawn.program->tasks)
      for (const TaskVariant* variant : task.variants)
        EXPECT_NE(drawn.tasks.find(">" + std::string(variant->name) + "<"), std::string::npos) << variant->name;
    for (const char* words : {"level 2: main", "level 1: stores", "level 0: 8 × ls", "256 KiB"})
      EXPECT_NE(drawn.instances.find(words), std::string::npos) << words;
  }
}

const char* scale =
    "void task Scale(in float A[N], out float B[N]);\n"
    "void task<inner> Scale::Cut(in float A[N], out float B[N]) {\n"
    "  tunable T; mappar (long i = 0 : (N + T - 1) / T) { Scale(A[i * T; T], B[i * T; T]); }\n}\n"
    "void task<leaf> Scale::Do(in float A[N], out float B[N]) { for (long i = 0; i < N; i++) B[i] = 2 * A[i]; }\n";

std::string scaleMap(int level, const std::string& loop) {
  return "task Scale : entrypoint(Top) { instance Top::Cut(level 2) { tunable T = 1024; control(level 2) { loop "
         "i(level " +
         std::to_string(level) + ") { " + loop +
         " } callsite Scale() { target Low() { } } } } instance Low::Do(level 0) { } }";
}

TEST(SequoiaDraw, ALoopStandsAtTheLevelThatExecutesIt) {
  Drawn push(scale, scaleMap(2, "")), pull(scale, scaleMap(0, "spmd { fullrange = 0,8; ways = 8; } swp = 2;"));
  ASSERT_NE(push.instances, "") << push.rendered();
  ASSERT_NE(pull.instances, "") << pull.rendered();
  EXPECT_LT(yOf(push.instances, "mappar i"), yOf(push.instances, "level 1: stores"));
  EXPECT_GT(yOf(pull.instances, "mappar i"), yOf(pull.instances, "level 0: 8 × ls"));
  EXPECT_EQ(push.instances.find("spmd"), std::string::npos);
  EXPECT_NE(pull.instances.find(">spmd 8<"), std::string::npos);
  EXPECT_NE(pull.instances.find(">swp 2<"), std::string::npos);
  EXPECT_NE(pull.instances.find(">4 KiB<"), std::string::npos);
  EXPECT_NE(push.instances.find(">8 KiB of 256 KiB (3%)<"), std::string::npos);
  EXPECT_NE(pull.instances.find(">16 KiB of 256 KiB (6%)<"), std::string::npos); // two iterations under way
  EXPECT_NE(pull.instances.find("in float A[≤ 1024]"), std::string::npos);
  nothingOverlaps(push.instances);
  nothingOverlaps(pull.instances);
}

TEST(SequoiaDraw, TargetsHaveTheirConditions) {
  Drawn drawn(scale,
              "task Scale : entrypoint(Top) { instance Top::Cut(level 2) { tunable T = 64; control(level 2) { callsite "
              "Scale() { target Low() { A.elements <= 100; } target Low2() { } } } } instance Low::Do(level 0) { } "
              "instance Low2::Do(level 0) { } }");
  ASSERT_NE(drawn.instances, "") << drawn.rendered();
  EXPECT_NE(drawn.instances.find(">2 targets<"), std::string::npos);
  EXPECT_NE(drawn.instances.find("tried as number 1, if A has &lt;= 100 elements"), std::string::npos);
  EXPECT_NE(drawn.instances.find("Top calls Low2"), std::string::npos);
}

// A call that skips a row of boxes goes past them: no end of a curve lies in a box that is neither the caller's nor the
// callee's.
TEST(SequoiaDraw, CallsGoPastOtherTasks) {
  Session session("void task A(inout float x[N]);\nvoid task B(inout float x[N]);\nvoid task C(inout float x[N]);\n"
                  "void task<inner> A::I(inout float x[N]) { B(x); C(x); }\n"
                  "void task<inner> B::I(inout float x[N]) { C(x); }\n"
                  "void task<leaf> C::L(inout float x[N]) { x[0] = 1; }\n");
  ASSERT_TRUE(session.program) << session.rendered();
  const std::string svg = drawTasks(*session.program, "skips");
  std::vector<double> boxes; // x, y, width, height of A, B, C
  const std::regex task("<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" height=\"([0-9.]+)\" rx=\"8\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), task), end; at != end; ++at)
    for (size_t i = 1; i <= 4; ++i)
      boxes.push_back(std::stod((*at)[i]));
  ASSERT_EQ(boxes.size(), 12u);
  const double left = boxes[4], upper = boxes[5], right = left + boxes[6], lower = upper + boxes[7];
  const size_t title = svg.find("A::I calls C,"), start = svg.rfind("<path d=\"", title);
  ASSERT_NE(title, std::string::npos);
  std::istringstream numbers(
      std::regex_replace(svg.substr(start + 9, svg.find('"', start + 9) - start - 9), std::regex("[MC]"), " "));
  std::vector<double> points;
  for (double number = 0; numbers >> number;)
    points.push_back(number);
  ASSERT_GE(points.size(), 2 + 3 * 6u); // by way of a place beside B
  // Curves from way to way: within the rows of B they are straight lines down.
  for (size_t i = 2; i + 5 < points.size(); i += 6) {
    const double x = points[i + 4], y = points[i + 5];
    EXPECT_FALSE(x > left && x < right && y > upper && y < lower) << x << ", " << y;
  }
}

TEST(SequoiaDraw, TasksThatCallEachOtherAreDrawnToo) {
  Session session(
      "void task A(inout float x[N]);\nvoid task B(inout float x[N]);\n"
      "void task<inner> A::I(inout float x[N]) { B(x); }\nvoid task<inner> B::I(inout float x[N]) { A(x); }\n"
      "void task<leaf> A::L(inout float x[N]) { x[0] = 1; }\nvoid task<ext> B::E(inout float x[N]);\n"
      "void task Alone(in float y[2*M + N - 1][M], in float z[N]);\n"
      "void task<leaf> Alone::L(in float y[2*M + N - 1][M], in float z[N]) { }\n");
  ASSERT_TRUE(session.program) << session.rendered();
  std::string svg = drawTasks(*session.program, "circle");
  nothingOverlaps(svg);
  EXPECT_LT(yOf(svg, "A"), yOf(svg, "B"));
  EXPECT_NE(svg.find("in float y[2*M + N - 1][M]"), std::string::npos);
  EXPECT_NE(svg.find("B::I calls A, which may be A::I or L"), std::string::npos);
  EXPECT_EQ(drawTasks(Program(), "nothing").find("<svg"), 0u);
}

} // namespace
} // namespace strata::sequoia::testing
