// The kernels that the library brings along, and the table of kernels by name. A work function keeps what it allocates
// in its kernel's record, since a kernel that is ended leaves its stack without unwinding it.
#include "include/svm_kernels.h"

#include "runtime/core/system_memory.h"
#include "runtime/svm/block.h"
#include "runtime/svm/check.h"
#include "runtime/svm/kernel.h"
#include "runtime/svm/stream.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <compare>
#include <complex>
#include <cstdio>
#include <cstring>
#include <new>
#include <numbers>

namespace strata::svm {
namespace {

/// Makes something that lives until the calling kernel is over.
template <typename T, typename... Arguments>
T& hold(Arguments&&... arguments) {
  auto held = std::make_shared<T>(std::forward<Arguments>(arguments)...);
  T& object = *held;
  callingKernel()->held = std::move(held);
  return object;
}

[[noreturn]] void refuse(const char* code, const std::string& what, const std::string& help) {
  const KernelRecord& kernel = *callingKernel();
  failAt(kernel.place, code, "kernel '" + nameOf(kernel) + "': " + what, help);
}

/// What takes so many bytes is kept while the kernel runs. Fails rather than have the system end the program.
void needMemory(const std::string& what, uint64_t bytes) {
  constexpr uint64_t little = 1 << 20;
  if (bytes < little)
    return;
  if (const uint64_t available = runtime::systemMemory().available(); bytes > available)
    refuse("svm-memory",
           what + " take " + std::to_string(bytes) + " bytes, and this computer has " + std::to_string(available) +
               " left",
           "give it less to keep, or run it on a computer with more memory");
}

/// A work that tells when there is no memory for what it keeps.
template <ExtKernelWork Carry>
void orRefuse(void* data) {
  try {
    Carry(data);
  } catch (const std::bad_alloc&) {
    refuse("svm-memory", "this computer has no memory left for what it keeps",
           "give it less to keep, or run it on a computer with more memory");
  }
}

void needElements(const Stream* stream, uint64_t bytes) {
  const KernelRecord& kernel = *callingKernel();
  const StreamRecord& record = recordOf(stream, "the kernel's work", kernel.place);
  if (record.elementBytes != bytes)
    refuse("svm-black-box",
           "elements of stream '" + nameOf(record) + "' have " + std::to_string(record.elementBytes) +
               " bytes where it takes " + std::to_string(bytes),
           "give it streams of the elements that svm_kernels.h names");
}

void needElements(const Block* block, int64_t count) {
  const KernelRecord& kernel = *callingKernel();
  const BlockRecord& record = recordOf(block, "the kernel's work", kernel.place);
  if (record.elementBytes != sizeof(float) || static_cast<int64_t>(record.capacity) < count)
    refuse("svm-black-box",
           "block '" + nameOf(record) + "' has " + std::to_string(record.capacity) + " elements of " +
               std::to_string(record.elementBytes) + " bytes where it takes " + std::to_string(count) + " floats",
           "give it blocks of floats that are large enough");
}

/// The operations of a kernel's work, whose messages stand where the program initialises it.
class Work {
public:
  Work() : place_(callingKernel()->place.text) {}

