// A kernel with variables larger than the stack of a fibre: it runs at any number of threads.
// size: N=64
// A: inout float32 (N,) = np.arange(N) => 3 * A
!block = memref<?xf32, strided<[1], offset: ?>>
svm.kernel @through(%x: !block {svm.access = "readwrite"}, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 100000 : index
  %t = memref.alloca() : memref<200000xf32>
  %u = memref.alloca() : memref<20000xf32>
  %g = memref.load %x[%i] : !block
  scf.for %j = %c0 to %m step %c1 {
    memref.store %g, %t[%j] : memref<200000xf32>
  }
  %s = arith.constant 19999 : index
  scf.for %j = %c0 to %s step %c1 {
    %v = memref.load %t[%j] : memref<200000xf32>
    %w = arith.addf %v, %g : f32
    memref.store %w, %u[%j] : memref<20000xf32>
  }
  %a = memref.load %t[%i] : memref<200000xf32>
  %b = memref.load %u[%i] : memref<20000xf32>
  %r = arith.addf %a, %b : f32
  memref.store %r, %x[%i] : !block
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  svm.parallel "i" (%i) = (%c0) to (%n) {
    svm.run @through(%a, %i) : (!block, index) -> ()
  }
  return
}
