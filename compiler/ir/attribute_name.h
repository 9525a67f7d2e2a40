// The names of the dialect's attributes, each with the type of what it holds, so that it is read and set as that type.
// SvmDialect has one for every entry of attributes.def. Constants only.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace strata::svm {

/// A name is its text where MLIR asks for one.
template <typename Value>
class AttributeName : public llvm::StringRef {
public:
  template <size_t length>
  consteval AttributeName(const char (&text)[length]) : llvm::StringRef(text, length - 1) {} // NOLINT

  bool isOn(mlir::Operation* op) const { return op->hasAttr(*this); }
  /// What it holds, or null.
  Value of(mlir::Operation* op) const { return op->getAttrOfType<Value>(llvm::StringRef(*this)); }
  Value of(mlir::FunctionOpInterface function, unsigned argument) const {
    return function.getArgAttrOfType<Value>(argument, llvm::StringRef(*this));
  }
  void set(mlir::Operation* op, Value value) const { op->setAttr(llvm::StringRef(*this), value); }
  void set(mlir::Operation* op) const
    requires std::same_as<Value, mlir::UnitAttr>
  {
    set(op, mlir::UnitAttr::get(op->getContext()));
  }
};

/// What an attribute holds (AttributeValue), by the type of MLIR's attributes.
namespace attribute_value {
using Flag = mlir::UnitAttr;
using Text = mlir::StringAttr;
using Texts = mlir::ArrayAttr;
using Number = mlir::IntegerAttr;
using Count = mlir::IntegerAttr;
using Numbers = mlir::DenseI64ArrayAttr;
using Pair = mlir::DenseI64ArrayAttr;
using Symbol = mlir::FlatSymbolRefAttr;
using Maps = mlir::ArrayAttr;
using Dictionary = mlir::DictionaryAttr;
using Dictionaries = mlir::ArrayAttr;
using Place = mlir::LocationAttr;
using StageName = mlir::StringAttr;
using Access = mlir::StringAttr;
using Tunables = mlir::ArrayAttr;
using Declarations = mlir::ArrayAttr;
} // namespace attribute_value

} // namespace strata::svm
