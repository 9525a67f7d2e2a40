// What the files of symbolic configurations hold, in which order: the one description that writes and reads both forms.
// It is a template over archives, of which there are four (files_read_text.cpp, files_write_text.cpp,
// files_binary.cpp). What an archive offers:
//
//   line(depth), word(text)         a line begins; words and signs. Only texts have them.
//   scope(symbolic)                 whose names and sizes are meant from here on; its lists are filled as far as
//   described string, number, fingerprint     single values. A number's scale is how many bits it usually has.
//   choice(value, count, name, what)  one of an enumeration
//   index(prefix, value, count, what) a number into a list; label(prefix, number): the number itself, for people
//   lines(list, items, each), row(row, items, each)  lists: an item a line, or one line
//   shared(terms, each)             a list that often occurs again
//   linear, comparison, tuple, optionalTuple, shift, reg, operand, port, loopName, loopOrNone, channelOrNone, arrayName
//
// Writing archives take everything as const; reading ones throw a FileError.
#pragma once

#include "runtime/array/files.h"
#include "runtime/array/symbolic_limits.h"

namespace strata::array::files {

/// A list with an item a line, each begun by a keyword.
struct Lines {
  std::string_view keyword, plural;
  unsigned depth = 0; // of indentation
  unsigned scale = 1; // bits of the usual number of items
  size_t most = mostOfOneKind;
};

/// A list in one line. One of `opening` and `empty` is a word, by which an empty list is told.
struct Row {
  std::string_view opening, separator, closing, empty, plural;
  unsigned brokenAt = 0; // other than 0: each separator begins a line of this depth
  size_t most = mostOfOneKind;
};

inline constexpr char binaryMagic[] = {'\xA7', 'S', 'C'};
inline constexpr unsigned version = 1;
inline constexpr std::string_view textBegin = "symbolic", textEnd = "end";

/// REQUIRES: the bytes begin with the magic. Both throw a FileError.
Symbolic readBinary(std::string_view bytes);
Symbolic readText(std::string_view bytes);

/// How the immediate value of an operand is meant.
inline Type immediateType(Opcode opcode, Type type, Type operandType, size_t position) {
  if (opcode == Opcode::Select)
    return position == 0 ? Type::Bool : type;
  const bool isOther = opcode == Opcode::Convert || (opcode >= Opcode::Less && opcode <= Opcode::NotEqual);
  return isOther ? operandType : type;
}

template <class Archive, class S>
class Description {
public:
  Description(Archive& archive, S& symbolic) : a(archive), s(symbolic) {}

  void describe() {
    header();
    sets();
    a.lines({"instruction", "instructions", 0, 3}, s.instructions, [&](auto& each) { instruction(each); });
    a.lines({"channel", "channels", 0, 2}, s.channels, [&](auto& each) { channel(each); });
    a.lines({"arrival", "arrivals", 0, 2}, s.arrivals, [&](auto& each) { arrival(each); });
    a.lines({"fifo", "FIFOs", 0, 2}, s.fifos, [&](auto& each) {
      a.reg(each.reg);
      arrival(each.arrival);
    });
    a.lines({"access", "accesses", 0, 2}, s.accesses, [&](auto& each) { access(each); });
  }

private:
  void header() {
    a.line(0);
    a.word("program");
    a.string(s.program);
    a.line(0);
    a.word("machine");
    a.string(s.machine);
    a.line(0);
    a.word("fingerprint");
    a.fingerprint(s.fingerprint);
    a.line(0);
    a.row({"parameters", ",", "", "", "parameters", 0, mostParameters}, s.parameters,
          [&](auto& each) { a.string(each); });
    a.line(0);
    a.row({"loops", ",", "", "", "loops", 0, mostLoops}, s.loops, [&](auto& each) { a.string(each.name); });
    a.scope(s);
    for (size_t i = 0; i < s.loops.size(); ++i) {
      auto& loop = s.loops[i];
      a.line(0);
      a.word("range");
      a.loopName(i);
      const auto bound = [&](auto& each) {
        a.linear(each.value, each.divisor != 1);
        a.optionalNumber("/", each.divisor, 1);
      };
      a.row({"from", ",", "", "unbounded", "bounds"}, loop.lower, bound);
      a.row({"to", ",", "", "unbounded", "bounds"}, loop.upper, bound);
      a.optionalNumber("tile", loop.leastTile, 1);
    }
    a.line(0);
    a.loopOrNone("rows", s.rowLoop);
    a.line(0);
    a.loopOrNone("columns", s.columnLoop);
    a.line(0);
    a.word("interval");
    a.number(s.interval, 2);
    a.word("lower");
    a.word("bound");
    a.number(s.lowerBound, 2);
    a.lines({"context", "conditions of parameters"}, s.context, [&](auto& each) { condition(each); });
    a.lines({"input", "arrays"}, s.inputs, [&](auto& each) { array(each); });
    a.lines({"output", "arrays"}, s.outputs, [&](auto& each) { array(each); });
  }

