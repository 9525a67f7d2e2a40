// Follows the operands of checks in the entry block back to the arguments. Only integer arithmetic that is the same in
// C (compiled with wrapping) is taken over.
#include "compiler/driver/c_interface/entry_checks.h"

#include "compiler/clang/c_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace strata::driver {

using clang::cLiteral;

namespace {

class Translation {
public:
  Translation(func::FuncOp function, const std::string& before) : function_(function), before_(before) {}

  std::string run() {
    for (Operation& op : function_.getBody().front()) {
      if (auto check = dyn_cast<svm::CheckOp>(op))
        addCheck(check);
      else if (!isa<memref::AllocaOp>(op) && (op.getNumRegions() || !isMemoryEffectFree(&op)))
        break; // what comes later is not checked before the program begins
    }
    return text_;
  }

private:
  void addCheck(svm::CheckOp check) {
    std::string condition = value(check.getCondition());
    std::vector<std::string> values;
    for (Value each : check.getValues())
      values.push_back(each.getType().isIndex() || each.getType().isInteger(64) ? value(each) : "");
    if (condition.empty() || llvm::is_contained(values, ""))
      return;
    std::string format, arguments;
    StringRef message = check.getMessage();
    for (size_t at = 0; at < message.size(); ++at) {
      size_t end = message.find('}', at);
      unsigned number = 0;
      if (message[at] == '{' && end != StringRef::npos && !message.slice(at + 1, end).getAsInteger(10, number) &&
          number < values.size()) {
        format += "%ld";
        arguments += ", (long)" + values[number];
        at = end;
      } else {
        format += message[at] == '%' ? std::string("%%") : std::string(1, message[at]);
      }
    }
    if (auto help = check.getHelp()) {
      format += ": ";
      for (char c : *help)
        format += c == '%' ? std::string("%%") : std::string(1, c);
    }
    text_ += "  if (!" + condition + ") {\n" + before_ + "    strata_reject(" + cLiteral(check.getCode()) + ", " +
             cLiteral(format) + arguments + ");\n    return;\n  }\n";
  }

  /// The name of a C variable with the value. Empty when it does not follow from the arguments.
  std::string value(Value value) {
    if (auto known = names_.find(value); known != names_.end())
      return known->second;
    if (depth_ == mostDepth)
      return "";
    ++depth_;
    std::string expression = expressionOf(value), name;
    --depth_;
    if (!expression.empty()) {
      name = "v" + std::to_string(names_.size());
      text_ += "  const int64_t " + name + " = " + expression + ";\n";
    }
    names_[value] = name;
    return name;
  }

  std::string expressionOf(Value value) {
    Type type = value.getType();
    if (!type.isIndex() && !type.isInteger(64) && !type.isInteger(1))
      return "";
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() == &function_.getBody().front() ? "p" + std::to_string(argument.getArgNumber()) : "";
    Operation* op = value.getDefiningOp();
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return type.isInteger(1)             ? std::to_string(constant.getBoolValue())
             : constant.isMinSignedValue() ? "INT64_MIN"
                                           : "(int64_t)" + std::to_string(constant.getSExtValue());
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto dimension = dim.getConstantIndex();
      return dimension && *dimension >= 0 ? word(dim.getSource(), 1 + *dimension) : "";
    }
    // A base and an offset, then extents and strides as in the words.
    if (auto layout = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      return number >= 2 ? word(layout.getSource(), number - 1) : "";
    }
    if (isa<arith::DivSIOp>(op)) {
      std::string left = this->value(op->getOperand(0)), right = this->value(op->getOperand(1));
      return left.empty() || right.empty() ? "" : "strata_quotient(" + left + ", " + right + ")";
    }
    if (isa<arith::IndexCastOp>(op) && !op->getOperand(0).getType().isInteger(1))
      return this->value(op->getOperand(0));
    static const std::pair<StringRef, const char*> operators[] = {{"arith.addi", "+"}, {"arith.subi", "-"},
                                                                  {"arith.muli", "*"}, {"arith.andi", "&"},
                                                                  {"arith.ori", "|"},  {"arith.xori", "^"}};
    for (auto [name, text] : operators)
      if (op->getName().getStringRef() == name && !(type.isInteger(1) && StringRef("+-*").contains(text)))
        return binary(op, text);
    if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
      std::string left = this->value(op->getOperand(0)), right = this->value(op->getOperand(1));
      return left.empty() || right.empty()
                 ? ""
                 : left + (isa<arith::MinSIOp>(op) ? " < " : " > ") + right + " ? " + left + " : " + right;
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return comparison(compare);
    return "";
  }

  std::string binary(Operation* op, const char* text) {
    std::string left = value(op->getOperand(0)), right = value(op->getOperand(1));
    return left.empty() || right.empty() ? "" : left + " " + text + " " + right;
  }

  std::string comparison(arith::CmpIOp compare) {
    if (compare.getLhs().getType().isInteger(1))
      return "";
    switch (compare.getPredicate()) {
    case arith::CmpIPredicate::eq:
      return binary(compare, "==");
    case arith::CmpIPredicate::ne:
      return binary(compare, "!=");
    case arith::CmpIPredicate::slt:
      return binary(compare, "<");
    case arith::CmpIPredicate::sle:
      return binary(compare, "<=");
    case arith::CmpIPredicate::sgt:
      return binary(compare, ">");
    case arith::CmpIPredicate::sge:
      return binary(compare, ">=");
    default:
      return "";
    }
  }

  /// A word of an argument: its extents from 1 on, then its strides.
  std::string word(Value block, int64_t number) {
    auto argument = dyn_cast<BlockArgument>(block);
    auto type = dyn_cast<MemRefType>(block.getType());
    if (!argument || !type || argument.getOwner() != &function_.getBody().front() || number > 2 * type.getRank())
      return "";
    return "w" + std::to_string(argument.getArgNumber()) + "[" + std::to_string(number) + "]";
  }

  static constexpr unsigned mostDepth = 100; // operations behind each other

  func::FuncOp function_;
  std::string before_;
  unsigned depth_ = 0;
  llvm::DenseMap<Value, std::string> names_;
  std::string text_;
};

} // namespace

std::string entryChecks(func::FuncOp function, const std::string& before) {
  return Translation(function, before).run();
}

} // namespace strata::driver
