// Two concurrent instances joined by a stream: both have to make progress.
// size: N=120
// A: in float32 (N,) = np.arange(N)
// B: out float32 (N,) = A
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
func.func @main(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %q = svm.stream "q"(%c2) : !svm.stream<f32>
  svm.parallel "side" (%i) = (%c0) to (%c2) concurrent {
    %second = arith.cmpi eq, %i, %c0 : index
    scf.if %second {
      svm.scope "take" {
        %y = svm.block "y"(%n) max [256] : !block
        svm.run @consume(%q, %y) : (!svm.stream<f32>, !block) -> ()
        svm.move %y to %b : !block to !block
      }
    } else {
      svm.scope "give" {
        %x = svm.block "x"(%n) max [256] : !block
        svm.move %a to %x : !block to !block
        svm.run @produce(%x, %q) : (!block, !svm.stream<f32>) -> ()
      }
    }
  }
  return
}
