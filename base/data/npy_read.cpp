// Reads .npy files. The header is a Python dictionary literal; its element type and shape are checked against the size
// of the file before any storage is set aside, so that a malformed file cannot ask for more than it holds.
#include "base/data/literal.h"
#include "base/data/npy.h"
#include "base/data/npy_file.h"

#include <algorithm>
#include <cstring>

namespace strata {

STRATA_DIAGNOSTIC(cannotRead, Error, "data-cannot-read", "cannot read '{0}': {1}");
STRATA_DIAGNOSTIC(notNpy, Error, "data-npy-magic", "'{0}' is not a .npy file");
STRATA_DIAGNOSTIC(unknownVersion, Error, "data-npy-version", "'{0}' is in version {1}.{2} of the .npy format");
STRATA_DIAGNOSTIC(badHeader, Error, "data-npy-header", "the header of '{0}' is malformed: {1}");
STRATA_DIAGNOSTIC(truncated, Error, "data-npy-truncated",
                  "'{0}' is cut short: its header needs {1} bytes of data, and {2} are there");
STRATA_DIAGNOSTIC(trailing, Error, "data-npy-trailing", "'{0}' goes on after its array, by {1} bytes");
STRATA_DIAGNOSTIC(badElementType, Error, "data-npy-element-type",
                  "'{0}' holds elements that programs do not have: {1}");

namespace {

constexpr uint32_t MaxHeaderBytes = 256 << 10;
constexpr uint64_t MaxElementBytes = 1 << 20;

/// Reads header and data of one file.
class Reader {
public:
  Reader(ByteReader& bytes, const std::string& name, DiagnosticEngine& diagnostics, const Location& where)
      : bytes_(bytes), name_(name), diagnostics_(diagnostics), where_(where) {}

  std::optional<NpyHeader> readHeader() {
    NpyHeader header;
    std::string text;
    if (!readHeaderText(text) || !parseHeader(text, header) || !checkSize(header))
      return std::nullopt;
    return header;
  }

  std::optional<ElementType> describedType(std::string_view text) {
    PythonLiteral literal;
    std::string error;
    ElementType type;
    if (!parsePythonLiteral(text, literal, error) || !elementType(literal, type) || order_ == '>')
      return std::nullopt;
    return type;
  }

private:
  /// How many of `size` bytes were there; nothing after a failure, which has been reported.
  std::optional<uint64_t> fill(void* to, uint64_t size) {
    uint64_t done = 0;
    while (done < size) {
      std::string error;
      const int64_t got = bytes_.read(static_cast<std::byte*>(to) + done, size - done, error);
      if (got < 0) {
        reportUnreadable(diagnostics_, where_, name_, error);
        return std::nullopt;
      }
      if (got == 0)
        break;
      done += static_cast<uint64_t>(got);
    }
    return done;
  }

  bool malformed(const std::string& reason) {
    diagnostics_.report(badHeader, where_, name_, reason);
    return false;
  }

  bool unsupported(const std::string& what) {
    diagnostics_.report(badElementType, where_, name_, what)
        .note("supported are bool, int8 to int64, uint8 to uint64, float32, float64, complex64, complex128 and structs "
              "of these");
    return false;
  }

  bool readHeaderText(std::string& text) {
    unsigned char start[8] = {};
    auto got = fill(start, sizeof start);
    if (!got)
      return false;
    if (*got < 6 || std::memcmp(start, "\x93NUMPY", 6) != 0) {
      diagnostics_.report(notNpy, where_, name_)
          .help("write it with numpy.save('data.npy', array); a generator is one of random, iota, zeros or a number");
      return false;
    }
    if (*got < 8)
      return malformed("the file ends within it");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
      diagnostics_.report(unknownVersion, where_, name_, unsigned(start[6]), unsigned(start[7]))
          .note("versions 1.0, 2.0 and 3.0 are known");
      return false;
    }
    unsigned char size[4] = {};
    const uint64_t sizeBytes = start[6] == 1 ? 2 : 4;
    got = fill(size, sizeBytes);
    if (!got)
      return false;
    if (*got < sizeBytes)
      return malformed("the file ends within it");
    const uint32_t length =
        uint32_t(size[0]) | uint32_t(size[1]) << 8 | uint32_t(size[2]) << 16 | uint32_t(size[3]) << 24;
    if (length > MaxHeaderBytes)
      return malformed("it would be " + bytesText(length) + " long; the limit is " + bytesText(MaxHeaderBytes));
    text.resize(length);
    got = fill(text.data(), length);
    if (!got)
      return false;
    if (*got < length)
      return malformed("the file ends within it");
    return true;
  }

