// One walk over the kernel. An operation's place in its block is numbered in steps of four: what it reads, what it
// writes before its regions, its regions, and what is written behind them. A value is computed where it is used if that
// is the only use, and in the same block; else it has a cell, which is written where the operation stands. Cells are
// made when they are first asked for. See read_kernel.h.
#include "compiler/equations/extract/read_kernel.h"

#include "compiler/equations/dialect/operations.h"
#include "compiler/equations/extract/affine_values.h"
#include "compiler/ir/locations.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace strata::equations::extraction {

namespace affine = mlir::affine;
namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

namespace {

constexpr int64_t reads = 0, writesBefore = 1, regions = 2, writesBehind = 3;

class Reader {
public:
  Reader(svm::KernelOp kernel, const Known& known)
      : kernel_(kernel), known_(known), parameters_(parametersOf()), program_(parameters_.size()), values_(program_) {
    program_.parameters = parameters_;
  }

  /// Sizes that stand in the way.
  std::vector<KernelSize> factors() const {
    std::vector<KernelSize> made;
    for (const unsigned each : values_.factors())
      made.push_back({parameters_[each].argument, parameters_[each].dimension});
    return made;
  }

  Program run() {
    if (kernel_.getMayAlias())
      refuse("its arguments may overlap", kernel_.getLoc());
    if (kernel_.isShared())
      refuse("what runs beside it writes what it reads", kernel_.getLoc());
    makeContext();
    makeArguments();
    mlir::Block& body = kernel_.getBody().front();
    enter(body, values_.everywhere(0), {{}, {0}});
    walk(body);
    return std::move(program_);
  }

private:
  /// Where a block stands: the place of its operations, whose last position is theirs.
  struct Site {
    Place place;
    unsigned depth() const { return static_cast<unsigned>(place.loops.size()); }
  };

  [[noreturn]] static void refuse(const std::string& reason, mlir::Location location) {
    throw Refused{reason, location};
  }
  [[noreturn]] static void refuseOperation(Operation* op) {
    throw Refused{"'" + op->getName().getStringRef().str() + "' is no operation of equations", op->getLoc(), true};
  }

  /// What an operation on elements is.
  static std::optional<Meaning> elementMeaning(Operation* op) {
    std::optional<Meaning> meaning = meaningOf(op);
    if (meaning && (!elementTypeOf(op->getResult(0).getType()) || !elementTypeOf(typedOperand(op, *meaning).getType())))
      return std::nullopt;
    return meaning;
  }

  // ---- sizes, arguments ----

  static bool isSize(Value argument) {
    if (argument.getType().isIndex())
      return true;
    return argument.getType().isSignlessInteger() && !argument.getType().isInteger(1) &&
           llvm::any_of(argument.getUsers(), llvm::IsaPred<arith::IndexCastOp>);
  }

  /// The sizes of the kernel's statement, or each extent, and the scalars that bounds and indices may mention.
  std::vector<Parameter> parametersOf() {
    std::vector<Parameter> made;
    const unsigned count = kernel_.getNumArguments();
    if (auto stated = kernel_.getExtents()) {
      unsigned sizes = 0;
      for (auto map : stated->getAsRange<mlir::AffineMapAttr>())
        sizes = std::max(sizes, map.getValue().getNumSymbols());
      for (unsigned size = 0; size < sizes; ++size) {
        std::optional<Parameter> found;
        for (unsigned argument = 0; argument < count && !found; ++argument) {
          const mlir::AffineMap map = mlir::cast<mlir::AffineMapAttr>((*stated)[argument]).getValue();
          for (unsigned dimension = 0; dimension < map.getNumResults() && !found; ++dimension)
            if (map.getResult(dimension) == mlir::getAffineSymbolExpr(size, kernel_.getContext()))
              found = extent(argument, dimension);
        }
        if (!found)
          refuse("no extent tells size " + std::to_string(size + 1) + " of those that it states", kernel_.getLoc());
        made.push_back(*found);
      }
    } else {
      for (unsigned argument = 0; argument < count; ++argument)
        if (auto type = mlir::dyn_cast<mlir::MemRefType>(kernel_.getArgumentTypes()[argument]))
          for (unsigned dimension = 0; dimension < type.getRank(); ++dimension)
            made.push_back(extent(argument, dimension));
    }
    for (unsigned argument = 0; argument < count; ++argument)
      if (isSize(kernel_.getArgument(argument)))
        made.push_back({kernel_.argumentName(argument), argument, std::nullopt, std::nullopt});
    for (Parameter& each : made)
      if (const auto found = known_.find({each.argument, each.dimension});
          found != known_.end() && found->second.least && found->second.least == found->second.most)
        each.number = found->second.least;
    return made;
  }
  Parameter extent(unsigned argument, unsigned dimension) {
    return {kernel_.argumentName(argument) + "." + std::to_string(dimension), argument, dimension, std::nullopt};
  }

