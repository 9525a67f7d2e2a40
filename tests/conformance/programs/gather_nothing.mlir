// No indices; and indices of rows that have no elements.
// size: N=6 K=3
// A: in float32 (N, N) = np.arange(N * N).reshape(N, N)
// I: in int32 (K,) = [5, 0, 5]
// B: inout float32 (N, N) = -np.ones((N, N)) => -np.ones((N, N))
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @nothing(%a: !rows {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                   %b: !rows {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N", "K"],
                svm.extents = [affine_map<()[n, k] -> (n, n)>, affine_map<()[n, k] -> (k)>, affine_map<()[n, k] -> (n, n)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !rows
  %k = memref.dim %i, %c0 : !list
  %none = memref.subview %i[0] [%c0] [1] : !list to !list
  %noRows = memref.subview %b[0, 0] [%c0, %n] [1, 1] : !rows to !rows
  svm.gather %a[%none] to %noRows : !rows[!list] to !rows
  svm.scatter %noRows to %b[%none] : !rows to !rows[!list]
  %thin = memref.subview %a[0, 0] [%n, %c0] [1, 1] : !rows to !rows
  %few = memref.subview %b[0, 0] [%k, %c0] [1, 1] : !rows to !rows
  svm.gather %thin[%i] to %few : !rows[!list] to !rows
  return
}
