/* The streaming virtual machine: streams, blocks, kernels and control, bound to the memories and processors of a
 * machine that a program names. A program includes this header and that of its machine (`strata machine NAME
 * --header`), is compiled by any C compiler, and is linked with -lstrata-svm; linked with -lstrata-svm-checked, or run
 * with STRATA_SVM=checked, every misuse ends it with a message.
 *
 * C11 and later, C++20 and later; gcc or clang. docs/svm.md goes through an example. Control functions may be called
 * from any thread of the program; work functions run beside them, as many at a time as there are worker threads
 * (STRATA_THREADS, else the computer's cores). Streams, blocks and kernels belong to the program, which declares them
 * as static variables; what the library holds for them lives as long as the process. */
#ifndef SVM_H
#define SVM_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#define SVM_ALIGNED_ alignas(64)
#define SVM_NULL_ nullptr
#else
#define SVM_ALIGNED_ _Alignas(64)
#define SVM_NULL_ NULL
#endif

/* ---- types of elements ------------------------------------------------------------------------------------------ */

typedef unsigned char byte;
typedef unsigned char boolean;
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

/* ---- the machine ------------------------------------------------------------------------------------------------ */

/* Memories and FIFOs, and processors, of a machine. The header of the machine has the names of all values. */
typedef int VM_NODE_MEM;
typedef int VM_NODE_PROC;

/* Chooses the machine: a name, or the path of a .yaml file. Without a call it is what STRATA_MACHINE names, else the
 * machine whose header the program includes. To be called before anything else. Error: svm-machine when something has
 * been initialised already, or what the description says is wrong. */
void svmMachine(const char* name);

/* The control processor that the calling thread's code runs on from here: one that is its own master. Without a call it
 * is the first such processor of the machine. Not for work functions (rule A3). */
void svmControl(VM_NODE_PROC processor);

/* Where the storage at an address of a memory lies, for reading files into a stream's memory and the like. An address
 * counts the units that the machine's description gives the memory. Valid as long as the process lives. Error:
 * svm-address when the memory has no such address. */
void* svmAddress(VM_NODE_MEM memory, int address);

/* How many threads carry out kernels, the callers of the control functions included, at most 512; 0: as many as the
 * computer has cores. REQUIRES: no kernel is under way. Errors: svm-a3 within a work function, svm-threads for another
 * number. */
void svmThreads(int count);

/* ---- streams ---------------------------------------------------------------------------------------------------- */

/* A sequence of elements of one size, first in, first out. Its fields are the library's. */
typedef struct Stream {
  SVM_ALIGNED_ uint64_t pushed_; /* elements pushed so far, written by whoever pushes */
  uint64_t pushLimit_;           /* pushes below this count need no other look, nor reach the buffer's end */
  uint64_t pushWordLimit_;       /* the same where elements have 4 bytes, else 0 */
  char* writeFrom_;              /* the next element lies at writeFrom_ + pushed_ * elementBytes_ */
  struct SvmGroup_* group_;      /* of the streams that are pushed to together, which counts for them; or null */
  SVM_ALIGNED_ uint64_t popped_; /* elements popped so far, written by whoever pops */
  uint64_t popLimit_;            /* elements below this count are there and carry no tag */
  uint64_t popWordLimit_;
  char* readFrom_;
  SVM_ALIGNED_ void* pusherWaits_; /* who waits, and for what count of the other side */
  void* popperWaits_;
  char* begin_; /* the circular buffer */
  char* end_;
  uint64_t elementBytes_;
  void* record_;
  uint64_t mark_;
} Stream;

/* Streams with elements of 4 bytes that one kernel multicasts to and to which as many elements have been pushed. */
typedef struct SvmGroup_ {
  SVM_ALIGNED_ uint64_t pushed_; /* what would be pushed_ of each of them */
  uint64_t limit_;
  uint64_t waits_; /* whether one of those who pop waits */
  int count_;
  Stream* streams_[8];
  char* from_[8]; /* writeFrom_ of each */
} SvmGroup_;

/* How a kernel uses a stream: it pops, pushes, or does both. */
typedef Stream IStream;
typedef Stream OStream;
typedef Stream IOStream;

