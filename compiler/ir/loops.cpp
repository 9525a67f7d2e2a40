// Parallel loops, instances and code on other processors: how they are built, their syntax, and their verifiers.
#include "compiler/ir/names.h"
#include "compiler/ir/svm.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

/// A region of one block with these arguments, which the builder is not moved to.
static void addBody(OpBuilder& builder, OperationState& state, unsigned indices, ValueRange reductions) {
  OpBuilder::InsertionGuard guard(builder);
  Block* block = builder.createBlock(state.addRegion());
  for (unsigned index = 0; index < indices; ++index)
    block->addArgument(builder.getIndexType(), state.location);
  for (Value reduction : reductions)
    block->addArgument(reduction.getType(), reduction.getLoc());
}

void ParallelOp::build(OpBuilder& builder, OperationState& state, ValueRange lower, ValueRange upper,
                       ValueRange reductions, ArrayAttr combiners, StringAttr label) {
  state.addOperands(lower);
  state.addOperands(upper);
  state.addOperands(reductions);
  auto& properties = state.getOrAddProperties<ParallelOp::Properties>();
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(lower.size()), static_cast<int32_t>(upper.size()),
                               static_cast<int32_t>(reductions.size())},
             properties.operandSegmentSizes.begin());
  properties.combiners = combiners;
  properties.label = label;
  addBody(builder, state, static_cast<unsigned>(lower.size()), reductions);
}

void InstancesOp::build(OpBuilder& builder, OperationState& state, Value lower, Value upper,
                        FlatSymbolRefAttr processor, StringAttr label) {
  state.addOperands({lower, upper});
  auto& properties = state.getOrAddProperties<InstancesOp::Properties>();
  properties.processor = processor;
  properties.label = label;
  addBody(builder, state, 1, {});
}

void OnOp::build(OpBuilder& builder, OperationState& state, FlatSymbolRefAttr processor) {
  state.getOrAddProperties<OnOp::Properties>().processor = processor;
  addBody(builder, state, 0, {});
}

SmallVector<Region*> ParallelOp::getLoopRegions() {
  return {&getBody()};
}

SmallVector<Region*> InstancesOp::getLoopRegions() {
  return {&getBody()};
}

int64_t ParallelOp::allParts() {
  int64_t all = 1;
  for (unsigned dimension = 0; dimension < dimensions(); ++dimension)
    all *= partsOf(dimension);
  return all;
}

static ParseResult parseProcessor(OpAsmParser& parser, FlatSymbolRefAttr& into) {
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  into = FlatSymbolRefAttr::get(name);
  return success();
}

/// A keyword with one number, or with one for each dimension in brackets. Nothing where the keyword is not there.
static ParseResult parseNumbers(OpAsmParser& parser, StringRef keyword, DenseI64ArrayAttr& into) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  SmallVector<int64_t> numbers;
  auto parseOne = [&] { return parser.parseInteger(numbers.emplace_back()); };
  OptionalParseResult one = parser.parseOptionalInteger(numbers.emplace_back());
  if (!one.has_value()) {
    numbers.clear();
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
      return failure();
  } else if (failed(*one)) {
    return failure();
  }
  into = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printNumbers(OpAsmPrinter& printer, StringRef keyword, std::optional<ArrayRef<int64_t>> numbers) {
  if (!numbers)
    return;
  printer << ' ' << keyword << ' ';
  if (numbers->size() == 1) {
    printer << numbers->front();
    return;
  }
  printer << '[';
  llvm::interleaveComma(*numbers, printer.getStream());
  printer << ']';
}

