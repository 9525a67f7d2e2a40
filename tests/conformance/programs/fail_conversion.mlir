// A real number that no integer of the type is near to is found before it becomes one.
// size: N=4
// A: in float64 (N,) = [0.5, -2147483648.5, 2147483647.75, 2147483648.0]
// B: out int32 (N,) = [0, 0, 0, 0]
// error: a real number beyond the limits of 32 bits becomes an integer
!reals = memref<?xf64, strided<[1], offset: ?>>
!vector = memref<?xi32, strided<[1], offset: ?>>
svm.kernel @cut(%a: !reals {svm.access = "read"}, %b: !vector {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : !reals
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : !reals
    %w = arith.fptosi %v : f64 to i32
    memref.store %w, %b[%i] : !vector
  }
  svm.return
}
func.func @main(%a: !reals {svm.name = "A", svm.access = "read"}, %b: !vector {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>]} {
  svm.run @cut(%a, %b) : (!reals, !vector) -> ()
  return
}