  void sets() {
    size_t number = 0;
    a.lines({"condition", "conditions", 0, 3}, s.conditions, [&](auto& each) {
      a.label("c", number++);
      condition(each);
    });
    number = 0;
    a.lines({"space", "spaces", 0, 3}, s.spaces, [&](auto& each) {
      a.label("s", number++);
      a.row({"", "or", "", "nowhere", "pieces"}, each.pieces, [&](auto& piece) {
        a.row({"", "and", "", "everywhere", "conditions of pieces"}, piece,
              [&](auto& which) { a.index("c", which, s.conditions.size(), "conditions"); });
      });
    });
  }

  template <class T>
  void condition(T& each) {
    a.linear(each.value, each.kind == Condition::Kind::Divisible || each.kind == Condition::Kind::NotDivisible);
    a.comparison(each.kind, each.modulus);
  }

  template <class T>
  void array(T& each) {
    a.string(each.name);
    type(each.type);
    a.row({"[", ",", "]", "", "extents"}, each.extents, [&](auto& extent) { a.linear(extent, false); });
  }

  template <class T>
  void type(T& each) {
    a.choice(each, types, [](Type value) { return name(value); }, "a type");
  }

  template <class T>
  void terms(T& list) {
    a.word("when");
    a.shared(list, [&] {
      a.row({"", "or", "", "never", "terms"}, list, [&](auto& term) {
        a.index("s", term.space, s.spaces.size(), "spaces");
        a.shift(term.shift);
        a.optionalTuple("step", term.step);
        a.optionalTuple("crossing", term.crossing);
      });
    });
  }

  template <class T>
  void instruction(T& each) {
    a.string(each.name);
    a.word(":");
    a.word("unit");
    a.number(each.unit, 2);
    a.word("offset");
    a.number(each.offset, 4);
    a.word("latency");
    a.number(each.latency, 2);
    a.choice(each.opcode, opcodes, [](Opcode value) { return name(value); }, "an operation");
    type(each.type);
    a.otherType(each.operandType, each.type);
    terms(each.when);
    a.lines({"write", "destinations", 1}, each.destinations, [&](auto& destination) {
      a.reg(destination.reg);
      terms(destination.when);
    });
    size_t position = 0;
    a.lines({"operand", "operands", 1}, each.operands, [&](auto& operand) {
      const Type immediate = immediateType(each.opcode, each.type, each.operandType, position++);
      a.row({"", "else", "", "nothing", "sources", 2}, operand, [&](auto& source) {
        a.operand(source.value, immediate);
        terms(source.when);
      });
    });
  }

  template <class T>
  void channel(T& each) {
    a.word("row");
    a.number(each.rowStep, 1);
    a.word("column");
    a.number(each.columnStep, 1);
    a.word(":");
    a.row({"", "->", "", "nowhere", "ports"}, each.path, [&](auto& port) { a.port(port); });
  }

  template <class T>
  void arrival(T& each) {
    a.word("distance");
    a.tuple(each.distance);
    a.word("crossing");
    a.tuple(each.crossing);
    a.word("slack");
    a.number(each.slack, 3);
  }

  template <class T>
  void access(T& each) {
    a.flag(each.isOutput, "input", "output");
    a.arrayName(each.array, each.isOutput ? s.outputs : s.inputs);
    a.row({"[", ",", "]", "", "indices"}, each.index, [&](auto& index) { a.linear(index, false); });
    a.word("register");
    a.reg(each.reg);
    a.channelOrNone("channel", each.channel, s.channels.size());
    a.word("offset");
    a.number(each.offset, 4);
    terms(each.when);
  }

  Archive& a;
  S& s;
};

} // namespace strata::array::files
