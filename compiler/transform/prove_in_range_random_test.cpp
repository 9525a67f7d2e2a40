// Random kernels over indices and small integers, executed for small sizes: no check that prove-in-range erased may
// fail, and nothing that prove-no-overflow marked may overflow. STRATA_RANDOM_KERNELS in the environment says how many
// kernels to try, STRATA_RANDOM_SEED where to begin.
#include "compiler/transform/prove_in_range_testing.h"
#include "compiler/transform/prove_no_overflow.h"

#include "mlir/IR/Matchers.h"
#include <cstdlib>
#include <map>
#include <random>
#include <set>

using namespace mlir;
namespace svm = strata::svm;
using Context = strata::transform::ProveInRangeContext;

namespace {

const std::string randomVectorType = "memref<?xf32, strided<[1], offset: ?>>";

/// Writes kernels over index and i8 values. Small integers make overflow common.
class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string kernel() {
    std::string text =
        "svm.kernel @k(%A : " + randomVectorType + " {svm.access = \"read\"}, %B : " + randomVectorType +
        " {svm.access = \"read\"}, %C : " + randomVectorType +
        " {svm.access = \"read\"}, %s : index, %w : i8, %x : i8) attributes {extents = "
        "[affine_map<()[s0, s1] -> (s0)>, affine_map<()[s0, s1] -> (s1)>, affine_map<()[s0, s1] -> (s0 + s1 - "
        "1)>, affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]} {\n"
        "%zero = arith.constant 0 : index\n%no = arith.constant false\n%yes = arith.constant true\n";
    for (const char* array : {"A", "B", "C"}) {
      text += std::string("%n") + array + " = memref.dim %" + array + ", %zero : " + randomVectorType + "\n";
      extents_.push_back(std::string("%n") + array);
    }
    indices_ = extents_;
    indices_.insert(indices_.end(), {"%zero", "%s"});
    bytes_ = {"%w", "%x"};
    return text + block(0) + "svm.return\n}\n";
  }

private:
  int pick(int count) { return static_cast<int>(random_() % count); }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  const std::string& one(const std::vector<std::string>& values) {
    // Recent values are more interesting.
    return values[values.size() - 1 - std::min(pick(values.size()), pick(values.size()))];
  }

  std::string constant(std::string& name, const char* type, int from, int to) {
    name = fresh();
    return name + " = arith.constant " + std::to_string(from + pick(to - from + 1)) + " : " + type + "\n";
  }

  std::string value() {
    bool wide = pick(3) != 0;
    const char* type = wide ? "index" : "i8";
    std::vector<std::string>& values = wide ? indices_ : bytes_;
    std::string name = fresh(), right, text;
    if (pick(2))
      text = constant(right, type, wide ? 0 : -5, 5);
    else
      right = one(values);
    std::string left = one(values);
    static const char* simple[] = {"addi", "subi", "addi", "subi", "muli", "shli"};
    static const char* others[] = {"divsi", "divui",      "remsi",     "remui", "minsi", "maxsi", "minui",    "maxui",
                                   "andi",  "floordivsi", "ceildivsi", "shrsi", "shrui", "ori",   "ceildivui"};
    switch (pick(6)) {
    case 0:
    case 1:
    case 2:
      text += name + " = arith." + simple[pick(6)] + " " + left + ", " + right + " : " + type + "\n";
      break;
    case 3:
      text += name + " = arith." + others[pick(15)] + " " + left + ", " + right + " : " + type + "\n";
      break;
    case 4: {
      std::string truth;
      text += condition(truth, 1);
      text += name + " = arith.select " + truth + ", " + left + ", " + right + " : " + type + "\n";
      break;
    }
    default: {
      const char* cast = pick(2) ? "index_cast" : "index_castui";
      wide = !wide;
      text += name + " = arith." + cast + " " + (wide ? one(bytes_) : one(indices_)) +
              (wide ? " : i8 to index\n" : " : index to i8\n");
      (wide ? indices_ : bytes_).push_back(name);
      return text;
    }
    }
    values.push_back(name);
    return text;
  }

