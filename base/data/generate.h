// Data that needs no file: random numbers, 0 1 2 …, zeros, or one value throughout. Every element is a function of its
// index and the seed alone, so the same text gives the same bytes on any machine and any number of threads.
#pragma once

#include "base/data/array.h"

namespace strata {

/// Where an argument's data comes from, as `--in A=…` says it:
///   random             uniform; the seed is made from the argument's name, so that two arguments differ
///   random:SEED        uniform, seed a number
///   random:SEED:LO:HI  uniform in [LO, HI)
///   iota               element i is i, converted to its type as C does
///   zeros
///   VALUE              a number (2.5, -1, 0x1f, 1e3, inf, nan, true, false) for every element
///   PATH               anything else: a .npy file
///
/// Scalar k of element i is number n = i * (scalars in an element) + k of the generator splitmix64 started at the seed:
/// z = seed + (n + 1) * 0x9E3779B97F4A7C15; z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z >> 27) *
/// 0x94D049BB133111EB; z ^= z >> 31. A float32 is (z >> 40) * 2^-24 and a float64 (z >> 11) * 2^-53, both in [0, 1); an
/// integer is the upper 64 bits of z * 100, in [0, 100); a bool is the top bit. With a range, a float x becomes LO + x
/// * (HI - LO) in its own type and an integer is LO + the upper 64 bits of z * (HI - LO).
struct InputSpec {
  enum class Kind { Random, Iota, Zeros, Value, Path };
  Kind kind = Kind::Zeros;
  uint64_t seed = 0;
  bool hasRange = false;
  std::string low, high; ///< Random with a range: the numbers as written
  std::string value;     ///< Value: the number as written
  std::string path;      ///< Path
};

/// Understands the part of `--in A=SPEC` after the equals sign; `argument` is A. Everything that is not a generator or
/// a number is a path, so only malformed generators are errors.
std::optional<InputSpec> parseInputSpec(std::string_view text, std::string_view argument, DiagnosticEngine& diagnostics,
                                        const Location& where);

/// Fills an array, scalars of structs one by one. Errors are values that the type cannot hold and empty ranges.
/// REQUIRES: spec.kind is not Path.
/// The array's element 0 is element `first` of what is generated, so that an array can be filled in pieces.
bool generate(Array& array, const InputSpec& spec, DiagnosticEngine& diagnostics, const Location& where,
              uint64_t first = 0);

/// The array that an input option means, with the type and shape that the argument takes: reads or generates it. A
/// wanted extent of -1 is taken from a file; for a generator it must be known, and the error says which dimension is
/// not.
std::optional<Array> makeInput(const InputSpec& spec, const std::string& argument, const ElementType& type,
                               const std::vector<int64_t>& shape, DiagnosticEngine& diagnostics, const Location& where);

} // namespace strata
