// A stretch that a trace shows under a name: the program does what it does without it, whatever the number of instances is.
// size: N=50
// A: in float32 (N,) = np.arange(N)
// B: out float32 (N,) = 2 * A
// k: scalar int64 = -3
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @double(%a: !block {svm.access = "read"}, %b: !block {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : !block
    %y = arith.addf %x, %x : f32
    memref.store %y, %b[%i] : !block
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"},
                %k: i64 {svm.name = "k"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  %few = arith.index_cast %k : i64 to index
  svm.span "all" of %n {
    %t = svm.block "t"(%n) : !block
    svm.span "all/move" of %few {
      svm.move %a to %t : !block to !block
    }
    %done = svm.run @double(%t, %b) : (!block, !block) -> !svm.token
  }
  return
}
