// One producer, three consumers: every one gets every element.
// size: N=50
// A: in float32 (N,) = np.arange(N)
// B: out float32 (N,) = A
// C: out float32 (N,) = A
// D: out float32 (N,) = A
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @produce(%x: !block {svm.access = "read"}, %q: !svm.stream<f32>, %r: !svm.stream<f32>, %s: !svm.stream<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    svm.push %v to %q, %r, %s : f32 to !svm.stream<f32>, !svm.stream<f32>, !svm.stream<f32>
  }
  svm.end %q : !svm.stream<f32>
  svm.end %r : !svm.stream<f32>
  svm.end %s : !svm.stream<f32>
  svm.return
}
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
func.func @main(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"}, %c: !block {svm.name = "C", svm.access = "write"}, %d: !block {svm.name = "D", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  svm.scope "fan" {
    %x = svm.block "x"(%n) max [256] : !block
    %y0 = svm.block "y0"(%n) max [256] : !block
    %y1 = svm.block "y1"(%n) max [256] : !block
    %y2 = svm.block "y2"(%n) max [256] : !block
    %q = svm.stream "q"(%c2) : !svm.stream<f32>
    %r = svm.stream "r"(%c5) : !svm.stream<f32>
    %s = svm.stream "s"(%c2) : !svm.stream<f32>
    svm.move %a to %x : !block to !block
    %p = svm.run @produce(%x, %q, %r, %s) : (!block, !svm.stream<f32>, !svm.stream<f32>, !svm.stream<f32>) -> !svm.token
    %t0 = svm.run @consume(%q, %y0) : (!svm.stream<f32>, !block) -> !svm.token
    %t1 = svm.run @consume(%r, %y1) : (!svm.stream<f32>, !block) -> !svm.token
    %t2 = svm.run @consume(%s, %y2) : (!svm.stream<f32>, !block) -> !svm.token
    svm.wait %p, %t0, %t1, %t2
    svm.move %y0 to %b : !block to !block
    svm.move %y1 to %c : !block to !block
    svm.move %y2 to %d : !block to !block
  }
  return
}
