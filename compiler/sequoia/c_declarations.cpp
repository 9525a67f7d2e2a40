// Structs and unions as C text. A name is that of a struct or union and of a typedef at once, as C++ has it: what the
// program calls by a typedef alone becomes a struct of that name.
#include "compiler/sequoia/c_declarations.h"

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
  for (const std::string& each : typedefs)
    if (clang::isIdentifier(each) && !functions_.contains(each) && (each == name || taken_.insert(each).second))
      declaration.typedefs += "typedef " + declaration.name + " " + each + ";\n";
  const std::string message = ", \"" + declaration.name + " in memory\");\n";
  declaration.assertions =
      "_Static_assert(sizeof(" + declaration.name + ") == " + std::to_string(record->size) + message;
  const std::vector<std::string> names = memberNames(record);
  for (size_t index = 0; index < names.size(); ++index)
    declaration.assertions += "_Static_assert(offsetof(" + declaration.name + ", " + names[index] +
                              ") == " + std::to_string(record->fields[index].offset) + message;
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
