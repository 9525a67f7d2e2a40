// One kernel at a time: its order, its storage, its phases, their loops, and what runs them. See lower_equations.h.
#include "compiler/equations/dialect/lower_equations.h"

#include "compiler/equations/dialect/loops.h"
#include "compiler/equations/dialect/system_of.h"
#include "compiler/equations/dialect/write_equations.h"
#include "compiler/equations/phases.h"
#include "compiler/ir/passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>
#include <optional>
#include <set>

namespace strata::equations {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Value;

namespace {

/// Into how many times as many parts as there are processors iterations go that have unequally much to do.
constexpr int64_t unevenParts = 4;
/// What numbers of iterations are cut to, so that products of two of them are exact.
constexpr int64_t mostCounted = int64_t{1} << 30;

class KernelLowering {
public:
  /// `system` holds what the operation's equations use of each other, one for one.
  KernelLowering(svm::EquationsOp equations, svm::KernelOp kernel, System system, Division& division)
      : equations_(equations), kernel_(kernel), name_(kernel.getName()), system_(std::move(system)),
        division_(division), polyhedra_(system_.iterators.size(), system_.parameters.size()) {
    for (svm::EquationOp equation : equations.getBody().getOps<svm::EquationOp>())
      roots_.push_back(equation);
    for (uint32_t i = 0; i < system_.variables.size(); ++i)
      if (system_.variables[i].role == Role::Internal)
        numbers_[system_.variables[i].name] = i;
  }

  mlir::LogicalResult run(mlir::ModuleOp module) {
    const std::vector<Flow> all = flows(system_, polyhedra_);
    Circle circle;
    std::optional<std::vector<Time>> times = order(system_, polyhedra_, all, circle);
    if (!times)
      return roots_[circle.equations.front()].emitError(
          "waits for itself: no order is found that computes every value before it is used");
    times_ = std::move(*times);
    storage_ = planStorage(system_, polyhedra_, times_, all);
    for (svm::RunOp run : runs(module))
      sites_.emplace_back(run, run->getPrevNode());
    const bool mayDivide = division_.processors > 0 && !sites_.empty() && !system_.equations.empty() &&
                           llvm::all_of(sites_, [](const auto& each) { return mayBeDivided(each.first); });
    if (!mayDivide || !divide(module, all))
      lower(module, all, {undivided()});
    if (limit_.isBroken())
      return kernel_.emitError("computes its iterations with numbers of more than 64 bits");
    for (auto [run, before] : sites_) {
      checkSizes(run, before);
      run.erase();
    }
    kernel_.erase();
    return mlir::success();
  }

private:
  /// False, and nothing has happened, where dividing is more than isl computes with.
  bool divide(mlir::ModuleOp module, const std::vector<Flow>& flows) {
    try {
      polyhedra_.restart();
      lower(module, flows, planPhases(system_, polyhedra_, times_, flows, storage_));
      return true;
    } catch (const isl::exception&) {
      polyhedra_.restart();
    }
    for (auto [run, before] : sites_)
      while (run->getPrevNode() != before)
        run->getPrevNode()->erase();
    for (auto& [phase, leaf] : leaves_)
      if (leaf.kernel)
        leaf.kernel.erase();
    leaves_.clear();
    division_.divided.erase(name_);
    return false;
  }

  /// The kernels of these phases, and in front of each run of the old one what runs them.
  void lower(mlir::ModuleOp module, const std::vector<Flow>& flows, std::vector<Phase> phases) {
    phases_ = std::move(phases);
    outlives_ = outliving(system_, polyhedra_, times_, flows, phases_);
    limit_ = {};
    unsigned steps = 0;
    makeLeaves(module, phases_, steps);
    // Behind the sizes: the steps around a phase, and where a part begins and ends.
    wide_.emplace(system_.iterators.size(), system_.parameters.size() + steps + 2);
    begin_ = system_.parameters.size() + steps;
    for (auto [run, before] : sites_)
      lowerRun(run);
    for (auto& [phase, leaf] : leaves_)
      makeKernel(leaf);
  }

