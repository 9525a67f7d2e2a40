// C's precedence, by a notation of one-letter names that has nothing else; and the bounds on nesting and on trees.
#include "compiler/cfamily/syntax/expression_reader.h"

#include "base/source/characters.h"
#include "compiler/cfamily/syntax/scanner.h"

#include <gtest/gtest.h>

#include <deque>

namespace strata::cfamily {
namespace {

STRATA_DIAGNOSTIC(syntax, Error, "test-syntax", "expected {0}, found {1}");

struct Token {
  enum class Kind { End, Word, Punctuator } kind = Kind::End;
  std::string_view text;
  Location location;
};
bool spells(const Token& token, std::string_view text) {
  return token.text == text;
}
bool isWord(const Token& token) {
  return token.kind == Token::Kind::Word;
}
std::string describe(const Token& token) {
  return std::string(token.text);
}

struct Lexer : Scanner {
  explicit Lexer(std::string_view text) : Scanner(text) {}
  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skipSpace() == Next::Token) {
      Token& token = tokens.emplace_back();
      token.kind = isWordStart(peek()) ? Token::Kind::Word : Token::Kind::Punctuator;
      token.text = isWord(token) ? takeWord() : takeSign();
    }
    tokens.emplace_back();
    return tokens;
  }
};

struct Node {
  std::string text;
  std::vector<Node*> operands;
  uint16_t depth = 1;
};

/// Writes an expression with all its parentheses.
class Parser : public ExpressionReader<Parser, Token, Node> {
public:
  struct TooNested {};
  struct TooDeep {};
  static constexpr int deepestNesting = 10;
  static constexpr uint16_t deepestTree = 20;

  Parser(const std::vector<Token>& tokens, DiagnosticEngine& diagnostics)
      : ExpressionReader(tokens, diagnostics, syntax) {}

  Node* expression() {
    Nesting nesting(*this);
    Node* left = binary();
    const std::optional<Operator> op = acceptAssignment();
    return op ? make("(" + left->text + " " + operatorText(*op) + "= " + expression()->text + ")", {left}) : left;
  }
  Node* unary() {
    if (const std::optional<Operator> op = acceptPrefix()) {
      Node* operand = unary();
      return make("(" + std::string(operatorText(*op)) + operand->text + ")", {operand});
    }
    if (accept("(")) {
      Node* inner = expression();
      expect(")", "the expression");
      return inner;
    }
    return make(std::string(take().text), {});
  }
  Node* joined(Operator op, Node* left, Node* right) {
    return make("(" + left->text + " " + operatorText(op) + " " + right->text + ")", {left, right});
  }
  [[noreturn]] void refuseNesting() { throw TooNested(); }
  [[noreturn]] void refuseTree(const Location&) { throw TooDeep(); }
  int nesting() const { return nesting_; }

private:
  Node* make(std::string text, std::vector<Node*> operands) {
    Node& node = nodes_.emplace_back();
    node.text = std::move(text);
    return withOperands(&node, {}, std::move(operands));
  }
  std::deque<Node> nodes_;
};

std::string parsed(std::string_view text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  std::vector<Token> tokens = Lexer(text).run();
  Parser parser(tokens, diagnostics);
  std::string result = parser.expression()->text;
  EXPECT_TRUE(parser.atEnd()) << text;
  EXPECT_EQ(parser.nesting(), 0);
  return result;
}

TEST(ExpressionReader, BindsAsCDoes) {
  EXPECT_EQ(parsed("a + b * c - d / e % f"), "((a + (b * c)) - ((d / e) % f))");
  EXPECT_EQ(parsed("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(parsed("a < b == c > d != e"), "(((a < b) == (c > d)) != e)");
  EXPECT_EQ(parsed("a << b + c >> d <= e"), "(((a << (b + c)) >> d) <= e)");
  EXPECT_EQ(parsed("a || b && c | d ^ e & f == g"), "(a || (b && (c | (d ^ (e & (f == g))))))");
  EXPECT_EQ(parsed("a & b && c || d"), "(((a & b) && c) || d)");
  EXPECT_EQ(parsed("-a * !b + ~+c"), "(((-a) * (!b)) + (~(+c)))");
  EXPECT_EQ(parsed("(a + b) * c"), "((a + b) * c)");
  EXPECT_EQ(parsed("a = b += c <<= d | e"), "(a = (b += (c <<= (d | e))))");
}

TEST(ExpressionReader, KnowsEveryOperator) {
  for (int i = static_cast<int>(Operator::Add); i <= static_cast<int>(Operator::LogicalOr); ++i) {
    const Operator op = static_cast<Operator>(i);
    const BinaryOperator* found = findBinary(operatorText(op));
    ASSERT_TRUE(found) << operatorText(op);
    EXPECT_EQ(found->op, op);
    EXPECT_GE(found->precedence, lowestPrecedence);
    const bool assigns = !isComparison(op) && !isLogical(op);
    EXPECT_EQ(findAssignment(operatorText(op) + std::string("=")), assigns ? std::optional(op) : std::nullopt);
  }
  EXPECT_EQ(findAssignment("="), Operator::None);
  for (Operator op : {Operator::Plus, Operator::Negate, Operator::Not, Operator::Complement})
    EXPECT_EQ(findPrefix(operatorText(op)), op);
  EXPECT_FALSE(findBinary("="));
  EXPECT_FALSE(findBinary(""));
  EXPECT_FALSE(findPrefix("*"));
}

TEST(ExpressionReader, BoundsNestingAndTrees) {
  EXPECT_EQ(parsed(std::string(9, '(') + "a" + std::string(9, ')')), "a");
  EXPECT_THROW(parsed(std::string(10, '(') + "a" + std::string(10, ')')), Parser::TooNested);
  std::string sum = "a";
  for (int i = 0; i < 19; ++i)
    sum += " + a";
  EXPECT_NO_THROW(parsed(sum));
  EXPECT_THROW(parsed(sum + " + a"), Parser::TooDeep);
}

} // namespace
} // namespace strata::cfamily
