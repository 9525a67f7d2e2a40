// What node functions call, for whoever calls them outside of graphs: node functions are descriptions, and calling one
// as a function of C is an error that ends the program.
#include "include/hpvm.h"

#include "runtime/hpvm/place.h"

#include <cstring>
#include <string>

using namespace strata::hpvm;

namespace {

/// Says which node function is called, and where, as far as that was told.
[[noreturn]] void failOutside(const char* function, const void* address) {
  Caller caller = takeCaller(address);
  std::string node;
  if (caller.place) {
    node = "node function '" + std::string(caller.place->function) + "' is called as a function of C: ";
    const StrataHpvmPlace* const call = takeNodeCall();
    if (call && std::strcmp(call->node, caller.place->function) == 0)
      caller.place = call;
  }
  failAt(caller, "hpvm-outside-graph", node + function + " is called outside of a graph",
         "node functions are not called: __hpvm__launch executes the graph that they describe");
}

} // namespace

#define OUTSIDE(result, name, parameters)                                                                              \
  result name parameters noexcept {                                                                                    \
    failOutside(#name, __builtin_return_address(0));                                                                   \
  }

/// Which functions that no graph has may call.
void __hpvm__isNonZeroLoop(long, ...) noexcept {}

OUTSIDE(void, __hpvm__hint, (hpvm::Target))
OUTSIDE(void, __hpvm__attributes, (unsigned, ...))
OUTSIDE(void*, __hpvm__createNodeND, (unsigned, ...))
OUTSIDE(void*, __hpvm__edge, (void*, void*, unsigned, unsigned, unsigned, unsigned))
OUTSIDE(void, __hpvm__bindIn, (void*, unsigned, unsigned, unsigned))
OUTSIDE(void, __hpvm__bindOut, (void*, unsigned, unsigned, unsigned))
OUTSIDE(void, __hpvm__return, (unsigned, ...))
OUTSIDE(void*, __hpvm__getNode, ())
OUTSIDE(void*, __hpvm__getParentNode, (void*))
OUTSIDE(long, __hpvm__getNodeInstanceID_x, (void*))
OUTSIDE(long, __hpvm__getNodeInstanceID_y, (void*))
OUTSIDE(long, __hpvm__getNodeInstanceID_z, (void*))
OUTSIDE(long, __hpvm__getNumNodeInstances_x, (void*))
OUTSIDE(long, __hpvm__getNumNodeInstances_y, (void*))
OUTSIDE(long, __hpvm__getNumNodeInstances_z, (void*))
OUTSIDE(long, __hpvm__getNodeInstanceID, (void*, unsigned))
OUTSIDE(long, __hpvm__getNumNodeInstances, (void*, unsigned))
OUTSIDE(unsigned, __hpvm__getNumDims, (void*))
OUTSIDE(void*, __hpvm__malloc, (long))
OUTSIDE(void, __hpvm__barrier, ())
OUTSIDE(int, __hpvm__atomic_add, (int*, int))
OUTSIDE(int, __hpvm__atomic_sub, (int*, int))
OUTSIDE(int, __hpvm__atomic_min, (int*, int))
OUTSIDE(int, __hpvm__atomic_max, (int*, int))
OUTSIDE(int, __hpvm__atomic_umin, (int*, int))
OUTSIDE(int, __hpvm__atomic_umax, (int*, int))
OUTSIDE(int, __hpvm__atomic_xchg, (int*, int))
OUTSIDE(int, __hpvm__atomic_and, (int*, int))
OUTSIDE(int, __hpvm__atomic_or, (int*, int))
OUTSIDE(int, __hpvm__atomic_xor, (int*, int))
OUTSIDE(int, __hpvm__atomic_inc, (int*))
OUTSIDE(int, __hpvm__atomic_dec, (int*))
OUTSIDE(int, __hpvm__atomic_cmpxchg, (int*, int, int))
OUTSIDE(float, __hpvm__floor, (float))
OUTSIDE(float, __hpvm__rsqrt, (float))
OUTSIDE(float, __hpvm__sqrt, (float))
OUTSIDE(float, __hpvm__sin, (float))
OUTSIDE(float, __hpvm__cos, (float))
