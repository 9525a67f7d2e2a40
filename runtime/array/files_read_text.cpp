// Reads the text form of symbolic configurations. Lines are for people: what a word belongs to follows from the words
// before it.
#include "base/machine/quantity.h"
#include "runtime/array/files_names.h"
#include "runtime/array/files_structure.h"

#include <bit>
#include <charconv>
#include <limits>

namespace strata::array::files {

namespace {

class TextReader {
public:
  explicit TextReader(std::string_view text) : text_(text) {}

  void line(unsigned) {}
  void word(std::string_view text) {
    if (!accept(text))
      expected("'" + std::string(text) + "'");
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
  void loopName(size_t loop) {
    peek();
    if (const size_t from = at_; named(variables_, "a loop") != loop)
      fail(from, "expected '" + variables_.text(loop) + "', whose turn it is");
  }

  void string(std::string& text) {
    const std::string_view found = peek();
    if (isIdentifier(found)) {
      at_ += found.size();
      text = found;
    } else if (found == "\"") {
      quoted(text);
    } else {
      expected("a name");
    }
    if (text.size() > mostCharacters)
      fail(at_, "a name of " + std::to_string(text.size()) + " characters; at most " + std::to_string(mostCharacters) +
                    " are possible");
  }
  void number(uint32_t& value, unsigned) { value = unsignedNumber<uint32_t>("a number"); }
  void number(int64_t& value, unsigned) {
    const bool isNegative = accept("-");
    value = signedNumber(isNegative, "a number");
  }
  void fingerprint(uint64_t& value) {
    if (!hexadecimal(value))
      expected("a number that begins with 0x");
  }
  void optionalNumber(std::string_view keyword, int64_t& value, int64_t usual) {
    value = usual;
    if (accept(keyword))
      number(value, 0);
  }
  void flag(bool& value, std::string_view no, std::string_view yes) {
    value = accept(yes);
    if (!value && !accept(no))
      expected("'" + std::string(no) + "' or '" + std::string(yes) + "'");
  }
  template <class T, class Name>
  void choice(T& value, unsigned count, Name name, std::string_view what) {
    for (unsigned i = 0; i < count; ++i) {
      value = static_cast<T>(i);
      if (accept(name(value)))
        return;
    }
    expected(std::string(what));
  }
  void otherType(Type& value, Type usual) {
    value = usual;
    if (accept("of"))
      choice(value, types, [](Type type) { return name(type); }, "a type");
  }
  void index(std::string_view prefix, uint32_t& value, size_t count, std::string_view what) {
    const std::string_view found = peek();
    if (!prefixed(found, prefix, value))
      expected("a number of " + std::string(what) + ", as " + std::string(prefix) + "0");
    if (value >= count)
      fail(at_, "there is no " + std::string(found) + ", the last of the " + std::to_string(count) + " " +
                    std::string(what) + " is " + std::string(prefix) + std::to_string(int64_t(count) - 1));
    at_ += found.size();
  }

  template <class T, class Each>
  void lines(const Lines& list, std::vector<T>& items, Each each) {
    while (accept(list.keyword)) {
      charge(list.plural, list.most);
      each(items.emplace_back());
    }
  }
  template <class T, class Each>
  void row(const Row& row, std::vector<T>& items, Each each) {
    if (row.empty.empty() ? !accept(row.opening) : accept(row.empty))
      return;
    if (!row.empty.empty() && !row.opening.empty())
      word(row.opening);
    do {
      charge(row.plural, row.most);
      each(items.emplace_back());
    } while (accept(row.separator));
    if (!row.closing.empty())
      word(row.closing);
  }
  template <class Read>
  void shared(std::vector<Term>&, Read read) {
    read();
  }

  void linear(Linear& value, bool) {
    value.loops.resize(symbolic_->loops.size());
    value.parameters.resize(symbolic_->parameters.size());
    const bool isFactor = accept("(");
    std::vector<bool> seen(variables_.size() + 1, false);
    bool isNegative = accept("-");
    do {
      int64_t factor = isNegative ? -1 : 1;
      size_t which = variables_.size();
      size_t from = at_;
      const std::string_view found = peek();
      if (!found.empty() && isDigit(found[0])) {
        from = at_;
        factor = signedNumber(isNegative, "a number");
        if (accept("*"))
          which = named(variables_, "a loop or a parameter");
      } else {
        from = at_;
        which = named(variables_, "a loop, a parameter or a number");
      }
      if (seen[which])
        fail(from, which == variables_.size() ? "a second constant in one expression"
                                              : "'" + variables_.text(which) + "' occurs twice in one expression");
      seen[which] = true;
      (which < value.loops.size()  ? value.loops[which]
       : which < variables_.size() ? value.parameters[which - value.loops.size()]
                                   : value.constant) = factor;
      isNegative = peek() == "-";
    } while (accept("+") || accept("-"));
    if (isFactor)
      word(")");
  }
  void comparison(Condition::Kind& kind, int64_t& modulus) {
    if (accept("mod")) {
      number(modulus, 0);
      kind = accept("!=") ? Condition::Kind::NotDivisible : Condition::Kind::Divisible;
      if (kind == Condition::Kind::Divisible && !accept("=="))
        expected("'==' or '!='");
    } else if (accept(">=")) {
      kind = Condition::Kind::NotNegative;
    } else if (accept("==")) {
      kind = Condition::Kind::Zero;
    } else {
      expected("'>=', '==' or 'mod'");
    }
    word("0");
  }
  void tuple(std::vector<int64_t>& value) {
    word("(");
    for (size_t i = 0; i < symbolic_->loops.size(); ++i) {
      if (i != 0)
        word(",");
      number(value.emplace_back(), 0);
    }
    word(")");
  }
  void optionalTuple(std::string_view keyword, std::vector<int64_t>& value) {
    if (accept(keyword))
      tuple(value);
  }
  void shift(std::vector<int64_t>& value) {
    optionalTuple("shift", value);
    value.resize(symbolic_->loops.size());
  }
  void reg(Register& reg) {
    if (!acceptRegister(reg) && !accept("none"))
      expected("a register, as rd0");
  }
  void operand(Operand& operand, Type type) {
    if (acceptRegister(operand.source) || hexadecimal(operand.immediate))
      return;
    if (type == Type::Float32)
      operand.immediate = std::bit_cast<uint32_t>(floating<float>());
    else if (type == Type::Float64)
      operand.immediate = std::bit_cast<uint64_t>(floating<double>());
    else if (accept("-"))
      operand.immediate = static_cast<uint64_t>(signedNumber(true, "a number"));
    else
      operand.immediate = unsignedNumber<uint64_t>("a register, as rd0, or a number");
  }
  void port(machine::Port& port) {
    const std::string_view found = peek();
    for (size_t side = 0; side < machine::sideNames().size(); ++side)
      if (prefixed(found, machine::sideNames()[side], port.index)) {
        port.side = static_cast<machine::Side>(side);
        at_ += found.size();
        return;
      }
    expected("a port, as east0 or element1");
  }
  void loopOrNone(std::string_view keyword, uint32_t& loop) {
    loop = Symbolic::none;
    if (!accept(keyword))
      return;
    peek();
    const size_t from = at_, which = named(variables_, "a loop");
    if (which >= symbolic_->loops.size())
      fail(from, "expected a loop, found the parameter '" + variables_.text(which) + "'");
    loop = static_cast<uint32_t>(which);
  }
  void channelOrNone(std::string_view keyword, uint32_t& channel, size_t count) {
    channel = Access::ownRoute;
    if (!accept(keyword))
      return;
    peek();
    const size_t from = at_;
    number(channel, 0);
    if (channel >= count)
      fail(from, "there is no channel " + std::to_string(channel) + " among " + std::to_string(count));
  }
  void arrayName(uint32_t& array, const std::vector<SymbolicArray>& list) {
    array = static_cast<uint32_t>(named(arrays_.of(list), "an array"));
  }

  void begin() {
    word(textBegin);
    word("configuration");
    word("version");
    if (!accept(std::to_string(version)))
      expected("version " + std::to_string(version));
  }
  /// A file that was cut off has no such line.
  void end() {
    if (!accept(textEnd))
      expected("another line or '" + std::string(textEnd) + "'");
    if (!peek().empty())
      expected("the end of the file");
  }

private:
  [[noreturn]] void fail(size_t where, std::string message) const {
    FileError error{std::move(message), true, 1, 1, where};
    for (size_t i = 0; i < where && i < text_.size(); ++i) {
      error.column = text_[i] == '\n' ? 1 : error.column + 1;
      error.line += text_[i] == '\n' ? 1 : 0;
    }
    throw error;
  }
  [[noreturn]] void expected(const std::string& what) {
    const std::string found(peek().substr(0, 40));
    fail(at_, "expected " + what + ", found " + (found.empty() ? "the end of the file" : "'" + found + "'"));
  }

  /// What comes next, which begins at at_: a word, a sign; empty at the end.
  std::string_view peek() {
    if (!peeked_.empty() && peeked_.data() == text_.data() + at_)
      return peeked_; // asked for again
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        ++at_;
      else
        break;
    }
    size_t length = 0;
    while (at_ + length < text_.size() && isWordCharacter(text_[at_ + length]))
      ++length;
    if (length == 0 && at_ < text_.size()) {
      const std::string_view two = text_.substr(at_, 2);
      length = two == "->" || two == ">=" || two == "==" || two == "!=" ? 2 : 1;
      const bool isOther = static_cast<uint8_t>(text_[at_]) >= 0x80;
      while (isOther && at_ + length < text_.size() && (static_cast<uint8_t>(text_[at_ + length]) & 0xC0) == 0x80)
        ++length; // the rest of one character in UTF-8
    }
    return peeked_ = text_.substr(at_, length);
  }
  bool accept(std::string_view text) {
    if (text.empty())
      return false;
    const std::string_view found = peek();
    if (found.size() != text.size() || found[0] != text[0] || found != text)
      return false;
    at_ += text.size();
    return true;
  }