// svm.parallel "i" (%i, %j) = (%a, %b) to (%m, %n) reduce(%p = %c : memref<…> with #svm.combiner<@f>) on @pe in @m
// parts [4, 2] chunk [1, 0] concurrent { … } attrs
ParseResult ParallelOp::parse(OpAsmParser& parser, OperationState& result) {
  auto& builder = parser.getBuilder();
  auto& properties = result.getOrAddProperties<ParallelOp::Properties>();
  auto index = builder.getIndexType();
  std::string label;
  if (succeeded(parser.parseOptionalString(&label)))
    properties.label = builder.getStringAttr(label);
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> lower, upper, reductions;
  SmallVector<Type> reduced;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) || parser.parseEqual() ||
      parser.parseOperandList(lower, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("to") ||
      parser.parseOperandList(upper, OpAsmParser::Delimiter::Paren) ||
      parser.resolveOperands(lower, index, result.operands) || parser.resolveOperands(upper, index, result.operands))
    return failure();
  if (arguments.empty() || lower.size() != arguments.size() || upper.size() != arguments.size())
    return parser.emitError(place) << "has " << arguments.size() << " indices, " << lower.size() << " lower and "
                                   << upper.size() << " upper bounds; each dimension has one of each";
  for (OpAsmParser::Argument& argument : arguments)
    argument.type = index;
  if (succeeded(parser.parseOptionalKeyword("reduce"))) {
    SmallVector<Attribute> combiners;
    auto parseOne = [&]() -> ParseResult {
      OpAsmParser::Argument argument;
      CombinerAttr combiner;
      if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(reductions.emplace_back()) ||
          parser.parseColonType(argument.type) || parser.parseKeyword("with") || parser.parseAttribute(combiner))
        return failure();
      reduced.push_back(argument.type);
      arguments.push_back(argument);
      combiners.push_back(combiner);
      return success();
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne) ||
        parser.resolveOperands(reductions, reduced, place, result.operands))
      return failure();
    properties.combiners = builder.getArrayAttr(combiners);
  }
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(lower.size()), static_cast<int32_t>(upper.size()),
                               static_cast<int32_t>(reductions.size())},
             properties.operandSegmentSizes.begin());
  if (succeeded(parser.parseOptionalKeyword("on")) && parseProcessor(parser, properties.processor))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("in")) && parseProcessor(parser, properties.private_memory))
    return failure();
  if (parseNumbers(parser, "parts", properties.parts) || parseNumbers(parser, "chunk", properties.chunk))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("concurrent")))
    properties.concurrent = builder.getUnitAttr();
  return failure(parser.parseRegion(*result.addRegion(), arguments) || parser.parseOptionalAttrDict(result.attributes));
}

void ParallelOp::print(OpAsmPrinter& printer) {
  if (getLabel())
    printer << ' ' << getLabelAttr();
  printer << " (";
  for (unsigned dimension = 0; dimension < dimensions(); ++dimension) {
    printer << (dimension ? ", " : "");
    printer.printRegionArgument(iteration(dimension), {}, /*omitType=*/true);
  }
  printer << ") = (" << getLower() << ") to (" << getUpper() << ")";
  if (!getReductions().empty()) {
    printer << " reduce(";
    for (auto [position, operand] : llvm::enumerate(getReductions())) {
      if (position)
        printer << ", ";
      printer.printRegionArgument(privateCopy(position), {}, true);
      printer << " = " << operand << " : " << operand.getType() << " with " << (*getCombiners())[position];
    }
    printer << ")";
  }
  if (getProcessor())
    printer << " on " << getProcessorAttr();
  if (getPrivateMemory())
    printer << " in " << getPrivateMemoryAttr();
  printNumbers(printer, "parts", getParts());
  printNumbers(printer, "chunk", getChunk());
  if (getConcurrent())
    printer << " concurrent";
  printer << ' ';
  printer.printRegion(getBody(), false, false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"label", "combiners", "processor", "private_memory", "parts",
                                                      "chunk", "concurrent", "operandSegmentSizes"});
}

