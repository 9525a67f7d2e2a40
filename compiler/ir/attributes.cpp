// The table of the dialect's attributes, made from attributes.def, and what is asked of it.
#include "compiler/ir/attributes.h"

#include "compiler/ir/names.h"

#include "base/source/diagnostic.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace strata::svm {

/// What an attribute holds.
enum class AttributeValue {
  Flag,         // nothing: it is there or not
  Name,         // a string that messages or figures show (problemOfName)
  Text,         // a string
  Texts,        // strings
  Number,       // an integer of 64 bits, 0 or more
  Count,        // an integer of 64 bits, 1 or more
  Numbers,      // integers of 64 bits, 0 or more
  Pair,         // a number and a count
  Symbol,       // the name of something of the program or machine
  Maps,         // affine maps
  Dictionary,   // by function
  Dictionaries, // several, each of one thing
  Place,        // a place in a source file
  StageName,    // a stage
  Access,       // how a block is accessed
  Tunables,     // #svm.tunable
  Declarations, // #svm.declaration
};

struct AttributeDefinition {
  StringRef name;
  AttributeValue value;
  uint32_t places, stages; // bits of entries::AttributePlace and of Stage
  StringRef example;
};

namespace {

constexpr uint32_t bit(Stage stage) {
  return 1U << static_cast<unsigned>(stage);
}

/// The places and stages by their names in the table, and the table.
namespace entries {
/// What an attribute stands on: a set.
enum AttributePlace : uint32_t {
  Module = 1 << 0,
  Function = 1 << 1,
  Kernel = 1 << 2,
  FunctionArgument = 1 << 3,
  KernelArgument = 1 << 4,
  Run = 1 << 5,
  Call = 1 << 6,
  Move = 1 << 7,
  Wait = 1 << 8,
  Block = 1 << 9,
  Stream = 1 << 10,
  Scope = 1 << 11,
  Parallel = 1 << 12,
  For = 1 << 13,
  If = 1 << 14,
  Load = 1 << 15,
  Store = 1 << 16,
  Sum = 1 << 17,
  Check = 1 << 18,
  Span = 1 << 19,
  Instances = 1 << 20,
};

constexpr uint32_t Logical = bit(Stage::Logical), Placed = bit(Stage::Placed), Scheduled = bit(Stage::Scheduled),
                   Lowering = bit(Stage::Lowering);

constexpr AttributeDefinition all[] = {
#define SVM_ATTRIBUTE(identifier, name, value, places, stages, meaning, example)                                       \
  {name, AttributeValue::value, static_cast<uint32_t>(places), stages, example},
#include "compiler/ir/attributes.def"
};
} // namespace entries

constexpr StringRef prefix = "svm.";

/// Each place in words, in the order of the bits.
constexpr StringRef placeWords[] = {"module",
                                    "function",
                                    "kernel",
                                    "argument of a function",
                                    "argument of a kernel",
                                    "run",
                                    "call",
                                    "move",
                                    "wait",
                                    "block",
                                    "stream",
                                    "scope",
                                    "'svm.parallel'",
                                    "'scf.for'",
                                    "'scf.if'",
                                    "load",
                                    "store",
                                    "sum, difference or product of integers",
                                    "check",
                                    "span",
                                    "'svm.instances'"};

/// "one", "one or two", "one, two or three".
std::string listed(ArrayRef<std::string> words, StringRef last) {
  std::string text;
  for (auto [position, word] : llvm::enumerate(words))
    text += (position == 0 ? "" : position + 1 == words.size() ? " " + last.str() + " " : ", ") + word;
  return text;
}

std::string placesOf(const AttributeDefinition& attribute) {
  SmallVector<std::string> words;
  for (auto [position, word] : llvm::enumerate(placeWords))
    if (attribute.places & (1U << position))
      words.push_back(word.str());
  return listed(words, "or");
}

/// The place that an operation is, or 0.
uint32_t placeOf(Operation* op) {
  if (isa<ModuleOp>(op))
    return entries::Module;
  if (isa<func::FuncOp>(op))
    return entries::Function;
  if (isa<KernelOp>(op))
    return entries::Kernel;
  if (isa<RunOp>(op))
    return entries::Run;
  if (isa<func::CallOp>(op))
    return entries::Call;
  if (isa<MoveOp, GatherOp, ScatterOp>(op))
    return entries::Move;
  if (isa<WaitOp>(op))
    return entries::Wait;
  if (isa<BlockOp>(op))
    return entries::Block;
  if (isa<StreamOp>(op))
    return entries::Stream;
  if (isa<ScopeOp>(op))
    return entries::Scope;
  if (isa<ParallelOp>(op))
    return entries::Parallel;
  if (isa<InstancesOp>(op))
    return entries::Instances;
  if (isa<scf::ForOp>(op))
    return entries::For;
  if (isa<scf::IfOp>(op))
    return entries::If;
  if (isa<memref::LoadOp, affine::AffineLoadOp>(op))
    return entries::Load;
  if (isa<memref::StoreOp, affine::AffineStoreOp>(op))
    return entries::Store;
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) &&
      isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return entries::Sum;
  if (isa<CheckOp>(op))
    return entries::Check;
  return isa<SpanOp>(op) ? entries::Span : 0;
}

