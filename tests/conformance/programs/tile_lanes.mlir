// Instances in lanes that gather, scatter, leave loops at different times, and of which some store to one element.
// size: N=101
// python: rng = np.random.default_rng(5); P = rng.permutation(N); ends = rng.integers(-3, 7, N)
// V: in int64 (6*N,) = rng.integers(-1000, 1000, 6*N)
// E: in int32 (N,) = ends
// Q: in int32 (N,) = P
// R: inout int64 (N,) = 0 => [sum(V[k * N + i] * (k + 1) for k in range(ends[i])) + i for i in np.argsort(P)]
// O: inout int64 (1,) = 0 => N - 1 + 5
!wide = memref<?xi64, strided<[1], offset: ?>>
!ints = memref<?xi32, strided<[1], offset: ?>>
svm.kernel @lanes(%v: !wide {svm.access = "read"}, %e: !ints {svm.access = "read"}, %q: !ints {svm.access = "read"},
                  %r: !wide {svm.access = "readwrite"}, %o: !wide {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %five = arith.constant 5 : i64
  scf.for %i = %c0 to %n step %c1 {
    %number = arith.index_cast %i : index to i64
    %last = memref.load %e[%i] : !ints
    %end = arith.index_cast %last : i32 to index
    %sum = scf.for %k = %c0 to %end step %c1 iter_args(%s = %number) -> (i64) {
      %kn = arith.muli %k, %n : index
      %at = arith.addi %kn, %i : index
      %x = memref.load %v[%at] : !wide
      %next = arith.addi %k, %c1 : index
      %factor = arith.index_cast %next : index to i64
      %p = arith.muli %x, %factor : i64
      %t = arith.addi %s, %p : i64
      scf.yield %t : i64
    }
    %to = memref.load %q[%i] : !ints
    %place = arith.index_cast %to : i32 to index
    memref.store %sum, %r[%place] : !wide
    %behind = arith.addi %i, %c1 : index
    %isLast = arith.cmpi eq, %behind, %n : index
    scf.if %isLast {
      %w = arith.addi %number, %five : i64
      memref.store %w, %o[%c0] : !wide
    }
  } {svm.unordered}
  svm.return
}
func.func @main(%v: !wide {svm.name = "V", svm.access = "read"}, %e: !ints {svm.name = "E", svm.access = "read"},
                %q: !ints {svm.name = "Q", svm.access = "read"}, %r: !wide {svm.name = "R", svm.access = "readwrite"},
                %o: !wide {svm.name = "O", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[n] -> (n * 6)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>,
                               affine_map<()[n] -> (n)>, affine_map<()[n] -> (1)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %e, %c0 : !ints
  svm.run @lanes(%v, %e, %q, %r, %o, %n) : (!wide, !ints, !ints, !wide, !wide, index) -> ()
  return
}
