// Arrays in this computer's memory: what .npy files are read into, what generators fill, and what a program is run on.
// An Array owns its storage and may be moved, not copied implicitly. Not synchronised: one thread at a time writes.
#pragma once

#include "base/data/element_type.h"
#include "base/source/diagnostic.h"

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace strata {

/// A dense array in C order. A scalar is an array of no dimensions.
class Array {
public:
  static constexpr size_t Alignment = 64;
  static constexpr size_t MaxRank = 32;

  Array() = default;
  /// Storage for the shape, all bytes zero. `what` says what it is for ("array 'A'"); when there is not enough memory,
  /// or the size is beyond any memory, the diagnostic names it and the bytes wanted, and nothing is returned. REQUIRES:
  /// no extent is negative.
  static std::optional<Array> create(ElementType type, std::vector<int64_t> shape, const std::string& what,
                                     DiagnosticEngine& diagnostics, const Location& where);
  /// A type and a shape without storage: data() is null. For arrays that lie elsewhere, as on a disk.
  static Array description(ElementType type, std::vector<int64_t> shape);
  /// A copy with storage of its own.
  std::optional<Array> clone(const std::string& what, DiagnosticEngine& diagnostics, const Location& where) const;

  const ElementType& type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  uint64_t elements() const { return elements_; }
  uint64_t bytes() const { return elements_ * type_.bytes; }
  /// Aligned to `Alignment`; never null once created, not even for an array of no elements; null for a
  /// description.
  std::byte* data() { return storage_.get(); }
  const std::byte* data() const { return storage_.get(); }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(storage_.get());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(storage_.get());
  }

private:
  struct Free {
    void operator()(std::byte* storage) const { std::free(storage); }
  };
  ElementType type_;
  std::vector<int64_t> shape_;
  uint64_t elements_ = 0;
  std::unique_ptr<std::byte, Free> storage_;
};

/// The number of elements of a shape, or nothing when elements * elementBytes does not fit in 63 bits.
std::optional<uint64_t> elementCount(const std::vector<int64_t>& shape, uint64_t elementBytes);

/// The array with elements of the wanted type: padding inserted or dropped, complex numbers taken for a struct of two
/// floats or doubles and the other way round. Other differences are errors that name both types. `file` and `argument`
/// say what the data is and what takes it.
std::optional<Array> convertElements(Array array, const ElementType& wanted, const std::string& file,
                                     const std::string& argument, DiagnosticEngine& diagnostics, const Location& where);

/// True when a shape is the wanted one; an error that shows both shapes otherwise. A wanted extent of -1 takes
/// any.
bool checkShape(const std::vector<int64_t>& shape, const std::vector<int64_t>& wanted, const std::string& file,
                const std::string& argument, DiagnosticEngine& diagnostics, const Location& where);

} // namespace strata
