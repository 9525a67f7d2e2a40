/* Lets the heat of a rod spread. Two kernels on two processors take turns, each step from one block of a local memory
 * to the other: each depends on the other's last run, so that control code may run ahead. */
#include "../example.h"

typedef struct {
  Kernel kernel;
  IBlock* from;
  OBlock* to;
  int length;
} Spread;

static void spreadWork(Spread* spread) {
  float left, middle, right, next;
  blockRead(spread->from, 0, &left);
  blockWrite(spread->to, 0, &left);
  blockRead(spread->from, 1, &middle);
  for (int i = 1; i + 1 < spread->length; i++) {
    blockRead(spread->from, i + 1, &right);
    next = 0.25f * left + 0.5f * middle + 0.25f * right;
    blockWrite(spread->to, i, &next);
    left = middle;
    middle = right;
  }
  blockWrite(spread->to, spread->length - 1, &middle);
}

static void spreadInit(Spread* spread, VM_NODE_PROC processor, Block* scratch, IBlock* from, OBlock* to, int length) {
  kernelInit(&spread->kernel, processor, scratch, spread, sizeof(Spread), (ExtKernelWork)&spreadWork);
  spread->from = from;
  spread->to = to;
  spread->length = length;
}

int main(int argc, char** argv) {
  static Stream source, arriving, leaving, result;
  static Block even, odd;
  static Move load, store;
  static Spread toOdd, toEven;

  if (argc != 1 && argc != 3 && argc != 4)
    fail("usage: %s [ROD.npy COOLED.npy [STEPS]]", argv[0]);
  Array rod;
  if (argc > 1) {
    rod = readArray(argv[1], "<f4", 4, 1);
  } else {
    rod = newArray(4, 1, 1000, 1);
    for (long i = 400; i < 600; i++)
      ((float*)rod.data)[i] = 100;
  }
  const int n = (int)rod.count, steps = argc > 3 ? atoi(argv[3]) : 10000;
  if (n < 3 || steps < 0 || steps % 2 != 0)
    fail("a rod has three places at least, and steps are even in number");
  const long space = roundedUp(4L * n, 64);
  needBytes("the local memory", 2 * space, LOCALMEM_BYTES);
  needBytes("the global memory", 2 * space, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), rod.data, 4 * (size_t)n);

  streamInitWithDataRAM(&source, GLOBALMEM1, 0, n, 4, n, TRUE, STREAM_NEVER_WRAPS);
  streamInitRAM(&result, GLOBALMEM1, ADDRESS(GLOBALMEM, space), n, 4, STREAM_NEVER_WRAPS);
  blockInit(&even, LOCALMEM1, 0, n, 4);
  blockInit(&odd, LOCALMEM1, ADDRESS(LOCALMEM, space), n, 4);

  /* The block where the steps begin is filled through a stream at the same place. */
  streamInitRAM(&arriving, LOCALMEM1, 0, n, 4, STREAM_NEVER_WRAPS);
  moveInit(&load, DMA1, &source, &arriving, n, FALSE);
  kernelRun(&load.kernel);

  for (int step = 0; step < steps; step += 2) {
    kernelWait(&toOdd.kernel);
    spreadInit(&toOdd, PROC1, NULL, &even, &odd, n);
    kernelAddDependence(&toOdd.kernel, &load.kernel);
    kernelAddDependence(&toOdd.kernel, &toEven.kernel);
    kernelRun(&toOdd.kernel);

    kernelWait(&toEven.kernel);
    spreadInit(&toEven, PROC2, NULL, &odd, &even, n);
    kernelAddDependence(&toEven.kernel, &toOdd.kernel);
    kernelRun(&toEven.kernel);
  }

  /* So is it emptied. */
  streamInitWithDataRAM(&leaving, LOCALMEM1, 0, n, 4, n, TRUE, STREAM_NEVER_WRAPS);
  moveInit(&store, DMA1, &leaving, &result, STREAM_LENGTH_ALL, TRUE);
  kernelAddDependence(&store.kernel, &load.kernel);
  kernelAddDependence(&store.kernel, &toEven.kernel);
  kernelRun(&store.kernel);
  kernelWait(&store.kernel);

  memcpy(rod.data, svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, space)), 4 * (size_t)n);
  printf("%d places after %d steps; the middle has %g\n", n, steps, ((float*)rod.data)[n / 2]);
  if (argc > 1)
    writeArray(argv[2], "<f4", 4, rod);
  free(rod.data);
  return 0;
}