  /// A phase that is one kernel.
  struct Leaf {
    const Phase* phase = nullptr;
    std::string name;
    std::vector<uint32_t> blocks; // variables that it is given memory for, behind the arguments of the equations' own
    std::vector<Reach> reaches;   // of the steps around it, and of where a part begins and ends
    svm::KernelOp kernel = nullptr;
  };
  /// One place where the kernel is run: the memory of each variable that has some outside of parts.
  struct Site {
    svm::RunOp run;
    std::vector<Value> blocks;
    Numbers sizes;
  };

  std::vector<svm::RunOp> runs(mlir::ModuleOp module) {
    std::vector<svm::RunOp> found;
    module.walk([&](svm::RunOp run) {
      if (run.getKernel() == kernel_.getName())
        found.push_back(run);
    });
    return found;
  }

  /// Whether a run ends before what is behind it begins, and stands in code that one processor executes.
  static bool mayBeDivided(svm::RunOp run) {
    return !run.getToken() && run.getAfter().empty() && !run->getParentOfType<svm::ParallelOp>() &&
           !run->getParentOfType<svm::InstancesOp>();
  }

  Phase undivided() const {
    Phase all;
    all.equations.resize(system_.equations.size());
    std::iota(all.equations.begin(), all.equations.end(), 0);
    return all;
  }

  // ---- storage ----

  /// Whether a few cells of fixed number do, which a kernel has by itself.
  bool isCell(uint32_t variable) const {
    const Storage& storage = storage_[variable];
    return !outlives_[variable] &&
           (storage.dimensions.empty() || (storage.dimensions.size() == 1 && storage.steps > 0 && storage.steps <= 64));
  }
  bool isBlock(uint32_t variable) const {
    return system_.variables[variable].role == Role::Internal && !isCell(variable);
  }

  /// The instances that are defined.
  isl::set definitions(uint32_t variable) const {
    const isl::set context = polyhedra_.context(system_.context);
    std::optional<isl::set> all;
    for (const Equation& equation : system_.equations) {
      if (equation.variable != variable)
        continue;
      const isl::set own = polyhedra_.set(equation.guard).intersect(context).apply(polyhedra_.map(equation.index));
      all = all ? all->unite(own) : own;
    }
    return *all; // every variable has an equation
  }

  mlir::Type elementType(uint32_t variable) const {
    for (size_t i = 0; i < roots_.size(); ++i)
      if (system_.equations[i].variable == variable)
        return mlir::cast<svm::DefineOp>(svm::EquationOp(roots_[i]).getBody().front().back()).getValue().getType();
    return {};
  }

  /// Fills in the least numbers and extents, each at least 1.
  void box(mlir::OpBuilder& builder, uint32_t variable, const Numbers& parameters, Cells& cells) {
    const isl::set all = definitions(variable);
    const mlir::Location place = kernel_.getLoc();
    const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
    const Storage& storage = storage_[variable];
    if (all.is_empty()) { // nothing is ever kept
      cells.least.assign(storage.dimensions.size(), constant(0));
      cells.extents.assign(storage.dimensions.size(), constant(1));
      return;
    }
    for (size_t i = 0; i < storage.dimensions.size(); ++i) {
      const Value first = leastOf(builder, place, all, storage.dimensions[i], false, parameters, limit_).value;
      cells.least.push_back(first);
      if (i == 0 && storage.steps > 0) {
        cells.extents.push_back(constant(storage.steps));
        continue;
      }
      const Value last = leastOf(builder, place, all, storage.dimensions[i], true, parameters, limit_).value;
      const Value count = builder.createOrFold<arith::AddIOp>(
          place, builder.createOrFold<arith::SubIOp>(place, last, first), constant(1));
      cells.extents.push_back(builder.createOrFold<arith::MaxSIOp>(place, count, constant(1)));
    }
  }

  mlir::MemRefType blockType(uint32_t variable) const {
    return svm::viewType(static_cast<unsigned>(storage_[variable].dimensions.size()), elementType(variable));
  }

