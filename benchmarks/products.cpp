// The product of two matrices as three loops, in every notation that has leaves, against OpenBLAS with the best of its
// cores for this processor; and with matrices that are stored by columns. Programs for doubles are those for floats
// with the word replaced; HPVM's is a graph of programs/graphs.c.
#include "base/process/temporary_folder.h"
#include "benchmarks/bench.h"
#include "benchmarks/peers/peers.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

namespace strata::bench {
namespace {

struct ProductSize {
  int64_t m, n, k, depth; // of a step in HBIR, which divides k
};

/// A notation, its files, and what its arrays are called.
struct ProductNotation {
  std::string name;
  std::vector<std::string> files; // the program, and what it names
  std::string mapping;            // empty: the default one
  std::array<const char*, 3> arrays;
  std::array<const char*, 3> sizes; // empty: they stand in the program
  bool adds;                        // to what the result holds
  bool isParallel = true;           // not one leaf, which one processor runs
};

const std::vector<ProductNotation>& notations() {
  static const std::vector<ProductNotation> all = {
      {"Sequoia", {"examples/sequoia/matmul/matmul.sq"}, "", {"A", "B", "C"}, {"M", "N", "P"}, true},
      {"Sequoia, one leaf",
       {"benchmarks/programs/product_naive.sq"},
       "",
       {"A", "B", "C"},
       {"M", "N", "K"},
       false,
       false},
      {"C behind Sequoia",
       {"benchmarks/programs/product_extern.sq", "benchmarks/programs/product_extern.map",
        "benchmarks/programs/product_extern.c"},
       "product_extern.map",
       {"A", "B", "C"},
       {"M", "N", "P"},
       true},
      {"loops", {"benchmarks/programs/product.pla"}, "", {"a", "b", "c"}, {"M", "N", "K"}, false},
      {"HBIR", {"benchmarks/programs/product.hbir"}, "", {"A", "B", "C"}, {}, false}};
  return all;
}

/// Writes the files for numbers of a type and a size; gives the program's path, or nothing.
std::optional<std::string> write(const TemporaryFolder& folder, const ProductNotation& notation,
                                 const std::string& type, const ProductSize& size) {
  const auto nameOf = [](const std::string& file) { return std::filesystem::path(file).filename().string(); };
  for (const std::string& file : notation.files) {
    std::ifstream from(STRATA_SOURCE_DIR "/" + file);
    std::ostringstream text;
    text << from.rdbuf();
    std::string written = std::regex_replace(text.str(), std::regex("\\bfloat\\b"), type);
    for (const auto& [name, value] : {std::pair<const char*, int64_t>("\\$M", size.m),
                                      {"\\$N", size.n},
                                      {"\\$K", size.k},
                                      {"\\$DEPTH", size.depth},
                                      {"\\$ROWS", std::min<int64_t>((size.m + 1) / 2, 256)}})
      written = std::regex_replace(written, std::regex(name), std::to_string(value));
    if (type == "double") // of literals
      written = std::regex_replace(written, std::regex("(\\d\\.\\d)f\\b"), "$1");
    if (!from || !folder.write(nameOf(file), written))
      return std::nullopt;
  }
  return folder.path(nameOf(notation.files.front()));
}

template <typename T>
void blas(const Buffer<T>& a, const Buffer<T>& b, Buffer<T>& c, const ProductSize& size, bool adds) {
  if constexpr (std::is_same_v<T, float>)
    bench_blas_sgemm(a.data(), b.data(), c.data(), size.m, size.n, size.k, adds ? 1 : 0);
  else
    bench_blas_dgemm(a.data(), b.data(), c.data(), size.m, size.n, size.k, adds ? 1 : 0);
}

template <typename T>
Buffer<T> randomNumbers(size_t count, unsigned seed) {
  const Buffer<float> values = randomFloats(count, seed);
  Buffer<T> result(count);
  std::copy_n(values.data(), count, result.data());
  return result;
}

template <typename T>
void products(Bench& bench, const ProductSize& size, std::vector<Row>& rows) {
  constexpr bool isFloat = std::is_same_v<T, float>;
  const auto area = [](int64_t rows, int64_t columns) { return static_cast<size_t>(rows * columns); };
  Buffer<T> a = randomNumbers<T>(area(size.m, size.k), 41), b = randomNumbers<T>(area(size.k, size.n), 42),
            c(area(size.m, size.n));
  const auto contest = [&](const std::string& notation) {
    Contest<T> made(std::string(isFloat ? "SGEMM " : "DGEMM ") + std::to_string(size.m) + " x " +
                        std::to_string(size.n) + " x " + std::to_string(size.k) + ", " + notation,
                    c);
    made.tolerance = isFloat ? 1e-5 : 1e-13;
    made.operations = 2.0 * static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k) *
                      (isFloat ? 1 : 2); // half as many lanes
    made.row.goal = {Goal::Kind::RatioAtLeast, 0.95};
    made.row.method = isFloat ? "" : "of the peak of doubles";
    return made;
  };
  if (const char* wrong = bench_blas_begin(static_cast<int>(bench.threads))) {
    rows.push_back(failed(contest("OpenBLAS").row, wrong));
    return;
  }
  for (const ProductNotation& notation : notations()) {
    if (!isFloat && notation.name == "HBIR") // which has no doubles
      continue;
    Contest<T> made = contest(notation.name);
    made.row.peer = bench_blas_name();
    if (!notation.isParallel && bench.threads > 1)
      made.row.goal = {Goal::Kind::None, 0};
    const TemporaryFolder folder;
    std::string error;
    const auto path = write(folder, notation, isFloat ? "float" : "double", size);
    if (!path) {
      rows.push_back(failed(made.row, "its files cannot be written"));
      continue;
    }
    ProgramOptions options{*path, notation.mapping.empty() ? "" : folder.path(notation.mapping), {}};
    const int64_t values[] = {size.m, size.n, size.k};
    for (size_t at = 0; at < notation.sizes.size() && notation.sizes[at]; ++at)
      options.sizes.emplace_back(notation.sizes[at], values[at]);
    const auto program = Program::compile(options, error);
    if (!program || !program->bind(notation.arrays[0], a.data(), {size.m, size.k}) ||
        !program->bind(notation.arrays[1], b.data(), {size.k, size.n}) ||
        !program->bind(notation.arrays[2], c.data(), {size.m, size.n})) {
      rows.push_back(failed(made.row, program ? "it has other arguments" : error));
      continue;
    }
    rows.push_back(hold(bench, std::move(made), [&] { program->call(); }, [&] { blas(a, b, c, size, notation.adds); }));
  }
  Contest<T> made = contest("HPVM");
  made.row.peer = bench_blas_name();
  std::string error;
  const std::function<void()> graph = productGraph<T>(bench, a, b, c, size.m, size.n, size.k, error);
  rows.push_back(graph ? hold(bench, std::move(made), graph, [&] { blas(a, b, c, size, false); })
                       : failed(made.row, error));
}

/// One of the matrices stored by columns: the leaf is the plain one with two indices exchanged, and has the same goal
/// but for what it takes to turn a matrix.
void turnedProducts(Bench& bench, const ProductSize& size, std::vector<Row>& rows) {
  const auto area = [](int64_t rows, int64_t columns) { return static_cast<size_t>(rows * columns); };
  Buffer<float> a = randomNumbers<float>(area(size.m, size.k), 43), b = randomNumbers<float>(area(size.k, size.n), 44),
                c(area(size.m, size.n));
  for (const bool isRight : {false, true}) {
    Contest<float> made("SGEMM " + std::to_string(size.m) + " x " + std::to_string(size.n) + " x " +
                            std::to_string(size.k) + ", " + (isRight ? "right" : "left") + " matrix by columns",
                        c);
    made.tolerance = 1e-5;
    made.operations = 2.0 * static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k);
    made.row.goal = bench.threads > 1 ? Goal{Goal::Kind::None, 0} : Goal{Goal::Kind::RatioAtLeast, 0.85};
    made.row.method = "one leaf in Sequoia, on one processor";
    if (const char* wrong = bench_blas_begin(static_cast<int>(bench.threads))) {
      rows.push_back(failed(made.row, wrong));
      continue;
    }
    made.row.peer = bench_blas_name();
    ProgramOptions options{std::string(STRATA_SOURCE_DIR "/benchmarks/programs/product_") +
                               (isRight ? "right" : "left") + "_turned.sq",
                           "",
                           {{"M", size.m}, {"N", size.n}, {"K", size.k}}};
    std::string error;
    const auto program = Program::compile(options, error);
    using Extents = std::vector<int64_t>;
    if (!program || !program->bind("A", a.data(), isRight ? Extents{size.m, size.k} : Extents{size.k, size.m}) ||
        !program->bind("B", b.data(), isRight ? Extents{size.n, size.k} : Extents{size.k, size.n}) ||
        !program->bind("C", c.data(), {size.m, size.n})) {
      rows.push_back(failed(made.row, program ? "it has other arguments" : error));
      continue;
    }
    rows.push_back(hold(
        bench, std::move(made), [&] { program->call(); },
        [&] { bench_blas_sgemm_turned(a.data(), !isRight, b.data(), isRight, c.data(), size.m, size.n, size.k); }));
  }
}

} // namespace

std::vector<Work> productWorks() {
  return {{"products", [](Bench& bench) {
             std::vector<Row> rows;
             for (const ProductSize& size :
                  {ProductSize{256, 256, 256, 256}, ProductSize{512, 512, 512, 256}, ProductSize{1024, 1024, 1024, 256},
                   ProductSize{2048, 2048, 2048, 512}, ProductSize{1000, 700, 900, 225}})
               products<float>(bench, size, rows);
             for (const ProductSize& size : {ProductSize{512, 512, 512, 256}, ProductSize{1024, 1024, 1024, 256},
                                             ProductSize{1000, 700, 900, 225}})
               products<double>(bench, size, rows);
             for (const ProductSize& size : {ProductSize{1024, 1024, 1024, 256}, ProductSize{1000, 700, 900, 225}})
               turnedProducts(bench, size, rows);
             return rows;
           }}};
}

} // namespace strata::bench
