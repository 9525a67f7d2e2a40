// A consumer of a stream that nobody feeds: found at once.
// size: N=4
// A: in float32 (N,) = np.arange(N)
// B: out float32 (N,) = A
// error: deadlock | cannot go on
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @consume(%q: !svm.stream<f32>, %y: !block {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.while (%i = %c0) : (index) -> (index) {
    %v, %more = svm.pop %q : !svm.stream<f32> -> f32
    scf.if %more {
      memref.store %v, %y[%i] : !block
    }
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  %c2 = arith.constant 2 : index
  svm.scope "wait" {
    %y = svm.block "y"(%n) max [256] : !block
    %q = svm.stream "q"(%c2) : !svm.stream<f32>
    svm.run @consume(%q, %y) : (!svm.stream<f32>, !block) -> ()
    svm.move %y to %b : !block to !block
  }
  return
}
