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

/* Gives a stream, block or kernel (or what begins with one) a name, as printf writes it: messages, recordings and
 * pictures have it instead of the variable's. For those that have no variable of their own, such as elements of arrays
 * that a loop fills. Before or after the initialisation, and for as long as the variable lives; a null format takes the
 * name away. Error: svm-null without an entity. */
void svmName(const void* entity, const char* format, ...) __attribute__((format(printf, 2, 3)));

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

/* ---- behind the names above ----
 *
 * The macros at the end hand each call's place in the source to the library and let the common case of a stream or
 * block operation be a few instructions in the caller. A place is the text of the arguments, a zero byte, and
 * FILE:LINE. Arguments go to functions, which see their types, and may be compound literals: only a stream, block or
 * kernel that others follow stands in parentheses if a comma is within its braces. */

#define SVM_TEXT_2_(x) #x
#define SVM_TEXT_(x) SVM_TEXT_2_(x)
#define SVM_PLACE_ "\0" __FILE__ ":" SVM_TEXT_(__LINE__)

/* What the compiler sees of an element: in the lower bits the bytes that it surely has no more of, in the highest 8
 * those of the number whose type the pointer names, or 0. */
#define SVM_ANY_SIZE_ (~(uint64_t)0 >> 8)
#define SVM_BYTES_OF_(size) ((size) & SVM_ANY_SIZE_)
#define SVM_SIZE_(...)                                                                                                 \
  (((uint64_t)__builtin_object_size((__VA_ARGS__), 0) & SVM_ANY_SIZE_) | (uint64_t)SVM_NUMBER_(__VA_ARGS__) << 56)
#ifdef __cplusplus
#define SVM_NUMBER_(...) (sizeof(svmNumber_(__VA_ARGS__)) - 1)
#else
#define SVM_NUMBERS_(of)                                                                                               \
  of(short), of(unsigned short), of(int), of(unsigned int), of(long), of(unsigned long), of(long long),                \
      of(unsigned long long), of(float), of(double)
#define SVM_BYTES_OF_TYPE_(type) type* : sizeof(type), const type* : sizeof(type)
#define SVM_NUMBER_(...) _Generic((__VA_ARGS__), SVM_NUMBERS_(SVM_BYTES_OF_TYPE_), default: 0)
#endif

/* Called by the header of a machine, before main. */
void svmRegisterMachine_(const char* name, const char* description);

void svmMachine_(const char* name, const char* place);
void svmControl_(VM_NODE_PROC processor, const char* place);
void* svmAddress_(VM_NODE_MEM memory, int address, const char* place);
void svmThreads_(int count, const char* place);
void svmName_(const char* place, const void* entity, const char* format, ...) __attribute__((format(printf, 3, 4)));

void svmStreamInit_(Stream* s, VM_NODE_MEM location, int address, int capacity, int elementSize, int initLength,
                    int initEOS, int flags, int fifo, const char* place);
/* `size`: SVM_SIZE_. The library touches no more bytes of the element. */
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
void svmWait_(Kernel* k, const char* place);
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
SVM_INLINE_ void svmPush_(Stream* s, const void* element, uint64_t seen, const char* place) {
  const uint64_t size = SVM_BYTES_OF_(seen);
  const uint64_t pushed = __atomic_load_n(&s->pushed_, __ATOMIC_RELAXED);
  if (size == 4 || size == 8) {
    const uint64_t limit = __atomic_load_n(size == 4 ? &s->pushWordLimit_ : &s->pushLimit_, __ATOMIC_RELAXED);
    if (SVM_SELDOM_(pushed >= limit || (size != 4 && s->elementBytes_ != size))) {
      uint64_t copy = 0;
      memcpy(&copy, element, SVM_AT_MOST_8_(size));
      svmPushSlowly_(s, &copy, seen, 0, place);
      return;
    }
    memcpy(svmAt_(s->writeFrom_, pushed, size), element, SVM_AT_MOST_8_(size));
    svmPushed_(s, pushed);
  } else if (size > 4 && pushed < __atomic_load_n(&s->pushWordLimit_, __ATOMIC_RELAXED)) {
    memcpy(svmAt_(s->writeFrom_, pushed, 4), element, 4);
    svmPushed_(s, pushed);
  } else if (SVM_SELDOM_(pushed >= __atomic_load_n(&s->pushLimit_, __ATOMIC_RELAXED))) {
    svmPushSlowly_(s, element, seen, 0, place);
  } else {
    svmCopy_(svmAt_(s->writeFrom_, pushed, s->elementBytes_), element, s->elementBytes_);
    svmPushed_(s, pushed);
  }
}

