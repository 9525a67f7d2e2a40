/* What C and C++ programs use to call compiled Sequoia programs, and what the functions of external tasks are handed.
 *
 * C11 and later, C++11 and later. Link with the runtime, libstrata.a (`pkg-config --libs strata`); a shared library
 * made by `strata build` has it inside. Sizes are counted in elements unless named otherwise. Every function may be
 * called from any thread; the fields of one array must not change while a program or another thread uses it.
 * docs/from-c.md goes through an example. Errors are those of strata.h: the functions for them are the same ones by
 * other names, so that programs may use either. */
#ifndef SEQUOIA_H
#define SEQUOIA_H

#ifdef __cplusplus
extern "C" {
#endif

#define SQ_MAX_DIMS 9

typedef unsigned long sqSize_t;

/* An array and how it lies in memory. The logical array, which programs see, is a box within the physical one, which
 * `ptr` points to. A dimension d of the logical array begins at index offset[d] of the physical one, and
 *   offset[d] + numElmts[d] <= pitch[d].
 * Neighbours along contigDim follow each other in memory; around them the other dimensions lie in row-major order, the
 * last of them innermost. So a matrix in C's order has contigDim 1, and one in Fortran's order has contigDim 0. */
typedef struct {
  unsigned int numDims; /* how many dimensions there are, 1 to SQ_MAX_DIMS; the arrays below have as many entries */
  int contigDim;        /* the dimension whose neighbours are adjacent, 0 to numDims - 1; -1: none, which entry
                           points refuse */
  sqSize_t offset[SQ_MAX_DIMS];   /* where the logical array begins in the physical one, in elements */
  sqSize_t pitch[SQ_MAX_DIMS];    /* extents of the physical array, in elements */
  sqSize_t numElmts[SQ_MAX_DIMS]; /* extents of the logical array, in elements */
  sqSize_t elmtSize;              /* bytes of one element */
  void* ptr;                      /* the physical array's first element */
} sqArray_t;

/* ---- entry points ----
 *
 * The header that comes with a compiled program declares a function for each entry point, which has the name of its
 * instance and returns nothing. Arrays are sqArray_t*; a scalar is a value where the task only reads it, else a
 * pointer.
 * - The last dimension is best the contiguous one. An array in another order is copied for the time of the call, and
 *   copied back if it is written.
 * - An `out` array holds what the task wrote; elements that it did not write keep their values.
 * - What is written shares no memory with another argument.
 * - Calls may come from several threads at once. Each has explicit memories of its own: a machine with local stores is
 *   there once for every call under way. A function of an external task may call entry points too.
 */

/* ---- errors ---- */

/* `code` names the kind of error in kebab case ("sequoia-size-mismatch"); `message` is one line without a line break.
 * Both are valid during the call of the handler only. */
typedef void (*sqErrorHandler_t)(const char* code, const char* message);

/* Sets what is called when something is wrong, for the whole process; returns what was set before. Null, which is the
 * default: the message is printed on stderr and the program ends with status 1.
 *
 * The handler is called in one of two situations, which sqIsFatal() tells apart:
 * 1. The arguments of a call are wrong: of a function below, or of an entry point (a null pointer, another number of
 *    dimensions or size of elements, a layout that is none, a size that does not follow from the others, a precondition
 *    of the mapping, arguments that overlap). It is called on the thread of the call, which holds nothing and has read
 *    and written no element. The handler may return: an entry point then returns at once, a function below returns
 * null. It may also leave by longjmp, to a setjmp of that thread. In both cases the next call works as if this one had
 *    not been.
 * 2. A program that runs has met an error (an index out of range, no memory): sqIsFatal() is 1. It may be any thread,
 *    others are still at work, and the computation cannot go on: the handler may write, clean up and end the process in
 *    its own way; when it returns, the process ends with status 1. It must not jump.
 * In neither case may a C++ exception leave it. In situation 1 several threads can be in the handler at once. */
sqErrorHandler_t sqSetErrorHandler(sqErrorHandler_t handler);

/* Within a handler: 1 when the process ends as soon as the handler returns, else 0. */
int sqIsFatal(void);

/* Reports an error as a wrong argument is. Entry points call it; so may functions of external tasks. */
void sqRaiseError(const char* code, const char* message);

/* ---- arrays ---- */

/* A new array in row-major order (contigDim is the last dimension), without padding: pitch equals numElmts and offset
 * is 0. Elements of elmtSize bytes begin at a multiple of 64 bytes and are not initialised. Extents may be 0. Errors:
 * "sequoia-array-size" for elements of 0 bytes or more bytes than can be addressed, "sequoia-out-of-memory". */
sqArray_t* sqAllocArray1D(sqSize_t elmtSize, sqSize_t d0);
sqArray_t* sqAllocArray2D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1);
sqArray_t* sqAllocArray3D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2);
sqArray_t* sqAllocArray4D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3);
sqArray_t* sqAllocArray5D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4);
sqArray_t* sqAllocArray6D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4,
                          sqSize_t d5);
sqArray_t* sqAllocArray7D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4,
                          sqSize_t d5, sqSize_t d6);
sqArray_t* sqAllocArray8D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4,
                          sqSize_t d5, sqSize_t d6, sqSize_t d7);
sqArray_t* sqAllocArray9D(sqSize_t elmtSize, sqSize_t d0, sqSize_t d1, sqSize_t d2, sqSize_t d3, sqSize_t d4,
                          sqSize_t d5, sqSize_t d6, sqSize_t d7, sqSize_t d8);

/* Gives back an array made by one of the functions above, with its elements. Null is allowed. */
void sqFreeArray(sqArray_t* array);

/* The address of the element at logical indices i0, i1, …, and from there on, of its neighbours along contigDim. In
 * row-major order that is ptr + elmtSize * (((i0 + offset[0]) * pitch[1] + i1 + offset[1]) * pitch[2] + …). Errors:
 * "sequoia-wrong-rank" when the array has another number of dimensions, "sequoia-wrong-layout" when it has no
 * contiguous one, "sequoia-index" for an index beyond numElmts. */
void* sqElmt1D(sqArray_t* array, sqSize_t i0);
void* sqElmt2D(sqArray_t* array, sqSize_t i0, sqSize_t i1);
void* sqElmt3D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2);
void* sqElmt4D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3);
void* sqElmt5D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4);
void* sqElmt6D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4, sqSize_t i5);
void* sqElmt7D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4, sqSize_t i5,
               sqSize_t i6);
void* sqElmt8D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4, sqSize_t i5,
               sqSize_t i6, sqSize_t i7);
void* sqElmt9D(sqArray_t* array, sqSize_t i0, sqSize_t i1, sqSize_t i2, sqSize_t i3, sqSize_t i4, sqSize_t i5,
               sqSize_t i6, sqSize_t i7, sqSize_t i8);

#ifdef __cplusplus
}
#endif

#endif
