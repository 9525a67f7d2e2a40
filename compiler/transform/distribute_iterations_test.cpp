// The operations that distribute iterations, folded with numbers for what is known when a program runs, against
// machine::Shares: which instances have something to do, and which iterations each of them runs, in order.
#include "compiler/transform/distribute_iterations.h"

#include "mlir/IR/Matchers.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace strata;
using namespace strata::transform;
namespace svm = strata::svm;
using strata::machine::InstanceRange;
using strata::machine::Shares;

namespace {

/// A function of the bounds, the part and how many parts there are, with the operations that distribute so many
/// iterations at a time to so many allParts; and what it computes.
class Distributed {
public:
  Distributed(MLIRContext& context, int64_t allParts, int64_t chunk, bool asOne) : builder_(&context) {
    Location location = builder_.getUnknownLoc();
    module_ = ModuleOp::create(location);
    builder_.setInsertionPointToEnd(module_->getBody());
    Type index = builder_.getIndexType();
    auto function =
        builder_.create<func::FuncOp>(location, "f", builder_.getFunctionType({index, index, index, index}, {}));
    arguments_ = function.addEntryBlock();
    builder_.setInsertionPointToStart(arguments_);
    busy_ = busyInstances(builder_, location, argument(0), argument(1), chunk, allParts);
    inner_ = distributeIterations(builder_, location, argument(0), argument(1), chunk, argument(2), argument(3), asOne,
                                  iteration_);
    // Where the builder stands is behind the outermost loop.
    EXPECT_EQ(builder_.getInsertionBlock(), arguments_);
    outer_ = cast<scf::ForOp>(arguments_->back());
    EXPECT_TRUE(outer_ == inner_ || (!asOne && chunk > 0));
    EXPECT_EQ(inner_->hasAttr(svm::SvmDialect::nonEmptyAttr), outer_ != inner_);
  }

  int64_t busy(int64_t lower, int64_t upper) {
    known_.clear();
    set(0, lower), set(1, upper);
    return valueOf(busy_);
  }

  std::vector<int64_t> iterations(int64_t lower, int64_t upper, int64_t part, int64_t parts) {
    known_.clear();
    set(0, lower), set(1, upper), set(2, part), set(3, parts);
    run_.clear();
    run(outer_);
    return run_;
  }

private:
  BlockArgument argument(unsigned number) { return arguments_->getArgument(number); }
  void set(unsigned number, int64_t value) { known_[argument(number)] = value; }

  /// Folded, from the arguments on.
  int64_t valueOf(Value value) {
    if (auto found = known_.find(value); found != known_.end())
      return found->second;
    Operation* op = value.getDefiningOp();
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(builder_.getIndexAttr(valueOf(operand)));
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != 1) {
      ADD_FAILURE() << "not folded: " << op->getName().getStringRef().str();
      return 0;
    }
    if (auto same = dyn_cast<Value>(results.front()))
      return valueOf(same);
    return cast<IntegerAttr>(cast<Attribute>(results.front())).getInt();
  }

  void run(scf::ForOp loop) {
    const int64_t lower = valueOf(loop.getLowerBound()), upper = valueOf(loop.getUpperBound()),
                  step = valueOf(loop.getStep());
    ASSERT_GT(step, 0);
    EXPECT_TRUE(lower < upper || !loop->hasAttr(svm::SvmDialect::nonEmptyAttr));
    for (int64_t i = lower; i < upper;) {
      known_[loop.getInductionVar()] = i;
      if (loop == inner_)
        run_.push_back(valueOf(iteration_));
      else
        run(inner_);
      if (__builtin_add_overflow(i, step, &i))
        break;
    }
  }

  OpBuilder builder_;
  OwningOpRef<ModuleOp> module_;
  Block* arguments_ = nullptr;
  Value busy_, iteration_;
  scf::ForOp outer_, inner_;
  llvm::DenseMap<Value, int64_t> known_;
  std::vector<int64_t> run_;
};