  Value makeBlock(mlir::OpBuilder& builder, uint32_t variable, Site& site) {
    Cells cells;
    box(builder, variable, site.sizes, cells);
    // Numbers where the sizes are constants: memories that programs manage hold what has bounds.
    llvm::SmallVector<int64_t> known;
    for (const Value extent : cells.extents)
      if (llvm::APInt value; mlir::matchPattern(extent, mlir::m_ConstantInt(&value)))
        known.push_back(value.getSExtValue());
    const auto bounds =
        known.size() == cells.extents.size() ? builder.getDenseI64ArrayAttr(known) : mlir::DenseI64ArrayAttr();
    const std::string label = name_ + "." + system_.variables[variable].name;
    return builder.create<svm::BlockOp>(kernel_.getLoc(), blockType(variable), cells.extents, bounds,
                                        builder.getStringAttr(label), mlir::IntegerAttr());
  }

  // ---- phases ----

  std::set<uint32_t> variablesOf(const Phase& phase) const {
    std::set<uint32_t> found;
    for (const uint32_t each : phase.equations) {
      found.insert(system_.equations[each].variable);
      eachElement(system_.equations[each].value, [&](const Expression& element) { found.insert(element.variable); });
    }
    return found;
  }

  void makeLeaves(mlir::ModuleOp module, const std::vector<Phase>& phases, unsigned& steps) {
    for (const Phase& phase : phases) {
      steps = std::max(steps, phase.level);
      if (phase.kind == Phase::Kind::Steps) {
        makeLeaves(module, phase.inner, steps);
        continue;
      }
      Leaf leaf{&phase, name_, {}, {}, nullptr};
      for (size_t number = leaves_.size(); leaf.name != name_ || number > 0; ++number) {
        leaf.name = name_ + "." + std::to_string(number);
        if (!module.lookupSymbol(leaf.name))
          break;
      }
      for (const uint32_t variable : variablesOf(phase))
        if (isBlock(variable))
          leaf.blocks.push_back(variable);
      leaves_.emplace_back(&phase, std::move(leaf));
    }
  }
  Leaf& leafOf(const Phase& phase) {
    return llvm::find_if(leaves_, [&](const auto& each) { return each.first == &phase; })->second;
  }

  static std::string parameter(size_t number) { return "p" + std::to_string(number); }
  size_t stepAt(unsigned level) const { return system_.parameters.size() + level; }

  Affine behindSizes(size_t number, int64_t factor) const {
    Affine made;
    made.iterators.resize(system_.iterators.size(), 0);
    made.parameters.resize(wide_->parameters(), 0);
    made.parameters[number] = factor;
    return made;
  }
  /// When an iteration comes in the loop of a level.
  Affine momentOf(uint32_t equation, unsigned level) const {
    Affine moment;
    moment.iterators = times_[equation].directions[level];
    moment.parameters.resize(wide_->parameters(), 0);
    moment.constant = times_[equation].shifts[level];
    return moment;
  }

  /// An equation's iterations in the steps around a phase, and of a part.
  Space guardOf(uint32_t equation, const Phase& phase, bool isPart) const {
    std::vector<Constraint> more;
    for (unsigned level = 0; level < phase.level; ++level) {
      more.push_back({Constraint::Kind::Zero, momentOf(equation, level), 0});
      more.back().value.parameters[stepAt(level)] = -1;
    }
    if (isPart) {
      more.push_back({Constraint::Kind::NotNegative, behindSizes(begin_, -1), 0});
      more.back().value.iterators[phase.iterator] = 1;
      more.push_back({Constraint::Kind::NotNegative, behindSizes(begin_ + 1, 1), 0});
      more.back().value.iterators[phase.iterator] = -1;
      more.back().value.constant = -1;
    }
    Space guard = system_.equations[equation].guard;
    for (std::vector<Constraint>& piece : guard.pieces)
      piece.insert(piece.end(), more.begin(), more.end());
    return guard;
  }

  /// The points of all of a phase's equations under a map of each.
  isl::set reached(const Phase& phase, llvm::function_ref<std::vector<Affine>(uint32_t)> mapOf) const {
    const isl::set context = wide_->context(system_.context);
    std::optional<isl::set> all;
    for (const uint32_t each : phase.equations) {
      const isl::set own = wide_->set(guardOf(each, phase, false)).intersect(context).apply(wide_->map(mapOf(each)));
      all = all ? all->unite(own) : own;
    }
    return coalesced(*all);
  }

