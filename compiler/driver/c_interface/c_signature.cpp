// Reading of entry points, and what they are called in C.
#include "compiler/driver/c_interface/c_signature.h"

#include "base/data/npy.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/ir/locations.h"

#include "llvm/Support/DynamicLibrary.h"

#include <set>

using namespace mlir;

namespace strata::driver {

STRATA_DIAGNOSTIC(entryName, Error, "build-entry-name", "entry point '{0}' cannot be a function of C: {1}");
STRATA_DIAGNOSTIC(entryArgument, Error, "build-entry-argument",
                  "argument '{0}' of entry point '{1}' cannot be passed from C: {2}");

namespace {

bool isOfCLibrary(const std::string& name) {
  for (const char* library : {"libc.so.6", "libm.so.6"}) {
    auto loaded = llvm::sys::DynamicLibrary::getPermanentLibrary(library);
    if (loaded.isValid() && loaded.getAddressOfSymbol(name.c_str()))
      return true;
  }
  return false;
}

/// Whether a name is like those of a runtime with that prefix: prefixAndMore.
bool isLike(StringRef name, StringRef prefix) {
  return name.consume_front(prefix) && !name.empty() && llvm::isUpper(name.front());
}

} // namespace

std::string bare(std::string text) {
  return text.size() > 2 && text.front() == '(' && text.back() == ')' && text.find(')') == text.size() - 1
             ? text.substr(1, text.size() - 2)
             : text;
}

CSignature::CSignature(func::FuncOp function, const notation::EntryInterface* interface, clang::CTypes& types,
                       DiagnosticEngine& diagnostics)
    : interface_(interface), name_(function.getName().str()), types_(types), diagnostics_(diagnostics),
      where_(sourceLocation(diagnostics.sources(), function.getLoc())) {
  if (auto sizes = function->getAttrOfType<ArrayAttr>(svm::SvmDialect::sizesAttr))
    for (Attribute size : sizes)
      sizes_.push_back(isa<StringAttr>(size) ? cast<StringAttr>(size).getValue().str() : "");
  fine_ = checkName(entryInterfaces());
  for (unsigned position = 0; position < function.getNumArguments(); ++position)
    parameters_.push_back(read(function, position));
  nameAll();
}

bool CSignature::checkName(const std::vector<const notation::EntryInterface*>& others) {
  std::string prefixes, taken;
  for (const notation::EntryInterface* each : others) {
    prefixes += "'" + each->reserved + "' or ";
    if (each == interface_ ? StringRef(name_).starts_with(each->reserved) : isLike(name_, each->reserved))
      taken = each->reserved;
  }
  if (!clang::isIdentifier(name_))
    diagnostics_.report(entryName, where_, name_, "C or C++ does not take the name");
  else if (!taken.empty() || StringRef(name_).starts_with("strata_") || isLike(name_, "strata"))
    diagnostics_.report(entryName, where_, name_, "names that begin with " + prefixes + "'strata_' are the runtime's")
        .help("give the instance another name");
  else if (isOfCLibrary(name_))
    diagnostics_.report(entryName, where_, name_, "the C library has a function of that name")
        .help("give the instance another name: the library's own callers would call this one");
  else
    return true;
  return false;
}

CParameter CSignature::read(func::FuncOp function, unsigned position) {
  CParameter parameter;
  auto text = [&](StringRef attribute) {
    auto value = function.getArgAttrOfType<StringAttr>(position, attribute);
    return value ? value.getValue().str() : std::string();
  };
  parameter.name = text(svm::SvmDialect::nameAttr);
  if (parameter.name.empty())
    parameter.name = "arg" + std::to_string(position);
  Type type = function.getArgumentTypes()[position];
  auto block = dyn_cast<MemRefType>(type);
  Type element = block ? block.getElementType() : type;
  const std::optional<svm::Access> access = svm::SvmDialect::accessAttr.of(function, position);
  parameter.isBlock = bool(block);
  parameter.written = block && access != svm::Access::Read;
  parameter.direction = !parameter.written ? "in" : access == svm::Access::Write ? "out" : "inout";
  parameter.rank = block ? static_cast<unsigned>(block.getRank()) : 0;
  uint64_t bytes = svm::RecordType::sizeInBytes(element);
  if (auto words = function.getArgAttrOfType<IntegerAttr>(position, svm::SvmDialect::wordsAttr);
      words && parameter.rank) {
    parameter.words = words.getInt();
    bytes *= static_cast<uint64_t>(parameter.words);
    --parameter.rank;
  }
  std::optional<std::string> name;
  auto described = parseElementType(text(svm::SvmDialect::elementAttr));
  if (described && described->kind == ElementType::Kind::Struct && described->bytes == bytes) {
    name = types_.declared(svm::SvmDialect::elementDeclarationsAttr.of(function, position));
    if (!name)
      name = types_.structure(*described);
  } else if (!parameter.words) {
    name = types_.name(element, bool(function.getArgAttr(position, svm::SvmDialect::unsignedAttr)));
  }
  if (!name || parameter.rank > 9) {
    diagnostics_.report(entryArgument, where_, parameter.name, name_,
                        name ? "it has more than 9 dimensions" : "C has no such type");
    fine_ = false;
    return parameter;
  }
  parameter.type = *name;
  parameter.bytes = bytes;
  parameter.alignment = svm::RecordType::alignmentInBytes(element);
  parameter.extents = extentsOf(function, position, parameter);
  return parameter;
}

/// As the program states them.
std::vector<AffineExpr> CSignature::extentsOf(func::FuncOp function, unsigned position, const CParameter& parameter) {
  std::vector<AffineExpr> result;
  auto extents = function->getAttrOfType<ArrayAttr>(svm::SvmDialect::extentsAttr);
  if (extents && position < extents.size())
    if (auto map = dyn_cast<AffineMapAttr>(extents[position]))
      if (AffineMap stated = map.getValue(); stated.getNumResults() == parameter.blockRank() &&
                                             stated.getNumSymbols() <= sizes_.size() && !stated.getNumDims())
        result.assign(stated.getResults().begin(), stated.getResults().begin() + parameter.rank);
  result.resize(parameter.rank);
  return result;
}

/// Names that C takes and that differ from each other.
void CSignature::nameAll() {
  std::set<std::string> shown;
  auto unused = [&](const std::string& wanted, const std::string& otherwise) {
    std::string name = clang::asIdentifier(wanted);
    for (unsigned number = 2; wanted.empty() || !shown.insert(name).second; ++number) {
      name = number == 2 ? otherwise : otherwise + "_" + std::to_string(number);
      if (shown.insert(name).second)
        break;
    }
    return name;
  };
  if (isPlain()) {
    for (size_t size = 0; size < sizes_.size(); ++size) {
      const std::string number = std::to_string(size);
      leading_.push_back({"size '" + (sizes_[size].empty() ? number : sizes_[size]) + "'",
                          unused(sizes_[size], "size" + number), "s" + number});
    }
    for (size_t position = 0; position < parameters_.size(); ++position)
      for (size_t dimension = 0; dimension < parameters_[position].extents.size(); ++dimension)
        if (!parameters_[position].extents[dimension]) {
          const std::string number = std::to_string(dimension);
          const std::string name = parameters_[position].name + "_extent" + number;
          leading_.push_back({"extent " + number + " of array '" + parameters_[position].name + "'",
                              unused(name, "extent" + number), "e" + std::to_string(position) + "_" + number});
        }
  }
  for (size_t position = 0; position < parameters_.size(); ++position)
    parameters_[position].shownName = unused(parameters_[position].name, "arg" + std::to_string(position));
}

std::string CSignature::declaration(size_t position, const std::string& as) const {
  const CParameter& parameter = parameters_[position];
  if (parameter.isArray())
    return interface_ ? interface_->type + " *" + as : (parameter.written ? "" : "const ") + parameter.type + " *" + as;
  return parameter.type + (parameter.written ? " *" : " ") + as;
}

std::string CSignature::prototype(bool shown) const {
  std::string list;
  for (const CSize& size : leading_)
    list += (list.empty() ? "" : ", ") + ("int64_t " + (shown ? size.shownName : size.variable));
  for (size_t position = 0; position < parameters_.size(); ++position)
    list += (list.empty() ? "" : ", ") +
            declaration(position, shown ? parameters_[position].shownName : "p" + std::to_string(position));
  return "void " + name_ + "(" + (list.empty() ? "void" : list) + ")";
}

std::string CSignature::comment() const {
  std::string text = "/* " + name_ + (parameters_.empty() ? "." : ":") + "\n";
  for (size_t position = 0; position < parameters_.size(); ++position) {
    const CParameter& parameter = parameters_[position];
    text += " *   " + parameter.shownName + ": " + parameter.direction + ", " + parameter.type;
    const bool isStated = !llvm::is_contained(parameter.extents, AffineExpr());
    for (size_t dimension = 0; isStated && dimension < parameter.extents.size(); ++dimension)
      text += "[" + bare(clang::affineText(parameter.extents[dimension], sizes_)) + "]";
    if (parameter.isArray() && !isStated)
      text += " array of rank " + std::to_string(parameter.rank);
    text += "\n";
  }
  return text + " */\n";
}

std::string CSignature::extent(size_t position, size_t dimension, const std::vector<std::string>& sizes) const {
  AffineExpr stated = parameters_[position].extents[dimension];
  return stated ? clang::affineText(stated, sizes) : "e" + std::to_string(position) + "_" + std::to_string(dimension);
}

} // namespace strata::driver
