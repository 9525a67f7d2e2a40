// An entry point as a function of C: what it takes, under which names, and in which of two ways: arrays as pointers
// with sizes before them, or as pointers to structs that describe them (compiler/notation/entry_interface.h). Read from
// the logical program once; the texts of the header and of the C code are made from it.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/clang/c_text.h"
#include "compiler/notation/entry_interface.h"

#include <string>
#include <vector>

namespace strata::driver {

/// An argument of an entry point.
struct CParameter {
  std::string name, shownName; // as the program has it, as the header has it
  std::string type;            // of a scalar or an element
  bool isBlock = false, written = false;
  std::string direction = "in";
  unsigned rank = 0;
  int64_t words = 0; // that an element is to compiled code, as a dimension behind the others; 0: it is one value
  uint64_t bytes = 0, alignment = 1;
  std::vector<mlir::AffineExpr> extents; // of each dimension, in sizes; null where nothing is stated
  bool isArray() const { return rank > 0; }
  unsigned blockRank() const { return rank + (words != 0); }
  uint64_t wordBytes() const { return words ? bytes / static_cast<uint64_t>(words) : bytes; }
};

/// A size that the function takes: of the program, or an extent that no size states.
struct CSize {
  std::string name, shownName, variable; // for messages, in the header, in the C code
};

class CSignature {
public:
  /// With null, arrays are plain pointers. What C cannot take is reported, and leaves the signature not fine().
  CSignature(mlir::func::FuncOp function, const notation::EntryInterface* interface, clang::CTypes& types,
             DiagnosticEngine& diagnostics);

  bool fine() const { return fine_; }
  bool isPlain() const { return !interface_; }
  const std::string& name() const { return name_; }
  const std::vector<CParameter>& parameters() const { return parameters_; }
  /// The names of the program's sizes, which extents are stated in.
  const std::vector<std::string>& sizes() const { return sizes_; }
  /// What stands before the arguments: none where arrays are described.
  const std::vector<CSize>& leading() const { return leading_; }

  /// "void f(int64_t N, const float *A)", with the header's names, or those of the C code: p0, p1, … and the variables
  /// of sizes.
  std::string prototype(bool shown) const;
  /// The argument of that number as it is declared.
  std::string declaration(size_t position, const std::string& as) const;
  /// The comment before the declaration in the header.
  std::string comment() const;
  /// Stated extents with these values for sizes; for one that nothing states, the variable of the C code.
  std::string extent(size_t position, size_t dimension, const std::vector<std::string>& sizes) const;

private:
  bool checkName(const std::vector<const notation::EntryInterface*>& others);
  CParameter read(mlir::func::FuncOp function, unsigned position);
  std::vector<mlir::AffineExpr> extentsOf(mlir::func::FuncOp function, unsigned position, const CParameter& parameter);
  void nameAll();

  const notation::EntryInterface* interface_;
  std::string name_;
  clang::CTypes& types_;
  DiagnosticEngine& diagnostics_;
  Location where_;
  std::vector<std::string> sizes_;
  std::vector<CParameter> parameters_;
  std::vector<CSize> leading_;
  bool fine_ = true;
};

/// Text without the parentheses around all of it.
std::string bare(std::string text);

/// For the header of a program with plain pointers: the function of C++20 that takes views of arrays; empty where the
/// function of C takes no arrays.
std::string viewOverload(const CSignature& signature);

} // namespace strata::driver
