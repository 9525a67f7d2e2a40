// How long large programs take to compile, and how much memory: many tasks, leaves of many statements and of many
// variables beside the same in C, a struct of many members. Made here, since nobody would read them. And an
// application with graphs, of the files of an example.
#include "benchmarks/bench.h"
#include "benchmarks/processes.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace strata::bench {
namespace {

/// Takes seconds each time: less often than what takes milliseconds.
constexpr unsigned repetitions = 3;

/// As many tasks, each a loop over an array, and one that calls them all.
std::string manyTasks(unsigned count) {
  std::string text, calls;
  for (unsigned number = 0; number < count; ++number) {
    const std::string n = std::to_string(number);
    text += "void task Add" + n + "(in float a[N], out float b[N]);\nvoid task<leaf> Add" + n +
            "::Each(in float a[N], out float b[N]) {\n  for (long i = 0; i < N; i++)\n    b[i] = a[i] + " + n +
            ";\n}\n";
    calls += "  Add" + n + "(a, b);\n";
  }
  return text +
         "void task Main(in float a[N], out float b[N]);\nvoid task<inner> Main::All(in float a[N], out float b[N])"
         " {\n" +
         calls + "}\n";
}

/// As many statements over one array, the same in C and in a leaf.
std::string manyStatements(unsigned count) {
  std::string text;
  for (unsigned number = 0; number < count; ++number)
    text += "  a[" + std::to_string(number % 97) + "] = a[" + std::to_string(number * 7 % 97) + "] * " +
            std::to_string(number % 13 + 2) + " + a[" + std::to_string((number * 3 + 1) % 97) + "];\n";
  return text;
}

/// As many variables, each the sum of the one before and an element of `a`; the last is stored.
std::string manyVariables(unsigned count) {
  std::string text = "  int v0 = a[0];\n";
  for (unsigned number = 1; number < count; ++number)
    text += "  int v" + std::to_string(number) + " = v" + std::to_string(number - 1) + " + a[" +
            std::to_string(number * 7 % 97) + "];\n";
  return text + "  a[0] = v" + std::to_string(count - 1) + ";\n";
}

/// As many conditions on the elements of `a`, in one loop over them.
std::string manyConditions(unsigned count) {
  std::string text = "  for (long i = 0; i < N; i++) {\n";
  for (unsigned number = 0; number < count; ++number) {
    const std::string n = std::to_string(number);
    text += "    if (a[i] == " + n + ")\n      a[i] = a[i] * " + std::to_string(number % 7 + 2) + " + " + n + ";\n";
  }
  return text + "  }\n";
}

std::string manyMembers(unsigned count) {
  std::string text = "struct S {\n";
  for (unsigned number = 0; number < count; ++number)
    text += "  int a" + std::to_string(number) + ";\n";
  return text + "};\nvoid task First(inout struct S a[N]);\n"
                "void task<leaf> First::Each(inout struct S a[N]) { a[0].a0 = 1; }\n";
}

/// A command that has to end within so many seconds.
Row within(const char* work, const Words& words, double most) {
  Row row;
  row.work = work;
  row.peer = "seconds allowed";
  row.method = "processes, from the start to the end of each";
  row.goal = {Goal::Kind::OursAtMost, most};
  if (execute(words) != 0)
    return failed(row, "'strata " + words[1] + "' did not end with status 0");
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    row.pairs.ours.push_back(seconds(words));
    row.pairs.peer.push_back(most);
  }
  return row;
}

/// A leaf of so many statements against clang, which checks no index: time and memory.
std::vector<Row> leaf(const std::string& work, const std::string& folder, const std::string& body) {
  constexpr double most = 3;
  std::ofstream(folder + "leaf.sq") << "void task Work(inout int a[N]);\nvoid task<leaf> Work::All(inout int a[N])\n{\n"
                                    << body << "}\n";
  std::ofstream(folder + "leaf.c") << "void Work(int *restrict a, long N)\n{\n" << body << "}\n";
  const Words ours{STRATA_EXECUTABLE, "run", folder + "leaf.sq", "--size", "N=97"},
      clang{STRATA_CLANG, "-O2", "-march=native", "-c", folder + "leaf.c", "-o", folder + "leaf.o"};
  Row time, memory;
  time.work = "strata run, a leaf of " + work;
  memory.work = time.work + ", peak memory";
  time.peer = memory.peer = "clang -O2 on the same in C";
  time.method = "processes, from the start to the end of each; ours checks every index";
  memory.method = "resident at most, as the system counts it";
  memory.unit = Unit::Mebibytes;
  time.goal = memory.goal = {Goal::Kind::RatioAtMost, most};
  if (execute(ours) != 0 || execute(clang) != 0)
    return {failed(time, "a compilation did not end with status 0")};
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    time.pairs.ours.push_back(seconds(ours));
    time.pairs.peer.push_back(seconds(clang));
  }
  const double own = peakMemory(ours), peer = peakMemory(clang);
  if (own <= 0 || peer <= 0)
    return {time, failed(memory, "the system did not count the memory of a compilation")};
  memory.pairs.ours.push_back(own);
  memory.pairs.peer.push_back(peer);
  return {time, memory};
}