/* An element that is smaller than the variable leaves its other bytes as they were, written or not. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
SVM_INLINE_ void svmPop_(Stream* s, void* element, uint64_t seen, const char* place) {
  const uint64_t size = SVM_BYTES_OF_(seen);
  const uint64_t popped = __atomic_load_n(&s->popped_, __ATOMIC_RELAXED);
  if (size == 4 || size == 8) {
    const uint64_t limit = __atomic_load_n(size == 4 ? &s->popWordLimit_ : &s->popLimit_, __ATOMIC_RELAXED);
    if (SVM_SELDOM_(popped >= limit || (size != 4 && s->elementBytes_ != size))) {
      uint64_t copy;
      memcpy(&copy, element, SVM_AT_MOST_8_(size));
      svmPopSlowly_(s, &copy, seen, place);
      memcpy(element, &copy, SVM_AT_MOST_8_(size));
      return;
    }
    memcpy(element, svmAt_(s->readFrom_, popped, size), SVM_AT_MOST_8_(size));
    svmPopped_(s, popped);
  } else if (size > 4 && popped < __atomic_load_n(&s->popWordLimit_, __ATOMIC_RELAXED)) {
    memcpy(element, svmAt_(s->readFrom_, popped, 4), 4);
    svmPopped_(s, popped);
  } else if (SVM_SELDOM_(popped >= __atomic_load_n(&s->popLimit_, __ATOMIC_RELAXED))) {
    svmPopSlowly_(s, element, seen, place);
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
SVM_INLINE_ void svmMulticastHere_(const void* element, uint64_t seen, int eos, Stream* const* streams, int count,
                                   const char* place) {
  const uint64_t size = SVM_BYTES_OF_(seen);
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
      svmMulticast_(&copy, seen, eos, list, count, place);
    }
    return;
  }
  svmMulticast_(element, seen, eos, streams, count, place);
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

/* ---- the initialisations, as the macros at the end call them ---- */

