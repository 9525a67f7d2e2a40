// A filter that looks two elements ahead; past the end of the stream there are zeros.
// size: N=100
// A: in float32 (N,) = np.arange(N)
// B: out float32 (N,) = A + np.append(A[1:], [0]) + np.append(A[2:], [0, 0])
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @produce(%x: !block {svm.access = "read"}, %q: !svm.stream<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    svm.push %v to %q : f32 to !svm.stream<f32>
  }
  svm.end %q : !svm.stream<f32>
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
svm.kernel @window(%q: !svm.stream<f32>, %r: !svm.stream<f32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.while : () -> () {
    %x1, %more1 = svm.peek %q[%c1] : !svm.stream<f32> -> f32
    %x2, %more2 = svm.peek %q[%c2] : !svm.stream<f32> -> f32
    %x0, %more0 = svm.pop %q : !svm.stream<f32> -> f32
    scf.if %more0 {
      %s = arith.addf %x0, %x1 : f32
      %t = arith.addf %s, %x2 : f32
      svm.push %t to %r : f32 to !svm.stream<f32>
    }
    scf.condition(%more0)
  } do {
    scf.yield
  }
  svm.end %r : !svm.stream<f32>
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  %c3 = arith.constant 3 : index
  svm.scope "filter" {
    %x = svm.block "x"(%n) max [256] : !block
    %y = svm.block "y"(%n) max [256] : !block
    %q = svm.stream "q"(%c3) : !svm.stream<f32>
    %r = svm.stream "r"(%c3) : !svm.stream<f32>
    svm.move %a to %x : !block to !block
    %t0 = svm.run @produce(%x, %q) : (!block, !svm.stream<f32>) -> !svm.token
    %t1 = svm.run @window(%q, %r) : (!svm.stream<f32>, !svm.stream<f32>) -> !svm.token
    %t2 = svm.run @consume(%r, %y) : (!svm.stream<f32>, !block) -> !svm.token
    svm.wait %t0, %t1, %t2
    svm.move %y to %b : !block to !block
  }
  return
}
