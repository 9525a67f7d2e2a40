#include "camera.h"
#include <hpvm.h>

/* Each stage begins when the one before it has ended and has said how much there is. */
void camera(unsigned short* sensor, size_t sensorBytes, unsigned short* full, size_t fullBytes, unsigned short* clean,
            size_t cleanBytes, unsigned short* corrected, size_t correctedBytes, unsigned char* curve,
            size_t curveBytes, unsigned char* picture, size_t pictureBytes, long width, long height) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(5, sensor, full, clean, corrected, curve, 4, full, clean, corrected, picture);
  void* demosaics = __hpvm__createNodeND(2, demosaic, (size_t)width, (size_t)height);
  void* denoises = __hpvm__createNodeND(3, denoise, (size_t)channels, (size_t)width, (size_t)height);
  void* corrects = __hpvm__createNodeND(2, correct, (size_t)width, (size_t)height);
  void* tones = __hpvm__createNodeND(1, tone, (pictureBytes + 255) / 256 * 256);

  __hpvm__bindIn(demosaics, 0, 0, 0); /* sensor */
  __hpvm__bindIn(demosaics, 1, 1, 0);
  __hpvm__bindIn(demosaics, 2, 2, 0); /* full */
  __hpvm__bindIn(demosaics, 3, 3, 0);
  __hpvm__bindIn(demosaics, 12, 4, 0); /* width */
  __hpvm__bindIn(demosaics, 13, 5, 0); /* height */

  __hpvm__bindIn(denoises, 2, 0, 0); /* full */
  __hpvm__edge(demosaics, denoises, 1, 0, 1, 0);
  __hpvm__bindIn(denoises, 4, 2, 0); /* clean */
  __hpvm__bindIn(denoises, 5, 3, 0);
  __hpvm__bindIn(denoises, 12, 4, 0);
  __hpvm__bindIn(denoises, 13, 5, 0);

  __hpvm__bindIn(corrects, 4, 0, 0); /* clean */
  __hpvm__edge(denoises, corrects, 1, 0, 1, 0);
  __hpvm__bindIn(corrects, 6, 2, 0); /* corrected */
  __hpvm__bindIn(corrects, 7, 3, 0);
  __hpvm__bindIn(corrects, 12, 4, 0);

  __hpvm__bindIn(tones, 6, 0, 0); /* corrected */
  __hpvm__edge(corrects, tones, 1, 0, 1, 0);
  __hpvm__bindIn(tones, 8, 2, 0); /* curve */
  __hpvm__bindIn(tones, 9, 3, 0);
  __hpvm__bindIn(tones, 10, 4, 0); /* picture */
  __hpvm__bindIn(tones, 11, 5, 0);
  __hpvm__bindOut(tones, 0, 0, 0);
}
