// The binary form of symbolic configurations: magic, version, bits, CRC-32. There is no padding between values. Numbers
// are in exponential Golomb codes: small ones take few bits, any value is possible. References are as wide as the list
// that they point into asks for; lists of terms that occurred a short while ago are named by their place.
#include "runtime/array/checksum.h"
#include "runtime/array/files_structure.h"

#include <algorithm>
#include <bit>
#include <map>

namespace strata::array::files {

namespace {

constexpr size_t headerBytes = sizeof binaryMagic + 1, checksumBytes = 4;
constexpr unsigned registerKinds = 6, sides = 5, conditionKinds = 4;
constexpr size_t remembered = 64; // lists of terms

/// Of references into a list.
unsigned width(size_t count) {
  return count <= 1 ? 0 : static_cast<unsigned>(std::bit_width(count - 1));
}

uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ (value < 0 ? ~uint64_t{0} : 0);
}

int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ ((value & 1) != 0 ? ~uint64_t{0} : 0));
}

uint64_t reversed(uint64_t value) {
  uint64_t result = 0;
  for (int bit = 0; bit < 64; ++bit)
    result |= ((value >> bit) & 1) << (63 - bit);
  return result;
}

bool isFloat(Type type) {
  return type == Type::Float32 || type == Type::Float64;
}

class BinaryWriter {
public:
  void line(unsigned) {}
  void word(std::string_view) {}
  void label(std::string_view, size_t) {}
  void loopName(size_t) {}
  void scope(const Symbolic& symbolic) { symbolic_ = &symbolic; }

  void string(const std::string& text) {
    natural(text.size(), 3);
    for (const char c : text)
      bits(static_cast<uint8_t>(c), 8);
  }
  void number(uint32_t value, unsigned scale) { natural(value, scale); }
  void number(int64_t value, unsigned scale) { natural(zigzag(value), scale + 1); }
  void fingerprint(uint64_t value) { bits(value, 64); }
  void optionalNumber(std::string_view, int64_t value, int64_t usual) {
    bits(value != usual, 1);
    if (value != usual)
      number(value, 2);
  }
  void flag(bool value, std::string_view, std::string_view) { bits(value, 1); }
  template <class T, class Name>
  void choice(T value, unsigned count, Name, std::string_view) {
    bits(static_cast<uint64_t>(value), width(count));
  }
  void otherType(Type value, Type usual) {
    bits(value != usual, 1);
    if (value != usual)
      bits(static_cast<uint64_t>(value), width(types));
  }
  void index(std::string_view, uint32_t value, size_t count, std::string_view) { bits(value, width(count)); }

  template <class T, class Each>
  void lines(const Lines& list, const std::vector<T>& items, Each each) {
    natural(items.size(), list.scale);
    for (const T& item : items)
      each(item);
  }
  template <class T, class Each>
  void row(const Row&, const std::vector<T>& items, Each each) {
    natural(items.size(), 1);
    for (const T& item : items)
      each(item);
  }
  template <class Write>
  void shared(const std::vector<Term>& list, Write write) {
    const auto found = std::find(recent_.begin(), recent_.end(), list);
    bits(found != recent_.end(), 1);
    if (found != recent_.end()) {
      natural(static_cast<uint64_t>(found - recent_.begin()), 1);
      std::rotate(recent_.begin(), found, found + 1);
      return;
    }
    write();
    if (recent_.size() == remembered)
      recent_.pop_back();
    recent_.insert(recent_.begin(), list);
  }

