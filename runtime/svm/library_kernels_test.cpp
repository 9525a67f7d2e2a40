// The kernels that the library brings along, against direct computations, and kernels that users register.
#include "runtime/svm/testing.h"

#include "include/svm_kernels.h"
#include "runtime/core/system_memory.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <random>
#include <unistd.h>
#include <vector>

namespace {

using LibraryTest = SvmTest;

/// A stream in a global memory whose elements are those of a vector, the last with a tag. Only control and DMA reach
/// it, so tests run in unchecked mode, where nobody minds.
template <typename T>
void fill(Stream* stream, int address, const std::vector<T>& values) {
  std::copy(values.begin(), values.end(), static_cast<T*>(svmAddress(GLOBALMEM1, address)));
  streamInitWithDataRAM(stream, GLOBALMEM1, address, static_cast<int>(values.size()), sizeof(T),
                        static_cast<int>(values.size()), TRUE, 0);
}

/// Pops up to and with the first tag.
template <typename T>
std::vector<T> drain(Stream* stream) {
  std::vector<T> values;
  for (bool last = false; !last;) {
    last = streamPeekEOS(stream, 0);
    T value;
    streamPop(stream, &value);
    values.push_back(value);
  }
  return values;
}

std::vector<float> randomFloats(size_t count) {
  std::mt19937 random(3);
  std::vector<float> values(count);
  for (float& value : values)
    value = std::uniform_real_distribution<float>(-1, 1)(random);
  return values;
}

TEST_P(LibraryTest, Fir) {
  static Stream in, out;
  static Block taps;
  static Fir fir;
  const std::vector<float> x = randomFloats(300), h = randomFloats(17);
  fill(&in, 0, x);
  streamInitRAM(&out, LOCALMEM1, 100, 16, sizeof(float), 0);
  blockInit(&taps, LOCALMEM1, 0, static_cast<int>(h.size()), sizeof(float));
  std::copy(h.begin(), h.end(), static_cast<float*>(svmAddress(LOCALMEM1, 0)));
  firInit(&fir, PROC1, &in, &out, &taps, static_cast<int>(h.size()));
  kernelRun(&fir);
  const std::vector<float> y = drain<float>(&out);
  ASSERT_EQ(y.size(), x.size());
  for (size_t n = 0; n < x.size(); ++n) {
    double sum = 0;
    for (size_t k = 0; k < h.size() && k <= n; ++k)
      sum += double(h[k]) * double(x[n - k]);
    EXPECT_NEAR(y[n], sum, 1e-5);
  }
  kernelWait(&fir);
}

TEST_P(LibraryTest, FftAndBack) {
  static Stream in, middle, out;
  static Fft forth, back;
  for (const size_t points : {1, 2, 8, 64}) {
    const std::vector<float> parts = randomFloats(6 * points);
    std::vector<std::complex<float>> x;
    for (size_t i = 0; i < 3 * points; ++i)
      x.emplace_back(parts[2 * i], parts[2 * i + 1]);
    fill(&in, 0, x);
    streamInitRAM(&middle, LOCALMEM1, 0, 256, sizeof(x[0]), 0);
    streamInitRAM(&out, LOCALMEM1, 1000, 16, sizeof(x[0]), 0);
    fftInit(&forth, PROC1, &in, &middle, static_cast<int>(points), FALSE);
    kernelRun(&forth);
    kernelWait(&forth);
    // The first frame against the definition.
    for (size_t k = 0; k < points; ++k) {
      std::complex<double> sum = 0;
      for (size_t n = 0; n < points; ++n)
        sum += std::complex<double>(x[n]) *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(n * k) / static_cast<double>(points));
      std::complex<float> value;
      streamPeek(&middle, static_cast<int>(k), &value);
      EXPECT_NEAR(std::abs(std::complex<double>(value) - sum), 0, 1e-4);
    }
    fftInit(&back, PROC2, &middle, &out, static_cast<int>(points), TRUE);
    kernelRun(&back);
    const auto y = drain<std::complex<float>>(&out);
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(std::abs(y[i] - x[i]), 0, 1e-5);
    kernelWait(&back);
  }
}

TEST_P(LibraryTest, MatrixProduct) {
  static Block a, b, c;
  static MatrixProduct product;
  const int rows = 5, inner = 7, columns = 3;
  blockInit(&a, LOCALMEM1, 0, rows * inner, sizeof(float));
  blockInit(&b, LOCALMEM1, 100, inner * columns, sizeof(float));
  blockInit(&c, LOCALMEM1, 200, rows * columns, sizeof(float));
  auto* left = static_cast<float*>(svmAddress(LOCALMEM1, 0));
  auto* right = static_cast<float*>(svmAddress(LOCALMEM1, 100));
  auto* sum = static_cast<float*>(svmAddress(LOCALMEM1, 200));
  const std::vector<float> values = randomFloats(100);
  std::copy_n(values.begin(), rows * inner, left);
  std::copy_n(values.begin() + 50, inner * columns, right);
  std::fill_n(sum, rows * columns, 1.0f);
  matrixProductInit(&product, PROC1, &a, &b, &c, rows, inner, columns);
  kernelRun(&product);
  kernelWait(&product);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double expected = 1;
      for (int k = 0; k < inner; ++k)
        expected += double(left[i * inner + k]) * double(right[k * columns + j]);
      EXPECT_NEAR(sum[i * columns + j], expected, 1e-5);
    }
}

