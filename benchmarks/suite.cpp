// The suite's other programs (matrix by vector, a three-dimensional Fourier transform, gravity and Viterbi's algorithm)
// against the same loops in C with the blocks that the examples' mappings state.
#include "benchmarks/example.h"
#include "benchmarks/peers/peers.h"

#include <bit>

namespace strata::bench {
namespace {

Row sgemv(Bench& bench, int64_t m, int64_t n) {
  Buffer<float> a = randomFloats(static_cast<size_t>(m * n), 21), x = randomFloats(static_cast<size_t>(n), 22),
                y = randomFloats(static_cast<size_t>(m), 23);
  Contest<float> contest("SGEMV, " + std::to_string(m) + " x " + std::to_string(n), y);
  contest.tolerance = 1e-5;
  contest.row.method = "results within 1e-5 of the largest";
  contest.bytes = 4.0 * static_cast<double>(m * n);
  return against(bench, "sgemv", std::move(contest), {{"M", m}, {"N", n}},
                 {{"rows", bench_sgemv_rows}, {"columns", bench_sgemv_columns}},
                 {{"A", a.data(), {m, n}}, {"x", x.data(), {n}}, {"y", y.data(), {m}}},
                 [&] { bench_sgemv(a.data(), x.data(), y.data(), m, n); });
}

Row fft3d(Bench& bench, int64_t l, int64_t m, int64_t n) {
  const int64_t count = l * m * n;
  Buffer<float> a = randomFloats(static_cast<size_t>(2 * count), 24), b(static_cast<size_t>(2 * count)),
                scratch(static_cast<size_t>(4 * count + 2 * std::max({l, m, n})));
  Contest<float> contest(
      "FFT3D, " + std::to_string(l) + " x " + std::to_string(m) + " x " + std::to_string(n) + " complex", b);
  contest.tolerance = 1e-5;
  contest.row.method = "results within 1e-5 of the largest; 5 N log2 N operations are counted";
  contest.operations = 5.0 * static_cast<double>(count) * static_cast<double>(std::bit_width(uint64_t(count)) - 1);
  return against(bench, "fft3d", std::move(contest), {{"L", l}, {"M", m}, {"N", n}},
                 {{"rows", bench_fft3d_rows}, {"columns", bench_fft3d_columns}},
                 {{"a", a.data(), {l, m, n}}, {"b", b.data(), {l, m, n}}},
                 [&] { bench_fft3d(a.data(), b.data(), scratch.data(), l, m, n); });
}

Row gravity(Bench& bench, int64_t n) {
  Buffer<float> bodies = randomFloats(static_cast<size_t>(4 * n), 25), a(static_cast<size_t>(3 * n));
  float soft = 0.05f;
  Contest<float> contest("GRAVITY, " + std::to_string(n) + " bodies", a);
  contest.tolerance = 1e-5;
  contest.row.method = "results within 1e-5 of the largest; 20 operations a pair are counted";
  contest.operations = 20.0 * static_cast<double>(n) * static_cast<double>(n);
  return against(
      bench, "gravity", std::move(contest), {{"N", n}, {"P", n}},
      {{"pulled", bench_gravity_pulled}, {"pulling", bench_gravity_pulling}},
      {{"at", bodies.data(), {4, n}}, {"from", bodies.data(), {4, n}}, {"soft", &soft, {}}, {"a", a.data(), {3, n}}},
      [&] { bench_gravity(bodies.data(), bodies.data(), soft, a.data(), n, n); });
}

Row hmmer(Bench& bench, int64_t count, int64_t longest, int64_t nodes) {
  constexpr int64_t residueKinds = 20, steps = 9;
  std::mt19937 random(26);
  auto fill = [&](auto& buffer, int64_t low, int64_t high) {
    for (size_t index = 0; index < buffer.size(); ++index)
      buffer[index] = static_cast<std::remove_reference_t<decltype(buffer[0])>>(
          low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low)));
  };
  Buffer<int8_t> residues(static_cast<size_t>(count * longest));
  Buffer<int32_t> length(static_cast<size_t>(count)), match(static_cast<size_t>(residueKinds * nodes)),
      insert(static_cast<size_t>(residueKinds * nodes)), step(static_cast<size_t>(steps * nodes)),
      score(static_cast<size_t>(count));
  fill(residues, 0, residueKinds);
  fill(length, longest / 2, longest + 1);
  fill(match, -400, 500);
  fill(insert, -100, 100);
  fill(step, -900, 0);
  Contest<int32_t> contest("HMMER, " + std::to_string(count) + " sequences of up to " + std::to_string(longest) +
                               " residues, " + std::to_string(nodes - 1) + " nodes",
                           score);
  contest.row.method = "results equal";
  return against(bench, "hmmer", std::move(contest), {{"S", count}, {"T", longest}, {"R", residueKinds}, {"K", nodes}},
                 {{"batch", bench_hmmer_batch}},
                 {{"residues", residues.data(), {count, longest}},
                  {"length", length.data(), {count}},
                  {"match", match.data(), {residueKinds, nodes}},
                  {"insert", insert.data(), {residueKinds, nodes}},
                  {"step", step.data(), {steps, nodes}},
                  {"score", score.data(), {count}}},
                 [&] {
                   bench_hmmer(residues.data(), length.data(), match.data(), insert.data(), step.data(), score.data(),
                               count, longest, nodes);
                 });
}

} // namespace

std::vector<Work> suiteWorks() {
  return {
      {"sgemv", [](Bench& bench) { return std::vector<Row>{sgemv(bench, 4096, 4096), sgemv(bench, 500, 700)}; }},
      {"fft3d", [](Bench& bench) { return std::vector<Row>{fft3d(bench, 128, 128, 128), fft3d(bench, 48, 64, 40)}; }},
      {"gravity", [](Bench& bench) { return std::vector<Row>{gravity(bench, 4096)}; }},
      {"hmmer", [](Bench& bench) { return std::vector<Row>{hmmer(bench, 64, 200, 241)}; }}};
}

} // namespace strata::bench