  std::string condition(std::string& name, int depth) {
    if (depth < 2 && pick(3) == 0) {
      std::string left, right, text = condition(left, depth + 1) + condition(right, depth + 1);
      name = fresh();
      switch (pick(4)) {
      case 0:
        return text + name + " = arith.andi " + left + ", " + right + " : i1\n";
      case 1:
        return text + name + " = arith.ori " + left + ", " + right + " : i1\n";
      case 2:
        return text + name + " = arith.xori " + left + ", %yes : i1\n";
      default:
        return text + name + " = scf.if " + left + " -> (i1) {\nscf.yield " + (pick(2) ? right : "%no") +
               " : i1\n} else {\nscf.yield " +
               (pick(2)   ? "%no"
                : pick(2) ? "%yes"
                          : right) +
               " : i1\n}\n";
      }
    }
    static const char* predicates[] = {"slt", "sle", "sgt", "sge", "eq", "ne", "ult", "ule", "ugt", "uge"};
    name = fresh();
    bool wide = pick(3) != 0;
    const std::vector<std::string>& values = wide ? indices_ : bytes_;
    return name + " = arith.cmpi " + predicates[pick(10)] + ", " + one(values) + ", " + one(values) +
           (wide ? " : index\n" : " : i8\n");
  }

  std::string nested(int depth) {
    auto indices = indices_, bytes = bytes_;
    std::string text = block(depth + 1);
    indices_ = indices;
    bytes_ = bytes;
    return text;
  }

