// A loop of two dimensions in a grid of parts, block-cyclic in one of them, and a reduction over another such loop.
// size: N=7 M=13
// A: in int32 (N, M) = np.arange(N * M).reshape(N, M) * 3
// B: out int32 (N, M) = A + 1
// s: inout int64 () = 5 => 5 + A.sum()
!two = memref<?x?xi32, strided<[?, 1], offset: ?>>
!cell = memref<i32, strided<[], offset: ?>>
!sum = memref<i64, strided<[], offset: ?>>
module attributes {svm.machine = "cell", svm.mapping = {main = {
    control = "ppe", arguments = ["main", "main", "main"], blocks = {x = "ls", y = "ls", z = "ls", t = "ls"},
    loops = {cells = {on = "spe", parts = [3, 2], chunk = [1, 2]}, sums = {on = "spe", parts = [2, 4], in = "ls"}}}}} {
svm.kernel @more(%a: !cell {svm.access = "read"}, %b: !cell {svm.access = "write"}) {
  %one = arith.constant 1 : i32
  %x = memref.load %a[] : !cell
  %y = arith.addi %x, %one : i32
  memref.store %y, %b[] : !cell
  svm.return
}
svm.kernel @take(%a: !cell {svm.access = "read"}, %s: !sum {svm.access = "readwrite"}) {
  %x = memref.load %a[] : !cell
  %long = arith.extsi %x : i32 to i64
  %old = memref.load %s[] : !sum
  %new = arith.addi %old, %long : i64
  memref.store %new, %s[] : !sum
  svm.return
}
svm.kernel @plus(%a: !sum {svm.access = "read"}, %b: !sum {svm.access = "readwrite"}) {
  %x = memref.load %a[] : !sum
  %y = memref.load %b[] : !sum
  %z = arith.addi %x, %y : i64
  memref.store %z, %b[] : !sum
  svm.return
}
func.func @main(%a: !two {svm.name = "A", svm.access = "read"}, %b: !two {svm.name = "B", svm.access = "write"},
                %s: !sum {svm.name = "s", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N", "M"],
                svm.extents = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> ()>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : !two
  %m = memref.dim %a, %c1 : !two
  svm.parallel "cells" (%i, %j) = (%c0, %c0) to (%n, %m) {
    svm.scope "more" disjoint {
      %from = memref.subview %a[%i, %j] [1, 1] [1, 1] : !two to !cell
      %to = memref.subview %b[%i, %j] [1, 1] [1, 1] : !two to !cell
      %x = svm.block "x"() : !cell
      %y = svm.block "y"() : !cell
      svm.move %from to %x : !cell to !cell
      svm.run @more(%x, %y) : (!cell, !cell) -> ()
      svm.move %y to %to : !cell to !cell
    }
  }
  svm.parallel "sums" (%i, %j) = (%c0, %c0) to (%n, %m) reduce(%p = %s : !sum with #svm.combiner<@plus, "combine">) {
    svm.scope "take" {
      %from = memref.subview %a[%i, %j] [1, 1] [1, 1] : !two to !cell
      %z = svm.block "z"() : !cell
      %t = svm.block "t"() : !sum
      svm.move %from to %z : !cell to !cell
      svm.move %p to %t : !sum to !sum
      svm.run @take(%z, %t) : (!cell, !sum) -> ()
      svm.move %t to %p : !sum to !sum
    }
  }
  return
}
}
