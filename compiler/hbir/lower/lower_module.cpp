// The driver of lowering: which blocks hold the program's data, which kernels its code becomes, and the module's
// attributes.
#include "compiler/hbir/lower/lower_module.h"

#include "compiler/hbir/lower/lower_body.h"
#include "compiler/hbir/lower/lower_entry.h"
#include "compiler/ir/locations.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace func = mlir::func;

namespace strata::hbir {

STRATA_DIAGNOSTIC(externName, Error, "hbir-extern-name",
                  "the extern function '{0}' has a name that this version keeps for itself");
STRATA_DIAGNOSTIC(
    notAffine, Warning, "hbir-layout-not-affine",
    "where the elements of '{0}' lie is no sum of multiples and quotients of their indices; they are taken to lie "
    "in one memory");
STRATA_DIAGNOSTIC(
    copiesSize, Error, "hbir-copies-size",
    "tiles write the replicated array '{0}', so that each of {1} memories has a copy, which together have too "
    "many elements");

mlir::AffineExpr affineOf(const IndexExpression& expression, mlir::MLIRContext* context) {
  using Kind = IndexExpression::Kind;
  if (expression.kind == Kind::Constant)
    return mlir::getAffineConstantExpr(expression.value, context);
  if (expression.kind == Kind::Variable)
    return mlir::getAffineDimExpr(static_cast<unsigned>(expression.value), context);
  mlir::AffineExpr left = affineOf(expression.operands[0], context), right = affineOf(expression.operands[1], context);
  if (!left || !right)
    return {};
  auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(right);
  switch (expression.kind) {
  case Kind::Add:
    return left + right;
  case Kind::Subtract:
    return left - right;
  case Kind::Multiply:
    return constant || llvm::isa<mlir::AffineConstantExpr>(left) ? left * right : mlir::AffineExpr();
  case Kind::Divide:
    return constant && constant.getValue() > 0 ? left.floorDiv(right) : mlir::AffineExpr();
  case Kind::Modulo:
    return constant && constant.getValue() > 0 ? left % right : mlir::AffineExpr();
  default:
    return {};
  }
}

std::string kernelSymbol(const std::string& name) {
  return llvm::StringRef(name).starts_with("strata") ? "hbir." + name : name;
}

ModuleLowering::ModuleLowering(const Program& program, const Machine& machine, mlir::MLIRContext& context,
                               DiagnosticEngine& diagnostics, std::string entry)
    : context(context), program(program), machine(machine), diagnostics(diagnostics), entry(std::move(entry)),
      frame(context, place(program.target.where)), startFacts_(program.start), noFacts_(std::vector<StatementPtr>()) {
  for (const CodeBlock& block : program.blocks) {
    facts_.emplace_back(block.body);
    isConcurrent |= facts_.back().waits();
  }
}

mlir::Location ModuleLowering::place(const Location& location) {
  return locationAt(diagnostics.sources(), location, context);
}

mlir::Type ModuleLowering::elementType(ScalarType type) {
  switch (type) {
  case ScalarType::Int:
    return mlir::IntegerType::get(&context, 32);
  case ScalarType::Float:
    return mlir::Float32Type::get(&context);
  case ScalarType::Bool:
    break;
  }
  return mlir::IntegerType::get(&context, 1);
}

const SharedBlock* ModuleLowering::blockOf(const Symbol* symbol) const {
  if (symbol->kind != SymbolKind::Array && symbol->kind != SymbolKind::Global)
    return nullptr;
  for (const SharedBlock& block : blocks_)
    if (symbol->kind == SymbolKind::Array ? block.array == symbol->array : block.global == symbol)
      return &block;
  return nullptr;
}

bool ModuleLowering::isAwaited(const Symbol* symbol) const {
  return isConcurrent &&
         llvm::any_of(facts_, [&](const CodeFacts& facts) { return facts.awaited().contains(keyOf(*symbol)); });
}

bool ModuleLowering::checkExterns() {
  bool fine = true;
  for (const Extern& each : program.externs)
    if (each.name == entry || llvm::StringRef(each.name).starts_with("strata")) {
      diagnostics.report(externName, each.where, each.name)
          .help("call it by another name; '" + entry +
                "' and names that begin with 'strata' are the compiled program's own");
      fine = false;
    }
  return fine;
}

/// A global variable that is given a number before anybody mentions it, and never again, is that number.
void ModuleLowering::findConstants() {
  for (size_t number = 0; number < program.start.size(); ++number) {
    const Statement& each = *program.start[number];
    const Symbol* symbol =
        each.kind == StatementKind::Declare ? each.symbol
        : each.kind == StatementKind::Assign && !each.compound && each.target->kind == ExpressionKind::Variable
            ? each.target->symbol
            : nullptr;
    if (!symbol || symbol->kind != SymbolKind::Global || !symbol->extents.empty() || !each.value)
      continue;
    const Expression& value = *each.value;
    bool isConstant =
        (value.kind == ExpressionKind::Integer && value.integer >= INT32_MIN && value.integer <= INT32_MAX) ||
        value.kind == ExpressionKind::Real || value.kind == ExpressionKind::Boolean;
    for (size_t other = 0; other < program.start.size() && isConstant; ++other)
      isConstant = other == number || !(other < number ? mentions(*program.start[other], symbol)
                                                       : assigns(program.start[other].get(), symbol));
    if (isConstant && llvm::none_of(facts_, [&](const CodeFacts& facts) { return facts.isWritten(symbol); }))
      constants_[symbol] = &value;
  }
}

/// Whether a statement only says what a constant is.
bool ModuleLowering::definesConstant(const Statement& statement) const {
  const Symbol* symbol = statement.kind == StatementKind::Declare  ? statement.symbol
                         : statement.kind == StatementKind::Assign ? statement.target->symbol
                                                                   : nullptr;
  return symbol && constantOf(symbol);
}

mlir::Attribute ModuleLowering::distribution(const SharedBlock& block, const ResolvedLayout& layout) {
  const unsigned rank = static_cast<unsigned>(block.extents.size()), first = block.copied ? 1 : 0;
  auto shifted = [&](const IndexExpression& expression) {
    mlir::AffineExpr made = affineOf(expression, &context);
    return made ? made.shiftDims(rank, first) : made;
  };
  llvm::SmallVector<mlir::AffineExpr> instance;
  if (block.copied)
    instance.push_back(mlir::getAffineDimExpr(0, &context));
  else if (!layout.everywhere)
    instance.push_back(shifted(layout.instance));
  mlir::AffineExpr offset = shifted(layout.offset);
  if (!offset || (!instance.empty() && !instance[0])) {
    diagnostics.report(notAffine, block.array->layout.where, block.name());
    return {};
  }
  return svm::DistributionAttr::get(&context, text(layout.memory), std::max<int64_t>(layout.instances, 1),
                                    layout.perProcessor, mlir::AffineMap::get(rank, 0, instance, &context),
                                    mlir::AffineMap::get(rank, 0, {offset}, &context));
}

bool ModuleLowering::describeArray(const Array& array, const ResolvedLayout& layout) {
  auto touches = [&](const CodeFacts& facts) { return facts.touch(&array).read || facts.touch(&array).written; };
  if (!touches(startFacts_) && llvm::none_of(facts_, touches))
    return true; // nothing happens to it
  SharedBlock block;
  block.array = &array;
  block.extents = array.extents;
  if (layout.everywhere && layout.instances > 1 &&
      llvm::any_of(facts_, [&](const CodeFacts& facts) { return facts.touch(&array).written; })) {
    block.copied = true;
    block.copies = layout.instances;
    block.perProcessor = layout.perProcessor;
    block.firstCopy = layout.instance.evaluate(std::vector<int64_t>(array.extents.size(), 0)).value_or(0);
    block.extents.insert(block.extents.begin(), block.copies);
    if (bytesOf(array.type, block.extents) > int64_t(1) << 60) {
      diagnostics.report(copiesSize, array.where, array.name, block.copies)
          .help("use a smaller target, or give the array a layout that is not replicated");
      return false;
    }
  }
  block.type =
      svm::viewType(static_cast<unsigned>(block.extents.size()), elementType(array.type), distribution(block, layout));
  blocks_.push_back(std::move(block));
  return true;
}

/// One copy that all tiles share: in the first of the global memories, else in that of the first tile.
void ModuleLowering::describeGlobal(const Symbol& global) {
  if (constantOf(&global))
    return;
  SharedBlock block;
  block.global = &global;
  block.extents = global.extents;
  mlir::Attribute space;
  if (!program.target.memories.empty()) {
    const MemoryClass& memory = program.target.memories.front();
    int64_t tiles = 1;
    for (int64_t extent : program.target.extents)
      tiles *= extent;
    const unsigned rank = static_cast<unsigned>(global.extents.size());
    mlir::AffineExpr offset = mlir::getAffineConstantExpr(0, &context);
    for (unsigned dimension = 0; dimension < rank; ++dimension)
      offset = offset * global.extents[dimension] + mlir::getAffineDimExpr(dimension, &context);
    space = svm::DistributionAttr::get(
        &context, text(memory.name), std::max<int64_t>(memory.local ? tiles * memory.count : memory.count, 1),
        memory.local ? memory.count : 0,
        mlir::AffineMap::get(rank, 0, {mlir::getAffineConstantExpr(0, &context)}, &context),
        mlir::AffineMap::get(rank, 0, {offset}, &context));
  }
  block.type = svm::viewType(static_cast<unsigned>(global.extents.size()), elementType(global.type), space);
  blocks_.push_back(std::move(block));
}

bool ModuleLowering::describeBlocks() {
  bool fine = true;
  std::vector<ResolvedLayout> layouts = resolveLayouts(program);
  for (size_t number = 0; number < program.arrays.size(); ++number)
    fine &= describeArray(program.arrays[number], layouts[number]);
  for (const Symbol* global : program.globals)
    describeGlobal(*global);
  return fine;
}

void ModuleLowering::declareExterns() {
  mlir::OpBuilder builder(&context);
  for (const Extern& each : program.externs) {
    builder.setInsertionPointToEnd(module.getBody());
    llvm::SmallVector<mlir::Type> inputs, results;
    for (ScalarType parameter : each.parameters)
      inputs.push_back(elementType(parameter));
    if (each.result)
      results.push_back(elementType(*each.result));
    auto made = builder.create<func::FuncOp>(place(each.where), each.name, builder.getFunctionType(inputs, results));
    made.setPrivate();
  }
}

std::vector<const SharedBlock*> ModuleLowering::touchedBy(const CodeFacts& facts) const {
  std::vector<const SharedBlock*> touched;
  for (const SharedBlock& block : blocks_) {
    Touch touch = block.array ? facts.touch(block.array) : facts.touch(block.global);
    if (touch.read || touch.written)
      touched.push_back(&block);
  }
  return touched;
}

KernelPlan ModuleLowering::planOf(const CodeFacts& facts, std::string symbol) const {
  KernelPlan plan;
  plan.symbol = std::move(symbol);
  plan.facts = &facts;
  plan.blocks = touchedBy(facts);
  plan.buffers = buffersOf(facts);
  return plan;
}

void ModuleLowering::lowerKernels() {
  // Data that nobody gives a value begins as zero.
  std::vector<const SharedBlock*> cleared;
  std::set<const Symbol*> declared;
  bool hasStart = false;
  for (const StatementPtr& each : program.start) {
    if (each->kind == StatementKind::Declare && each->symbol->kind == SymbolKind::Global)
      declared.insert(each->symbol);
    hasStart |= !definesConstant(*each);
  }
  for (const SharedBlock& block : blocks_) {
    bool isRead = block.global || startFacts_.touch(block.array).read;
    for (const CodeFacts& facts : facts_)
      isRead |= block.array && facts.touch(block.array).read;
    if (block.global ? !declared.contains(block.global) : block.array->direction == Direction::Temporary && isRead)
      cleared.push_back(&block);
  }
  if (!cleared.empty()) {
    clear_ = planOf(noFacts_, "start.clear");
    clear_->blocks = cleared;
    BodyLowering(*this, *clear_, nullptr).lower({}, cleared, program.target.where);
  }
  if (hasStart) {
    start_ = planOf(startFacts_, "start.code");
    BodyLowering(*this, *start_, nullptr).lower(program.start, {}, program.start.front()->where);
  }
  kernels_.resize(program.blocks.size());
  for (size_t number = 0; number < program.blocks.size(); ++number) {
    const CodeBlock& block = program.blocks[number];
    if (block.body.empty() || block.tile.empty() ||
        llvm::any_of(block.variables, [](const GroupIndex& variable) { return variable.extent <= 0; }))
      continue;
    std::string path = block.group ? pathOf(*block.group) : "block";
    kernels_[number] = planOf(facts_[number], kernelSymbol(path + "." + std::to_string(number)));
    kernels_[number].takesTile = true;
    // A tile that has finished skips the blocks behind as well.
    if (facts_[number].jumps() & FinishJump)
      for (size_t later = number + 1; later < program.blocks.size(); ++later)
        kernels_[number].tellsFinish |= !program.blocks[later].body.empty();
    BodyLowering(*this, kernels_[number], &block.variables).lower(block.body, {}, block.where);
  }
}

std::optional<Lowered> ModuleLowering::run() {
  if (!checkExterns())
    return std::nullopt;
  findConstants();
  if (!describeBlocks())
    return std::nullopt;
  module = frame.module();
  declareExterns();
  lowerKernels();
  EntryLowering(*this, record_.functions[entry]).run();
  auto finished = frame.finish("hbir", &machine, &record_, diagnostics);
  if (!finished)
    return std::nullopt;
  return Lowered{std::move(finished), std::move(record_)};
}

std::optional<Lowered> lower(const Program& program, const Machine& machine, mlir::MLIRContext& context,
                             DiagnosticEngine& diagnostics, const std::string& entry) {
  return ModuleLowering(program, machine, context, diagnostics, entry).run();
}

} // namespace strata::hbir
