// Tiles that each wait for the one before: what it wrote before it set its flag is there.
// size: N=8192
// B: out int32 (N,) = np.cumsum(np.arange(N))
#cut = #svm.dist<"l"[8192] per 1, (i) -> (i) at (i) -> (0)>
!vector = memref<?xi32, strided<[1], offset: ?>>
!flags = memref<?xi32, strided<[1], offset: ?>, #cut>
svm.kernel @start(%flag: !flags {svm.access = "write", svm.name = "flag"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %flag, %c0 : !flags
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %flag[%i] : !flags
  }
  svm.return
}
svm.kernel @tile(%b: !flags {svm.access = "readwrite", svm.name = "B"}, %flag: !flags {svm.access = "readwrite", svm.name = "flag"},
                 %tile: index {svm.instance}) attributes {svm.shared} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = memref.dim %b, %c0 : !flags
  %other = arith.subi %tile, %c1 : index
  %first = arith.cmpi eq, %tile, %c0 : index
  %before = scf.if %first -> i32 {
    scf.yield %zero : i32
  } else {
    scf.while : () -> () {
      %set = memref.load %flag[%other] {svm.awaited} : !flags
      %wait = arith.cmpi eq, %set, %zero : i32
      scf.condition(%wait)
    } do {
      svm.pause
      scf.yield
    }
    svm.fence
    %v = memref.load %b[%other] : !flags
    scf.yield %v : i32
  }
  %i = arith.index_cast %tile : index to i32
  %sum = arith.addi %before, %i : i32
  memref.store %sum, %b[%tile] : !flags
  svm.fence
  memref.store %one, %flag[%tile] : !flags
  svm.return
}
func.func @main(%b: !vector {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %b, %c0 : !vector
  svm.scope "program" disjoint {
    %db = svm.block "B"(%n) : !flags
    %flag = svm.block "flag"(%n) : !flags
    svm.run @start(%flag) : (!flags) -> ()
    svm.parallel "tiles" (%tile) = (%c0) to (%n) concurrent {
      svm.run @tile(%db, %flag, %tile) : (!flags, !flags, index) -> ()
    }
    svm.move %db to %b : !flags to !vector
  }
  return
}
