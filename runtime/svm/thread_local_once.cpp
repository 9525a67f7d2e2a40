// Two variables of C++'s own library that its headers name (std::call_once): code that is compiled with -femulated-tls
// asks for them like for its own, and gets those that the library reads.
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace {

/// As in thread_local.cpp; an alignment of 0 says that a function gives the address.
struct Variable {
  size_t bytes;
  size_t alignment;
  uintptr_t index;
  void* (*address)();
};

void* callable() {
  return static_cast<void*>(&std::__once_callable);
}
void* call() {
  return reinterpret_cast<void*>(&std::__once_call);
}

} // namespace

extern "C" {
Variable strataOnceCallable asm("__emutls_v._ZSt15__once_callable") = {sizeof(void*), 0, 0, callable};
Variable strataOnceCall asm("__emutls_v._ZSt11__once_call") = {sizeof(void*), 0, 0, call};
}