  std::string block(int depth) {
    std::string text;
    for (int count = 2 + pick(4); count > 0; --count) {
      int choice = pick(10);
      if (choice < 4) {
        text += value();
      } else if (choice < 7) {
        text += "svm.index " + one(indices_) + " in " + (pick(5) ? extents_[pick(3)] : one(indices_)) +
                " of \"A\", 0 {id = " + std::to_string(nextCheck_++) + " : i64}\n";
      } else if (choice == 7 && pick(3) == 0) {
        std::string truth;
        text += condition(truth, 0);
        text += "svm.check " + truth + ", \"a\", \"b\"\n";
      } else if (depth < 4 && choice == 8) {
        std::string truth;
        text += condition(truth, 0);
        text += "scf.if " + truth + " {\n" + nested(depth);
        text += "} else {\n" + nested(depth) + "}\n";
      } else if (depth < 4) {
        bool wide = pick(4) != 0;
        std::string step, variable = fresh();
        const char* type = wide ? "index" : "i8";
        text += constant(step, type, 1, pick(3) ? 1 : 4);
        if (wide && pick(10) == 0)
          step = one(indices_);
        std::vector<std::string>& values = wide ? indices_ : bytes_;
        std::string lower = wide && pick(2) ? "%zero" : one(values),
                    upper = wide && pick(2) ? extents_[pick(3)] : one(values);
        values.push_back(variable);
        text += "scf.for " + variable + " = " + lower + " to " + upper + " step " + step + (wide ? "" : " : i8") +
                " {\n" + nested(depth) + "}\n";
        values.pop_back();
      }
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<std::string> extents_, indices_, bytes_;
  int next_ = 0, nextCheck_ = 0;
};

/// Executes a kernel of the generator's and notes which checks fail, by their ids, and whether an operation with nsw
/// overflows.
class Execution {
public:
  Execution(svm::KernelOp kernel, int64_t n, int64_t m, ArrayRef<int64_t> scalars) : kernel_(kernel), n_(n), m_(m) {
    for (auto [position, scalar] : llvm::enumerate(scalars)) {
      BlockArgument argument = kernel.getBody().getArgument(3 + position);
      values_[argument] = APInt(width(argument), scalar, true);
    }
  }
  std::set<int64_t> failures() {
    run(kernel_.getBody().front());
    return failed_;
  }
  bool hasOverflowed() const { return hasOverflowed_; }

private:
  static unsigned width(Value value) {
    return value.getType().isIndex() ? 64 : value.getType().getIntOrFloatBitWidth();
  }

  /// False when the execution has ended.
  bool run(Block& block) {
    for (Operation& op : block.without_terminator())
      if (++steps_ > 20000 || !run(op))
        return false;
    return true;
  }

  bool run(Operation& op) {
    APInt constant;
    if (matchPattern(&op, m_ConstantInt(&constant))) {
      values_[op.getResult(0)] = constant;
      return true;
    }
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      int64_t extents[] = {n_, m_, n_ + m_ - 1};
      values_[dim.getResult()] = APInt(64, extents[cast<BlockArgument>(dim.getSource()).getArgNumber()], true);
      return true;
    }
    SmallVector<APInt> operands;
    for (Value operand : op.getOperands()) {
      const std::optional<APInt>& value = values_.at(operand);
      if (!value && (op.getNumRegions() || op.getNumResults() == 0))
        return false;
      if (!value && !isa<arith::SelectOp>(op)) {
        values_[op.getResult(0)] = std::nullopt;
        return true;
      }
      operands.push_back(value.value_or(APInt(width(operand), 0)));
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (APInt variable = operands[0]; variable.slt(operands[1]); variable += operands[2]) {
        values_[loop.getInductionVar()] = variable;
        if (++steps_ > 20000 || !run(*loop.getBody()))
          return false;
      }
      return true;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Block* taken = operands[0].isOne() ? branch.thenBlock() : branch.elseBlock();
      if (taken && !run(*taken))
        return false;
      for (auto [result, yielded] :
           llvm::zip(branch.getResults(), taken ? taken->getTerminator()->getOperands() : ValueRange()))
        values_[result] = values_.at(yielded);
      return true;
    }
    if (auto check = dyn_cast<svm::IndexOp>(op)) {
      if (operands[0].isNegative() || operands[0].sge(operands[1])) {
        failed_.insert(check->getAttrOfType<IntegerAttr>("id").getInt());
        return false;
      }
      return true;
    }
    if (isa<svm::CheckOp>(op))
      return operands[0].isOne();
    return compute(op, operands);
  }

  bool compute(Operation& op, ArrayRef<APInt> operands) {
    std::optional<APInt>& result = values_[op.getResult(0)];
    StringRef name = op.getName().getStringRef();
    name.consume_front("arith.");
    unsigned bits = width(op.getResult(0));
    const APInt& a = operands[0];
    if (name == "index_cast")
      result = a.sextOrTrunc(bits);
    else if (name == "index_castui")
      result = a.zextOrTrunc(bits);
    else if (name == "select")
      result = values_.at(op.getOperand(a.isOne() ? 1 : 2));
    if (operands.size() != 2)
      return true;
    const APInt& b = operands[1];
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      result = APInt(1, arith::applyCmpPredicate(compare.getPredicate(), a, b));
      return true;
    }
    bool overflows = false;
    if (name.contains("div") || name.contains("rem")) {
      // Dividing by 0 ends the program; the smallest number by -1 does not fit.
      if (b.isZero() || (b.isAllOnes() && a.isMinSignedValue()))
        return false;
    }
    if (name == "addi")
      result = a.sadd_ov(b, overflows);
    else if (name == "subi")
      result = a.ssub_ov(b, overflows);
    else if (name == "muli")
      result = a.smul_ov(b, overflows);
    else if (name == "shli")
      result = b.uge(bits) ? std::optional<APInt>() : std::optional(a.sshl_ov(b, overflows));
    else if (name == "shrsi")
      result = b.uge(bits) ? std::optional<APInt>() : std::optional(a.ashr(b));
    else if (name == "shrui")
      result = b.uge(bits) ? std::optional<APInt>() : std::optional(a.lshr(b));
    else if (name == "divsi")
      result = a.sdiv(b);
    else if (name == "divui")
      result = a.udiv(b);
    else if (name == "remsi")
      result = a.srem(b);
    else if (name == "remui")
      result = a.urem(b);
    else if (name == "floordivsi")
      result = llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN);
    else if (name == "ceildivsi")
      result = llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::UP);
    else if (name == "ceildivui")
      result = llvm::APIntOps::RoundingUDiv(a, b, APInt::Rounding::UP);
    else if (name == "minsi")
      result = llvm::APIntOps::smin(a, b);
    else if (name == "maxsi")
      result = llvm::APIntOps::smax(a, b);
    else if (name == "minui")
      result = llvm::APIntOps::umin(a, b);
    else if (name == "maxui")
      result = llvm::APIntOps::umax(a, b);
    else if (name == "andi")
      result = a & b;
    else if (name == "ori")
      result = a | b;
    else if (name == "xori")
      result = a ^ b;
    else
      ADD_FAILURE() << "cannot execute " << name.str();
    auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
    if (flags && bitEnumContainsAll(flags.getOverflowAttr().getValue(), arith::IntegerOverflowFlags::nsw)) {
      if (name == "shli" && result)
        overflows = a.shl(b).ashr(b) != a;
      hasOverflowed_ |= overflows;
    }
    if (name == "shli" && result)
      result = a.shl(b);
    return true;
  }

  svm::KernelOp kernel_;
  int64_t n_, m_;
  struct Less {
    bool operator()(Value a, Value b) const { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }
  };
  std::map<Value, std::optional<APInt>, Less> values_;
  std::set<int64_t> failed_;
  bool hasOverflowed_ = false;
  int steps_ = 0;
};

