// Blocks of no elements, loops of no iterations.
// size: N=0
// A: in float32 (N,) = np.zeros(0)
// B: out float32 (N,) = A
// s: inout float32 () = 3 => 3
!block = memref<?xf32, strided<[1], offset: ?>>
!one = memref<f32, strided<[], offset: ?>>
svm.kernel @sum(%x: !one {svm.access = "read"}, %y: !one {svm.access = "readwrite"}) {
  %a = memref.load %x[] : !one
  %b = memref.load %y[] : !one
  %s = arith.addf %a, %b : f32
  memref.store %s, %y[] : !one
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"},
                %s: !one {svm.name = "s", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  svm.scope "copy" {
    %t = svm.block "t"(%n) max [64] : !block
    svm.move %a to %t : !block to !block
    svm.move %t to %b : !block to !block
  }
  svm.parallel "i" (%i) = (%c0) to (%n) reduce(%p = %s : !one with #svm.combiner<@sum, "combine">) {
    %v = memref.load %p[] : !one
    %w = arith.addf %v, %v : f32
    memref.store %w, %p[] : !one
  }
  return
}
