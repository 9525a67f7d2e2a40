// The names of the dialect's attributes, each with the type of what it holds, so that it is read and set as that type.
// SvmDialect has one for every entry of attributes.def. Constants only.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

// After the headers that it needs.
#include "compiler/ir/svm_enums.h.inc"

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

/// An enum is written as a string, its word.
template <typename Value>
  requires std::is_enum_v<Value>
class AttributeName<Value> : public llvm::StringRef {
public:
  template <size_t length>
  consteval AttributeName(const char (&text)[length]) : llvm::StringRef(text, length - 1) {} // NOLINT

  bool isOn(mlir::Operation* op) const { return op->hasAttr(*this); }
  /// What it says, or nothing where it is not there or is no word of the enum.
  std::optional<Value> of(mlir::Operation* op) const {
    return read(op->getAttrOfType<mlir::StringAttr>(llvm::StringRef(*this)));
  }
  std::optional<Value> of(mlir::FunctionOpInterface function, unsigned argument) const {
    return read(function.getArgAttrOfType<mlir::StringAttr>(argument, llvm::StringRef(*this)));
  }
  void set(mlir::Operation* op, Value value) const {
    op->setAttr(llvm::StringRef(*this), text(op->getContext(), value));
  }
  void set(mlir::FunctionOpInterface function, unsigned argument, Value value) const {
    function.setArgAttr(argument, llvm::StringRef(*this), text(function->getContext(), value));
  }
  /// Name and value, for lists of attributes.
  mlir::NamedAttribute with(mlir::MLIRContext* context, Value value) const {
    return {mlir::StringAttr::get(context, llvm::StringRef(*this)), text(context, value)};
  }

private:
  static std::optional<Value> read(mlir::StringAttr attribute) {
    return attribute ? symbolizeEnum<Value>(attribute.getValue()) : std::nullopt;
  }
  static mlir::StringAttr text(mlir::MLIRContext* context, Value value) {
    return mlir::StringAttr::get(context, stringifyEnum(value));
  }
};

/// What an attribute holds (AttributeValue), by the type of MLIR's attributes, or the enum of svm.td.
namespace attribute_value {
using Flag = mlir::UnitAttr;
using Name = mlir::StringAttr;
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
using StageName = Stage;
using Access = svm::Access;
using Tunables = mlir::ArrayAttr;
using Declarations = mlir::ArrayAttr;
} // namespace attribute_value

} // namespace strata::svm