  bool parseHeader(const std::string& text, NpyHeader& header) {
    PythonLiteral literal;
    std::string error;
    if (!parsePythonLiteral(text, literal, error))
      return malformed(error);
    const PythonLiteral* description = literal.find("descr");
    const PythonLiteral* order = literal.find("fortran_order");
    const PythonLiteral* shape = literal.find("shape");
    if (literal.kind != PythonLiteral::Kind::Dictionary || literal.items.size() != 6 || !description || !order ||
        !shape)
      return malformed("it must be a dictionary of 'descr', 'fortran_order' and 'shape'");
    if (order->kind != PythonLiteral::Kind::Bool)
      return malformed("'fortran_order' must be True or False");
    header.fortranOrder = order->boolean;
    if (shape->kind != PythonLiteral::Kind::Tuple)
      return malformed("'shape' must be a tuple");
    if (shape->items.size() > Array::MaxRank)
      return malformed("an array of " + std::to_string(shape->items.size()) + " dimensions; the limit is " +
                       std::to_string(Array::MaxRank));
    for (const PythonLiteral& extent : shape->items) {
      if (extent.kind != PythonLiteral::Kind::Integer || extent.integer < 0)
        return malformed("'shape' must hold numbers from 0 up");
      header.shape.push_back(extent.integer);
    }
    if (!elementType(*description, header.type))
      return false;
    header.bigEndian = order_ == '>';
    return true;
  }

  bool elementType(const PythonLiteral& description, ElementType& type) {
    if (description.kind == PythonLiteral::Kind::String)
      return scalarType(description.string, type);
    if (description.kind == PythonLiteral::Kind::List)
      return structType(description, type);
    if (description.kind == PythonLiteral::Kind::Tuple)
      return unsupported("an array type within an array");
    return malformed("'descr' must be a string or a list");
  }

  bool scalarType(const std::string& text, ElementType& type) {
    std::string_view rest = text;
    char order = '|';
    if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
      order = rest[0];
      rest.remove_prefix(1);
    }
    if (rest == "?")
      rest = "b1";
    uint64_t bytes = 0;
    for (char c : rest.substr(std::min<size_t>(1, rest.size()))) {
      if (c < '0' || c > '9' || bytes > 1000)
        return unsupported("'" + text + "'");
      bytes = bytes * 10 + static_cast<uint64_t>(c - '0');
    }
    const char kind = rest.empty() ? ' ' : rest[0];
    const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if (kind == 'b' && bytes == 1)
      type = ElementType::boolean();
    else if (kind == 'i' && power)
      type = ElementType::signedInteger(bytes);
    else if (kind == 'u' && power)
      type = ElementType::unsignedInteger(bytes);
    else if (kind == 'f' && (bytes == 4 || bytes == 8))
      type = ElementType::floating(bytes);
    else if (kind == 'c' && (bytes == 8 || bytes == 16))
      type = ElementType::complex(bytes);
    else
      return unsupported("'" + text + "'");
    if (bytes == 1)
      return true;
    order = order == '>' ? '>' : '<'; // '=' and '|' mean the machine's own
    if (order_ != ' ' && order_ != order)
      return unsupported("members in both byte orders");
    order_ = order;
    return true;
  }

