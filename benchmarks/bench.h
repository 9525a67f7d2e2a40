// What every work has at hand: the options of the run, what this computer can do, random arrays, and the contest
// between a compiled program and its peer on the same arrays. Everything here is used from one thread.
#pragma once

#include "benchmarks/program.h"
#include "benchmarks/table.h"

#include <cstdlib>
#include <random>

namespace strata::bench {

/// Options, and figures of this computer that are measured when they are first asked for.
class Bench {
public:
  unsigned pairs = 15;
  unsigned threads = 1;
  unsigned cores = 1; // of this computer
  double sampleSeconds = 0.02;

  double triadBandwidth(); ///< bytes per second
  double fmaPeak();        ///< floating-point operations per second

  /// "clang 19.1.7 -O3 -march=native, OpenMP 5.1"
  static std::string loopPeer(bool parallel = true);

private:
  double triadBandwidth_ = 0, fmaPeak_ = 0;
};

/// An array aligned to a page; both sides of a contest use the same one.
template <typename T>
class Buffer {
public:
  explicit Buffer(size_t count)
      : count_(count), data_(static_cast<T*>(
                           std::aligned_alloc(4096, std::max<size_t>((count * sizeof(T) + 4095) / 4096, 1) * 4096))) {
    if (!data_)
      std::abort();
    std::fill_n(data_.get(), count, T());
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return count_; }
  T& operator[](size_t index) { return data_.get()[index]; }
  void operator=(const std::vector<T>& values) { std::copy(values.begin(), values.end(), data()); }
  std::vector<T> copy() const { return {data(), data() + count_}; }

private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  size_t count_;
  std::unique_ptr<T, Free> data_;
};

/// Values in [-1, 1), the same in every run.
Buffer<float> randomFloats(size_t count, unsigned seed);

/// What differs between what both sides wrote: empty when every element agrees to within `tolerance` times the largest
/// magnitude.
template <typename T>
std::string difference(const std::vector<T>& ours, const std::vector<T>& peer, double tolerance) {
  double largest = 0;
  for (T value : peer)
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (size_t index = 0; index < peer.size(); ++index) {
    double distance = std::abs(static_cast<double>(ours[index]) - static_cast<double>(peer[index]));
    if (!(distance <= tolerance * largest))
      return "element " + std::to_string(index) + " is " + std::to_string(ours[index]) + ", the peer's is " +
             std::to_string(peer[index]);
  }
  return "";
}

/// A program against its peer, both writing the same array.
template <typename T>
struct Contest {
  /// `writes` is what both write, and holds what it does before the first call. It outlives the contest.
  Contest(std::string work, Buffer<T>& writes) : written(&writes), before(writes.copy()) { row.work = std::move(work); }

  Row row; // method, peer and goal are for the work to fill in
  Buffer<T>* written;
  std::vector<T> before;
  double tolerance = 0;  // 0: bit for bit
  double bytes = 0;      // that one call has to move from and to memory at least; 0: memory is no limit
  double operations = 0; // floating-point operations of one call; 0: they are no limit
};

/// A row that says why there is no result.
Row failed(Row row, std::string why);

/// Our figure of a row as a part of what this computer can do.
std::string limitText(Bench& bench, double seconds, double bytes, double operations);

/// Runs both sides once from the same state, and says how what they wrote differs.
template <typename T>
std::string checkBoth(Contest<T>& contest, const Timed& ours, const Timed& peer) {
  ours.reset();
  ours.call();
  std::vector<T> written = contest.written->copy();
  peer.reset();
  peer.call();
  std::string found = difference(written, contest.written->copy(), contest.tolerance);
  return found.empty() ? "" : "results differ: " + found;
}

/// Checks, measures, checks again.
template <typename T>
Row hold(Bench& bench, Contest<T> contest, const std::function<void()>& ours, const std::function<void()>& peer) {
  auto reset = [&] { *contest.written = contest.before; };
  Timed left{reset, ours}, right{reset, peer};
  std::string wrong = checkBoth(contest, left, right);
  if (wrong.empty()) {
    unsigned calls = callsPerSample(left, right, bench.sampleSeconds);
    contest.row.pairs = inTurn(
        bench.pairs, contest.row.goal, [&] { return sample(left, calls); }, [&] { return sample(right, calls); });
    wrong = checkBoth(contest, left, right);
  }
  if (!wrong.empty())
    return failed(std::move(contest.row), wrong);
  if (contest.bytes > 0 || contest.operations > 0)
    contest.row.limit = limitText(bench, estimate(contest.row.pairs.ours).median, contest.bytes, contest.operations);
  return std::move(contest.row);
}

/// A work has a name that --filter selects by, and gives one row or more.
struct Work {
  std::string name;
  std::function<std::vector<Row>(Bench&)> rows;
};

/// The product c = a b of an m by k and a k by n matrix as a graph of HPVM; empty, and why, where there is none
/// (graphs.cpp). The buffers outlive it.
template <typename T>
std::function<void()> productGraph(const Bench& bench, Buffer<T>& a, Buffer<T>& b, Buffer<T>& c, int64_t m, int64_t n,
                                   int64_t k, std::string& error);

std::vector<Work> vectorWorks();  // vectors.cpp
std::vector<Work> blockedWorks(); // blocked.cpp
std::vector<Work> productWorks(); // products.cpp
std::vector<Work> suiteWorks();   // suite.cpp
std::vector<Work> callWorks();    // calls.cpp
std::vector<Work> streamWorks();  // streams.cpp
std::vector<Work> hbirWorks();    // hbir.cpp
std::vector<Work> commandWorks(); // commands.cpp
std::vector<Work> compileWorks(); // compile.cpp
std::vector<Work> diskWorks();    // disk.cpp
std::vector<Work> svmWorks();     // svm.cpp
std::vector<Work> graphWorks();   // graphs.cpp
std::vector<Work> arrayWorks();   // array.cpp
std::vector<Work> nodeWorks();    // nodes.cpp, where there is MPI

} // namespace strata::bench
