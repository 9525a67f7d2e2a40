// The entry point finds the parameters from the extents of the arrays, compares what else it is told, and runs the
// kernel. See lower.h.
#include "compiler/pla/lower/lower.h"

#include "base/machine/addressing.h"
#include "compiler/equations/dialect/system_of.h"
#include "compiler/equations/polyhedra.h"
#include "compiler/ir/locations.h"
#include "compiler/mapping/logical_module.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata::pla {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
using equations::Affine;
using equations::Role;
using equations::System;
using equations::SystemVariable;
using mapping::LogicalModule;
using mlir::Value;

STRATA_DIAGNOSTIC(unknownNode, Error, "pla-map-node", "the mapping names '{0}', and the program is '{1}'");
STRATA_DIAGNOSTIC(otherProcessor, Error, "pla-map-processor",
                  "machine '{0}' runs loop programs on processor '{1}', and not on '{2}'");
STRATA_DIAGNOSTIC(otherBlock, Error, "pla-map-block", "a block of a loop program is one number, and here are {0}");
STRATA_DIAGNOSTIC(oneProcessor, Error, "pla-map-one", "on machine '{0}' one processor computes a loop program");
STRATA_DIAGNOSTIC(badSize, Error, "pla-size", "the program is for sizes with {0}, and {1}");

namespace {

constexpr const char* choosesSizes = "choose sizes that keep this, with --size or the arrays that are given";

class Lowering {
public:
  Lowering(const System& system, const KnownSizes& known, const notation::NodeMapping& mapping, const Machine& machine,
           mlir::MLIRContext& context, DiagnosticEngine& diagnostics)
      : system_(system), known_(known), mapping_(mapping), machine_(machine), context_(context),
        diagnostics_(diagnostics), place_(placeOf(system.location)), module_(context, place_), builder_(&context) {
    const machine::DefaultPlaces places = machine::defaultPlaces(machine);
    const auto nameOf = [&](machine::MemoryId memory) { return memory.valid() ? machine[memory].name : std::string(); };
    memory_ = nameOf(places.blocks);
    argumentMemory_ = nameOf(places.arguments);
    isManaged_ = places.blocks.valid() && machine.isStore(places.blocks);
    for (const Role role : {Role::Input, Role::Output})
      for (const SystemVariable& each : system.variables)
        if (each.role == role) {
          arrays_.push_back({&each, role == Role::Input ? svm::Access::Read : svm::Access::Write});
          inputs_ += role == Role::Input;
        }
    solve();
  }

  std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>> run() {
    if (!checkMapping(system_, mapping_, machine_, diagnostics_) || !checkKnown())
      return std::nullopt;
    makeKernel();
    makeEntry();
    mapping::Record record = placement();
    auto module = module_.finish("the loop language", &machine_, &record, diagnostics_);
    if (!module)
      return std::nullopt;
    return std::make_pair(std::move(module), std::move(record));
  }

private:
  struct Argument {
    const SystemVariable* array;
    svm::Access access;
  };
  /// Where a parameter's value comes from: an extent of an argument, and its factor there.
  struct Source {
    size_t argument = 0, dimension = 0;
    int64_t factor = 1;
  };

  mlir::Location placeOf(const Location& location) const {
    return locationAt(diagnostics_.sources(), location, context_);
  }

  Location parameterPlace(size_t parameter) const {
    return parameter < system_.parameterPlaces.size() ? system_.parameterPlaces[parameter] : system_.location;
  }

  static int64_t factorOf(const Affine& value, size_t parameter) {
    return parameter < value.parameters.size() ? value.parameters[parameter] : 0;
  }

  /// Finds for as many parameters as it can an extent that tells them, once those before are known.
  void solve() {
    sources_.resize(system_.parameters.size());
    // Inputs first: their shapes are known before outputs are made. Extents with a factor (2 * N + 1) come after those
    // without.
    for (const bool mayHaveFactor : {false, true})
      for (const size_t arguments : {inputs_, arrays_.size()})
        while (findSource(arguments, mayHaveFactor)) {
        }
    for (size_t i = 0; i < system_.parameters.size(); ++i)
      if (!sources_[i])
        told_.push_back(i);
  }

