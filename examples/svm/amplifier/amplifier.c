/* Amplifies a signal: it moves from the global memory through a kernel on a stream processor, and back. The tag on the
 * last sample ends every kernel. */
#include "../example.h"

typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  float gain;
} Amplifier;

static void amplifierWork(Amplifier* amplifier) {
  boolean last;
  do {
    float sample;
    last = streamPeekEOS(amplifier->in, 0);
    streamPop(amplifier->in, &sample);
    sample = sample * amplifier->gain;
    if (last)
      streamPushWithEOS(amplifier->out, &sample);
    else
      streamPush(amplifier->out, &sample);
  } while (!last);
}

static void amplifierInit(Amplifier* amplifier, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out,
                          float gain) {
  kernelInit(&amplifier->kernel, processor, scratch, amplifier, sizeof(Amplifier), (ExtKernelWork)&amplifierWork);
  amplifier->in = in;
  amplifier->out = out;
  amplifier->gain = gain;
}

int main(int argc, char** argv) {
  static Stream source, input, output, result;
  static Move feed, collect;
  static Amplifier amplifier;

  if (argc != 1 && argc != 3 && argc != 4)
    fail("usage: %s [SIGNAL.npy AMPLIFIED.npy [GAIN]]", argv[0]);
  Array signal;
  if (argc > 1) {
    signal = readArray(argv[1], "<f4", 4, 1);
  } else {
    signal = newArray(4, 1, 100000, 1);
    for (long i = 0; i < signal.count; i++)
      ((float*)signal.data)[i] = (float)(i % 1000) / 1000;
  }
  const float gain = argc > 3 ? (float)atof(argv[3]) : 3;
  const int n = (int)signal.count;
  const long space = roundedUp(4L * n, 64);
  needBytes("the global memory", 2 * space, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), signal.data, 4 * (size_t)n);

  streamInitWithDataRAM(&source, GLOBALMEM1, 0, n, 4, n, TRUE, STREAM_NEVER_WRAPS | STREAM_ONE_EOS);
  streamInitRAM(&input, LOCALMEM1, 0, 256, 4, STREAM_UNALIASED_RAM);
  streamInitRAM(&output, LOCALMEM1, ADDRESS(LOCALMEM, 1024), 256, 4, STREAM_UNALIASED_RAM);
  streamInitRAM(&result, GLOBALMEM1, ADDRESS(GLOBALMEM, space), n, 4, STREAM_NEVER_WRAPS | STREAM_ONE_EOS);

  moveInit(&feed, DMA1, &source, &input, STREAM_LENGTH_ALL, TRUE);
  amplifierInit(&amplifier, PROC1, NULL, &input, &output, gain);
  moveInit(&collect, DMA1, &output, &result, STREAM_LENGTH_ALL, TRUE);
  kernelRun(&feed.kernel);
  kernelRun(&amplifier.kernel);
  kernelRun(&collect.kernel);
  kernelWait(&collect.kernel);

  memcpy(signal.data, svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, space)), 4 * (size_t)n);
  printf("%d samples times %g; the last is %g\n", n, gain, ((float*)signal.data)[n - 1]);
  if (argc > 1)
    writeArray(argv[2], "<f4", 4, signal);
  free(signal.data);
  return 0;
}
