// Arrays over the memories of tiles: cut in one and in two dimensions, cyclic, and whole for everybody; each tile works on
// what it holds, and reads what its neighbour holds.
// size: N=24 M=10
// A: in int32 (N, M) = np.arange(N * M).reshape(N, M)
// B: inout int32 (N,) = 100 * np.arange(N) => 100 * np.arange(N) + A.sum(axis=1) + 7
// C: out int32 (N, M) = 2 * np.roll(A, -1, axis=0)
#rows = #svm.dist<"l"[4] per 1, (i, j) -> (i floordiv 6) at (i, j) -> ((i mod 6) * 10 + j)>
#block = #svm.dist<"l"[4] per 1, (i, j) -> ((i floordiv 12) * 2 + j floordiv 5) at (i, j) -> ((i mod 12) * 5 + j mod 5)>
#dealt = #svm.dist<"l"[4] per 1, (i) -> (i mod 4) at (i) -> (i floordiv 4)>
#copies = #svm.dist<"l"[4] per 1, () -> () at () -> (0)>
!vector = memref<?xi32, strided<[1], offset: ?>>
!matrix = memref<?x?xi32, strided<[?, 1], offset: ?>>
!a = memref<?x?xi32, strided<[?, 1], offset: ?>, #rows>
!b = memref<?xi32, strided<[1], offset: ?>, #dealt>
!c = memref<?x?xi32, strided<[?, 1], offset: ?>, #block>
!seven = memref<i32, strided<[], offset: ?>, #copies>
svm.kernel @start(%seven: !seven {svm.access = "write", svm.name = "seven"}) {
  %c7 = arith.constant 7 : i32
  memref.store %c7, %seven[] : !seven
  svm.return
}
svm.kernel @tile(%a: !a {svm.access = "read", svm.name = "A"}, %b: !b {svm.access = "readwrite", svm.name = "B"},
                 %c: !c {svm.access = "write", svm.name = "C"}, %seven: !seven {svm.access = "read", svm.name = "seven"},
                 %tile: index {svm.instance}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : i32
  %n = memref.dim %a, %c0 : !a
  %m = memref.dim %a, %c1 : !a
  %more = memref.load %seven[] : !seven
  scf.for %i = %tile to %n step %c4 {
    %first = memref.load %b[%i] : !b
    %begin = arith.addi %first, %more : i32
    %next = arith.addi %i, %c1 : index
    %other = arith.remui %next, %n : index
    %sum = scf.for %j = %c0 to %m step %c1 iter_args(%so = %begin) -> i32 {
      %v = memref.load %a[%i, %j] : !a
      %w = memref.load %a[%other, %j] : !a
      %twice = arith.muli %w, %c2 : i32
      memref.store %twice, %c[%i, %j] : !c
      %new = arith.addi %so, %v : i32
      scf.yield %new : i32
    }
    memref.store %sum, %b[%i] : !b
  }
  svm.return
}
func.func @main(%a: !matrix {svm.name = "A", svm.access = "read"}, %b: !vector {svm.name = "B", svm.access = "readwrite"},
                %c: !matrix {svm.name = "C", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N", "M"],
                svm.extents = [affine_map<()[n, m] -> (n, m)>, affine_map<()[n, m] -> (n)>, affine_map<()[n, m] -> (n, m)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %a, %c0 : !matrix
  %m = memref.dim %a, %c1 : !matrix
  svm.scope "program" disjoint {
    %da = svm.block "A"(%n, %m) : !a
    %db = svm.block "B"(%n) : !b
    %dc = svm.block "C"(%n, %m) : !c
    %seven = svm.block "seven"() : !seven
    svm.move %a to %da : !matrix to !a
    svm.move %b to %db : !vector to !b
    svm.run @start(%seven) : (!seven) -> ()
    svm.parallel "tiles" (%tile) = (%c0) to (%c4) {
      svm.run @tile(%da, %db, %dc, %seven, %tile) : (!a, !b, !c, !seven, index) -> ()
    }
    svm.move %db to %b : !b to !vector
    svm.move %dc to %c : !c to !matrix
  }
  return
}