typedef enum /* STREAM_FLAGS */ {
  STREAM_UNORDERED = 0x1,     /* the order of elements does not matter; nobody peeks */
  STREAM_UNALIASED_RAM = 0x2, /* nothing else uses the stream's memory */
  STREAM_NEVER_WRAPS = 0x4,   /* no more than capacity elements are ever pushed */
  STREAM_ONE_EOS = 0x8        /* at most one element carries a tag at a time */
} STREAM_FLAGS;

/* Makes an empty stream of at most `capacity` elements of `elementSize` bytes: a circular buffer that begins at
 * `address` of a memory. */
void streamInitRAM(Stream* s, VM_NODE_MEM ramLocation, int address, int capacity, int elementSize, int flags);
/* The same, where `initLength` elements are in place already; with `initEOS`, the last of them carries a tag. */
void streamInitWithDataRAM(Stream* s, VM_NODE_MEM ramLocation, int address, int capacity, int elementSize,
                           int initLength, int initEOS, int flags);
void streamInitRAMWithData(Stream* s, VM_NODE_MEM ramLocation, int address, int capacity, int elementSize,
                           int initLength, int initEOS, int flags);
/* Makes an empty stream in a hardware FIFO, which holds as many elements as its bytes allow. */
void streamInitFIFO(Stream* s, VM_NODE_MEM fifoLocation, int elementSize, int flags);

/* Appends an element; waits while the stream is full. WithEOS: the element carries the tag that ends a sequence. */
void streamPush(Stream* s, void* element);
void streamPushWithEOS(Stream* s, void* element);
/* Takes the first element and its tag; waits while the stream is empty. */
void streamPop(Stream* s, void* element);
/* Copies the element that stands n places behind the first; waits until there is one. 0 <= n < capacity. */
void streamPeek(Stream* s, int n, void* element);
/* Whether that element carries a tag; waits until there is one. */
boolean streamPeekEOS(Stream* s, int n);
boolean streamGetEOS(Stream* s, int n);
/* streamPushMulticast(void* element, Stream* s0, Stream* s1, ...)
 * streamPushMulticastWithEOS(void* element, Stream* s0, Stream* s1, ...)
 * Wait until every stream has room, then append the element to each. They are macros: the streams are simply listed. */

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* A region of a memory with elements of one size that are reached by index. Its fields are the library's. */
typedef struct Block {
  char* begin_;
  uint64_t indexLimit_; /* indices below this need no other look */
  uint64_t elementBytes_;
  void* record_;
  uint64_t mark_;
} Block;

typedef Block IBlock;
typedef Block OBlock;

void blockInit(Block* b, VM_NODE_MEM ramLocation, int address, int capacity, int elementSize);
/* Store and load one element. 0 <= index < capacity. */
void blockWrite(Block* b, int index, void* element);
void blockRead(Block* b, int index, void* element);

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

/* What every kernel begins with. Its fields are the library's. */
typedef struct Kernel {
  void* record_;
  uint64_t mark_;
} Kernel;

typedef void (*ExtKernelWork)(void* extKernelData);

/* Makes a kernel that runs extKernelWork(extKernelData) on a processor. `scratch` may be NULL. */
void kernelInit(Kernel* k, VM_NODE_PROC procLocation, Block* scratch, void* extKernelData, int extKernelDataSize,
                ExtKernelWork extKernelWork);

typedef enum {
  KERNEL_UNSTARTED, /* also a kernel that nothing has initialised */
  KERNEL_WAITING,   /* run, but what it depends on has not finished, or its processor is held */
  KERNEL_RUNNING,
  KERNEL_PAUSED,
  KERNEL_FINISHED
} KERNEL_STATUS;

/* The functions below take a Kernel* or a pointer to a struct that begins with one. */

/* `k`, which is UNSTARTED, does not begin before the last execution of `dependsOnKernel` has finished. */
void kernelAddDependence(Kernel* k, Kernel* dependsOnKernel);
/* A hint that `k` will run soon. */
void kernelReady(Kernel* k);
/* Starts an UNSTARTED kernel, lets a PAUSED one go on. Returns at once. */
void kernelRun(Kernel* k);
/* Ask a kernel to pause, or to finish, which takes effect at the latest when it next uses a stream, a block or a
 * kernel function; also while it waits in one. Return at once. A work function may call them on its own kernel. */
