// Dataflow graphs, as programs in HPVM-C launch them: naive leaves against the same loops with OpenMP, against the same
// leaves as kernels of OpenCL, and against one of them in Sequoia; and what a launch and an item of a pipeline cost.
// The graphs are in a shared library that `strata cc` makes of programs/graphs.c, with a runtime of its own.
#include "benchmarks/programs/graphs.h"
#include "benchmarks/bench.h"
#include "benchmarks/peers/opencl.h"
#include "benchmarks/peers/peers.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <fstream>
#include <sstream>

namespace strata::bench {
namespace {

/// The functions of the library that are called here.
struct Graphs {
  decltype(bench_graphs_begin)* begin;
  decltype(bench_graphs_track)* track;
  decltype(bench_graphs_untrack)* untrack;
  decltype(bench_graph_empty)* empty;
  decltype(bench_graph_pipeline_begin)* pipelineBegin;
  decltype(bench_graph_pipeline_item)* pipelineItem;
  decltype(bench_graph_pipeline_end)* pipelineEnd;
  decltype(bench_graph_increment)* increment;
  decltype(bench_graph_matmul)* matmul;
  decltype(bench_graph_matmul_double)* matmulDouble;
  decltype(bench_graph_convolve)* convolve;
  decltype(bench_graph_stencil)* stencil;
  decltype(bench_graph_sparse)* sparse;
  decltype(bench_graph_jagged)* jagged;
  decltype(bench_graph_lattice)* lattice;
};

/// Null, and why, where the library is not there.
const Graphs* load(const Bench& bench, std::string& error) {
  static Graphs graphs{};
  if (graphs.begin)
    return &graphs;
  const std::string threads = std::to_string(bench.threads);
  setenv("STRATA_THREADS", threads.c_str(), 1);
  setenv("POCL_MAX_PTHREAD_COUNT", threads.c_str(), 1);
  void* library = dlopen(STRATA_GRAPHS, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    error = dlerror();
    return nullptr;
  }
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  find("bench_graphs_track", graphs.track);
  find("bench_graphs_untrack", graphs.untrack);
  find("bench_graph_empty", graphs.empty);
  find("bench_graph_pipeline_begin", graphs.pipelineBegin);
  find("bench_graph_pipeline_item", graphs.pipelineItem);
  find("bench_graph_pipeline_end", graphs.pipelineEnd);
  find("bench_graph_increment", graphs.increment);
  find("bench_graph_matmul", graphs.matmul);
  find("bench_graph_matmul_double", graphs.matmulDouble);
  find("bench_graph_convolve", graphs.convolve);
  find("bench_graph_stencil", graphs.stencil);
  find("bench_graph_sparse", graphs.sparse);
  find("bench_graph_jagged", graphs.jagged);
  find("bench_graph_lattice", graphs.lattice);
  find("bench_graphs_begin", graphs.begin);
  graphs.begin();
  std::ifstream kernels(STRATA_SOURCE_DIR "/benchmarks/peers/graphs.cl"),
      cell(STRATA_SOURCE_DIR "/benchmarks/programs/graphs.h");
  std::ostringstream text;
  text << cell.rdbuf();
  // The cell of the lattice, which is C that OpenCL takes, with its address spaces.
  std::string source = text.str();
  source = source.substr(source.find("static inline void bench_lattice_cell"));
  source = source.substr(0, source.find("\n}\n") + 3);
  source.erase(0, std::string_view("static inline ").size());
  for (const char* pointer : {"const float* from", "float* to", "const unsigned char* solid"})
    source.insert(source.find(pointer), "global ");
  std::ostringstream rest;
  rest << kernels.rdbuf();
  if (const char* wrong = bench_opencl_begin((source + rest.str()).c_str())) {
    error = wrong;
    graphs.begin = nullptr;
    return nullptr;
  }
  return &graphs;
}

/// Memory that graphs are given, as long as it lives.
class Tracked {
public:
  template <typename T>
  Tracked(const Graphs& graphs, Buffer<T>& buffer) : graphs_(graphs), data_(buffer.data()) {
    graphs.track(data_, buffer.size() * sizeof(T));
  }
  ~Tracked() { graphs_.untrack(data_); }
  Tracked(const Tracked&) = delete;

private:
  const Graphs& graphs_;
  void* data_;
};

template <typename T>
bench_opencl_argument memory(Buffer<T>& buffer) {
  return {buffer.data(), buffer.size() * sizeof(T), 0};
}
template <typename T>
bench_opencl_argument value(T& number) {
  return {&number, 0, sizeof(T)};
}

/// One leaf against its peers.
struct Leaf {
  std::string work;
  std::function<void()> ours, loops;
  double overLoops;
  std::string kernel; // of OpenCL
  std::vector<bench_opencl_argument> arguments;
  std::vector<size_t> extents;
  double operations = 0, bytes = 0;
};

void against(Bench& bench, std::vector<Row>& rows, const Leaf& leaf, Buffer<float>& written) {
  const auto contest = [&](const std::string& peer, double goal) {
    Contest<float> made(leaf.work, written);
    made.tolerance = 1e-5;
    made.operations = leaf.operations;
    made.bytes = leaf.bytes;
    made.row.peer = peer;
    made.row.goal = {Goal::Kind::RatioAtLeast, goal};
    made.row.method = "the leaf as a graph; results within 1e-5 of the largest";
    return made;
  };
  rows.push_back(hold(bench, contest(Bench::loopPeer(), leaf.overLoops), leaf.ours, leaf.loops));
  void* kernel =
      bench_opencl_kernel(leaf.kernel.c_str(), static_cast<unsigned>(leaf.arguments.size()), leaf.arguments.data(),
                          static_cast<unsigned>(leaf.extents.size()), leaf.extents.data());
  const std::string name = std::string(bench_opencl_name()) + ", the same leaf";
  if (!kernel) {
    rows.push_back(failed(contest(name, 1).row, "OpenCL has no kernel '" + leaf.kernel + "'"));
    return;
  }
  rows.push_back(hold(bench, contest(name, 1), leaf.ours, [&] { bench_opencl_run(kernel); }));
  bench_opencl_end(kernel);
}

double secondsOf(const std::function<void()>& call, int64_t calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t number = 0; number < calls; ++number)
    call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(calls);
}

Row ownFigure(Bench& bench, const std::string& work, const std::string& peer, double most, double per,
              const std::string& method, const std::function<double()>& seconds) {
  Row row;
  row.work = work;
  row.peer = peer;
  row.method = method;
  row.goal = {Goal::Kind::OursAtMost, most};
  row.pairs = inTurn(bench.pairs, row.goal, seconds, [&] { return most * per; });
  return row;
}

std::vector<Row> costs(Bench& bench, const Graphs& graphs) {
  std::vector<Row> rows;
  rows.push_back(ownFigure(bench, "graph of one empty node, launched and waited for", "seconds allowed", 5e-6, 1,
                           "mean of 2000", [&] { return secondsOf(graphs.empty, 2000); }));
  graphs.pipelineBegin();
  rows.push_back(ownFigure(bench, "item through four empty stages", "seconds allowed", 4e-6, 1,
                           "pushed and popped, mean of 20000; a microsecond a stage is allowed",
                           [&] { return secondsOf([&] { graphs.pipelineItem(20000); }, 1) / 20000; }));
  graphs.pipelineEnd();
  const int64_t n = 1 << 22;
  Buffer<float> values = randomFloats(n, 31);
  Tracked tracked(graphs, values);
  Contest<float> contest("graph that increments " + std::to_string(n) + " elements", values);
  contest.row.peer = Bench::loopPeer();
  contest.row.goal = {Goal::Kind::RatioAtMost, 1.05};
  contest.row.method = "an element an instance; results equal bit for bit";
  rows.push_back(hold(
      bench, std::move(contest), [&] { graphs.increment(values.data(), n); },
      [&] { bench_loops_increment(values.data(), n); }));
  return rows;
}

/// The product, also against the same leaf in Sequoia.
void products(Bench& bench, const Graphs& graphs, std::vector<Row>& rows) {
  int64_t n = 512;
  const auto count = static_cast<size_t>(n * n);
  Buffer<float> a = randomFloats(count, 32), b = randomFloats(count, 33), c(count);
  Tracked trackedA(graphs, a), trackedB(graphs, b), trackedC(graphs, c);
  const auto ours = [&] { graphs.matmul(a.data(), b.data(), c.data(), n, n, n); };
  const double operations = 2.0 * static_cast<double>(n * n) * static_cast<double>(n);
  against(bench, rows,
          {"graph: naive matrix product, 512",
           ours,
           [&] { bench_loops_matmul(a.data(), b.data(), c.data(), n, n, n); },
           10,
           "product",
           {memory(a), memory(b), memory(c), value(n), value(n)},
           {512, 512},
           operations},
          c);
  Contest<float> contest("graph: naive matrix product, 512", c);
  contest.row.peer = "the same leaf in Sequoia";
  contest.row.goal = {Goal::Kind::RatioAtLeast, 0.9};
  contest.row.method = "results within 1e-5 of the largest";
  contest.tolerance = 1e-5;
  contest.operations = operations;
  std::string error;
  auto program = Program::compile(
      {STRATA_SOURCE_DIR "/benchmarks/programs/product_naive.sq", "", {{"M", n}, {"N", n}, {"K", n}}}, error);
  if (!program || !program->bind("A", a.data(), {n, n}) || !program->bind("B", b.data(), {n, n}) ||
      !program->bind("C", c.data(), {n, n})) {
    rows.push_back(failed(contest.row, program ? "it has other arguments" : error));
    return;
  }
  rows.push_back(hold(bench, std::move(contest), ours, [&] { program->call(); }));
}

void convolutions(Bench& bench, const Graphs& graphs, std::vector<Row>& rows) {
  int64_t width = 1024, size = 5;
  const int64_t side = width - size + 1;
  Buffer<float> image = randomFloats(static_cast<size_t>(width * width), 34),
                filter = randomFloats(static_cast<size_t>(size * size), 35), result(static_cast<size_t>(side * side));
  Tracked trackedImage(graphs, image), trackedFilter(graphs, filter), trackedResult(graphs, result);
  against(bench, rows,
          {"graph: naive convolution, 5x5 known as it runs, 1024",
           [&] { graphs.convolve(image.data(), filter.data(), result.data(), width, width, size); },
           [&] { bench_loops_convolve(image.data(), filter.data(), result.data(), width, width, size); },
           10,
           "convolve",
           {memory(image), memory(filter), memory(result), value(width), value(size)},
           {static_cast<size_t>(side), static_cast<size_t>(side)},
           50.0 * static_cast<double>(side * side)},
          result);
}

void stencils(Bench& bench, const Graphs& graphs, std::vector<Row>& rows) {
  int32_t side = 128;
  const size_t count = size_t(128) * 128 * 128;
  Buffer<float> from = randomFloats(count, 36), to(count);
  Tracked trackedFrom(graphs, from), trackedTo(graphs, to);
  against(bench, rows,
          {"graph: stencil of 7 points, 128^3",
           [&] { graphs.stencil(from.data(), to.data(), side, side, side); },
           [&] { bench_loops_stencil(from.data(), to.data(), side, side, side); },
           1,
           "point",
           {memory(from), memory(to), value(side), value(side), value(side)},
           {128, 128, 128}},
          to);
}

/// Rows of 5 to 34 entries, longest first, with columns anywhere.
void sparseProducts(Bench& bench, const Graphs& graphs, std::vector<Row>& rows, int32_t height) {
  std::mt19937 random(37);
  std::vector<int32_t> lengths(static_cast<size_t>(height));
  for (int32_t& length : lengths)
    length = static_cast<int32_t>(5 + random() % 30);
  std::sort(lengths.rbegin(), lengths.rend());
  size_t entries = 0;
  for (int32_t length : lengths)
    entries += static_cast<size_t>(length);
  const auto count = static_cast<size_t>(height);
  Buffer<float> values = randomFloats(entries, 38), x = randomFloats(count, 39), y(count);
  Buffer<int32_t> columns(entries), starts(count + 1), diagonals(static_cast<size_t>(lengths.front()) + 1),
      length(count);
  length = lengths;
  for (size_t entry = 0; entry < entries; ++entry)
    columns[entry] = static_cast<int32_t>(random() % count);
  for (size_t row = 0; row < count; ++row)
    starts[row + 1] = starts[row] + lengths[row];
  for (size_t number = 0; number + 1 < diagonals.size(); ++number)
    diagonals[number + 1] =
        diagonals[number] + static_cast<int32_t>(std::count_if(lengths.begin(), lengths.end(), [&](int32_t each) {
          return static_cast<size_t>(each) > number;
        }));
  Tracked trackedValues(graphs, values), trackedX(graphs, x), trackedY(graphs, y), trackedColumns(graphs, columns),
      trackedStarts(graphs, starts), trackedDiagonals(graphs, diagonals), trackedLength(graphs, length);
  const auto all = static_cast<int64_t>(entries);
  const std::string size = std::to_string(height) + " rows";
  against(
      bench, rows,
      {"graph: sparse product by rows, " + size,
       [&] { graphs.sparse(values.data(), columns.data(), starts.data(), x.data(), y.data(), height, height, all); },
       [&] { bench_loops_sparse(values.data(), columns.data(), starts.data(), x.data(), y.data(), height); },
       1,
       "sparse",
       {memory(values), memory(columns), memory(starts), memory(x), memory(y)},
       {count}},
      y);
  against(bench, rows,
          {"graph: sparse product by jagged diagonals, " + size,
           [&] {
             graphs.jagged(values.data(), columns.data(), diagonals.data(), length.data(), x.data(), y.data(), height,
                           height, all, lengths.front());
           },
           [&] {
             bench_loops_jagged(values.data(), columns.data(), diagonals.data(), length.data(), x.data(), y.data(),
                                height);
           },
           1.3,
           "jagged",
           {memory(values), memory(columns), memory(diagonals), memory(length), memory(x), memory(y)},
           {count}},
          y);
}

void lattices(Bench& bench, const Graphs& graphs, std::vector<Row>& rows) {
  int32_t side = 512;
  float rate = 1.2f;
  const size_t cells = size_t(512) * 512;
  Buffer<float> from = randomFloats(9 * cells, 40), to(9 * cells);
  Buffer<unsigned char> solid(cells);
  std::mt19937 random(41);
  for (size_t cell = 0; cell < cells; ++cell)
    solid[cell] = random() % 20 == 0;
  for (size_t flow = 0; flow < 9 * cells; ++flow)
    from[flow] = 0.11f + 0.01f * from[flow];
  Tracked trackedFrom(graphs, from), trackedTo(graphs, to), trackedSolid(graphs, solid);
  against(bench, rows,
          {"graph: lattice Boltzmann step (D2Q9), 512 x 512",
           [&] { graphs.lattice(from.data(), to.data(), solid.data(), side, side, rate); },
           [&] { bench_loops_lattice(from.data(), to.data(), solid.data(), side, side, rate); },
           1,
           "lattice",
           {memory(from), memory(to), memory(solid), value(side), value(side), value(rate)},
           {510, 510}},
          to);
}

using Rows = void (*)(Bench&, const Graphs&, std::vector<Row>&);

Work work(const char* name, Rows rows) {
  return {name, [rows](Bench& bench) {
            std::vector<Row> made;
            std::string error;
            if (const Graphs* graphs = load(bench, error))
              rows(bench, *graphs, made);
            else
              made.push_back(failed({}, error));
            return made;
          }};
}

} // namespace

