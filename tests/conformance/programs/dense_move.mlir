// A block is copied whole, by way of another block.
// size: N=37
// A: in float32 (N,) = np.arange(N) / 8
// B: out float32 (N,) = A
!block = memref<?xf32, strided<[1], offset: ?>>
func.func @copy(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  svm.scope "copy" {
    %t = svm.block "t"(%n) : !block
    svm.move %a to %t : !block to !block
    svm.move %t to %b : !block to !block
  }
  return
}
