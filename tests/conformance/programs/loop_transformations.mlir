// Loops that the mapping pipelines, unrolls and flattens: an update in place, a sum along a row, and a few first elements.
// size: N=103
// A: inout int32 (N,) = np.arange(N) => np.where(np.arange(N) < 6, 1, 0) + np.cumsum(np.arange(N) * 3).astype(np.int32)
!block = memref<?xi32, strided<[1], offset: ?>>
module attributes {svm.machine = "cell", svm.mapping = {main = {
    control = "ppe", arguments = ["main"], blocks = {x = "ls", y = "ls", z = "ls"},
    loops = {i = {on = "spe", parts = 3 : i64, chunk = 2 : i64, stages = 3 : i64, unroll = 2 : i64},
             j = {on = "spe", chunk = 0 : i64, unroll = 4 : i64},
             k = {on = "spe", chunk = 0 : i64, stages = 2 : i64, flatten = true}}}}} {
svm.kernel @triple(%x: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !block
    %b = arith.muli %a, %c3 : i32
    memref.store %b, %x[%i] : !block
  }
  svm.return
}
// x[1] += x[0]
svm.kernel @carry(%x: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.load %x[%c0] : !block
  %b = memref.load %x[%c1] : !block
  %s = arith.addi %a, %b : i32
  memref.store %s, %x[%c1] : !block
  svm.return
}
svm.kernel @increment(%x: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !block
    %b = arith.addi %a, %one : i32
    memref.store %b, %x[%i] : !block
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %n = memref.dim %a, %c0 : !block
  %chunks = arith.ceildivui %n, %c5 : index
  svm.parallel "i" (%i) = (%c0) to (%chunks) {
    %begin = arith.muli %i, %c5 : index
    %left = arith.subi %n, %begin : index
    %size = arith.minui %left, %c5 : index
    svm.scope "triple" disjoint {
      %x = svm.block "x"(%size) max [5] : !block
      %v = memref.subview %a[%begin] [%size] [1] : !block to !block
      svm.move %v to %x : !block to !block
      svm.run @triple(%x) : (!block) -> ()
      svm.move %x to %v : !block to !block
    }
  }
  scf.for %j = %c1 to %n step %c1 {
    %before = arith.subi %j, %c1 : index
    svm.scope "carry" disjoint {
      %y = svm.block "y"(%c2) max [2] : !block
      %v = memref.subview %a[%before] [%c2] [1] : !block to !block
      svm.move %v to %y : !block to !block
      svm.run @carry(%y) : (!block) -> ()
      svm.move %y to %v : !block to !block
    }
  } {svm.label = "j"}
  svm.parallel "k" (%k) = (%c0) to (%c3) {
    %two = arith.constant 2 : index
    %begin = arith.muli %k, %two : index
    svm.scope "ones" disjoint {
      %z = svm.block "z"(%c2) max [2] : !block
      %v = memref.subview %a[%begin] [%c2] [1] : !block to !block
      svm.move %v to %z : !block to !block
      svm.run @increment(%z) : (!block) -> ()
      svm.move %z to %v : !block to !block
    }
  }
  return
}
}
