// C text of names, sizes and types.
#include "compiler/clang/c_text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace strata::clang {

namespace {

bool isKeywordOfC11(StringRef name) {
  return llvm::is_contained({"_Alignas", "_Alignof", "_Atomic", "_BitInt", "_Bool", "_Complex", "_Float16", "_Generic",
                             "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local"},
                            name);
}

const llvm::StringSet<>& keywords() {
  static const llvm::StringSet<> words{"alignas",     "alignof",      "and",       "and_eq",
                                       "asm",         "auto",         "bitand",    "bitor",
                                       "bool",        "break",        "case",      "catch",
                                       "char",        "char16_t",     "char32_t",  "char8_t",
                                       "class",       "co_await",     "co_return", "co_yield",
                                       "compl",       "concept",      "const",     "const_cast",
                                       "consteval",   "constexpr",    "constinit", "continue",
                                       "decltype",    "default",      "delete",    "do",
                                       "double",      "dynamic_cast", "else",      "enum",
                                       "explicit",    "export",       "extern",    "false",
                                       "float",       "for",          "friend",    "goto",
                                       "if",          "inline",       "int",       "long",
                                       "main",        "mutable",      "namespace", "new",
                                       "noexcept",    "not",          "not_eq",    "nullptr",
                                       "operator",    "or",           "or_eq",     "private",
                                       "protected",   "public",       "register",  "reinterpret_cast",
                                       "requires",    "restrict",     "return",    "short",
                                       "signed",      "sizeof",       "static",    "static_assert",
                                       "static_cast", "struct",       "switch",    "template",
                                       "this",        "thread_local", "throw",     "true",
                                       "try",         "typedef",      "typeid",    "typename",
                                       "typeof",      "union",        "unsigned",  "using",
                                       "virtual",     "void",         "volatile",  "wchar_t",
                                       "while",       "xor",          "xor_eq"};
  return words;
}

} // namespace

bool isIdentifier(StringRef name) {
  if (name.empty() || llvm::isDigit(name.front()) || keywords().contains(name) || isKeywordOfC11(name) ||
      name.starts_with("__"))
    return false;
  return llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::string asIdentifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()) || text.rfind("__", 0) == 0)
    text = "a" + text;
  return isIdentifier(text) ? text : text + "_";
}

bool isCxxFile(StringRef file) {
  return file.ends_with(".cpp") || file.ends_with(".cc") || file.ends_with(".cxx");
}

std::string cLiteral(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    char octal[8];
    snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
    result += c == '"' || c == '\\' || c == '?' || !llvm::isPrint(c) ? std::string(octal) : std::string(1, c);
  }
  return result + "\"";
}

std::string lineMarker(StringRef file) {
  std::string result = "\n# 1 \"";
  for (char c : file) {
    char octal[8];
    snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
    result += c == '"' || c == '\\' || !llvm::isPrint(c) ? std::string(octal) : std::string(1, c);
  }
  return result + "\"\n";
}

std::string affineText(AffineExpr expression, const std::vector<std::string>& sizes) {
  switch (expression.getKind()) {
  case AffineExprKind::Constant:
    return std::to_string(cast<AffineConstantExpr>(expression).getValue());
  case AffineExprKind::SymbolId:
    return sizes[cast<AffineSymbolExpr>(expression).getPosition()];
  case AffineExprKind::DimId:
    return "0"; // extents have no dimensions
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  std::string left = affineText(binary.getLHS(), sizes), right = affineText(binary.getRHS(), sizes);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return "(" + left + " + " + right + ")";
  case AffineExprKind::Mul:
    return "(" + left + " * " + right + ")";
  case AffineExprKind::Mod:
    return "strata_modulo(" + left + ", " + right + ")";
  case AffineExprKind::FloorDiv:
    return "strata_floor_divide(" + left + ", " + right + ")";
  default:
    return "strata_ceiling_divide(" + left + ", " + right + ")";
  }
}

/// A C array within a struct is a record of its own, with fields e0, e1, … of one type. Its element and how many.
static std::optional<std::pair<Type, size_t>> cArray(Type type) {
  auto record = dyn_cast<svm::RecordType>(type);
  if (!record || record.getName().getValue() != "array" || record.getFieldTypes().empty())
    return std::nullopt;
  size_t count = 0;
  for (auto [name, field] : llvm::zip(record.getFieldNames(), record.getFieldTypes()))
    if (name.getValue() != "e" + std::to_string(count++) || field != record.getFieldTypes().front())
      return std::nullopt;
  return std::make_pair(record.getFieldTypes().front(), count);
}

