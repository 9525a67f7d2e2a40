// What traces hold, in which order: one description of arrays, configurations and figures that both writes and reads
// them, and the bytes of single numbers. See trace.h for the format.
#pragma once

#include "runtime/array/files.h"
#include "runtime/array/simulate.h"
#include "runtime/array/symbolic_limits.h"

#include <bit>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace strata::array::trace {

inline constexpr char magic[] = {'\xA7', 'S', 'T'};
inline constexpr uint8_t version = 1;
enum class Kind : uint8_t { Array = 1, Run, Events, RunEnd, End, RunFailure };
inline constexpr size_t headBytes = sizeof magic + 1, recordBytes = 9; // without the payload

inline uint64_t folded(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ (value < 0 ? ~uint64_t{0} : 0);
}
inline int64_t unfolded(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ ((value & 1) != 0 ? ~uint64_t{0} : 0));
}
inline uint64_t reversed(uint64_t value) {
  uint64_t result = 0;
  for (int bit = 0; bit < 64; ++bit)
    result |= ((value >> bit) & 1) << (63 - bit);
  return result;
}

/// A register's bits of a type as a number that is small where the value is simple; and back.
inline uint64_t packed(uint64_t bits, Type type) {
  switch (type) {
  case Type::Int8:
  case Type::Int16:
  case Type::Int32:
  case Type::Int64:
    return folded(static_cast<int64_t>(bits));
  case Type::Float32:
    return std::rotr(reversed(bits), 32);
  case Type::Float64:
    return reversed(bits);
  default:
    return bits;
  }
}
inline uint64_t unpacked(uint64_t number, Type type) {
  switch (type) {
  case Type::Int8:
  case Type::Int16:
  case Type::Int32:
  case Type::Int64:
    return static_cast<uint64_t>(unfolded(number));
  case Type::Float32:
    return reversed(std::rotr(number, 32));
  case Type::Float64:
    return reversed(number);
  default:
    return number;
  }
}

class Writer {
public:
  explicit Writer(std::string& bytes) : bytes_(bytes) {}

  void natural(uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  template <std::integral T>
  void number(T value) {
    natural(std::is_signed_v<T> ? folded(static_cast<int64_t>(value)) : static_cast<uint64_t>(value));
  }
  void text(const std::string& value) {
    natural(value.size());
    bytes_ += value;
  }
  template <class T>
  void choice(T value, unsigned) {
    natural(static_cast<uint64_t>(value));
  }
  template <class List, class Each>
  void list(const List& items, Each each) {
    natural(items.size());
    for (const auto& item : items)
      each(item);
  }

private:
  std::string& bytes_;
};

/// Fails by throwing a FileError. Lists grow as their items are read, so that memory is in proportion to bytes.
class Reader {
public:
  /// Bytes of a file from `offset` on.
  Reader(std::string_view file, size_t offset, size_t size) : bytes_(file.substr(0, offset + size)), at_(offset) {}

  uint64_t natural() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == bytes_.size())
        fail("the record ends within a number");
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      if (shift == 63 && byte > 1)
        fail("a number that has more than 64 bits");
      value |= uint64_t{byte & 127u} << shift;
      if (byte < 128)
        return value;
    }
  }
  template <std::integral T>
  void number(T& value) {
    const uint64_t all = natural();
    if constexpr (std::is_same_v<T, bool>) {
      if (all > 1)
        fail("expected 0 or 1, found " + std::to_string(all));
      value = all != 0;
    } else if constexpr (std::is_signed_v<T>) {
      static_assert(sizeof(T) == 8);
      value = unfolded(all);
    } else {
      if (all > std::numeric_limits<T>::max())
        fail("expected a number up to " + std::to_string(std::numeric_limits<T>::max()) + ", found " +
             std::to_string(all));
      value = static_cast<T>(all);
    }
  }
  void text(std::string& value) {
    const uint64_t size = natural();
    if (size > mostCharacters || size > bytes_.size() - at_)
      fail("a name of " + std::to_string(size) + " characters");
    value = bytes_.substr(at_, size);
    at_ += size;
  }
  template <class T>
  void choice(T& value, unsigned count) {
    const uint64_t found = natural();
    if (found >= count)
      fail("expected one of " + std::to_string(count) + " kinds, found number " + std::to_string(found));
    value = static_cast<T>(found);
  }
  template <class T, class Each>
  void list(std::vector<T>& items, Each each) {
    const uint64_t count = natural();
    if (count > bytes_.size() - at_)
      fail("a list of " + std::to_string(count) + " things in " + std::to_string(bytes_.size() - at_) + " bytes");
    items.clear();
    for (uint64_t i = 0; i < count; ++i)
      each(items.emplace_back());
  }

  bool isAtEnd() const { return at_ == bytes_.size(); }
  size_t offset() const { return at_; }
  void end() const {
    if (!isAtEnd())
      fail("expected the end of the record, found " + std::to_string(bytes_.size() - at_) + " bytes more");
  }
  [[noreturn]] void fail(std::string message) const { throw FileError{std::move(message), false, 0, 0, at_}; }

