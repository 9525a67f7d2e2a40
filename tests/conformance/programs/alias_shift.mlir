// Kernels whose arguments may alias: one copies a part of an array to one that overlaps it, element by element, and one is
// given the same block twice.
// size: N=100
// A: inout float32 (N,) = np.arange(N) => np.arange(N) % 10 * 2
// d: scalar int64 = 10
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @shift(%x: !block {svm.access = "read", svm.name = "from"}, %y: !block {svm.access = "write", svm.name = "to"})
    attributes {may_alias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    memref.store %v, %y[%i] : !block
  }
  svm.return
}
svm.kernel @add(%x: !block {svm.access = "read"}, %y: !block {svm.access = "readwrite"}) attributes {may_alias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : !block
    %v = memref.load %y[%i] : !block
    %s = arith.addf %u, %v : f32
    memref.store %s, %y[%i] : !block
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
  svm.run @add(%a, %a) : (!block, !block) -> ()
  return
}
