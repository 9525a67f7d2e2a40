/* A camera's pipeline: what the sensor sees, one colour a pixel, becomes a picture. Numbers are integers from 0 to
 * `white`, so that all ways to compute them agree. */
#ifndef CAMERA_H
#define CAMERA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { white = 1023, channels = 3 };

/* The channel that the sensor has at a place: red and green in even rows, green and blue in odd ones. */
static inline int channelAt(long x, long y) {
  return (int)(x % 2 + y % 2);
}

/* From the sensor's colours to the screen's, in parts of 256. */
static const int colours[channels][channels] = {{430, -150, -24}, {-60, 390, -74}, {-10, -160, 426}};

/* The four stages. Each gives the size of what it has written. */
void demosaic(unsigned short* sensor, size_t sensorBytes, unsigned short* full, size_t fullBytes, long width,
              long height);
void denoise(unsigned short* noisy, size_t noisyBytes, unsigned short* clean, size_t cleanBytes, long width,
             long height);
void correct(unsigned short* raw, size_t rawBytes, unsigned short* corrected, size_t correctedBytes, long width);
void tone(unsigned short* linear, size_t linearBytes, unsigned char* curve, size_t curveBytes, unsigned char* picture,
          size_t pictureBytes);

/* The graph of them. */
void camera(unsigned short* sensor, size_t sensorBytes, unsigned short* full, size_t fullBytes, unsigned short* clean,
            size_t cleanBytes, unsigned short* corrected, size_t correctedBytes, unsigned char* curve,
            size_t curveBytes, unsigned char* picture, size_t pictureBytes, long width, long height);

#ifdef __cplusplus
}
#endif

#endif