  bool structType(const PythonLiteral& description, ElementType& type) {
    type = ElementType::structure({}, 0);
    for (const PythonLiteral& item : description.items) {
      if (item.kind != PythonLiteral::Kind::Tuple || item.items.size() < 2 || item.items.size() > 3)
        return malformed("a member of 'descr' must be a tuple of a name, a type and perhaps a shape");
      // A member may have a title beside its name: ('title', 'name').
      const PythonLiteral& name = item.items[0].kind == PythonLiteral::Kind::Tuple && item.items[0].items.size() == 2
                                      ? item.items[0].items[1]
                                      : item.items[0];
      if (name.kind != PythonLiteral::Kind::String)
        return malformed("a member's name in 'descr' must be a string");
      uint64_t padding = 0;
      if (name.string.empty() && item.items.size() == 2 && isPadding(item.items[1], padding)) {
        type.bytes += padding;
      } else {
        Field field{name.string, type.bytes, {}, {}};
        if (name.string.empty())
          return malformed("a member of 'descr' without a name");
        for (const Field& other : type.fields)
          if (other.name == field.name)
            return malformed("two members named '" + field.name + "'");
        if (!elementType(item.items[1], field.type) || (item.items.size() == 3 && !fieldShape(item.items[2], field)))
          return false;
        type.bytes = field.end();
        type.fields.push_back(std::move(field));
      }
      if (type.bytes > MaxElementBytes)
        return unsupported("a struct of more than " + bytesText(MaxElementBytes));
    }
    if (type.fields.empty() || type.bytes == 0)
      return unsupported("a struct without members");
    return true;
  }

  static bool isPadding(const PythonLiteral& description, uint64_t& bytes) {
    if (description.kind != PythonLiteral::Kind::String)
      return false;
    const std::string& text = description.string;
    if (text.size() < 3 || text.size() > 10 || text.compare(0, 2, "|V") != 0)
      return false;
    for (char c : text.substr(2)) {
      if (c < '0' || c > '9')
        return false;
      bytes = bytes * 10 + static_cast<uint64_t>(c - '0');
    }
    return true;
  }

  bool fieldShape(const PythonLiteral& shape, Field& field) {
    std::vector<PythonLiteral> extents = shape.items;
    if (shape.kind == PythonLiteral::Kind::Integer)
      extents = {shape};
    else if (shape.kind != PythonLiteral::Kind::Tuple)
      return malformed("a member's shape must be a tuple");
    if (extents.size() > Array::MaxRank)
      return unsupported("a member of more than " + std::to_string(Array::MaxRank) + " dimensions");
    uint64_t bytes = field.type.bytes;
    for (const PythonLiteral& extent : extents) {
      if (extent.kind != PythonLiteral::Kind::Integer || extent.integer < 1)
        return malformed("a member's shape must hold numbers from 1 up");
      if (__builtin_mul_overflow(bytes, uint64_t(extent.integer), &bytes) || bytes > MaxElementBytes)
        return unsupported("a struct of more than " + bytesText(MaxElementBytes));
      field.shape.push_back(static_cast<uint64_t>(extent.integer));
    }
    return true;
  }

