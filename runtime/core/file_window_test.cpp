// Windows over files against arrays in memory, on every engine, and what is said when a file fails.
#include "runtime/core/file_window.h"

#include "runtime/core/file_engine.h"
#include "runtime/core/scratch_file.h"
#include "runtime/core/testing.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <numeric>
#include <random>
#include <sys/mount.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace strata::runtime {
namespace {

/// Each test with 1, 2 and 7 threads on the engine named; where the system has no io_uring its tests are skipped.
class FileWindows : public ::testing::TestWithParam<std::pair<const char*, uint32_t>> {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setThreads(GetParam().second);
    FileEngine* engine = std::string(GetParam().first) == "uring" ? uringEngine() : threadEngine();
    if (!engine)
      GTEST_SKIP() << "no io_uring here";
    setFileEngine(engine);
  }
  void TearDown() override { setFileEngine(nullptr); }
};
INSTANTIATE_TEST_SUITE_P(Engines, FileWindows,
                         ::testing::Values(std::pair("uring", 1u), std::pair("uring", 2u), std::pair("uring", 7u),
                                           std::pair("threads", 1u), std::pair("threads", 2u),
                                           std::pair("threads", 7u)),
                         [](const auto& info) { return info.param.first + std::to_string(info.param.second); });

template <typename T>
class FileArray {
public:
  explicit FileArray(int64_t count)
      : first(static_cast<T*>(strata_window_acquire_file(count * static_cast<int64_t>(sizeof(T)), "array"))) {}
  FileArray(const FileArray&) = delete;
  ~FileArray() { strata_window_release(first); }
  T* const first;
};

using Index = std::vector<int64_t>;

template <typename T>
void move(T* to, const Index& toStrides, const T* from, const Index& fromStrides, const Index& extents) {
  strata_window_move(to, toStrides.data(), from, fromStrides.data(), extents.data(),
                     static_cast<int32_t>(extents.size()), sizeof(T));
}

template <typename T>
std::vector<T> contents(const FileArray<T>& array, int64_t count) {
  std::vector<T> result(static_cast<size_t>(count));
  move(result.data(), {1}, static_cast<const T*>(array.first), {1}, {count});
  return result;
}

/// A box in an array of so many dimensions: strides in some order of dimensions, with gaps and some running backwards.
struct Side {
  Index strides;
  int64_t first = 0, size = 1;
};
Side randomSide(const Index& extents, std::mt19937& random) {
  Side side;
  std::vector<size_t> order(extents.size());
  std::iota(order.begin(), order.end(), size_t(0));
  if (random() % 2)
    std::shuffle(order.begin(), order.end(), random);
  side.strides.resize(extents.size());
  const int64_t gaps = random() % 3 == 0 ? 40 : random() % 2;
  int64_t step = 1;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    side.strides[*at] = step;
    step *= extents[*at] + static_cast<int64_t>(gaps ? random() % static_cast<uint64_t>(gaps + 1) : 0);
    if (random() % 8 == 0) {
      side.first += side.strides[*at] * (extents[*at] - 1);
      side.strides[*at] = -side.strides[*at];
    }
  }
  side.size = std::max<int64_t>(step, 1);
  return side;
}

template <typename T>
void moveNaively(T* to, const Side& toSide, const T* from, const Side& fromSide, const Index& extents, size_t d = 0) {
  if (d == extents.size()) {
    *to = *from;
    return;
  }
  for (int64_t i = 0; i < extents[d]; ++i)
    moveNaively(to + i * toSide.strides[d], toSide, from + i * fromSide.strides[d], fromSide, extents, d + 1);
}