/// The example of a camera, as often as gives about 1000 lines in one program: each copy has names of its own, and the
/// first one the program's main. The commands are a Makefile's, one after the other.
std::vector<Words> application(const Words& c, const Words& cxx, const std::string& folder, const Words& link) {
  constexpr unsigned copies = 4;
  const std::string sources = STRATA_SOURCE_DIR "/examples/hpvm/camera/";
  std::vector<Words> commands;
  Words objects;
  for (unsigned copy = 0; copy < copies; ++copy) {
    Words names;
    for (const char* name : {"demosaic", "denoise", "correct", "tone", "camera", "main"})
      if (copy)
        names.push_back("-D" + std::string(name) + "=" + name + std::to_string(copy));
    std::vector<std::string> files{"demosaic.c", "denoise.c", "correct.c", "tone.c", "graph.c", "main.cpp"};
    if (!copy) // one for all
      files.emplace_back("reference.cpp");
    for (const std::string& file : files) {
      Words command = file.ends_with(".c") ? c : cxx;
      command.insert(command.end(), names.begin(), names.end());
      objects.push_back(folder + file + std::to_string(copy) + ".o");
      command.insert(command.end(), {"-O2", "-c", sources + file, "-o", objects.back()});
      commands.push_back(std::move(command));
    }
  }
  Words last = cxx;
  last.insert(last.end(), objects.begin(), objects.end());
  last.insert(last.end(), {"-o", folder + "application"});
  last.insert(last.end(), link.begin(), link.end());
  commands.push_back(std::move(last));
  return commands;
}

/// What the files and the link of a program with graphs take, beside Clang's time for the same files.
Row applicationRow(const std::string& folder) {
  Row row;
  row.work = "strata c++, an application of about 1000 lines with four graphs";
  row.peer = "clang -O2, and a link without the graphs";
  row.method = "processes, one after the other: 25 files, then the link";
  row.goal = {Goal::Kind::RatioAtMost, 1.5};
  const std::string headers = "-I" STRATA_SOURCE_DIR "/include";
  const auto ours = application({STRATA_EXECUTABLE, "cc"}, {STRATA_EXECUTABLE, "c++"}, folder, {}),
             clang = application({STRATA_CLANG, headers}, {STRATA_CLANG, "--driver-mode=g++", headers}, folder,
                                 {"-Wl,--unresolved-symbols=ignore-all"});
  const auto all = [](const std::vector<Words>& commands) {
    double sum = 0;
    for (const Words& command : commands)
      sum += seconds(command);
    return sum;
  };
  for (const auto& commands : {clang, ours})
    for (const Words& command : commands)
      if (execute(command) != 0)
        return failed(row, "'" + command[0] + "' did not end with status 0");
  if (execute({folder + "application"}) != 0)
    return failed(row, "the application did not end with status 0");
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    row.pairs.ours.push_back(all(ours));
    row.pairs.peer.push_back(all(clang));
  }
  return row;
}

std::vector<Row> compile(Bench&) {
  char made[] = "/tmp/strata-bench-XXXXXX";
  if (!mkdtemp(made))
    return {failed({}, "no temporary folder")};
  const std::string folder = std::string(made) + "/";
  std::ofstream(folder + "tasks.sq") << manyTasks(500);
  std::ofstream(folder + "members.sq") << manyMembers(100000);
  std::vector<Row> rows{
      within("strata run, a program of 500 tasks",
             {STRATA_EXECUTABLE, "run", folder + "tasks.sq", "--size", "N=100", "--in", "a=1"}, 5),
      within("strata check, a struct of 100000 members", {STRATA_EXECUTABLE, "check", folder + "members.sq"}, 1)};
  for (Row& row : leaf("8000 statements", folder, manyStatements(8000)))
    rows.push_back(std::move(row));
  rows.push_back(applicationRow(folder));
  for (Row& row : leaf("1000 conditions in a loop", folder, manyConditions(1000)))
    rows.push_back(std::move(row));
  for (Row& row : leaf("8000 variables", folder, manyVariables(8000)))
    rows.push_back(std::move(row));
  std::filesystem::remove_all(made);
  return rows;
}

} // namespace

std::vector<Work> compileWorks() {
  return {{"compile", compile}};
}

} // namespace strata::bench