SVM_INLINE_ void svmStreamInitRAM_(const char* place, Stream* s, VM_NODE_MEM location, int address, int capacity,
                                   int elementSize, int flags) {
  svmStreamInit_(s, location, address, capacity, elementSize, 0, 0, flags, 0, place);
}
SVM_INLINE_ void svmStreamInitWithDataRAM_(const char* place, Stream* s, VM_NODE_MEM location, int address,
                                           int capacity, int elementSize, int initLength, int initEOS, int flags) {
  svmStreamInit_(s, location, address, capacity, elementSize, initLength, initEOS, flags, 2, place);
}
SVM_INLINE_ void svmStreamInitFIFO_(const char* place, Stream* s, VM_NODE_MEM location, int elementSize, int flags) {
  svmStreamInit_(s, location, 0, 0, elementSize, 0, 0, flags, 1, place);
}
SVM_INLINE_ void svmBlockInitRAM_(const char* place, Block* b, VM_NODE_MEM location, int address, int capacity,
                                  int elementSize) {
  svmBlockInit_(b, location, address, capacity, elementSize, place);
}
SVM_INLINE_ void svmUserInit_(const char* place, Kernel* k, VM_NODE_PROC location, Block* scratch, void* data,
                              int64_t dataSize, ExtKernelWork work) {
  svmKernelInit_(k, location, scratch, data, (int)dataSize, work, place);
}
SVM_INLINE_ void svmMoveInit_(const char* place, Move* move, VM_NODE_PROC location, Stream* source, Stream* target,
                              int length, boolean setEOS) {
  svmTransferInit_(&move->kernel, &move->transfer_, location, SVM_MOVE_, source, target, SVM_NULL_, SVM_NULL_, length,
                   1, 1, setEOS, place);
}
SVM_INLINE_ void svmStridedScatterInit_(const char* place, StridedScatter* scatter, VM_NODE_PROC location,
                                        Stream* source, Block* block, int length, int stride, int elements,
                                        boolean setEOS) {
  svmTransferInit_(&scatter->kernel, &scatter->transfer_, location, SVM_STRIDED_SCATTER_, source, SVM_NULL_, SVM_NULL_,
                   block, length, stride, elements, setEOS, place);
}
SVM_INLINE_ void svmStridedGatherInit_(const char* place, StridedGather* gather, VM_NODE_PROC location, Block* block,
                                       Stream* target, int length, int stride, int elements, boolean setEOS) {
  svmTransferInit_(&gather->kernel, &gather->transfer_, location, SVM_STRIDED_GATHER_, SVM_NULL_, target, SVM_NULL_,
                   block, length, stride, elements, setEOS, place);
}
SVM_INLINE_ void svmIndexedScatterInit_(const char* place, IndexedScatter* scatter, VM_NODE_PROC location,
                                        Stream* source, Stream* indices, Block* block, int length, int elements,
                                        boolean setEOS) {
  svmTransferInit_(&scatter->kernel, &scatter->transfer_, location, SVM_INDEXED_SCATTER_, source, SVM_NULL_, indices,
                   block, length, 1, elements, setEOS, place);
}
SVM_INLINE_ void svmIndexedGatherInit_(const char* place, IndexedGather* gather, VM_NODE_PROC location, Block* block,
                                       Stream* indices, Stream* target, int length, int elements, boolean setEOS) {
  svmTransferInit_(&gather->kernel, &gather->transfer_, location, SVM_INDEXED_GATHER_, SVM_NULL_, target, indices,
                   block, length, 1, elements, setEOS, place);
}

#ifdef __cplusplus
} /* extern "C" */

/* Of a pointer to a number, an array of one byte more than that has; else of one byte. Never called. */
char (&svmNumber_(const volatile void*))[1];
#define SVM_NUMBER_OF_(type) char(&svmNumber_(const type*))[sizeof(type) + 1];
SVM_NUMBER_OF_(short)
SVM_NUMBER_OF_(unsigned short)
SVM_NUMBER_OF_(int)
SVM_NUMBER_OF_(unsigned int)
SVM_NUMBER_OF_(long)
SVM_NUMBER_OF_(unsigned long)
SVM_NUMBER_OF_(long long)
SVM_NUMBER_OF_(unsigned long long)
SVM_NUMBER_OF_(float)
SVM_NUMBER_OF_(double)

template <typename T, typename... Streams>
inline __attribute__((always_inline)) void svmMulticastAll_(const char* place, int eos, T* element,
                                                            Streams*... streams) {
  static_assert(sizeof...(streams) > 0, "a multicast pushes to at least one stream");
  Stream* const list[] = {streams...};
  svmMulticastHere_(element, SVM_SIZE_(element), eos, list, sizeof...(streams), place);
}
#define SVM_MULTICAST_(eos, place, ...) svmMulticastAll_(place, eos, __VA_ARGS__)