TEST_P(FileWindows, RandomBoxesEqualMemory) {
  std::mt19937 random(3);
  for (int round = 0; round < 150; ++round) {
    Index extents(random() % 4);
    for (int64_t& extent : extents)
      extent = 1 + static_cast<int64_t>(random() % (extents.size() == 1 ? 70000 : 45));
    const Side a = randomSide(extents, random), b = randomSide(extents, random), c = randomSide(extents, random);
    std::vector<int32_t> source(static_cast<size_t>(a.size)), expected(static_cast<size_t>(c.size), -1);
    std::iota(source.begin(), source.end(), round);
    FileArray<int32_t> first(b.size), second(c.size);
    move(second.first, {1}, expected.data(), {1}, {c.size});
    move(first.first + b.first, b.strides, source.data() + a.first, a.strides, extents);
    move(second.first + c.first, c.strides, static_cast<const int32_t*>(first.first + b.first), b.strides, extents);
    moveNaively(expected.data() + c.first, c, source.data() + a.first, a, extents);
    ASSERT_EQ(contents(second, c.size), expected) << "round " << round;
    std::vector<int32_t> back(source.size(), -2), wanted(source.size(), -2);
    move(back.data() + a.first, a.strides, static_cast<const int32_t*>(second.first + c.first), c.strides, extents);
    moveNaively(wanted.data() + a.first, a, source.data() + a.first, a, extents);
    ASSERT_EQ(back, wanted) << "round " << round;
  }
}

TEST_P(FileWindows, MovesGoOnBesideTheirStarter) {
  constexpr int64_t parts = 40, part = 100000;
  FileArray<int64_t> array(parts * part);
  std::vector<int64_t> source(parts * part), result(parts * part);
  std::iota(source.begin(), source.end(), 7);
  const int64_t one = 1, extent = part;
  std::vector<StrataToken*> tokens;
  for (int64_t i = 0; i < parts; ++i) {
    StrataToken* written = strata_window_move_start(array.first + i * part, &one, source.data() + i * part, &one,
                                                    &extent, 1, sizeof(int64_t), nullptr, 0);
    // Comes after it, whatever the engine does first.
    tokens.push_back(strata_window_move_start(result.data() + i * part, &one, array.first + i * part, &one, &extent, 1,
                                              sizeof(int64_t), &written, 1));
    strata_token_release(written);
  }
  wait(tokens);
  EXPECT_EQ(result, source);
}

TEST_P(FileWindows, InstancesMoveAtOnce) {
  constexpr int64_t instances = 64, part = 30000;
  FileArray<int32_t> array(instances * part);
  spmd(instances, false, [&](int64_t i) {
    std::vector<int32_t> mine(part, static_cast<int32_t>(i));
    move(array.first + i, {instances}, static_cast<const int32_t*>(mine.data()), {1}, {part / 100});
    move(mine.data(), {1}, static_cast<const int32_t*>(array.first + i), {instances}, {part / 100});
    for (int64_t k = 0; k < part; ++k)
      ASSERT_EQ(mine[static_cast<size_t>(k)], i);
  });
}

TEST_P(FileWindows, EmptyAndSingleElements) {
  FileArray<double> array(3), none(0);
  double value = 2.5, read = 0;
  strata_window_move(array.first + 2, nullptr, &value, nullptr, nullptr, 0, sizeof value);
  strata_window_move(&read, nullptr, array.first + 2, nullptr, nullptr, 0, sizeof value);
  EXPECT_EQ(read, 2.5);
  move(none.first, {1}, static_cast<const double*>(array.first), {1}, {0});
  EXPECT_EQ(contents(array, 3), (std::vector<double>{0, 0, 2.5}));
}

/// What is no window is memory: arrays of a C program.
TEST_P(FileWindows, MemoryOnBothSides) {
  std::vector<int32_t> from{1, 2, 3, 4}, to(2);
  move(to.data(), {1}, static_cast<const int32_t*>(from.data()), {2}, {2});
  EXPECT_EQ(to, (std::vector<int32_t>{1, 3}));
}

TEST_P(FileWindows, AStandstillBesideAFileIsStillADeadlock) {
  EXPECT_EXIT(
      {
        FileArray<int32_t> array(1 << 20);
        (void)contents(array, 1 << 20);
        StrataStream* stream = strata_stream_create(4, 1, "s");
        int32_t element;
        strata_stream_pop(stream, &element);
      },
      ::testing::ExitedWithCode(1), "runtime-deadlock");
}

