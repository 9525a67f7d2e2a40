// The two sides of a move are parts of one array that overlap.
// size: N=100
// A: inout float32 (N,) = np.arange(N) => A
// d: scalar int64 = 1
// error: the two sides of a move share elements of 'A' | the source and the destination of a move overlap
// error: move-overlap
!block = memref<?xf32, strided<[1], offset: ?>>
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"}, %d: index {svm.name = "d"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> ()>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  %m = arith.subi %n, %d : index
  %u = memref.subview %a[0] [%m] [1] : !block to !block
  %v = memref.subview %a[%d] [%m] [1] : !block to !block
  svm.move %u to %v : !block to !block
  return
}
