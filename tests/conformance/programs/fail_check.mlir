// A check that does not hold ends the program; its message has the value.
// size: N=7
// A: in float32 (N,) = np.zeros(N)
// error: 7 elements; the number has to be even
// error: conformance-even-size
!block = memref<?xf32, strided<[1], offset: ?>>
func.func @even(%a: !block {svm.name = "A", svm.access = "read"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %a, %c0 : !block
  %odd = arith.remui %n, %c2 : index
  %even = arith.cmpi eq, %odd, %c0 : index
  svm.check %even, "conformance-even-size", "{0} elements; the number has to be even" help "add one" (%n : index)
  return
}