  /// The source of one more parameter among the extents of the first arguments; false if there is none.
  bool findSource(size_t arguments, bool mayHaveFactor) {
    for (size_t argument = 0; argument < arguments; ++argument)
      for (size_t dimension = 0; dimension < arrays_[argument].array->extents.size(); ++dimension) {
        const Affine& extent = arrays_[argument].array->extents[dimension];
        std::optional<size_t> unknown;
        size_t count = 0;
        for (size_t i = 0; i < system_.parameters.size(); ++i)
          if (factorOf(extent, i) != 0 && !sources_[i]) {
            unknown = i;
            ++count;
          }
        if (count != 1 || (std::abs(factorOf(extent, *unknown)) != 1 && !mayHaveFactor))
          continue;
        sources_[*unknown] = Source{argument, dimension, factorOf(extent, *unknown)};
        solved_.push_back(*unknown);
        return true;
      }
    return false;
  }

  mlir::Type typeOf(const ElementType& type) const {
    if (type.kind == ElementType::Kind::Float)
      return type.bytes == 4 ? mlir::Type(mlir::Float32Type::get(&context_)) : mlir::Float64Type::get(&context_);
    return mlir::IntegerType::get(&context_,
                                  type.kind == ElementType::Kind::Bool ? 1 : static_cast<unsigned>(8 * type.bytes));
  }

  mlir::AffineExpr expression(const Affine& value, bool isEntry) const {
    mlir::AffineExpr sum = mlir::getAffineConstantExpr(value.constant, &context_);
    unsigned symbol = 0;
    for (size_t i = 0; i < system_.parameters.size(); ++i)
      if (!isEntry || sources_[i])
        sum = sum + mlir::getAffineSymbolExpr(symbol++, &context_) * factorOf(value, i);
    return sum;
  }

  /// Names of the parameters that extents tell.
  std::vector<std::string> sizes() const {
    std::vector<std::string> found;
    for (size_t i = 0; i < system_.parameters.size(); ++i)
      if (sources_[i])
        found.push_back(system_.parameters[i]);
    return found;
  }

  /// Of the kernel extents are sums of all parameters, of the entry point of those that extents tell.
  std::vector<LogicalModule::Argument> arguments(bool isEntry) const {
    std::vector<LogicalModule::Argument> made;
    for (const auto& [array, access] : arrays_) {
      if (array->extents.empty()) {
        made.push_back(LogicalModule::scalar(typeOf(array->type), array->name));
        continue;
      }
      llvm::SmallVector<mlir::AffineExpr> extents;
      bool isKnown = true;
      for (const Affine& extent : array->extents) {
        extents.push_back(expression(extent, isEntry));
        isKnown &= !isEntry ||
                   std::none_of(told_.begin(), told_.end(), [&](size_t each) { return factorOf(extent, each) != 0; });
      }
      if (!isKnown)
        extents.clear();
      const auto rank = static_cast<unsigned>(array->extents.size());
      made.push_back(LogicalModule::block(svm::viewType(rank, typeOf(array->type)), array->name, access, extents,
                                          static_cast<unsigned>(isEntry ? sizes().size() : system_.parameters.size())));
      if (array->type.kind == ElementType::Kind::UnsignedInteger)
        made.back().attributes.set(svm::SvmDialect::unsignedAttr, mlir::UnitAttr::get(&context_));
    }
    return made;
  }

  void makeKernel() {
    std::vector<LogicalModule::Argument> all = arguments(false);
    for (const std::string& parameter : system_.parameters)
      all.push_back(LogicalModule::scalar(mlir::IndexType::get(&context_), parameter));
    kernel_ = module_.kernel(place_, system_.name + ".equations", all);
    mlir::Block* body = LogicalModule::makeBody(kernel_);
    builder_.setInsertionPointToStart(body);
    const mlir::ValueRange values = body->getArguments();
    equations::build(builder_, system_, values.take_front(inputs_), values.slice(inputs_, arrays_.size() - inputs_),
                     values.take_back(system_.parameters.size()), diagnostics_.sources());
    builder_.create<svm::ReturnOp>(place_);
  }

