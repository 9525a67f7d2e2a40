/* Fourier transforms of 256 points in a pipeline of eight processors, one for each stage of the transform (decimation
 * in frequency, Gentleman and Sande 1966), with FIFOs between them. The last stage gives the points in bit-reversed
 * order; an indexed scatter puts each where it belongs. */
#include "../example.h"

enum { POINTS = 256, HALF = POINTS / 2 };

typedef struct {
  float re, im;
} Complex;

typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int groups; /* of 2 * half points */
  int half;
  Complex roots[HALF];
} Stage;

static void stageWork(Stage* stage) {
  Complex held[HALF], here, sum, difference, root;
  for (int group = 0; group < stage->groups; group++) {
    for (int i = 0; i < stage->half; i++)
      streamPop(stage->in, &held[i]);
    for (int i = 0; i < stage->half; i++) {
      streamPop(stage->in, &here);
      sum.re = held[i].re + here.re;
      sum.im = held[i].im + here.im;
      streamPush(stage->out, &sum);
      difference.re = held[i].re - here.re;
      difference.im = held[i].im - here.im;
      root = stage->roots[i];
      held[i].re = difference.re * root.re - difference.im * root.im;
      held[i].im = difference.re * root.im + difference.im * root.re;
    }
    for (int i = 0; i < stage->half; i++)
      streamPush(stage->out, &held[i]);
  }
}

static void stageInit(Stage* stage, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out, int half,
                      int frames) {
  kernelInit(&stage->kernel, processor, scratch, stage, sizeof(Stage), (ExtKernelWork)&stageWork);
  stage->in = in;
  stage->out = out;
  stage->half = half;
  stage->groups = frames * (HALF / half);
  for (int i = 0; i < half; i++) {
    const double angle = -3.14159265358979323846 * i / half;
    stage->roots[i].re = (float)cos(angle);
    stage->roots[i].im = (float)sin(angle);
  }
}

/* The eight bits of a number from back to front. */
static int reversed(int number) {
  int result = 0;
  for (int bit = 0; bit < 8; bit++)
    result |= ((number >> bit) & 1) << (7 - bit);
  return result;
}

#define STAGE(i, from)                                                                                                 \
  streamInitFIFO(&points##i, FIFO##i, 8, 0);                                                                           \
  stageInit(&stage##i, PROC##i, NULL, &from, &points##i, HALF >> (i - 1), frames);                                     \
  kernelRun(&stage##i.kernel);

int main(int argc, char** argv) {
  static Stream source, input, points1, points2, points3, points4, points5, points6, points7, points8, places;
  static Block result;
  static Move feed;
  static Stage stage1, stage2, stage3, stage4, stage5, stage6, stage7, stage8;
  static IndexedScatter collect;

  if (argc != 1 && argc != 3)
    fail("usage: %s [FRAMES.npy SPECTRA.npy]", argv[0]);
  Array data;
  if (argc > 1) {
    data = readArray(argv[1], "<c8", 8, 2);
    if (data.shape[1] != POINTS)
      fail("%s: has rows of %ld points; %d are needed", argv[1], data.shape[1], POINTS);
  } else {
    /* Frame f is a wave of f periods. */
    data = newArray(8, 2, 20, POINTS);
    for (long i = 0; i < data.count; i++) {
      const double angle = 2 * 3.14159265358979323846 * (double)(i / POINTS * (i % POINTS)) / POINTS;
      ((Complex*)data.data)[i].re = (float)cos(angle);
      ((Complex*)data.data)[i].im = (float)sin(angle);
    }
  }
  const int frames = (int)data.shape[0], n = (int)data.count;
  const long space = roundedUp(8L * n, 64);
  needBytes("the global memory", 3 * space, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), data.data, 8 * (size_t)n);
  int* place = (int*)svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, space));
  for (int i = 0; i < n; i++)
    place[i] = i / POINTS * POINTS + reversed(i % POINTS);

  streamInitWithDataRAM(&source, GLOBALMEM1, 0, n, 8, n, FALSE, STREAM_NEVER_WRAPS);
  streamInitWithDataRAM(&places, GLOBALMEM1, ADDRESS(GLOBALMEM, space), n, 4, n, FALSE, STREAM_NEVER_WRAPS);
  blockInit(&result, GLOBALMEM1, ADDRESS(GLOBALMEM, 2 * space), n, 8);
  streamInitRAM(&input, LOCALMEM1, 0, 64, 8, STREAM_UNALIASED_RAM);
  moveInit(&feed, DMA1, &source, &input, n, FALSE);
  kernelRun(&feed.kernel);
  STAGE(1, input)
  STAGE(2, points1)
  STAGE(3, points2)
  STAGE(4, points3)
  STAGE(5, points4)
  STAGE(6, points5)
  STAGE(7, points6)
  STAGE(8, points7)
  indexedScatterInit(&collect, DMA1, &points8, &places, &result, n, 1, FALSE);
  kernelRun(&collect.kernel);
  kernelWait(&collect.kernel);

  memcpy(data.data, svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, 2 * space)), 8 * (size_t)n);
  int largest = 0;
  const Complex* spectrum = (const Complex*)data.data + n - POINTS;
  for (int i = 1; i < POINTS; i++)
    if (spectrum[i].re * spectrum[i].re + spectrum[i].im * spectrum[i].im >
        spectrum[largest].re * spectrum[largest].re + spectrum[largest].im * spectrum[largest].im)
      largest = i;
  printf("%d transforms of %d points; the last has its largest at %d\n", frames, POINTS, largest);
  if (argc > 1)
    writeArray(argv[2], "<c8", 8, data);
  free(data.data);
  return 0;
}
