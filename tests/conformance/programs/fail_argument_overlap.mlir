// A kernel gets two parts of one array that overlap, and writes one.
// size: N=100
// A: inout float32 (N,) = np.arange(N) => A
// d: scalar int64 = 99 - 89
// error: 'from' and 'to' of 'shift' share elements of 'A' | error[interpret-argument-overlap]: two arguments of 'shift' overlap
// error: argument-overlap
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @shift(%x: !block {svm.access = "read", svm.name = "from"}, %y: !block {svm.access = "write", svm.name = "to"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    memref.store %v, %y[%i] : !block
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"}, %d: index {svm.name = "d"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> ()>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  %m = arith.subi %n, %d : index
  %u = memref.subview %a[0] [%m] [1] : !block to !block
  %v = memref.subview %a[%d] [%m] [1] : !block to !block
  svm.run @shift(%u, %v) : (!block, !block) -> ()
  return
}