class DealIterations : public testing::Test {
protected:
  DealIterations() {
    DialectRegistry registry;
    svm::registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  void compare(Distributed& distributed, int64_t lower, int64_t upper, int64_t allParts, int64_t chunk) {
    SCOPED_TRACE(testing::Message() << lower << " to " << upper << ", " << allParts << " allParts, chunk " << chunk);
    const int64_t count = Shares::iterations(lower, upper), busy = Shares::ofLoop(count, allParts, chunk).busy();
    ASSERT_EQ(distributed.busy(lower, upper), busy);
    for (int64_t parts : {busy, int64_t(1)}) // a reduction that must not be split has one part
      for (int64_t part = 0; part < std::min(parts, busy); ++part) {
        const Shares shares = Shares::ofLoop(count, parts, chunk);
        std::vector<int64_t> wanted;
        for (int64_t place = 0; place < shares.size(part); ++place)
          wanted.push_back(lower + shares.at(part, place));
        EXPECT_EQ(distributed.iterations(lower, upper, part, parts), wanted) << part << " of " << parts;
      }
  }

  MLIRContext context_;
};

TEST_F(DealIterations, AsTheClassSays) {
  for (bool asOne : {false, true})
    for (int64_t allParts = 1; allParts <= 5; ++allParts)
      for (int64_t chunk = 0; chunk <= 5; ++chunk) {
        Distributed distributed(context_, allParts, chunk, asOne);
        for (int64_t count = -1; count <= 14; ++count)
          for (int64_t lower : {int64_t(0), int64_t(-3)})
            compare(distributed, lower, lower + count, allParts, chunk);
      }
}

TEST_F(DealIterations, AtTheEndsOf64Bits) {
  for (bool asOne : {false, true})
    for (int64_t allParts = 1; allParts <= 4; ++allParts)
      for (int64_t chunk : {0, 1, 3}) {
        Distributed distributed(context_, allParts, chunk, asOne);
        for (int64_t count : {0, 1, 7, 13}) {
          compare(distributed, INT64_MAX - count, INT64_MAX, allParts, chunk);
          compare(distributed, INT64_MIN, INT64_MIN + count, allParts, chunk);
        }
        compare(distributed, INT64_MAX, INT64_MIN, allParts, chunk); // none, and far apart
      }
  // As many iterations as can be counted: in chunks that are so large that the first ones can be looked at.
  for (int64_t chunk : {int64_t(0), int64_t(1), int64_t(1) << 61, INT64_MAX}) {
    Distributed distributed(context_, 3, chunk, false);
    for (auto [lower, upper] : {std::pair<int64_t, int64_t>{0, INT64_MAX}, {INT64_MIN, -1}, {-5, INT64_MAX - 5}})
      EXPECT_EQ(distributed.busy(lower, upper), Shares::ofLoop(INT64_MAX, 3, chunk).busy()) << chunk;
  }
}

TEST_F(DealIterations, WhoTakesPartIsReadFromTheLoop) {
  OpBuilder builder(&context_);
  Location location = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = builder.create<func::FuncOp>(location, "f", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value bound = builder.create<arith::ConstantIndexOp>(location, 3);
  auto loop = builder.create<svm::ParallelOp>(location, ValueRange(bound), ValueRange(bound), ValueRange(), ArrayAttr(),
                                              StringAttr());
  loop.setProcessorAttr(FlatSymbolRefAttr::get(&context_, "core"));
  loop.setPartsAttr(builder.getDenseI64ArrayAttr({2}));
  EXPECT_FALSE(subsetOf(loop));
  loop->setAttr(svm::SvmDialect::subsetAttr, builder.getDenseI64ArrayAttr({4, 2}));
  EXPECT_EQ(subsetOf(loop), InstanceRange::of(4, 2));
  svm::InstancesOp on = makeInstances(builder, loop, bound);
  EXPECT_EQ(on.getProcessorAttr(), loop.getProcessorAttr());
  EXPECT_EQ(on.getParts(), 2U);
  EXPECT_EQ(subsetOf(on), subsetOf(loop));
  EXPECT_EQ(on.getUpper(), bound);
  EXPECT_TRUE(matchPattern(on.getLower(), m_Zero()));
  for (const std::vector<int64_t>& senseless : std::vector<std::vector<int64_t>>{{1}, {0, 0}, {-1, 2}, {1, 2, 3}}) {
    loop->setAttr(svm::SvmDialect::subsetAttr, builder.getDenseI64ArrayAttr(senseless));
    EXPECT_FALSE(subsetOf(loop));
  }
  loop->setAttr(svm::SvmDialect::subsetAttr,
                builder.getDenseI64ArrayAttr({INT64_MAX, 2})); // refused by who knows the class
  EXPECT_FALSE(InstanceRange::all(1 << 20).hasSubset(subsetOf(loop)->first(), subsetOf(loop)->width()));
}

} // namespace