void kernelPause(Kernel* k);
void kernelEnd(Kernel* k);
/* Waits until the kernel is PAUSED or FINISHED; returns at once when it is UNSTARTED. */
void kernelWait(Kernel* k);
/* kernelWaitMultiple(Kernel* k0, Kernel* k1, ...)
 * Waits until one of the kernels is PAUSED or all are FINISHED; UNSTARTED ones do not count. It is a macro: the kernels
 * are simply listed. */
KERNEL_STATUS kernelGetStatus(Kernel* k);

/* ---- kernels that move data ------------------------------------------------------------------------------------- */

/* Of a length: up to the first element with a tag, or to the end of a block or of the indices. */
enum { STREAM_LENGTH_ALL = -1 };

typedef struct SvmTransfer_ {
  Stream* source;
  Stream* target;
  Stream* indices;
  Block* block;
  int length, stride, elements;
  boolean setEOS;
} SvmTransfer_;

/* Copies `length` elements from one stream to another. With setEOS the last one gets a tag. */
typedef struct {
  Kernel kernel;
  SvmTransfer_ transfer_;
} Move;
void moveInit(Move* move, VM_NODE_PROC location, IStream* srcStr, OStream* destStr, int length, boolean setEOS);

/* Copy segments of `elementsPerStride` elements between a stream and a block, in which segments begin every
 * `destStride` or `srcStride` elements; `length` elements in all. */
typedef struct {
  Kernel kernel;
  SvmTransfer_ transfer_;
} StridedScatter;
void stridedScatterInit(StridedScatter* scatter, VM_NODE_PROC location, IStream* srcStr, OBlock* destBlock, int length,
                        int destStride, int elementsPerStride, boolean setEOS);
typedef struct {
  Kernel kernel;
  SvmTransfer_ transfer_;
} StridedGather;
void stridedGatherInit(StridedGather* gather, VM_NODE_PROC location, IBlock* srcBlock, OStream* destStr, int length,
                       int srcStride, int elementsPerStride, boolean setEOS);

/* Copy records of `elementsPerIndex` elements between a stream and the places of a block that a stream of indices
 * names. An index is an int (or, by the size of the stream's elements, of 1, 2 or 8 bytes) and counts elements. */
typedef struct {
  Kernel kernel;
  SvmTransfer_ transfer_;
} IndexedScatter;
void indexedScatterInit(IndexedScatter* scatter, VM_NODE_PROC location, IStream* srcStr, IStream* indexStr,
                        OBlock* destBlock, int length, int elementsPerIndex, boolean setEOS);
typedef struct {
  Kernel kernel;
  SvmTransfer_ transfer_;
} IndexedGather;
void indexedGatherInit(IndexedGather* gather, VM_NODE_PROC location, IBlock* srcBlock, IStream* indexStr,
                       OStream* destStr, int length, int elementsPerIndex, boolean setEOS);

/* ---- behind the names above --------------------------------------------------------------------------------------
 *
 * The macros at the end hand each call's place in the source to the library and let the common case of a stream or
 * block operation be a few instructions in the caller. A place is the text of the first argument, a zero byte, and
 * FILE:LINE. */

#define SVM_TEXT_2_(x) #x
#define SVM_TEXT_(x) SVM_TEXT_2_(x)
#define SVM_PLACE_ "\0" __FILE__ ":" SVM_TEXT_(__LINE__)
#define SVM_SIZE_(element) __builtin_object_size((element), 0)

/* Called by the header of a machine, before main. */
void svmRegisterMachine_(const char* name, const char* description);

void svmMachine_(const char* name, const char* place);
void svmControl_(VM_NODE_PROC processor, const char* place);
void* svmAddress_(VM_NODE_MEM memory, int address, const char* place);
void svmThreads_(int count, const char* place);

void svmStreamInit_(Stream* s, VM_NODE_MEM location, int address, int capacity, int elementSize, int initLength,
                    int initEOS, int flags, int fifo, const char* place);