/* A kernel, or what begins with one. */
template <typename T>
struct SvmMayBeKernel_ {
  static constexpr bool value = __is_class(T) || __is_union(T);
};
template <>
struct SvmMayBeKernel_<void> {
  static constexpr bool value = true;
};
template <>
struct SvmMayBeKernel_<Stream> {
  static constexpr bool value = false;
};
template <>
struct SvmMayBeKernel_<Block> {
  static constexpr bool value = false;
};
template <typename T>
inline Kernel* svmKernelOf_(T* kernel) {
  static_assert(SvmMayBeKernel_<T>::value,
                "what is expected here is a Kernel*, or a pointer to a struct that begins with a Kernel");
  return reinterpret_cast<Kernel*>(kernel);
}
inline Kernel* svmKernelOf_(void* kernel) {
  return static_cast<Kernel*>(kernel);
}
inline Kernel* svmKernelOf_(decltype(nullptr)) {
  return nullptr;
}
#define SVM_KERNEL_(...) svmKernelOf_(__VA_ARGS__)
template <typename... Kernels>
inline void svmWaitAll_(const char* place, Kernels... kernels) {
  void* const list[] = {svmKernelOf_(kernels)...};
  svmWaitAny_(list, sizeof...(kernels), place);
}
#define SVM_WAIT_(place, ...) svmWaitAll_(place, __VA_ARGS__)
#else
/* To at most eight streams; behind them null pointers follow, as many as there is no stream. */
#ifdef __clang__
#define SVM_ELEMENT_(name) const void* const name __attribute__((pass_object_size(0)))
#else
#define SVM_ELEMENT_(name) const void* const name
#endif
SVM_INLINE_ void svmMulticastAll_(const char* place, int eos, int count, SVM_ELEMENT_(element), Stream* s0, Stream* s1,
                                  Stream* s2, Stream* s3, Stream* s4, Stream* s5, Stream* s6, Stream* s7, ...) {
  Stream* const list[] = {s0, s1, s2, s3, s4, s5, s6, s7};
  svmMulticastHere_(element, (uint64_t)__builtin_object_size(element, 0) & SVM_ANY_SIZE_, eos, list, count, place);
}
SVM_INLINE_ void svmMulticastMany_(const char* place, int eos, int count, const void* const* all) {
  svmMulticast_(all[0], SVM_ANY_SIZE_, eos, (Stream* const*)(all + 1), count, place);
}
#define SVM_COUNT_(...) ((int)(sizeof((const void* const[]){__VA_ARGS__}) / sizeof(void*)))
#define SVM_MULTICAST_(eos, place, ...)                                                                                \
  (SVM_COUNT_(__VA_ARGS__) < 2 ? svmNoStream_()                                                                        \
   : SVM_COUNT_(__VA_ARGS__) <= 9                                                                                      \
       ? svmMulticastAll_(place, eos, SVM_COUNT_(__VA_ARGS__) - 1, __VA_ARGS__, SVM_NULL_, SVM_NULL_, SVM_NULL_,       \
                          SVM_NULL_, SVM_NULL_, SVM_NULL_, SVM_NULL_, SVM_NULL_)                                       \
       : svmMulticastMany_(place, eos, SVM_COUNT_(__VA_ARGS__) - 1, (const void* const[]){__VA_ARGS__}))

/* Never called in a program that compiles: the attribute makes a call an error with this message. */
void svmNoStream_(void) __attribute__((error("a multicast pushes to at least one stream")));
Kernel* svmNoKernel_(const void* other)
    __attribute__((error("what is expected here is a Kernel*, or a pointer to a struct that begins with a Kernel")));
SVM_INLINE_ Kernel* svmKernelOf_(const void* kernel) {
  return (Kernel*)(uintptr_t)kernel;
}
#define SVM_NO_KERNEL_(type) type* : svmNoKernel_, const type* : svmNoKernel_
/* A kernel, or what begins with one. */
#define SVM_KERNEL_(...)                                                                                               \
  _Generic((__VA_ARGS__),                                                                                              \
      SVM_NO_KERNEL_(Stream),                                                                                          \
      SVM_NO_KERNEL_(Block),                                                                                           \
      SVM_NO_KERNEL_(char),                                                                                            \
      SVM_NO_KERNEL_(signed char),                                                                                     \
      SVM_NO_KERNEL_(unsigned char),                                                                                   \
      SVM_NUMBERS_(SVM_NO_KERNEL_),                                                                                    \
      default: svmKernelOf_)(__VA_ARGS__)
