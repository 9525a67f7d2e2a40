// The functions of include/hpvm.h as LLVM IR calls them. Thread safe.
#pragma once

#include "llvm/IR/InstrTypes.h"

#include <string>

namespace strata::hpvm {

enum class CallKind {
  None, // no function of hpvm.h
  // every node
  Hint,
  Attributes,
  // internal nodes
  CreateNode,
  Edge,
  BindIn,
  BindOut,
  // leaves
  Return,
  Node,
  Parent,
  InstanceId,
  Instances,
  Dimensions,
  Allocate,
  Barrier,
  Atomic,
  Math,
  // the host
  Launch,
  Host,   // any other
  Remark, // says something to a compiler that this one has no use for
  Unknown,
};

/// What an instruction calls; CallKind::None for those that are no calls of hpvm.h. A name with its prefix that it does
/// not declare is Unknown.
CallKind kindOf(const llvm::Instruction& instruction);
/// The name of the function that is called; empty when it is not known.
std::string calleeOf(const llvm::CallBase& call);
/// Whether a call has the types with which hpvm.h declares the function: a program may have a declaration of its own.
bool hasPrototype(const llvm::CallBase& call, CallKind kind);
/// The dimension that a query is about, where its name says it (…_x is 0); -1 where an argument does.
int dimensionOf(const llvm::CallBase& call);

inline bool isOfInternal(CallKind kind) {
  return kind >= CallKind::CreateNode && kind <= CallKind::BindOut;
}
inline bool isOfLeaf(CallKind kind) {
  return kind >= CallKind::Return && kind <= CallKind::Math;
}
inline bool isOfHost(CallKind kind) {
  return kind == CallKind::Launch || kind == CallKind::Host;
}

} // namespace strata::hpvm
