/* What compiled Strata code calls. A C interface, so that just-in-time code, object files and hand-written C meet in
 * it.
 *
 * Every function may be called from any thread that runs compiled code, and from fibres, unless its comment says
 * otherwise. Sizes are in bytes and strides in elements unless named otherwise. Nothing here throws. A run-time error
 * goes to strata_fail, which does not return. */
#ifndef STRATA_RUNTIME_ABI_H
#define STRATA_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define STRATA_NORETURN [[noreturn]]
#else
#define STRATA_NORETURN _Noreturn
#endif

/* ---- the machine that a compiled program was placed on ---- */

typedef struct StrataMemory {
  const char* name;
  uint64_t capacity;  /* bytes of one instance; 0: as much as this computer has */
  uint32_t instances; /* how many there are; 1 for a main memory */
  uint32_t
      is_explicit;    /* 1: real storage of exactly `capacity` bytes an instance is set aside; 0: allocated as needed */
  uint32_t alignment; /* bytes, a power of two */
  uint64_t width;     /* bytes of one access */
  uint64_t latency;   /* cycles of the machine's clock until an access is answered */
  uint64_t bandwidth_bytes, bandwidth_cycles; /* so many bytes in so many cycles; 0 and 0: not stated */
} StrataMemory;

typedef struct StrataProcessor {
  const char* name;
  uint32_t count;
  uint32_t moves;      /* that one instance carries on at once, beside its kernel */
  uint64_t clock;      /* Hz; 0: the machine's */
  uint32_t is_process; /* 1: where the machine is spread over processes, each has instances of this class of its own */
} StrataProcessor;

typedef struct StrataFifo {
  const char* name;
  uint64_t capacity; /* bytes of one instance */
  uint64_t width;    /* bytes of one push or pop */
  uint64_t latency;  /* cycles of the machine's clock */
  uint32_t instances;
} StrataFifo;

typedef struct StrataLink {
  const char* name;
  uint64_t latency;                           /* cycles of the machine's clock */
  uint64_t bandwidth_bytes, bandwidth_cycles; /* of one transfer; 0 and 0: not stated */
  uint32_t transfers;                         /* at once */
} StrataLink;

/* What the runtime decides by (base/machine/figures.h says what each comes from). None changes a result; 0: not stated,
 * and a usual figure is taken. */
typedef struct StrataHardware {
  int64_t task_bytes;        /* a copy of fewer costs less than starting a task for it */
  int64_t tile_elements;     /* a side of the tiles in which a move makes rows columns */
  uint64_t large_page_bytes; /* scratch memory from here on begins at a multiple; a power of two */
} StrataHardware;

typedef struct StrataMachine {
  const char* name;
  const StrataMemory* memories;
  const StrataProcessor* processors;
  uint32_t memory_count;
  uint32_t processor_count;
  const StrataFifo* fifos;
  const StrataLink* links;
  uint32_t fifo_count;
  uint32_t link_count;
  uint64_t clock; /* Hz of the clock that latencies are counted in; 0: not stated */
  StrataHardware hardware;
} StrataMachine;

/* Makes `machine` the one that the calling execution runs on from here, within a run context of its own; null: none,
 * outside of all contexts. Cheap when it is current already (compared by pointer). The tables must live as long as the
 * process. */
void strata_machine(const StrataMachine* machine);

/* Ends the process with a message where this computer's processor lacks one of the `features` that code needs: LLVM's
 * names, joined by commas. What is loaded with such code calls it before all else, from code that every processor of
 * the architecture runs. `made` is the file that the code was made as, or empty; `processor` what it was made for. */
void strata_require_processor(const char* made, const char* processor, const char* features);

/* What strata_call_end restores, kept by the caller between the two functions below. */
typedef struct StrataCall {
  void* context;
  void* job;
  int64_t instance, span;
  uint32_t processor, owns_context;
} StrataCall;

/* The functions of C for entry points stand around compiled code with these. In between, the calling execution runs in
 * a run context of its own: on `machine`, with explicit memories, figures and spans that no other call uses. Afterwards
 * it is where it was before; work that the call started and that goes on keeps the context until it ends. Calls nest: a
 * function in C that compiled code runs may call an entry point. */
void strata_call_begin(StrataCall* call, const StrataMachine* machine);
void strata_call_end(const StrataCall* call);

/* ---- programs that several processes run together ---- */

/* For the beginning of a program's main, before any thread: where MPI has started several processes of the program, the
 * first goes on, and the others serve it, and end when it has ended by exit. `library` is the path of the library that
 * speaks MPI. Processes of several programs, and more than the machine may be spread over, are refused. Alone, nothing
 * happens. */
