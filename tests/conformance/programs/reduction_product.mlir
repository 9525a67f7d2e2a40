// A reduction of the rows of a matrix into a vector by product.
// size: M=23 N=6
// A: in int32 (M, N) = (np.arange(M * N) % 2 + 1).reshape(M, N)
// R: inout int32 (N,) = np.full(N, 1) => 1 * np.multiply.reduce(A, axis=0)
!row = memref<?xi32, strided<[1], offset: ?>>
!block = memref<?x?xi32, strided<[?, 1], offset: ?>>
svm.kernel @combine(%x: !row {svm.access = "read"}, %y: !row {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !row
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !row
    %b = memref.load %y[%i] : !row
    %r = arith.muli %a, %b : i32
    memref.store %r, %y[%i] : !row
  }
  svm.return
}
func.func @reduce(%a: !block {svm.name = "A", svm.access = "read"}, %r: !row {svm.name = "R", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["M", "N"],
                svm.extents = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s1)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !block
  %n = memref.dim %a, %c1 : !block
  svm.parallel "row" (%i) = (%c0) to (%m) reduce(%p = %r : !row with #svm.combiner<@combine, "combine">) {
    svm.scope "step" {
      %x = svm.block "x"(%n) max [64] : !row
      %y = svm.block "y"(%n) max [64] : !row
      %v = memref.subview %a[%i, 0] [1, %n] [1, 1] : !block to !row
      svm.move %v to %x : !row to !row
      svm.move %p to %y : !row to !row
      svm.run @combine(%x, %y) : (!row, !row) -> ()
      svm.move %y to %p : !row to !row
    }
  }
  return
}