/* `size`: the bytes that an element surely has no more of, where the compiler sees that. The library touches no more.
 */
void svmPushSlowly_(Stream* s, const void* element, uint64_t size, int eos, const char* place);
void svmPopSlowly_(Stream* s, void* element, uint64_t size, const char* place);
boolean svmPeekSlowly_(Stream* s, int n, void* element, uint64_t size, const char* place);
void svmMulticast_(const void* element, uint64_t size, int eos, Stream* const* streams, int count, const char* place);
void svmWakePopper_(Stream* s);
void svmWakePoppers_(SvmGroup_* group);
void svmWakePusher_(Stream* s);
void svmBlockInit_(Block* b, VM_NODE_MEM location, int address, int capacity, int elementSize, const char* place);
void svmWriteSlowly_(Block* b, int index, const void* element, uint64_t size, const char* place);
void svmReadSlowly_(Block* b, int index, void* element, uint64_t size, const char* place);
void svmKernelInit_(Kernel* k, VM_NODE_PROC location, Block* scratch, void* data, int dataSize, ExtKernelWork work,
                    const char* place);
void svmTransferInit_(Kernel* k, SvmTransfer_* transfer, VM_NODE_PROC location, int kind, Stream* source,
                      Stream* target, Stream* indices, Block* block, int length, int stride, int elements,
                      boolean setEOS, const char* place);
void svmAddDependence_(Kernel* k, Kernel* on, const char* place);
void svmReady_(Kernel* k, const char* place);
void svmRun_(Kernel* k, const char* place);
void svmPause_(Kernel* k, const char* place);
void svmEnd_(Kernel* k, const char* place);
void svmWaitAny_(void* const* kernels, int count, const char* place);
KERNEL_STATUS svmStatus_(Kernel* k, const char* place);

enum { SVM_MOVE_, SVM_STRIDED_SCATTER_, SVM_STRIDED_GATHER_, SVM_INDEXED_SCATTER_, SVM_INDEXED_GATHER_ };

#define SVM_INLINE_ static inline __attribute__((always_inline, unused))
#define SVM_SELDOM_(x) __builtin_expect((x), 0)

/* How many bytes a pointer surely leads to no more than, where the compiler sees that. */
#define SVM_MAY_HOLD_(pointer, bytes) (__builtin_object_size((pointer), 0) >= (bytes))

/* For a compiler that looks at code which a size shows to be dead. */
#define SVM_AT_MOST_8_(size) ((size) < 8 ? (size) : 8)

SVM_INLINE_ void svmCopy_(void* to, const void* from, uint64_t bytes) {
  if (bytes == 4 && SVM_MAY_HOLD_(to, 4) && SVM_MAY_HOLD_(from, 4))
    memcpy(to, from, 4);
  else if (bytes == 8 && SVM_MAY_HOLD_(to, 8) && SVM_MAY_HOLD_(from, 8))
    memcpy(to, from, 8);
  else
    memcpy(to, from, bytes);
}

