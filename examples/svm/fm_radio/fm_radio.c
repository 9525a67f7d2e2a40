/* Receives an FM broadcast: complex samples are filtered and thinned out by four, demodulated, and equalised in three
 * bands that are filtered at once and added with a gain each. */
#include "../example.h"

enum { TAPS = 32, THINNING = 4 };

typedef struct {
  float re, im;
} Complex;

typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int outputs;
  float taps[TAPS];
} Tune;

static void tuneWork(Tune* tune) {
  Complex sample, sum;
  for (int i = 0; i < tune->outputs; i++) {
    sum.re = 0;
    sum.im = 0;
    for (int t = 0; t < TAPS; t++) {
      streamPeek(tune->in, t, &sample);
      sum.re += tune->taps[t] * sample.re;
      sum.im += tune->taps[t] * sample.im;
    }
    streamPush(tune->out, &sum);
    for (int t = 0; t < THINNING; t++)
      streamPop(tune->in, &sample);
  }
}

static void tuneInit(Tune* tune, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out, int outputs,
                     const float* taps) {
  kernelInit(&tune->kernel, processor, scratch, tune, sizeof(Tune), (ExtKernelWork)&tuneWork);
  tune->in = in;
  tune->out = out;
  tune->outputs = outputs;
  memcpy(tune->taps, taps, sizeof tune->taps);
}

/* How far the phase turns from sample to sample: the imaginary part of their quotient. */
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out1;
  OStream* out2;
  OStream* out3;
  int outputs;
} Demodulate;

static void demodulateWork(Demodulate* demodulate) {
  Complex before, now;
  streamPop(demodulate->in, &before);
  for (int i = 0; i < demodulate->outputs; i++) {
    streamPop(demodulate->in, &now);
    const float power = before.re * before.re + before.im * before.im + 1e-9f;
    float turn = (before.re * now.im - before.im * now.re) / power;
    streamPushMulticast(&turn, demodulate->out1, demodulate->out2, demodulate->out3);
    before = now;
  }
}

static void demodulateInit(Demodulate* demodulate, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out1,
                           OStream* out2, OStream* out3, int outputs) {
  kernelInit(&demodulate->kernel, processor, scratch, demodulate, sizeof(Demodulate), (ExtKernelWork)&demodulateWork);
  demodulate->in = in;
  demodulate->out1 = out1;
  demodulate->out2 = out2;
  demodulate->out3 = out3;
  demodulate->outputs = outputs;
}

typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int outputs;
  float taps[TAPS];
} Band;

static void bandWork(Band* band) {
  float sample;
  for (int i = 0; i < band->outputs; i++) {
    float sum = 0;
    for (int t = 0; t < TAPS; t++) {
      streamPeek(band->in, t, &sample);
      sum += band->taps[t] * sample;
    }
    streamPush(band->out, &sum);
    streamPop(band->in, &sample);
  }
}

static void bandInit(Band* band, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out, int outputs,
                     const float* taps) {
  kernelInit(&band->kernel, processor, scratch, band, sizeof(Band), (ExtKernelWork)&bandWork);
  band->in = in;
  band->out = out;
  band->outputs = outputs;
  memcpy(band->taps, taps, sizeof band->taps);
}

typedef struct {
  Kernel kernel;
  IStream* in1;
  IStream* in2;
  IStream* in3;
  OStream* out;
  int outputs;
  float gain1, gain2, gain3;
} Mix;

static void mixWork(Mix* mix) {
  float low, middle, high, sum;
  for (int i = 0; i < mix->outputs; i++) {
    streamPop(mix->in1, &low);
    streamPop(mix->in2, &middle);
    streamPop(mix->in3, &high);
    sum = mix->gain1 * low + mix->gain2 * middle + mix->gain3 * high;
    streamPush(mix->out, &sum);
  }
}

static void mixInit(Mix* mix, VM_NODE_PROC processor, Block* scratch, IStream* in1, IStream* in2, IStream* in3,
                    OStream* out, int outputs, float gain1, float gain2, float gain3) {
  kernelInit(&mix->kernel, processor, scratch, mix, sizeof(Mix), (ExtKernelWork)&mixWork);
  mix->in1 = in1;
  mix->in2 = in2;
  mix->in3 = in3;
  mix->out = out;
  mix->outputs = outputs;
  mix->gain1 = gain1;
  mix->gain2 = gain2;
  mix->gain3 = gain3;
}

/* Coefficients that let pass what lies between two frequencies, in parts of the rate of samples: the difference of two
 * sinc functions under Hamming's window. */
