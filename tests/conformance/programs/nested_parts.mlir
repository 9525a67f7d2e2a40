// Many parallel instances, each with runs beside it and parallel instances of its own: what one hands over, no other sees.
// size: N=64 M=40
// B: out int64 (N, M) = 1000 * np.arange(N)[:, None] + 3 * np.arange(M)
!item = memref<i64, strided<[], offset: ?>>
!block = memref<?x?xi64, strided<[?, 1], offset: ?>>
svm.kernel @set(%x: !item {svm.access = "write"}, %value: i64) {
  memref.store %value, %x[] : !item
  svm.return
}
svm.kernel @add(%x: !item {svm.access = "readwrite"}, %value: i64) {
  %v = memref.load %x[] : !item
  %w = arith.addi %v, %value : i64
  memref.store %w, %x[] : !item
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
  svm.parallel "rows" (%i) = (%c0) to (%n) {
    %i64 = arith.index_cast %i : index to i64
    %first = arith.muli %i64, %thousand : i64
    svm.parallel "columns" (%j) = (%c0) to (%m) {
      %j64 = arith.index_cast %j : index to i64
      %second = arith.muli %j64, %three : i64
      %at = memref.subview %b[%i, %j] [1, 1] [1, 1] : !block to !item
      %set = svm.run @set(%at, %first) : (!item, i64) -> !svm.token
      %add = svm.run @add(%at, %second) after(%set) : (!item, i64) -> !svm.token
      svm.wait %add
    }
  }
  return
}
