// A loop whose iterations have another processor work on what is moved into its store while it works on what came before.
// size: N=103
// A: in int32 (N,) = np.arange(N)
// B: inout int32 (N,) = np.arange(N) * 7 => np.arange(N) * 10
!block = memref<?xi32, strided<[1], offset: ?>>
module attributes {svm.machine = "cell", svm.mapping = {main = {
    control = "ppe", arguments = ["main", "main"], blocks = {x = "ls", y = "ls"},
    loops = {i = {on = "ppe", chunk = 0 : i64, stages = 3 : i64, unroll = 2 : i64}},
    calls = {add = {on = "spe"}}}}} {
// y += 3 * x
svm.kernel @add(%x: !block {svm.access = "read"}, %y: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !block
    %b = memref.load %y[%i] : !block
    %t = arith.muli %a, %c3 : i32
    %s = arith.addi %b, %t : i32
    memref.store %s, %y[%i] : !block
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %n = memref.dim %a, %c0 : !block
  %chunks = arith.ceildivui %n, %c5 : index
  svm.parallel "i" (%i) = (%c0) to (%chunks) {
    %begin = arith.muli %i, %c5 : index
    %left = arith.subi %n, %begin : index
    %size = arith.minui %left, %c5 : index
    %v = memref.subview %a[%begin] [%size] [1] : !block to !block
    %w = memref.subview %b[%begin] [%size] [1] : !block to !block
    svm.scope "add" disjoint {
      %x = svm.block "x"(%size) max [5] : !block
      %y = svm.block "y"(%size) max [5] : !block
      svm.move %v to %x : !block to !block
      svm.move %w to %y : !block to !block
      svm.run @add(%x, %y) : (!block, !block) -> ()
      svm.move %y to %w : !block to !block
    }
  }
  return
}
}
