/* Several loop programs at once on disjoint regions of one processor array, in C. An array comes from a machine file, a
 * program from a symbolic configuration (`strata map PROGRAM --machine NAME -o FILE.sym`); a program is placed with its
 * sizes in a region, bound to arrays of the caller, started, and waited for. The array is simulated, cycle by cycle.
 *
 *     strata_array* array = strata_array_open("machine.yaml", text, sizeof text);
 *     strata_array_program* program = strata_array_load(array, bytes, size, text, sizeof text);
 *     strata_array_placement* placement = strata_array_place(array, program, &request, text, sizeof text);
 *     strata_array_bind(placement, "x", x, sizeof x, text, sizeof text);     (and every other array)
 *     strata_array_start(placement, text, sizeof text);
 *     strata_array_wait(placement, &cycles, text, sizeof text);
 *     strata_array_close(array);
 *
 * Time. An array has one clock, which counts cycles from 0. A program that is started at clock t runs from t on, beside
 * all that run in other regions, and ends at t plus its cycles. The clock moves in strata_array_wait, to the end of the
 * program that is waited for, and in strata_array_advance; the caller's own work takes none of its cycles. A program's
 * results and cycles are those that it has alone in the array. They are computed when it is waited for: until then its
 * arrays belong to the run.
 *
 * What is simplified. No data leave a region but through the buffers at the array's borders, so that a region can be
 * served only by those borders that it touches: it is refused when the program's data need another one. (Hardware could
 * lead them through elements outside of the region; here none are taken from other programs.) Signals of a controller
 * do come from its corner to a region elsewhere, over control wires of the elements between; that way is not counted.
 *
 * Errors. A function that can fail takes a buffer of `error_bytes` bytes for a text, which is cut to fit and always
 * ended by a zero; nothing is written without an error. The buffer may be null. The text says what is wrong and, on
 * lines that begin with "help: ", what to do. Functions without a status as result give null; strata_array_last_status
 * has theirs.
 *
 * Whatever is passed as a handle is checked: null, one that has been released or one of another kind is
 * STRATA_ARRAY_HANDLE. Pointers to memory have to be null or valid for what is read or written there; null is
 * STRATA_ARRAY_ARGUMENT where something is needed.
 *
 * Threads. Any thread may call anything. Calls for one array take turns; while one waits for a program, others wait for
 * the call's end.
 *
 * C11 and later, C++. README.md of examples/array/two-programs says how a program is linked. */
#ifndef STRATA_ARRAY_H
#define STRATA_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct strata_array strata_array;
typedef struct strata_array_program strata_array_program;
typedef struct strata_array_placement strata_array_placement;

typedef enum strata_array_status {
  STRATA_ARRAY_OK = 0,
  STRATA_ARRAY_HANDLE = 1,   /* no such array, program or placement, or it has been released */
  STRATA_ARRAY_ARGUMENT = 2, /* a null pointer, a name that there is not, a number of bytes that is not the array's */
  STRATA_ARRAY_MACHINE = 3,  /* the machine file cannot be read, or describes no machine with a processor array */
  STRATA_ARRAY_PROGRAM = 4,  /* the bytes are no symbolic configuration, or one for other elements */
  STRATA_ARRAY_OCCUPIED = 5, /* another placement has elements of the region, or the corner's controller */
  STRATA_ARRAY_UNFIT = 6,    /* the program does not fit the region with these sizes and tiles */
  STRATA_ARRAY_STATE = 7,    /* not now: started twice, waited for before the start, arrays without memory */
  STRATA_ARRAY_VALUE = 8,    /* the run came to a value that there is not: a division by zero */
  STRATA_ARRAY_MEMORY = 9,   /* out of memory */
  STRATA_ARRAY_INTERNAL = 10 /* an error of Strata's */
} strata_array_status;

/* Corners of an array, where controllers are; the machine file says in which. */
typedef enum strata_array_corner {
  STRATA_ARRAY_NORTH_WEST = 0,
  STRATA_ARRAY_NORTH_EAST = 1,
  STRATA_ARRAY_SOUTH_EAST = 2,
  STRATA_ARRAY_SOUTH_WEST = 3
} strata_array_corner;

/* A number by its name: the size of a parameter, or the iterations in a tile of a loop. */
typedef struct strata_array_number {
  const char* name;
  int64_t value;
} strata_array_number;

