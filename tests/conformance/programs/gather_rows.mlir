// Rows of a matrix that indices name, one of them twice: gathered, and scattered over another matrix.
// size: M=7 N=5 K=4
// A: in float32 (M, N) = np.arange(M * N).reshape(M, N)
// I: in int32 (K,) = [3, 0, 6, 3]
// J: in int64 (K,) = [1, 5, 0, 2]
// B: out float32 (K, N) = A[I]
// C: inout float32 (M, N) = -np.ones((M, N)) => np.array([A[I[list(J).index(r)]] if r in J else -np.ones(N) for r in range(M)])
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
!long = memref<?xi64, strided<[1], offset: ?>>
func.func @rows(%a: !rows {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                %j: !long {svm.name = "J", svm.access = "read"}, %b: !rows {svm.name = "B", svm.access = "write"},
                %c: !rows {svm.name = "C", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["M", "N", "K"],
                svm.extents = [affine_map<()[m, n, k] -> (m, n)>, affine_map<()[m, n, k] -> (k)>, affine_map<()[m, n, k] -> (k)>,
                               affine_map<()[m, n, k] -> (k, n)>, affine_map<()[m, n, k] -> (m, n)>]} {
  svm.gather %a[%i] to %b : !rows[!list] to !rows
  svm.scatter %b to %c[%j] : !rows to !rows[!long]
  return
}
