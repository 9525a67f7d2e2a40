/* The means of every four samples: from a global memory through a kernel on a stream processor and back. Checks the
 * result against a plain loop. C11 and C++20. */
#include <stdio.h>
#include <stdlib.h>
#include <svm/pca.h>

static const int GROUP = 4, MOST = 1000000;

typedef struct {
  Kernel kernel;
  IStream *samples;
  OStream *means;
  int groups;
} Averager;

static void average(void *data) {
  Averager *averager = (Averager *)data;
  for (int i = 0; i < averager->groups; ++i) {
    float sum = 0, sample;
    for (int k = 0; k < GROUP; ++k) {
      streamPop(averager->samples, &sample);
      sum += sample;
    }
    sum /= GROUP;
    streamPush(averager->means, &sum);
  }
}

int main(int argc, char **argv) {
  static Stream signal, samples, means, results;
  static Move fetch, store;
  static Averager averager;
  const int groups = argc > 1 ? atoi(argv[1]) : 1000, count = groups * GROUP;
  if (groups < 1 || groups > MOST) {
    fprintf(stderr, "usage: %s [1 to %d means]\n", argv[0], MOST);
    return 2;
  }
  float *in = (float *)svmAddress(GLOBALMEM1, 0), *out = (float *)svmAddress(GLOBALMEM2, 0);
  for (int i = 0; i < count; ++i)
    in[i] = (float)(i * 7 % 256);

  streamInitWithDataRAM(&signal, GLOBALMEM1, 0, count, sizeof(float), count, FALSE, 0);
  streamInitRAM(&samples, LOCALMEM1, 0, 256, sizeof(float), 0);
  streamInitRAM(&means, LOCALMEM1, 256, 64, sizeof(float), 0);
  streamInitRAM(&results, GLOBALMEM2, 0, groups, sizeof(float), 0);
  moveInit(&fetch, DMA1, &signal, &samples, count, FALSE);
  kernelInit(&averager.kernel, PROC1, NULL, &averager, sizeof averager, average);
  averager.samples = &samples;
  averager.means = &means;
  averager.groups = groups;
  moveInit(&store, DMA1, &means, &results, groups, FALSE);

  kernelRun(&fetch);
  kernelRun(&averager);
  kernelRun(&store);
  kernelWait(&store);
  for (int i = 0; i < groups; ++i) {
    float sum = 0;
    for (int k = 0; k < GROUP; ++k)
      sum += in[i * GROUP + k];
    if (out[i] != sum / GROUP) {
      fprintf(stderr, "mean %d is %g, where %g was expected\n", i, out[i], sum / GROUP);
      return 1;
    }
  }
  printf("%d means of %d samples\n", groups, count);
  return 0;
}