  // Most coefficients are 0, most others 1 or -1.
  void linear(const Linear& value, bool) {
    for (const int64_t each : value.parameters)
      coefficient(each);
    const bool hasLoops = std::ranges::any_of(value.loops, [](int64_t each) { return each != 0; });
    bits(hasLoops, 1);
    if (hasLoops)
      for (const int64_t each : value.loops)
        coefficient(each);
    coefficient(value.constant);
  }
  void comparison(Condition::Kind kind, int64_t modulus) {
    bits(static_cast<uint64_t>(kind), width(conditionKinds));
    if (kind == Condition::Kind::Divisible || kind == Condition::Kind::NotDivisible)
      number(modulus, 2);
  }
  void tuple(const std::vector<int64_t>& value) {
    for (const int64_t each : value)
      coefficient(each);
  }
  void optionalTuple(std::string_view, const std::vector<int64_t>& value) {
    bits(!value.empty(), 1);
    tuple(value);
  }
  void shift(const std::vector<int64_t>& value) {
    const bool isMoved = std::ranges::any_of(value, [](int64_t each) { return each != 0; });
    bits(isMoved, 1);
    if (isMoved)
      tuple(value);
  }
  void reg(Register reg) {
    bits(static_cast<uint64_t>(reg.kind), width(registerKinds));
    if (reg.kind != Register::Kind::None)
      natural(reg.index, 2);
  }
  void operand(const Operand& operand, Type type) {
    reg(operand.source);
    if (operand.source.kind != Register::Kind::None)
      return;
    // The last bits of most floating-point numbers are 0.
    if (isFloat(type))
      natural(reversed(operand.immediate), 16);
    else
      natural(zigzag(static_cast<int64_t>(operand.immediate)), 3);
  }
  void port(const machine::Port& port) {
    bits(static_cast<uint64_t>(port.side), width(sides));
    natural(port.index, 1);
  }
  void loopOrNone(std::string_view, uint32_t loop) { reference(loop, Symbolic::none, symbolic_->loops.size()); }
  void channelOrNone(std::string_view, uint32_t channel, size_t count) { reference(channel, Access::ownRoute, count); }
  void arrayName(uint32_t array, const std::vector<SymbolicArray>& list) { bits(array, width(list.size())); }

  /// The bits, filled up to whole bytes.
  std::string take() { return std::move(bytes_); }

private:
  void bits(uint64_t value, unsigned count) {
    for (unsigned i = count; i-- > 0; ++used_) {
      if (used_ % 8 == 0)
        bytes_ += '\0';
      if ((value >> i & 1) != 0)
        bytes_.back() = static_cast<char>(static_cast<uint8_t>(bytes_.back()) | 0x80u >> used_ % 8);
    }
  }
  /// REQUIRES: 1 <= scale < 64.
  void natural(uint64_t value, unsigned scale) {
    const uint64_t high = (value >> scale) + 1;
    const auto length = static_cast<unsigned>(std::bit_width(high)) - 1;
    bits(~uint64_t{0}, length);
    bits(0, 1);
    bits(high, length);
    bits(value, scale);
  }
  void coefficient(int64_t value) {
    bits(value != 0, 1);
    if (value == 0)
      return;
    const bool isOne = value == 1 || value == -1;
    bits(isOne, 1);
    if (isOne)
      bits(value < 0, 1);
    else
      natural(zigzag(value), 3);
  }
  void reference(uint32_t value, uint32_t none, size_t count) {
    bits(value != none, 1);
    if (value != none)
      bits(value, width(count));
  }

  const Symbolic* symbolic_ = nullptr;
  std::string bytes_;
  size_t used_ = 0; // bits
  std::vector<std::vector<Term>> recent_;
};

class BinaryReader {
public:
  /// `before` is how many bytes of the file come before these.
  BinaryReader(std::string_view bytes, size_t before) : bytes_(bytes), before_(before) {}

  void line(unsigned) {}
  void word(std::string_view) {}
  void label(std::string_view, size_t) {}
  void loopName(size_t) {}
  void scope(const Symbolic& symbolic) { symbolic_ = &symbolic; }

  void string(std::string& text) {
    const uint64_t size = natural(3);
    if (size > mostCharacters)
      fail("a name of " + std::to_string(size) + " characters; at most " + std::to_string(mostCharacters) +
           " are possible");
    for (uint64_t i = 0; i < size; ++i)
      text += static_cast<char>(bits(8));
  }
  void number(uint32_t& value, unsigned scale) { value = small<uint32_t>(natural(scale)); }
  void number(int64_t& value, unsigned scale) { value = unzigzag(natural(scale + 1)); }
  void fingerprint(uint64_t& value) { value = bits(64); }
  void optionalNumber(std::string_view, int64_t& value, int64_t usual) {
    value = usual;
    if (bits(1) != 0)
      number(value, 2);
  }
  void flag(bool& value, std::string_view, std::string_view) { value = bits(1) != 0; }
  template <class T, class Name>
  void choice(T& value, unsigned count, Name, std::string_view what) {
    value = static_cast<T>(below(count, what));
  }
  void otherType(Type& value, Type usual) { value = bits(1) != 0 ? static_cast<Type>(below(types, "a type")) : usual; }
  void index(std::string_view, uint32_t& value, size_t count, std::string_view what) {
    value = static_cast<uint32_t>(below(count, what));
  }

