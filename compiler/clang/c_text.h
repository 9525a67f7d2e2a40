// How types, names and sizes of the dialect are written in C: by the header of a built program, and by the code around
// external tasks. Pure functions, but for CTypes, which remembers the structs it has named; not thread safe.
#pragma once

#include "base/data/element_type.h"
#include "compiler/ir/svm.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace strata::clang {

/// Whether a name can be that of a function or variable in C and in C++.
bool isIdentifier(llvm::StringRef name);
/// The name itself where C and C++ allow it, else one like it.
std::string asIdentifier(llvm::StringRef name);

/// Whether a file holds C++ by its name; else C.
bool isCxxFile(llvm::StringRef file);
/// A string literal of C; other characters than plain ones as octal escapes.
std::string cLiteral(llvm::StringRef text);

/// A line marker: what follows is line 1 of a file of that name.
std::string lineMarker(llvm::StringRef file);

/// A value of affine sizes as a C expression over the sizes' names, in 64-bit arithmetic. Uses strata_modulo(),
/// strata_floor_divide() and strata_ceiling_divide() where the expression does.
std::string affineText(mlir::AffineExpr expression, const std::vector<std::string>& sizes);

/// The C names of element types and scalars: "float", "unsigned int", "struct complex_t". Code that
/// uses them includes stdbool.h, and stddef.h for assertions().
class CTypes {
public:
  /// Structs are declared under their own name, with a number behind it where another struct has it.
  /// Nothing for a type that C has no name for.
  std::optional<std::string> name(mlir::Type type, bool isUnsigned);
  /// A struct whose members are as described, for which the program has no name.
  std::string structure(const ElementType& type);
  /// A type that the program declares, innermost first, and those inside it: svm::DeclarationAttr each. Its name, or
  /// nothing when there is none.
  std::optional<std::string> declared(mlir::ArrayAttr declarations);
  /// The declarations of the types named so far, innermost first. Each is guarded: equal ones in several headers are
  /// one, and different ones under one name are an error that says so.
  std::string declarations() const { return declarations_; }
  /// Assertions in C that those structs lie in memory as the compiled program takes them to.
  std::string assertions() const { return assertions_; }

private:
  std::string unusedName(llvm::StringRef name);
  void declare(llvm::StringRef full, const std::string& definition, llvm::StringRef typedefs = "");

  std::map<void*, std::string> names_;
  std::map<std::string, std::string> described_; // by description
  std::set<std::string> declared_;
  std::map<std::string, unsigned> taken_;
  std::string declarations_, assertions_;
};

} // namespace strata::clang
