/* Sends a signal through four filters at once: a kernel pushes each sample to four streams, and four processors filter
 * what comes, each with coefficients of its own, peeking at the samples that are still to come. */
#include "../example.h"

enum { TAPS = 32, FILTERS = 4 };

typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out1;
  OStream* out2;
  OStream* out3;
  OStream* out4;
  int length;
} Spread;

static void spreadWork(Spread* spread) {
  for (int i = 0; i < spread->length; i++) {
    float sample;
    streamPop(spread->in, &sample);
    streamPushMulticast(&sample, spread->out1, spread->out2, spread->out3, spread->out4);
  }
}

static void spreadInit(Spread* spread, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out1,
                       OStream* out2, OStream* out3, OStream* out4, int length) {
  kernelInit(&spread->kernel, processor, scratch, spread, sizeof(Spread), (ExtKernelWork)&spreadWork);
  spread->in = in;
  spread->out1 = out1;
  spread->out2 = out2;
  spread->out3 = out3;
  spread->out4 = out4;
  spread->length = length;
}

typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int length;
  float taps[TAPS];
} Filter;

static void filterWork(Filter* filter) {
  float sample;
  for (int i = 0; i + TAPS <= filter->length; i++) {
    float sum = 0;
    for (int t = 0; t < TAPS; t++) {
      streamPeek(filter->in, t, &sample);
      sum += filter->taps[t] * sample;
    }
    streamPush(filter->out, &sum);
    streamPop(filter->in, &sample);
  }
  for (int i = 1; i < TAPS; i++)
    streamPop(filter->in, &sample);
}

static void filterInit(Filter* filter, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out, int length,
                       const float* taps) {
  kernelInit(&filter->kernel, processor, scratch, filter, sizeof(Filter), (ExtKernelWork)&filterWork);
  filter->in = in;
  filter->out = out;
  filter->length = length;
  memcpy(filter->taps, taps, sizeof filter->taps);
}

/* Filter i reads its stream in the local memory of its processor, `local`, and what it gives moves to row i. */
#define FILTER(i, processor, local)                                                                                    \
  streamInitRAM(&spread##i, local, 0, 64, 4, STREAM_UNALIASED_RAM);                                                    \
  streamInitRAM(&filtered##i, local, ADDRESS(LOCALMEM, 256), 64, 4, STREAM_UNALIASED_RAM);                             \
  streamInitRAM(&row##i, GLOBALMEM1, ADDRESS(GLOBALMEM, i* space), m, 4, STREAM_NEVER_WRAPS);                          \
  filterInit(&filter##i, processor, NULL, &spread##i, &filtered##i, n, (const float*)taps.data + (i - 1) * TAPS);      \
  moveInit(&collect##i, DMA2, &filtered##i, &row##i, m, FALSE);                                                        \
  kernelRun(&filter##i.kernel);                                                                                        \
  kernelRun(&collect##i.kernel);

int main(int argc, char** argv) {
  static Stream source, input, spread1, spread2, spread3, spread4, filtered1, filtered2, filtered3, filtered4;
  static Stream row1, row2, row3, row4;
  static Move feed, collect1, collect2, collect3, collect4;
  static Spread spread;
  static Filter filter1, filter2, filter3, filter4;

  if (argc != 1 && argc != 4)
    fail("usage: %s [SIGNAL.npy TAPS.npy FILTERED.npy]", argv[0]);
  Array signal, taps;
  if (argc > 1) {
    signal = readArray(argv[1], "<f4", 4, 1);
    taps = readArray(argv[2], "<f4", 4, 2);
    if (taps.shape[0] != FILTERS || taps.shape[1] != TAPS)
      fail("%s: has %ld x %ld numbers; %d x %d are needed", argv[2], taps.shape[0], taps.shape[1], FILTERS, TAPS);
  } else {
    unsigned state = 1;
    signal = newArray(4, 1, 20000, 1);
    for (long i = 0; i < signal.count; i++)
      ((float*)signal.data)[i] = (float)nextNumber(&state) / 65536 - 0.5f;
    taps = newArray(4, 2, FILTERS, TAPS);
    for (int i = 0; i < FILTERS * TAPS; i++)
      ((float*)taps.data)[i] = i % TAPS < 4 << i / TAPS ? 0.125f : -0.03125f;
  }
  const int n = (int)signal.count, m = n - TAPS + 1;
  if (m < 1)
    fail("a signal has %d samples at least", TAPS);
  const long space = roundedUp(4L * n, 64);
  needBytes("the global memory", (FILTERS + 1) * space, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), signal.data, 4 * (size_t)n);

  streamInitWithDataRAM(&source, GLOBALMEM1, 0, n, 4, n, FALSE, STREAM_NEVER_WRAPS);
  streamInitRAM(&input, LOCALMEM1, 0, 128, 4, STREAM_UNALIASED_RAM);
  moveInit(&feed, DMA1, &source, &input, n, FALSE);
  kernelRun(&feed.kernel);
  FILTER(1, PROC2, LOCALMEM2)
  FILTER(2, PROC3, LOCALMEM3)
  FILTER(3, PROC4, LOCALMEM4)
  FILTER(4, PROC5, LOCALMEM5)
  spreadInit(&spread, PROC1, NULL, &input, &spread1, &spread2, &spread3, &spread4, n);
  kernelRun(&spread.kernel);
  kernelWaitMultiple(&collect1.kernel, &collect2.kernel, &collect3.kernel, &collect4.kernel);

  Array filtered = newArray(4, 2, FILTERS, m);
  for (int i = 0; i < FILTERS; i++)
    memcpy((float*)filtered.data + (long)i * m, svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, (i + 1) * space)),
           4 * (size_t)m);
  printf("%d samples through %d filters:", n, FILTERS);
  for (int i = 0; i < FILTERS; i++)
    printf(" %g", ((float*)filtered.data)[(long)(i + 1) * m - 1]);
  printf(" come last\n");
  if (argc > 1)
    writeArray(argv[3], "<f4", 4, filtered);
  free(filtered.data);
  free(taps.data);
  free(signal.data);
  return 0;
}
