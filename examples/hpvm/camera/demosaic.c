#include "camera.h"
#include <hpvm.h>

/* All three colours of one pixel: its own as it is, the others as means of those around it. */
void demosaic(unsigned short* sensor, size_t sensorBytes, unsigned short* full, size_t fullBytes, long width,
              long height) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, sensor, 1, full);
  void* node = __hpvm__getNode();
  long x = __hpvm__getNodeInstanceID_x(node);
  long y = __hpvm__getNodeInstanceID_y(node);
  int sum[channels] = {0, 0, 0}, count[channels] = {0, 0, 0};
  for (long v = y - 1; v <= y + 1; v++)
    for (long u = x - 1; u <= x + 1; u++)
      if (u >= 0 && u < width && v >= 0 && v < height) {
        sum[channelAt(u, v)] += sensor[v * width + u];
        count[channelAt(u, v)]++;
      }
  for (int c = 0; c < channels; c++) {
    int mean = count[c] > 0 ? (sum[c] + count[c] / 2) / count[c] : 0;
    full[(y * width + x) * channels + c] = c == channelAt(x, y) ? sensor[y * width + x] : (unsigned short)mean;
  }
  __hpvm__return(1, fullBytes);
}
