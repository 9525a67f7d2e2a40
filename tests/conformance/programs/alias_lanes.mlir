// A loop around another would run in vector lanes, did its kernel not say that its arguments may alias: each iteration reads
// what the one before has written.
// size: N=50
// python: from itertools import accumulate
// A: inout int64 (N,) = np.arange(N) => list(accumulate(range(N), lambda before, own: own + 2 * before))
!block = memref<?xi64, strided<[1], offset: ?>>
svm.kernel @twice(%x: !block {svm.access = "read"}, %y: !block {svm.access = "readwrite"}) attributes {may_alias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %y, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      %u = memref.load %x[%i] : !block
      %v = memref.load %y[%i] : !block
      %s = arith.addi %u, %v : i64
      memref.store %s, %y[%i] : !block
    }
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : !block
  %m = arith.subi %n, %c1 : index
  %u = memref.subview %a[0] [%m] [1] : !block to !block
  %v = memref.subview %a[1] [%m] [1] : !block to !block
  svm.run @twice(%u, %v) : (!block, !block) -> ()
  return
}