template <typename Element>
bool isListOf(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<Element>);
}

bool isNumber(Attribute value, int64_t least) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= least;
}

template <typename Enum>
bool isWordOf(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && symbolizeEnum<Enum>(text.getValue());
}

bool holds(AttributeValue kind, Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  switch (kind) {
  case AttributeValue::Flag:
    return isa<UnitAttr>(value);
  case AttributeValue::Name:
    return isa<StringAttr>(value) && problemOfName(cast<StringAttr>(value).getValue()).empty();
  case AttributeValue::Text:
    return isa<StringAttr>(value);
  case AttributeValue::Texts:
    return isListOf<StringAttr>(value);
  case AttributeValue::Number:
    return isNumber(value, 0);
  case AttributeValue::Count:
    return isNumber(value, 1);
  case AttributeValue::Numbers:
    return numbers && llvm::all_of(numbers.asArrayRef(), [](int64_t each) { return each >= 0; });
  case AttributeValue::Pair:
    return numbers && numbers.size() == 2 && numbers[0] >= 0 && numbers[1] >= 1;
  case AttributeValue::Symbol:
    return isa<FlatSymbolRefAttr>(value);
  case AttributeValue::Maps:
    return isListOf<AffineMapAttr>(value);
  case AttributeValue::Dictionary:
    return isa<DictionaryAttr>(value);
  case AttributeValue::Dictionaries:
    return isListOf<DictionaryAttr>(value);
  case AttributeValue::Place:
    return isa<LocationAttr>(value);
  case AttributeValue::StageName:
    return isWordOf<Stage>(value);
  case AttributeValue::Access:
    return isWordOf<Access>(value);
  case AttributeValue::Tunables:
    return isListOf<TunableAttr>(value);
  case AttributeValue::Declarations:
    return isListOf<DeclarationAttr>(value);
  }
  return false;
}

/// Behind "'NAME' is".
StringRef valueWords(AttributeValue kind) {
  switch (kind) {
  case AttributeValue::Flag:
    return "a mark without a value";
  case AttributeValue::Name:
    return "a string that is not empty, without zero characters and numbers in braces";
  case AttributeValue::Text:
    return "a string";
  case AttributeValue::Texts:
    return "a list of strings";
  case AttributeValue::Number:
    return "an integer of 64 bits, 0 or more";
  case AttributeValue::Count:
    return "an integer of 64 bits, 1 or more";
  case AttributeValue::Numbers:
    return "an array of integers of 64 bits, 0 or more";
  case AttributeValue::Pair:
    return "an array of two integers of 64 bits, the first 0 or more and the second 1 or more";
  case AttributeValue::Symbol:
    return "a name with @";
  case AttributeValue::Maps:
    return "a list of affine maps";
  case AttributeValue::Dictionary:
    return "a dictionary of functions";
  case AttributeValue::Dictionaries:
    return "a list of dictionaries";
  case AttributeValue::Place:
    return "a place in a file";
  case AttributeValue::StageName:
    return "\"logical\", \"placed\", \"scheduled\" or \"lowering\"";
  case AttributeValue::Access:
    return "\"read\", \"write\" or \"readwrite\"";
  case AttributeValue::Tunables:
    return "a list of tunables";
  case AttributeValue::Declarations:
    return "a list of declarations";
  }
  return "";
}

