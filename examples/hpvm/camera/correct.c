#include "camera.h"
#include <hpvm.h>

/* The screen's colours of one pixel. */
void correct(unsigned short* raw, size_t rawBytes, unsigned short* corrected, size_t correctedBytes, long width) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, raw, 1, corrected);
  void* node = __hpvm__getNode();
  long at = (__hpvm__getNodeInstanceID_y(node) * width + __hpvm__getNodeInstanceID_x(node)) * channels;
  for (int c = 0; c < channels; c++) {
    int sum = 128;
    for (int d = 0; d < channels; d++)
      sum += colours[c][d] * raw[at + d];
    sum >>= 8;
    corrected[at + c] = (unsigned short)(sum < 0 ? 0 : sum > white ? white : sum);
  }
  __hpvm__return(1, correctedBytes);
}
