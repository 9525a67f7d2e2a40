// Indices become sums of products; what varies with a loop has a factor that is a stride, perhaps times a small number;
// the strides of all accesses to an array, sorted, are its dimensions.
#include "compiler/mapping/footprint.h"

#include "compiler/ir/speculation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

namespace {

/// A constant from which on a factor is a stride, where smaller ones are there too.
constexpr int64_t leastStride = 8;
/// Terms that a sum may have, and operations that an index may be deep.
constexpr size_t mostTerms = 64;
constexpr unsigned mostDepth = 200;

class FootprintFinder {
public:
  FootprintFinder(KernelOp kernel, ArrayRef<unsigned> ranges, FootprintProblem& problem)
      : kernel_(kernel), ranges_(ranges), problem_(problem) {}

  std::optional<Footprint> run() {
    if (!findInstances() || !findAccesses())
      return std::nullopt;
    for (Box& box : footprint_.boxes)
      if (!takeApart(box))
        return std::nullopt;
    return std::move(footprint_);
  }

private:
  bool refuse(const std::string& what, Operation* at) {
    problem_.what = what;
    problem_.place = at->getLoc();
    return false;
  }

  // ---- loops ----

  bool findInstances() {
    Block* body = &kernel_.getBody().front();
    for (;;) {
      scf::ForOp next;
      for (Operation& op : *body)
        if (auto loop = dyn_cast<scf::ForOp>(op); loop && SvmDialect::unorderedAttr.isOn(loop))
          next = loop;
      if (!next)
        break;
      footprint_.instances.push_back(next);
      body = next.getBody();
    }
    if (footprint_.instances.size() != ranges_.size() || footprint_.instances.empty())
      return refuse("a body that is no nest of instances", kernel_);
    for (auto [loop, range] : llvm::zip(footprint_.instances, ranges_))
      if (loop.getLowerBound() != kernel_.getBody().getArgument(range) ||
          loop.getUpperBound() != kernel_.getBody().getArgument(range + 1))
        return refuse("instances that are no range", loop);
    return true;
  }

  /// Makes the range of a loop's variable known, which its bounds give.
  bool enter(scf::ForOp loop, unsigned depth) {
    if (isInstanceLoop(loop) || llvm::is_contained(footprint_.inner, loop))
      return true;
    if (!readBound(loop.getLowerBound(), depth) || !readBound(loop.getUpperBound(), depth))
      return false;
    footprint_.inner.push_back(loop);
    return true;
  }

  bool readBound(Value bound, unsigned depth) {
    if (auto sum = sumOf(bound, depth)) {
      footprint_.bounds[bound] = *sum;
      return true;
    }
    Operation* op = bound.getDefiningOp();
    return op && depth < mostDepth && isa<arith::MinSIOp, arith::MaxSIOp>(op) &&
           readBound(op->getOperand(0), depth + 1) && readBound(op->getOperand(1), depth + 1);
  }

  bool isInstanceLoop(Operation* op) const {
    return llvm::any_of(footprint_.instances, [&](scf::ForOp loop) { return loop == op; });
  }

  // ---- sums ----

