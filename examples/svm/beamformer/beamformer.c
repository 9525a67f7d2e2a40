/* Listens in three directions with four sensors. Strided gathers take the sensors' samples apart; four processors
 * calibrate a sensor each and push to all beams; three processors delay and add the sensors for a beam each, and sum up
 * the power, which control code reads to find where the sound comes from. */
#include "../example.h"

enum { SENSORS = 4, BEAMS = 3, LONGEST = 15 };

typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* beam1;
  OStream* beam2;
  OStream* beam3;
  int length;
  float gain;
} Calibrate;

static void calibrateWork(Calibrate* calibrate) {
  for (int i = 0; i < calibrate->length; i++) {
    float sample;
    streamPop(calibrate->in, &sample);
    sample = sample * calibrate->gain;
    streamPushMulticast(&sample, calibrate->beam1, calibrate->beam2, calibrate->beam3);
  }
}

static void calibrateInit(Calibrate* calibrate, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* beam1,
                          OStream* beam2, OStream* beam3, int length, float gain) {
  kernelInit(&calibrate->kernel, processor, scratch, calibrate, sizeof(Calibrate), (ExtKernelWork)&calibrateWork);
  calibrate->in = in;
  calibrate->beam1 = beam1;
  calibrate->beam2 = beam2;
  calibrate->beam3 = beam3;
  calibrate->length = length;
  calibrate->gain = gain;
}

typedef struct {
  Kernel kernel;
  IStream* sensor1;
  IStream* sensor2;
  IStream* sensor3;
  IStream* sensor4;
  OStream* out;
  int length;
  int delay1, delay2, delay3, delay4; /* samples, at most LONGEST */
  float power;
} Beam;

static void beamWork(Beam* beam) {
  float a, b, c, d, sum;
  for (int i = 0; i + LONGEST < beam->length; i++) {
    streamPeek(beam->sensor1, beam->delay1, &a);
    streamPeek(beam->sensor2, beam->delay2, &b);
    streamPeek(beam->sensor3, beam->delay3, &c);
    streamPeek(beam->sensor4, beam->delay4, &d);
    sum = ((a + b) + (c + d)) * 0.25f;
    beam->power += sum * sum;
    streamPush(beam->out, &sum);
    streamPop(beam->sensor1, &a);
    streamPop(beam->sensor2, &b);
    streamPop(beam->sensor3, &c);
    streamPop(beam->sensor4, &d);
  }
  for (int i = 0; i < LONGEST; i++) {
    streamPop(beam->sensor1, &a);
    streamPop(beam->sensor2, &b);
    streamPop(beam->sensor3, &c);
    streamPop(beam->sensor4, &d);
  }
}

static void beamInit(Beam* beam, VM_NODE_PROC processor, Block* scratch, IStream* sensor1, IStream* sensor2,
                     IStream* sensor3, IStream* sensor4, OStream* out, int length, int delay1, int delay2, int delay3,
                     int delay4) {
  kernelInit(&beam->kernel, processor, scratch, beam, sizeof(Beam), (ExtKernelWork)&beamWork);
  beam->sensor1 = sensor1;
  beam->sensor2 = sensor2;
  beam->sensor3 = sensor3;
  beam->sensor4 = sensor4;
  beam->out = out;
  beam->length = length;
  beam->delay1 = delay1;
  beam->delay2 = delay2;
  beam->delay3 = delay3;
  beam->delay4 = delay4;
  beam->power = 0;
}

