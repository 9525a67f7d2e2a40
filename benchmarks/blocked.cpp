// Matrix product, convolution, histogram and sum, against the same loops in C with the blocks that the examples'
// mappings state.
#include "benchmarks/example.h"
#include "benchmarks/peers/peers.h"

namespace strata::bench {
namespace {

Row matmul(Bench& bench, int64_t m, int64_t n, int64_t p) {
  Buffer<float> a = randomFloats(static_cast<size_t>(m * p), 5), b = randomFloats(static_cast<size_t>(p * n), 6),
                c = randomFloats(static_cast<size_t>(m * n), 7);
  Contest<float> contest("SGEMM, " + std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(p), c);
  contest.tolerance = 1e-5;
  contest.row.method = "results within 1e-5 of the largest";
  contest.operations = 2.0 * static_cast<double>(m * n * p);
  return against(bench, "matmul", std::move(contest), {{"M", m}, {"N", n}, {"P", p}},
                 {{"height", bench_matmul_rows}, {"width", bench_matmul_columns}, {"depth", bench_matmul_depth}},
                 {{"A", a.data(), {m, p}}, {"B", b.data(), {p, n}}, {"C", c.data(), {m, n}}},
                 [&] { bench_matmul(a.data(), b.data(), c.data(), m, n, p); });
}

Row conv2d(Bench& bench, int64_t m, int64_t n, int64_t u, int64_t v) {
  Buffer<float> a = randomFloats(static_cast<size_t>((m + u - 1) * (n + v - 1)), 8),
                h = randomFloats(static_cast<size_t>(u * v), 9), c(static_cast<size_t>(m * n));
  Contest<float> contest("CONV2D " + std::to_string(u) + "x" + std::to_string(v) + ", " + std::to_string(m) + " x " +
                             std::to_string(n),
                         c);
  contest.tolerance = 1e-5;
  contest.row.method = "results within 1e-5 of the largest; the filter's size is known at run time only";
  contest.operations = 2.0 * static_cast<double>(m * n * u * v);
  return against(
      bench, "conv2d", std::move(contest), {{"M", m}, {"N", n}, {"U", u}, {"V", v}},
      {{"rows", bench_conv2d_rows}, {"columns", bench_conv2d_columns}},
      {{"image", a.data(), {m + u - 1, n + v - 1}}, {"mask", h.data(), {u, v}}, {"filtered", c.data(), {m, n}}},
      [&] { bench_conv2d(a.data(), h.data(), c.data(), m, n, u, v); });
}

Row histogram(Bench& bench, int64_t n, int64_t count) {
  Buffer<int32_t> data(static_cast<size_t>(n)), bins(static_cast<size_t>(count));
  std::mt19937 random(10);
  for (size_t index = 0; index < data.size(); ++index)
    data[index] = static_cast<int32_t>(random() % static_cast<uint32_t>(count));
  Contest<int32_t> contest("histogram, " + std::to_string(n) + " into " + std::to_string(count) + " bins", bins);
  contest.row.method = "results equal";
  return against(bench, "histogram", std::move(contest), {{"N", n}, {"B", count}},
                 {{"block", bench_histogram_block}, {"ways", bench_histogram_ways}},
                 {{"data", data.data(), {n}}, {"bins", bins.data(), {count}}},
                 [&] { bench_histogram(data.data(), n, bins.data(), count); });
}

Row sum(Bench& bench, int64_t n) {
  Buffer<float> data = randomFloats(static_cast<size_t>(n), 11), total(1);
  for (size_t index = 0; index < data.size(); ++index)
    data[index] = std::abs(data[index]);
  Contest<float> contest("sum, " + std::to_string(n) + " floats", total);
  contest.tolerance = 1e-5;
  contest.row.method = "each block from left to right on both sides; results within 1e-5";
  contest.bytes = 4.0 * static_cast<double>(n);
  return against(bench, "sum", std::move(contest), {{"N", n}}, {{"block", bench_sum_block}, {"ways", bench_sum_ways}},
                 {{"data", data.data(), {n}}, {"total", total.data(), {}}},
                 [&] { bench_sum(data.data(), n, total.data()); });
}

} // namespace

std::vector<Work> blockedWorks() {
  return {
      {"matmul",
       [](Bench& bench) { return std::vector<Row>{matmul(bench, 512, 512, 512), matmul(bench, 1000, 700, 900)}; }},
      {"conv2d",
       [](Bench& bench) { return std::vector<Row>{conv2d(bench, 2048, 2048, 5, 5), conv2d(bench, 500, 700, 3, 3)}; }},
      {"histogram", [](Bench& bench) { return std::vector<Row>{histogram(bench, 4 << 20, 256)}; }},
      {"sum", [](Bench& bench) { return std::vector<Row>{sum(bench, 16 << 20)}; }}};
}

} // namespace strata::bench
