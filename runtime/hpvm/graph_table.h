/* What the code of dataflow graphs, which `strata cc` makes when a program is linked, and the runtime know of each
 * other. C, since the code around graphs is C text (compiler/hpvm/lower/). */
#ifndef STRATA_RUNTIME_HPVM_GRAPH_TABLE_H
#define STRATA_RUNTIME_HPVM_GRAPH_TABLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An argument of a root node that is a pointer, with the size that follows it: where the two lie in the packed struct
 * of arguments, in bytes, and whether a node writes there. */
typedef struct StrataHpvmPointer {
  const char* name;
  uint64_t offset, size_offset;
  uint32_t is_written;
} StrataHpvmPointer;

/* A graph that can be launched. A constant of the program. */
typedef struct StrataHpvmGraph {
  const void* root; /* the address of the root node's function; null where the program has none after all */
  const char* name;
  /* Executes the graph once, on the packed struct of arguments, whose outputs it writes. Any thread or fibre. Null
   * where no launch of the program does so. */
  void (*run)(void* launch, char* arguments);
  /* Executes it for every item of a streaming launch, until there are no more. Null as above. */
  void (*stream)(void* launch);
  const StrataHpvmPointer* pointers;
  uint32_t pointer_count, output_count;
  uint64_t argument_bytes, output_bytes; /* of the packed structs of inputs, and of outputs */
  const uint64_t* pointer_outputs;       /* where outputs that are pointers lie in theirs, in bytes */
  uint32_t pointer_output_count;
  uint32_t argument_count;
  const char* const* stages; /* of a streaming launch, what each of its instances is called in a record */
  uint32_t stage_count;
} StrataHpvmGraph;

/* Makes graphs known to __hpvm__launch. Called before main, or as a library is loaded; the table lives as long as the
 * process. */
void strata_hpvm_register(const StrataHpvmGraph* graphs, uint32_t count);

/* Memory of a leaf (__hpvm__malloc), aligned to 16, that lives until its launch has been waited for. Ends the program
 * when there is none, or `bytes` is negative. Any thread. */
void* strata_hpvm_allocate(void* launch, int64_t bytes);

/* For the code of graphs that is made to record: the time now; and what a call that began then, and ends here, leaves
 * for STRATA_RECORD and STRATA_STATS. */
int64_t strata_hpvm_record_begin(void);
void strata_hpvm_record(void* launch, int64_t began);

/* For the code of streaming graphs, whose `launch` is a pointer as a number. Copies the next item that has been pushed;
 * waits for it; 0 when there are no more, else 1. */
int32_t strata_hpvm_next(int64_t launch, void* item);
/* The outputs of an item, which are copied. */
void strata_hpvm_deliver(int64_t launch, const void* outputs);

#ifdef __cplusplus
}
#endif

#endif
