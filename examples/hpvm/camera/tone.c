#include "camera.h"
#include <hpvm.h>

/* One byte of the picture, which a curve gives. Instances come in whole blocks. */
void tone(unsigned short* linear, size_t linearBytes, unsigned char* curve, size_t curveBytes, unsigned char* picture,
          size_t pictureBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, linear, curve, 1, picture);
  size_t i = (size_t)__hpvm__getNodeInstanceID_x(__hpvm__getNode());
  if (i < linearBytes / sizeof *linear)
    picture[i] = curve[linear[i]];
  __hpvm__return(1, pictureBytes);
}