void strata_nodes_begin(const StrataMachine* machine, const char* library);
/* Around a call of an entry point, outside of strata_call_begin and _end: in several processes one call runs at a time;
 * others of other threads wait. A call within a call is the failure "runtime-ranks-nested-call". */
void strata_nodes_enter(const char* entry);
void strata_nodes_leave(void);
/* Memory of `bytes` bytes that the other processes can reach, for an argument; null: there are none. Given back with as
 * many bytes. */
void* strata_nodes_acquire(int64_t bytes, const char* what);
void strata_nodes_release(void* memory, int64_t bytes);

/* ---- errors ---- */

/* A rule that compiled code checks as it runs. `message` holds {0}, {1}, … for the values. */
typedef struct StrataCheck {
  const char* code;
  const char* message;
  const char* help; /* may be null */
  const char* file;
  uint32_t line, column; /* from 1; 0: unknown */
} StrataCheck;

/* Reports through the handler and ends the program with status 1 if the handler returns. The first failure wins; other
 * threads that fail meanwhile block. */
STRATA_NORETURN void strata_fail(const StrataCheck* check, const int64_t* values, int32_t count);
typedef void (*StrataFailureHandler)(const StrataCheck* check, const int64_t* values, int32_t count, const char* text);
/* `text` given to the handler is the filled-in message. Null restores the default, which prints file:line:column:
 * error: text. */
void strata_set_failure_handler(StrataFailureHandler handler);

/* ---- storage ---- */

/* The store that belongs to the executing processor in explicit memory `memory` (an index into the machine's table).
 * Instances of a memory belong to those of a processor class in order, evenly: with as many of both each has its own,
 * with fewer memories neighbours share one, with more each has the first of its own. Code that acts as no processor has
 * instance 0. Aligned to the memory's alignment and to 64 at least. */
void* strata_store(uint32_t memory);
/* Room for a block of `bytes` bytes in that store, as on a stack that begins `base` bytes from its beginning and ends
 * with it: for blocks of functions that call themselves. `what` names the block when there is no room left, which is
 * the failure "runtime-store-full". Given back in the opposite order, by the same execution, as the same processor. */
void* strata_stack_acquire(uint32_t memory, int64_t base, int64_t bytes, const char* what);
void strata_stack_release(uint32_t memory, void* block);
/* Memory for a block in a memory that is not explicit, aligned to 64, not initialised; `what` names it in an
 * out-of-memory error. Released in the opposite order, by the same execution. bytes may be 0. */
void* strata_acquire(int64_t bytes, const char* what);
void strata_release(void* block);

/* A block of `bytes` bytes in a file that lasts as long as the block: a window. `what` names it in an error. */
void* strata_window_acquire_file(int64_t bytes, const char* what);
/* How a block in a virtual memory is distributed over the instances that the memory joins. */
typedef struct StrataLayout {
  uint32_t virtual_memory, memory; /* indices into the machine's table: the virtual one, and the one underneath */
  int64_t address;                 /* bytes from the beginning of each instance to its share */
  int64_t element_bytes;
  int32_t rank;
  const int64_t* extents;
  const int64_t* grid;        /* instances along each dimension */
  const int64_t* block_sizes; /* elements at a time, block-cyclic; 0: an even share for each */
  const char* within;         /* counters of bytes moved from and to the mover's own instance … */
  const char* across;         /* … and others; null: nothing is counted */
  int64_t stack; /* not negative: at no fixed address, but on the stacks of the instances (strata_stack_acquire), which
                    begin at this byte */
} StrataLayout;

/* A block distributed over the instances of an explicit memory that a virtual one joins: a window whose elements are
 * moved from and to the instances that hold them. Of a dimension with block size b that goes to p instances, element i
 * lies in part (i / b) mod p, in place (i / b / p) * b + i mod b. The instances of the grid are numbered row by row.
 * The layout is copied. */
void* strata_window_acquire_distributed(const StrataLayout* layout, const char* what);
/* Gives any window back, when the moves of it have ended. */
void strata_window_release(void* block);

/* Where the elements of a part of a window are, if all of them are in a store of the executing processor's own, at even
 * distances in each dimension: `strides` gets these, in elements. Else null. A part without elements is nowhere. */
void* strata_window_in_place(void* part, const int64_t* part_strides, const int64_t* extents, int32_t rank,
                             int64_t element_bytes, int64_t* strides);

/* ---- moves and tokens ---- */

typedef struct StrataToken StrataToken; /* null: done already */

/* Copies a dense or strided block of `rank` dimensions; the two do not overlap. */
void strata_move(void* destination, const int64_t* destination_strides, const void* source,
                 const int64_t* source_strides, const int64_t* extents, int32_t rank, int64_t element_bytes);
