// Messages as bytes: numbers and texts one after the other, in the order in which they are read again. Ranks are alike:
// numbers go as they lie in memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strata::cluster {

class MessageWriter {
public:
  template <typename T>
  MessageWriter& operator<<(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return append(&value, sizeof value);
  }
  MessageWriter& text(std::string_view text) {
    *this << static_cast<uint64_t>(text.size());
    return append(text.data(), text.size());
  }
  const std::vector<char>& bytes() const { return bytes_; }

private:
  MessageWriter& append(const void* from, size_t count) {
    const auto* first = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), first, first + count);
    return *this;
  }
  std::vector<char> bytes_;
};

/// Reads what a MessageWriter has written; the bytes outlive it.
class MessageReader {
public:
  explicit MessageReader(const std::vector<char>& bytes) : at_(bytes.data()) {}

  template <typename T>
  T read() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string_view text() {
    const auto size = static_cast<size_t>(read<uint64_t>());
    const std::string_view text(at_, size);
    at_ += size;
    return text;
  }
  std::vector<int64_t> numbers(size_t count) {
    std::vector<int64_t> numbers(count);
    std::memcpy(numbers.data(), at_, count * sizeof(int64_t));
    at_ += count * sizeof(int64_t);
    return numbers;
  }

private:
  const char* at_;
};

} // namespace strata::cluster