  // ---- what runs them ----

  void lowerRun(svm::RunOp run) {
    mlir::OpBuilder builder(run);
    llvm::SmallVector<Value> parameters;
    for (const Value each : equations_.getParameters())
      parameters.push_back(run.getArguments()[mlir::cast<mlir::BlockArgument>(each).getArgNumber()]);
    Site site{run, std::vector<Value>(system_.variables.size()), sizes(parameters)};
    std::set<uint32_t> outside;
    for (const auto& [phase, leaf] : leaves_)
      for (const uint32_t variable : leaf.blocks)
        if (!llvm::is_contained(phase->own, variable))
          outside.insert(variable);
    for (const uint32_t variable : outside)
      site.blocks[variable] = makeBlock(builder, variable, site);
    runPhases(builder, phases_, site, site.sizes);
  }

  void runPhases(mlir::OpBuilder& builder, const std::vector<Phase>& phases, Site& site, const Numbers& numbers) {
    for (const Phase& phase : phases) {
      mlir::OpBuilder::InsertionGuard behind(builder);
      if (phase.kind == Phase::Kind::Whole)
        runLeaf(builder, phase, site, numbers);
      else if (phase.kind == Phase::Kind::Steps)
        runSteps(builder, phase, site, numbers);
      else
        runParts(builder, phase, site, numbers);
    }
  }

  void runLeaf(mlir::OpBuilder& builder, const Phase& phase, Site& site, const Numbers& numbers) {
    Leaf& leaf = leafOf(phase);
    llvm::SmallVector<Value> given(site.run.getArguments());
    for (const uint32_t variable : leaf.blocks)
      given.push_back(llvm::is_contained(phase.own, variable) ? makeBlock(builder, variable, site)
                                                              : site.blocks[variable]);
    leaf.reaches.clear();
    for (const size_t number : behindSizes(phase)) {
      const Number& each = numbers.at(parameter(number));
      given.push_back(each.value);
      leaf.reaches.push_back(each.reach);
    }
    svm::RunOp run = builder.create<svm::RunOp>(site.run.getLoc(), mlir::Type(),
                                                mlir::FlatSymbolRefAttr::get(builder.getContext(), leaf.name), given,
                                                mlir::ValueRange(), mlir::FlatSymbolRefAttr());
    run->setDiscardableAttrs(site.run->getDiscardableAttrDictionary());
  }

  /// The parameters that a leaf's kernel has behind the sizes.
  std::vector<size_t> behindSizes(const Phase& phase) const {
    std::vector<size_t> found;
    for (unsigned level = 0; level < phase.level; ++level)
      found.push_back(stepAt(level));
    if (phase.kind == Phase::Kind::Parts) {
      found.push_back(begin_);
      found.push_back(begin_ + 1);
    }
    return found;
  }

  void runSteps(mlir::OpBuilder& builder, const Phase& phase, Site& site, const Numbers& numbers) {
    const mlir::Location place = site.run.getLoc();
    const isl::set moments =
        reached(phase, [&](uint32_t each) { return std::vector<Affine>{momentOf(each, phase.level)}; });
    const Number first = leastOf(builder, place, moments, 0, false, numbers, limit_);
    const Number last = leastOf(builder, place, moments, 0, true, numbers, limit_);
    const Value one = builder.create<arith::ConstantIndexOp>(place, 1);
    const Value end = builder.createOrFold<arith::AddIOp>(place, last.value, one);
    auto loop = builder.create<scf::ForOp>(place, first.value, end, one);
    builder.setInsertionPointToStart(loop.getBody());
    Numbers inside = numbers;
    inside[parameter(stepAt(phase.level))] = {loop.getInductionVar(), larger(first.reach, last.reach)};
    runPhases(builder, phase.inner, site, inside);
  }

