/* Kernels that the library brings along, called by name: filters, transforms, products of matrices, sorting, files and
 * the console. A processor runs those that the description of its machine lists for it, by the names given below.
 *
 * Each is a struct that begins with its Kernel; its init function takes the processor, its streams and blocks, and what
 * else it needs. Sequences end with the first element that carries a tag, and what a kernel pushes for it ends with a
 * tag too. Numbers are floats unless a line says otherwise. Messages and threads are as in svm.h. */
#ifndef SVM_KERNELS_H
#define SVM_KERNELS_H

#include "svm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kernels by name -------------------------------------------------------------------------------------------- */

/* Gives a name a work function, for all processors that list the name. A name of the library's own can be replaced. To
 * be called before kernels of that name are initialised. */
void svmRegisterKernel(const char* name, ExtKernelWork work);
void svmRegisterKernel_(const char* name, ExtKernelWork work, const char* place);
#define svmRegisterKernel(name, ...) svmRegisterKernel_((name), (__VA_ARGS__), #name SVM_PLACE_)

/* Makes a kernel of that name, whose work function gets `data`, of `dataSize` bytes. Errors: svm-unknown-kernel,
 * svm-supported-kernels. */
void blackBoxInit(Kernel* k, VM_NODE_PROC location, const char* name, void* data, int dataSize);
void svmBlackBoxInit_(Kernel* k, VM_NODE_PROC location, const char* name, void* data, int dataSize, const char* place);
SVM_INLINE_ void svmNamedInit_(const char* place, Kernel* k, VM_NODE_PROC location, const char* name, void* data,
                               int64_t dataSize) {
  svmBlackBoxInit_(k, location, name, data, (int)dataSize, place);
}
#define blackBoxInit(k, ...) svmNamedInit_(#k SVM_PLACE_, SVM_KERNEL_(k), __VA_ARGS__)

#define SVM_INIT_(name, object, location, place)                                                                       \
  svmBlackBoxInit_(&(object)->kernel, (location), (name), (object), (int)sizeof *(object), place)

/* ---- signals ---------------------------------------------------------------------------------------------------- */

/* "fir": out[n] = sum over k < count of taps[k] * in[n - k], with in[n] = 0 before the first element. */
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  IBlock* taps;
  int count;
} Fir;
SVM_INLINE_ void svmFirInit_(const char* place, Fir* fir, VM_NODE_PROC location, IStream* in, OStream* out,
                             IBlock* taps, int count) {
  SVM_INIT_("fir", fir, location, place);
  fir->in = in;
  fir->out = out;
  fir->taps = taps;
  fir->count = count;
}
#define firInit(...) svmFirInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

/* "fft": the discrete Fourier transform of one frame of `points` elements after another, a power of two; an element is
 * two floats, its real and imaginary part. `inverse`: the inverse transform, divided by `points`. A last frame that is
 * cut short is filled up with zeros. */
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int points;
  boolean inverse;
} Fft;
SVM_INLINE_ void svmFftInit_(const char* place, Fft* fft, VM_NODE_PROC location, IStream* in, OStream* out, int points,
                             boolean inverse) {
  SVM_INIT_("fft", fft, location, place);
  fft->in = in;
  fft->out = out;
  fft->points = points;
  fft->inverse = inverse;
}
#define fftInit(...) svmFftInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

/* ---- blocks and sequences --------------------------------------------------------------------------------------- */

/* "matrix_product": adds a b to c, matrices of rows x inner, inner x columns and rows x columns in row-major order. */
typedef struct {
  Kernel kernel;
  IBlock* a;
  IBlock* b;
  OBlock* c;
  int rows, inner, columns;
} MatrixProduct;
SVM_INLINE_ void svmMatrixProductInit_(const char* place, MatrixProduct* product, VM_NODE_PROC location, IBlock* a,
                                       IBlock* b, OBlock* c, int rows, int inner, int columns) {
  SVM_INIT_("matrix_product", product, location, place);
  product->a = a;
  product->b = b;
  product->c = c;
  product->rows = rows;
  product->inner = inner;
  product->columns = columns;
}
#define matrixProductInit(...) svmMatrixProductInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

/* What an element is, for kernels that compare or print. */
typedef enum { SVM_FLOAT, SVM_INT, SVM_DOUBLE, SVM_LONG, SVM_BYTE } SVM_TYPE;

/* "sort": a sequence in ascending order; floats and doubles in the total order of IEEE 754, -0 before 0. */
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int type; /* an SVM_TYPE */
} Sort;
SVM_INLINE_ void svmSortInit_(const char* place, Sort* sort, VM_NODE_PROC location, IStream* in, OStream* out,
                              int type) {
  SVM_INIT_("sort", sort, location, place);
  sort->in = in;
  sort->out = out;
  sort->type = type;
}
#define sortInit(...) svmSortInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

/* ---- devices ---------------------------------------------------------------------------------------------------- */

/* "file_source": the elements of a file, one after another; the last one carries a tag. Bytes that make no whole
 * element are left out. A file without an element gives none, and no tag. Error: svm-file. */
typedef struct {
  Kernel kernel;
  OStream* out;
  const char* path;
} FileSource;
SVM_INLINE_ void svmFileSourceInit_(const char* place, FileSource* source, VM_NODE_PROC location, OStream* out,
                                    const char* path) {
  SVM_INIT_("file_source", source, location, place);
  source->out = out;
  source->path = path;
}
#define fileSourceInit(...) svmFileSourceInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

/* "file_sink": writes a sequence to a file. Error: svm-file. */
typedef struct {
  Kernel kernel;
  IStream* in;
  const char* path;
} FileSink;
SVM_INLINE_ void svmFileSinkInit_(const char* place, FileSink* sink, VM_NODE_PROC location, IStream* in,
                                  const char* path) {
  SVM_INIT_("file_sink", sink, location, place);
  sink->in = in;
  sink->path = path;
}
#define fileSinkInit(...) svmFileSinkInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

/* "console": prints a sequence on standard output: bytes as they are, numbers one a line. */
typedef struct {
  Kernel kernel;
  IStream* in;
  int type; /* an SVM_TYPE */
} Console;
SVM_INLINE_ void svmConsoleInit_(const char* place, Console* console, VM_NODE_PROC location, IStream* in, int type) {
  SVM_INIT_("console", console, location, place);
  console->in = in;
  console->type = type;
}
#define consoleInit(...) svmConsoleInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