TEST(ProveInRange, NoErasedCheckFails) {
  int checks = 0, remaining = 0, failing = 0, sums = 0, marked = 0;
  auto number = [](const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text ? std::atoi(text) : otherwise;
  };
  int first = number("STRATA_RANDOM_SEED", 0), end = first + number("STRATA_RANDOM_KERNELS", 600);
  for (int seed = first; seed < end; ++seed) {
    Context context;
    std::string text = Generator(seed).kernel();
    OwningOpRef<ModuleOp> before = context.parse(text), after = context.parse(text);
    ASSERT_TRUE(before && after);
    context.prove(*after);
    std::set<int64_t> left, failed;
    after->walk([&](svm::IndexOp check) { left.insert(check->getAttrOfType<IntegerAttr>("id").getInt()); });
    before->walk([&](svm::IndexOp) { ++checks; });
    PassManager marks(&context.context);
    marks.addPass(strata::transform::createProveNoOverflowPass());
    ASSERT_TRUE(succeeded(marks.run(*before)));
    before->walk([&](arith::ArithIntegerOverflowFlagsInterface sum) {
      ++sums;
      marked += sum.hasNoSignedWrap();
    });
    svm::KernelOp kernel = *before->getOps<svm::KernelOp>().begin();
    std::mt19937 random(seed);
    for (int64_t n : {0, 1, 2, 5, 140})
      for (int64_t m : {0, 1, 3, 300}) {
        if (n + m == 0)
          continue; // the third extent would be -1
        for (int trial = 0; trial < 3; ++trial) {
          int64_t scalars[] = {static_cast<int64_t>(random() % 12) - 4, static_cast<int8_t>(random()),
                               static_cast<int8_t>(random() % 8)};
          if (trial == 0)
            scalars[0] = random() % 2 ? INT64_MAX - int64_t(random() % 3) : INT64_MIN + int64_t(random() % 3);
          Execution execution(kernel, n, m, scalars);
          const std::set<int64_t> failures = execution.failures();
          ASSERT_FALSE(execution.hasOverflowed())
              << "what is marked overflows for N = " << n << ", M = " << m << ", s = " << scalars[0]
              << ", w = " << scalars[1] << ", x = " << scalars[2] << "; seed " << seed << "\n"
              << text;
          for (int64_t id : failures) {
            failed.insert(id);
            ASSERT_TRUE(left.contains(id))
                << "check " << id << " fails for N = " << n << ", M = " << m << ", s = " << scalars[0]
                << ", w = " << scalars[1] << ", x = " << scalars[2] << " and was erased; seed " << seed << "\n"
                << text;
          }
        }
      }
    remaining += static_cast<int>(left.size());
    failing += static_cast<int>(failed.size());
  }
  RecordProperty("checks", checks);
  RecordProperty("erased", checks - remaining);
  RecordProperty("failing", failing);
  // The kernels are worth something: many checks fail, and many are proved.
  EXPECT_GT(failing, checks / 10);
  EXPECT_GT(checks - remaining, checks / 10);
  // Of indices few are known to be far from the ends of their type.
  EXPECT_GT(marked, sums / 10);
}

} // namespace