  bool isLast(Stream* stream) const { return svmPeekEOS_(stream, 0, place_) != FALSE; }
  template <typename T>
  void pop(Stream* stream, T& element) const {
    svmPop_(stream, &element, sizeof element, place_);
  }
  void popBytes(Stream* stream, void* element) const { svmPop_(stream, element, SVM_ANY_SIZE_, place_); }
  template <typename T>
  void push(Stream* stream, const T& element, bool last) const {
    pushBytes(stream, &element, last);
  }
  void pushBytes(Stream* stream, const void* element, bool last) const {
    if (last)
      svmPushSlowly_(stream, element, SVM_ANY_SIZE_, 1, place_);
    else
      svmPush_(stream, element, SVM_ANY_SIZE_, place_);
  }
  void read(Block* block, int index, float& element) const { svmRead_(block, index, &element, sizeof element, place_); }

private:
  const char* place_;
};

void fir(void* data) {
  Fir& fir = *static_cast<Fir*>(data);
  const Work work;
  needElements(fir.in, sizeof(float));
  needElements(fir.out, sizeof(float));
  if (fir.count < 1)
    refuse("svm-black-box", std::to_string(fir.count) + " taps", "a filter has at least one");
  needElements(fir.taps, fir.count);
  struct State {
    std::vector<float> taps, past;
  };
  State& state = hold<State>();
  const auto count = static_cast<size_t>(fir.count);
  needMemory(std::to_string(count) + " taps", 3 * count * sizeof(float));
  state.taps.resize(count);
  for (int k = 0; k < fir.count; ++k)
    work.read(fir.taps, k, state.taps[static_cast<size_t>(k)]);
  state.past.assign(2 * count, 0); // twice over, so that the last `count` values always lie one after another
  size_t at = 0;
  for (bool last = false; !last;) {
    last = work.isLast(fir.in);
    float x = 0, sum = 0;
    work.pop(fir.in, x);
    at = (at ? at : count) - 1;
    state.past[at] = state.past[at + count] = x;
    for (size_t k = 0; k < count; ++k)
      sum += state.taps[k] * state.past[at + k];
    work.push(fir.out, sum, last);
  }
}

using Complex = std::complex<float>;

/// In place, radix 2, decimation in time (Cooley and Tukey, 1965); factors in double precision.
void transform(std::vector<Complex>& frame, const std::vector<Complex>& factors) {
  const size_t points = frame.size();
  for (size_t i = 1, k = 0; i < points; ++i) {
    size_t bit = points >> 1;
    for (; k & bit; bit >>= 1)
      k ^= bit;
    k |= bit;
    if (i < k)
      std::swap(frame[i], frame[k]);
  }
  for (size_t half = 1; half < points; half *= 2)
    for (size_t begin = 0; begin < points; begin += 2 * half)
      for (size_t i = 0; i < half; ++i) {
        const Complex a = frame[begin + i], b = frame[begin + i + half], w = factors[i * (points / (2 * half))];
        const Complex c(w.real() * b.real() - w.imag() * b.imag(), w.real() * b.imag() + w.imag() * b.real());
        frame[begin + i] = a + c;
        frame[begin + i + half] = a - c;
      }
}

void fft(void* data) {
  Fft& fft = *static_cast<Fft*>(data);
  const Work work;
  needElements(fft.in, sizeof(Complex));
  needElements(fft.out, sizeof(Complex));
  if (fft.points < 1 || (fft.points & (fft.points - 1)))
    refuse("svm-black-box", "frames of " + std::to_string(fft.points) + " points", "use a power of two");
  struct State {
    std::vector<Complex> frame, factors;
  };
  State& state = hold<State>();
  const auto points = static_cast<size_t>(fft.points);
  needMemory("frames of " + std::to_string(points) + " points", (points + points / 2) * sizeof(Complex));
  state.frame.resize(points);
  state.factors.reserve(points / 2);
  for (size_t i = 0; i < points / 2; ++i) {
    const double angle = (fft.inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(i) / fft.points;
    state.factors.emplace_back(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
  }
  for (bool last = false; !last;) {
    std::fill(state.frame.begin(), state.frame.end(), Complex());
    for (size_t i = 0; i < points && !last; ++i) {
      last = work.isLast(fft.in);
      work.pop(fft.in, state.frame[i]);
    }
    transform(state.frame, state.factors);
    for (size_t i = 0; i < points; ++i) {
      Complex value = fft.inverse ? state.frame[i] / static_cast<float>(points) : state.frame[i];
      work.push(fft.out, value, last && i + 1 == points);
    }
  }
}

void matrixProduct(void* data) {
  const MatrixProduct& product = *static_cast<MatrixProduct*>(data);
  const int64_t rows = product.rows, inner = product.inner, columns = product.columns;
  if (rows < 1 || inner < 1 || columns < 1)
    refuse("svm-black-box",
           "matrices of " + std::to_string(rows) + " x " + std::to_string(inner) + " and " + std::to_string(inner) +
               " x " + std::to_string(columns),
           "a matrix has at least one element");
  needElements(product.a, rows * inner);
  needElements(product.b, inner * columns);
  needElements(product.c, rows * columns);
  // Once as if element by element, which checks that they are reached and is recorded; then in place.
  const auto begin = [](Block* block, bool writes) {
    return reinterpret_cast<float*>(element(block, 0, sizeof(float), writes, callingKernel()->place));
  };
  const float* a = begin(product.a, false);
  const float* b = begin(product.b, false);
  begin(product.c, false); // it adds to what is there
  float* c = begin(product.c, true);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t j = 0; j < columns; ++j)
        c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
    if (KernelRecord* kernel = callingKernel(); isRequested(kernel))
      obey(*kernel);
  }
}

template <typename T>
void sortOf(const Sort& sort) {
  const Work work;
  needElements(sort.in, sizeof(T));
  needElements(sort.out, sizeof(T));
  std::vector<T>& values = hold<std::vector<T>>();
  for (bool last = false; !last;) {
    last = work.isLast(sort.in);
    T value;
    work.pop(sort.in, value);
    values.push_back(value);
  }
  std::sort(values.begin(), values.end(), [](T a, T b) { return std::strong_order(a, b) < 0; });
  for (size_t i = 0; i < values.size(); ++i)
    work.push(sort.out, values[i], i + 1 == values.size());
}

void sort(void* data) {
  const Sort& sort = *static_cast<Sort*>(data);
  switch (sort.type) {
  case SVM_FLOAT:
    return sortOf<float>(sort);
  case SVM_INT:
    return sortOf<int32_t>(sort);
  case SVM_DOUBLE:
    return sortOf<double>(sort);
  case SVM_LONG:
    return sortOf<int64_t>(sort);
  case SVM_BYTE:
    return sortOf<uint8_t>(sort);
  default:
    refuse("svm-black-box", "a type of " + std::to_string(sort.type), "use one of SVM_TYPE");
  }
}

struct File {
  std::FILE* file;
  std::vector<char> element;
  File(const char* path, const char* mode, size_t bytes) : file(std::fopen(path, mode)), element(bytes) {}
  ~File() {
    if (file)
      std::fclose(file);
  }
};

File& openFile(const char* path, const char* mode, const Stream* stream) {
  const KernelRecord& kernel = *callingKernel();
  const StreamRecord& record = recordOf(stream, "the kernel's work", kernel.place);
  needMemory("elements of stream '" + nameOf(record) + "'", 3 * record.elementBytes); // it may grow to hold two
  File& file = hold<File>(path, mode, record.elementBytes);
  if (!file.file)
    refuse("svm-file", std::string("cannot open '") + path + "': " + std::strerror(errno),
           "give it the path of a file that it may open");
  return file;
}

void fileSource(void* data) {
  const FileSource& source = *static_cast<FileSource*>(data);
  const Work work;
  File& file = openFile(source.path, "rb", source.out);
  const size_t bytes = file.element.size();
  std::vector<char>& element = file.element;
  bool any = std::fread(element.data(), bytes, 1, file.file) == 1;
  element.resize(2 * bytes); // the element at hand, and the next, which shows whether that is the last
  while (any) {
    any = std::fread(element.data() + bytes, bytes, 1, file.file) == 1;
    work.pushBytes(source.out, element.data(), !any);
    std::memcpy(element.data(), element.data() + bytes, bytes);
  }
  if (std::ferror(file.file))
    refuse("svm-file", std::string("cannot read '") + source.path + "'", "give it the path of a file");
}

void fileSink(void* data) {
  const FileSink& sink = *static_cast<FileSink*>(data);
  const Work work;
  File& file = openFile(sink.path, "wb", sink.in);
  bool written = true;
  for (bool last = false; !last;) {
    last = work.isLast(sink.in);
    work.popBytes(sink.in, file.element.data());
    written &= std::fwrite(file.element.data(), file.element.size(), 1, file.file) == 1;
  }
  written &= std::fflush(file.file) == 0;
  if (!written)
    refuse("svm-file", std::string("cannot write '") + sink.path + "': " + std::strerror(errno),
           "is there room on the disk?");
}

void printOne(SVM_TYPE type, const char* element) {
  const auto as = [&](auto value) {
    std::memcpy(&value, element, sizeof value);
    return value;
  };
  switch (type) {
  case SVM_FLOAT:
    std::printf("%.9g\n", static_cast<double>(as(float())));
    break;
  case SVM_INT:
    std::printf("%d\n", as(int()));
    break;
  case SVM_DOUBLE:
    std::printf("%.17g\n", as(double()));
    break;
  case SVM_LONG:
    std::printf("%lld\n", static_cast<long long>(as(int64_t())));
    break;
  case SVM_BYTE:
    std::putchar(as(uint8_t()));
    break;
  }
}

void console(void* data) {
  const Console& console = *static_cast<Console*>(data);
  const Work work;
  constexpr uint64_t sizes[] = {4, 4, 8, 8, 1};
  if (static_cast<unsigned>(console.type) >= std::size(sizes))
    refuse("svm-black-box", "a type of " + std::to_string(console.type), "use one of SVM_TYPE");
  needElements(console.in, sizes[console.type]);
  char element[8];
  for (bool last = false; !last;) {
    last = work.isLast(console.in);
    work.popBytes(console.in, element);
    printOne(static_cast<SVM_TYPE>(console.type), element);
  }
  std::fflush(stdout);
}

struct Table {
  std::mutex lock;
  std::map<std::string, ExtKernelWork, std::less<>> works = {
      {"fir", orRefuse<fir>},           {"fft", orRefuse<fft>},
      {"sort", orRefuse<sort>},         {"matrix_product", orRefuse<matrixProduct>},
      {"console", orRefuse<console>},   {"file_source", orRefuse<fileSource>},
      {"file_sink", orRefuse<fileSink>}};
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

ExtKernelWork workOf(const char* name, const Place& place) {
  Table& known = table();
  std::lock_guard guard(known.lock);
  const auto found = known.works.find(name);
  if (found != known.works.end())
    return found->second;
  std::string all;
  for (const auto& [each, work] : known.works)
    all += (all.empty() ? "'" : ", '") + each + "'";
  failAt(place, "svm-unknown-kernel", std::string("no kernel is named '") + name + "'; there are " + all,
         "register it first, with svmRegisterKernel");
}

} // namespace
} // namespace strata::svm

using namespace strata::svm;

void svmRegisterKernel_(const char* name, ExtKernelWork work, const char* text) {
  if (!name || !work)
    failAt(Place{text}, "svm-null",
           name ? std::string("kernel '") + name + "' is registered without a work function"
                : std::string("a kernel is registered without a name"),
           "pass svmRegisterKernel both");
  Table& known = table();
  std::lock_guard guard(known.lock);
  known.works[name] = work;
}

void(svmRegisterKernel)(const char* name, ExtKernelWork work) {
  svmRegisterKernel_(name, work, nullptr);
}

void svmBlackBoxInit_(Kernel* kernel, VM_NODE_PROC location, const char* name, void* data, int dataSize,
                      const char* text) {
  const Place place{text};
  if (!name)
    failAt(place, "svm-null", "a black-box kernel is initialised without a name", "pass blackBoxInit its name");
  const ExtKernelWork work = workOf(name, place);
  initialise(kernel, KernelSort::BlackBox, location, nullptr, data, dataSize, work, place, name);
}

void(blackBoxInit)(Kernel* kernel, VM_NODE_PROC location, const char* name, void* data, int dataSize) {
  svmBlackBoxInit_(kernel, location, name, data, dataSize, nullptr);
}