  void makeContext() {
    program_.context = program_.sets->parsedSet("{ : }").params();
    const auto assume = [&](size_t parameter, const std::string& what) {
      const std::string text = "{ : p" + std::to_string(parameter) + what + " }";
      program_.context = program_.context.intersect(program_.sets->parsedSet(text).params());
    };
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i].dimension)
        assume(i, " >= 0");
      const auto known = known_.find({parameters_[i].argument, parameters_[i].dimension});
      if (known != known_.end() && known->second.least)
        assume(i, " >= " + std::to_string(*known->second.least));
      if (known != known_.end() && known->second.most)
        assume(i, " <= " + std::to_string(*known->second.most));
    }
    program_.fits = program_.context;
  }

  Affine linear(mlir::AffineExpr expression) {
    Affine made;
    made.parameters.assign(parameters_.size(), 0);
    const auto add = [&](const auto& self, mlir::AffineExpr each, int64_t factor) -> void {
      if (auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(each)) {
        made.constant += factor * constant.getValue();
      } else if (auto symbol = mlir::dyn_cast<mlir::AffineSymbolExpr>(each)) {
        made.parameters[symbol.getPosition()] += factor;
      } else {
        auto both = mlir::dyn_cast<mlir::AffineBinaryOpExpr>(each);
        auto number = both ? mlir::dyn_cast<mlir::AffineConstantExpr>(both.getRHS()) : nullptr;
        if (both && both.getKind() == mlir::AffineExprKind::Add) {
          self(self, both.getLHS(), factor);
          self(self, both.getRHS(), factor);
        } else if (both && both.getKind() == mlir::AffineExprKind::Mul && number) {
          self(self, both.getLHS(), factor * number.getValue());
        } else {
          refuse("an extent is no sum of sizes", kernel_.getLoc());
        }
      }
    };
    add(add, expression, 1);
    return made;
  }

  void makeArguments() {
    auto stated = kernel_.getExtents();
    for (unsigned number = 0; number < kernel_.getNumArguments(); ++number) {
      const Value argument = kernel_.getArgument(number);
      auto type = mlir::dyn_cast<mlir::MemRefType>(argument.getType());
      program_.extents.emplace_back();
      for (size_t i = 0; i < parameters_.size(); ++i)
        if (!parameters_[i].dimension && parameters_[i].argument == number)
          values_.define(argument, values_.parameter(i));
      if (!type)
        continue;
      const std::optional<ElementType> element = elementTypeOf(type.getElementType());
      if (!element ||
          (type.getMemorySpace() && !svm::distributionOf(type))) // distributed arrays are indexed as a whole
        refuse("'" + kernel_.argumentName(number) + "' " +
                   (element ? "is in a memory of its own" : "has elements that are no numbers of equations"),
               kernel_.getLoc());
      for (unsigned dimension = 0; dimension < type.getRank(); ++dimension)
        if (stated) {
          const mlir::AffineMap map = mlir::cast<mlir::AffineMapAttr>((*stated)[number]).getValue();
          program_.extents.back().push_back(linear(map.getResult(dimension)));
        } else {
          Affine own;
          own.parameters.assign(parameters_.size(), 0);
          for (size_t i = 0; i < parameters_.size(); ++i)
            if (parameters_[i].argument == number && parameters_[i].dimension == dimension)
              own.parameters[i] = 1;
          program_.extents.back().push_back(own);
        }
      cells_[argument] =
          cell(kernel_.argumentName(number), *element, static_cast<unsigned>(type.getRank()), kernel_.getLoc());
      program_.cells.back().argument = number;
    }
  }

  isl::pw_aff sizeOf(const Affine& extent) const {
    isl::pw_aff sum = values_.constant(extent.constant, 0);
    for (size_t i = 0; i < extent.parameters.size(); ++i)
      if (extent.parameters[i] != 0)
        sum = sum.add(values_.parameter(i).scale(extent.parameters[i]));
    return sum;
  }

  // ---- cells ----

  unsigned cell(const std::string& name, const ElementType& type, unsigned rank, mlir::Location location) {
    program_.cells.push_back({name, type, rank, std::nullopt, false, location});
    return static_cast<unsigned>(program_.cells.size() - 1);
  }

  unsigned valueCell(Value value) {
    const std::optional<ElementType> type = elementTypeOf(value.getType());
    if (!type)
      refuse(value.getType().isIndex() ? "an index is used as a value" : "a value is no number of equations",
             value.getLoc());
    std::string name = placeName(value.getLoc());
    if (name.empty())
      name = "v" + std::to_string(program_.cells.size());
    return cell(name, *type, 0, value.getLoc());
  }

  isl::map toPoint(unsigned depth) const {
    return program_.sets->parsedMap("{ " + vectorText("x", depth) + " -> [] }");
  }

  Place at(Operation* op, int64_t step) const {
    Place place = sites_.lookup(op->getBlock()).place;
    place.positions.back() = 4 * numbers_.lookup(op) + step;
    return place;
  }

  void write(unsigned into, isl::map index, Term value, const Place& place, const isl::set& domain,
             mlir::Location location) {
    program_.cells[into].isWritten = true;
    program_.statements.push_back({into, place, domain, index.intersect_domain(domain), std::move(value), location});
  }
  void writeValue(unsigned into, Term value, const Place& place, const isl::set& domain, mlir::Location location) {
    write(into, toPoint(static_cast<unsigned>(place.loops.size())), std::move(value), place, domain, location);
  }

  Term read(unsigned from, isl::map index, const Place& place, const isl::set& domain, mlir::Location location) {
    Term made;
    made.kind = Term::Kind::Read;
    made.type = made.operandType = program_.cells[from].type;
    made.number = static_cast<unsigned>(program_.reads.size());
    made.location = location;
    program_.reads.push_back({from, place, domain, index.intersect_domain(domain), location});
    return made;
  }

  // ---- values ----

  /// A value as an operation needs it that reads in `domain`.
  Term term(Value value, Operation* user, const isl::set& domain) {
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      return constantTerm(constant);
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
        argument && argument.getOwner()->getParentOp() == kernel_.getOperation())
      return scalar(argument);
    const unsigned depth = sites_.lookup(user->getBlock()).depth();
    Operation* op = value.getDefiningOp();
    if (op && !cells_.contains(value) && op->getBlock() == user->getBlock() && value.hasOneUse()) {
      if (mlir::isa<memref::LoadOp, affine::AffineLoadOp>(op))
        return load(op, domain);
      if (const std::optional<Meaning> meaning = elementMeaning(op); meaning && !isChosenByIteration(op))
        return operation(op, *meaning, domain);
    }
    return read(cellOf(value), toPoint(depth), at(user, reads), domain, value.getLoc());
  }

  Term constantTerm(arith::ConstantOp constant) {
    const std::optional<ElementType> type = elementTypeOf(constant.getType());
    if (!type)
      refuse("an index is used as a value", constant.getLoc());
    Term made;
    made.type = made.operandType = *type;
    made.location = constant.getLoc();
    if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
      made.constant.integer = type->kind == ElementType::Kind::Bool
                                  ? static_cast<int64_t>(integer.getValue().getZExtValue())
                                  : integer.getValue().getSExtValue();
    else if (auto real = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue()))
      made.constant.real = real.getValueAsDouble();
    return made;
  }

  Term scalar(mlir::BlockArgument argument) {
    const std::optional<ElementType> type = elementTypeOf(argument.getType());
    if (!type)
      refuse(argument.getType().isIndex() ? "a size is used as a value" : "a value is no number of equations",
             kernel_.getLoc());
    Term made;
    made.kind = Term::Kind::Scalar;
    made.type = made.operandType = *type;
    made.number = argument.getArgNumber();
    return made;
  }

  Term operation(Operation* op, const Meaning& meaning, const isl::set& domain) {
    Term made;
    made.kind = Term::Kind::Operation;
    made.operation = meaning.operation;
    made.type = *elementTypeOf(op->getResult(0).getType(), meaning.isUnsigned);
    made.operandType = *elementTypeOf(typedOperand(op, meaning).getType(), meaning.isOperandUnsigned);
    made.location = op->getLoc();
    for (const Value operand : op->getOperands())
      made.operands.push_back(term(operand, op, domain));
    if (meaning.isSwapped)
      std::swap(made.operands[0], made.operands[1]);
    return made;
  }

  /// Whether a select's condition depends on the iteration alone.
  bool isChosenByIteration(Operation* op) {
    return mlir::isa<arith::SelectOp>(op) &&
           values_.condition(op->getOperand(0), sites_.lookup(op->getBlock()).depth()).has_value();
  }

  /// The cell of a value that is used elsewhere, with the statement that writes it.
  unsigned cellOf(Value value) {
    if (const auto found = cells_.find(value); found != cells_.end())
      return found->second;
    Operation* op = value.getDefiningOp();
    if (!op)
      refuse("a loop's variable is used as a value", value.getLoc());
    const isl::set domain = values_.domain(op->getBlock());
    if (domain.is_null())
      refuse("a value comes from elsewhere", value.getLoc());
    const bool isLoad = mlir::isa<memref::LoadOp, affine::AffineLoadOp>(op);
    const std::optional<Meaning> meaning = op->getNumResults() == 1 ? elementMeaning(op) : std::nullopt;
    if (!isLoad && !meaning) {
      if (mlir::isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) ||
          values_.value(value, sites_.lookup(op->getBlock()).depth()))
        refuse("an index is used as a value", op->getLoc());
      refuseOperation(op);
    }
    const unsigned made = valueCell(value);
    cells_[value] = made;
    const Place place = at(op, writesBefore);
    if (isLoad) {
      writeValue(made, load(op, domain), place, domain, op->getLoc());
    } else if (isChosenByIteration(op)) {
      const isl::set chosen = *values_.condition(op->getOperand(0), static_cast<unsigned>(place.loops.size()));
      const isl::set first = domain.intersect(chosen), second = domain.subtract(chosen);
      writeValue(made, term(op->getOperand(1), op, first), place, first, op->getLoc());
      writeValue(made, term(op->getOperand(2), op, second), place, second, op->getLoc());
    } else {
      writeValue(made, operation(op, *meaning, domain), place, domain, op->getLoc());
    }
    return made;
  }

  // ---- loads, stores ----

  unsigned memoryOf(Value block, Operation* op) {
    const auto found = cells_.find(block);
    if (found == cells_.end())
      refuse("it accesses memory through a view", op->getLoc());
    return found->second;
  }

  /// From iterations to elements.
  isl::map indexOf(Operation* op, mlir::ValueRange indices, mlir::AffineMap map) {
    const unsigned depth = sites_.lookup(op->getBlock()).depth();
    isl::map all = toPoint(depth);
    const unsigned count = map ? map.getNumResults() : static_cast<unsigned>(indices.size());
    for (unsigned i = 0; i < count; ++i) {
      const std::optional<isl::pw_aff> one =
          map ? values_.value(map.getResult(i), map.getNumDims(), indices, depth) : values_.value(indices[i], depth);
      if (!one)
        refuse("an index is not affine", op->getLoc());
      all = isl::manage(isl_map_flat_range_product(all.release(), isl_map_from_pw_aff(one->copy())));
    }
    return all;
  }

  /// Sizes for which an access leaves its array are none that the kernel is executed with.
  void keepInside(unsigned accessed, const isl::map& index) {
    const Cell& of = program_.cells[accessed];
    isl::set elements = program_.sets->parsedSet("{ " + vectorText("e", of.rank) + " }");
    for (unsigned dimension = 0; dimension < of.rank; ++dimension) {
      const isl::pw_aff size = of.argument ? sizeOf(program_.extents[*of.argument][dimension])
                                           : values_.constant(shapes_[accessed][dimension], 0);
      const isl::pw_aff at = values_.entry(dimension, of.rank);
      elements = elements.intersect(at.ge_set(values_.constant(0, of.rank)))
                     .intersect(at.lt_set(AffineValues::lifted(size, of.rank)));
    }
    const isl::map outside = isl::manage(isl_map_subtract_range(index.copy(), elements.release()));
    program_.fits = program_.fits.subtract(outside.domain().params());
  }

  Term load(Operation* op, const isl::set& domain) {
    auto plain = mlir::dyn_cast<memref::LoadOp>(op);
    auto mapped = mlir::dyn_cast<affine::AffineLoadOp>(op);
    const unsigned from = memoryOf(plain ? plain.getMemRef() : mapped.getMemRef(), op);
    const isl::map index =
        plain ? indexOf(op, plain.getIndices(), {}) : indexOf(op, mapped.getMapOperands(), mapped.getAffineMap());
    Term made = read(from, index, at(op, reads), domain, op->getLoc());
    keepInside(from, program_.reads.back().index);
    return made;
  }

  void store(Operation* op, const isl::set& domain) {
    auto plain = mlir::dyn_cast<memref::StoreOp>(op);
    auto mapped = mlir::dyn_cast<affine::AffineStoreOp>(op);
    const unsigned into = memoryOf(plain ? plain.getMemRef() : mapped.getMemRef(), op);
    const isl::map index =
        plain ? indexOf(op, plain.getIndices(), {}) : indexOf(op, mapped.getMapOperands(), mapped.getAffineMap());
    write(into, index, term(plain ? plain.getValueToStore() : mapped.getValueToStore(), op, domain),
          at(op, writesBefore), domain, op->getLoc());
    keepInside(into, program_.statements.back().index);
  }

  // ---- control ----

  void enter(mlir::Block& block, const isl::set& domain, const Place& place) {
    values_.define(&block, domain);
    sites_[&block] = {place};
    int64_t next = 0;
    number(block, next);
  }

  /// Branches stand in the block around them: they are no loops, and have its iterations.
  void number(mlir::Block& block, int64_t& next) {
    for (Operation& op : block) {
      numbers_[&op] = next++;
      if (mlir::isa<scf::IfOp, affine::AffineIfOp>(op))
        for (mlir::Region& region : op.getRegions())
          for (mlir::Block& branch : region)
            number(branch, next);
    }
  }

  void walk(mlir::Block& block) {
    const isl::set domain = values_.domain(&block);
    for (Operation& op : block)
      visit(&op, domain);
  }

  void visit(Operation* op, const isl::set& domain) {
    if (mlir::isa<memref::StoreOp, affine::AffineStoreOp>(op))
      return store(op, domain);
    if (mlir::isa<scf::ForOp, affine::AffineForOp>(op))
      return loop(mlir::cast<mlir::LoopLikeOpInterface>(op), domain);
    if (mlir::isa<scf::IfOp, affine::AffineIfOp>(op))
      return choice(op, domain);
    if (auto variable = mlir::dyn_cast<memref::AllocaOp>(op))
      return makeVariable(variable);
    if (auto extent = mlir::dyn_cast<memref::DimOp>(op))
      return size(extent);
    if (auto check = mlir::dyn_cast<svm::CheckOp>(op)) {
      const unsigned depth = sites_.lookup(op->getBlock()).depth();
      const std::optional<isl::set> holds = values_.condition(check.getCondition(), depth);
      if (!holds)
        refuse("a check depends on data", op->getLoc());
      program_.fits = program_.fits.subtract(domain.subtract(*holds).params());
      return;
    }
    // Values are read when they are used; indices are checked where they are.
    const llvm::StringRef dialect = op->getName().getDialectNamespace();
    if (mlir::isa<svm::IndexOp, svm::ReturnOp, scf::YieldOp, affine::AffineYieldOp, memref::LoadOp,
                  affine::AffineLoadOp, affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op) ||
        dialect == "arith" || dialect == "math")
      return;
    refuse("'" + op->getName().getStringRef().str() + "' is no part of equations", op->getLoc());
  }

  void makeVariable(memref::AllocaOp op) {
    const std::optional<ElementType> type = elementTypeOf(op.getType().getElementType());
    if (!type || !op.getType().hasStaticShape())
      refuse("a variable holds no numbers of equations", op.getLoc());
    std::string name = placeName(op.getLoc());
    if (name.empty())
      name = "m" + std::to_string(program_.cells.size());
    const unsigned made = cell(name, *type, static_cast<unsigned>(op.getType().getRank()), op.getLoc());
    cells_[op.getResult()] = made;
    shapes_[made] = op.getType().getShape().vec();
  }

  void size(memref::DimOp op) {
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(op.getSource());
    const std::optional<int64_t> dimension = op.getConstantIndex();
    if (!argument || !dimension || argument.getOwner()->getParentOp() != kernel_.getOperation())
      refuse("an extent is asked for that is no argument's", op.getLoc());
    values_.define(op.getResult(), sizeOf(program_.extents[argument.getArgNumber()][static_cast<size_t>(*dimension)]));
  }

  struct Bounds {
    isl::pw_aff lower, upper;
    int64_t step = 1;
  };

  Bounds boundsOf(mlir::LoopLikeOpInterface op, unsigned depth) {
    if (auto plain = mlir::dyn_cast<scf::ForOp>(op.getOperation())) {
      const std::optional<isl::pw_aff> lower = values_.value(plain.getLowerBound(), depth),
                                       upper = values_.value(plain.getUpperBound(), depth),
                                       step = values_.value(plain.getStep(), depth);
      const std::optional<int64_t> number = mlir::getConstantIntValue(plain.getStep());
      if (!lower || !upper)
        refuse("a loop's bound is not affine", op.getLoc());
      if (!step || !number || *number < 1)
        refuse("a loop's step is no constant", op.getLoc());
      return {*lower, *upper, *number};
    }
    auto mapped = mlir::cast<affine::AffineForOp>(op.getOperation());
    const auto bound = [&](mlir::AffineMap map, mlir::ValueRange operands, bool isLower) {
      std::optional<isl::pw_aff> all;
      for (const mlir::AffineExpr each : map.getResults()) {
        const std::optional<isl::pw_aff> one = values_.value(each, map.getNumDims(), operands, depth);
        if (!one)
          refuse("a loop's bound is not affine", op.getLoc());
        all = !all ? *one : isLower ? all->max(*one) : all->min(*one);
      }
      return *all;
    };
    return {bound(mapped.getLowerBoundMap(), mapped.getLowerBoundOperands(), true),
            bound(mapped.getUpperBoundMap(), mapped.getUpperBoundOperands(), false), mapped.getStepAsInt()};
  }

  void loop(mlir::LoopLikeOpInterface op, const isl::set& domain) {
    const unsigned depth = sites_.lookup(op->getBlock()).depth();
    const Bounds bounds = boundsOf(op, depth);
    const isl::pw_aff one = values_.constant(1, depth);
    Loop made;
    const Place around = at(op, regions);
    if (!around.loops.empty())
      made.parent = around.loops.back();
    made.depth = depth;
    made.position = around.positions.back();
    const isl::pw_aff entry = values_.entry(depth, depth + 1);
    const isl::pw_aff lower = AffineValues::lifted(bounds.lower, depth + 1);
    isl::pw_aff variable = entry;
    if (bounds.step == 1) {
      made.first = bounds.lower;
      made.last = bounds.upper.sub(one);
    } else {
      made.first = values_.constant(0, depth);
      made.last = bounds.upper.sub(bounds.lower).scale_down(bounds.step).ceil().sub(one);
      variable = lower.add(entry.scale(bounds.step));
    }
    Place inside = around;
    inside.loops.push_back(static_cast<unsigned>(program_.loops.size()));
    inside.positions.push_back(0);
    program_.loops.push_back(made);
    isl::set within = isl::manage(isl_set_add_dims(domain.copy(), isl_dim_set, 1));
    within = within.intersect(variable.ge_set(lower))
                 .intersect(variable.lt_set(AffineValues::lifted(bounds.upper, depth + 1)));
    if (bounds.step != 1)
      within = within.intersect(entry.ge_set(values_.constant(0, depth + 1)));
    mlir::Block& body = op.getLoopRegions().front()->front();
    values_.define(body.getArgument(0), variable);
    // What iterations carry is written before the loop and at the end of each, and read in it and behind it.
    const mlir::ValueRange results = op->getResults(), inits = op.getInits();
    for (auto [init, carried, result] : llvm::zip(inits, op.getRegionIterArgs(), results)) {
      const unsigned cell = valueCell(result);
      cells_[carried] = cells_[result] = cell;
      writeValue(cell, term(init, op, domain), at(op, writesBefore), domain, op.getLoc());
    }
    enter(body, within, inside);
    walk(body);
    yield(body.getTerminator(), results, within);
  }

  void yield(Operation* terminator, mlir::ValueRange results, const isl::set& domain) {
    for (auto [value, result] : llvm::zip(terminator->getOperands(), results))
      writeValue(cells_[result], term(value, terminator, domain), at(terminator, writesBehind), domain,
                 terminator->getLoc());
  }

  void choice(Operation* op, const isl::set& domain) {
    const unsigned depth = sites_.lookup(op->getBlock()).depth();
    auto mapped = mlir::dyn_cast<affine::AffineIfOp>(op);
    const std::optional<isl::set> holds = mapped
                                              ? values_.condition(mapped.getIntegerSet(), mapped->getOperands(), depth)
                                              : values_.condition(mlir::cast<scf::IfOp>(op).getCondition(), depth);
    if (!holds)
      refuse("a condition depends on data", op->getLoc());
    for (const Value result : op->getResults())
      cells_[result] = valueCell(result);
    for (unsigned branch = 0; branch < 2; ++branch) {
      mlir::Region& region = op->getRegion(branch);
      if (region.empty())
        continue;
      mlir::Block& body = region.front();
      const isl::set part = branch == 0 ? domain.intersect(*holds) : domain.subtract(*holds);
      values_.define(&body, part);
      sites_[&body] = sites_.lookup(op->getBlock());
      walk(body);
      yield(body.getTerminator(), op->getResults(), part);
    }
  }

  svm::KernelOp kernel_;
  const Known& known_;
  std::vector<Parameter> parameters_;
  Program program_;
  AffineValues values_;
  llvm::DenseMap<Value, unsigned> cells_;
  llvm::DenseMap<mlir::Block*, Site> sites_;
  llvm::DenseMap<Operation*, int64_t> numbers_;     // in the loop's body around it
  std::map<unsigned, std::vector<int64_t>> shapes_; // of variables, by cell
};

