// Constant tables, by kernels in lanes and one by one: a filter's weights, and numbers that are looked up.
// size: N=77
// python: w = np.array([0.25, 0.5, 0.25], np.float32)
// A: in float32 (N,) = np.arange(N) * 3 % 17
// I: in int32 (N,) = np.arange(N) * 7 % 5
// B: out float32 (N,) = np.where((np.arange(N) > 0) & (np.arange(N) < N - 1), np.convolve(A, w, "same"), -1)
// C: out int32 (N,) = np.array([10, -20, 30, -40, 50])[I]
!floats = memref<?xf32, strided<[1], offset: ?>>
!ints = memref<?xi32, strided<[1], offset: ?>>
memref.global "private" constant @weights : memref<3xf32> = dense<[0.25, 0.5, 0.25]>
memref.global "private" constant @numbers : memref<5xi16> = dense<[10, -20, 30, -40, 50]>
svm.kernel @filter(%a: !floats {svm.access = "read"}, %b: !floats {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant -1.0 : f32
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %a, %c0 : !floats
  %last = arith.subi %n, %c1 : index
  %w = memref.get_global @weights : memref<3xf32>
  memref.store %one, %b[%c0] : !floats
  memref.store %one, %b[%last] : !floats
  scf.for %i = %c1 to %last step %c1 {
    %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (f32) {
      %j = arith.addi %i, %k : index
      %at = arith.subi %j, %c1 : index
      %x = memref.load %a[%at] : !floats
      %f = memref.load %w[%k] : memref<3xf32>
      %p = arith.mulf %x, %f : f32
      %t = arith.addf %s, %p : f32
      scf.yield %t : f32
    }
    memref.store %sum, %b[%i] : !floats
  } {svm.unordered}
  svm.return
}
svm.kernel @find(%i: !ints {svm.access = "read"}, %c: !ints {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %i, %c0 : !ints
  %t = memref.get_global @numbers : memref<5xi16>
  scf.for %k = %c0 to %n step %c1 {
    %at = memref.load %i[%k] : !ints
    %index = arith.index_cast %at : i32 to index
    %x = memref.load %t[%index] : memref<5xi16>
    %wide = arith.extsi %x : i16 to i32
    memref.store %wide, %c[%k] : !ints
  } {svm.unordered}
  svm.return
}
func.func @main(%a: !floats {svm.access = "read", svm.name = "A"}, %i: !ints {svm.access = "read", svm.name = "I"},
                %b: !floats {svm.access = "write", svm.name = "B"}, %c: !ints {svm.access = "write", svm.name = "C"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>]} {
  svm.run @filter(%a, %b) : (!floats, !floats) -> ()
  svm.run @find(%i, %c) : (!ints, !ints) -> ()
  return
}
