/* HPVM-C: dataflow graphs in C and C++. A program describes graphs by calls of the functions below, launches them from
 * its host code, and is compiled and linked by `strata cc` or `strata c++`, which turns the graphs into code for this
 * computer. docs/hpvm.md goes through an example.
 *
 * What is called where: node functions describe (internal nodes) or compute (leaves) and are never called by the
 * program itself; the host functions at the end are called by all other code, from any thread. All that breaks a rule
 * and can be seen when the program is linked is an error then, with the line of the call; the rest ends the program
 * with a message. */
#ifndef HPVM_H
#define HPVM_H

#ifdef __cplusplus
#include <cstddef>
#define HPVM_NOTHROW_ noexcept
#else
#include <stddef.h>
#define HPVM_NOTHROW_ __attribute__((__nothrow__))
#endif

/* ---- where a node is to run ------------------------------------------------------------------------------------- */

/* A macro of another header, such as X11's, stays what it is. */
#pragma push_macro("None")
#undef None
#ifdef __cplusplus
namespace hpvm {
enum Target { None, CPU_TARGET, GPU_TARGET, CUDNN_TARGET, TENSOR_TARGET, CPU_OR_GPU_TARGET };
}
#else
enum Target { None, CPU_TARGET, GPU_TARGET, CUDNN_TARGET, TENSOR_TARGET, CPU_OR_GPU_TARGET };
#endif
#pragma pop_macro("None")
/* The target that a build chooses for all such nodes: -DDEVICE=CPU_TARGET. */
#ifndef DEVICE
#define DEVICE GPU_TARGET
#endif

