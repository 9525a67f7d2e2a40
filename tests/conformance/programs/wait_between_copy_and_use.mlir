// A run beside its starter waits for an element of a stream before it increases A; the starter copies A, pushes the element, waits, and
// then uses its copy.
// size: N=33
// A: inout float32 (N,) = np.arange(N) => A + 10
// B: out float32 (N,) = A
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @increase(%q: !svm.stream<f32>, %x: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step, %more = svm.pop %q : !svm.stream<f32> -> f32
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    %w = arith.addf %v, %step : f32
    memref.store %w, %x[%i] : !block
  }
  svm.return
}
svm.kernel @copy(%x: !block {svm.access = "read"}, %y: !block {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    memref.store %v, %y[%i] : !block
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"}, %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %ten = arith.constant 10.0 : f32
  %n = memref.dim %a, %c0 : !block
  %q = svm.stream "q"(%c4) : !svm.stream<f32>
  %done = svm.run @increase(%q, %a) : (!svm.stream<f32>, !block) -> !svm.token
  svm.scope "take" {
    %x = svm.block "x"(%n) max [64] : !block
    svm.move %a to %x : !block to !block
    svm.push %ten to %q : f32 to !svm.stream<f32>
    svm.wait %done
    svm.run @copy(%x, %b) : (!block, !block) -> ()
  }
  return
}
