// Thousands of kernels in a row, all under way at once, each on a processor of its own: numbers go through all of them,
// each adds one, the sum is checked; and the memory that a kernel costs beside the elements of its stream, as resident
// pages at most and as private pages that may be written, touched or not.
//
//   svm_crowd --kernels 10000 --elements 100 --capacity 16 --most 65536
//
// Status 1 when a number is wrong, or when a kernel takes more than --most bytes by either count.
#include "base/machine/nodes.h"

#include "include/svm.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using strata::machine::Node;

struct Stage {
  Kernel kernel;
  IStream* in; // null: it makes the numbers
  OStream* out;
  int64_t elements;
  int64_t sum;
};

void work(void* data) {
  Stage& stage = *static_cast<Stage*>(data);
  for (int64_t i = 0; i < stage.elements; ++i) {
    int32_t x = static_cast<int32_t>(i);
    if (stage.in)
      streamPop(stage.in, &x);
    x += 1;
    stage.sum += x;
    if (stage.out)
      streamPush(stage.out, &x);
  }
}

/// A line of /proc/self/status, in bytes.
int64_t statusOf(const char* field) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  int64_t bytes = 0;
  while (file && std::fgets(line, sizeof line, file))
    if (std::strncmp(line, field, std::strlen(field)) == 0)
      bytes = std::atoll(line + std::strlen(field) + 1) * 1024;
  if (file)
    std::fclose(file);
  return bytes;
}

int64_t touched() {
  return statusOf("VmHWM");
}
int64_t writable() {
  return statusOf("VmData");
}

/// The kernels of a row; what the library knows of them lives as long as the process.
class Row {
public:
  Row(int64_t kernels, int64_t elements, int capacity)
      : kernels_(kernels), elements_(elements), capacity_(capacity), stages_(new Stage[static_cast<size_t>(kernels)]()),
        streams_(new Stream[static_cast<size_t>(kernels)]()) {}

  /// Whether the last kernel saw what it should.
  bool run() {
    const int memory = strata::machine::nodeValue({Node::Kind::Memory, 0, 0});
    for (int64_t i = 0; i + 1 < kernels_; ++i)
      streamInitRAM(&streams_[i], memory, static_cast<int>(i * capacity_ * 4), capacity_, 4, 0);
    for (int64_t i = 0; i < kernels_; ++i) {
      Stage& stage = stages_[i];
      const int processor = strata::machine::nodeValue({Node::Kind::Processor, 1, static_cast<uint32_t>(i)});
      kernelInit(&stage.kernel, processor, nullptr, &stage, sizeof stage, work);
      stage.in = i ? &streams_[i - 1] : nullptr;
      stage.out = i + 1 < kernels_ ? &streams_[i] : nullptr;
      stage.elements = elements_;
      stage.sum = 0;
    }
    // The last first, so that all of them are under way before the first number comes.
    for (int64_t i = kernels_; i-- > 0;)
      kernelRun(&stages_[i].kernel);
    kernelWait(&stages_[kernels_ - 1].kernel);
    return stages_[kernels_ - 1].sum == elements_ * (elements_ - 1) / 2 + elements_ * kernels_;
  }

private:
  const int64_t kernels_, elements_;
  const int capacity_;
  Stage* const stages_;
  Stream* const streams_;
};

} // namespace

int main(int argc, char** argv) {
  int64_t kernels = 10000, elements = 100, capacity = 16, most = INT64_MAX;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const int64_t value = std::atoll(argv[i + 1]);
    if (option == "--kernels")
      kernels = value;
    else if (option == "--elements")
      elements = value;
    else if (option == "--capacity")
      capacity = value;
    else if (option == "--most")
      most = value;
    else
      argc = 0;
  }
  if (argc % 2 == 0 || kernels < 2 || kernels > 10000 || capacity < 1 || capacity > 1024 || elements < 1) {
    std::fprintf(stderr, "usage: svm_crowd [--kernels 2..10000] [--elements N] [--capacity 1..1024] [--most BYTES]\n");
    return 2;
  }
  svmMachine(STRATA_SOURCE_DIR "/tests/svm/crowd.yaml");
  // Threads, the machine and its memory are not what kernels cost; the first row has all of that made.
  Row few(3, elements, static_cast<int>(capacity));
  bool right = few.run();
  std::memset(svmAddress(strata::machine::nodeValue({Node::Kind::Memory, 0, 0}), 0), 0,
              static_cast<size_t>(kernels * capacity * 4));
  Row row(kernels, elements, static_cast<int>(capacity));
  const int64_t touchedBefore = touched(), writableBefore = writable();
  const auto begin = std::chrono::steady_clock::now();
  right &= row.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const int64_t ofTouched = (touched() - touchedBefore) / kernels, ofWritable = (writable() - writableBefore) / kernels;
  std::printf("%lld kernels, %lld elements through each in %.2f s; a kernel takes %lld bytes touched, %lld writable\n",
              static_cast<long long>(kernels), static_cast<long long>(elements), seconds,
              static_cast<long long>(ofTouched), static_cast<long long>(ofWritable));
  if (!right)
    std::fprintf(stderr, "the last kernel saw other numbers\n");
  if (std::max(ofTouched, ofWritable) > most)
    std::fprintf(stderr, "a kernel may take %lld bytes\n", static_cast<long long>(most));
  return right && std::max(ofTouched, ofWritable) <= most ? 0 : 1;
}
