// A pipelined loop whose iterations gather from one buffer by the indices in another: transfers of two iterations are under way at once.
// size: N=1000
// python: f = lambda N: (np.arange(N) * 3 + np.arange(N) // 50) % 50
// A: in float32 (N,) = np.arange(N)
// I: in int32 (N,) = f(N)
// B: out float32 (N,) = 2 * A[f(N) + np.arange(N) // 50 * 50]
!block = memref<?xf32, strided<[1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
module attributes {svm.machine = "cell", svm.mapping = {pipelined = {
    control = "ppe", arguments = ["main", "main", "main"],
    blocks = {x = "ls", l = "ls", y = "ls"},
    loops = {part = {on = "spe", parts = 4 : i64, chunk = 1 : i64, stages = 2 : i64}}}}} {
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
  func.func @pipelined(%a: !block {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                       %b: !block {svm.name = "B", svm.access = "write"})
      attributes {svm.entry, svm.sizes = ["N"],
                  svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>]} {
    %c0 = arith.constant 0 : index
    %c50 = arith.constant 50 : index
    %n = memref.dim %a, %c0 : !block
    %parts = arith.divui %n, %c50 : index
    svm.parallel "part" (%p) = (%c0) to (%parts) {
      svm.scope "work" disjoint {
        %x = svm.block "x"(%c50) max [50] : !block
        %l = svm.block "l"(%c50) max [50] : !list
        %y = svm.block "y"(%c50) max [50] : !block
        %begin = arith.muli %p, %c50 : index
        %from = memref.subview %a[%begin] [%c50] [1] : !block to !block
        %where = memref.subview %i[%begin] [%c50] [1] : !list to !list
        %to = memref.subview %b[%begin] [%c50] [1] : !block to !block
        svm.move %from to %x : !block to !block
        svm.move %where to %l : !list to !list
        svm.gather %x[%l] to %y : !block[!list] to !block
        svm.run @double(%y) : (!block) -> ()
        svm.move %y to %to : !block to !block
      }
    }
    return
  }
}
