// Dot product: a parallel loop with one reduction, which has a value before the loop.
// size: N=1000
// A: in float32 (N,) = np.arange(N) % 5
// B: in float32 (N,) = np.arange(N) % 3
// s: inout float32 () = 10 => 10 + (A * B).sum()
!block = memref<?xf32, strided<[1], offset: ?>>
!one = memref<f32, strided<[], offset: ?>>
svm.kernel @dot(%x: !block {svm.access = "read"}, %y: !block {svm.access = "read"}, %s: !one {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !block
    %b = memref.load %y[%i] : !block
    %p = arith.mulf %a, %b : f32
    %old = memref.load %s[] : !one
    %new = arith.addf %old, %p : f32
    memref.store %new, %s[] : !one
  }
  svm.return
}
svm.kernel @sum(%x: !one {svm.access = "read"}, %y: !one {svm.access = "readwrite"}) {
  %a = memref.load %x[] : !one
  %b = memref.load %y[] : !one
  %s = arith.addf %a, %b : f32
  memref.store %s, %y[] : !one
  svm.return
}
func.func @product(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "read"},
                   %s: !one {svm.name = "s", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %a, %c0 : !block
  %chunks = arith.ceildivui %n, %c64 : index
  svm.parallel "i" (%i) = (%c0) to (%chunks) reduce(%p = %s : !one with #svm.combiner<@sum, "combine">) {
    %begin = arith.muli %i, %c64 : index
    %left = arith.subi %n, %begin : index
    %size = arith.minui %left, %c64 : index
    svm.scope "dot" {
      %x = svm.block "x"(%size) max [64] : !block
      %y = svm.block "y"(%size) max [64] : !block
      %t = svm.block "t"() : !one
      %av = memref.subview %a[%begin] [%size] [1] : !block to !block
      %bv = memref.subview %b[%begin] [%size] [1] : !block to !block
      svm.move %av to %x : !block to !block
      svm.move %bv to %y : !block to !block
      svm.move %p to %t : !one to !one
      svm.run @dot(%x, %y, %t) : (!block, !block, !one) -> ()
      svm.move %t to %p : !one to !one
    }
  }
  return
}