  void makeEntry() {
    std::vector<LogicalModule::Argument> all = arguments(true);
    for (const size_t parameter : told_)
      all.push_back(LogicalModule::scalar(mlir::IntegerType::get(&context_, 64), system_.parameters[parameter]));
    mlir::func::FuncOp entry = module_.entry(place_, system_.name, all, sizes());
    entry_ = &entry.getBody().front();
    for (size_t i = 0; i < arrays_.size(); ++i)
      entry_->getArgument(static_cast<unsigned>(i)).setLoc(placeOf(arrays_[i].array->location));
    for (size_t i = 0; i < told_.size(); ++i)
      entry_->getArgument(static_cast<unsigned>(arrays_.size() + i)).setLoc(placeOf(parameterPlace(told_[i])));
    builder_.setInsertionPointToEnd(entry_);
    values_.resize(system_.parameters.size());
    for (size_t i = 0; i < told_.size(); ++i)
      values_[told_[i]] = builder_.create<arith::IndexCastOp>(
          place_, builder_.getIndexType(), entry_->getArgument(static_cast<unsigned>(arrays_.size() + i)));
    for (const size_t parameter : solved_)
      values_[parameter] = fixed(parameter, solved(parameter));
    checkExtents();
    checkContext();
    llvm::SmallVector<Value> operands(entry_->getArguments().take_front(arrays_.size()));
    const bool areCopied = argumentMemory_ != memory_;
    for (size_t i = 0; areCopied && i < arrays_.size(); ++i)
      operands[i] = copyOf(i, operands[i]);
    llvm::SmallVector<Value> given(operands);
    given.append(values_.begin(), values_.end());
    builder_.create<svm::RunOp>(place_, mlir::Type(), mlir::FlatSymbolRefAttr::get(kernel_.getNameAttr()), given,
                                mlir::ValueRange(), mlir::FlatSymbolRefAttr());
    for (size_t i = inputs_; areCopied && i < arrays_.size(); ++i)
      move(operands[i], entry_->getArgument(static_cast<unsigned>(i)));
    builder_.create<mlir::func::ReturnOp>(place_);
  }

  void move(Value from, Value to) { builder_.create<svm::MoveOp>(place_, mlir::Type(), from, to, mlir::ValueRange()); }

  /// A block in the memory that kernels reach, with the elements of an input.
  Value copyOf(size_t argument, Value original) {
    const SystemVariable& array = *arrays_[argument].array;
    if (array.extents.empty())
      return original;
    llvm::SmallVector<Value> extents;
    for (size_t i = 0; i < array.extents.size(); ++i)
      extents.push_back(dimension(argument, i));
    const Value block = builder_.create<svm::BlockOp>(place_, original.getType(), extents, bounds(array),
                                                      builder_.getStringAttr(array.name), mlir::IntegerAttr());
    if (argument < inputs_)
      move(original, block);
    return block;
  }

  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(place_, value); }
  Value dimension(size_t argument, size_t number) {
    return builder_.create<memref::DimOp>(place_, entry_->getArgument(static_cast<unsigned>(argument)),
                                          static_cast<int64_t>(number));
  }

  /// constant + sum of factors · parameters, without one of them.
  Value sum(const Affine& value, std::optional<size_t> without = std::nullopt) {
    Value result = constant(value.constant);
    for (size_t i = 0; i < system_.parameters.size(); ++i)
      if (factorOf(value, i) != 0 && i != without)
        result = builder_.create<arith::AddIOp>(
            place_, result, builder_.create<arith::MulIOp>(place_, values_[i], constant(factorOf(value, i))));
    return result;
  }

  /// A parameter's value, where it is known before compilation: stated, or that of an array's shape.
  std::optional<int64_t> knownValue(size_t parameter) const {
    if (const auto found = known_.sizes.find(system_.parameters[parameter]); found != known_.sizes.end())
      return found->second;
    if (!sources_[parameter])
      return std::nullopt;
    const Source& source = *sources_[parameter];
    const SystemVariable& array = *arrays_[source.argument].array;
    const auto shape = known_.shapes.find(array.name);
    if (shape == known_.shapes.end() || shape->second.size() != array.extents.size())
      return std::nullopt;
    const Affine& extent = array.extents[source.dimension];
    int64_t rest = extent.constant;
    for (size_t i = 0; i < system_.parameters.size(); ++i)
      if (i != parameter && factorOf(extent, i) != 0) {
        const std::optional<int64_t> other = knownValue(i);
        if (!other)
          return std::nullopt;
        rest += factorOf(extent, i) * *other;
      }
    return source.factor * (shape->second[source.dimension] - rest);
  }

