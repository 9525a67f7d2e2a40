// Structs and unions as C text. A name is that of a struct or union and of a typedef at once, as C++ has it: what the
// program calls by a typedef alone becomes a struct of that name.
#include "compiler/sequoia/lower/c_declarations.h"

#include "compiler/clang/c_text.h"

#include <algorithm>

namespace strata::sequoia {

namespace {

bool hasName(const TypeTable& types, const Type* record) {
  return !record->tag.empty() || !types.typedefsOf(record).empty();
}

std::string keywordOf(const Type* record) {
  return record->kind == TypeKind::Union ? "union" : "struct";
}

/// The name of a typedef in C and C++: what the C library's headers define otherwise is changed as keywords are.
std::string typedefName(const std::string& name) {
  static const std::set<std::string> ofLibrary{
      "size_t",   "ssize_t",   "ptrdiff_t", "wchar_t",  "wint_t",   "bool",       "int8_t",   "int16_t",
      "int32_t",  "int64_t",   "uint8_t",   "uint16_t", "uint32_t", "uint64_t",   "intptr_t", "uintptr_t",
      "intmax_t", "uintmax_t", "off_t",     "time_t",   "clock_t",  "ushort",     "uint",     "ulong",
      "div_t",    "ldiv_t",    "FILE",      "va_list",  "fpos_t",   "max_align_t"};
  return ofLibrary.contains(name) ? name + "_" : clang::asIdentifier(name);
}

/// Members have names of their own, also where two were changed to the same.
std::vector<std::string> memberNames(const Type* record) {
  std::vector<std::string> names;
  for (const Field& field : record->fields) {
    names.push_back(clang::asIdentifier(field.name));
    while (std::count(names.begin(), names.end(), names.back()) > 1)
      names.back() += "_";
  }
  return names;
}

} // namespace

CDeclarations::CDeclarations(const TypeTable& types, std::set<std::string> functions)
    : types_(types), functions_(std::move(functions)), taken_{"sqArray_t", "sqSize_t", "sqErrorHandler_t"} {}

std::string CDeclarations::unusedName(const std::string& wanted) {
  std::string name = clang::asIdentifier(wanted);
  for (unsigned number = 2; !taken_.insert(name).second; ++number)
    name = clang::asIdentifier(wanted) + "_" + std::to_string(number);
  return name;
}

std::string CDeclarations::spelled(const Type* type, unsigned depth, Order& order) {
  if (!type->isRecord())
    return typeName(type);
  if (!hasName(types_, type))
    return keywordOf(type) + " " + members(type, depth, order);
  collect(type, order);
  return declared_.at(type).name;
}

std::string CDeclarations::members(const Type* record, unsigned depth, Order& order) {
  const std::vector<std::string> names = memberNames(record);
  std::string text = "{\n";
  for (size_t index = 0; index < names.size(); ++index) {
    const Type* element = record->fields[index].type;
    std::string extents;
    for (; element->isCArray(); element = element->element)
      extents += "[" + std::to_string(element->count) + "]";
    const std::string type = spelled(element, depth + 1, order);
    text += std::string(2 * (depth + 1), ' ') + type + " " + names[index] + extents + ";\n";
  }
  return text + std::string(2 * depth, ' ') + "}";
}

void CDeclarations::collect(const Type* record, Order& order) {
  if (std::find(order.begin(), order.end(), record) != order.end())
    return;
  // Those inside are in the order already when their declarations are known, so they are walked again.
  const std::string inside = members(record, 0, order);
  order.push_back(record);
  if (declared_.contains(record))
    return;
  const std::vector<std::string>& typedefs = types_.typedefsOf(record);
  const std::string name = unusedName(!record->tag.empty() ? record->tag
                                      : typedefs.empty()   ? "element_t"
                                                           : typedefs.front());
  Declaration& declaration = declared_[record];
  declaration.name = keywordOf(record) + " " + name;
  declaration.definition = declaration.name + " " + inside + ";\n";
  for (const std::string& each : typedefs) {
    const std::string alias = typedefName(each);
    if (!functions_.contains(alias) && (alias == name || taken_.insert(alias).second))
      declaration.typedefs += "typedef " + declaration.name + " " + alias + ";\n";
  }
  const std::string message = ", \"" + declaration.name + " in memory\");\n";
  declaration.assertions =
      "_Static_assert(sizeof(" + declaration.name + ") == " + std::to_string(record->size) + message;
  const std::vector<std::string> names = memberNames(record);
  for (size_t index = 0; index < names.size(); ++index)
    declaration.assertions += "_Static_assert(offsetof(" + declaration.name + ", " + names[index] +
                              ") == " + std::to_string(record->fields[index].offset) + message;
}

std::vector<CDeclarations::Declaration> CDeclarations::ofProgram() {
  std::vector<Declaration> result;
  Order order;
  for (const auto& [name, type] : types_.typedefs()) {
    if (type->isRecord()) {
      if (type->complete)
        collect(type, order);
      continue;
    }
    const std::string alias = typedefName(name);
    if (!functions_.contains(alias) && taken_.insert(alias).second)
      result.push_back({"typedef " + alias, "typedef " + typeName(type) + " " + alias + ";\n", "", ""});
  }
  for (const Type* each : order)
    result.push_back(declared_.at(each));
  for (const auto& [tag, enumerators] : types_.enumerations()) {
    std::string list, first;
    for (const auto& [name, value] : enumerators) {
      std::string shown = clang::asIdentifier(name);
      while (functions_.contains(shown) || !taken_.insert(shown).second)
        shown += "_";
      list += "  " + shown + " = " + std::to_string(value) + ",\n";
      first = first.empty() ? shown : first;
    }
    // The last enumerator has no comma behind it.
    list = list.substr(0, list.size() - 2) + "\n";
    const std::string named = tag.empty() ? "" : " " + unusedName(tag);
    if (!first.empty())
      result.push_back(
          {"enum " + (tag.empty() ? first : named.substr(1)), "enum" + named + " {\n" + list + "};\n", "", ""});
  }
  return result;
}

std::vector<CDeclarations::Declaration> CDeclarations::of(const Type* record) {
  Order order;
  collect(record, order);
  std::vector<Declaration> result;
  for (const Type* each : order)
    result.push_back(declared_.at(each));
  return result;
}

} // namespace strata::sequoia
