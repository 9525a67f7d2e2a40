// Arrays on a disk: a vector sum against plain sequential reads and writes of the same files, and a matrix product
// against the same product in memory. The machine's main memory is small, so that the arrays are four times as large.
#include "benchmarks/bench.h"
#include "benchmarks/peers/peers.h"
#include "runtime/core/file_window.h"

#include <fcntl.h>
#include <unistd.h>

namespace strata::bench {
namespace {

const std::string folder = STRATA_SOURCE_DIR "/benchmarks/programs/";
constexpr int64_t mainBytes = int64_t(16) << 20; // of the machine in programs/disk.yaml

/// A file of floats that vanishes with this, and a window on it.
class FileOfFloats {
public:
  explicit FileOfFloats(int64_t count) : count_(count) {
    const char* chosen = std::getenv("TMPDIR");
    file_ = open(chosen && *chosen ? chosen : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    // Each side opens it for itself: with an open file the kernel keeps what it guesses will be read next.
    const int ours = open(("/proc/self/fd/" + std::to_string(file_)).c_str(), O_RDWR | O_CLOEXEC);
    if (file_ < 0 || ours < 0 || posix_fallocate(file_, 0, count * 4) != 0)
      failed_ = true;
    else
      window_ = runtime::openWindow(count * 4, runtime::fileBackend(ours, 0, "a benchmark's file"), "file");
  }
  ~FileOfFloats() {
    if (window_)
      runtime::closeWindow(window_);
    close(file_);
  }
  FileOfFloats(const FileOfFloats&) = delete;
  bool failed() const { return failed_; }
  int file() const { return file_; }
  void* window() const { return window_; }
  void put(const Buffer<float>& values) { failed_ |= pwrite(file_, values.data(), bytes(), 0) != bytes(); }
  void get(Buffer<float>& values) { failed_ |= pread(file_, values.data(), bytes(), 0) != bytes(); }
  /// Nothing of it is in memory any more: what was written is on the disk, and has to be read from there.
  void forget() {
    fsync(file_);
    posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
  }

private:
  ssize_t bytes() const { return static_cast<ssize_t>(count_ * 4); }
  int64_t count_;
  int file_ = -1;
  char* window_ = nullptr;
  bool failed_ = false;
};

/// One sample is one call here: files are not read from the disk a second time.
double once(const Timed& side) {
  return sample({[] {},
                 [&, called = false]() mutable {
                   // The call that is not timed only brings both sides to the same state.
                   if (std::exchange(called, true))
                     side.call();
                   else
                     side.reset();
                 }},
                1);
}

Row vectorSum(Bench& bench, bool cold) {
  const int64_t n = 4 * mainBytes / 4;
  Buffer<float> a = randomFloats(static_cast<size_t>(n), 21), b = randomFloats(static_cast<size_t>(n), 22);
  FileOfFloats files[3] = {FileOfFloats(n), FileOfFloats(n), FileOfFloats(n)};
  Row row;
  row.work = "vector sum on a disk, 3 files of " + std::to_string(n >> 18) + " MiB, " +
             (cold ? "from the disk" : "in the page cache");
  row.method = "main memory of the machine: " + std::to_string(mainBytes >> 20) +
               " MiB; files in $TMPDIR; results equal; the peer: read, read, add, write, 4 MiB at a time";
  row.peer = Bench::loopPeer(false) + ", pread and pwrite";
  row.goal = cold ? Goal{Goal::Kind::RatioAtLeast, 0.9} : Goal{Goal::Kind::None, 0};
  files[0].put(a);
  files[1].put(b);
  std::string error;
  auto program = Program::compile({STRATA_SOURCE_DIR "/examples/sequoia/vectadd/vectadd.sq",
                                   folder + "vectadd_disk.map",
                                   {{"N", n}},
                                   false,
                                   folder + "disk.yaml"},
                                  error);
  if (!program)
    return failed(row, error);
  const char* names[] = {"A", "B", "C"};
  for (int i = 0; i < 3; ++i)
    if (files[i].failed() || !program->bind(names[i], files[i].window(), {n}))
      return failed(row, "the files cannot be made");
  auto reset = [&] {
    for (FileOfFloats& file : files)
      cold ? file.forget() : void();
  };
  Timed ours{reset, [&] { program->call(); }};
  Timed peer{reset, [&] { bench_disk_sum(files[0].file(), files[1].file(), files[2].file(), n); }};
  Buffer<float> mine(static_cast<size_t>(n)), other(static_cast<size_t>(n));
  ours.call();
  files[2].get(mine);
  files[2].put(Buffer<float>(static_cast<size_t>(n)));
  peer.call();
  files[2].get(other);
  if (std::string wrong = difference(mine.copy(), other.copy(), 0); !wrong.empty())
    return failed(row, "results differ: " + wrong);
  row.pairs = inTurn(bench.pairs, row.goal, [&] { return once(ours); }, [&] { return once(peer); });
  return row;
}

Row matrixProduct(Bench& bench) {
  // Three matrices, together four times main memory.
  const int64_t n = 2304;
  auto count = static_cast<size_t>(n * n);
  Buffer<float> a = randomFloats(count, 23), b = randomFloats(count, 24), c(count), mine(count);
  FileOfFloats files[3] = {FileOfFloats(n * n), FileOfFloats(n * n), FileOfFloats(n * n)};
  Row row;
  row.work = "matrix product on a disk, " + std::to_string(n) + " x " + std::to_string(n) + " x " + std::to_string(n);
  row.method = "main memory of the machine: " + std::to_string(mainBytes >> 20) +
               " MiB; files in $TMPDIR, in the page cache; results equal";
  row.peer = "the same program and blocks in memory (machine cell)";
  row.goal = {Goal::Kind::RatioAtLeast, 0.8};
  files[0].put(a);
  files[1].put(b);
  std::string error;
  const std::string example = STRATA_SOURCE_DIR "/examples/sequoia/matmul/";
  const std::vector<std::pair<std::string, int64_t>> sizes{{"M", n}, {"N", n}, {"P", n}};
  auto program =
      Program::compile({example + "matmul.sq", folder + "matmul_disk.map", sizes, false, folder + "disk.yaml"}, error);
  auto inMemory =
      program ? Program::compile({example + "matmul.sq", example + "cell.map", sizes, false, ""}, error) : nullptr;
  if (!inMemory)
    return failed(row, error);
  const char* names[] = {"A", "B", "C"};
  Buffer<float>* arrays[] = {&a, &b, &c};
  for (int i = 0; i < 3; ++i)
    if (files[i].failed() || !program->bind(names[i], files[i].window(), {n, n}) ||
        !inMemory->bind(names[i], arrays[i]->data(), {n, n}))
      return failed(row, "the files cannot be made");
  const Buffer<float> zeros(count);
  Timed ours{[&] { files[2].put(zeros); }, [&] { program->call(); }};
  Timed peer{[&] { std::fill_n(c.data(), count, 0.0f); }, [&] { inMemory->call(); }};
  ours.reset();
  ours.call();
  peer.reset();
  peer.call();
  files[2].get(mine);
  if (std::string wrong = difference(mine.copy(), c.copy(), 0); !wrong.empty())
    return failed(row, "results differ: " + wrong);
  row.pairs = inTurn(bench.pairs, row.goal, [&] { return once(ours); }, [&] { return once(peer); });
  return row;
}

} // namespace

std::vector<Work> diskWorks() {
  return {
      {"disk-vectadd", [](Bench& bench) { return std::vector<Row>{vectorSum(bench, true), vectorSum(bench, false)}; }},
      {"disk-matmul", [](Bench& bench) { return std::vector<Row>{matrixProduct(bench)}; }}};
}

} // namespace strata::bench
