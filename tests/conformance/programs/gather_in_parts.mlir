// Each part of a parallel loop gathers its own rows and scatters them back doubled.
// size: N=24 M=6
// A: in float32 (N, M) = np.arange(N * M).reshape(N, M)
// I: in int32 (N,) = (np.arange(N) * 5) % N
// B: inout float32 (N, M) = -np.ones((N, M)) => A
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @parts(%a: !rows {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                 %b: !rows {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N", "M"],
                svm.extents = [affine_map<()[n, m] -> (n, m)>, affine_map<()[n, m] -> (n)>, affine_map<()[n, m] -> (n, m)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %a, %c0 : !rows
  %m = memref.dim %a, %c1 : !rows
  %parts = arith.divui %n, %c4 : index
  svm.parallel "part" (%p) = (%c0) to (%parts) {
    svm.scope "rows" {
      %x = svm.block "x"(%c4, %m) max [4, 6] : !rows
      %l = svm.block "l"(%c4) max [4] : !list
      %begin = arith.muli %p, %c4 : index
      %mine = memref.subview %i[%begin] [%c4] [1] : !list to !list
      svm.move %mine to %l : !list to !list
      %t = svm.gather %a[%l] to %x : !rows[!list] to !rows -> !svm.token
      svm.scatter %x to %b[%l] after(%t) : !rows to !rows[!list]
    }
  }
  return
}
