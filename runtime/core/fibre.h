// Stacks for fibres and the switch from one stack to another, over Boost.Context's assembly, with what the sanitizers
// need to be told. The scheduler is the only user.
//
// Stacks are mapped with a page below that faults, and pooled: a thread-local cache in front of one shared list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::runtime {

struct Stack {
  char* base = nullptr; // lowest usable byte
  size_t bytes = 0;
  explicit operator bool() const { return base != nullptr; }
};

/// Stacks kept by one thread; not thread safe.
class StackCache {
public:
  /// A stack of the present size. Reports failure through strata_fail.
  Stack take();
  void give(Stack stack);
  /// Hands everything to the shared list.
  void flush();

private:
  std::vector<Stack> stacks_;
};

/// Sets the usable size of stacks made from here on; rounded up to pages, at least 16 KiB.
void setFibreStackBytes(size_t bytes);
size_t fibreStackBytes();

/// The exceptions of C++ that an execution handles and has thrown, as the C++ ABI lays them out for a thread.
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// Where an execution is when it does not run.
struct FibreContext {
  void* saved = nullptr; // null: not started
  void (*entry)(void* argument) = nullptr;
  // Of the switch under way to here. Not on the stack that is left, which may be gone on arrival.
  FibreContext* from = nullptr;
  void* argument = nullptr;
  Stack stack; // of a fibre; for a thread's own stack only with the address sanitizer
  void* sanitizerStack = nullptr;
  void* sanitizerFibre = nullptr;
  ExceptionState exceptions;
};

/// Makes `context` ready to enter `entry`, which never returns, with the argument of the switch.
/// REQUIRES: context.stack is set, and nothing runs on it.
void prepareFibre(FibreContext& context, void (*entry)(void* argument));
/// Fills in what the sanitizers want to know about the calling thread's own stack.
void adoptThread(FibreContext& context);
/// Where the calling thread keeps those of what it runs.
ExceptionState* exceptionsOfThread();
/// Leaves `from` for `to` and hands it `argument`; returns the argument of the switch that comes back, once one does.
/// `ending`: `from` will never be entered again.
void* switchFibre(FibreContext& from, FibreContext& to, void* argument, bool ending);
/// Releases what the sanitizers hold for an ended fibre.
void retireFibre(FibreContext& context);

} // namespace strata::runtime