template <typename T>
std::function<void()> productGraph(const Bench& bench, Buffer<T>& a, Buffer<T>& b, Buffer<T>& c, int64_t m, int64_t n,
                                   int64_t k, std::string& error) {
  const Graphs* graphs = load(bench, error);
  if (!graphs)
    return {};
  std::vector<std::shared_ptr<Tracked>> tracked;
  for (Buffer<T>* each : {&a, &b, &c})
    tracked.push_back(std::make_shared<Tracked>(*graphs, *each));
  return [=, &a, &b, &c] {
    (void)tracked;
    if constexpr (std::is_same_v<T, float>)
      graphs->matmul(a.data(), b.data(), c.data(), m, n, k);
    else
      graphs->matmulDouble(a.data(), b.data(), c.data(), m, n, k);
  };
}

template std::function<void()> productGraph(const Bench&, Buffer<float>&, Buffer<float>&, Buffer<float>&, int64_t,
                                            int64_t, int64_t, std::string&);
template std::function<void()> productGraph(const Bench&, Buffer<double>&, Buffer<double>&, Buffer<double>&, int64_t,
                                            int64_t, int64_t, std::string&);

std::vector<Work> graphWorks() {
  return {work("graph-cost",
               [](Bench& bench, const Graphs& graphs, std::vector<Row>& rows) { rows = costs(bench, graphs); }),
          work("graph-matmul", products),
          work("graph-conv2d", convolutions),
          work("graph-stencil", stencils),
          work("graph-sparse",
               [](Bench& bench, const Graphs& graphs, std::vector<Row>& rows) {
                 sparseProducts(bench, graphs, rows, 2000);
                 sparseProducts(bench, graphs, rows, 100000);
               }),
          work("graph-lattice", lattices)};
}

} // namespace strata::bench
