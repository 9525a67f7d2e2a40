// An array of zeros of which memory is taken as far as it is written: what is known of each element of a block, which
// may be much larger than what a program uses of it. Owned by one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace strata::interpret {

template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  /// So many zeros in place of what there was. Throws std::bad_alloc.
  void resize(size_t size) {
    values_.reset(size ? static_cast<T*>(std::calloc(size, sizeof(T))) : nullptr);
    size_ = size;
    if (size && !values_)
      throw std::bad_alloc();
  }
  /// So many times a value in place of what there was.
  void assign(size_t size, const T& value) {
    resize(size);
    if (value != T())
      std::fill(begin(), end(), value);
  }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return values_.get()[i]; }
  const T& operator[](size_t i) const { return values_.get()[i]; }
  T* begin() { return values_.get(); }
  T* end() { return values_.get() + size_; }

private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };
  std::unique_ptr<T, Free> values_;
  size_t size_ = 0;
};

} // namespace strata::interpret
