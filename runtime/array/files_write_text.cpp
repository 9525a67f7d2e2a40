// Writes the text form of symbolic configurations. What the conditions of a space are stands as a comment behind the
// lines that name it.
#include "base/machine/quantity.h"
#include "runtime/array/files_names.h"
#include "runtime/array/files_structure.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace strata::array::files {

namespace {

constexpr size_t longestComment = 80;

uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

std::string hexadecimal(uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4)
    text += digits[value >> shift & 15];
  return text;
}

/// The shortest digits that are read as the same number.
template <class T>
std::string shortest(T value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string immediateText(uint64_t bits, Type type) {
  if (type == Type::Float32) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    return bits >> 32 != 0 || std::isnan(value) ? hexadecimal(bits) : shortest(value);
  }
  if (type == Type::Float64) {
    const auto value = std::bit_cast<double>(bits);
    return std::isnan(value) ? hexadecimal(bits) : shortest(value);
  }
  return type == Type::Uint64 ? std::to_string(bits) : std::to_string(static_cast<int64_t>(bits));
}

class TextWriter {
public:
  void line(unsigned depth) {
    isLineDue_ = true;
    depth_ = depth;
  }
  void word(std::string_view text) {
    if (text.empty())
      return;
    if (isLineDue_) {
      endLine();
      text_.append(size_t{2} * depth_, ' ');
      isLineDue_ = false;
    } else if (!text_.empty()) {
      const bool isTight = std::string_view(",:)][").find(text[0]) != std::string_view::npos ||
                           std::string_view("([").find(text_.back()) != std::string_view::npos;
      if (!isTight)
        text_ += ' ';
    }
    text_ += text;
  }
  void label(std::string_view prefix, size_t number) {
    word(std::string(prefix) + std::to_string(number));
    word(":");
  }
  void scope(const Symbolic& symbolic) {
    symbolic_ = &symbolic;
    for (const Loop& loop : symbolic.loops)
      variables_.add(loop.name);
    for (const std::string& parameter : symbolic.parameters)
      variables_.add(parameter);
  }
  void loopName(size_t loop) { word(variables_.text(loop)); }

  void string(const std::string& text) {
    if (isIdentifier(text)) {
      word(text);
      return;
    }
    std::string quoted = "\"";
    for (const char c : text) {
      const auto byte = static_cast<uint8_t>(c);
      if (c == '"' || c == '\\') {
        quoted += '\\';
        quoted += c;
      } else if (byte < ' ' || byte == 0x7F) {
        quoted += "\\x";
        quoted += hexadecimal(byte).substr(16);
      } else {
        quoted += c;
      }
    }
    word(quoted + '"');
  }
  template <class T>
  void number(T value, unsigned) {
    word(std::to_string(value));
  }
  void fingerprint(uint64_t value) { word(hexadecimal(value)); }
  void optionalNumber(std::string_view keyword, int64_t value, int64_t usual) {
    if (value == usual)
      return;
    word(keyword);
    number(value, 0);
  }
  void flag(bool value, std::string_view no, std::string_view yes) { word(value ? yes : no); }
  template <class T, class Name>
  void choice(T value, unsigned, Name name, std::string_view) {
    word(name(value));
  }
  void otherType(Type value, Type usual) {
    if (value == usual)
      return;
    word("of");
    word(name(value));
  }
  void index(std::string_view prefix, uint32_t value, size_t, std::string_view) {
    word(std::string(prefix) + std::to_string(value));
    if (prefix == "s" && value < symbolic_->spaces.size())
      mention(value);
    else if (prefix == "c" && value < symbolic_->conditions.size())
      isMentioned_ = true;
  }

  template <class T, class Each>
  void lines(const Lines& list, const std::vector<T>& items, Each each) {
    for (const T& item : items) {
      line(list.depth);
      word(list.keyword);
      each(item);
      if (isMentioned_ && list.keyword == "space")
        mention(static_cast<uint32_t>(&item - items.data()));
    }
  }
  template <class T, class Each>
  void row(const Row& row, const std::vector<T>& items, Each each) {
    if (items.empty()) {
      word(row.empty);
      return;
    }
    std::string_view before = row.opening;
    for (const T& item : items) {
      word(before);
      each(item);
      before = row.separator;
      if (row.brokenAt != 0 && &item != &items.back())
        line(row.brokenAt);
    }
    word(row.closing);
  }
  template <class Write>
  void shared(const std::vector<Term>&, Write write) {
    write();
  }