  void runParts(mlir::OpBuilder& builder, const Phase& phase, Site& site, const Numbers& numbers) {
    const mlir::Location place = site.run.getLoc();
    const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
    const auto binary = [&]<typename Op>(Value left, Value right) -> Value {
      return builder.createOrFold<Op>(place, left, right);
    };
    const auto add = [&](Value left, Value right) { return binary.template operator()<arith::AddIOp>(left, right); };
    const auto least = [&](Value left, Value right) { return binary.template operator()<arith::MinSIOp>(left, right); };
    const auto most = [&](Value left, Value right) { return binary.template operator()<arith::MaxSIOp>(left, right); };
    const auto product = [&](Value left, Value right) {
      return binary.template operator()<arith::MulIOp>(least(left, constant(mostCounted)),
                                                       least(right, constant(mostCounted)));
    };
    const auto upwards = [&](Value value, Value by) {
      return binary.template operator()<arith::CeilDivSIOp>(value, by);
    };
    const isl::set all = reached(phase, [&](uint32_t) { return identity(system_.iterators.size()); });
    Value count, work = constant(static_cast<int64_t>(phase.equations.size()));
    Number first, last;
    for (unsigned iterator = 0; iterator < system_.iterators.size(); ++iterator) {
      const Number from = leastOf(builder, place, all, iterator, false, numbers, limit_);
      const Number to = leastOf(builder, place, all, iterator, true, numbers, limit_);
      const Value own =
          most(add(builder.createOrFold<arith::SubIOp>(place, to.value, from.value), constant(1)), constant(0));
      work = product(work, own);
      if (iterator != phase.iterator)
        continue;
      count = own;
      first = from;
      last = to;
    }
    const int64_t processors = division_.processors;
    const int64_t parts = processors > 1 && !phase.isEven ? unevenParts * processors : processors;
    const auto quotient = [&](Value value, int64_t by) -> Value {
      return builder.createOrFold<arith::DivSIOp>(place, value, constant(by));
    };
    Value number = least(quotient(work, static_cast<int64_t>(division_.figures.taskInstances())), constant(parts));
    // Processors that write to one line of a cache wait for each other: once a row, and in each step anew.
    const auto bytes = static_cast<int64_t>(elementBytes(phase));
    if (phase.isAlongRows && phase.level > 0)
      number = least(number, quotient(count, static_cast<int64_t>(division_.figures.sharedRowBytes()) / bytes));
    Value size = most(upwards(count, most(number, constant(1))), constant(1));
    if (phase.isAlongRows) {
      const Value line = constant(std::max<int64_t>(static_cast<int64_t>(division_.figures.lineBytes) / bytes, 1));
      size = builder.createOrFold<arith::MulIOp>(place, upwards(size, line), line);
    }
    if (const auto stated = division_.sizes.find(name_); stated != division_.sizes.end())
      size = constant(stated->second);
    division_.divided.insert(name_);
    auto loop =
        builder.create<svm::ParallelOp>(place, mlir::ValueRange(constant(0)), mlir::ValueRange(upwards(count, size)),
                                        mlir::ValueRange(), mlir::ArrayAttr(), builder.getStringAttr(name_));
    builder.setInsertionPointToStart(&loop.getBody().front());
    const Value begin = add(first.value, builder.createOrFold<arith::MulIOp>(place, loop.iteration(0), size));
    const Value end = least(add(begin, size), add(last.value, constant(1)));
    Numbers inside = numbers;
    Reach reach = larger(first.reach, last.reach);
    reach.constant += 1;
    inside[parameter(begin_)] = {begin, reach};
    inside[parameter(begin_ + 1)] = {end, reach};
    runLeaf(builder, phase, site, inside);
  }

  /// Of the smallest elements that a phase defines.
  uint64_t elementBytes(const Phase& phase) const {
    uint64_t least = UINT64_MAX;
    for (const uint32_t each : phase.equations)
      least = std::min<uint64_t>(least, system_.variables[system_.equations[each].variable].type.bytes);
    return std::max<uint64_t>(least, 1);
  }

