// Many parallel instances, each with runs beside it and parallel instances of its own: what one hands over, no other sees.
// size: N=64 M=40
// B: out int64 (N, M) = 1000 * np.arange(N)[:, None] + 3 * np.arange(M)
!row = memref<?xi64, strided<[1], offset: ?>>
!block = memref<?x?xi64, strided<[?, 1], offset: ?>>
svm.kernel @set(%x: !row {svm.access = "write"}, %value: i64) {
  %c0 = arith.constant 0 : index
  memref.store %value, %x[%c0] : !row
  svm.return
}
svm.kernel @add(%x: !row {svm.access = "readwrite"}, %value: i64) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : !row
  %w = arith.addi %v, %value : i64
  memref.store %w, %x[%c0] : !row
  svm.return
}
func.func @fill(%b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N", "M"], svm.extents = [affine_map<()[s0, s1] -> (s0, s1)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %thousand = arith.constant 1000 : i64
  %three = arith.constant 3 : i64
  %n = memref.dim %b, %c0 : !block
  %m = memref.dim %b, %c1 : !block
  svm.spmd "rows" (%i) = (%c0) to (%n) {
    %i64 = arith.index_cast %i : index to i64
    %first = arith.muli %i64, %thousand : i64
    svm.spmd "columns" (%j) = (%c0) to (%m) {
      %j64 = arith.index_cast %j : index to i64
      %second = arith.muli %j64, %three : i64
      %at = memref.subview %b[%i, %j] [1, 1] [1, 1] : !block to !row
      %set = svm.run @set(%at, %first) : (!row, i64) -> !svm.token
      %add = svm.run @add(%at, %second) after(%set) : (!row, i64) -> !svm.token
      svm.wait %add
    }
  }
  return
}
