// libFuzzer target: any bytes as a .npy file. What is read is written, read again and must be the same; what is not
// must say why.
#include "base/data/npy.h"

#include <cstring>

namespace {

class MemoryReader : public strata::ByteReader {
public:
  MemoryReader(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  int64_t read(void* to, size_t size, std::string&) override {
    const size_t got = std::min(size, size_);
    std::memcpy(to, data_, got);
    data_ += got;
    size_ -= got;
    return static_cast<int64_t>(got);
  }
  std::optional<uint64_t> left() const override { return size_; }

private:
  const uint8_t* data_;
  size_t size_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strata::SourceManager sources;
  strata::DiagnosticEngine diagnostics(sources);
  MemoryReader bytes(data, size);
  const auto array = strata::readNpy(bytes, "input", diagnostics, {});
  if (!array) {
    if (!diagnostics.hasErrors())
      __builtin_trap();
    diagnostics.render({});
    return 0;
  }
  std::string again = strata::npyHeader(array->type(), array->shape());
  again.append(reinterpret_cast<const char*>(array->data()), array->bytes());
  MemoryReader copy(reinterpret_cast<const uint8_t*>(again.data()), again.size());
  const auto second = strata::readNpy(copy, "copy", diagnostics, {});
  if (!second || !(second->type() == array->type()) || second->shape() != array->shape() ||
      std::memcmp(second->data(), array->data(), array->bytes()) != 0)
    __builtin_trap();
  return 0;
}
