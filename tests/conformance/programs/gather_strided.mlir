// Views with strides on every side: every second row from the third column on, every third index.
// size: M=8 N=9 K=7
// A: in float32 (M, N) = np.arange(M * N).reshape(M, N)
// I: in int32 (K,) = [3, 9, 9, 0, 9, 9, 2]
// B: inout float32 (M, N) = -np.ones((M, N)) => np.vstack([-np.ones((1, N))] + [np.append(A[::2][r, 2:], [-1, -1])[None] if r >= 0 else -np.ones((1, N)) for r in (3, -1, 0, -1, 2, -1)] + [-np.ones((1, N))])
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
!third = memref<?xi32, strided<[?], offset: ?>>
func.func @strided(%a: !rows {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                   %b: !rows {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["M", "N", "K"],
                svm.extents = [affine_map<()[m, n, k] -> (m, n)>, affine_map<()[m, n, k] -> (k)>, affine_map<()[m, n, k] -> (m, n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %m = memref.dim %a, %c0 : !rows
  %n = memref.dim %a, %c1 : !rows
  %half = arith.divui %m, %c2 : index
  %columns = arith.subi %n, %c2 : index
  %from = memref.subview %a[0, 2] [%half, %columns] [2, 1] : !rows to !rows
  %to = memref.subview %b[1, 0] [%c3, %columns] [2, 1] : !rows to !rows
  %picked = memref.subview %i[0] [%c3] [%c3] : !list to !third
  svm.gather %from[%picked] to %to : !rows[!third] to !rows
  return
}
