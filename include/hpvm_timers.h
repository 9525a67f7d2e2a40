/* Timers of what the host of an HPVM program does, for programs that have none of their own: a set of timers, of which
 * one runs at a time. Programs that include this header are linked by `strata cc` or `strata c++`, as those of hpvm.h.
 */
#ifndef HPVM_TIMERS_H
#define HPVM_TIMERS_H

#ifdef __cplusplus
#define HPVM_NOTHROW_ noexcept
extern "C" {
#else
#define HPVM_NOTHROW_ __attribute__((__nothrow__))
#endif

/* What the host is doing. */
enum hpvm_TimerID {
  hpvm_TimerID_NONE = 0, /* nothing that is timed */
  hpvm_TimerID_IO,
  hpvm_TimerID_KERNEL,
  hpvm_TimerID_COPY,
  hpvm_TimerID_DRIVER,
  hpvm_TimerID_COPY_ASYNC,
  hpvm_TimerID_COMPUTE,
  hpvm_TimerID_OVERLAP,
  hpvm_TimerID_INIT_CTX,
  hpvm_TimerID_CLEAR_CTX,
  hpvm_TimerID_COPY_SCALAR,
  hpvm_TimerID_COPY_PTR,
  hpvm_TimerID_MEM_FREE,
  hpvm_TimerID_READ_OUTPUT,
  hpvm_TimerID_SETUP,
  hpvm_TimerID_MEM_TRACK,
  hpvm_TimerID_MEM_UNTRACK,
  hpvm_TimerID_MISC,
  hpvm_TimerID_PTHREAD_CREATE,
  hpvm_TimerID_ARG_PACK,
  hpvm_TimerID_ARG_UNPACK,
  hpvm_TimerID_COMPUTATION,
  hpvm_TimerID_OUTPUT_PACK,
  hpvm_TimerID_OUTPUT_UNPACK,
  hpvm_TimerID_LAST
};

/* Used by one thread at a time. */
struct hpvm_TimerSet {
  enum hpvm_TimerID current;
  unsigned long long since;                      /* when it began, nanoseconds */
  unsigned long long elapsed[hpvm_TimerID_LAST]; /* nanoseconds */
};

/* A set in which no timer runs. The caller frees it (free). */
void* llvm_hpvm_initializeTimerSet(void) HPVM_NOTHROW_;
/* The current timer stops, and another one goes on; none with hpvm_TimerID_NONE. */
void llvm_hpvm_switchToTimer(void** timers, enum hpvm_TimerID timer) HPVM_NOTHROW_;
/* Writes the seconds of each timer that has run to the standard output, in lines that begin with `name` where there is
 * one. */
void llvm_hpvm_printTimerSet(void** timers, char* name) HPVM_NOTHROW_;
/* The same for a set of the program's own. */
void hpvm_InitializeTimerSet(struct hpvm_TimerSet* timers) HPVM_NOTHROW_;
void hpvm_SwitchToTimer(struct hpvm_TimerSet* timers, enum hpvm_TimerID timer) HPVM_NOTHROW_;
void hpvm_PrintTimerSet(struct hpvm_TimerSet* timers) HPVM_NOTHROW_;
void hpvm_DestroyTimerSet(struct hpvm_TimerSet* timers) HPVM_NOTHROW_;

#ifdef __cplusplus
}
#endif

#undef HPVM_NOTHROW_

#endif
