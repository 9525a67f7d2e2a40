// Single elements in an order that indices say, through blocks: A and the indices are copied before.
// size: N=1000 K=3000
// python: f = lambda K, N: (np.arange(K) * 7919 + 13) % N
// A: in float32 (N,) = np.arange(N) * 0.5
// I: in int32 (K,) = f(K, N)
// B: out float32 (K,) = A[I]
!block = memref<?xf32, strided<[1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @elements(%a: !block {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                    %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N", "K"],
                svm.extents = [affine_map<()[n, k] -> (n)>, affine_map<()[n, k] -> (k)>, affine_map<()[n, k] -> (k)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  %k = memref.dim %i, %c0 : !list
  svm.scope "copy" {
    %x = svm.block "x"(%n) max [1000] : !block
    %l = svm.block "l"(%k) max [3000] : !list
    %y = svm.block "y"(%k) max [3000] : !block
    svm.move %a to %x : !block to !block
    svm.move %i to %l : !list to !list
    svm.gather %x[%l] to %y : !block[!list] to !block
    svm.move %y to %b : !block to !block
  }
  return
}
