// Iterations that a kernel's loop says are parallel, of which each reads what the one before it writes.
// size: N=8
// A: inout int32 (N,) = 0 => 0
// only: interpreter
// error: check-iteration-overlap
!row = memref<?xi32, strided<[1], offset: ?>>
svm.kernel @shift(%a: !row {svm.access = "readwrite", svm.name = "A"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.subi %n, %c1 : index
  scf.for %i = %c0 to %m step %c1 {
    %x = memref.load %a[%i] : !row
    %next = arith.addi %i, %c1 : index
    memref.store %x, %a[%next] : !row
  } {svm.unordered}
  svm.return
}
func.func @main(%a: !row {svm.name = "A", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !row
  svm.run @shift(%a, %n) : (!row, index) -> ()
  return
}