  /// The constant that a parameter is, checked against what the extents tell.
  Value fixed(size_t parameter, Value told) {
    const std::optional<int64_t> value = isManaged_ ? knownValue(parameter) : std::nullopt;
    if (!value)
      return told;
    const Value constantValue = constant(*value);
    builder_.create<svm::CheckOp>(
        place_, builder_.create<arith::CmpIOp>(place_, arith::CmpIPredicate::eq, told, constantValue),
        builder_.getStringAttr("pla-other-size"),
        builder_.getStringAttr("compiled for " + system_.parameters[parameter] + " = {0}, and called with {1}"),
        mlir::StringAttr(), mlir::ValueRange{constantValue, told});
    fixed_[parameter] = *value;
    return constantValue;
  }

  /// Bounds of an array's extents where all are constants.
  mlir::DenseI64ArrayAttr bounds(const SystemVariable& array) const {
    llvm::SmallVector<int64_t> found;
    for (const Affine& extent : array.extents) {
      int64_t sum = extent.constant;
      for (size_t i = 0; i < system_.parameters.size(); ++i) {
        if (factorOf(extent, i) == 0)
          continue;
        if (!fixed_.contains(i))
          return {};
        sum += factorOf(extent, i) * fixed_.at(i);
      }
      found.push_back(sum);
    }
    return mlir::DenseI64ArrayAttr::get(&context_, found);
  }

  Value solved(size_t parameter) {
    const Source& source = *sources_[parameter];
    const Affine& extent = arrays_[source.argument].array->extents[source.dimension];
    const Value rest = sum(extent, parameter), given = dimension(source.argument, source.dimension);
    const Value product = source.factor > 0 ? builder_.create<arith::SubIOp>(place_, given, rest)
                                            : builder_.create<arith::SubIOp>(place_, rest, given);
    if (std::abs(source.factor) == 1)
      return product;
    const Value factor = constant(std::abs(source.factor));
    const SystemVariable& array = *arrays_[source.argument].array;
    builder_.create<svm::CheckOp>(
        placeOf(array.location),
        builder_.create<arith::CmpIOp>(place_, arith::CmpIPredicate::eq,
                                       builder_.create<arith::RemSIOp>(place_, product, factor), constant(0)),
        builder_.getStringAttr("pla-extent"),
        builder_.getStringAttr("'" + array.name + "' has " + equations::text(extent, {}, system_.parameters) +
                               " elements in dimension " + std::to_string(source.dimension) + ", and is given {0}"),
        mlir::StringAttr(), mlir::ValueRange{given});
    return builder_.create<arith::DivSIOp>(place_, product, factor);
  }

  void checkExtents() {
    for (size_t argument = 0; argument < arrays_.size(); ++argument) {
      const SystemVariable& array = *arrays_[argument].array;
      place_ = placeOf(array.location);
      for (size_t number = 0; number < array.extents.size(); ++number) {
        const bool tells = std::any_of(sources_.begin(), sources_.end(), [&](const std::optional<Source>& source) {
          return source && source->argument == argument && source->dimension == number;
        });
        if (tells)
          continue;
        const Value wanted = sum(array.extents[number]), given = dimension(argument, number);
        builder_.create<svm::CheckOp>(place_,
                                      builder_.create<arith::CmpIOp>(place_, arith::CmpIPredicate::eq, wanted, given),
                                      builder_.getStringAttr("pla-extent"),
                                      builder_.getStringAttr("'" + array.name + "' has {0} elements in dimension " +
                                                             std::to_string(number) + ", and is given {1}"),
                                      mlir::StringAttr(), mlir::ValueRange{wanted, given});
      }
    }
  }

  using Constraint = equations::Constraint;

