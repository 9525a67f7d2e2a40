/* The leaf of product_extern.sq: three loops, an element of C after the other. */
#include "sequoia_ext.h"

void Product_Rows(sqArray_t* C, sqArray_t* A, sqArray_t* B) {
  for (long i = 0; i < (long)C->numElmts[0]; i++)
    for (long j = 0; j < (long)C->numElmts[1]; j++) {
      float sum = *sqElmtSpec2D(Product_Rows, C, i, j);
      for (long k = 0; k < (long)A->numElmts[1]; k++)
        sum += *sqElmtSpec2D(Product_Rows, A, i, k) * *sqElmtSpec2D(Product_Rows, B, k, j);
      *sqElmtSpec2D(Product_Rows, C, i, j) = sum;
    }
}
