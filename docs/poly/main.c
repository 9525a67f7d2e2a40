#include "poly.h"

#include <stdio.h>

int main(void)
{
  sqArray_t *c = sqAllocArray1D(sizeof(float), 3), *x = sqAllocArray1D(sizeof(float), 1000),
            *y = sqAllocArray1D(sizeof(float), 1000);
  for (int d = 0; d < 3; d++)
    *(float *)sqElmt1D(c, d) = d + 1;
  for (int i = 0; i < 1000; i++)
    *(float *)sqElmt1D(x, i) = i;
  Poly_Split(c, x, y);
  printf("%g\n", *(float *)sqElmt1D(y, 10));
  sqFreeArray(c);
  sqFreeArray(x);
  sqFreeArray(y);
}