  Location contextPlace(size_t number) const {
    const Location found = number < system_.contextPlaces.size() ? system_.contextPlaces[number] : Location();
    return found.valid() ? found : system_.location;
  }

  /// "H >= K", with what is subtracted on the other side.
  std::string conditionText(const Constraint& condition) const {
    using Kind = Constraint::Kind;
    if (condition.kind == Kind::Divisible || condition.kind == Kind::NotDivisible)
      return equations::text(equations::Space{{{condition}}}, system_.iterators, system_.parameters);
    Affine left, right;
    for (size_t i = 0; i < system_.parameters.size(); ++i) {
      const int64_t factor = factorOf(condition.value, i);
      left.parameters.push_back(std::max<int64_t>(factor, 0));
      right.parameters.push_back(std::max<int64_t>(-factor, 0));
    }
    (condition.value.constant > 0 ? left : right).constant = std::abs(condition.value.constant);
    return equations::text(left, {}, system_.parameters) + (condition.kind == Kind::Zero ? " == " : " >= ") +
           equations::text(right, {}, system_.parameters);
  }

  static bool holds(const Constraint& condition, __int128 value) {
    switch (condition.kind) {
    case Constraint::Kind::NotNegative:
      return value >= 0;
    case Constraint::Kind::Zero:
      return value == 0;
    case Constraint::Kind::Divisible:
      return value % condition.modulus == 0;
    case Constraint::Kind::NotDivisible:
      return value % condition.modulus != 0;
    }
    return false;
  }

  /// "H is 3 and K is 5", of the parameters of a condition.
  std::string valuesText(const Constraint& condition, llvm::function_ref<std::string(size_t)> valueOf) const {
    std::vector<std::string> values;
    for (size_t i = 0; i < system_.parameters.size(); ++i)
      if (factorOf(condition.value, i) != 0)
        values.push_back(system_.parameters[i] + " is " + valueOf(i));
    std::string text;
    for (size_t i = 0; i < values.size(); ++i)
      text += (i == 0 ? "" : i + 1 < values.size() ? ", " : " and ") + values[i];
    return text;
  }

  /// Whether sizes that are known already are the program's. Reports those that are not.
  bool checkKnown() {
    bool fine = true;
    for (size_t number = 0; number < system_.context.size(); ++number) {
      const Constraint& condition = system_.context[number];
      __int128 value = condition.value.constant;
      bool isKnown = true;
      for (size_t i = 0; i < system_.parameters.size(); ++i)
        if (const int64_t factor = factorOf(condition.value, i); factor != 0) {
          const std::optional<int64_t> known = knownValue(i);
          isKnown &= known.has_value();
          value += static_cast<__int128>(factor) * known.value_or(0);
        }
      if (!isKnown || holds(condition, value))
        continue;
      fine = false;
      DiagnosticBuilder report =
          diagnostics_.report(badSize, contextPlace(number), conditionText(condition),
                              valuesText(condition, [&](size_t i) { return std::to_string(*knownValue(i)); }));
      for (size_t i = 0; i < system_.parameters.size(); ++i)
        if (const auto at = known_.places.find(system_.parameters[i]);
            at != known_.places.end() && factorOf(condition.value, i) != 0)
          report.label(at->second, "");
      report.help(choosesSizes);
    }
    return fine;
  }

  void checkContext() {
    for (size_t number = 0; number < system_.context.size(); ++number) {
      const Constraint& each = system_.context[number];
      using Kind = Constraint::Kind;
      place_ = placeOf(contextPlace(number));
      const Value value = sum(each.value);
      const bool isRemainder = each.kind == Kind::Divisible || each.kind == Kind::NotDivisible;
      const Value compared =
          isRemainder ? Value(builder_.create<arith::RemSIOp>(place_, value, constant(each.modulus))) : value;
      const auto predicate = each.kind == Kind::NotNegative    ? arith::CmpIPredicate::sge
                             : each.kind == Kind::NotDivisible ? arith::CmpIPredicate::ne
                                                               : arith::CmpIPredicate::eq;
      llvm::SmallVector<Value> values;
      const std::string found = valuesText(each, [&](size_t i) {
        values.push_back(values_[i]);
        return "{" + std::to_string(values.size() - 1) + "}";
      });
      builder_.create<svm::CheckOp>(
          place_, builder_.create<arith::CmpIOp>(place_, predicate, compared, constant(0)),
          builder_.getStringAttr(badSize.code),
          builder_.getStringAttr("the program is for sizes with " + conditionText(each) + ", and " + found),
          builder_.getStringAttr(choosesSizes), values);
    }
    place_ = placeOf(system_.location);
  }

