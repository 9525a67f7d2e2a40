// A scan by characters. It knows strings, comments, brackets and how definitions look: "%a, %b:2 = ", "(%a: type" and
// "(%i, %j) = ".
#include "compiler/ir/check_text.h"

#include "compiler/ir/verify_logical.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using llvm::StringRef;

namespace strata::svm {
namespace {

/// Every level of operations, attributes, types or expressions stands in brackets of its own; a region brings several.
constexpr size_t maximumBrackets = 4 * maximumNesting;
/// Operators of one expression, each of which the parser goes one level deeper for.
constexpr unsigned maximumOperators = 1024;

class Scanner {
public:
  explicit Scanner(StringRef text) : text_(text) {}

  std::optional<TextProblem> run() {
    while (at_ < text_.size() && !problem_)
      step();
    return problem_;
  }

private:
  static bool isName(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; }
  void fail(TextProblem::Kind kind, size_t end) { problem_ = {kind, at_, end}; }

  void step() {
    StringRef rest = text_.substr(at_);
    char c = rest.front();
    if (c == '"')
      return skipString();
    if (rest.starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (rest.starts_with("->") || rest.starts_with("<=") || rest.starts_with(">=")) {
      at_ += 2;
    } else if (StringRef("([{<").contains(c)) {
      open(c);
    } else if (StringRef(")]}>").contains(c)) {
      close(c);
    } else if (c == '%') {
      value();
    } else if (llvm::isAlpha(c) || c == '_') {
      word(rest.take_while(isName));
    } else {
      if (c == ',' || c == ':')
        operators_ = 0;
      else if (c == '+' || c == '-' || c == '*')
        countOperator();
      ++at_;
    }
  }

  void skipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
      at_ += text_[at_] == '\\';
    ++at_;
  }

  void countOperator() {
    if (++operators_ > maximumOperators && inExpression())
      fail(TextProblem::NestedTooDeeply, at_ + 1);
  }

  bool inExpression() const { return !brackets_.empty() && brackets_.back() != '{'; }

  void open(char c) {
    if (brackets_.size() >= maximumBrackets)
      return fail(TextProblem::NestedTooDeeply, at_ + 1);
    brackets_.push_back(c);
    operators_ = 0;
    if (c == '{')
      scopes_.push_back({});
    ++at_;
  }

  void close(char c) {
    // '>' may be an operator of a condition; braces are what scopes go by.
    char opening = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
    if (!brackets_.empty() && brackets_.back() == opening) {
      brackets_.pop_back();
      if (c == '}' && scopes_.size() > 1)
        leave();
    }
    ++at_;
  }

  void leave() {
    for (StringRef name : scopes_.back())
      if (auto found = defined_.find(name); found != defined_.end() && --found->second == 0)
        defined_.erase(found);
    scopes_.pop_back();
  }

  void word(StringRef word) {
    if (word == "mod" || word == "floordiv" || word == "ceildiv")
      countOperator();
    // Nothing is seen from outside in these; their arguments stand before the brace.
    if (word == "func.func" || word == "svm.kernel") {
      for (StringRef name : scopes_.back())
        defined_.erase(name);
      scopes_.back().clear();
      early_.clear();
    }
    at_ += word.size();
  }

  static StringRef valueAt(StringRef text) {
    return text.starts_with("%") ? text.take_front(1 + text.drop_front().take_while(isName).size()) : StringRef();
  }

  /// The names of a list "%a, %b:2", and what follows it.
  static StringRef list(StringRef text, llvm::SmallVectorImpl<StringRef>& names) {
    while (true) {
      StringRef name = valueAt(text);
      names.push_back(name);
      text = text.drop_front(name.size());
      if (text.size() > 1 && text[0] == ':' && llvm::isDigit(text[1]))
        text = text.drop_front().drop_while(llvm::isDigit);
      text = text.ltrim();
      StringRef next = text.starts_with(",") ? text.drop_front().ltrim() : StringRef();
      if (!next.starts_with("%") || names.size() > 64)
        return text;
      text = next;
    }
  }

  void define(StringRef name) {
    if (const auto early = early_.find(name); early != early_.end())
      problem_ = {TextProblem::UsedBeforeDefined, early->second, early->second + name.size()};
    ++defined_[name];
    scopes_.back().push_back(name);
  }

  void value() {
    StringRef rest = text_.substr(at_), name = valueAt(rest);
    llvm::SmallVector<StringRef> names;
    StringRef after = list(rest, names);
    StringRef before = text_.take_front(at_).rtrim();
    bool results = after.starts_with("=") && !after.starts_with("==");
    bool variables = before.ends_with("(") && after.starts_with(")") && after.drop_front().ltrim().starts_with("=");
    if (results || variables) {
      for (StringRef each : names)
        define(each);
      at_ = static_cast<size_t>(after.data() - text_.data());
      return;
    }
    StringRef next = rest.drop_front(name.size()).ltrim();
    bool argument =
        (before.ends_with("(") || before.ends_with(",")) && (next.starts_with(":") || next.starts_with("loc("));
    if (argument)
      define(name);
    else if (!defined_.count(name))
      early_.try_emplace(name, at_);
    at_ += name.size();
  }

  StringRef text_;
  size_t at_ = 0;
  std::optional<TextProblem> problem_;
  llvm::SmallVector<char> brackets_;
  unsigned operators_ = 0; // since the last bracket or comma
  std::vector<std::vector<StringRef>> scopes_{1};
  llvm::StringMap<unsigned> defined_; // how many scopes have the name
  llvm::StringMap<size_t> early_;     // values that are not defined so far, and where they are used first
};

} // namespace

std::optional<TextProblem> checkText(StringRef text) {
  return Scanner(text).run();
}

} // namespace strata::svm