LogicalResult ParallelOp::verify() {
  Block& block = getBody().front();
  size_t combiners = getCombiners() ? getCombiners()->size() : 0;
  if (!dimensions() || getUpper().size() != dimensions())
    return emitOpError("has ") << dimensions() << " lower and " << getUpper().size()
                               << " upper bounds; each dimension has one of each";
  if (combiners != getReductions().size())
    return emitOpError("has ") << getReductions().size() << " reductions and " << combiners << " combiners";
  if (getCombiners())
    for (auto combiner : getCombiners()->getAsRange<CombinerAttr>())
      if (failed(verifyName(*this, "a combiner with a label", combiner.getLabel().getValue())))
        return failure();
  if (block.getNumArguments() != dimensions() + combiners ||
      !llvm::all_of(block.getArguments().take_front(dimensions()),
                    [](BlockArgument argument) { return argument.getType().isIndex(); }))
    return emitOpError("has a region whose arguments are not the iteration's indices and one private copy a reduction");
  for (auto [position, operand] : llvm::enumerate(getReductions()))
    if (withMemory(cast<MemRefType>(operand.getType()), "") !=
        withMemory(cast<MemRefType>(privateCopy(position).getType()), ""))
      return emitOpError("has a private copy of another type than its reduction");
  for (auto numbers : {getParts(), getChunk()})
    if (numbers && numbers->size() != dimensions())
      return emitOpError("has ") << dimensions() << " dimensions and says of " << numbers->size()
                                 << " how they are distributed";
  int64_t all = 1;
  for (unsigned dimension = 0; dimension < dimensions(); ++dimension) {
    if (partsOf(dimension) < 1 || __builtin_mul_overflow(all, partsOf(dimension), &all))
      return emitOpError("is distributed in ")
             << partsOf(dimension) << " parts; it takes one at least, and less than 2^63";
    if (chunkOf(dimension) < 0)
      return emitOpError("has chunks of a negative number of iterations");
  }
  return verifyLabel(*this, getLabel());
}

// svm.instances "i" (%p) = (%a) to (%n) on @pe parts 8 concurrent { … } attrs
ParseResult InstancesOp::parse(OpAsmParser& parser, OperationState& result) {
  auto& builder = parser.getBuilder();
  auto& properties = result.getOrAddProperties<InstancesOp::Properties>();
  auto index = builder.getIndexType();
  std::string label;
  if (succeeded(parser.parseOptionalString(&label)))
    properties.label = builder.getStringAttr(label);
  OpAsmParser::Argument argument;
  OpAsmParser::UnresolvedOperand lower, upper;
  argument.type = index;
  if (parser.parseLParen() || parser.parseArgument(argument) || parser.parseRParen() || parser.parseEqual() ||
      parser.parseLParen() || parser.parseOperand(lower) || parser.parseRParen() || parser.parseKeyword("to") ||
      parser.parseLParen() || parser.parseOperand(upper) || parser.parseRParen() || parser.parseKeyword("on") ||
      parseProcessor(parser, properties.processor) || parser.resolveOperand(lower, index, result.operands) ||
      parser.resolveOperand(upper, index, result.operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("parts"))) {
    int64_t parts = 0;
    if (parser.parseInteger(parts))
      return failure();
    properties.parts = builder.getI64IntegerAttr(parts);
  }
  if (succeeded(parser.parseOptionalKeyword("concurrent")))
    properties.concurrent = builder.getUnitAttr();
  return failure(parser.parseRegion(*result.addRegion(), argument) || parser.parseOptionalAttrDict(result.attributes));
}

void InstancesOp::print(OpAsmPrinter& printer) {
  if (getLabel())
    printer << ' ' << getLabelAttr();
  printer << " (";
  printer.printRegionArgument(instance(), {}, /*omitType=*/true);
  printer << ") = (" << getLower() << ") to (" << getUpper() << ") on " << getProcessorAttr();
  if (getParts())
    printer << " parts " << *getParts();
  if (getConcurrent())
    printer << " concurrent";
  printer << ' ';
  printer.printRegion(getBody(), false, false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"label", "processor", "parts", "concurrent"});
}

LogicalResult InstancesOp::verify() {
  Block& block = getBody().front();
  if (block.getNumArguments() != 1 || !block.getArgument(0).getType().isIndex())
    return emitOpError("has a region whose argument is not the instance's number");
  if (getPartsAttr() && getPartsAttr().getInt() < 1)
    return emitOpError("is distributed in ") << getPartsAttr().getInt() << " parts; it takes one at least";
  return verifyLabel(*this, getLabel());
}

LogicalResult OnOp::verify() {
  return getBody().front().getNumArguments() ? emitOpError("has a region with arguments; it takes none") : success();
}
