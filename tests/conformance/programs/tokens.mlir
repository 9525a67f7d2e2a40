// Runs and moves beside their starter, ordered by tokens only: two buffers are filled, doubled and written back in turn.
// size: N=40
// A: in float32 (N,) = np.arange(N)
// B: out float32 (N,) = 2 * A
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @double(%x: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%i] : !block
  }
  svm.return
}
func.func @pipeline(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %a, %c0 : !block
  %half = arith.divui %n, %c2 : index
  svm.scope "pipeline" {
    %x = svm.block "x"(%half) max [64] : !block
    %y = svm.block "y"(%half) max [64] : !block
    %a0 = memref.subview %a[0] [%half] [1] : !block to !block
    %a1 = memref.subview %a[%half] [%half] [1] : !block to !block
    %b0 = memref.subview %b[0] [%half] [1] : !block to !block
    %b1 = memref.subview %b[%half] [%half] [1] : !block to !block
    %m0 = svm.move %a0 to %x : !block to !block -> !svm.token
    %m1 = svm.move %a1 to %y : !block to !block -> !svm.token
    %r0 = svm.run @double(%x) after(%m0) : (!block) -> !svm.token
    %r1 = svm.run @double(%y) after(%m1) : (!block) -> !svm.token
    %w0 = svm.move %x to %b0 after(%r0) : !block to !block -> !svm.token
    %w1 = svm.move %y to %b1 after(%r1) : !block to !block -> !svm.token
    svm.wait %w0, %w1
  }
  return
}
