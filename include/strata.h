/* What C and C++ programs use beside the header of a compiled program, whatever notation it was written in: the handler
 * of errors, and in C++20 views of arrays, which the header's functions take in the place of sizes and pointers.
 *
 * C11 and later, C++11 and later. Link with the runtime, libstrata.a (`pkg-config --libs strata`); a shared library
 * made by `strata build` has it inside. Every function may be called from any thread. docs/from-c.md goes through an
 * example. */
#ifndef STRATA_H
#define STRATA_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors ---- */

/* `code` names the kind of error in kebab case ("entry-overlap"); `message` is one line without a line break. Both are
 * valid during the call of the handler only. */
typedef void (*strataErrorHandler_t)(const char* code, const char* message);

/* Sets the function that is called on an error, for the whole process; returns the one before. Null, the default,
 * prints the message on stderr and ends the program with status 1.
 *
 * The handler is called in one of two situations, which strataIsFatal() tells apart:
 * 1. The arguments of a call of an entry point are wrong: a null pointer, a size that is negative or does not follow
 *    from the others, a precondition of the mapping, arguments that overlap. It is called on the thread of the call,
 *    which holds nothing and has read and written no element. The handler may return: the entry point then returns at
 *    once. It may also leave by longjmp, to a setjmp of that thread. In both cases the next call works as if this one
 *    had not been.
 * 2. A program that runs has met an error (an index out of range, no memory): strataIsFatal() is 1. It may be any
 *    thread, others are still at work, and the computation cannot go on: the handler may write, clean up and end the
 *    process in its own way; when it returns, the process ends with status 1. It must not jump.
 * In neither case may a C++ exception leave it. In situation 1 several threads can be in the handler at once. */
strataErrorHandler_t strataSetErrorHandler(strataErrorHandler_t handler);

/* Within a handler: 1 when the process ends as soon as the handler returns, else 0. */
int strataIsFatal(void);

/* Reports an error as a wrong argument is. Entry points call it; so may functions that a program calls. */
void strataRaiseError(const char* code, const char* message);

#ifdef __cplusplus
}
#endif

/* ---- arrays, in C++20 ----
 *
 * The header of a compiled program declares each entry point twice: as a function of C, which takes sizes and pointers,
 * and in C++20 also as one that takes a strata::View for each array. Sizes follow from the extents of arrays, and are
 * checked to agree; those that do not follow from any stand before the arrays as in C. */
#if defined(__cplusplus) && __cplusplus >= 202002L
#define STRATA_VIEWS 1

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ranges>
#include <type_traits>

namespace strata {

namespace detail {

// The element of an array within arrays: Inner<std::array<float, 3>, 1>::type is float, and its extent 3.
template <typename A, std::size_t depth>
struct Inner {
  static constexpr bool fits = false;
};
template <typename A>
struct Inner<A, 0> {
  using type = A;
  static constexpr bool fits = true;
  static constexpr void extents(std::int64_t*) {}
};
template <typename A, std::size_t count, std::size_t depth>
  requires(depth > 0)
struct Inner<A[count], depth> : Inner<A, depth - 1> {
  static constexpr void extents(std::int64_t* to) {
    *to = static_cast<std::int64_t>(count);
    Inner<A, depth - 1>::extents(to + 1);
  }
};
template <typename A, std::size_t count, std::size_t depth>
  requires(depth > 0)
struct Inner<std::array<A, count>, depth> : Inner<A, depth - 1> {
  static_assert(sizeof(std::array<A, count>) == count * sizeof(A) || count == 0);
  static constexpr void extents(std::int64_t* to) {
    *to = static_cast<std::int64_t>(count);
    Inner<A, depth - 1>::extents(to + 1);
  }
};

template <typename Range>
concept Contiguous = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>;

template <typename Range>
using Element = std::remove_reference_t<std::ranges::range_reference_t<Range>>;

// Whether a range holds elements of type T, each behind the next, `depth` arrays deep; writable where T is.
template <typename Range, typename T, std::size_t depth>
concept Holds =
    Contiguous<Range> && (std::is_const_v<T> || !std::is_const_v<Element<Range>>) &&
    Inner<std::remove_cv_t<Element<Range>>, depth>::fits &&
    std::same_as<std::remove_cv_t<typename Inner<std::remove_cv_t<Element<Range>>, depth>::type>, std::remove_cv_t<T>>;

template <typename Span, typename T, std::size_t rank>
concept SpanOfRank = requires(const Span& span, std::size_t dimension) {
  { span.data_handle() } -> std::convertible_to<T*>;
  { span.extent(dimension) } -> std::convertible_to<std::int64_t>;
  { span.stride(dimension) } -> std::convertible_to<std::int64_t>;
  requires static_cast<std::size_t>(Span::rank()) == rank;
};

inline std::int64_t strata_modulo(std::int64_t a, std::int64_t b) {
  return b > 0 ? (a % b + b) % b : 0;
}
inline std::int64_t strata_floor_divide(std::int64_t a, std::int64_t b) {
  return b > 0 ? (a - strata_modulo(a, b)) / b : 0;
}
inline std::int64_t strata_ceiling_divide(std::int64_t a, std::int64_t b) {
  return -strata_floor_divide(-a, b);
}

template <typename... Values>
bool reject(const char* code, const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  strataRaiseError(code, text);
  return false;
}

// Whether an extent is what others and the program's signature make it; else an error has been raised.
inline bool agrees(const char* entry, const char* name, int dimension, std::int64_t extent, std::int64_t stated,
                   const char* text) {
  return extent == stated ||
         reject("entry-size-mismatch", "dimension %d of array '%s' of %s has %lld elements; it is to have %s = %lld",
                dimension, name, entry, static_cast<long long>(extent), text, static_cast<long long>(stated));
}

} // namespace detail

/* Elements in C's order (the last dimension's neighbours are adjacent), without gaps, which somebody else owns: a
 * pointer and `rank` extents. Made from a pointer with extents, from what holds its elements contiguously (std::vector,
 * std::span, std::array, arrays of C; within it, arrays for the further dimensions), from such a range with extents
 * that it is to have elements for, and from what std::mdspan is like: data_handle(), extent(d), stride(d), rank().
 * Making one raises no error; the entry point that takes it does, before anything is read or written. */
template <typename T, std::size_t rank_>
class View {
public:
  static_assert(rank_ > 0);
  using element_type = T;
  static constexpr std::size_t rank() { return rank_; }

