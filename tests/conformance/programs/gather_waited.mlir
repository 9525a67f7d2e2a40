// Moves and gathers in turn: one without a token that comes after others, and one that its region waits for.
// size: N=50
// A: in float32 (N,) = np.arange(N)
// I: in int32 (N,) = np.arange(N)[::-1]
// B: out float32 (N,) = A[::-1]
// C: out float32 (N,) = A
!block = memref<?xf32, strided<[1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @waited(%a: !block {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                  %b: !block {svm.name = "B", svm.access = "write"}, %c: !block {svm.name = "C", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  svm.scope "turns" {
    %x = svm.block "x"(%n) max [64] : !block
    %t0 = svm.move %a to %x : !block to !block -> !svm.token
    svm.gather %x[%i] to %b after(%t0) : !block[!list] to !block
    %t1 = svm.scatter %b to %c[%i] : !block to !block[!list] -> !svm.token
  }
  return
}
