// Of equal indices the last one's element stays, and what no index names keeps its value.
// size: N=10 K=2500
// python: last = lambda A, I, B: [A[np.where(I == r)[0][-1]] if (I == r).any() else B[r] for r in range(len(B))]
// A: in float32 (K,) = np.arange(K)
// I: in int32 (K,) = (np.arange(K) * 7) % 9
// B: inout float32 (N,) = -np.arange(N) - 1 => last(A, I, B)
!block = memref<?xf32, strided<[1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @last(%a: !block {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                %b: !block {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N", "K"],
                svm.extents = [affine_map<()[n, k] -> (k)>, affine_map<()[n, k] -> (k)>, affine_map<()[n, k] -> (n)>]} {
  svm.scatter %a to %b[%i] : !block to !block[!list]
  return
}