  template <class T, class Each>
  void lines(const Lines& list, std::vector<T>& items, Each each) {
    fill(natural(list.scale), list.plural, list.most, items, each);
  }
  template <class T, class Each>
  void row(const Row& row, std::vector<T>& items, Each each) {
    fill(natural(1), row.plural, row.most, items, each);
  }
  template <class Read>
  void shared(std::vector<Term>& list, Read read) {
    if (bits(1) != 0) {
      const uint64_t place = natural(1);
      if (place >= recent_.size())
        fail("a list of terms that was not there before");
      const auto found = recent_.begin() + static_cast<std::ptrdiff_t>(place);
      charge("terms", found->size(), mostOfOneKind);
      list = *found;
      std::rotate(recent_.begin(), found, found + 1);
      return;
    }
    read();
    if (recent_.size() == remembered)
      recent_.pop_back();
    recent_.insert(recent_.begin(), list);
  }

  void linear(Linear& value, bool) {
    value.parameters.resize(symbolic_->parameters.size());
    value.loops.resize(symbolic_->loops.size());
    for (int64_t& each : value.parameters)
      each = coefficient();
    if (bits(1) != 0)
      for (int64_t& each : value.loops)
        each = coefficient();
    value.constant = coefficient();
  }
  void comparison(Condition::Kind& kind, int64_t& modulus) {
    kind = static_cast<Condition::Kind>(bits(width(conditionKinds)));
    if (kind == Condition::Kind::Divisible || kind == Condition::Kind::NotDivisible)
      number(modulus, 2);
  }
  void tuple(std::vector<int64_t>& value) {
    value.resize(symbolic_->loops.size());
    for (int64_t& each : value)
      each = coefficient();
  }
  void optionalTuple(std::string_view, std::vector<int64_t>& value) {
    if (bits(1) != 0)
      tuple(value);
  }
  void shift(std::vector<int64_t>& value) {
    value.resize(symbolic_->loops.size());
    if (bits(1) != 0)
      tuple(value);
  }
  void reg(Register& reg) {
    reg.kind = static_cast<Register::Kind>(below(registerKinds, "a kind of registers"));
    if (reg.kind != Register::Kind::None)
      reg.index = small<uint16_t>(natural(2));
  }
  void operand(Operand& operand, Type type) {
    reg(operand.source);
    if (operand.source.kind != Register::Kind::None)
      return;
    operand.immediate = isFloat(type) ? reversed(natural(16)) : static_cast<uint64_t>(unzigzag(natural(3)));
  }
  void port(machine::Port& port) {
    port.side = static_cast<machine::Side>(below(sides, "a side"));
    port.index = small<uint32_t>(natural(1));
  }
  void loopOrNone(std::string_view, uint32_t& loop) {
    loop = reference(Symbolic::none, symbolic_->loops.size(), "loops");
  }
  void channelOrNone(std::string_view, uint32_t& channel, size_t count) {
    channel = reference(Access::ownRoute, count, "channels");
  }
  void arrayName(uint32_t& array, const std::vector<SymbolicArray>& list) {
    array = static_cast<uint32_t>(below(list.size(), "arrays"));
  }