static void bandPass(float* taps, double low, double high) {
  const double pi = 3.14159265358979323846;
  for (int t = 0; t < TAPS; t++) {
    const double x = t - (TAPS - 1) / 2.0;
    const double ideal = (sin(2 * pi * high * x) - sin(2 * pi * low * x)) / (pi * x);
    taps[t] = (float)(ideal * (0.54 - 0.46 * cos(2 * pi * t / (TAPS - 1))));
  }
}

#define BAND(i, processor, local, low, high)                                                                           \
  bandPass(taps, low, high);                                                                                           \
  streamInitRAM(&turns##i, local, 0, 64, 4, STREAM_UNALIASED_RAM);                                                     \
  streamInitFIFO(&band##i, FIFO##i, 4, 0);                                                                             \
  bandInit(&equalise##i, processor, NULL, &turns##i, &band##i, outputs, taps);                                         \
  kernelRun(&equalise##i.kernel);

int main(int argc, char** argv) {
  static Stream source, input, tuned, turns1, turns2, turns3, band1, band2, band3, mixed, result;
  static Tune tune;
  static Demodulate demodulate;
  static Band equalise1, equalise2, equalise3;
  static Mix mix;
  static Move feed, collect;

  if (argc != 1 && argc != 3)
    fail("usage: %s [SAMPLES.npy AUDIO.npy]", argv[0]);
  Array samples;
  if (argc > 1) {
    samples = readArray(argv[1], "<c8", 8, 1);
  } else {
    /* A tone of 1/500 of the rate. */
    double phase = 0;
    samples = newArray(8, 1, 40000, 1);
    for (long i = 0; i < samples.count; i++) {
      phase += 0.1 * sin(2 * 3.14159265358979323846 * (double)i / 500);
      ((Complex*)samples.data)[i].re = (float)cos(phase);
      ((Complex*)samples.data)[i].im = (float)sin(phase);
    }
  }
  const int n = (int)samples.count, thinned = n >= TAPS ? (n - TAPS) / THINNING + 1 : 0, turns = thinned - 1,
            outputs = turns - TAPS + 1, needed = (thinned - 1) * THINNING + TAPS;
  if (outputs < 1)
    fail("%d samples are needed at least", (TAPS + 1) * THINNING + TAPS - THINNING);
  const long space = roundedUp(8L * n, 64);
  needBytes("the global memory", space + 4L * outputs, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), samples.data, 8 * (size_t)n);

  float taps[TAPS];
  streamInitWithDataRAM(&source, GLOBALMEM1, 0, n, 8, n, FALSE, STREAM_NEVER_WRAPS);
  streamInitRAM(&input, LOCALMEM1, 0, 128, 8, STREAM_UNALIASED_RAM);
  streamInitRAM(&tuned, LOCALMEM2, ADDRESS(LOCALMEM, 1024), 64, 8, STREAM_UNALIASED_RAM);
  streamInitRAM(&mixed, LOCALMEM6, 0, 64, 4, STREAM_UNALIASED_RAM);
  streamInitRAM(&result, GLOBALMEM1, ADDRESS(GLOBALMEM, space), outputs, 4, STREAM_NEVER_WRAPS);

  moveInit(&feed, DMA1, &source, &input, needed, FALSE);
  kernelRun(&feed.kernel);
  bandPass(taps, 0, 0.1);
  tuneInit(&tune, PROC1, NULL, &input, &tuned, thinned, taps);
  kernelRun(&tune.kernel);
  BAND(1, PROC3, LOCALMEM3, 0, 0.05)
  BAND(2, PROC4, LOCALMEM4, 0.05, 0.15)
  BAND(3, PROC5, LOCALMEM5, 0.15, 0.3)
  demodulateInit(&demodulate, PROC2, NULL, &tuned, &turns1, &turns2, &turns3, turns);
  kernelRun(&demodulate.kernel);
  mixInit(&mix, PROC6, NULL, &band1, &band2, &band3, &mixed, outputs, 1.5f, 1.0f, 0.5f);
  kernelRun(&mix.kernel);
  moveInit(&collect, DMA1, &mixed, &result, outputs, FALSE);
  kernelRun(&collect.kernel);
  kernelWait(&collect.kernel);

  Array audio = newArray(4, 1, outputs, 1);
  memcpy(audio.data, svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, space)), 4 * (size_t)outputs);
  float loudest = 0;
  for (int i = 0; i < outputs; i++)
    if (((float*)audio.data)[i] > loudest)
      loudest = ((float*)audio.data)[i];
  printf("%d samples became %d; the loudest is %g\n", n, outputs, loudest);
  if (argc > 1)
    writeArray(argv[2], "<f4", 4, audio);
  free(audio.data);
  free(samples.data);
  return 0;
}