  /// All where the machine keeps what belongs to nobody.
  mapping::Record placement() const {
    const machine::DefaultPlaces places = machine::defaultPlaces(machine_);
    mapping::Record record;
    mapping::FunctionPlacement& entry = record.functions[system_.name];
    if (places.control.valid())
      entry.control = machine_[places.control].name;
    for (const auto& [array, access] : arrays_)
      entry.arguments.push_back(array->extents.empty() ? "" : argumentMemory_);
    for (const auto& [array, access] : arrays_)
      if (!array->extents.empty() && argumentMemory_ != memory_)
        entry.blocks[array->name] = memory_;
    for (size_t i = 0; i < told_.size(); ++i)
      entry.arguments.emplace_back();
    if (const notation::MappedNode* node = mapping_.of(system_.name); node && !node->block.empty()) {
      mapping::LoopPlacement& loop = entry.loops[system_.name + ".equations"];
      loop.processor = entry.control;
      loop.parts = {static_cast<int64_t>(machine::processorsBesideControl(machine_))};
      loop.chunk = node->block;
      loop.place = filePlace(placeOf(node->blockPlace));
    }
    return record;
  }

  const System& system_;
  const KnownSizes& known_;
  const notation::NodeMapping& mapping_;
  const Machine& machine_;
  mlir::MLIRContext& context_;
  DiagnosticEngine& diagnostics_;
  mlir::Location place_;
  LogicalModule module_;
  mlir::OpBuilder builder_;
  std::vector<Argument> arrays_;               // inputs, and behind them outputs
  size_t inputs_ = 0;                          // how many of them
  std::vector<std::optional<Source>> sources_; // by parameter
  std::vector<size_t> solved_, told_;          // parameters, in the order in which they become known
  std::vector<Value> values_;                  // of parameters
  std::map<size_t, int64_t> fixed_;            // parameters that are constants
  bool isManaged_ = false;                     // blocks lie in a memory that holds what has a bound
  std::string memory_, argumentMemory_;        // where kernels work, and where the caller's arrays lie
  svm::KernelOp kernel_;
  mlir::Block* entry_ = nullptr;
};

} // namespace

bool checkMapping(const System& system, const notation::NodeMapping& mapping, const Machine& machine,
                  DiagnosticEngine& diagnostics) {
  const unsigned before = diagnostics.errorCount();
  const machine::ProcessorId control = machine::defaultPlaces(machine).control;
  for (const notation::MappedNode& node : mapping.nodes) {
    if (node.node != system.name) {
      diagnostics.report(unknownNode, node.place, node.node, system.name)
          .help("a loop program is one node, with the program's name");
      continue;
    }
    if (!node.processor.empty() && control.valid() && node.processor != machine[control].name)
      diagnostics.report(otherProcessor, node.processorPlace, machine.name, machine[control].name, node.processor)
          .help("leave 'processor' out");
    if (node.block.empty())
      continue;
    if (node.block.size() > 1)
      diagnostics.report(otherBlock, node.blockPlace, node.block.size())
          .help("say how many values of one iterator a processor takes at a time: block: [64]");
    if (machine::processorsBesideControl(machine) == 0)
      diagnostics.report(oneProcessor, node.blockPlace, machine.name)
          .help("leave 'block' out, or choose a machine such as 'host', whose processors share it");
  }
  return diagnostics.errorCount() == before;
}

std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
lower(const System& system, const KnownSizes& known, const notation::NodeMapping& mapping, const Machine& machine,
      mlir::MLIRContext& context, DiagnosticEngine& diagnostics) {
  return Lowering(system, known, mapping, machine, context, diagnostics).run();
}

} // namespace strata::pla
