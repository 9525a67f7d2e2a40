// A parallel loop over chunks, each with blocks of its own that are filled, computed with and written back.
// size: N=100
// A: in float32 (N,) = np.arange(N)
// B: in float32 (N,) = np.arange(N) * 3
// C: out float32 (N,) = A + B
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @add(%x: !block {svm.access = "read"}, %y: !block {svm.access = "read"}, %z: !block {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !block
    %b = memref.load %y[%i] : !block
    %s = arith.addf %a, %b : f32
    memref.store %s, %z[%i] : !block
  }
  svm.return
}
func.func @vector_add(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "read"},
                      %c: !block {svm.name = "C", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %a, %c0 : !block
  %chunks = arith.ceildivui %n, %c16 : index
  svm.parallel "chunk" (%i) = (%c0) to (%chunks) {
    %begin = arith.muli %i, %c16 : index
    %left = arith.subi %n, %begin : index
    %size = arith.minui %left, %c16 : index
    svm.scope "add" disjoint {
      %x = svm.block "x"(%size) max [16] : !block
      %y = svm.block "y"(%size) max [16] : !block
      %z = svm.block "z"(%size) max [16] : !block
      %av = memref.subview %a[%begin] [%size] [1] : !block to !block
      %bv = memref.subview %b[%begin] [%size] [1] : !block to !block
      %cv = memref.subview %c[%begin] [%size] [1] : !block to !block
      svm.move %av to %x : !block to !block
      svm.move %bv to %y : !block to !block
      svm.run @add(%x, %y, %z) : (!block, !block, !block) -> ()
      svm.move %z to %cv : !block to !block
    }
  }
  return
}
