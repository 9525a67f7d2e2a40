/* C = A B for matrices of floats in the global memory. Four processors compute tiles of C in their local memories;
 * while one multiplies a pair of tiles, strided gathers fetch the next pair into the other half of its buffers. Which
 * memory is reused when is said by dependences only: control code runs ahead as far as two pairs.
 *
 * The size of a tile follows from that of a local memory. It changes no result: every element of C adds its products in
 * the order of k. */
#include "../example.h"

/* Two pairs of tiles, and one of C. */
enum { SIDE = LOCALMEM_BYTES >= 5 * 4 * 32 * 32 ? 32 : 16, ELEMENTS = SIDE * SIDE };

typedef struct {
  Kernel kernel;
  IBlock* a;
  IBlock* b;
  Block* c;
  int first; /* whether the tile of C begins with zeros */
} Multiply;

static void multiplyWork(Multiply* multiply) {
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      float a, b, sum = 0;
      if (!multiply->first)
        blockRead(multiply->c, i * SIDE + j, &sum);
      for (int k = 0; k < SIDE; k++) {
        blockRead(multiply->a, i * SIDE + k, &a);
        blockRead(multiply->b, k * SIDE + j, &b);
        sum += a * b;
      }
      blockWrite(multiply->c, i * SIDE + j, &sum);
    }
}

static void multiplyInit(Multiply* multiply, VM_NODE_PROC processor, Block* scratch, IBlock* a, IBlock* b, Block* c,
                         int first) {
  kernelInit(&multiply->kernel, processor, scratch, multiply, sizeof(Multiply), (ExtKernelWork)&multiplyWork);
  multiply->a = a;
  multiply->b = b;
  multiply->c = c;
  multiply->first = first;
}

/* What a processor has of one of its two pairs of buffers: the tiles in the global memory, streams into the local one,
 * and the blocks there that the kernel reads. */
#define DECLARE_PAIR(p, h)                                                                                             \
  static Block fromA##p##h, fromB##p##h, tileA##p##h, tileB##p##h;                                                     \
  static Stream toA##p##h, toB##p##h;                                                                                  \
  static StridedGather gatherA##p##h, gatherB##p##h;                                                                   \
  static Multiply multiply##p##h;

#define DECLARE(p)                                                                                                     \
  DECLARE_PAIR(p, x)                                                                                                   \
  DECLARE_PAIR(p, y)                                                                                                   \
  static Block tileC##p, toC##p;                                                                                       \
  static Stream fromC##p;                                                                                              \
  static StridedScatter scatter##p;

#define PLACE(slot) ADDRESS(LOCALMEM, 4L * (slot) * ELEMENTS)

/* Fetches tile k of the row of tiles of A and of the column of tiles of B, and multiplies them; h is the half, o the
 * other one, and the half begins at `slot`. The gathers wait for the last kernel that read their half. */