/* Stream b_s goes from sensor s to beam b. */
#define SENSOR(s, gain)                                                                                                \
  blockInit(&samples##s, GLOBALMEM1, ADDRESS(GLOBALMEM, 4 * (s - 1)), n* SENSORS - (s - 1), 4);                        \
  streamInitRAM(&sensor##s, LOCALMEM##s, 0, 64, 4, STREAM_UNALIASED_RAM);                                              \
  streamInitRAM(&to1_##s, LOCALMEM5, ADDRESS(LOCALMEM, s * 128), 32, 4, STREAM_UNALIASED_RAM);                         \
  streamInitRAM(&to2_##s, LOCALMEM6, ADDRESS(LOCALMEM, s * 128), 32, 4, STREAM_UNALIASED_RAM);                         \
  streamInitRAM(&to3_##s, LOCALMEM7, ADDRESS(LOCALMEM, s * 128), 32, 4, STREAM_UNALIASED_RAM);                         \
  stridedGatherInit(&gather##s, DMA1, &samples##s, &sensor##s, n, SENSORS, 1, FALSE);                                  \
  calibrateInit(&calibrate##s, PROC##s, NULL, &sensor##s, &to1_##s, &to2_##s, &to3_##s, n, gain);                      \
  kernelRun(&gather##s.kernel);                                                                                        \
  kernelRun(&calibrate##s.kernel);

#define BEAM(b, processor, local, delay1, delay2, delay3, delay4)                                                      \
  streamInitRAM(&beam##b, local, 0, 32, 4, STREAM_UNALIASED_RAM);                                                      \
  streamInitRAM(&row##b, GLOBALMEM1, ADDRESS(GLOBALMEM, space + (b - 1) * rowSpace), m, 4, STREAM_NEVER_WRAPS);        \
  beamInit(&former##b, processor, NULL, &to##b##_1, &to##b##_2, &to##b##_3, &to##b##_4, &beam##b, n, delay1, delay2,   \
           delay3, delay4);                                                                                            \
  moveInit(&collect##b, DMA2, &beam##b, &row##b, m, FALSE);                                                            \
  kernelRun(&former##b.kernel);                                                                                        \
  kernelRun(&collect##b.kernel);

int main(int argc, char** argv) {
  static Block samples1, samples2, samples3, samples4;
  static Stream sensor1, sensor2, sensor3, sensor4, beam1, beam2, beam3, row1, row2, row3;
  static Stream to1_1, to1_2, to1_3, to1_4, to2_1, to2_2, to2_3, to2_4, to3_1, to3_2, to3_3, to3_4;
  static StridedGather gather1, gather2, gather3, gather4;
  static Calibrate calibrate1, calibrate2, calibrate3, calibrate4;
  static Beam former1, former2, former3;
  static Move collect1, collect2, collect3;

  if (argc != 1 && argc != 3)
    fail("usage: %s [SAMPLES.npy BEAMS.npy]", argv[0]);
  Array samples;
  if (argc > 1) {
    samples = readArray(argv[1], "<f4", 4, 2);
    if (samples.shape[1] != SENSORS)
      fail("%s: has rows of %ld samples; %d are needed, one of each sensor", argv[1], samples.shape[1], SENSORS);
  } else {
    /* A sound that reaches each sensor three samples later than the one before. */
    samples = newArray(4, 2, 10000, SENSORS);
    for (long i = 0; i < samples.count; i++) {
      unsigned state = (unsigned)(i / SENSORS - i % SENSORS * 3 + 100) * 2654435761u;
      ((float*)samples.data)[i] = (float)nextNumber(&state) / 65536 - 0.5f;
    }
  }
  const int n = (int)samples.shape[0], m = n - LONGEST;
  if (m < 1)
    fail("more than %d samples are needed", LONGEST);
  const long space = roundedUp(4L * SENSORS * n, 64), rowSpace = roundedUp(4L * m, 64);
  needBytes("the global memory", space + BEAMS * rowSpace, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), samples.data, 4 * (size_t)samples.count);

  SENSOR(1, 1.0f)
  SENSOR(2, 1.25f)
  SENSOR(3, 0.75f)
  SENSOR(4, 1.0f)
  BEAM(1, PROC5, LOCALMEM5, 0, 0, 0, 0)
  BEAM(2, PROC6, LOCALMEM6, 0, 3, 6, 9)
  BEAM(3, PROC7, LOCALMEM7, 9, 6, 3, 0)
  kernelWaitMultiple(&former1.kernel, &former2.kernel, &former3.kernel, &collect1.kernel, &collect2.kernel,
                     &collect3.kernel);

  Array beams = newArray(4, 2, BEAMS, m);
  for (int i = 0; i < BEAMS; i++)
    memcpy((float*)beams.data + (long)i * m, svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, space + i * rowSpace)),
           4 * (size_t)m);
  const int loudest = former1.power >= former2.power && former1.power >= former3.power ? 1
                      : former2.power >= former3.power                                 ? 2
                                                                                       : 3;
  printf("%d samples of %d sensors; powers %g %g %g, so the sound is in beam %d\n", n, SENSORS,
         former1.power / (float)m, former2.power / (float)m, former3.power / (float)m, loudest);
  if (argc > 1)
    writeArray(argv[2], "<f4", 4, beams);
  free(beams.data);
  free(samples.data);
  return 0;
}