  /// In front of a run: what its sizes are, so that nothing that is computed of them overflows.
  void checkSizes(svm::RunOp run, mlir::Operation* before) {
    mlir::OpBuilder builder(run);
    if (before)
      builder.setInsertionPointAfter(before);
    else
      builder.setInsertionPointToStart(run->getBlock());
    const mlir::Location place = run.getLoc();
    for (auto [number, parameter] : llvm::enumerate(equations_.getParameters())) {
      const Value given = run.getArguments()[mlir::cast<mlir::BlockArgument>(parameter).getArgNumber()];
      const Value most = builder.create<arith::ConstantIndexOp>(place, limit_.most(number));
      const Value least = builder.create<arith::ConstantIndexOp>(place, -limit_.most(number));
      using P = arith::CmpIPredicate;
      const Value fine =
          builder.createOrFold<arith::AndIOp>(place, builder.createOrFold<arith::CmpIOp>(place, P::sle, given, most),
                                              builder.createOrFold<arith::CmpIOp>(place, P::sge, given, least));
      builder.create<svm::CheckOp>(place, fine, builder.getStringAttr("equations-size"),
                                   builder.getStringAttr("'" + system_.parameters[number] +
                                                         "' is {0}; iterations are computed with 64 bits, which hold "
                                                         "them for sizes of up to {1}"),
                                   mlir::StringAttr(), mlir::ValueRange{given, most});
    }
  }

  // ---- kernels ----

  void makeKernel(Leaf& leaf) {
    const Phase& phase = *leaf.phase;
    mlir::OpBuilder builder(kernel_);
    auto kernel = mlir::cast<svm::KernelOp>(builder.insert(kernel_->cloneWithoutRegions()));
    leaf.kernel = kernel;
    kernel.setSymName(leaf.name);
    mlir::Block& body = kernel.getBody().emplaceBlock();
    mlir::IRMapping arguments;
    for (const mlir::BlockArgument each : kernel_.getBody().getArguments())
      arguments.map(each, body.addArgument(each.getType(), each.getLoc()));
    std::vector<Cells> cells(system_.variables.size());
    for (const uint32_t variable : leaf.blocks)
      cells[variable].memory = addBlock(kernel, variable);
    if (!leaf.blocks.empty())
      kernel.removeExtentsAttr(); // those of the new arguments are no sums of sizes
    llvm::SmallVector<Value> parameters;
    for (const Value each : equations_.getParameters())
      parameters.push_back(arguments.lookup(each));
    Numbers numbers = sizes(parameters);
    for (auto [number, reach] : llvm::zip_equal(behindSizes(phase), leaf.reaches))
      numbers[parameter(number)] = {addIndex(kernel), reach};
    builder.setInsertionPointToStart(&body);
    for (mlir::Operation& op : kernel_.getBody().front()) {
      if (&op != equations_)
        builder.clone(op, arguments);
      else
        compute(builder, phase, cells, numbers, arguments);
    }
  }

  Value addBlock(svm::KernelOp kernel, uint32_t variable) {
    mlir::Builder builder(kernel.getContext());
    const auto position = kernel.getNumArguments();
    const mlir::DictionaryAttr attributes = builder.getDictionaryAttr(
        {svm::SvmDialect::accessAttr.with(builder.getContext(), svm::Access::ReadWrite),
         builder.getNamedAttr(svm::SvmDialect::nameAttr, builder.getStringAttr(system_.variables[variable].name))});
    kernel.insertArgument(position, blockType(variable), attributes, kernel_.getLoc());
    return kernel.getBody().front().getArgument(position);
  }

  Value addIndex(svm::KernelOp kernel) {
    mlir::Builder builder(kernel.getContext());
    const auto position = kernel.getNumArguments();
    kernel.insertArgument(position, builder.getIndexType(), builder.getDictionaryAttr({}), kernel_.getLoc());
    if (const std::optional<mlir::ArrayAttr> extents = kernel.getExtents()) {
      llvm::SmallVector<mlir::Attribute> more(extents->begin(), extents->end());
      more.push_back(mlir::AffineMapAttr::get(mlir::AffineMap::get(builder.getContext())));
      kernel.setExtentsAttr(builder.getArrayAttr(more));
    }
    return kernel.getBody().front().getArgument(position);
  }

