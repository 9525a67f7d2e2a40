// How a program's types are declared in C: structs and unions with the same names, members and typedefs, as headers of
// compiled programs and functions of external tasks see them, and enumerators and the other typedefs, as headers see
// them. Lives during one lower() only; not thread safe.
#pragma once

#include "compiler/sequoia/check/frontend.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace strata::sequoia {

class CDeclarations {
public:
  /// `functions` are names that the same C files have functions of: no typedef is declared under one.
  CDeclarations(const TypeTable& types, std::set<std::string> functions);

  struct Declaration {
    std::string name; // "struct point", "union word"
    std::string definition;
    std::string typedefs;   // those that name it; often none
    std::string assertions; // in C, that it lies in memory as the program takes it to
  };
  /// A struct or union and those with names inside it, innermost first: the type itself is the last. Valid C11 and
  /// C++20: names that these do not take are changed a little. REQUIRES: a complete record.
  std::vector<Declaration> of(const Type* record);
  /// All types and enumerators that the program declares outside of its tasks.
  std::vector<Declaration> ofProgram();

private:
  using Order = std::vector<const Type*>;

  void collect(const Type* record, Order& order);
  std::string spelled(const Type* type, unsigned depth, Order& order);
  std::string members(const Type* record, unsigned depth, Order& order);
  /// A name like that one which C and C++ allow, and which nothing else has.
  std::string unusedName(const std::string& wanted);

  const TypeTable& types_;
  std::set<std::string> functions_, taken_;
  std::map<const Type*, Declaration> declared_;
};

} // namespace strata::sequoia