std::optional<std::string> CTypes::name(Type type, bool isUnsigned) {
  if (type.isIndex())
    return "long";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (auto integer = dyn_cast<IntegerType>(type)) {
    std::string sign = isUnsigned ? "unsigned " : "";
    switch (integer.getWidth()) {
    case 1:
      return "bool";
    case 8:
      return sign + "char";
    case 16:
      return sign + "short";
    case 32:
      return sign + "int";
    case 64:
      return sign + "long";
    default:
      return std::nullopt;
    }
  }
  auto record = dyn_cast<svm::RecordType>(type);
  if (!record)
    return std::nullopt;
  auto known = names_.find(const_cast<void*>(type.getAsOpaquePointer()));
  if (known != names_.end())
    return known->second;
  std::string fields;
  std::vector<std::pair<std::string, uint64_t>> offsets;
  uint64_t offset = 0;
  for (auto [name, field] : llvm::zip(record.getFieldNames(), record.getFieldTypes())) {
    std::string extents;
    Type inner = field;
    while (auto array = cArray(inner)) {
      extents += "[" + std::to_string(array->second) + "]";
      inner = array->first;
    }
    auto text = this->name(inner, false);
    if (!text)
      return std::nullopt;
    std::string member = asIdentifier(name.getValue());
    fields += "  " + *text + " " + member + extents + ";\n";
    offset = llvm::alignTo(offset, svm::RecordType::alignmentInBytes(field));
    offsets.emplace_back(member, offset);
    offset += svm::RecordType::sizeInBytes(field);
  }
  std::string full = "struct " + unusedName(record.getName().getValue());
  declare(full, full + " {\n" + fields + "};\n");
  assertions_ += "_Static_assert(sizeof(" + full + ") == " + std::to_string(svm::RecordType::sizeInBytes(type)) +
                 ", \"the size of " + full + "\");\n";
  for (const auto& [member, at] : offsets)
    assertions_ += "_Static_assert(offsetof(" + full + ", " + member + ") == " + std::to_string(at) + ", \"where " +
                   member + " lies in " + full + "\");\n";
  names_[const_cast<void*>(type.getAsOpaquePointer())] = full;
  return full;
}

std::string CTypes::unusedName(StringRef wanted) {
  std::string name = wanted.empty() ? "element_t" : asIdentifier(wanted);
  if (unsigned before = taken_[name]++)
    name += "_" + std::to_string(before + 1);
  return name;
}

void CTypes::declare(StringRef full, const std::string& definition, StringRef typedefs) {
  // A struct and a union of one name are different types of one name in C++.
  const std::string macro = "STRATA_TYPE_" + full.substr(full.find(' ') + 1).str();
  const std::string value = "0x" + llvm::utohexstr(llvm::xxh3_64bits(definition)) + "u";
  declarations_ += "#ifndef " + macro + "\n#define " + macro + " " + value + "\n" + definition + "#elif " + macro +
                   " != " + value + "\n#error \"the header of another program defines '" + full.str() +
                   "' differently: give it another name in one of the programs\"\n#endif\n" + typedefs.str() + "\n";
}

std::optional<std::string> CTypes::declared(ArrayAttr declarations) {
  if (!declarations || declarations.empty())
    return std::nullopt;
  auto text = [](StringAttr of) { return of ? of.getValue() : StringRef(); };
  for (auto each : declarations.getAsRange<svm::DeclarationAttr>()) {
    if (!declared_.insert(each.getName().str()).second)
      continue;
    declare(each.getName(), each.getDefinition().str(), text(each.getTypedefs()));
    assertions_ += text(each.getAssertions());
  }
  return cast<svm::DeclarationAttr>(declarations[declarations.size() - 1]).getName().str();
}

/// The members of a struct between braces; structs within are declared where they stand.
static std::string membersText(const ElementType& type) {
  std::string text = "{\n";
  for (const Field& field : type.fields) {
    const ElementType& member = field.type;
    const std::string sign = member.kind == ElementType::Kind::UnsignedInteger ? "unsigned " : "";
    text += "  ";
    if (member.kind == ElementType::Kind::Struct)
      text += "struct " + membersText(member);
    else if (member.kind == ElementType::Kind::Float)
      text += member.bytes == 4 ? "float" : "double";
    else if (member.kind == ElementType::Kind::Bool)
      text += "bool";
    else
      text += sign + (member.bytes == 1 ? "char" : member.bytes == 2 ? "short" : member.bytes == 4 ? "int" : "long");
    text += " " + asIdentifier(field.name);
    for (uint64_t extent : field.shape)
      text += "[" + std::to_string(extent) + "]";
    text += ";\n";
  }
  return text + "}";
}

std::string CTypes::structure(const ElementType& type) {
  std::string& full = described_[type.numpyDescription()];
  if (!full.empty())
    return full;
  full = "struct " + unusedName("");
  declare(full, full + " " + membersText(type) + ";\n");
  assertions_ +=
      "_Static_assert(sizeof(" + full + ") == " + std::to_string(type.bytes) + ", \"the size of " + full + "\");\n";
  for (const Field& field : type.fields)
    assertions_ += "_Static_assert(offsetof(" + full + ", " + asIdentifier(field.name) +
                   ") == " + std::to_string(field.offset) + ", \"where " + asIdentifier(field.name) + " lies in " +
                   full + "\");\n";
  return full;
}

} // namespace strata::clang