/* After an element has been written, or read: it is pushed, or popped. */
SVM_INLINE_ void svmPushed_(Stream* s, uint64_t pushed) {
  __atomic_store_n(&s->pushed_, pushed + 1, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (SVM_SELDOM_(__atomic_load_n(&s->popperWaits_, __ATOMIC_ACQUIRE) != SVM_NULL_))
    svmWakePopper_(s);
}

SVM_INLINE_ void svmPopped_(Stream* s, uint64_t popped) {
  __atomic_store_n(&s->popped_, popped + 1, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (SVM_SELDOM_(__atomic_load_n(&s->pusherWaits_, __ATOMIC_ACQUIRE) != SVM_NULL_))
    svmWakePusher_(s);
}

/* Where an element lies whose number is below a limit. Once a stream has wrapped, `from` lies before its buffer. */
SVM_INLINE_ char* svmAt_(char* from, uint64_t number, uint64_t bytes) {
  return from + number * bytes;
}

/* A variable of 4 or 8 bytes is as a rule an element of that size. Its address goes nowhere, so that it can stay in a
 * register: the library gets a copy. */
SVM_INLINE_ void svmPush_(Stream* s, const void* element, uint64_t size, const char* place) {
  const uint64_t pushed = __atomic_load_n(&s->pushed_, __ATOMIC_RELAXED);
  if (size == 4 || size == 8) {
    const uint64_t limit = __atomic_load_n(size == 4 ? &s->pushWordLimit_ : &s->pushLimit_, __ATOMIC_RELAXED);
    if (SVM_SELDOM_(pushed >= limit || (size != 4 && s->elementBytes_ != size))) {
      uint64_t copy = 0;
      memcpy(&copy, element, SVM_AT_MOST_8_(size));
      svmPushSlowly_(s, &copy, size, 0, place);
      return;
    }
    memcpy(svmAt_(s->writeFrom_, pushed, size), element, size);
    svmPushed_(s, pushed);
  } else if (size > 4 && pushed < __atomic_load_n(&s->pushWordLimit_, __ATOMIC_RELAXED)) {
    memcpy(svmAt_(s->writeFrom_, pushed, 4), element, 4);
    svmPushed_(s, pushed);
  } else if (SVM_SELDOM_(pushed >= __atomic_load_n(&s->pushLimit_, __ATOMIC_RELAXED))) {
    svmPushSlowly_(s, element, size, 0, place);
  } else {
    svmCopy_(svmAt_(s->writeFrom_, pushed, s->elementBytes_), element, s->elementBytes_);
    svmPushed_(s, pushed);
  }
}

/* Elements that are smaller leave the rest of the variable as it was, also where that is what it was before anything
 * was written there. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
SVM_INLINE_ void svmPop_(Stream* s, void* element, uint64_t size, const char* place) {
  const uint64_t popped = __atomic_load_n(&s->popped_, __ATOMIC_RELAXED);
  if (size == 4 || size == 8) {
    const uint64_t limit = __atomic_load_n(size == 4 ? &s->popWordLimit_ : &s->popLimit_, __ATOMIC_RELAXED);
    if (SVM_SELDOM_(popped >= limit || (size != 4 && s->elementBytes_ != size))) {
      uint64_t copy;
      memcpy(&copy, element, SVM_AT_MOST_8_(size));
      svmPopSlowly_(s, &copy, size, place);
      memcpy(element, &copy, SVM_AT_MOST_8_(size));
      return;
    }
    memcpy(element, svmAt_(s->readFrom_, popped, size), size);
    svmPopped_(s, popped);
  } else if (size > 4 && popped < __atomic_load_n(&s->popWordLimit_, __ATOMIC_RELAXED)) {
    memcpy(element, svmAt_(s->readFrom_, popped, 4), 4);
    svmPopped_(s, popped);
  } else if (SVM_SELDOM_(popped >= __atomic_load_n(&s->popLimit_, __ATOMIC_RELAXED))) {
    svmPopSlowly_(s, element, size, place);
  } else {
    svmCopy_(element, svmAt_(s->readFrom_, popped, s->elementBytes_), s->elementBytes_);
    svmPopped_(s, popped);
  }
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#ifdef __clang__
#define SVM_UNROLL_ _Pragma("clang loop unroll(full)")
#else
#define SVM_UNROLL_ _Pragma("GCC unroll 8")
#endif

/* What a list of streams needs to be pushed to at once the library keeps in a group of the first of them. The list goes
 * nowhere, so that the streams can stay in registers: the library gets a copy. */
SVM_INLINE_ void svmMulticastHere_(const void* element, uint64_t size, int eos, Stream* const* streams, int count,
                                   const char* place) {
  if (size == 4 && !eos && count <= 8) {
    SvmGroup_* group = __atomic_load_n(&streams[0]->group_, __ATOMIC_RELAXED);
    uint32_t word;
    memcpy(&word, element, 4);
    if (group) {
      const uint64_t pushed = __atomic_load_n(&group->pushed_, __ATOMIC_RELAXED);
      uintptr_t differ = (uintptr_t)(group->count_ ^ count);
      SVM_UNROLL_
      for (int i = 0; i < count; ++i)
        differ |= (uintptr_t)group->streams_[i] ^ (uintptr_t)streams[i];
      if (!differ && pushed < __atomic_load_n(&group->limit_, __ATOMIC_RELAXED)) {
        SVM_UNROLL_
        for (int i = 0; i < count; ++i)
          memcpy(svmAt_(group->from_[i], pushed, 4), &word, 4);
        __atomic_store_n(&group->pushed_, pushed + 1, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (SVM_SELDOM_(__atomic_load_n(&group->waits_, __ATOMIC_ACQUIRE) != 0))
          svmWakePoppers_(group);
        return;
      }
    }
    {
      const uint32_t copy = word;
      Stream* list[8];
      SVM_UNROLL_
      for (int i = 0; i < count; ++i)
        list[i] = streams[i];
      svmMulticast_(&copy, size, eos, list, count, place);
    }
    return;
  }
  svmMulticast_(element, size, eos, streams, count, place);
}

/* Whether the element n places behind the first is there, carries no tag, and needs no other look. */
SVM_INLINE_ int svmIsPlain_(Stream* s, int n) {
  const uint64_t popped = __atomic_load_n(&s->popped_, __ATOMIC_RELAXED);
  const uint64_t limit = __atomic_load_n(&s->popLimit_, __ATOMIC_RELAXED);
  return popped < limit && (uint64_t)(int64_t)n < limit - popped;
}

SVM_INLINE_ void svmPeek_(Stream* s, int n, void* element, uint64_t size, const char* place) {
  if (SVM_SELDOM_(!svmIsPlain_(s, n))) {
    svmPeekSlowly_(s, n, element, size, place);
    return;
  }
  const uint64_t number = __atomic_load_n(&s->popped_, __ATOMIC_RELAXED) + (uint64_t)n;
  svmCopy_(element, svmAt_(s->readFrom_, number, s->elementBytes_), s->elementBytes_);
}

SVM_INLINE_ boolean svmPeekEOS_(Stream* s, int n, const char* place) {
  return SVM_SELDOM_(!svmIsPlain_(s, n)) ? svmPeekSlowly_(s, n, SVM_NULL_, 0, place) : FALSE;
}

SVM_INLINE_ void svmWrite_(Block* b, int index, const void* element, uint64_t size, const char* place) {
  if (SVM_SELDOM_((uint64_t)(int64_t)index >= __atomic_load_n(&b->indexLimit_, __ATOMIC_RELAXED)))
    svmWriteSlowly_(b, index, element, size, place);
  else
    svmCopy_(b->begin_ + (uint64_t)index * b->elementBytes_, element, b->elementBytes_);
}

SVM_INLINE_ void svmRead_(Block* b, int index, void* element, uint64_t size, const char* place) {
  if (SVM_SELDOM_((uint64_t)(int64_t)index >= __atomic_load_n(&b->indexLimit_, __ATOMIC_RELAXED)))
    svmReadSlowly_(b, index, element, size, place);
  else
    svmCopy_(element, b->begin_ + (uint64_t)index * b->elementBytes_, b->elementBytes_);
}

SVM_INLINE_ void svmMoveInit_(Move* move, VM_NODE_PROC location, Stream* source, Stream* target, int length,
                              boolean setEOS, const char* place) {
  svmTransferInit_(&move->kernel, &move->transfer_, location, SVM_MOVE_, source, target, SVM_NULL_, SVM_NULL_, length,
                   1, 1, setEOS, place);
}
SVM_INLINE_ void svmStridedScatterInit_(StridedScatter* scatter, VM_NODE_PROC location, Stream* source, Block* block,
                                        int length, int stride, int elements, boolean setEOS, const char* place) {
  svmTransferInit_(&scatter->kernel, &scatter->transfer_, location, SVM_STRIDED_SCATTER_, source, SVM_NULL_, SVM_NULL_,
                   block, length, stride, elements, setEOS, place);
}
SVM_INLINE_ void svmStridedGatherInit_(StridedGather* gather, VM_NODE_PROC location, Block* block, Stream* target,
                                       int length, int stride, int elements, boolean setEOS, const char* place) {
  svmTransferInit_(&gather->kernel, &gather->transfer_, location, SVM_STRIDED_GATHER_, SVM_NULL_, target, SVM_NULL_,
                   block, length, stride, elements, setEOS, place);
}
SVM_INLINE_ void svmIndexedScatterInit_(IndexedScatter* scatter, VM_NODE_PROC location, Stream* source, Stream* indices,
                                        Block* block, int length, int elements, boolean setEOS, const char* place) {
  svmTransferInit_(&scatter->kernel, &scatter->transfer_, location, SVM_INDEXED_SCATTER_, source, SVM_NULL_, indices,
                   block, length, 1, elements, setEOS, place);
}
SVM_INLINE_ void svmIndexedGatherInit_(IndexedGather* gather, VM_NODE_PROC location, Block* block, Stream* indices,
                                       Stream* target, int length, int elements, boolean setEOS, const char* place) {
  svmTransferInit_(&gather->kernel, &gather->transfer_, location, SVM_INDEXED_GATHER_, SVM_NULL_, target, indices,
                   block, length, 1, elements, setEOS, place);
}

#ifdef __cplusplus
} /* extern "C" */

template <typename... Streams>
inline __attribute__((always_inline)) void svmMulticastAll_(const void* element, uint64_t size, int eos,
                                                            const char* place, Streams*... streams) {
  Stream* const list[] = {streams...};
  svmMulticastHere_(element, size, eos, list, sizeof...(streams), place);
}
template <typename... Kernels>
inline void svmWaitAll_(const char* place, Kernels*... kernels) {
  void* const list[] = {kernels...};
  svmWaitAny_(list, sizeof...(kernels), place);
}
#define SVM_MULTICAST_(element, eos, place, ...)                                                                       \
  svmMulticastAll_((element), SVM_SIZE_(element), (eos), place, __VA_ARGS__)
#define SVM_WAIT_(place, ...) svmWaitAll_(place, __VA_ARGS__)
/* A kernel, or what begins with one. */
template <typename T>
inline Kernel* svmKernelOf_(T* kernel) {
  return reinterpret_cast<Kernel*>(kernel);
}
inline Kernel* svmKernelOf_(decltype(nullptr)) {
  return nullptr;
}
#define SVM_KERNEL_(k) svmKernelOf_(k)
#else
#define SVM_KERNEL_(k) ((Kernel*)(void*)(k))
#define SVM_MULTICAST_(element, eos, place, ...)                                                                       \
  svmMulticastHere_((element), SVM_SIZE_(element), (eos), (Stream* const[]){__VA_ARGS__},                              \
                    (int)(sizeof((Stream* const[]){__VA_ARGS__}) / sizeof(Stream*)), place)
#define SVM_WAIT_(place, ...)                                                                                          \
  svmWaitAny_((void* const[]){__VA_ARGS__}, (int)(sizeof((void* const[]){__VA_ARGS__}) / sizeof(void*)), place)
#endif

#define svmMachine(name) svmMachine_((name), #name SVM_PLACE_)
#define svmControl(processor) svmControl_((processor), #processor SVM_PLACE_)
#define svmAddress(memory, address) svmAddress_((memory), (address), #memory SVM_PLACE_)
#define svmThreads(count) svmThreads_((count), #count SVM_PLACE_)

#define streamInitRAM(s, ramLocation, address, capacity, elementSize, flags)                                           \
  svmStreamInit_((s), (ramLocation), (address), (capacity), (elementSize), 0, 0, (flags), 0, #s SVM_PLACE_)
#define streamInitWithDataRAM(s, ramLocation, address, capacity, elementSize, initLength, initEOS, flags)              \
  svmStreamInit_((s), (ramLocation), (address), (capacity), (elementSize), (initLength), (initEOS), (flags), 2,        \
                 #s SVM_PLACE_)
#define streamInitRAMWithData(s, ramLocation, address, capacity, elementSize, initLength, initEOS, flags)              \
  svmStreamInit_((s), (ramLocation), (address), (capacity), (elementSize), (initLength), (initEOS), (flags), 2,        \
                 #s SVM_PLACE_)
#define streamInitFIFO(s, fifoLocation, elementSize, flags)                                                            \
  svmStreamInit_((s), (fifoLocation), 0, 0, (elementSize), 0, 0, (flags), 1, #s SVM_PLACE_)
#define streamPush(s, element) svmPush_((s), (element), SVM_SIZE_(element), #s SVM_PLACE_)
#define streamPushWithEOS(s, element) svmPushSlowly_((s), (element), SVM_SIZE_(element), 1, #s SVM_PLACE_)
#define streamPushMulticast(element, ...) SVM_MULTICAST_(element, 0, #__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define streamPushMulticastWithEOS(element, ...) SVM_MULTICAST_(element, 1, #__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define streamPop(s, element) svmPop_((s), (element), SVM_SIZE_(element), #s SVM_PLACE_)
#define streamPeek(s, n, element) svmPeek_((s), (n), (element), SVM_SIZE_(element), #s SVM_PLACE_)
#define streamPeekEOS(s, n) svmPeekEOS_((s), (n), #s SVM_PLACE_)
#define streamGetEOS(s, n) svmPeekEOS_((s), (n), #s SVM_PLACE_)

#define blockInit(b, ramLocation, address, capacity, elementSize)                                                      \
  svmBlockInit_((b), (ramLocation), (address), (capacity), (elementSize), #b SVM_PLACE_)
#define blockWrite(b, index, element) svmWrite_((b), (index), (element), SVM_SIZE_(element), #b SVM_PLACE_)
#define blockRead(b, index, element) svmRead_((b), (index), (element), SVM_SIZE_(element), #b SVM_PLACE_)

#define kernelInit(k, procLocation, scratch, extKernelData, extKernelDataSize, extKernelWork)                          \
  svmKernelInit_(SVM_KERNEL_(k), (procLocation), (scratch), (extKernelData), (int)(extKernelDataSize),                 \
                 (extKernelWork), #k SVM_PLACE_)
#define kernelAddDependence(k, dependsOnKernel)                                                                        \
  svmAddDependence_(SVM_KERNEL_(k), SVM_KERNEL_(dependsOnKernel), #k SVM_PLACE_)
#define kernelReady(k) svmReady_(SVM_KERNEL_(k), #k SVM_PLACE_)
#define kernelRun(k) svmRun_(SVM_KERNEL_(k), #k SVM_PLACE_)
#define kernelPause(k) svmPause_(SVM_KERNEL_(k), #k SVM_PLACE_)
#define kernelEnd(k) svmEnd_(SVM_KERNEL_(k), #k SVM_PLACE_)
#define kernelWait(k) SVM_WAIT_(#k SVM_PLACE_, SVM_KERNEL_(k))
#define kernelWaitMultiple(...) SVM_WAIT_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define kernelGetStatus(k) svmStatus_(SVM_KERNEL_(k), #k SVM_PLACE_)

#define moveInit(move, location, srcStr, destStr, length, setEOS)                                                      \
  svmMoveInit_((move), (location), (srcStr), (destStr), (length), (setEOS), #move SVM_PLACE_)
#define stridedScatterInit(scatter, location, srcStr, destBlock, length, destStride, elementsPerStride, setEOS)        \
  svmStridedScatterInit_((scatter), (location), (srcStr), (destBlock), (length), (destStride), (elementsPerStride),    \
                         (setEOS), #scatter SVM_PLACE_)
#define stridedGatherInit(gather, location, srcBlock, destStr, length, srcStride, elementsPerStride, setEOS)           \
  svmStridedGatherInit_((gather), (location), (srcBlock), (destStr), (length), (srcStride), (elementsPerStride),       \
                        (setEOS), #gather SVM_PLACE_)
#define indexedScatterInit(scatter, location, srcStr, indexStr, destBlock, length, elementsPerIndex, setEOS)           \
  svmIndexedScatterInit_((scatter), (location), (srcStr), (indexStr), (destBlock), (length), (elementsPerIndex),       \
                         (setEOS), #scatter SVM_PLACE_)
#define indexedGatherInit(gather, location, srcBlock, indexStr, destStr, length, elementsPerIndex, setEOS)             \
  svmIndexedGatherInit_((gather), (location), (srcBlock), (indexStr), (destStr), (length), (elementsPerIndex),         \
                        (setEOS), #gather SVM_PLACE_)

#endif
