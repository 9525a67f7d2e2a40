// Two tiles write one element, and nothing says which comes first.
// size: N=8
// B: out int32 (N,) = 0
// only: interpreter
// error: tile 5 writes element [3] of 'B', and tile 6 writes it
// error: check-race
#cut = #svm.dist<"l"[8] per 1, (i) -> (i) at (i) -> (0)>
!vector = memref<?xi32, strided<[1], offset: ?>>
!cut = memref<?xi32, strided<[1], offset: ?>, #cut>
svm.kernel @tile(%b: !cut {svm.access = "readwrite", svm.name = "B"}, %tile: index {svm.instance}) {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %i = arith.index_cast %tile : index to i32
  %late = arith.cmpi uge, %tile, %c5 : index
  %at = arith.select %late, %c3, %tile : index
  %mine = arith.cmpi ne, %tile, %c3 : index
  scf.if %mine {
    memref.store %i, %b[%at] : !cut
  }
  svm.return
}
func.func @main(%b: !vector {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %b, %c0 : !vector
  svm.scope "program" disjoint {
    %db = svm.block "B"(%n) : !cut
    svm.parallel "tiles" (%tile) = (%c0) to (%n) {
      svm.run @tile(%db, %tile) : (!cut, index) -> ()
    }
    svm.move %db to %b : !cut to !vector
  }
  return
}