#define SVM_WAIT_(place, ...)                                                                                          \
  svmWaitAny_((void* const[]){__VA_ARGS__}, (int)(sizeof((void* const[]){__VA_ARGS__}) / sizeof(void*)), place)
#endif

#define svmMachine(...) svmMachine_((__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)
#define svmControl(...) svmControl_((__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)
#define svmAddress(memory, ...) svmAddress_((memory), (__VA_ARGS__), #memory SVM_PLACE_)
#define svmThreads(...) svmThreads_((__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)
#define svmName(...) svmName_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

#define streamInitRAM(...) svmStreamInitRAM_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define streamInitWithDataRAM(...) svmStreamInitWithDataRAM_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define streamInitRAMWithData(...) svmStreamInitWithDataRAM_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define streamInitFIFO(...) svmStreamInitFIFO_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define streamPush(s, ...) svmPush_((s), (__VA_ARGS__), SVM_SIZE_(__VA_ARGS__), #s SVM_PLACE_)
#define streamPushWithEOS(s, ...) svmPushSlowly_((s), (__VA_ARGS__), SVM_SIZE_(__VA_ARGS__), 1, #s SVM_PLACE_)
#define streamPushMulticast(...) SVM_MULTICAST_(0, #__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define streamPushMulticastWithEOS(...) SVM_MULTICAST_(1, #__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define streamPop(s, ...) svmPop_((s), (__VA_ARGS__), SVM_SIZE_(__VA_ARGS__), #s SVM_PLACE_)
#define streamPeek(s, n, ...) svmPeek_((s), (n), (__VA_ARGS__), SVM_SIZE_(__VA_ARGS__), #s SVM_PLACE_)
#define streamPeekEOS(s, ...) svmPeekEOS_((s), (__VA_ARGS__), #s SVM_PLACE_)
#define streamGetEOS(s, ...) svmPeekEOS_((s), (__VA_ARGS__), #s SVM_PLACE_)

#define blockInit(...) svmBlockInitRAM_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define blockWrite(b, index, ...) svmWrite_((b), (index), (__VA_ARGS__), SVM_SIZE_(__VA_ARGS__), #b SVM_PLACE_)
#define blockRead(b, index, ...) svmRead_((b), (index), (__VA_ARGS__), SVM_SIZE_(__VA_ARGS__), #b SVM_PLACE_)

#define kernelInit(k, ...) svmUserInit_(#k SVM_PLACE_, SVM_KERNEL_(k), __VA_ARGS__)
#define kernelAddDependence(k, ...)                                                                                    \
  svmAddDependence_(SVM_KERNEL_(k), SVM_KERNEL_(__VA_ARGS__), #k ", " #__VA_ARGS__ SVM_PLACE_)
#define kernelReady(...) svmReady_(SVM_KERNEL_(__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)
#define kernelRun(...) svmRun_(SVM_KERNEL_(__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)
#define kernelPause(...) svmPause_(SVM_KERNEL_(__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)
#define kernelEnd(...) svmEnd_(SVM_KERNEL_(__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)
#define kernelWait(...) svmWait_(SVM_KERNEL_(__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)
#define kernelWaitMultiple(...) SVM_WAIT_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define kernelGetStatus(...) svmStatus_(SVM_KERNEL_(__VA_ARGS__), #__VA_ARGS__ SVM_PLACE_)

#define moveInit(...) svmMoveInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define stridedScatterInit(...) svmStridedScatterInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define stridedGatherInit(...) svmStridedGatherInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define indexedScatterInit(...) svmIndexedScatterInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)
#define indexedGatherInit(...) svmIndexedGatherInit_(#__VA_ARGS__ SVM_PLACE_, __VA_ARGS__)

#endif
