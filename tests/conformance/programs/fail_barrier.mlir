// An instance that does not come to a barrier at which the others wait.
// size: N=6
// A: inout int32 (N,) = 0 => 1
// error: barrier | deadlock
!v = memref<?xi32, strided<[1], offset: ?>>
module attributes {svm.stage = "logical"} {
  svm.kernel @some(%a: !v {svm.access = "readwrite"}, %i: index) {
    %c3 = arith.constant 3 : index
    %one = arith.constant 1 : i32
    memref.store %one, %a[%i] : !v
    %comes = arith.cmpi ne, %i, %c3 : index
    scf.if %comes {
      svm.barrier
    }
    svm.return
  }
  func.func @main(%a: !v {svm.access = "readwrite", svm.name = "A"})
      attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
    %c0 = arith.constant 0 : index
    %n = memref.dim %a, %c0 : !v
    svm.parallel (%i) = (%c0) to (%n) concurrent {
      svm.run @some(%a, %i) : (!v, index) -> ()
    }
    return
  }
}