/* The same beside the caller, after the tokens given (which stay owned by the caller): on the thread of an
 * engine, as a machine's DMA engine does, or by whoever waits for it first. Null when it was so small that it has been
 * done at once. */
StrataToken* strata_move_start(void* destination, const int64_t* destination_strides, const void* source,
                               const int64_t* source_strides, const int64_t* extents, int32_t rank,
                               int64_t element_bytes, StrataToken* const* after, int32_t after_count);
/* The same for blocks in memories that processors do not address, on either side or on both. Blocks of such a memory
 * are windows: reserved addresses, one for each element, that cannot be touched. Any other block is taken for memory.
 */
void strata_window_move(void* destination, const int64_t* destination_strides, const void* source,
                        const int64_t* source_strides, const int64_t* extents, int32_t rank, int64_t element_bytes);
StrataToken* strata_window_move_start(void* destination, const int64_t* destination_strides, const void* source,
                                      const int64_t* source_strides, const int64_t* extents, int32_t rank,
                                      int64_t element_bytes, StrataToken* const* after, int32_t after_count);
/* Runs `body(copy of arguments)` beside the caller, on a fibre of its own, as processor `processor` number `instance`.
 */
StrataToken* strata_spawn(void (*body)(void*), const void* arguments, int64_t argument_bytes, uint32_t processor,
                          int64_t instance, StrataToken* const* after, int32_t after_count);
/* Waits (a fibre yields). The token can be waited for again until strata_token_release. Null is allowed in both. */
void strata_wait(StrataToken* token);
void strata_token_release(StrataToken* token);
/* One more strata_token_release is owed from here on: the token has another holder. */
void strata_token_retain(StrataToken* token);

/* ---- many processors ---- */

/* Who takes part in a strata_spmd. A constant of the code. */
typedef struct StrataParts {
  uint32_t processor;     /* their class, an index into the machine's table; any other number: none */
  uint32_t is_concurrent; /* 0: instances may run one after another, on any number of workers; 1: every instance is a
                             fibre and all make progress */
  int64_t parts;          /* that the processors are divided into; 0: as many as instances */
  int64_t first, width;   /* the subset of the caller's range that takes part: `width` processors from number `first`
                             on; 0 and 0: all of it. None for concurrent ones. */
  uint32_t has_handles;   /* 1: some of the arguments are good in this process only: streams, tokens, blocks in a
                             store that are reached directly */
} StrataParts;

/* Runs body(arguments, i) for i in [0, instances), each as a processor of the class, and returns when all have ended.
 * The arguments are `argument_bytes` bytes of scalars, tokens and descriptions of blocks and streams, which bodies only
 * read: a copy of them would do.
 *
 * Nested calls divide the processors further. The caller has a range of each class: at first all of it; within a call
 * the range that its instance was given, and of another class the processors that belong to these (node 1 of 4 has
 * cores 2 and 3 of 8). That range, or the subset of it, is divided into equal parts; instance i has part i, and acts as
 * the first processor in it. Where there are more parts than processors, which only processors without stores allow,
 * the numbers go on behind the range. */
void strata_spmd(void (*body)(void* arguments, int64_t instance), const void* arguments, int64_t argument_bytes,
                 int64_t instances, const StrataParts* parts);
/* The index of the executing processor within its class; 0 outside of any strata_spmd or strata_spawn. */
int64_t strata_instance(void);
/* Within a concurrent strata_spmd: waits until every instance of the innermost one has come here. Elsewhere: nothing.
 */
void strata_barrier(void);
/* The same, of instances that are told apart from others in messages: when all that have not come here have ended, the
 * program fails with this check, whose message may hold {0}, how many wait, and {1}, how many instances there are. */
void strata_barrier_at(const StrataCheck* check);
/* Lets other executions run. An instance that polls memory calls it in its loop. */
void strata_yield(void);

/* Combines `count` partial results, an array of elements of `partial_bytes`, into the first: pairs at distances 1, 2,
 * 4, … by index, in an order that never depends on threads. `combine` puts `into` and `from`, in this order, together
 * in `into`. */
void strata_reduce(void* partials, int64_t count, int64_t partial_bytes,
                   void (*combine)(void* context, void* into, const void* from), void* context);

/* ---- streams ---- */

typedef struct StrataStream StrataStream;