#ifdef __cplusplus
extern "C" {
void __hpvm__hint(hpvm::Target target) HPVM_NOTHROW_;
#else
void __hpvm__hint(enum Target target) HPVM_NOTHROW_;
#endif

/* ---- every node ------------------------------------------------------------------------------------------------- */

/* __hpvm__attributes(ni, p…, no, q…): of the node's pointer arguments, the ni that are read and the no that are
 * written. */
void __hpvm__attributes(unsigned inputs, ...) HPVM_NOTHROW_;

/* ---- internal nodes --------------------------------------------------------------------------------------------- */

/* __hpvm__createNodeND(dimensions, function, n…): a child node of as many instances as the extents (size_t) give, one
 * extent a dimension; one instance without any. Gives its handle. */
void* __hpvm__createNodeND(unsigned dimensions, ...) HPVM_NOTHROW_;
/* From output `output` of one child to input `input` of another. replication 0: instance i to instance i, of equal
 * grids; else the last instance's value to every instance. */
void* __hpvm__edge(void* source, void* destination, unsigned replication, unsigned output, unsigned input,
                   unsigned is_stream) HPVM_NOTHROW_;
/* The node's own input `own` is the child's input `input`. */
void __hpvm__bindIn(void* child, unsigned own, unsigned input, unsigned is_stream) HPVM_NOTHROW_;
/* The child's output `output` is the node's own output `own`. */
void __hpvm__bindOut(void* child, unsigned output, unsigned own, unsigned is_stream) HPVM_NOTHROW_;

/* ---- leaves ----------------------------------------------------------------------------------------------------- */

/* __hpvm__return(n, v…): the leaf's n outputs; stands at its end, once on every way to it. What C widens because it is
 * passed so (float to double, char and short to int) has its own type as an output. */
void __hpvm__return(unsigned outputs, ...) HPVM_NOTHROW_;

void* __hpvm__getNode(void) HPVM_NOTHROW_;
/* Of the nodes below the root it is the root; of the root it is null. */
void* __hpvm__getParentNode(void* node) HPVM_NOTHROW_;
/* Of a node or of one that it is in. */
long __hpvm__getNodeInstanceID_x(void* node) HPVM_NOTHROW_;
long __hpvm__getNodeInstanceID_y(void* node) HPVM_NOTHROW_;
long __hpvm__getNodeInstanceID_z(void* node) HPVM_NOTHROW_;
long __hpvm__getNumNodeInstances_x(void* node) HPVM_NOTHROW_;
long __hpvm__getNumNodeInstances_y(void* node) HPVM_NOTHROW_;
long __hpvm__getNumNodeInstances_z(void* node) HPVM_NOTHROW_;
/* The same for any dimension, from 0; and how many there are. */
long __hpvm__getNodeInstanceID(void* node, unsigned dimension) HPVM_NOTHROW_;
long __hpvm__getNumNodeInstances(void* node, unsigned dimension) HPVM_NOTHROW_;
unsigned __hpvm__getNumDims(void* node) HPVM_NOTHROW_;

/* Memory that lives until the launch has been waited for, in a streaming one until the clean-up. */
void* __hpvm__malloc(long bytes) HPVM_NOTHROW_;
/* All instances of the leaf within one instance of its parent have come here; an error when some end without it. */
void __hpvm__barrier(void) HPVM_NOTHROW_;

/* Each gives what was there before. */
int __hpvm__atomic_add(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_sub(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_min(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_max(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_umin(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_umax(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_xchg(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_and(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_or(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_xor(int* at, int value) HPVM_NOTHROW_;
int __hpvm__atomic_inc(int* at) HPVM_NOTHROW_;
int __hpvm__atomic_dec(int* at) HPVM_NOTHROW_;
/* Stores `value` where `expected` is. */
int __hpvm__atomic_cmpxchg(int* at, int expected, int value) HPVM_NOTHROW_;

/* For other compilers: the loop around has iterations, n1, n2, … at least. Means nothing here. */
void __hpvm__isNonZeroLoop(long iterations, ...) HPVM_NOTHROW_;

float __hpvm__floor(float x) HPVM_NOTHROW_;
float __hpvm__rsqrt(float x) HPVM_NOTHROW_;
float __hpvm__sqrt(float x) HPVM_NOTHROW_;
float __hpvm__sin(float x) HPVM_NOTHROW_;
float __hpvm__cos(float x) HPVM_NOTHROW_;

/* ---- the host --------------------------------------------------------------------------------------------------- */

/* All others stand between these two. They may be called again. Each launch has been waited for by the clean-up. */
void __hpvm__init(void) HPVM_NOTHROW_;
void __hpvm__cleanup(void) HPVM_NOTHROW_;

/* Objects in memory that graphs are given, by the address where they begin. request brings what graphs have written
 * back to where the host reads it. Of a launch that has not been waited for, and of an item whose result has not been
 * popped, what is written is not requested, and what is read or written not untracked. */
void llvm_hpvm_track_mem(void* object, size_t bytes) HPVM_NOTHROW_;
void llvm_hpvm_untrack_mem(void* object) HPVM_NOTHROW_;
void llvm_hpvm_request_mem(void* object, size_t bytes) HPVM_NOTHROW_;

/* __hpvm__launch(is_stream, root, arguments): begins to execute the graph that `root`, an internal node's function,
 * describes. `arguments` points to a packed struct with a field for each argument of root and then one for each
 * output, which the graph writes; it lives until the wait. Gives the graph's handle. */
void* __hpvm__launch(unsigned is_stream, ...) HPVM_NOTHROW_;
/* Waits until the graph has ended, and forgets the handle; of a streaming graph it ends the input, and what has not
 * been popped stays until the clean-up. */
void __hpvm__wait(void* graph) HPVM_NOTHROW_;

/* Of a streaming graph: gives it the inputs of one execution, a packed struct that is copied (launch's `arguments` are
 * not looked at then). Waits while many executions are under way. */
void __hpvm__push(void* graph, void* arguments) HPVM_NOTHROW_;
/* The outputs of the next execution, in the order of the pushes: a packed struct with a field for each, which the
 * caller frees (free). Waits until it has ended. */
void* __hpvm__pop(void* graph) HPVM_NOTHROW_;

#ifdef __cplusplus
}
#endif

#undef HPVM_NOTHROW_

#endif