bool isOnePiece(const isl::set& sizes) {
  const std::optional<Space> space = Polyhedra::space(isl::manage(isl_set_from_params(sizes.copy())));
  return space && space->pieces.size() == 1;
}

bool holds(const isl::set& sizes, const Program& program, const std::map<KernelSize, int64_t>& wanted) {
  if (wanted.empty())
    return true;
  std::string text;
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const Parameter& each = program.parameters[i];
    const auto found = wanted.find({each.argument, each.dimension});
    if (found != wanted.end())
      text += (text.empty() ? "" : " and ") + ("p" + std::to_string(i)) + " = " + std::to_string(found->second);
  }
  return !sizes.intersect(program.sets->parsedSet("{ : " + text + " }").params()).is_empty();
}

/// Sizes with which accesses stay in their arrays, as one simple condition: where those with which nothing is executed,
/// or not all of it, stand in the way, they are left out.
void leaveOut(Program& program, const std::map<KernelSize, int64_t>& wanted) {
  if (isOnePiece(program.fits))
    return;
  isl::set some = program.fits.subtract(program.fits), all = program.fits;
  for (const Statement& each : program.statements) {
    some = some.unite(each.domain.params());
    all = all.intersect(each.domain.params());
  }
  some = coalesced(some.intersect(program.fits));
  std::vector<isl::set> choices = {some, coalesced(all)};
  some.foreach_basic_set([&](const isl::basic_set& piece) { choices.push_back(isl::set(piece)); });
  for (const isl::set& chosen : choices)
    if (isOnePiece(chosen) && holds(chosen, program, wanted)) {
      program.fits = chosen;
      program.leavesOut = true;
      return;
    }
}

} // namespace

Program readKernel(svm::KernelOp kernel, const ExtractOptions& options) {
  Reader reader(kernel, options.known);
  try {
    Program program = reader.run();
    if (options.mayLeaveOut)
      leaveOut(program, options.wanted);
    return program;
  } catch (Refused& refused) {
    refused.sizes = reader.factors();
    throw;
  }
}

} // namespace strata::equations::extraction
