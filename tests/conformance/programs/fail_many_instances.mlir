// A concurrent loop of more instances than there may be, in two dimensions whose product leaves 64 bits: the loop is an
// error before any is started.
// size: N=32
// B: out int32 (N,) = 0
// error: [too-many-instances] | error: a concurrent loop
// error: more than 2147483648 instances
!row = memref<?xi32, strided<[1], offset: ?>>
func.func @f(%b: !row {svm.access = "write", svm.name = "B"}) attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %b, %c0 : !row
  %many = arith.shli %c1, %n : index
  svm.parallel "cells" (%i, %j) = (%c0, %c0) to (%many, %many) concurrent {
    memref.store %one, %b[%c0] : !row
  }
  return
}
