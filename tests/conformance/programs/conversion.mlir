// A real number is cut towards zero, up to the limits of the integer type.
// size: N=4
// A: in float64 (N,) = [0.5, -2147483648.5, 2147483647.75, -1.5]
// B: out int32 (N,) = [0, -2147483648, 2147483647, -1]
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
