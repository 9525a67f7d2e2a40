// C's expressions over the tokens of a notation: which operator binds how strongly, and bounds on nesting and on the
// depth of trees, so that no program overruns the stack. A notation's parser derives from it and makes its own nodes:
//     Node* unary()                              what stands between binary operators
//     Node* joined(Operator, Node* left, Node* right)
//     static constexpr int deepestNesting        levels of Nesting at most
//     static constexpr uint16_t deepestTree      depth of a node at most
//     [[noreturn]] void refuseNesting()          reports that there are more, at the token at hand, and throws
//     [[noreturn]] void refuseTree(const Location& begin)
// A node has `operands` and a `depth` of 1. Beside what TokenReader asks for, a token's kind has a Punctuator.
#pragma once

#include "base/source/token_reader.h"
#include "compiler/cfamily/syntax/operators.h"

namespace strata::cfamily {

template <typename Derived, typename Token, typename Node>
class ExpressionReader : public TokenReader<Token> {
protected:
  using TokenReader<Token>::TokenReader;

  /// Counts nesting while it lives.
  class Nesting {
  public:
    explicit Nesting(ExpressionReader& reader) : reader_(reader) {
      if (++reader_.nesting_ > Derived::deepestNesting) {
        --reader_.nesting_;
        reader_.derived().refuseNesting();
      }
    }
    ~Nesting() { --reader_.nesting_; }

  private:
    ExpressionReader& reader_;
  };

  bool atSign() const { return this->token().kind == decltype(Token::kind)::Punctuator; }

  /// The binary operator at hand; null when there is none.
  const BinaryOperator* binaryOperator() const { return atSign() ? findBinary(this->token().text) : nullptr; }
  /// Takes one of + - ! ~.
  std::optional<Operator> acceptPrefix() { return accepted(atSign() ? findPrefix(this->token().text) : std::nullopt); }
  /// Takes = or one of its kind; None is "=".
  std::optional<Operator> acceptAssignment() {
    return accepted(atSign() ? findAssignment(this->token().text) : std::nullopt);
  }

  /// Operands and the binary operators between them that bind at least so strongly.
  Node* binary(int lowest = lowestPrecedence) {
    Node* left = derived().unary();
    for (const BinaryOperator* found = binaryOperator(); found && found->precedence >= lowest;
         found = binaryOperator()) {
      this->take();
      Node* right = binary(found->precedence + 1);
      left = derived().joined(found->op, left, right);
    }
    return left;
  }

  /// Gives a new node its operands, and its depth by theirs. `begin` is where it begins.
  Node* withOperands(Node* node, const Location& begin, std::vector<Node*> operands) {
    node->operands = std::move(operands);
    for (const Node* operand : node->operands)
      deepen(node, operand);
    if (node->depth > Derived::deepestTree)
      derived().refuseTree(begin);
    return node;
  }
  static void deepen(Node* node, const Node* part) {
    node->depth = std::max<uint16_t>(node->depth, static_cast<uint16_t>(part->depth + 1));
  }

  int nesting_ = 0;

private:
  Derived& derived() { return static_cast<Derived&>(*this); }
  std::optional<Operator> accepted(std::optional<Operator> op) {
    if (op)
      this->take();
    return op;
  }
};

} // namespace strata::cfamily
