/* Sorts rows of 1024 integers with Batcher's bitonic network (1968). Its 55 stages run on five processors, five stages
 * in a round; the rows go round and round through one stream in the global memory, from which one move takes what
 * another has put back. */
#include "../example.h"

enum { KEYS = 1024 };

/* Compares the elements that stand `distance` apart; those of every other group of `run` keys are sorted downwards. */
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int keys; /* of all rows */
  int run, distance;
} Stage;

static void stageWork(Stage* stage) {
  int held[KEYS / 2], key;
  for (int begin = 0; begin < stage->keys; begin += 2 * stage->distance) {
    const int upwards = (begin % KEYS & stage->run) == 0;
    for (int i = 0; i < stage->distance; i++)
      streamPop(stage->in, &held[i]);
    for (int i = 0; i < stage->distance; i++) {
      streamPop(stage->in, &key);
      if (upwards == (held[i] > key)) {
        const int greater = held[i];
        held[i] = key;
        key = greater;
      }
      streamPush(stage->out, &held[i]);
      held[i] = key;
    }
    for (int i = 0; i < stage->distance; i++)
      streamPush(stage->out, &held[i]);
  }
}

static void stageInit(Stage* stage, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out, int keys,
                      int run, int distance) {
  kernelInit(&stage->kernel, processor, scratch, stage, sizeof(Stage), (ExtKernelWork)&stageWork);
  stage->in = in;
  stage->out = out;
  stage->keys = keys;
  stage->run = run;
  stage->distance = distance;
}

/* The next stage of the network, on processor i. */
#define STAGE(i, from)                                                                                                 \
  stageInit(&stage##i, PROC##i, NULL, &from, &keys##i, n, run, distance);                                              \
  kernelRun(&stage##i.kernel);                                                                                         \
  if (distance > 1) {                                                                                                  \
    distance /= 2;                                                                                                     \
  } else {                                                                                                             \
    distance = run;                                                                                                    \
    run *= 2;                                                                                                          \
  }

int main(int argc, char** argv) {
  static Stream rows, input, keys1, keys2, keys3, keys4, keys5;
  static Move feed, collect;
  static Stage stage1, stage2, stage3, stage4, stage5;

  if (argc != 1 && argc != 3)
    fail("usage: %s [ROWS.npy SORTED.npy]", argv[0]);
  Array data;
  if (argc > 1) {
    data = readArray(argv[1], "<i4", 4, 2);
    if (data.shape[1] != KEYS)
      fail("%s: has rows of %ld keys; %d are needed", argv[1], data.shape[1], KEYS);
  } else {
    unsigned state = 1;
    data = newArray(4, 2, 4, KEYS);
    for (long i = 0; i < data.count; i++)
      ((int*)data.data)[i] = (int)nextNumber(&state) - 32768;
  }
  const int n = (int)data.count;
  needBytes("the global memory", 4L * n, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), data.data, 4 * (size_t)n);

  streamInitWithDataRAM(&rows, GLOBALMEM1, 0, n, 4, n, FALSE, 0);
  streamInitRAM(&input, LOCALMEM1, 0, 256, 4, STREAM_UNALIASED_RAM);
  streamInitRAM(&keys1, LOCALMEM2, 0, 256, 4, STREAM_UNALIASED_RAM);
  streamInitRAM(&keys2, LOCALMEM3, 0, 256, 4, STREAM_UNALIASED_RAM);
  streamInitRAM(&keys3, LOCALMEM4, 0, 256, 4, STREAM_UNALIASED_RAM);
  streamInitRAM(&keys4, LOCALMEM5, 0, 256, 4, STREAM_UNALIASED_RAM);
  streamInitRAM(&keys5, LOCALMEM5, ADDRESS(LOCALMEM, 1024), 256, 4, STREAM_UNALIASED_RAM);

  int run = 2, distance = 1, rounds = 0;
  while (run <= KEYS) {
    moveInit(&feed, DMA1, &rows, &input, n, FALSE);
    moveInit(&collect, DMA2, &keys5, &rows, n, FALSE);
    kernelRun(&feed.kernel);
    STAGE(1, input)
    STAGE(2, keys1)
    STAGE(3, keys2)
    STAGE(4, keys3)
    STAGE(5, keys4)
    kernelRun(&collect.kernel);
    kernelWaitMultiple(&feed.kernel, &stage1.kernel, &stage2.kernel, &stage3.kernel, &stage4.kernel, &stage5.kernel,
                       &collect.kernel);
    rounds++;
  }

  /* Every round has pushed as many keys as the stream holds, so that it begins at its address again. */
  memcpy(data.data, svmAddress(GLOBALMEM1, 0), 4 * (size_t)n);
  printf("%ld rows of %d keys in %d rounds; the last row goes from %d to %d\n", data.shape[0], KEYS, rounds,
         ((int*)data.data)[n - KEYS], ((int*)data.data)[n - 1]);
  if (argc > 1)
    writeArray(argv[2], "<i4", 4, data);
  free(data.data);
  return 0;
}