  bool isParameter(Value value, unsigned depth = 0) {
    if (const auto known = isParameter_.find(value); known != isParameter_.end())
      return known->second;
    bool is = false;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      is = argument.getOwner()->getParentOp() == kernel_.getOperation() && value.getType().isIntOrIndex() &&
           llvm::none_of(ranges_, [&](unsigned range) {
             return argument.getArgNumber() == range || argument.getArgNumber() == range + 1;
           });
    } else if (Operation* op = value.getDefiningOp(); depth < mostDepth && value.getType().isIntOrIndex()) {
      is = op->getNumRegions() == 0 && op->getNumResults() == 1 && canExecuteAnywhere(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isParameter(operand, depth + 1); });
    }
    return isParameter_[value] = is;
  }

  unsigned numberOf(Value value) { return numbers_.try_emplace(value, numbers_.size()).first->second; }

  bool isBefore(const IndexTerm& left, const IndexTerm& right) {
    const auto key = [&](const IndexTerm& term) {
      SmallVector<unsigned> numbers;
      for (Value each : term.parameters)
        numbers.push_back(numberOf(each));
      return std::pair(term.variable ? numberOf(term.variable) + 1 : 0, numbers);
    };
    return key(left) < key(right);
  }

  static bool isAlike(const IndexTerm& left, const IndexTerm& right) {
    return left.variable == right.variable && left.parameters == right.parameters;
  }

  void add(IndexSum& sum, const IndexSum& other, int64_t factor) {
    for (const IndexTerm& term : other) {
      auto found = llvm::find_if(sum, [&](const IndexTerm& own) { return isAlike(own, term); });
      const auto added = static_cast<int64_t>(static_cast<uint64_t>(term.factor) * static_cast<uint64_t>(factor));
      if (found != sum.end()) {
        found->factor = static_cast<int64_t>(static_cast<uint64_t>(found->factor) + static_cast<uint64_t>(added));
      } else {
        sum.push_back(term);
        sum.back().factor = added;
      }
    }
    llvm::erase_if(sum, [](const IndexTerm& term) { return term.factor == 0; });
    llvm::sort(sum, [&](const IndexTerm& left, const IndexTerm& right) { return isBefore(left, right); });
  }

  std::optional<IndexSum> product(const IndexSum& left, const IndexSum& right) {
    IndexSum sum;
    for (const IndexTerm& one : left)
      for (const IndexTerm& other : right) {
        if (one.variable && other.variable)
          return std::nullopt;
        IndexTerm term{static_cast<int64_t>(static_cast<uint64_t>(one.factor) * static_cast<uint64_t>(other.factor)),
                       one.parameters, one.variable ? one.variable : other.variable};
        llvm::append_range(term.parameters, other.parameters);
        llvm::sort(term.parameters, [&](Value a, Value b) { return numberOf(a) < numberOf(b); });
        add(sum, {term}, 1);
      }
    return sum;
  }

  /// An integer with its sign, in 64 bits. Nothing where it is not a sum of what is known.
  std::optional<IndexSum> sumOf(Value value, unsigned depth = 0) {
    if (const auto known = sums_.find(value); known != sums_.end())
      return known->second;
    std::optional<IndexSum> sum = depth < mostDepth ? computeSum(value, depth + 1) : std::nullopt;
    if (!sum && isParameter(value)) {
      numberOf(value);
      sum = IndexSum{{1, {value}, {}}};
    }
    if (sum && sum->size() > mostTerms)
      sum.reset();
    return sums_[value] = sum;
  }

  std::optional<IndexSum> computeSum(Value value, unsigned depth) {
    if (!value.getType().isIntOrIndex())
      return std::nullopt;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.isZero() ? IndexSum() : IndexSum{{constant.getSExtValue(), {}, {}}};
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || loop.getInductionVar() != value || !value.getType().isIndex() || !enter(loop, depth))
        return std::nullopt;
      numberOf(value);
      return IndexSum{{1, {}, value}};
    }
    Operation* op = value.getDefiningOp();
    const auto bitsOf = [](Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); };
    const unsigned bits = bitsOf(value.getType());
    if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
      auto sum = sumOf(op->getOperand(0), depth);
      if (sum && bitsOf(op->getOperand(0).getType()) > bits)
        footprint_.narrow.emplace_back(*sum, bits);
      return sum;
    }
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      return std::nullopt;
    auto flags = cast<arith::ArithIntegerOverflowFlagsInterface>(op);
    if (bits < 64 && !flags.hasNoSignedWrap())
      return std::nullopt;
    auto left = sumOf(op->getOperand(0), depth), right = sumOf(op->getOperand(1), depth);
    if (!left || !right)
      return std::nullopt;
    if (isa<arith::MulIOp>(op))
      return product(*left, *right);
    add(*left, *right, isa<arith::SubIOp>(op) ? -1 : 1);
    return left;
  }

  // ---- accesses ----

  bool findAccesses() {
    Block& body = kernel_.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type)
        continue;
      if (type.getRank() > 1)
        return refuse("an array of several dimensions", kernel_);
      Box box;
      box.argument = argument.getArgNumber();
      for (Operation* user : argument.getUsers()) {
        auto store = dyn_cast<memref::StoreOp>(user);
        if (!isa<memref::LoadOp>(user) && !(store && store.getMemRef() == argument))
          return refuse("an array that is reached as a whole", user);
        (store ? box.isWritten : box.isRead) = true;
        BoxAccess access;
        access.op = user;
        access.isStore = bool(store);
        access.isCertain = isInstanceLoop(user->getParentOp());
        box.accesses.push_back(std::move(access));
      }
      if (!box.accesses.empty())
        footprint_.boxes.push_back(std::move(box));
    }
    return true;
  }

  static Value indexOf(Operation* op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    ValueRange indices = load ? load.getIndices() : cast<memref::StoreOp>(op).getIndices();
    return indices.empty() ? Value() : indices.front();
  }

  // ---- dimensions ----

  bool takeApart(Box& box) {
    std::vector<IndexSum> sums;
    for (BoxAccess& access : box.accesses) {
      Value index = indexOf(access.op);
      if (!index)
        continue;
      auto sum = sumOf(index);
      if (!sum && box.isWritten)
        return refuse("an array that it writes at indices that are no sums of products of its instances and arguments",
                      access.op);
      if (!sum) {
        box.isWhole = true;
        box.strides = {{1, {}, {}}};
        return true;
      }
      sums.push_back(std::move(*sum));
    }
    if (sums.empty()) // a single element
      return true;
    if (!findStrides(box, sums)) {
      box.isWhole = !box.isWritten;
      box.strides = {{1, {}, {}}};
      return box.isWhole;
    }
    for (auto [access, sum] : llvm::zip(box.accesses, sums)) {
      access.coordinates = coordinatesOf(box, sum);
      findClips(access);
    }
    return true;
  }

  static bool includes(ArrayRef<Value> all, ArrayRef<Value> some) {
    SmallVector<Value> left(all);
    return llvm::all_of(some, [&](Value value) {
      auto found = llvm::find(left, value);
      if (found == left.end())
        return false;
      left.erase(found);
      return true;
    });
  }

  bool findStrides(Box& box, const std::vector<IndexSum>& sums) {
    std::vector<int64_t> constants;
    std::vector<IndexTerm> products;
    for (const IndexSum& sum : sums)
      for (const IndexTerm& term : sum) {
        if (!term.variable || term.factor == std::numeric_limits<int64_t>::min())
          continue;
        const int64_t factor = std::abs(term.factor);
        if (term.parameters.empty()) {
          constants.push_back(factor);
          continue;
        }
        auto found = llvm::find_if(products, [&](const IndexTerm& each) { return each.parameters == term.parameters; });
        if (found == products.end())
          products.push_back({factor, term.parameters, {}});
        else
          found->factor = std::gcd(found->factor, factor);
      }
    llvm::sort(constants);
    std::vector<IndexTerm> strides{{1, {}, {}}};
    for (int64_t each : constants)
      if (each >= leastStride && each > constants.front() && each > strides.back().factor &&
          each % strides.back().factor == 0)
        strides.push_back({each, {}, {}});
    llvm::sort(products, [&](const IndexTerm& left, const IndexTerm& right) {
      return left.parameters.size() != right.parameters.size() ? left.parameters.size() < right.parameters.size()
                                                               : isBefore(left, right);
    });
    for (const IndexTerm& each : products) {
      while (strides.size() > 1 && strides.back().parameters.empty() && each.factor % strides.back().factor != 0)
        strides.pop_back();
      if (each.factor % strides.back().factor != 0 || !includes(each.parameters, strides.back().parameters) ||
          each.parameters == strides.back().parameters)
        return refuse("indices with strides that are no multiples of each other", box.accesses.front().op);
      strides.push_back(each);
    }
    box.strides.assign(strides.rbegin(), strides.rend());
    return true;
  }

  std::vector<IndexSum> coordinatesOf(const Box& box, const IndexSum& sum) {
    std::vector<IndexSum> coordinates(box.strides.size());
    for (IndexTerm term : sum)
      for (auto [dimension, stride] : llvm::enumerate(box.strides)) {
        if (!includes(term.parameters, stride.parameters))
          continue;
        const bool isConstant = !term.variable && term.parameters.size() == stride.parameters.size();
        int64_t times = term.factor / stride.factor;
        if (term.factor % stride.factor != 0) {
          if (!isConstant)
            continue;
          // To the nearest: a row up and one to the right is -stride + 1.
          times = (term.factor + (term.factor < 0 ? -stride.factor : stride.factor) / 2) / stride.factor;
        }
        IndexTerm part{times, {}, term.variable};
        SmallVector<Value, 2> used(stride.parameters);
        for (Value parameter : term.parameters)
          if (auto* found = llvm::find(used, parameter); found != used.end())
            used.erase(found);
          else
            part.parameters.push_back(parameter);
        if (times)
          add(coordinates[dimension], {part}, 1);
        term.factor -= times * stride.factor;
        if (!term.factor)
          break;
      }
    return coordinates;
  }

  // ---- guards ----

  void findClips(BoxAccess& access) {
    Operation* inside = access.op;
    for (Operation* around = inside->getParentOp(); around != kernel_.getOperation();
         inside = around, around = around->getParentOp())
      if (auto choice = dyn_cast<scf::IfOp>(around))
        clip(access, choice.getCondition(), inside->getParentRegion() == &choice.getThenRegion());
  }

  void clip(BoxAccess& access, Value condition, bool holds) {
    Operation* op = condition.getDefiningOp();
    if (!op)
      return;
    if (holds && isa<arith::AndIOp>(op)) {
      clip(access, op->getOperand(0), true);
      clip(access, op->getOperand(1), true);
    } else if (auto select = dyn_cast<arith::SelectOp>(op);
               select && holds && matchPattern(select.getFalseValue(), m_Zero())) {
      clip(access, select.getCondition(), true);
      clip(access, select.getTrueValue(), true);
    } else if (auto compared = dyn_cast<arith::CmpIOp>(op)) {
      clip(access, compared.getLhs(), holds ? compared.getPredicate() : arith::invertPredicate(compared.getPredicate()),
           compared.getRhs());
    }
  }

  void clip(BoxAccess& access, Value left, arith::CmpIPredicate predicate, Value right) {
    using Is = arith::CmpIPredicate;
    auto first = sumOf(left), second = sumOf(right);
    if (!first || !second)
      return;
    // As differences that are at most 0: first - second + 1 where it is below.
    const auto less = [&](const IndexSum& low, const IndexSum& high, int64_t by, std::optional<IndexSum> onlyIf = {}) {
      IndexSum difference = low;
      add(difference, high, -1);
      if (by)
        add(difference, {{by, {}, {}}}, 1);
      clip(access, difference, onlyIf);
    };
    switch (predicate) {
    case Is::slt:
      return less(*first, *second, 1);
    case Is::sle:
      return less(*first, *second, 0);
    case Is::sgt:
      return less(*second, *first, 1);
    case Is::sge:
      return less(*second, *first, 0);
    case Is::eq:
      less(*first, *second, 0);
      return less(*second, *first, 0);
    case Is::ult: // what is not negative is above what is not negative and below
      less(*first, *second, 1, second);
      return less({}, *first, 0, second);
    case Is::ule:
      less(*first, *second, 0, second);
      return less({}, *first, 0, second);
    case Is::ugt:
      less(*second, *first, 1, first);
      return less({}, *second, 0, first);
    case Is::uge:
      less(*second, *first, 0, first);
      return less({}, *second, 0, first);
    default:
      return;
    }
  }

  /// `difference` <= 0.
  void clip(BoxAccess& access, const IndexSum& difference, const std::optional<IndexSum>& onlyIf) {
    if (onlyIf && llvm::any_of(*onlyIf, [](const IndexTerm& term) { return bool(term.variable); }))
      return;
    for (auto [dimension, coordinate] : llvm::enumerate(access.coordinates)) {
      if (!llvm::any_of(coordinate, [](const IndexTerm& term) { return bool(term.variable); }))
        continue;
      for (bool isUpper : {true, false}) {
        // coordinate - difference, or coordinate + difference, has no variables where the two go together.
        IndexSum bound = coordinate;
        add(bound, difference, isUpper ? -1 : 1);
        if (!llvm::any_of(bound, [](const IndexTerm& term) { return bool(term.variable); }))
          access.clips.push_back({static_cast<unsigned>(dimension), isUpper, bound, onlyIf});
      }
    }
  }

  KernelOp kernel_;
  ArrayRef<unsigned> ranges_;
  FootprintProblem& problem_;
  Footprint footprint_;
  llvm::DenseMap<Value, bool> isParameter_;
  llvm::DenseMap<Value, std::optional<IndexSum>> sums_;
  llvm::DenseMap<Value, unsigned> numbers_;
};

} // namespace

std::optional<Footprint> footprintOf(KernelOp kernel, ArrayRef<unsigned> ranges, FootprintProblem& problem) {
  return FootprintFinder(kernel, ranges, problem).run();
}

} // namespace strata::mapping
