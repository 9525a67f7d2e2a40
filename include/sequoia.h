/* What C and C++ programs use to call compiled Sequoia programs, and what the functions of external tasks are handed.
 *
 * Plain C11, also valid C++. Link with the runtime (a shared library made by `strata build` has it inside). Sizes are
 * counted in elements unless named otherwise. Every function may be called from any thread; the fields of one array
 * must not change while a program or another thread uses it. */
#ifndef SEQUOIA_H
#define SEQUOIA_H

#ifdef __cplusplus
extern "C" {
#endif

#define SQ_MAX_DIMS 9

typedef unsigned long sqSize_t;

/* An array and how it lies in memory. The logical array, which programs see, is a box within the physical one.
 * An entry point takes arrays whose last dimension is the contiguous one. */
typedef struct {
  unsigned int numDims;           /* how many dimensions there are, 1 to SQ_MAX_DIMS */
  int contigDim;                  /* the dimension whose neighbours are adjacent in memory; -1: none */
  sqSize_t offset[SQ_MAX_DIMS];   /* where the logical array begins in the physical one */
  sqSize_t pitch[SQ_MAX_DIMS];    /* extents of the physical array */
  sqSize_t numElmts[SQ_MAX_DIMS]; /* extents of the logical array */
  sqSize_t elmtSize;              /* bytes of one element */
  void* ptr;                      /* the physical array's first element */
} sqArray_t;

/* ---- errors -------------------------------------------------------------------------------------------------------
 */

/* `code` names the kind of error in kebab case ("sequoia-size-mismatch"); `message` is one line without a line break.
 * Both are valid during the call only. */
typedef void (*sqErrorHandler_t)(const char* code, const char* message);

/* Sets what is called when something is wrong, for the whole process; returns what was set before. Null, which is the
 * default: the message is printed and the program ends with status 1.
 * When a handler returns: an entry point that was given wrong arguments returns without having read or written an
 * element; a function below returns null; an error that a program meets as it runs (an index out of range, a
 * precondition that does not hold) ends the process with status 1. That last kind may come from any thread, and the
 * handler must then not jump out of the call. */
sqErrorHandler_t sqSetErrorHandler(sqErrorHandler_t handler);

/* Reports an error as above. Entry points call it; so may functions of external tasks. */
void sqRaiseError(const char* code, const char* message);

/* ---- arrays -------------------------------------------------------------------------------------------------------
 */

/* A new array in row-major order, without padding: pitch equals numElmts and offset is 0. Elements of elmtSize bytes
 * begin at a multiple of 64 bytes and are not initialised. Extents may be 0. Errors: "sequoia-array-size" for elements
 * of 0 bytes or more bytes than can be addressed, "sequoia-out-of-memory". */
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

/* The address of the element at logical indices i0, i1, …. From there on, neighbours along contigDim follow each other;
 * the other dimensions are in row-major order around them. Errors: "sequoia-wrong-rank" when the array has another
 * number of dimensions, "sequoia-wrong-layout" when it has no contiguous one, "sequoia-index" for an index beyond
 * numElmts. */
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
