// A scatter with an index before the first part, beside its starter.
// size: N=7 K=4
// A: inout float32 (N,) = np.arange(N) => A
// I: in int32 (K,) = [0, 6, -1, 3]
// B: inout float32 (K,) = np.arange(K) => B
// error: index -1, number 2 of 'I', is outside dimension 0 of 'A', which has 7 elements
!block = memref<?xf32, strided<[1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @outside(%a: !block {svm.name = "A", svm.access = "readwrite"}, %i: !list {svm.name = "I", svm.access = "read"},
                   %b: !block {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N", "K"],
                svm.extents = [affine_map<()[n, k] -> (n)>, affine_map<()[n, k] -> (k)>, affine_map<()[n, k] -> (k)>]} {
  %t = svm.scatter %b to %a[%i] : !block to !block[!list] -> !svm.token
  return
}
