// Implements include/sequoia.h: arrays as C programs hold them. An array and its elements are one allocation. Errors go
// the way of all (include/strata.h). Any thread may call.
#include "include/sequoia.h"

#include "include/strata.h"
#include "runtime/core/system_memory.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <new>

namespace {

constexpr sqSize_t alignment = 64;
constexpr sqSize_t headBytes = (sizeof(sqArray_t) + alignment - 1) / alignment * alignment;
constexpr sqSize_t mostBytes = sqSize_t(1) << 47; // what can be addressed

/// Holds nothing that a handler which jumps away would leave behind.
__attribute__((format(printf, 2, 3))) void* refuse(const char* code, const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sqRaiseError(code, text);
  return nullptr;
}

sqArray_t* allocate(sqSize_t elmtSize, std::initializer_list<sqSize_t> extents) {
  if (elmtSize == 0)
    return static_cast<sqArray_t*>(refuse("sequoia-array-size", "elements of an array take at least 1 byte, not 0"));
  sqSize_t bytes = elmtSize;
  bool empty = false, tooMany = false;
  for (sqSize_t extent : extents) {
    empty |= extent == 0;
    tooMany |= extent > mostBytes || __builtin_mul_overflow(bytes, extent, &bytes) || bytes > mostBytes;
  }
  if (tooMany && !empty)
    return static_cast<sqArray_t*>(
        refuse("sequoia-array-size", "the array would take more bytes than can be addressed"));
  bytes = empty ? alignment : (bytes + alignment - 1) / alignment * alignment;
  void* memory =
      bytes > strata::runtime::systemMemory().available() ? nullptr : std::aligned_alloc(alignment, headBytes + bytes);
  if (!memory)
    return static_cast<sqArray_t*>(refuse("sequoia-out-of-memory", "no memory for an array of %lu bytes", bytes));
  auto* array = new (memory) sqArray_t();
  array->numDims = static_cast<unsigned>(extents.size());
  array->contigDim = static_cast<int>(extents.size()) - 1;
  unsigned dimension = 0;
  for (sqSize_t extent : extents)
    array->pitch[dimension] = array->numElmts[dimension] = extent, ++dimension;
  array->elmtSize = elmtSize;
  array->ptr = static_cast<char*>(memory) + headBytes;
  return array;
}

void* element(const sqArray_t* array, std::initializer_list<sqSize_t> indices) {
  const unsigned rank = static_cast<unsigned>(indices.size());
  if (!array)
    return refuse("sequoia-null-argument", "there is no array to find an element in");
  if (array->numDims != rank)
    return refuse("sequoia-wrong-rank", "the array has %u dimensions, not %u", array->numDims, rank);
  if (array->contigDim < 0 || array->contigDim >= static_cast<int>(rank))
    return refuse("sequoia-wrong-layout", "the array has no contiguous dimension");
  const unsigned contiguous = static_cast<unsigned>(array->contigDim);
  sqSize_t place = 0;
  for (unsigned dimension = 0; dimension < rank; ++dimension) {
    const sqSize_t index = indices.begin()[dimension];
    if (index >= array->numElmts[dimension])
      return refuse("sequoia-index", "index %lu is beyond the %lu elements of dimension %u", index,
                    array->numElmts[dimension], dimension);
    if (dimension != contiguous)
      place = place * array->pitch[dimension] + index + array->offset[dimension];
  }
  place = place * array->pitch[contiguous] + indices.begin()[contiguous] + array->offset[contiguous];
  return static_cast<char*>(array->ptr) + place * array->elmtSize;
}

} // namespace

sqErrorHandler_t sqSetErrorHandler(sqErrorHandler_t handler) {
  return strataSetErrorHandler(handler);
}

int sqIsFatal(void) {
  return strataIsFatal();
}

void sqRaiseError(const char* code, const char* message) {
  strataRaiseError(code, message);
}

void sqFreeArray(sqArray_t* array) {
  std::free(array);
}

sqArray_t* sqAllocArray1D(sqSize_t elmtSize, sqSize_t d0) {
  return allocate(elmtSize, {d0});
}
sqArray_t* sqAllocArray2D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1) {
  return allocate(elmtSize, {d0, d1});
}
sqArray_t* sqAllocArray3D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2) {
  return allocate(elmtSize, {d0, d1, d2});
}
sqArray_t* sqAllocArray4D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3) {
  return allocate(elmtSize, {d0, d1, d2, d3});
}
sqArray_t* sqAllocArray5D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4) {
  return allocate(elmtSize, {d0, d1, d2, d3, d4});
}
sqArray_t* sqAllocArray6D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4,
                          sqSize_t d5) {
  return allocate(elmtSize, {d0, d1, d2, d3, d4, d5});
}
sqArray_t* sqAllocArray7D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4,
                          sqSize_t d5, sqSize_t d6) {
  return allocate(elmtSize, {d0, d1, d2, d3, d4, d5, d6});
}
sqArray_t* sqAllocArray8D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4,
                          sqSize_t d5, sqSize_t d6, sqSize_t d7) {
  return allocate(elmtSize, {d0, d1, d2, d3, d4, d5, d6, d7});
}
sqArray_t* sqAllocArray9D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4,
                          sqSize_t d5, sqSize_t d6, sqSize_t d7, sqSize_t d8) {
  return allocate(elmtSize, {d0, d1, d2, d3, d4, d5, d6, d7, d8});
}

void* sqElmt1D(sqArray_t* array, sqSize_t i0) {
  return element(array, {i0});
}
void* sqElmt2D(sqArray_t* array, sqSize_t i0, sqSize_t i1) {
  return element(array, {i0, i1});
}
void* sqElmt3D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2) {
  return element(array, {i0, i1, i2});
}
void* sqElmt4D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3) {
  return element(array, {i0, i1, i2, i3});
}
void* sqElmt5D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4) {
  return element(array, {i0, i1, i2, i3, i4});
}
void* sqElmt6D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4, sqSize_t i5) {
  return element(array, {i0, i1, i2, i3, i4, i5});
}
void* sqElmt7D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4, sqSize_t i5,
               sqSize_t i6) {
  return element(array, {i0, i1, i2, i3, i4, i5, i6});
}
void* sqElmt8D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4, sqSize_t i5,
               sqSize_t i6, sqSize_t i7) {
  return element(array, {i0, i1, i2, i3, i4, i5, i6, i7});
}
void* sqElmt9D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4, sqSize_t i5,
               sqSize_t i6, sqSize_t i7, sqSize_t i8) {
  return element(array, {i0, i1, i2, i3, i4, i5, i6, i7, i8});
}