  bool checkSize(const NpyHeader& header) {
    if (!scalarRuns(header.type))
      return unsupported("a struct of too many scattered members");
    const auto count = elementCount(header.shape, header.type.bytes);
    const auto left = bytes_.left();
    if (!count || !left)
      return true; // a size beyond any memory is left to Array::create, which says so
    const uint64_t wanted = *count * header.type.bytes;
    if (wanted > *left) {
      diagnostics_.report(truncated, where_, name_, wanted, *left);
      return false;
    }
    if (wanted < *left) {
      diagnostics_.report(trailing, where_, name_, *left - wanted)
          .note("a file that several arrays were saved to has to be split: one file an array");
      return false;
    }
    return true;
  }

public:
  std::optional<Array> readData(const NpyHeader& header) {
    const std::string what = "'" + name_ + "'";
    std::vector<int64_t> storedShape = header.shape;
    if (header.fortranOrder)
      std::reverse(storedShape.begin(), storedShape.end());
    auto array = Array::create(header.type, storedShape, what, diagnostics_, where_);
    if (!array)
      return std::nullopt;
    const auto got = fill(array->data(), array->bytes());
    if (!got)
      return std::nullopt;
    if (*got < array->bytes()) {
      diagnostics_.report(truncated, where_, name_, array->bytes(), *got);
      return std::nullopt;
    }
    makeNative(*array, header);
    if (header.fortranOrder && header.shape.size() > 1)
      return transpose(*array, header.shape, what);
    return array;
  }

private:
  /// The array of `shape` in C order from one that holds it in Fortran order (C order of the reversed shape).
  std::optional<Array> transpose(const Array& from, const std::vector<int64_t>& shape, const std::string& what) {
    auto to = Array::create(from.type(), shape, what, diagnostics_, where_);
    if (!to || to->elements() == 0)
      return to;
    const size_t rank = shape.size();
    const uint64_t bytes = from.type().bytes;
    std::vector<int64_t> index(rank, 0);
    std::vector<uint64_t> stride(rank, 1); // in elements of `from`
    for (size_t d = 1; d < rank; ++d)
      stride[d] = stride[d - 1] * static_cast<uint64_t>(shape[d - 1]);
    uint64_t source = 0;
    for (uint64_t i = 0; i < to->elements(); ++i) {
      std::memcpy(to->data() + i * bytes, from.data() + source * bytes, bytes);
      for (size_t d = rank; d-- > 0;) {
        source += stride[d];
        if (++index[d] < shape[d])
          break;
        source -= stride[d] * static_cast<uint64_t>(shape[d]);
        index[d] = 0;
      }
    }
    return to;
  }

  ByteReader& bytes_;
  const std::string& name_;
  DiagnosticEngine& diagnostics_;
  const Location where_;
  char order_ = ' '; // byte order of the scalars seen so far: '<', '>' or none yet
};

} // namespace

DiagnosticBuilder reportUnreadable(DiagnosticEngine& diagnostics, const Location& where, const std::string& name,
                                   const std::string& reason) {
  return diagnostics.report(cannotRead, where, name, reason);
}

void makeNative(Array& elements, const NpyHeader& header) {
  const auto runs = scalarRuns(header.type);
  if (!runs)
    return;
  for (const ScalarRun& run : *runs) {
    if (run.kind != ElementType::Kind::Bool && (!header.bigEndian || run.bytes == 1))
      continue;
    for (uint64_t i = 0; i < elements.elements(); ++i) {
      std::byte* at = elements.data() + i * elements.type().bytes + run.offset;
      for (uint64_t k = 0; k < run.count; ++k, at += run.bytes) {
        if (run.kind == ElementType::Kind::Bool)
          *at = std::byte(*at != std::byte(0));
        else
          std::reverse(at, at + run.bytes);
      }
    }
  }
}

std::optional<NpyHeader> readNpyHeader(ByteReader& bytes, const std::string& name, DiagnosticEngine& diagnostics,
                                       const Location& where) {
  return Reader(bytes, name, diagnostics, where).readHeader();
}

std::optional<Array> readNpyData(ByteReader& bytes, const NpyHeader& header, const std::string& name,
                                 DiagnosticEngine& diagnostics, const Location& where) {
  return Reader(bytes, name, diagnostics, where).readData(header);
}

std::optional<ElementType> parseElementType(std::string_view description) {
  class Nothing : public ByteReader {
    int64_t read(void*, size_t, std::string&) override { return 0; }
    std::optional<uint64_t> left() const override { return 0; }
  } nothing;
  SourceManager sources;
  DiagnosticEngine unseen(sources);
  const std::string name = "a description";
  const Location nowhere;
  return Reader(nothing, name, unseen, nowhere).describedType(description);
}

std::optional<Array> readNpy(ByteReader& bytes, const std::string& name, DiagnosticEngine& diagnostics,
                             const Location& where) {
  const auto header = readNpyHeader(bytes, name, diagnostics, where);
  return header ? readNpyData(bytes, *header, name, diagnostics, where) : std::nullopt;
}

std::optional<Array> readNpy(const std::string& path, DiagnosticEngine& diagnostics, const Location& where) {
  auto file = NpyFile::open(path, diagnostics, where);
  return file ? file->read(diagnostics, where) : std::nullopt;
}

} // namespace strata
