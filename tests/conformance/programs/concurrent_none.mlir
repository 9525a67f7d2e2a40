// Concurrent loops of no iterations in one of two dimensions, and of so many in the other that no loop may have them:
// none is too many. Behind them one with some.
// size: N=32
// B: out int32 (N,) = 1
!row = memref<?xi32, strided<[1], offset: ?>>
func.func @f(%b: !row {svm.access = "write", svm.name = "B"}) attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = memref.dim %b, %c0 : !row
  %many = arith.shli %c1, %n : index
  svm.parallel "first" (%i, %j) = (%c0, %n) to (%many, %n) concurrent {
    memref.store %zero, %b[%c0] : !row
  }
  svm.parallel "second" (%i, %j) = (%many, %c0) to (%c0, %many) concurrent {
    memref.store %zero, %b[%c0] : !row
  }
  svm.parallel "third" (%i) = (%c0) to (%n) concurrent {
    memref.store %one, %b[%i] : !row
  }
  return
}