  template <class T>
  T unsignedNumber(std::string_view what) {
    const std::string_view found = peek();
    T value{};
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error == std::errc::result_out_of_range)
      fail(at_, "the number " + std::string(found.substr(0, 40)) + " is too large, at most " +
                    std::to_string(std::numeric_limits<T>::max()) + " is possible");
    if (error != std::errc{} || end != found.data() + found.size())
      expected(std::string(what));
    at_ += found.size();
    return value;
  }
  int64_t signedNumber(bool isNegative, std::string_view what) {
    peek();
    const size_t from = at_;
    const auto size = unsignedNumber<uint64_t>(what);
    if (size > static_cast<uint64_t>(INT64_MAX) + (isNegative ? 1 : 0))
      fail(from, "the number " + std::to_string(size) + " is too large for 64 bits and a sign");
    return static_cast<int64_t>(isNegative ? 0 - size : size);
  }
  bool hexadecimal(uint64_t& value) {
    const std::string_view found = peek();
    if (!found.starts_with("0x"))
      return false;
    const auto [end, error] = std::from_chars(found.data() + 2, found.data() + found.size(), value, 16);
    if (error != std::errc{} || end != found.data() + found.size())
      expected("up to 16 hexadecimal digits after 0x");
    at_ += found.size();
    return true;
  }
  template <class T>
  T floating() {
    peek();
    size_t length = 0;
    for (; at_ + length < text_.size(); ++length) {
      const char c = text_[at_ + length];
      if (!isWordCharacter(c) && c != '.' && c != '+' && c != '-')
        break;
    }
    T value{};
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + length, value);
    if (error != std::errc{} || end != begin + length)
      expected("a register, as rd0, or a number");
    at_ += length;
    return value;
  }
  /// Whether a word is a prefix and a number that fits, and nothing else.
  template <class T>
  static bool prefixed(std::string_view word, std::string_view prefix, T& number) {
    if (!word.starts_with(prefix) || word.size() == prefix.size())
      return false;
    const auto [end, error] = std::from_chars(word.data() + prefix.size(), word.data() + word.size(), number);
    return error == std::errc{} && end == word.data() + word.size();
  }
  bool acceptRegister(Register& reg) {
    const std::string_view found = peek();
    for (size_t kind = 1; kind < registerPrefixes.size(); ++kind)
      if (prefixed(found, registerPrefixes[kind], reg.index)) {
        reg.kind = static_cast<Register::Kind>(kind);
        at_ += found.size();
        return true;
      }
    return false;
  }
  size_t named(const Names& names, std::string_view what) {
    const std::string_view found = peek();
    if (found == "$") {
      const size_t from = at_++;
      const size_t number = unsignedNumber<size_t>("a number after '$'");
      if (number >= names.size())
        fail(from, "there is no $" + std::to_string(number) + " among " + std::to_string(names.size()));
      return number;
    }
    const size_t number = names.number(found);
    if (number >= names.size())
      expected(std::string(what));
    at_ += found.size();
    return number;
  }
  void quoted(std::string& text) {
    const size_t from = at_++;
    while (true) {
      if (at_ >= text_.size() || text_[at_] == '\n')
        fail(from, "the quote is not closed in its line");
      const char c = text_[at_++];
      if (c == '"')
        return;
      if (c != '\\') {
        text += c;
        continue;
      }
      const char escaped = at_ < text_.size() ? text_[at_] : ' ';
      uint8_t byte = 0;
      const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 2);
      if (escaped == '"' || escaped == '\\') {
        text += escaped;
        ++at_;
      } else if (escaped == 'x' && digits.size() == 2 &&
                 std::from_chars(digits.data(), digits.data() + 2, byte, 16).ptr == digits.data() + 2) {
        text += static_cast<char>(byte);
        at_ += 3;
      } else {
        fail(at_ - 1, R"(expected \", \\ or \x with two digits)");
      }
    }
  }
  void charge(std::string_view plural, size_t most) {
    if (totals_[plural]++ == most)
      fail(at_, "more than " + std::to_string(most) + " " + std::string(plural));
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string_view peeked_; // by the last peek()
  const Symbolic* symbolic_ = nullptr;
  Names variables_;
  ArrayNames arrays_;
  std::map<std::string_view, size_t> totals_;
};

} // namespace

Symbolic readText(std::string_view bytes) {
  TextReader reader(bytes);
  reader.begin();
  Symbolic symbolic;
  Description(reader, symbolic).describe();
  reader.end();
  return symbolic;
}

} // namespace strata::array::files
