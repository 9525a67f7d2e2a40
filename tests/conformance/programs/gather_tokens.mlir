// Beside their starter, ordered by tokens only: indices that a kernel writes, a gather after it, a kernel after that, and a scatter.
// size: N=64
// A: in float32 (N,) = np.arange(N)
// B: inout float32 (N,) = -np.ones(N) => 2 * A
!block = memref<?xf32, strided<[1], offset: ?>>
!long = memref<?xi64, strided<[1], offset: ?>>
svm.kernel @double(%x: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%i] : !block
  }
  svm.return
}
svm.kernel @backwards(%x: !long {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !long
  scf.for %i = %c0 to %n step %c1 {
    %l = arith.subi %n, %i : index
    %j = arith.subi %l, %c1 : index
    %v = arith.index_cast %j : index to i64
    memref.store %v, %x[%i] : !long
  }
  svm.return
}
func.func @beside(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  svm.scope "beside" {
    %i = svm.block "i"(%n) max [64] : !long
    %x = svm.block "x"(%n) max [64] : !block
    %t0 = svm.run @backwards(%i) : (!long) -> !svm.token
    %t1 = svm.gather %a[%i] to %x after(%t0) : !block[!long] to !block -> !svm.token
    %t2 = svm.run @double(%x) after(%t1) : (!block) -> !svm.token
    %t3 = svm.scatter %x to %b[%i] after(%t2, %t0) : !block to !block[!long] -> !svm.token
    svm.wait %t3
  }
  return
}
