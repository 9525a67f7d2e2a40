// A pipelined loop in another one: what its iterations move, from and to parts of their own, is a buffer of the loop around.
// size: N=60
// A: inout float32 (N,) = np.arange(N) => 2 * np.arange(N)
!block = memref<?xf32, strided<[1], offset: ?>>
module attributes {svm.machine = "cell", svm.mapping = {pipelined = {
    control = "ppe", arguments = ["main"], blocks = {x = "ls", y = "ls"},
    loops = {rows = {on = "spe", parts = 2 : i64, chunk = 1 : i64, stages = 2 : i64}, parts = {on = "spe", stages = 3 : i64}}}}} {
  svm.kernel @double(%x: !block {svm.access = "readwrite"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : !block
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : !block
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : !block
    }
    svm.return
  }
  func.func @pipelined(%a: !block {svm.name = "A", svm.access = "readwrite"})
      attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %c10 = arith.constant 10 : index
    %n = memref.dim %a, %c0 : !block
    %rows = arith.divui %n, %c10 : index
    svm.parallel "rows" (%r) = (%c0) to (%rows) {
      %begin = arith.muli %r, %c10 : index
      %row = memref.subview %a[%begin] [%c10] [1] : !block to !block
      svm.scope "row" {
        %x = svm.block "x"(%c10) max [10] : !block
        svm.move %row to %x : !block to !block
        svm.parallel "parts" (%p) = (%c0) to (%c5) {
          %from = arith.muli %p, %c2 : index
          %part = memref.subview %x[%from] [%c2] [1] : !block to !block
          svm.scope "part" {
            %y = svm.block "y"(%c2) max [2] : !block
            svm.move %part to %y {svm.keep} : !block to !block
            svm.run @double(%y) : (!block) -> ()
            svm.move %y to %part {svm.keep} : !block to !block
          }
        }
        svm.move %x to %row : !block to !block
      }
    }
    return
  }
}