/// An error at an operation, or at an argument where that has a place of its own.
InFlightDiagnostic report(Operation* op, std::optional<unsigned> argument) {
  mlir::Location place = op->getLoc();
  if (auto function = dyn_cast<FunctionOpInterface>(op); argument && function && !function.getFunctionBody().empty())
    if (mlir::Block& entry = function.getFunctionBody().front(); *argument < entry.getNumArguments())
      place = entry.getArgument(*argument).getLoc();
  return emitError(isa<UnknownLoc>(place) ? op->getLoc() : place) << "'" << op->getName() << "' op ";
}

/// The attribute that was probably meant by a name, or an empty text.
std::string nearest(StringRef name) {
  std::vector<std::string> names;
  for (const AttributeDefinition& each : entries::all)
    names.push_back(each.name.drop_front(prefix.size()).str());
  const std::string found = nearestName(name.drop_front(prefix.size()).str(), names);
  return found.empty() ? found : (prefix + found).str();
}

} // namespace

const AttributeDefinition* findAttribute(StringRef name) {
  static const auto byName = [] {
    llvm::StringMap<const AttributeDefinition*> map;
    for (const AttributeDefinition& each : entries::all)
      map[each.name] = &each;
    return map;
  }();
  return byName.lookup(name);
}

StringRef nameOf(const AttributeDefinition& attribute) {
  return attribute.name;
}

std::string stagesOf(const AttributeDefinition& attribute) {
  SmallVector<std::string> words;
  for (Stage stage : {Stage::Logical, Stage::Placed, Stage::Scheduled})
    if (attribute.stages & bit(stage))
      words.push_back(stringifyStage(stage).str());
  return words.empty() ? "a target's own" : listed(words, "and") + " programs";
}

LogicalResult verifyAttribute(Operation* op, NamedAttribute attribute, std::optional<unsigned> argument) {
  const StringRef name = attribute.getName();
  const std::string here = argument ? " on argument " + std::to_string(*argument) : "";
  const AttributeDefinition* definition = findAttribute(name);
  if (!definition) {
    const std::string other = nearest(name);
    return report(op, argument) << "carries '" << name << "'" << here << ", which the dialect does not have; "
                                << (other.empty() ? "docs/dialect.md lists what it has"
                                                  : "did you mean '" + other + "'?");
  }
  uint32_t place = placeOf(op);
  if (argument)
    place = place == entries::Function ? entries::FunctionArgument
            : place == entries::Kernel ? entries::KernelArgument
                                       : 0;
  if (!(definition->places & place))
    return report(op, argument) << "carries '" << name << "'" << here << ", and " << (argument ? "that " : "")
                                << "is no " << placesOf(*definition)
                                << "; take it away, or put it where it means something";
  if (!holds(definition->value, attribute.getValue()))
    return report(op, argument) << "carries '" << name << "'" << here << " with " << attribute.getValue() << "; '"
                                << name << "' is " << valueWords(definition->value) << ": " << definition->example;
  return success();
}

void forEachStray(Operation* op, Stage stage, llvm::function_ref<void(const AttributeDefinition&)> body) {
  auto each = [&](NamedAttribute attribute) {
    const AttributeDefinition* definition = findAttribute(attribute.getName());
    if (definition && !(definition->stages & bit(stage)))
      body(*definition);
  };
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    each(attribute);
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      llvm::for_each(function.getArgAttrs(argument), each);
}

void dropStrays(ModuleOp program, Stage stage) {
  program.walk([&](Operation* op) {
    SmallVector<StringRef> names;
    forEachStray(op, stage, [&](const AttributeDefinition& attribute) { names.push_back(attribute.name); });
    for (StringRef name : names)
      op->removeDiscardableAttr(name);
  });
}

} // namespace strata::svm
