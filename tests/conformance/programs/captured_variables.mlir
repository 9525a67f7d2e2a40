// Parts capture variables and small blocks of the code that starts them: some read them, some write, also through a call.
// size: N=24
// A: in int64 (N,) = np.arange(N) * 7
// B: out int64 (N,) = 3 * A + 5 + np.where(np.arange(N) < 6, 100 * (np.arange(N) + 1), 0)
// x: inout int64 () = 4 => 4 + sum(100 * (i + 1) for i in range(6)) + 3
!item = memref<i64, strided<[], offset: ?>>
!vector = memref<?xi64, strided<[1], offset: ?>>
svm.kernel @scale(%in: !item {svm.access = "read"}, %by: i64, %plus: i64, %out: !item {svm.access = "write"}) {
  %v = memref.load %in[] : !item
  %w = arith.muli %v, %by : i64
  %r = arith.addi %w, %plus : i64
  memref.store %r, %out[] : !item
  svm.return
}
svm.kernel @add(%in: !item {svm.access = "read"}, %sum: !item {svm.access = "readwrite"}) {
  %v = memref.load %in[] : !item
  %s = memref.load %sum[] : !item
  %r = arith.addi %s, %v : i64
  memref.store %r, %sum[] : !item
  svm.return
}
svm.kernel @hundreds(%i: index, %out: !item {svm.access = "write"}) {
  %c1 = arith.constant 1 : index
  %hundred = arith.constant 100 : i64
  %j = arith.addi %i, %c1 : index
  %k = arith.index_cast %j : index to i64
  %v = arith.muli %k, %hundred : i64
  memref.store %v, %out[] : !item
  svm.return
}
func.func private @fill(%small: !vector {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  svm.parallel "fill" (%i) = (%c0) to (%c6) {
    %at = memref.subview %small[%i] [1] [1] : !vector to !item
    svm.run @hundreds(%i, %at) : (index, !item) -> ()
  }
  return
}
func.func @main(%a: !vector {svm.name = "A", svm.access = "read"}, %b: !vector {svm.name = "B", svm.access = "write"},
                %x: !item {svm.name = "x", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> ()>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %three = arith.constant 3 : i64
  %four = arith.constant 4 : i64
  %n = memref.dim %a, %c0 : !vector
  %by = memref.alloca() : memref<i64>
  %count = memref.alloca() : memref<i64>
  memref.store %three, %by[] : memref<i64>
  memref.store %four, %count[] : memref<i64>
  %zero = arith.constant 0 : i64
  // A variable that parts read, in parts of parts.
  svm.parallel "halves" (%h) = (%c0) to (%c2) {
    %half = arith.divui %n, %c2 : index
    %from = arith.muli %h, %half : index
    svm.parallel "items" (%i) = (%c0) to (%half) {
      %one = arith.constant 1 : i64
      %at = arith.addi %from, %i : index
      %factor = memref.load %by[] : memref<i64>
      %more = memref.load %count[] : memref<i64>
      %plus = arith.addi %more, %one : i64
      %in = memref.subview %a[%at] [1] [1] : !vector to !item
      %out = memref.subview %b[%at] [1] [1] : !vector to !item
      svm.run @scale(%in, %factor, %plus, %out) : (!item, i64, i64, !item) -> ()
    }
  }
  // A small block that parts write and the starter reads, by a call.
  %small = svm.block "small" (%c6) max [6] : !vector
  func.call @fill(%small) : (!vector) -> ()
  svm.parallel "sums" (%i) = (%c0) to (%c6) {
    %in = memref.subview %small[%i] [1] [1] : !vector to !item
    %out = memref.subview %b[%i] [1] [1] : !vector to !item
    svm.run @add(%in, %out) : (!item, !item) -> ()
  }
  scf.for %i = %c0 to %c6 step %c1 {
    %in = memref.subview %small[%i] [1] [1] : !vector to !item
    svm.run @add(%in, %x) : (!item, !item) -> ()
  }
  // A variable that one part writes.
  svm.parallel "once" (%i) = (%c0) to (%c1) {
    %old = memref.load %by[] : memref<i64>
    memref.store %old, %count[] : memref<i64>
  }
  %last = memref.load %count[] : memref<i64>
  %before = memref.load %x[] : !item
  %after = arith.addi %before, %last : i64
  memref.store %after, %x[] : !item
  return
}
