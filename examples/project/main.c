/* Smooths an image with the entry point that Strata compiled from smooth.sq, and shows what happens when an array has the
 * wrong size: the handler jumps back here, and the next call works. */
#include "smooth.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static char told[256];

static void remember(const char *code, const char *message) {
  snprintf(told, sizeof told, "%s: %s", code, message);
  if (!sqIsFatal())
    longjmp(back, 1);
}

int main(int argc, char **argv) {
  const sqSize_t height = argc > 1 ? strtoul(argv[1], NULL, 10) : 480, width = argc > 2 ? strtoul(argv[2], NULL, 10) : 640;
  sqArray_t *image = sqAllocArray2D(sizeof(float), height, width + 2);
  sqArray_t *smooth = sqAllocArray2D(sizeof(float), height, width);
  for (sqSize_t i = 0; i < height; ++i) {
    float *row = sqElmt2D(image, i, 0);
    for (sqSize_t j = 0; j < width + 2; ++j)
      row[j] = (float)((i * 7 + j * 13) % 256);
  }

  sqSetErrorHandler(remember);
  if (setjmp(back) == 0)
    smooth_image(image, image); /* one of the two is to be smaller */
  printf("refused: %s\n", told);

  if (setjmp(back) != 0) {
    fprintf(stderr, "%s\n", told);
    return 1;
  }
  smooth_image(image, smooth);
  for (sqSize_t i = 0; i < height; ++i) {
    const float *from = sqElmt2D(image, i, 0), *to = sqElmt2D(smooth, i, 0);
    for (sqSize_t j = 0; j < width; ++j)
      if (fabsf(to[j] - (from[j] + from[j + 1] + from[j + 2]) / 3) > 1e-3f) {
        fprintf(stderr, "pixel %lu, %lu is wrong\n", i, j);
        return 1;
      }
  }
  printf("smoothed %lu x %lu pixels\n", height, width);
  sqFreeArray(image);
  sqFreeArray(smooth);
  return 0;
}
