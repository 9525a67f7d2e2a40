// The generators behind `--in`: parsing of their texts and filling of arrays.
#include "base/data/generate.h"

#include "base/data/npy.h"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

namespace strata {

STRATA_DIAGNOSTIC(badGenerator, Error, "data-generator", "'{0}' is no {1}");
STRATA_DIAGNOSTIC(badValue, Error, "data-value", "{0} is no value of type {1}");
STRATA_DIAGNOSTIC(emptyRange, Error, "data-range", "the range from {0} to {1} holds no {2}");
STRATA_DIAGNOSTIC(unknownExtent, Error, "data-extent",
                  "dimension {0} of '{1}' is not known, so it cannot be generated");

namespace {

using Kind = ElementType::Kind;

uint64_t splitmix64(uint64_t seed, uint64_t number) {
  uint64_t z = seed + (number + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

uint64_t upperHalf(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}

/// FNV-1a: the seed that an argument's name stands for.
uint64_t seedOf(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

/// A number as a user writes one.
struct Number {
  enum class Form { Integer, Real } form = Form::Integer;
  bool negative = false;
  uint64_t magnitude = 0; ///< Integer
  double real = 0;        ///< both
};

std::optional<Number> parseNumber(std::string_view view) {
  if (view == "true" || view == "True")
    return Number{Number::Form::Integer, false, 1, 1};
  if (view == "false" || view == "False")
    return Number{Number::Form::Integer, false, 0, 0};
  if (view.empty() || view.size() > 400 || std::isspace(static_cast<unsigned char>(view[0])))
    return std::nullopt;
  const std::string text(view);
  Number number;
  number.negative = text[0] == '-';
  const char* digits = text.c_str() + (text[0] == '-' || text[0] == '+');
  char* end = nullptr;
  if (*digits >= '0' && *digits <= '9') {
    const bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    errno = 0;
    number.magnitude = std::strtoull(digits, &end, hexadecimal ? 16 : 10);
    if (*end == '\0' && errno == 0) {
      number.real = static_cast<double>(number.magnitude) * (number.negative ? -1 : 1);
      return number;
    }
  } else if (*digits == '+' || *digits == '-') {
    return std::nullopt;
  }
  number.form = Number::Form::Real;
  number.real = std::strtod(text.c_str(), &end);
  // 1e3 is a whole number too.
  if (*end != '\0' || end == text.c_str())
    return std::nullopt;
  if (std::trunc(number.real) == number.real && std::fabs(number.real) < 0x1p64) {
    number.form = Number::Form::Integer;
    number.magnitude = static_cast<uint64_t>(std::fabs(number.real));
  }
  return number;
}

template <typename T>
std::optional<T> toInteger(const Number& number) {
  if (number.form != Number::Form::Integer)
    return std::nullopt;
  if (!number.negative || number.magnitude == 0) {
    if (number.magnitude > static_cast<uint64_t>(std::numeric_limits<T>::max()))
      return std::nullopt;
    return static_cast<T>(number.magnitude);
  }
  if (!std::is_signed_v<T> || number.magnitude - 1 > static_cast<uint64_t>(std::numeric_limits<T>::max()))
    return std::nullopt;
  return static_cast<T>(0 - number.magnitude);
}

/// A scalar type's C++ type is handed to `body` as a value.
template <typename Body>
void withScalar(Kind kind, uint64_t bytes, Body body) {
  if (kind == Kind::Float)
    return bytes == 4 ? body(float()) : body(double());
  if (kind == Kind::Bool)
    return body(bool());
  const bool isSigned = kind == Kind::SignedInteger;
  switch (bytes) {
  case 1:
    return isSigned ? body(int8_t()) : body(uint8_t());
  case 2:
    return isSigned ? body(int16_t()) : body(uint16_t());
  case 4:
    return isSigned ? body(int32_t()) : body(uint32_t());
  default:
    return isSigned ? body(int64_t()) : body(uint64_t());
  }
}

template <typename T>
std::optional<T> toScalar(const Number& number) {
  if constexpr (std::is_same_v<T, bool>) {
    if (number.form != Number::Form::Integer || number.magnitude > 1 || (number.negative && number.magnitude != 0))
      return std::nullopt;
    return number.magnitude == 1;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isfinite(number.real) && std::fabs(number.real) > static_cast<double>(std::numeric_limits<T>::max()))
      return std::nullopt;
    return static_cast<T>(number.real);
  } else {
    return toInteger<T>(number);
  }
}

/// What is to be filled: a piece of an array, and one run of scalars in its elements.
struct Place {
  uint64_t element; // of the whole array, that the piece begins with
  uint64_t scalar;  // of an element, that the run begins with
  uint64_t scalars; // in an element
};

/// Stores value(element, number of the scalar in the whole array) into every scalar of one run of every element.
template <typename T, typename Value>
void fillRun(Array& array, const ScalarRun& run, const Place& place, Value value) {
  for (uint64_t i = 0; i < array.elements(); ++i) {
    std::byte* at = array.data() + i * array.type().bytes + run.offset;
    for (uint64_t k = 0; k < run.count; ++k) {
      const uint64_t element = place.element + i;
      const T scalar = value(element, element * place.scalars + place.scalar + k);
      std::memcpy(at + k * sizeof(T), &scalar, sizeof(T));
    }
  }
}

/// A random scalar of a type in its documented default range.
template <typename T>
T randomScalar(uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>)
    return bits >> 63 != 0;
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(bits >> 40) * 0x1p-24f;
  else if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(bits >> 11) * 0x1p-53;
  else
    return static_cast<T>(upperHalf(bits, 100));
}

template <typename T>
T randomInRange(uint64_t bits, T low, T high) {
  if constexpr (std::is_floating_point_v<T>) {
    const T x = low + randomScalar<T>(bits) * (high - low);
    return x < high ? x : std::nextafter(high, low); // rounding may have reached the end, which is excluded
  } else {
    return static_cast<T>(static_cast<uint64_t>(low) +
                          upperHalf(bits, static_cast<uint64_t>(high) - static_cast<uint64_t>(low)));
  }
}

/// Fills one run; reports and returns false when the spec does not suit its type.
template <typename T>
bool generateRun(Array& array, const ScalarRun& run, const Place& place, const InputSpec& spec,
                 const std::string& typeText, DiagnosticEngine& diagnostics, const Location& where) {
  auto scalarOf = [&](const std::string& text) {
    const auto number = parseNumber(text);
    const auto scalar = number ? toScalar<T>(*number) : std::nullopt;
    if (!scalar)
      diagnostics.report(badValue, where, text, typeText);
    return scalar;
  };
  switch (spec.kind) {
  case InputSpec::Kind::Zeros:
  case InputSpec::Kind::Path:
    fillRun<T>(array, run, place, [](uint64_t, uint64_t) { return T(); });
    return true;
  case InputSpec::Kind::Iota:
    fillRun<T>(array, run, place, [](uint64_t element, uint64_t) { return static_cast<T>(element); });
    return true;
  case InputSpec::Kind::Value: {
    const auto value = scalarOf(spec.value);
    if (value)
      fillRun<T>(array, run, place, [&](uint64_t, uint64_t) { return *value; });
    return value.has_value();
  }
  case InputSpec::Kind::Random:
    break;
  }
  if (!spec.hasRange) {
    fillRun<T>(array, run, place, [&](uint64_t, uint64_t n) { return randomScalar<T>(splitmix64(spec.seed, n)); });
    return true;
  }
  const auto low = scalarOf(spec.low), high = scalarOf(spec.high);
  if (!low || !high)
    return false;
  bool empty = !(*low < *high);
  if constexpr (std::is_floating_point_v<T>)
    empty = empty || !std::isfinite(*high - *low);
  if (empty) {
    diagnostics.report(emptyRange, where, spec.low, spec.high, typeText)
        .note("the range includes its beginning and excludes its end");
    return false;
  }
  fillRun<T>(array, run, place,
             [&](uint64_t, uint64_t n) { return randomInRange<T>(splitmix64(spec.seed, n), *low, *high); });
  return true;
}

} // namespace

std::optional<InputSpec> parseInputSpec(std::string_view text, std::string_view argument, DiagnosticEngine& diagnostics,
                                        const Location& where) {
  InputSpec spec;
  const std::string_view head = text.substr(0, text.find(':'));
  if (head == "random") {
    spec.kind = InputSpec::Kind::Random;
    spec.seed = seedOf(argument);
    std::vector<std::string> parts;
    for (std::string_view rest = text; rest.size() > head.size() || !parts.empty();) {
      const size_t colon = rest.find(':');
      if (colon == std::string_view::npos)
        break;
      rest.remove_prefix(colon + 1);
      parts.emplace_back(rest.substr(0, rest.find(':')));
    }
    if (parts.size() == 2 || parts.size() > 3) {
      diagnostics.report(badGenerator, where, text, "random generator")
          .help("write random, random:SEED or random:SEED:LOW:HIGH");
      return std::nullopt;
    }
    if (!parts.empty()) {
      const auto seed = parseNumber(parts[0]);
      const auto value = seed ? toInteger<uint64_t>(*seed) : std::nullopt;
      if (!value) {
        diagnostics.report(badGenerator, where, parts[0], "seed").help("a seed is a whole number from 0 up");
        return std::nullopt;
      }
      spec.seed = *value;
    }
    if (parts.size() == 3) {
      spec.hasRange = true;
      spec.low = parts[1];
      spec.high = parts[2];
    }
    return spec;
  }
  if (text == "iota" || text == "zeros") {
    spec.kind = text == "iota" ? InputSpec::Kind::Iota : InputSpec::Kind::Zeros;
    return spec;
  }
  if (text.empty()) {
    diagnostics.report(badGenerator, where, text, "file, generator or value");
    return std::nullopt;
  }
  if (parseNumber(text)) {
    spec.kind = InputSpec::Kind::Value;
    spec.value = text;
    return spec;
  }
  spec.kind = InputSpec::Kind::Path;
  spec.path = text;
  return spec;
}

bool generate(Array& array, const InputSpec& spec, DiagnosticEngine& diagnostics, const Location& where,
              uint64_t firstElement) {
  const auto runs = scalarRuns(array.type());
  if (!runs) {
    diagnostics.report(badValue, where, "generated data", array.type().text());
    return false;
  }
  uint64_t scalars = 0;
  for (const ScalarRun& run : *runs)
    scalars += run.count;
  uint64_t first = 0;
  for (const ScalarRun& run : *runs) {
    const std::string typeText = ElementType{run.kind, run.bytes, {}}.text();
    bool good = true;
    withScalar(run.kind, run.bytes, [&](auto scalar) {
      good =
          generateRun<decltype(scalar)>(array, run, {firstElement, first, scalars}, spec, typeText, diagnostics, where);
    });
    if (!good)
      return false;
    first += run.count;
  }
  return true;
}

std::optional<Array> makeInput(const InputSpec& spec, const std::string& argument, const ElementType& type,
                               const std::vector<int64_t>& shape, DiagnosticEngine& diagnostics,
                               const Location& where) {
  if (spec.kind == InputSpec::Kind::Path) {
    auto array = readNpy(spec.path, diagnostics, where);
    if (array)
      array = convertElements(std::move(*array), type, spec.path, argument, diagnostics, where);
    if (!array || !checkShape(array->shape(), shape, spec.path, argument, diagnostics, where))
      return std::nullopt;
    return array;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] >= 0)
      continue;
    diagnostics.report(unknownExtent, where, d, argument).help("give its size with --size, or the array as a file");
    return std::nullopt;
  }
  auto array = Array::create(type, shape, "'" + argument + "'", diagnostics, where);
  if (!array || !generate(*array, spec, diagnostics, where))
    return std::nullopt;
  return array;
}

} // namespace strata