template <typename T>
void sorts(SVM_TYPE type) {
  static Stream in, out;
  static Sort sort;
  std::mt19937 random(5);
  std::vector<T> values(500);
  for (T& value : values)
    value = static_cast<T>(static_cast<int>(random() % 1000) - 500);
  fill(&in, 0, values);
  streamInitRAM(&out, LOCALMEM1, 0, 16, sizeof(T), 0);
  sortInit(&sort, PROC1, &in, &out, type);
  kernelRun(&sort);
  const std::vector<T> sorted = drain<T>(&out);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(sorted, values);
  kernelWait(&sort);
}

TEST_P(LibraryTest, Sort) {
  sorts<float>(SVM_FLOAT);
  sorts<int>(SVM_INT);
  sorts<double>(SVM_DOUBLE);
  sorts<int64_t>(SVM_LONG);
  sorts<unsigned char>(SVM_BYTE);
}

TEST_P(LibraryTest, FilesAreDevices) {
  static Stream stream;
  static FileSource source;
  static FileSink sink;
  const std::string own = testing::TempDir() + "svm_" + std::to_string(getpid());
  const std::string from = own + "_from.bin", to = own + "_to.bin";
  std::string bytes;
  for (int i = 0; i < 10007; ++i)
    bytes += static_cast<char>(i * 31);
  std::ofstream(from, std::ios::binary) << bytes;
  streamInitFIFO(&stream, FIFO1, 4, 0);
  fileSourceInit(&source, SOURCE1, &stream, from.c_str());
  fileSinkInit(&sink, SINK1, &stream, to.c_str());
  kernelRun(&source);
  kernelRun(&sink);
  kernelWait(&sink);
  kernelWait(&source);
  std::ifstream in(to, std::ios::binary);
  const std::string copied((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(copied, bytes.substr(0, 10004));
  std::remove(from.c_str());
  std::remove(to.c_str());
  fileSourceInit(&source, SOURCE1, &stream, "/nowhere/at/all");
  EXPECT_EXIT(
      {
        kernelRun(&source);
        kernelWait(&source);
      },
      ::testing::ExitedWithCode(1), "cannot open '/nowhere/at/all'.*svm-file");
}

TEST_P(LibraryTest, TheConsolePrints) {
  static Stream in;
  static Console console;
  fill(&in, 0, std::vector<int>{1, -2, 3});
  consoleInit(&console, CONSOLE, &in, SVM_INT);
  testing::internal::CaptureStdout();
  kernelRun(&console);
  kernelWait(&console);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1\n-2\n3\n");
}

TEST_P(LibraryTest, AnEndedKernelGivesBackWhatItHolds) {
  // What it has allocated is freed though its stack is not unwound: the leak sanitizer looks after that.
  static Stream in, out;
  static Sort sort;
  streamInitRAM(&in, LOCALMEM1, 0, 16, sizeof(float), 0);
  streamInitRAM(&out, LOCALMEM1, 16, 16, sizeof(float), 0);
  sortInit(&sort, PROC1, &in, &out, SVM_FLOAT);
  kernelRun(&sort);
  float x = 1;
  for (int i = 0; i < 100; ++i)
    streamPush(&in, &x);
  kernelEnd(&sort);
  kernelWait(&sort);
}

TEST_P(LibraryTest, KernelsByName) {
  struct Twice {
    Kernel kernel;
    int value;
  };
  static Twice twice;
  const auto exits = ::testing::ExitedWithCode(1);
  twice.value = 21;
  EXPECT_EXIT(blackBoxInit(&twice, PROC1, "twice", &twice, sizeof twice), exits,
              "no kernel is named 'twice'.*svm-unknown-kernel");
  svmRegisterKernel("twice", [](void* data) { static_cast<Twice*>(data)->value *= 2; });
  EXPECT_EXIT(blackBoxInit(&twice, PROC1, "twice", &twice, sizeof twice), exits,
              "PROC1 does not run the kernel 'twice'.*svm-supported-kernels");
  // For the name of one that it lists, the user's function takes the place of the library's.
  svmRegisterKernel("matrix_product", [](void* data) { static_cast<Twice*>(data)->value *= 2; });
  blackBoxInit(&twice, PROC1, "matrix_product", &twice, sizeof twice);
  kernelRun(&twice);
  kernelWait(&twice);
  EXPECT_EQ(twice.value, 42);
}

TEST_P(LibraryTest, MisuseEndsTheProgram) {
  static Kernel nameless;
  EXPECT_EXIT(svmRegisterKernel(nullptr, [](void*) {}), ::testing::ExitedWithCode(1),
              "_test.cpp:[0-9]+: error: a kernel is registered without a name.*svm-null");
  EXPECT_EXIT(svmRegisterKernel("mine", nullptr), ::testing::ExitedWithCode(1),
              "_test.cpp:[0-9]+: error: kernel 'mine' is registered without.*svm-null");
  EXPECT_EXIT(blackBoxInit(&nameless, PROC1, nullptr, &nameless, sizeof nameless), ::testing::ExitedWithCode(1),
              "a black-box kernel is initialised without a name.*svm-null");
  static Stream in, out;
  static Block taps;
  static Fir fir;
  static Fft fft;
  static Sort sort;
  static MatrixProduct product;
  static Console console;
  const auto exits = ::testing::ExitedWithCode(1);
  streamInitRAM(&in, LOCALMEM1, 0, 16, 8, 0);
  streamInitRAM(&out, LOCALMEM1, 100, 16, 4, 0);
  blockInit(&taps, LOCALMEM1, 200, 4, sizeof(float));
  const auto runs = [](auto* kernel) {
    kernelRun(kernel);
    kernelWait(kernel);
  };
  firInit(&fir, PROC1, &in, &out, &taps, 4);
  EXPECT_EXIT(runs(&fir), exits, "elements of stream 'in' have 8 bytes where it takes 4.*svm-black-box");
  fftInit(&fft, PROC1, &in, &in, 12, FALSE);
  EXPECT_EXIT(runs(&fft), exits, "frames of 12 points");
  sortInit(&sort, PROC1, &out, &out, 77);
  EXPECT_EXIT(runs(&sort), exits, "a type of 77");
  consoleInit(&console, CONSOLE, &out, 77);
  EXPECT_EXIT(runs(&console), exits, "a type of 77");
  matrixProductInit(&product, PROC1, &taps, &taps, &taps, 3, 3, 3);
  EXPECT_EXIT(runs(&product), exits, "block 'taps' has 4 elements of 4 bytes where it takes 9 floats");
  EXPECT_EXIT(firInit(&fir, DMA1, &in, &out, &taps, 4), exits, "DMA1 does not run the kernel 'fir'.*these do: PROC");
}

/// The computer's own memory, of which little is left.
class LittleMemory final : public strata::runtime::SystemMemory {
public:
  void* map(size_t bytes) override { return own_.map(bytes); }
  void* reserve(size_t bytes) override { return own_.reserve(bytes); }
  bool commit(void* base, size_t bytes) override { return own_.commit(base, bytes); }
  void unmap(void* base, size_t bytes) override { own_.unmap(base, bytes); }
  void preferLargePages(void* base, size_t bytes) override { own_.preferLargePages(base, bytes); }
  uint64_t available() override { return 1000000; }
  uint64_t total() override { return 1000; }

private:
  strata::runtime::SystemMemory& own_ = strata::runtime::systemMemory();
};

// The address sanitizer makes a variable larger, whose name may get an index.
TEST_P(LibraryTest, WhatTheComputerHasNoMemoryFor) {
  static Stream in, out;
  static Block taps;
  static Fft fft;
  static Fir fir;
  static FileSink sink;
  const auto exits = ::testing::ExitedWithCode(1);
  const auto withLittle = [](auto* kernel) {
    static LittleMemory little;
    strata::runtime::setSystemMemory(&little);
    kernelRun(kernel);
    kernelWait(kernel);
  };
  streamInitRAM(&in, LOCALMEM1, 0, 16, 2 * sizeof(float), 0);
  streamInitRAM(&out, LOCALMEM1, 100, 16, 2 * sizeof(float), 0);
  fftInit(&fft, PROC1, &in, &out, 1 << 30, FALSE);
  EXPECT_EXIT(withLittle(&fft), exits,
              "kernel 'fft.*: frames of 1073741824 points take 12884901888 bytes, and this computer has 1000000 left "
              "\\[svm-memory\\]");
  streamInitRAM(&in, LOCALMEM1, 0, 16, sizeof(float), 0);
  streamInitRAM(&out, LOCALMEM1, 100, 16, sizeof(float), 0);
  blockInit(&taps, GLOBALMEM1, 0, 1 << 20, sizeof(float));
  firInit(&fir, PROC1, &in, &out, &taps, 1 << 20);
  EXPECT_EXIT(withLittle(&fir), exits, "kernel 'fir.*: 1048576 taps take 12582912 bytes.*svm-memory");
  streamInitRAM(&in, GLOBALMEM1, 0, 1, 1 << 20, 0);
  fileSinkInit(&sink, SINK1, &in, "/dev/null");
  EXPECT_EXIT(withLittle(&sink), exits, "kernel 'sink.*: elements of stream 'in' take 3145728 bytes.*svm-memory");
  EXPECT_EXIT(
      {
        static LittleMemory little;
        strata::runtime::setSystemMemory(&little);
        streamInitFIFO(&in, FIFO7, 4, 0);
      },
      exits, "stream 'in' is to lie in FIFO7, whose 1024 bytes this computer has no room for: it has 1000 in all");
}

} // namespace

SVM_WITH_THREADS(LibraryTest);
