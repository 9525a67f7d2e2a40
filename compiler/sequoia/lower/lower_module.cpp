// The driver of lowering: how types are represented, and the lowering of each instance in turn, with the module's
// attributes.
#include "compiler/sequoia/lower/lower_module.h"
#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/lower/lower_body.h"
#include "compiler/sequoia/resolve/spans.h"

#include "compiler/ir/locations.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AffineMap.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(combinerConditions, Error, "sequoia-combiner-conditions",
                  "combiner '{0}' has targets with conditions; a combiner has one target");

/// What is larger than this is wide: elements of one array inside of a struct, and numbers in the whole.
static constexpr uint64_t largestStructArray = 64, largestStruct = 512;

std::string labelOf(std::string_view name, uint32_t lexnum) {
  return lexnum ? std::string(name) + "#" + std::to_string(lexnum) : std::string(name);
}

/// What C functions of the program are called: entry points and external tasks.
static std::set<std::string> instanceNames(const InstanceGraph& graph) {
  std::set<std::string> names;
  for (const Instance& instance : graph.instances)
    names.insert(instance.name);
  return names;
}

ModuleLowering::ModuleLowering(const Program& program, const InstanceGraph& graph, const Machine& machine,
                               mlir::MLIRContext& context, DiagnosticEngine& diagnostics, const KnownSizes& known)
    : context(context), program(program), graph(graph), machine(machine), diagnostics(diagnostics),
      sizes(propagateSizes(graph, known)), spans(processorSpans(graph, machine)),
      cDeclarations(program.types, instanceNames(graph)), frame(context, place({program.file, 0, 0})) {}

// ---- types and places ----

mlir::Location ModuleLowering::place(const Location& location) {
  return locationAt(diagnostics.sources(), location, context);
}

mlir::Type ModuleLowering::typeOf(const Type* type) {
  if (mlir::Type known = types_.lookup(type))
    return known;
  mlir::Type made;
  if (type->isInteger()) {
    made = mlir::IntegerType::get(&context, type->bits());
  } else if (type->kind == TypeKind::Float) {
    made = mlir::Float32Type::get(&context);
  } else if (type->kind == TypeKind::Double) {
    made = mlir::Float64Type::get(&context);
  } else {
    // A C array is laid out as a record with a field for each element, a union as one of the words that its members
    // share.
    const bool isUnion = type->kind == TypeKind::Union;
    llvm::SmallVector<mlir::StringAttr> names;
    llvm::SmallVector<mlir::Type> fields;
    for (int64_t word = 0; isUnion && word < wordsIn(type); ++word) {
      names.push_back(text("bits" + (wordsIn(type) == 1 ? std::string() : std::to_string(word))));
      fields.push_back(wordOf(type));
    }
    for (const Field& field : isUnion ? std::vector<Field>() : type->fields) {
      names.push_back(text(field.name));
      fields.push_back(typeOf(field.type));
    }
    for (uint64_t element = 0; type->isCArray() && element < type->count; ++element) {
      names.push_back(text("e" + std::to_string(element)));
      fields.push_back(typeOf(type->element));
    }
    std::string name = type->isCArray() ? "array" : type->tag.empty() ? "struct" : type->tag;
    made = svm::RecordType::get(&context, text(name), names, fields);
  }
  types_[type] = made;
  return made;
}

/// Scalars in a type, at most `limit` + 1 of them.
static uint64_t countScalars(const Type* type, uint64_t limit) {
  if (type->isCArray())
    return std::min(limit + 1, type->count * std::min(countScalars(type->element, limit), limit + 1));
  if (type->isArithmetic())
    return 1;
  uint64_t count = 0;
  for (const Field& field : type->fields)
    count = std::min(limit + 1, count + countScalars(field.type, limit));
  return count;
}

bool ModuleLowering::isWide(const Type* type) {
  if (type->isArithmetic() || type->isError() || type->isVoid())
    return false;
  auto known = wide_.find(type);
  if (known != wide_.end())
    return known->second;
  bool wide = countScalars(type, largestStruct) > largestStruct;
  if (type->isCArray())
    wide |= type->count > largestStructArray || isWide(type->element);
  else if (type->kind == TypeKind::Union)
    wide |= type->size / type->alignment > largestStructArray;
  for (const Field& field : type->fields)
    wide |= isWide(field.type);
  return wide_[type] = wide;
}

/// What the bodies of the instances, and of the functions that they call, do.
void ModuleLowering::analyzeBodies() {
  for (const Instance& instance : graph.instances)
    facts.analyze(instance.variant->body);
  // The list grows while the functions are walked.
  for (size_t next = 0; next < facts.calls().size(); ++next)
    facts.analyze(facts.calls()[next]->body);
}