  template <std::integral... Extents>
    requires(sizeof...(Extents) == rank_)
  constexpr View(T* data, Extents... extents) : data_(data), extents_{static_cast<std::int64_t>(extents)...} {}

  template <typename Range>
    requires(detail::Holds<Range, T, rank_ - 1>)
  constexpr View(Range&& range) : data_(pointer(range)) {
    extents_[0] = static_cast<std::int64_t>(std::ranges::size(range));
    detail::Inner<std::remove_cv_t<detail::Element<Range>>, rank_ - 1>::extents(extents_ + 1);
  }

  template <typename Range, std::integral... Extents>
    requires(sizeof...(Extents) == rank_ && detail::Holds<Range, T, 0>)
  constexpr View(Range&& range, Extents... extents)
      : data_(pointer(range)), extents_{static_cast<std::int64_t>(extents)...},
        given_(static_cast<std::int64_t>(std::ranges::size(range))) {}

  template <typename Span>
    requires(detail::SpanOfRank<Span, T, rank_>)
  constexpr View(const Span& span) : data_(span.data_handle()) {
    bool isEmpty = false;
    for (std::size_t d = 0; d < rank_; ++d) {
      extents_[d] = static_cast<std::int64_t>(span.extent(d));
      isEmpty |= extents_[d] == 0;
    }
    std::int64_t apart = 1;
    for (std::size_t d = rank_; d-- > 0 && !isEmpty; apart *= extents_[d])
      isContiguous_ &= extents_[d] == 1 || static_cast<std::int64_t>(span.stride(d)) == apart;
  }

  template <typename Other>
    requires(!std::same_as<Other, T> && std::same_as<const Other, T>)
  constexpr View(const View<Other, rank_>& other)
      : data_(other.data_), given_(other.given_), isContiguous_(other.isContiguous_) {
    for (std::size_t d = 0; d < rank_; ++d)
      extents_[d] = other.extents_[d];
  }

  constexpr T* data() const { return data_; }
  constexpr std::int64_t extent(std::size_t dimension) const { return extents_[dimension]; }

  /* For entry points: whether elements and extents go together; else an error has been raised. */
  bool isSound(const char* entry, const char* name) const {
    if (!isContiguous_)
      return detail::reject("entry-wrong-layout", "array '%s' of %s does not lie in C's order without gaps", name,
                            entry);
    if (given_ < 0)
      return true;
    std::int64_t count = 1;
    bool isEmpty = false, isTooLarge = false;
    for (std::int64_t extent : extents_) {
      isEmpty |= extent == 0;
      isTooLarge |= extent < 0 || (extent > 0 && count > given_ / extent);
      count *= isTooLarge ? 1 : extent;
    }
    return (isEmpty ? given_ == 0 : !isTooLarge && count == given_) ||
           detail::reject("entry-size-mismatch",
                          "array '%s' of %s is given %lld elements, which its extents do not make", name, entry,
                          static_cast<long long>(given_));
  }

private:
  template <typename, std::size_t>
  friend class View;

  template <typename Range>
  static constexpr T* pointer(Range& range) {
    if constexpr (std::convertible_to<decltype(std::ranges::data(range)), T*>)
      return std::ranges::data(range);
    else
      return reinterpret_cast<T*>(std::ranges::data(range)); // the first element of the first array
  }

  T* data_ = nullptr;
  std::int64_t extents_[rank_] = {};
  std::int64_t given_ = -1; // elements, where extents were given apart from them
  bool isContiguous_ = true;
};

} // namespace strata
#endif

#endif