/* Where a program is placed, and for what. Row 0 is the northern one, column 0 the western one. */
typedef struct strata_array_request {
  uint32_t row, column;             /* of the region's element in the north west */
  uint32_t rows, columns;           /* of the region, at least 1 each */
  int corner;                       /* a strata_array_corner: whose controller steers the program */
  const strata_array_number* sizes; /* every parameter of the program, in any order */
  size_t size_count;
  const strata_array_number* tiles; /* loops that are not named get the smallest tiles that cover them; may be null */
  size_t tile_count;
} strata_array_request;

/* The status of the last call on this thread that gives one or takes an error buffer. */
strata_array_status strata_array_last_status(void);

/* An array whose clock is 0, from a machine file: its path, or its text if there is a line break in it. The file's
 * first processor array is taken. Null: STRATA_ARRAY_ARGUMENT, _MACHINE, _MEMORY. */
strata_array* strata_array_open(const char* machine_file, char* error, size_t error_bytes);

/* Releases an array with its programs and placements; runs that are under way are given up, their arrays left as they
 * are. Nothing happens for null or what has been released (so for the two below). */
void strata_array_close(strata_array* array);

/* The clock in cycles; -1 without an array. */
int64_t strata_array_cycles(strata_array* array);

/* Lets the clock go on by `cycles`, which are 0 or more: time in which the caller does other things.
 * STRATA_ARRAY_ARGUMENT: less than 0, or the clock would pass 2^62. */
strata_array_status strata_array_advance(strata_array* array, int64_t cycles, char* error, size_t error_bytes);

/* A program from the bytes of a symbolic configuration, in either of its forms; they are not needed afterwards. May be
 * called while others run. Null: STRATA_ARRAY_HANDLE, _ARGUMENT, _PROGRAM, _MEMORY. */
strata_array_program* strata_array_load(strata_array* array, const void* bytes, size_t size, char* error,
                                        size_t error_bytes);

/* Releases a program. Its placements stay. */
void strata_array_unload(strata_array_program* program);

/* Takes a region and a controller for a program and instantiates it there; both are taken until the placement is
 * released. The region may have elements for which the sizes leave no work. May be called while others run. Null:
 * STRATA_ARRAY_HANDLE (also for a program of another array), _ARGUMENT (names of parameters and loops, a region that is
 * not within the array, a corner without a controller), _OCCUPIED, _UNFIT, _MEMORY, _INTERNAL. */
strata_array_placement* strata_array_place(strata_array* array, strata_array_program* program,
                                           const strata_array_request* request, char* error, size_t error_bytes);

/* How many bytes an array of the program has with the placement's sizes; -1 where there is no such array or placement.
 */
int64_t strata_array_bytes(strata_array_placement* placement, const char* name);

/* Gives an array of the program its memory: `bytes` bytes as strata_array_bytes says, elements in C order. What is
 * there is read while the program runs if the array is an input and written if it is an output; elements of outputs
 * that the program does not write stay as they are. Another memory may be given between runs; an array of no elements
 * may have a null pointer. STRATA_ARRAY_HANDLE, _ARGUMENT (null, no such array, another number of bytes), _STATE (it
 * runs). */
strata_array_status strata_array_bind(strata_array_placement* placement, const char* name, void* memory, size_t bytes,
                                      char* error, size_t error_bytes);

/* Starts the program at the array's clock, with the arrays that are bound; does not wait. From here to the end of
 * strata_array_wait nobody else may write its inputs or use its outputs. STRATA_ARRAY_HANDLE, _STATE (it runs already,
 * an array has no memory), _ARGUMENT (an output shares memory with another array of it or of a program that runs, or
 * an input with an output of a program that runs). */
strata_array_status strata_array_start(strata_array_placement* placement, char* error, size_t error_bytes);

/* Waits until the program has ended: its outputs are written, and the clock is at its end or already past it. `cycles`
 * (may be null) becomes the cycles from its start to its last result. The placement may be started again. After an
 * error of the run it is not said what outputs hold. STRATA_ARRAY_HANDLE, _STATE (not started), _VALUE, _MEMORY,
 * _INTERNAL. */
strata_array_status strata_array_wait(strata_array_placement* placement, int64_t* cycles, char* error,
                                      size_t error_bytes);

/* Releases a placement: its region and its controller are free. If it runs, the run is given up and its outputs are
 * left as they are. */
void strata_array_remove(strata_array_placement* placement);

#ifdef __cplusplus
}
#endif

#endif