#define PAIR(p, h, o, slot, k)                                                                                         \
  kernelWait(&gatherA##p##h.kernel);                                                                                   \
  kernelWait(&gatherB##p##h.kernel);                                                                                   \
  blockInit(&fromA##p##h, GLOBALMEM1, ADDRESS(GLOBALMEM, 4 * ((row * depth + (k)) * SIDE)),                            \
            (int)((SIDE - 1) * depth + SIDE), 4);                                                                      \
  blockInit(&fromB##p##h, GLOBALMEM1, ADDRESS(GLOBALMEM, atB + 4 * ((k) * SIDE * width + column##p * SIDE)),           \
            (int)((SIDE - 1) * width + SIDE), 4);                                                                      \
  streamInitRAM(&toA##p##h, LOCALMEM##p, PLACE(slot), ELEMENTS, 4, STREAM_NEVER_WRAPS);                                \
  streamInitRAM(&toB##p##h, LOCALMEM##p, PLACE(slot + 1), ELEMENTS, 4, STREAM_NEVER_WRAPS);                            \
  stridedGatherInit(&gatherA##p##h, DMA1, &fromA##p##h, &toA##p##h, ELEMENTS, (int)depth, SIDE, FALSE);                \
  stridedGatherInit(&gatherB##p##h, DMA2, &fromB##p##h, &toB##p##h, ELEMENTS, (int)width, SIDE, FALSE);                \
  kernelAddDependence(&gatherA##p##h.kernel, &multiply##p##h.kernel);                                                  \
  kernelAddDependence(&gatherB##p##h.kernel, &multiply##p##h.kernel);                                                  \
  kernelRun(&gatherA##p##h.kernel);                                                                                    \
  kernelRun(&gatherB##p##h.kernel);                                                                                    \
  kernelWait(&multiply##p##h.kernel);                                                                                  \
  multiplyInit(&multiply##p##h, PROC##p, NULL, &tileA##p##h, &tileB##p##h, &tileC##p, (k) == 0);                       \
  kernelAddDependence(&multiply##p##h.kernel, &gatherA##p##h.kernel);                                                  \
  kernelAddDependence(&multiply##p##h.kernel, &gatherB##p##h.kernel);                                                  \
  kernelAddDependence(&multiply##p##h.kernel, &multiply##p##o.kernel);                                                 \
  kernelAddDependence(&multiply##p##h.kernel, &scatter##p.kernel);                                                     \
  kernelRun(&multiply##p##h.kernel);

#define BOTH_HALVES(p)                                                                                                 \
  if (column##p * SIDE < width) {                                                                                      \
    if (k % 2 == 0) {                                                                                                  \
      PAIR(p, x, y, 0, k)                                                                                              \
    } else {                                                                                                           \
      PAIR(p, y, x, 2, k)                                                                                              \
    }                                                                                                                  \
  }

/* Moves the finished tile of C out; the next tile waits for it. */
#define STORE(p)                                                                                                       \
  if (column##p * SIDE < width) {                                                                                      \
    kernelWait(&scatter##p.kernel);                                                                                    \
    streamInitWithDataRAM(&fromC##p, LOCALMEM##p, PLACE(4), ELEMENTS, 4, ELEMENTS, FALSE, STREAM_NEVER_WRAPS);         \
    blockInit(&toC##p, GLOBALMEM1, ADDRESS(GLOBALMEM, atC + 4 * (row * SIDE * width + column##p * SIDE)),              \
              (int)((SIDE - 1) * width + SIDE), 4);                                                                    \
    stridedScatterInit(&scatter##p, DMA1, &fromC##p, &toC##p, ELEMENTS, (int)width, SIDE, FALSE);                      \
    kernelAddDependence(&scatter##p.kernel, &multiply##p##x.kernel);                                                   \
    kernelAddDependence(&scatter##p.kernel, &multiply##p##y.kernel);                                                   \
    kernelRun(&scatter##p.kernel);                                                                                     \
  }

#define BLOCKS(p)                                                                                                      \
  blockInit(&tileA##p##x, LOCALMEM##p, PLACE(0), ELEMENTS, 4);                                                         \
  blockInit(&tileB##p##x, LOCALMEM##p, PLACE(1), ELEMENTS, 4);                                                         \
  blockInit(&tileA##p##y, LOCALMEM##p, PLACE(2), ELEMENTS, 4);                                                         \
  blockInit(&tileB##p##y, LOCALMEM##p, PLACE(3), ELEMENTS, 4);                                                         \
  blockInit(&tileC##p, LOCALMEM##p, PLACE(4), ELEMENTS, 4);

DECLARE(1)
DECLARE(2)
DECLARE(3)
DECLARE(4)

/* Copies between a matrix and its place in the global memory, where rows have `pitch` elements. */
static void copyIn(Array matrix, long at, long pitch) {
  char* to = (char*)svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, at));
  for (long i = 0; i < matrix.shape[0]; i++)
    memcpy(to + 4 * i * pitch, (float*)matrix.data + i * matrix.shape[1], 4 * (size_t)matrix.shape[1]);
}

static void copyOut(Array matrix, long at, long pitch) {
  const char* from = (const char*)svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, at));
  for (long i = 0; i < matrix.shape[0]; i++)
    memcpy((float*)matrix.data + i * matrix.shape[1], from + 4 * i * pitch, 4 * (size_t)matrix.shape[1]);
}

int main(int argc, char** argv) {
  if (argc != 1 && argc != 4)
    fail("usage: %s [A.npy B.npy C.npy]", argv[0]);
  Array a, b;
  if (argc > 1) {
    a = readArray(argv[1], "<f4", 4, 2);
    b = readArray(argv[2], "<f4", 4, 2);
    if (a.shape[1] != b.shape[0])
      fail("%s has %ld columns, and %s has %ld rows", argv[1], a.shape[1], argv[2], b.shape[0]);
  } else {
    a = newArray(4, 2, 150, 170);
    b = newArray(4, 2, 170, 130);
    for (long i = 0; i < a.count; i++)
      ((float*)a.data)[i] = (float)(i % 7) - 3;
    for (long i = 0; i < b.count; i++)
      ((float*)b.data)[i] = (float)(i % 5) - 2;
  }
  /* With zeros up to whole tiles, which are what the global memory begins with. */
  const long height = roundedUp(a.shape[0], SIDE), depth = roundedUp(a.shape[1], SIDE),
             width = roundedUp(b.shape[1], SIDE);
  const long atB = 4 * height * depth, atC = atB + 4 * depth * width;
  needBytes("the global memory", atC + 4 * height * width, GLOBALMEM_BYTES);
  copyIn(a, 0, depth);
  copyIn(b, atB, width);

  BLOCKS(1)
  BLOCKS(2)
  BLOCKS(3)
  BLOCKS(4)
  for (long row = 0; row * SIDE < height; row++)
    for (long column1 = 0; column1 * SIDE < width; column1 += 4) {
      const long column2 = column1 + 1, column3 = column1 + 2, column4 = column1 + 3;
      for (long k = 0; k * SIDE < depth; k++) {
        BOTH_HALVES(1)
        BOTH_HALVES(2)
        BOTH_HALVES(3)
        BOTH_HALVES(4)
      }
      STORE(1)
      STORE(2)
      STORE(3)
      STORE(4)
    }
  kernelWaitMultiple(&scatter1.kernel, &scatter2.kernel, &scatter3.kernel, &scatter4.kernel);

  Array c = newArray(4, 2, a.shape[0], b.shape[1]);
  copyOut(c, atC, width);
  printf("%ld x %ld times %ld x %ld; the last element is %g\n", a.shape[0], a.shape[1], b.shape[0], b.shape[1],
         ((float*)c.data)[c.count - 1]);
  if (argc > 1)
    writeArray(argv[3], "<f4", 4, c);
  free(c.data);
  free(b.data);
  free(a.data);
  return 0;
}