/// A file of the test's own, made part of a window.
struct OwnFile {
  explicit OwnFile(int64_t bytes) {
    file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    EXPECT_EQ(ftruncate(file, bytes), 0);
    window = openWindow(bytes, fileBackend(dup(file), 0, "'data.npy'"), "data");
  }
  ~OwnFile() {
    closeWindow(window);
    close(file);
  }
  int file;
  char* window;
};

TEST_P(FileWindows, AFileThatIsCutWhileItIsReadIsNamed) {
  EXPECT_EXIT(
      {
        OwnFile data(1 << 20);
        (void)!ftruncate(data.file, 500000);
        std::vector<char> all(1 << 20);
        move(all.data(), {1}, static_cast<const char*>(data.window), {1}, {1 << 20});
      },
      ::testing::ExitedWithCode(1), "'data.npy' ends at byte 500000.*runtime-file-short");
}

TEST_P(FileWindows, AFileThatCannotBeReadOrWrittenIsNamed) {
  std::vector<char> all(1 << 20);
  EXPECT_EXIT(
      {
        char* window = openWindow(1 << 20, fileBackend(open("/tmp", O_RDONLY), 0, "'folder'"), "data");
        move(all.data(), {1}, static_cast<const char*>(window), {1}, {1 << 20});
      },
      ::testing::ExitedWithCode(1), "cannot read 'folder' at byte 0: Is a directory.*runtime-file-read");
  EXPECT_EXIT(
      {
        char* window = openWindow(1 << 20, fileBackend(open("/dev/full", O_RDWR), 0, "'full'"), "data");
        move(window, {1}, static_cast<const char*>(all.data()), {1}, {1 << 20});
      },
      ::testing::ExitedWithCode(1), "cannot write 'full' at byte 0: No space left on device.*runtime-file-write");
}

/// Carries out so much of a request, in the caller: the bytes that were done, or -1.
ssize_t carryOut(const FileRequest& request, size_t bytes) {
  return request.writes ? pwrite(request.file, request.memory, bytes, request.at)
                        : pread(request.file, request.memory, bytes, request.at);
}

/// A disk that gives a few bytes at a time, and fails in the middle when told to.
class BadDisk : public FileEngine {
public:
  int error = 0;
  int64_t good = 0;
  void begin(FileRequest* requests, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      FileRequest& request = requests[i];
      const auto bytes = static_cast<size_t>(std::min<int64_t>(request.bytes, 70000));
      good -= static_cast<int64_t>(bytes);
      if (error && good < 0)
        finished(&request, -error);
      else
        finished(&request, carryOut(request, bytes));
    }
  }
  bool mayTryAtOnce() const override { return false; }
};

TEST(FileFaults, ShortTransfersAreContinued) {
  BadDisk disk;
  setFileEngine(&disk);
  {
    FileArray<int32_t> array(1 << 18);
    std::vector<int32_t> source(1 << 18);
    std::iota(source.begin(), source.end(), 1);
    move(array.first, {1}, static_cast<const int32_t*>(source.data()), {1}, {1 << 18});
    EXPECT_EQ(contents(array, 1 << 18), source);
  }
  setFileEngine(nullptr);
}

/// A disk that carries out each request in a thread of its own, and notes which were under way at once.
class SlowDisk : public FileEngine {
public:
  void begin(FileRequest* requests, size_t count) override {
    std::lock_guard guard(lock_);
    for (size_t i = 0; i < count; ++i) {
      FileRequest* request = &requests[i];
      mostAtOnce[request->writes] = std::max(mostAtOnce[request->writes], ++underWay_[request->writes]);
      inOrder &= request->at >= at_[request->writes];
      at_[request->writes] = request->at;
      threads_.emplace_back([this, request] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const ssize_t done = carryOut(*request, static_cast<size_t>(request->bytes));
        {
          std::lock_guard ended(lock_);
          --underWay_[request->writes];
        }
        finished(request, done);
      });
    }
  }
  bool mayTryAtOnce() const override { return false; }
  ~SlowDisk() override {
    for (std::thread& thread : threads_)
      thread.join();
  }
  int mostAtOnce[2] = {0, 0}; // reads, writes
  bool inOrder = true;