void ModuleLowering::checkCombiners() {
  for (const Instance& instance : graph.instances)
    for (const ResolvedCallsite& site : instance.callsites)
      if (site.callsite->isCombiner && (site.targets.size() != 1 || !site.targets[0].conditions.empty()))
        diagnostics
            .report(combinerConditions, site.place.valid() ? site.place : instance.place, site.callsite->callee->name)
            .label(site.callsite->location, "the combining task")
            .help("leave one target, and no conditions in it");
}

// ---- names ----

std::string ModuleLowering::symbolOf(uint32_t instance) const {
  const std::string& name = graph.instances[instance].name;
  // An entry point's own name belongs to the function that the calling program sees.
  if (!graph.isEntry(instance))
    return name;
  if (isKernel(instance))
    return name + ".kernel";
  return graph.instances[instance].countsSelections ? name + ".counting"
         : isDealtOut(instance)                     ? name + ".dealt"
                                                    : name;
}

/// Whether an instance has arrays at a virtual level, which a calling program gives it from outside of there.
bool ModuleLowering::isDealtOut(uint32_t number) const {
  const Instance& instance = graph.instances[number];
  return llvm::any_of(instance.variant->parameters, [&](const Variable* parameter) {
    return parameter->isArray() && machine[machine.levels[instance.arrayLevels[parameter->index]].memory].isVirtual();
  });
}

std::string ModuleLowering::combinerSymbol(uint32_t instance) {
  auto known = combiners_.find(instance);
  if (known != combiners_.end())
    return known->second;
  const TaskVariant& variant = *graph.instances[instance].variant;
  bool blocksOnly = true;
  for (const Variable* parameter : variant.parameters)
    blocksOnly &= parameter->isArray() || parameter->direction != Direction::In || isWide(parameter->type);
  bool direct = blocksOnly && callerMade(instance).empty();
  std::string symbol = direct ? symbolOf(instance) : graph.instances[instance].name + ".combine";
  combiners_[instance] = symbol;
  if (!direct)
    pendingCombiners_.push_back(instance);
  return symbol;
}

std::vector<const Variable*> ModuleLowering::callerMade(uint32_t instance) const {
  std::vector<const Variable*> made;
  if (isKernel(instance))
    for (const Variable* array : graph.instances[instance].variant->arrays)
      if (array->kind == VariableKind::Local)
        made.push_back(array);
  return made;
}

int64_t ModuleLowering::scratchWords(uint32_t instance) const {
  const Instance& external = graph.instances[instance];
  bool hasArrays = false;
  for (const Variable* parameter : external.variant->parameters)
    hasArrays |= parameter->isArray();
  return hasArrays ? (external.scratch + 7) / 8 : 0;
}

std::string ModuleLowering::memoryAt(unsigned level) const {
  return machine[machine.levels[level].memory].name;
}

std::string ModuleLowering::processorAt(unsigned level) const {
  machine::ProcessorId id = machine.controllerOf(level);
  return id.valid() ? machine[id].name : std::string();
}

// ---- extents ----

mlir::AffineExpr ModuleLowering::affine(const LinearSize& size) const {
  mlir::AffineExpr sum = mlir::getAffineConstantExpr(size.constant, &context);
  for (auto [coefficient, parameter] : size.terms)
    sum = sum + mlir::getAffineSymbolExpr(parameter->index, &context) * coefficient;
  return sum;
}

mlir::AffineExpr ModuleLowering::affine(const Instance& instance, const Expr* extent) const {
  if (auto constant = constantOf(extent))
    return mlir::getAffineConstantExpr(*constant, &context);
  switch (extent->kind) {
  case ExprKind::Variable:
    if (extent->variable->kind == VariableKind::Tunable && instance.divisors[extent->variable->index])
      return {};
    if (extent->variable->kind == VariableKind::Tunable)
      return mlir::getAffineConstantExpr(instance.tunables[extent->variable->index], &context);
    return extent->variable->kind == VariableKind::SizeParameter
               ? mlir::getAffineSymbolExpr(extent->variable->index, &context)
               : mlir::AffineExpr();
  case ExprKind::Binary: {
    mlir::AffineExpr left = affine(instance, extent->operands[0]), right = affine(instance, extent->operands[1]);
    if (!left || !right)
      return {};
    if (extent->op == Operator::Add)
      return left + right;
    if (extent->op == Operator::Subtract)
      return left - right;
    if (extent->op == Operator::Multiply &&
        (left.isSymbolicOrConstant() &&
         (llvm::isa<mlir::AffineConstantExpr>(left) || llvm::isa<mlir::AffineConstantExpr>(right))))
      return left * right;
    return {};
  }
  default:
    return {};
  }
}

