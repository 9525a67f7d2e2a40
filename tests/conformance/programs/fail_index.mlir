// An index in a kernel that is out of range is found before the access.
// size: N=8
// I: in int32 (N,) = [0, 1, 2, 3, 4, 5, 6, 8]
// A: inout float32 (N,) = np.zeros(N) => A
// error: index 8 of 'A' is outside dimension 0, which has 8 elements
!indices = memref<?xi32, strided<[1], offset: ?>>
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @mark(%i: !indices {svm.access = "read"}, %a: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %n = memref.dim %i, %c0 : !indices
  %extent = memref.dim %a, %c0 : !block
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %i[%k] : !indices
    %at = arith.index_cast %v : i32 to index
    svm.index %at in %extent of "A", 0
    memref.store %one, %a[%at] : !block
  }
  svm.return
}
func.func @marks(%i: !indices {svm.name = "I", svm.access = "read"}, %a: !block {svm.name = "A", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  svm.scope "mark" {
    %x = svm.block "x"(%n) max [64] : !indices
    %y = svm.block "y"(%n) max [64] : !block
    svm.move %i to %x : !indices to !indices
    svm.move %a to %y : !block to !block
    svm.run @mark(%x, %y) : (!indices, !block) -> ()
    svm.move %y to %a : !block to !block
  }
  return
}