private:
  std::mutex lock_;
  std::vector<std::thread> threads_;
  int underWay_[2] = {0, 0};
  int64_t at_[2] = {0, 0};
};

TEST(FileSequences, LongRunsOfAFileGoOneAfterAnother) {
  constexpr int64_t parts = 12, part = 100000; // 800000 bytes each
  SlowDisk disk;
  setFileEngine(&disk);
  {
    FileArray<int64_t> array(parts * part);
    std::vector<int64_t> source(static_cast<size_t>(parts * part)), result(source.size());
    std::iota(source.begin(), source.end(), 5);
    const int64_t one = 1;
    auto moveAll = [&](auto* to, const auto* from) {
      std::vector<StrataToken*> tokens;
      for (int64_t i = 0; i < parts; ++i)
        tokens.push_back(
            strata_window_move_start(to + i * part, &one, from + i * part, &one, &part, 1, sizeof *to, nullptr, 0));
      wait(tokens);
    };
    moveAll(array.first, source.data());
    moveAll(result.data(), array.first);
    EXPECT_EQ(result, source);
  }
  setFileEngine(nullptr);
  EXPECT_EQ(disk.mostAtOnce[0], 1);
  EXPECT_EQ(disk.mostAtOnce[1], 1);
}

TEST(FileSequences, ShortRunsGoTogetherAndOneMoveIsInOrder) {
  SlowDisk disk;
  setFileEngine(&disk);
  {
    FileArray<int32_t> array(6 << 20);
    std::vector<int32_t> all(6 << 20);
    std::iota(all.begin(), all.end(), 1);
    move(array.first, {1}, static_cast<const int32_t*>(all.data()), {1}, {6 << 20});
    EXPECT_EQ(contents(array, 6 << 20), all);
    EXPECT_TRUE(disk.inOrder);
    EXPECT_EQ(disk.mostAtOnce[0], 1);
    std::vector<int32_t> rows(6 * 8192);
    move(rows.data(), {8192, 1}, static_cast<const int32_t*>(array.first), {1 << 20, 1}, {6, 8192});
    for (size_t i = 0; i < 6; ++i)
      EXPECT_EQ(rows[i * 8192], static_cast<int32_t>(i << 20) + 1);
  }
  setFileEngine(nullptr);
  EXPECT_EQ(disk.mostAtOnce[0], 6);
}

TEST(FileFaults, AnErrorOfTheDeviceIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        BadDisk disk;
        disk.error = EIO;
        disk.good = 300000;
        setFileEngine(&disk);
        FileArray<int32_t> array(1 << 20);
        (void)contents(array, 1 << 20);
      },
      ::testing::ExitedWithCode(1), "cannot read the scratch file of 'array' at byte .*Input/output error");
}

TEST(FileFaults, AFullOrMissingFolderIsSaidBeforeTheWork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setScratchFolder("/does/not/exist");
        strata_window_acquire_file(10, "T");
      },
      ::testing::ExitedWithCode(1),
      "no scratch file of 10 bytes for 'T' in '/does/not/exist': No such file.*runtime-scratch-file");
  char folder[] = "/tmp/strata-small-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  if (mount("none", folder, "tmpfs", 0, "size=1M") != 0) {
    rmdir(folder);
    GTEST_SKIP() << "file systems cannot be mounted here";
  }
  EXPECT_EXIT(
      {
        setScratchFolder(folder);
        strata_window_acquire_file(int64_t(4) << 20, "T");
      },
      ::testing::ExitedWithCode(1), "in '/tmp/strata-small-.*No space left on device.*runtime-scratch-file");
  umount(folder);
  rmdir(folder);
}

TEST(FileFaults, AnEngineThatIsNotThereIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("STRATA_IO", "tape", 1);
        fileEngine();
      },
      ::testing::ExitedWithCode(1), "STRATA_IO is 'tape'.*runtime-io-engine");
}

} // namespace
} // namespace strata::runtime