  void compute(mlir::OpBuilder& builder, const Phase& phase, std::vector<Cells>& cells, const Numbers& numbers,
               const mlir::IRMapping& arguments) {
    const mlir::Location place = equations_.getLoc();
    for (const uint32_t variable : variablesOf(phase)) {
      if (system_.variables[variable].role != Role::Internal)
        continue;
      if (isCell(variable)) {
        const Storage& storage = storage_[variable];
        cells[variable].memory = builder.create<memref::AllocaOp>(
            place, mlir::MemRefType::get({storage.dimensions.empty() ? 1 : storage.steps}, elementType(variable)));
      }
      box(builder, variable, numbers, cells[variable]);
    }
    System own = system_;
    std::vector<Time> times;
    own.equations.clear();
    for (const uint32_t each : phase.equations) {
      own.equations.push_back(system_.equations[each]);
      own.equations.back().guard = guardOf(each, phase, phase.kind == Phase::Kind::Parts);
      times.push_back(times_[each]);
    }
    if (phase.kind == Phase::Kind::Parts) {
      own.context.push_back({Constraint::Kind::NotNegative, behindSizes(begin_ + 1, 1), 0});
      own.context.back().value.parameters[begin_] = -1;
      own.context.back().value.constant = -1;
    }
    EquationWriter writer(builder, equations_, roots_, numbers_, storage_, cells, arguments);
    buildLoops(builder, place, own, times, *wide_, numbers, limit_,
               [&](uint32_t equation, const std::vector<Value>& iterators) {
                 writer.compute(phase.equations[equation], iterators);
               });
  }

  svm::EquationsOp equations_;
  svm::KernelOp kernel_;
  std::string name_;
  System system_;
  Division& division_;
  std::vector<svm::EquationOp> roots_;      // of each of its equations
  std::map<std::string, uint32_t> numbers_; // of variables
  Polyhedra polyhedra_;
  std::optional<Polyhedra> wide_; // with more parameters behind the sizes
  size_t begin_ = 0;              // of these, where a part begins; the next one is where it ends
  SizeLimit limit_;
  std::vector<Time> times_;
  std::vector<Storage> storage_;
  std::vector<std::pair<svm::RunOp, mlir::Operation*>> sites_; // where it is run, each with what stands before it
  std::vector<Phase> phases_;
  std::vector<bool> outlives_; // by variable
  std::vector<std::pair<const Phase*, Leaf>> leaves_;
};

struct LowerEquationsPass : mlir::PassWrapper<LowerEquationsPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerEquationsPass)

  explicit LowerEquationsPass(Division* division = nullptr) : division(division) {}

  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<mlir::affine::AffineDialect, arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    Division none;
    Division& given = division ? *division : none;
    std::vector<svm::EquationsOp> all;
    getOperation().walk([&](svm::EquationsOp equations) { all.push_back(equations); });
    for (svm::EquationsOp equations : all) {
      SourceManager sources;
      DiagnosticEngine diagnostics(sources);
      std::optional<System> system = usesOf(equations, diagnostics);
      auto kernel = equations->getParentOfType<svm::KernelOp>();
      if (!system) {
        kernel.emitError() << "holds equations that do not read: " << diagnostics.all().front().message;
        return signalPassFailure();
      }
      try {
        if (mlir::failed(KernelLowering(equations, kernel, std::move(*system), given).run(getOperation())))
          return signalPassFailure();
      } catch (const isl::exception& failure) {
        kernel.emitError() << "has iterations that are more than can be computed with: " << failure.what();
        return signalPassFailure();
      }
    }
  }

  Division* division;
};

} // namespace

std::unique_ptr<mlir::Pass> createLowerEquationsPass() {
  return svm::makePass<LowerEquationsPass>(svm::passes::LowerEquations);
}

std::unique_ptr<mlir::Pass> createLowerEquationsPassFor(Division& division) {
  return svm::makePass<LowerEquationsPass>(svm::passes::LowerEquations, &division);
}

} // namespace strata::equations
