// The form in which LLVM IR travels in an object file: in a section of its own, which linkers leave out of what they
// make. What `ld -r` joins lies one after the other there, each with a head. Written by the plugin that Clang loads
// (carry_ir.cpp), read when a program is linked (compiler/linking/).
#pragma once

#include <cstdint>

namespace strata::clang {

inline constexpr const char* irSection = ".strata.ir";
inline constexpr char irMark[8] = {'S', 'T', 'R', 'A', 'T', 'A', 'I', 'R'};
inline constexpr uint32_t irVersion = 1;

enum IrFlags : uint32_t {
  describesGraphs = 1, // a function of hpvm.h is called
};

/// The attribute of functions whose file was compiled for a processor that its command line chose (-march, -mcpu,
/// -mavx2 and the like). Their attributes "target-cpu" and "target-features" are the user's then.
inline constexpr const char* statesProcessor = "strata-states-processor";

/// The head; `bytes` of bitcode follow it, padded with zeros to a multiple of eight. Numbers in the order of this
/// computer.
struct IrHead {
  char mark[8];
  uint32_t version, flags;
  uint64_t bytes;
};

} // namespace strata::clang