  void end() {
    if ((used_ + 7) / 8 != bytes_.size())
      fail("expected the end of the file, found " + std::to_string(bytes_.size() - (used_ + 7) / 8) + " bytes more");
    while (used_ % 8 != 0)
      if (bits(1) != 0)
        fail("expected zeros up to the end of the last byte");
  }

private:
  [[noreturn]] void fail(std::string message) const {
    throw FileError{std::move(message), false, 0, 0, before_ + used_ / 8};
  }
  uint64_t bits(unsigned count) {
    uint64_t value = 0;
    for (; count > 0; --count, ++used_) {
      if (used_ / 8 == bytes_.size())
        fail("the file ends within a value");
      value = value << 1 | (static_cast<uint8_t>(bytes_[used_ / 8]) >> (7 - used_ % 8) & 1);
    }
    return value;
  }
  uint64_t natural(unsigned scale) {
    unsigned length = 0;
    while (bits(1) != 0)
      if (++length > 64 - scale)
        fail("a number that has more than 64 bits");
    // Of 64 - scale ones, the number that follows is 0: it is the largest high part and one.
    uint64_t high = bits(length);
    if (length == 64 - scale && high != 0)
      fail("a number that has more than 64 bits");
    high += (uint64_t{1} << length) - 1;
    return high << scale | bits(scale);
  }
  template <class T>
  T small(uint64_t value) const {
    if (value > T(~T{0}))
      fail("expected a number up to " + std::to_string(T(~T{0})) + ", found " + std::to_string(value));
    return static_cast<T>(value);
  }
  uint64_t below(size_t count, std::string_view what) {
    const uint64_t value = bits(width(count));
    if (value >= count)
      fail("number " + std::to_string(value) + " of " + std::string(what) + ", there are " + std::to_string(count));
    return value;
  }
  uint32_t reference(uint32_t none, size_t count, std::string_view what) {
    return bits(1) != 0 ? static_cast<uint32_t>(below(count, what)) : none;
  }
  int64_t coefficient() {
    if (bits(1) == 0)
      return 0;
    if (bits(1) != 0)
      return bits(1) != 0 ? -1 : 1;
    return unzigzag(natural(3));
  }
  void charge(std::string_view plural, uint64_t count, size_t most) {
    size_t& total = totals_[plural];
    if (count > most - total)
      fail("more than " + std::to_string(most) + " " + std::string(plural));
    total += count;
  }
  template <class T, class Each>
  void fill(uint64_t count, std::string_view plural, size_t most, std::vector<T>& items, Each each) {
    charge(plural, count, most);
    for (uint64_t i = 0; i < count; ++i)
      each(items.emplace_back());
  }

  std::string_view bytes_;
  size_t before_, used_ = 0; // bytes, bits
  const Symbolic* symbolic_ = nullptr;
  std::map<std::string_view, size_t> totals_;
  std::vector<std::vector<Term>> recent_;
};

} // namespace

Symbolic readBinary(std::string_view bytes) {
  const auto fail = [](std::string message, size_t offset) {
    throw FileError{std::move(message), false, 0, 0, offset};
  };
  if (bytes.size() < headerBytes + checksumBytes)
    fail("the file ends within its head", bytes.size());
  const auto found = static_cast<uint8_t>(bytes[sizeof binaryMagic]);
  if (found != version)
    fail("expected version " + std::to_string(version) + ", found " + std::to_string(found), sizeof binaryMagic);
  const size_t end = bytes.size() - checksumBytes;
  uint32_t stated = 0;
  for (size_t i = 0; i < checksumBytes; ++i)
    stated |= uint32_t{static_cast<uint8_t>(bytes[end + i])} << (8 * i);
  if (stated != checksum(bytes.substr(0, end)))
    fail("the checksum does not fit: the file is damaged or not complete", end);
  Symbolic symbolic;
  BinaryReader reader(bytes.substr(headerBytes, end - headerBytes), headerBytes);
  Description(reader, symbolic).describe();
  reader.end();
  return symbolic;
}

} // namespace strata::array::files

namespace strata::array {

std::string writeBinary(const Symbolic& symbolic) {
  files::BinaryWriter writer;
  files::Description(writer, symbolic).describe();
  std::string result(files::binaryMagic, sizeof files::binaryMagic);
  result += static_cast<char>(files::version);
  result += writer.take();
  const uint32_t sum = checksum(result);
  for (size_t i = 0; i < files::checksumBytes; ++i)
    result += static_cast<char>(sum >> (8 * i) & 0xFF);
  return result;
}

} // namespace strata::array
