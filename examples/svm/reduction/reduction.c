/* Reduces integers to their sum, least and greatest. Four processors take a part each; control code reads what they
 * found from the fields of the kernels. */
#include "../example.h"

typedef struct {
  Kernel kernel;
  IStream* in;
  long sum;
  int least, greatest;
} Reduce;

static void reduceWork(Reduce* reduce) {
  boolean last;
  do {
    int x;
    last = streamPeekEOS(reduce->in, 0);
    streamPop(reduce->in, &x);
    reduce->sum += x;
    if (x < reduce->least)
      reduce->least = x;
    if (x > reduce->greatest)
      reduce->greatest = x;
  } while (!last);
}

static void reduceInit(Reduce* reduce, VM_NODE_PROC processor, Block* scratch, IStream* in) {
  kernelInit(&reduce->kernel, processor, scratch, reduce, sizeof(Reduce), (ExtKernelWork)&reduceWork);
  reduce->in = in;
  reduce->sum = 0;
  reduce->least = 2147483647;
  reduce->greatest = -2147483647 - 1;
}

/* A processor's part, from element `begin`; a part without elements is left out, and its kernel stays UNSTARTED. */
#define PART(i)                                                                                                        \
  if ((i - 1) * share < n) {                                                                                           \
    const int length = n - (i - 1) * share < share ? n - (i - 1) * share : share;                                      \
    streamInitWithDataRAM(&source##i, GLOBALMEM1, ADDRESS(GLOBALMEM, 4L * (i - 1) * share), length, 4, length, TRUE,   \
                          STREAM_NEVER_WRAPS);                                                                         \
    streamInitRAM(&input##i, LOCALMEM##i, 0, 512, 4, STREAM_UNALIASED_RAM);                                            \
    moveInit(&feed##i, DMA1, &source##i, &input##i, length, TRUE);                                                     \
    reduceInit(&reduce##i, PROC##i, NULL, &input##i);                                                                  \
    kernelRun(&feed##i.kernel);                                                                                        \
    kernelRun(&reduce##i.kernel);                                                                                      \
  }

#define COLLECT(i)                                                                                                     \
  if (kernelGetStatus(&reduce##i.kernel) == KERNEL_FINISHED) {                                                         \
    sum += reduce##i.sum;                                                                                              \
    least = reduce##i.least < least ? reduce##i.least : least;                                                         \
    greatest = reduce##i.greatest > greatest ? reduce##i.greatest : greatest;                                          \
  }

int main(int argc, char** argv) {
  static Stream source1, source2, source3, source4, input1, input2, input3, input4;
  static Move feed1, feed2, feed3, feed4;
  static Reduce reduce1, reduce2, reduce3, reduce4;

  if (argc != 1 && argc != 3)
    fail("usage: %s [NUMBERS.npy REDUCED.npy]", argv[0]);
  Array numbers;
  if (argc > 1) {
    numbers = readArray(argv[1], "<i4", 4, 1);
  } else {
    unsigned state = 1;
    numbers = newArray(4, 1, 100003, 1);
    for (long i = 0; i < numbers.count; i++)
      ((int*)numbers.data)[i] = (int)nextNumber(&state) - 30000;
  }
  const int n = (int)numbers.count, share = (int)roundedUp((n + 3) / 4, 16);
  needBytes("the global memory", 4L * n, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), numbers.data, 4 * (size_t)n);
  free(numbers.data);

  PART(1)
  PART(2)
  PART(3)
  PART(4)
  kernelWaitMultiple(&reduce1.kernel, &reduce2.kernel, &reduce3.kernel, &reduce4.kernel);

  long sum = 0;
  int least = reduce1.least, greatest = reduce1.greatest;
  COLLECT(1)
  COLLECT(2)
  COLLECT(3)
  COLLECT(4)
  printf("%d numbers: sum %ld, least %d, greatest %d\n", n, sum, least, greatest);
  if (argc > 1) {
    Array reduced = newArray(8, 1, 3, 1);
    ((long*)reduced.data)[0] = sum;
    ((long*)reduced.data)[1] = least;
    ((long*)reduced.data)[2] = greatest;
    writeArray(argv[2], "<i8", 8, reduced);
    free(reduced.data);
  }
  return 0;
}