StrataStream* strata_stream_create(int64_t element_bytes, int64_t capacity_elements, const char* name);
void strata_stream_destroy(StrataStream* stream);
/* Blocks while full. One pusher and one popper at a time. */
void strata_stream_push(StrataStream* stream, const void* element);
/* Waits until every stream has room, then pushes to all. */
void strata_stream_multicast(StrataStream* const* streams, int32_t count, const void* element);
/* Blocks while empty; 0 when the stream has ended (the element is then untouched), else 1. */
int32_t strata_stream_pop(StrataStream* stream, void* element);
/* Copies the element `offset` places behind the next one, without removing it; blocks until it is there; 0 when the
 * stream ends before it. */
int32_t strata_stream_peek(StrataStream* stream, int64_t offset, void* element);
/* No more will be pushed. */
void strata_stream_end(StrataStream* stream);
/* Pushes `count` elements that lie one after the other; equal to as many pushes. */
void strata_stream_write(StrataStream* stream, const void* elements, int64_t count);
/* Pops `count` elements, or as many as come before the stream ends; returns how many. */
int64_t strata_stream_read(StrataStream* stream, void* elements, int64_t count);

/* ---- output ---- */

/* Compiled entry points stand between these two. What is printed in between, by whatever thread, is kept, and written
 * to the standard output by the end: sorted by `order`, for equal ones in the order in which it was printed. They nest:
 * an entry point that another one calls prints into the outer one's. */
void strata_print_begin(void);
void strata_print_end(void);
/* `format` is C's with %d %i %u %x %c for 64-bit integers and %f %e %g for doubles, whose bits are the `values`; no
 * other conversions, and no more than there are values. Outside of an entry point it is written at once. */
void strata_print(int64_t order, const char* format, const int64_t* values, int32_t count);

/* ---- figures ---- */

/* Adds to the counter of that name. Called only by code compiled for counting; `name` is a constant of that code. */
void strata_count(const char* name, int64_t amount);
/* A span of a trace (Chrome's format). Called only by code compiled for tracing; spans nest within an execution. */
void strata_trace_begin(const char* name);
void strata_trace_end(void);
/* The same as strata_trace_begin, of a stretch that executes so many instances of a node; a negative number is none. */
void strata_trace_begin_instances(const char* name, int64_t instances);
/* The same, of a stretch in which the execution waits. */
void strata_trace_wait_begin(const char* name);

/* ---- calls that carry ids ----
 *
 * The calls of moves and of the making of streams once more, for programs that are lowered to say which memories, links
 * and FIFOs each concerns. Who runs is known from strata_spmd and strata_spawn; where a push or pop goes, from its
 * stream; what a wait is for, from its token. Here they put moves and waits into the trace: a move that the caller
 * waits for as a span of the move and one of the caller. */

/* Stands for no memory, FIFO or link where an index into one of the machine's tables is asked for. */
enum { strata_none = 0xffffffff };

/* Where a move goes: indices into the machine's tables. The instance of each memory is that of the executing processor
 * (strata_store). A constant of the code. */
typedef struct StrataWay {
  const char* block;     /* that it fills or empties */
  uint32_t from, to;     /* memories, or none */
  const uint32_t* links; /* that it passes through, in this order */
  uint32_t link_count;   /* 0 within a memory, and from a processor's own to itself */
} StrataWay;

/* Where a stream's elements are: in a memory, or on their way through a FIFO; indices into the machine's tables. A
 * constant of the code. */
typedef struct StrataStreamPlace {
  uint32_t memory, fifo;    /* one of them, or none */
  const char* for_room;     /* what a trace calls a wait of who pushes … */
  const char* for_elements; /* … and of who pops or peeks */
} StrataStreamPlace;

StrataStream* strata_stream_create_at(const StrataStreamPlace* place, int64_t element_bytes, int64_t capacity_elements,
                                      const char* name);

void strata_move_along(const StrataWay* way, void* destination, const int64_t* destination_strides, const void* source,
                       const int64_t* source_strides, const int64_t* extents, int32_t rank, int64_t element_bytes);
StrataToken* strata_move_start_along(const StrataWay* way, void* destination, const int64_t* destination_strides,
                                     const void* source, const int64_t* source_strides, const int64_t* extents,
                                     int32_t rank, int64_t element_bytes, StrataToken* const* after,
                                     int32_t after_count);
void strata_window_move_along(const StrataWay* way, void* destination, const int64_t* destination_strides,
                              const void* source, const int64_t* source_strides, const int64_t* extents, int32_t rank,
                              int64_t element_bytes);
StrataToken* strata_window_move_start_along(const StrataWay* way, void* destination, const int64_t* destination_strides,
                                            const void* source, const int64_t* source_strides, const int64_t* extents,
                                            int32_t rank, int64_t element_bytes, StrataToken* const* after,
                                            int32_t after_count);

#ifdef __cplusplus
}
#endif

#endif
