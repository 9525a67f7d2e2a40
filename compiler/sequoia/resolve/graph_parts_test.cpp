// Parts of a graph against the whole: what is known of an instance's sizes in its part is what is known of them at all,
// and a part holds no more than it has to.
#include "compiler/sequoia/resolve/graph_parts.h"
#include "compiler/sequoia/sequoia_testing.h"
#include "compiler/sequoia/tune/default_mapping.h"

namespace strata::sequoia::testing {
namespace {

uint32_t numberOf(const InstanceGraph& graph, const std::string& name) {
  for (uint32_t i = 0; i < graph.instances.size(); ++i)
    if (graph.instances[i].name == name)
      return i;
  ADD_FAILURE() << name << " is not in the graph";
  return 0;
}

TEST(SequoiaGraphParts, KnowTheSizesThatTheWholeKnows) {
  const KnownSizes known{{"N", 1000}, {"M", 777}, {"P", 33}, {"U", 5}, {"V", 3}, {"L", 40}, {"B", 64}};
  for (const char* example : {"vectadd", "matmul", "conv2d", "histogram", "sum", "fft3d", "gravity", "sort"}) {
    for (const char* machineName : {"host", "cell", "cell-disk"}) {
      SCOPED_TRACE(std::string(example) + " on " + machineName);
      Session session(exampleText(example));
      ASSERT_TRUE(session.program) << session.rendered();
      Machine machine = session.machine(machineName);
      std::optional<Mapping> mapping = defaultMapping(*session.program, machine, {}, known, session.diagnostics);
      ASSERT_TRUE(mapping) << session.rendered();
      std::optional<InstanceGraph> graph = resolve(*session.program, *mapping, machine, {}, session.diagnostics);
      ASSERT_TRUE(graph) << session.rendered();
      GraphParts parts(*graph);
      for (uint32_t changed = 0; changed < graph->instances.size(); ++changed) {
        for (int64_t& tunable : graph->instances[changed].tunables)
          tunable = tunable * 2 + 1;
        const std::vector<InstanceSizes> whole = propagateSizes(*graph, known);
        const InstanceGraph& part = parts.of(changed);
        const std::vector<InstanceSizes> sizes = propagateSizes(part, known);
        const std::string& name = graph->instances[changed].name;
        const std::vector<std::vector<Bound>>& here = sizes[numberOf(part, name)].extents;
        ASSERT_EQ(here.size(), whole[changed].extents.size());
        for (size_t array = 0; array < here.size(); ++array)
          for (size_t d = 0; d < here[array].size(); ++d)
            EXPECT_EQ(here[array][d].value, whole[changed].extents[array][d].value) << name << ", array " << array;
        for (size_t number = 0; number < part.instances.size(); ++number)
          for (const ResolvedCallsite& site : part.instances[number].callsites)
            for (const ResolvedTarget& target : site.targets)
              EXPECT_LT(target.instance, part.instances.size());
      }
    }
  }
}

TEST(SequoiaGraphParts, HoldWhatAnInstanceCallsAndWhatLeadsToIt) {
  std::string text = "void task Main(inout float A[N]);\nvoid task<inner> Main::All(inout float A[N]) {\n", tasks;
  constexpr int count = 50;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), list = "(inout float A[N])";
    tasks += "void task Cut" + n + list + ";\nvoid task<inner> Cut" + n + "::Blocks" + list +
             " { tunable b; mappar (long i = 0 : (N + b - 1) / b) { Do" + n + "(A[i * b; b]); } }\n" + "void task Do" +
             n + list + ";\nvoid task<leaf> Do" + n + "::Each" + list + " { A[0] = 1; }\n";
    text += "  Cut" + n + "(A);\n";
  }
  Session session(tasks + text + "}\n");
  ASSERT_TRUE(session.program) << session.rendered();
  Machine machine = session.machine("host");
  std::optional<Mapping> mapping = defaultMapping(*session.program, machine, "Main", {}, session.diagnostics);
  ASSERT_TRUE(mapping) << session.rendered();
  std::optional<InstanceGraph> graph = resolve(*session.program, *mapping, machine, {}, session.diagnostics);
  ASSERT_TRUE(graph) << session.rendered();
  ASSERT_EQ(graph->instances.size(), size_t(2 * count + 1));
  GraphParts parts(*graph);
  for (uint32_t i = 0; i < graph->instances.size(); ++i) {
    const InstanceGraph& part = parts.of(i);
    EXPECT_EQ(part.instances.size(), i == graph->entry ? graph->instances.size() : 3u);
    EXPECT_EQ(part.instances[part.entry].name, graph->instances[graph->entry].name);
    EXPECT_EQ(graph->instances[graph->entry].callsites.size(), size_t(count)) << "the graph keeps its calls";
  }
}

} // namespace
} // namespace strata::sequoia::testing
