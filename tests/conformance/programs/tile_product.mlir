// Instances in tiles: a product whose sizes do not divide, rows with an end that depends on the row.
// size: M=23 N=77 K=19
// A: in float32 (M, K) = np.random.default_rng(1).integers(-8, 9, (M, K))
// B: in float32 (K, N) = np.random.default_rng(2).integers(-8, 9, (K, N))
// L: in int32 (M,) = np.random.default_rng(3).integers(-2, K + 1, M)
// C: out float32 (M, N) = [[sum(A[y, i] * B[i, x] for i in range(L[y])) if x + 3 < N - 1 else -1 for x in range(N)] for y in range(M)]
!flat = memref<?xf32, strided<[1], offset: ?>>
!ints = memref<?xi32, strided<[1], offset: ?>>
!matrix = memref<?x?xf32, strided<[?, 1], offset: ?>>
svm.kernel @copy(%from: !matrix {svm.access = "read"}, %to: !flat {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %from, %c0 : !matrix
  %n = memref.dim %from, %c1 : !matrix
  scf.for %i = %c0 to %m step %c1 {
    %row = arith.muli %i, %n : index
    scf.for %j = %c0 to %n step %c1 {
      %at = arith.addi %row, %j : index
      %x = memref.load %from[%i, %j] : !matrix
      memref.store %x, %to[%at] : !flat
    } {svm.unordered}
  } {svm.unordered}
  svm.return
}
svm.kernel @back(%from: !flat {svm.access = "read"}, %to: !matrix {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %to, %c0 : !matrix
  %n = memref.dim %to, %c1 : !matrix
  scf.for %i = %c0 to %m step %c1 {
    %row = arith.muli %i, %n : index
    scf.for %j = %c0 to %n step %c1 {
      %at = arith.addi %row, %j : index
      %x = memref.load %from[%at] : !flat
      memref.store %x, %to[%i, %j] : !matrix
    }
  }
  svm.return
}
svm.kernel @product(%a: !flat {svm.access = "read"}, %b: !flat {svm.access = "read"}, %l: !ints {svm.access = "read"},
                    %c: !flat {svm.access = "readwrite"}, %m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant -1.0 : f32
  %limit = arith.subi %n, %c1 : index
  scf.for %y = %c0 to %m step %c1 {
    scf.for %x = %c0 to %n step %c1 {
      %cy = arith.muli %y, %n : index
      %cx = arith.addi %cy, %x : index
      %far = arith.addi %x, %c3 : index
      %inside = arith.cmpi slt, %far, %limit : index
      %r = scf.if %inside -> (f32) {
        %length = memref.load %l[%y] : !ints
        %end = arith.index_cast %length : i32 to index
        %ay = arith.muli %y, %k : index
        %sum = scf.for %i = %c0 to %end step %c1 iter_args(%s = %zero) -> (f32) {
          %ai = arith.addi %ay, %i : index
          %u = memref.load %a[%ai] : !flat
          %bi = arith.muli %i, %n : index
          %bx = arith.addi %bi, %x : index
          %v = memref.load %b[%bx] : !flat
          %p = arith.mulf %u, %v : f32
          %t = arith.addf %s, %p : f32
          scf.yield %t : f32
        }
        scf.yield %sum : f32
      } else {
        scf.yield %none : f32
      }
      memref.store %r, %c[%cx] : !flat
    } {svm.unordered}
  } {svm.unordered}
  svm.return
}
func.func @main(%a: !matrix {svm.name = "A", svm.access = "read"}, %b: !matrix {svm.name = "B", svm.access = "read"},
                %l: !ints {svm.name = "L", svm.access = "read"}, %c: !matrix {svm.name = "C", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["M", "N", "K"],
                svm.extents = [affine_map<()[m, n, k] -> (m, k)>, affine_map<()[m, n, k] -> (k, n)>,
                               affine_map<()[m, n, k] -> (m)>, affine_map<()[m, n, k] -> (m, n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !matrix
  %k = memref.dim %a, %c1 : !matrix
  %n = memref.dim %b, %c1 : !matrix
  %mk = arith.muli %m, %k : index
  %kn = arith.muli %k, %n : index
  %mn = arith.muli %m, %n : index
  %fa = svm.block "fa"(%mk) max [600] : !flat
  %fb = svm.block "fb"(%kn) max [2000] : !flat
  %fc = svm.block "fc"(%mn) max [2000] : !flat
  svm.run @copy(%a, %fa) : (!matrix, !flat) -> ()
  svm.run @copy(%b, %fb) : (!matrix, !flat) -> ()
  svm.run @product(%fa, %fb, %l, %fc, %m, %n, %k) : (!flat, !flat, !ints, !flat, index, index, index) -> ()
  svm.run @back(%fc, %c) : (!flat, !matrix) -> ()
  return
}
