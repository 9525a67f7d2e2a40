// thread_local variables of programs that `strata cc` compiles: each kernel has its own, as each thread has. Clang's
// -femulated-tls makes every use of such a variable a call of __emutls_get_address, which is here instead of in the
// compiler's library; and objects with destructors are destroyed when their kernel is over.
//
// A program without streams that strata cc compiles takes this file alone from the library, so it needs nothing but
// C's.
#include "runtime/core/execution.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

namespace strata::runtime {
/// Of scheduler.h; absent where nothing else of the library is.
Execution* currentIfAny() __attribute__((weak));
} // namespace strata::runtime

namespace strata::svm {

namespace {

using runtime::Execution;

/// What the compiler emits for a variable; its layout is that of the compilers' libraries.
struct Variable {
  size_t bytes;
  size_t alignment; // 0: `initial` is a function that gives the address (thread_local_once.cpp)
  uintptr_t index;  // 0: none yet
  void* initial;
};

struct Destructor {
  void (*destroy)(void*);
  void* object;
  Destructor* next;
};

/// Of a kernel or thread.
struct Locals {
  size_t count = 0;
  void** values = nullptr; // by index
  size_t* bytes = nullptr;
  Destructor* destructors = nullptr; // the last first
};

pthread_mutex_t indexLock = PTHREAD_MUTEX_INITIALIZER;
uintptr_t lastIndex = 0;
pthread_once_t keyMade = PTHREAD_ONCE_INIT;
pthread_key_t key;
__thread Locals* localsOfThread = nullptr;

void release(void* pointer) {
  auto* locals = static_cast<Locals*>(pointer);
  // Destructors may make and use further variables.
  while (Destructor* last = locals->destructors) {
    locals->destructors = last->next;
    last->destroy(last->object);
    std::free(last);
  }
  for (size_t i = 0; i < locals->count; ++i)
    std::free(locals->values[i]);
  std::free(static_cast<void*>(locals->values));
  std::free(locals->bytes);
  std::free(locals);
}

void makeKey() {
  pthread_key_create(&key, [](void* locals) {
    localsOfThread = nullptr;
    release(locals);
  });
}

/// The variables of the calling kernel, or else of the thread; null when there are none yet and `make` is false.
Locals* localsOfCaller(bool make) {
  Execution* me = runtime::currentIfAny ? runtime::currentIfAny() : nullptr;
  if (me && !me->native) {
    if (!me->locals && make)
      me->locals = std::calloc(1, sizeof(Locals));
    return static_cast<Locals*>(me->locals);
  }
  if (!localsOfThread && make) {
    localsOfThread = static_cast<Locals*>(std::calloc(1, sizeof(Locals)));
    pthread_once(&keyMade, makeKey);
    pthread_setspecific(key, localsOfThread);
  }
  return localsOfThread;
}

/// Elements with room for more behind them. REQUIRES: there is memory; as with a thread's own variables there is no way
/// to say otherwise.
template <typename Element>
Element* grown(Element* elements, size_t count) {
  void* more = std::realloc(static_cast<void*>(elements), count * sizeof(Element));
  if (!more)
    std::abort();
  return static_cast<Element*>(more);
}

/// REQUIRES: there is memory.
void* make(Locals& locals, const Variable& variable, uintptr_t index) {
  if (index > locals.count) {
    const size_t count = 2 * index;
    locals.values = grown(locals.values, count);
    locals.bytes = grown(locals.bytes, count);
    std::fill(locals.values + locals.count, locals.values + count, nullptr);
    locals.count = count;
  }
  void*& value = locals.values[index - 1];
  if (value)
    return value;
  if (posix_memalign(&value, variable.alignment < sizeof(void*) ? sizeof(void*) : variable.alignment,
                     variable.bytes ? variable.bytes : 1) != 0)
    std::abort();
  locals.bytes[index - 1] = variable.bytes;
  if (variable.initial)
    std::memcpy(value, variable.initial, variable.bytes);
  else
    std::memset(value, 0, variable.bytes);
  return value;
}

uintptr_t indexOf(Variable& variable) {
  std::atomic_ref index(variable.index);
  if (const uintptr_t known = index.load(std::memory_order_acquire))
    return known;
  pthread_mutex_lock(&indexLock);
  uintptr_t mine = index.load(std::memory_order_relaxed);
  if (!mine)
    index.store(mine = ++lastIndex, std::memory_order_release);
  pthread_mutex_unlock(&indexLock);
  return mine;
}

bool isAmong(const Locals& locals, const void* object) {
  const auto address = reinterpret_cast<uintptr_t>(object);
  for (size_t i = 0; i < locals.count; ++i)
    if (const auto begin = reinterpret_cast<uintptr_t>(locals.values[i]); begin && address - begin < locals.bytes[i])
      return true;
  return false;
}

} // namespace

void releaseLocals(Execution& execution) {
  if (void* locals = execution.locals) {
    release(locals);
    execution.locals = nullptr;
  }
}

} // namespace strata::svm

using namespace strata::svm;

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the compiler's and the C++ library's.
void* __emutls_get_address(void* control) {
  auto& variable = *static_cast<Variable*>(control);
  if (variable.alignment == 0)
    return reinterpret_cast<void* (*)()>(variable.initial)();
  const uintptr_t index = indexOf(variable);
  if (const Locals* locals = localsOfCaller(false); locals && index <= locals->count)
    if (void* value = locals->values[index - 1])
      return value;
  return make(*localsOfCaller(true), variable, index);
}

int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library);

/// What C++ code calls when it has made such an object. A thread's own is the C library's to destroy.
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  Locals* locals = localsOfCaller(false);
  if (!locals || !isAmong(*locals, object))
    return __cxa_thread_atexit_impl(destroy, object, library);
  auto* destructor = static_cast<Destructor*>(std::malloc(sizeof(Destructor)));
  if (!destructor)
    return -1;
  *destructor = {destroy, object, locals->destructors};
  locals->destructors = destructor;
  return 0;
}
// NOLINTEND(bugprone-reserved-identifier)

} // extern "C"