std::vector<mlir::AffineMap> ModuleLowering::extentMaps(uint32_t number, bool withCallerMade) {
  const Instance& instance = graph.instances[number];
  const TaskVariant& variant = *instance.variant;
  unsigned symbols = static_cast<unsigned>(variant.sizeParameters.size());
  std::vector<llvm::SmallVector<mlir::AffineExpr>> all;
  llvm::SmallVector<mlir::AffineExpr> scratch;
  auto addWords = [&](const Variable& variable) {
    if (isWide(variable.type))
      all.back().push_back(mlir::getAffineConstantExpr(wordsIn(variable.type), &context));
  };
  for (const Variable* parameter : variant.parameters) {
    all.emplace_back();
    for (const Extent& extent : parameter->extents)
      all.back().push_back(affine(extent.linear));
    addWords(*parameter);
  }
  if (withCallerMade && scratchWords(number))
    scratch.push_back(mlir::getAffineConstantExpr(scratchWords(number), &context));
  if (withCallerMade)
    for (const Variable* local : callerMade(number)) {
      all.emplace_back();
      for (const Extent& extent : local->extents) {
        mlir::AffineExpr expression = affine(instance, extent.expression);
        all.back().push_back(expression ? expression : mlir::getAffineSymbolExpr(symbols++, &context));
      }
      addWords(*local);
    }
  if (!scratch.empty())
    all.push_back(scratch);
  std::vector<mlir::AffineMap> maps;
  for (const auto& results : all)
    maps.push_back(mlir::AffineMap::get(0, symbols, results, &context));
  return maps;
}

// ---- the module ----

/// Whether some task calls an instance.
bool ModuleLowering::isCalled(uint32_t number) const {
  for (const Instance& instance : graph.instances)
    for (const ResolvedCallsite& site : instance.callsites)
      for (const ResolvedTarget& target : site.targets)
        if (target.instance == number)
          return true;
  return false;
}

mlir::ArrayAttr ModuleLowering::declarationsAttr(const std::vector<CDeclarations::Declaration>& declarations) {
  llvm::SmallVector<mlir::Attribute> result;
  auto text = [&](const std::string& of) { return mlir::StringAttr::get(&context, of); };
  auto optional = [&](const std::string& of) { return of.empty() ? mlir::StringAttr() : text(of); };
  for (const CDeclarations::Declaration& each : declarations)
    result.push_back(svm::DeclarationAttr::get(&context, text(each.name), text(each.definition),
                                               optional(each.typedefs), optional(each.assertions)));
  return mlir::ArrayAttr::get(&context, result);
}

std::optional<Lowered> ModuleLowering::run() {
  unsigned before = diagnostics.errorCount();
  checkCombiners();
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  analyzeBodies();
  module = frame.module();
  for (uint32_t number = 0; number < graph.instances.size(); ++number) {
    const Instance& instance = graph.instances[number];
    if (instance.variant->kind == TaskKind::External)
      externals_.push_back({instance.name, instance.externalFile, instance.variant,
                            static_cast<uint64_t>(instance.scratch), instance.place});
    if (isKernel(number))
      BodyLowering(*this, number, nullptr).lowerKernel(symbolOf(number), false);
    else
      BodyLowering(*this, number, &record.functions[instance.name])
          .lowerFunction(instance.name, false, graph.isEntry(number));
    if (graph.isEntry(number) && symbolOf(number) != instance.name && !isKernel(number) && isCalled(number))
      BodyLowering(*this, number, &record.functions[symbolOf(number)]).lowerFunction(symbolOf(number), false, false);
    if (graph.isEntry(number) && isKernel(number))
      BodyLowering(*this, number, &record.functions[instance.name]).lowerWrapper(instance.name, false, true);
  }
  lowerCombiners();
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  if (mlir::ArrayAttr declarations = declarationsAttr(cDeclarations.ofProgram()); !declarations.empty())
    module->setAttr(svm::SvmDialect::declarationsAttr, declarations);
  auto finished = frame.finish("sequoia", &machine, &record, diagnostics);
  if (!finished)
    return std::nullopt;
  return Lowered{std::move(finished), std::move(record), std::move(externals_)};
}

void ModuleLowering::lowerCombiners() {
  // Lowering a combiner can ask for another one.
  for (size_t next = 0; next < pendingCombiners_.size(); ++next) {
    uint32_t number = pendingCombiners_[next];
    std::string symbol = combiners_[number];
    const TaskVariant& variant = *graph.instances[number].variant;
    if (variant.kind == TaskKind::Leaf && callerMade(number).empty())
      BodyLowering(*this, number, nullptr).lowerKernel(symbol, true);
    else if (variant.kind == TaskKind::Inner)
      BodyLowering(*this, number, &record.functions[symbol]).lowerFunction(symbol, true, false);
    else
      BodyLowering(*this, number, &record.functions[symbol]).lowerWrapper(symbol, true, false);
  }
}

std::optional<Lowered> lower(const Program& program, const InstanceGraph& graph, const Machine& machine,
                             mlir::MLIRContext& context, DiagnosticEngine& diagnostics, const KnownSizes& known) {
  return ModuleLowering(program, graph, machine, context, diagnostics, known).run();
}

} // namespace strata::sequoia