private:
  std::string_view bytes_;
  size_t at_;
};

/// `Codec` is Writer or Reader; the things are const for a Writer.
template <class Codec>
class Structure {
public:
  explicit Structure(Codec& codec) : c_(codec) {}

  template <class T>
  void array(T& a) {
    numbers(a.rows, a.columns, a.word);
    c_.list(a.units, [&](auto& unit) {
      c_.text(unit.name);
      c_.number(unit.count);
      c_.list(unit.operations, [&](auto& operation) {
        c_.text(operation.name);
        numbers(operation.latency, operation.interval);
      });
      c_.number(unit.instructions);
    });
    auto& r = a.registers;
    numbers(r.general, r.feedback, r.feedbackDepth, r.input, r.inputDepth, r.output, r.control);
    numbers(a.destinations, a.flags, a.branchTargets, a.branchSignals);
    layer(a.data);
    layer(a.control);
    c_.list(a.controllers, [&](auto& corner) { c_.choice(corner, 4); });
    numbers(a.controllerSignals, a.controllerDimensions);
    for (auto& border : a.borders)
      numbers(border.banks, border.capacity, border.dimensions);
  }

  template <class T>
  void configuration(T& c) {
    c_.number(c.interval);
    c_.list(c.loops, [&](auto& loop) { c_.text(loop); });
    all(c.extents);
    c_.number(c.iterations);
    c_.list(c.classes, [&](auto& each) {
      c_.list(each.programs,
              [&](auto& program) { c_.list(program, [&](auto& instruction) { this->instruction(instruction); }); });
    });
    c_.list(c.regions, [&](auto& region) {
      range(region.rows);
      range(region.columns);
      c_.number(region.processorClass);
    });
    numbers(c.firstStart, c.rowStart, c.columnStart);
    c_.list(c.signals, [&](auto& signal) { boxes(signal.ones); });
    c_.choice(c.corner, 4);
    connections(c.data);
    connections(c.control);
    all(c.feedbackDepths);
    all(c.inputDepths);
    c_.list(c.banks, [&](auto& bank) {
      c_.choice(bank.side, 4);
      numbers(bank.position, bank.index, bank.isOutput, bank.array, bank.start);
      boxes(bank.enable);
      all(bank.strides);
      c_.number(bank.base);
      box(bank.block);
      c_.number(bank.blockLoops);
      all(bank.held);
    });
    layouts(c.inputs);
    layouts(c.outputs);
  }

  template <class T>
  void statistics(T& s) {
    numbers(s.cycles, s.operations);
    all(s.unitOperations);
    c_.number(s.elementCycles);
    for (auto* words : {&s.wordsIn, &s.wordsOut})
      for (auto& each : *words)
        c_.number(each);
    numbers(s.wordsFilled, s.wordsEmptied);
  }

  template <class T>
  void error(T& e) {
    c_.text(e.message);
    numbers(e.isUsers, e.cycle, e.isMemory, e.row, e.column);
  }

private:
  template <class... T>
  void numbers(T&... values) {
    (c_.number(values), ...);
  }
  template <class T>
  void all(T& list) {
    c_.list(list, [&](auto& each) { c_.number(each); });
  }
  template <class T>
  void port(T& p) {
    c_.choice(p.side, 5);
    c_.number(p.index);
  }
  template <class T>
  void layer(T& l) {
    for (auto* ports : {&l.inputs, &l.outputs})
      for (auto& each : *ports)
        c_.number(each);
    c_.number(l.fullyAdjacent);
    c_.list(l.adjacent, [&](auto& pair) {
      port(pair.source);
      port(pair.sink);
    });
    c_.number(l.hop);
  }
  template <class T>
  void range(T& r) {
    numbers(r.first, r.end);
  }
  template <class T>
  void box(T& b) {
    c_.list(b, [&](auto& each) { range(each); });
  }
  template <class T>
  void boxes(T& list) {
    c_.list(list, [&](auto& each) { box(each); });
  }
  template <class T>
  void reg(T& r) {
    c_.choice(r.kind, static_cast<unsigned>(Register::Kind::Flag) + 1);
    c_.number(r.index);
  }
  template <class T>
  void instruction(T& i) {
    auto& f = i.functional;
    c_.choice(f.opcode, opcodes);
    c_.choice(f.type, types);
    c_.choice(f.operandType, types);
    c_.list(f.destinations, [&](auto& each) { reg(each); });
    c_.list(f.sources, [&](auto& each) {
      reg(each.source);
      c_.number(each.immediate);
    });
    c_.choice(i.branch.kind, static_cast<unsigned>(Branch::Kind::Halt) + 1);
    all(i.branch.signals);
    all(i.branch.targets);
  }
  template <class T>
  void connections(T& list) {
    c_.list(list, [&](auto& each) {
      numbers(each.row, each.column);
      port(each.source);
      port(each.sink);
    });
  }
  template <class T>
  void layouts(T& list) {
    c_.list(list, [&](auto& each) {
      c_.text(each.name);
      c_.choice(each.type, types);
      all(each.extents);
    });
  }

  Codec& c_;
};

} // namespace strata::array::trace
