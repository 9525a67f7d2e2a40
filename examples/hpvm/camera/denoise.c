#include "camera.h"
#include <hpvm.h>

static long within(long i, long n) {
  return i < 0 ? 0 : i < n ? i : n - 1;
}

/* The median of three by three pixels, for one channel of one pixel. */
void denoise(unsigned short* noisy, size_t noisyBytes, unsigned short* clean, size_t cleanBytes, long width,
             long height) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, noisy, 1, clean);
  void* node = __hpvm__getNode();
  long c = __hpvm__getNodeInstanceID_x(node);
  long x = __hpvm__getNodeInstanceID_y(node);
  long y = __hpvm__getNodeInstanceID_z(node);
  unsigned short sorted[9];
  int count = 0;
  for (long v = y - 1; v <= y + 1; v++)
    for (long u = x - 1; u <= x + 1; u++) {
      unsigned short value = noisy[(within(v, height) * width + within(u, width)) * channels + c];
      int at = count++;
      for (; at > 0 && sorted[at - 1] > value; at--)
        sorted[at] = sorted[at - 1];
      sorted[at] = value;
    }
  clean[(y * width + x) * channels + c] = sorted[4];
  __hpvm__return(1, cleanBytes);
}