  void linear(const Linear& value, bool isFactor) {
    const std::string text = expression(value);
    word(isFactor && text.find(' ') != std::string::npos ? "(" + text + ")" : text);
  }
  void comparison(Condition::Kind kind, int64_t modulus) { word(relation(kind, modulus)); }
  void tuple(const std::vector<int64_t>& value) {
    std::string text = "(";
    for (size_t i = 0; i < value.size(); ++i)
      text += (i != 0 ? ", " : "") + std::to_string(value[i]);
    word(text + ")");
  }
  void optionalTuple(std::string_view keyword, const std::vector<int64_t>& value) {
    if (value.empty())
      return;
    word(keyword);
    tuple(value);
  }
  void shift(const std::vector<int64_t>& value) {
    if (std::ranges::any_of(value, [](int64_t each) { return each != 0; }))
      optionalTuple("shift", value);
  }
  void reg(Register reg) { word(reg.kind == Register::Kind::None ? "none" : name(reg)); }
  void operand(const Operand& operand, Type type) {
    if (operand.source.kind == Register::Kind::None)
      word(immediateText(operand.immediate, type));
    else
      reg(operand.source);
  }
  void port(const machine::Port& port) { word(machine::formatPort(port)); }
  void loopOrNone(std::string_view keyword, uint32_t loop) {
    if (loop == Symbolic::none)
      return;
    word(keyword);
    loopName(loop);
  }
  void channelOrNone(std::string_view keyword, uint32_t channel, size_t) {
    if (channel == Access::ownRoute)
      return;
    word(keyword);
    number(channel, 0);
  }
  void arrayName(uint32_t array, const std::vector<SymbolicArray>& list) { word(arrays_.of(list).text(array)); }

  std::string take() {
    endLine();
    return std::move(text_);
  }

private:
  void endLine() {
    if (!comment_.empty() && comment_.size() <= longestComment)
      text_ += "  # " + comment_;
    comment_.clear();
    isMentioned_ = false;
    if (!text_.empty())
      text_ += '\n';
  }

  /// What a space is goes to the end of the line.
  void mention(uint32_t space) {
    if (comment_.size() > longestComment)
      return;
    std::string text;
    for (const std::vector<uint32_t>& piece : symbolic_->spaces[space].pieces) {
      if (piece.empty())
        return; // everywhere, which the line of the space says
      text += text.empty() ? "" : " or ";
      for (size_t i = 0; i < piece.size() && text.size() <= longestComment; ++i) {
        const Condition& condition = symbolic_->conditions[piece[i]];
        const std::string value = expression(condition.value);
        const bool isFactor = condition.modulus != 0 && value.find(' ') != std::string::npos;
        text += (i != 0 ? " and " : "") + (isFactor ? "(" + value + ")" : value) + " " +
                relation(condition.kind, condition.modulus);
      }
      if (text.size() > longestComment)
        break;
    }
    if (comment_ == text)
      return;
    comment_ += comment_.empty() || text.empty() ? "" : "; ";
    comment_ += text;
  }

  /// "2*i - j + N - 1".
  std::string expression(const Linear& value) const {
    std::string text;
    const auto add = [&](int64_t factor, const std::string& name) {
      if (factor == 0)
        return;
      text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
      const uint64_t size = magnitude(factor);
      text += name.empty() ? std::to_string(size) : size == 1 ? name : std::to_string(size) + "*" + name;
    };
    for (size_t l = 0; l < value.loops.size(); ++l)
      add(value.loops[l], variables_.text(l));
    for (size_t p = 0; p < value.parameters.size(); ++p)
      add(value.parameters[p], variables_.text(symbolic_->loops.size() + p));
    add(value.constant, "");
    return text.empty() ? "0" : text;
  }

  static std::string relation(Condition::Kind kind, int64_t modulus) {
    switch (kind) {
    case Condition::Kind::NotNegative:
      return ">= 0";
    case Condition::Kind::Zero:
      return "== 0";
    case Condition::Kind::Divisible:
      return "mod " + std::to_string(modulus) + " == 0";
    case Condition::Kind::NotDivisible:
      break;
    }
    return "mod " + std::to_string(modulus) + " != 0";
  }

  const Symbolic* symbolic_ = nullptr;
  Names variables_;
  ArrayNames arrays_;
  std::string text_, comment_;
  bool isLineDue_ = false, isMentioned_ = false;
  unsigned depth_ = 0;
};

} // namespace

} // namespace strata::array::files

namespace strata::array {

std::string writeText(const Symbolic& symbolic) {
  files::TextWriter writer;
  for (const std::string_view word : {files::textBegin, std::string_view("configuration"), std::string_view("version")})
    writer.word(word);
  writer.number(files::version, 0);
  files::Description(writer, symbolic).describe();
  writer.line(0);
  writer.word(files::textEnd);
  return writer.take();
}

} // namespace strata::array
