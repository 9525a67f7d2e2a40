// Sub-blocks of a matrix: every second row and the columns from the third on, gathered, and then scattered elsewhere.
// size: M=8 N=9
// A: in float32 (M, N) = np.arange(M * N).reshape(M, N)
// B: inout float32 (M, N) = -np.ones((M, N)) => np.where((np.arange(M)[:, None] % 2 == 1) & (np.arange(N) < N - 2), np.roll(np.roll(A, 1, 0), -2, 1), -1)
!block = memref<?x?xf32, strided<[?, 1], offset: ?>>
func.func @strided(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["M", "N"],
                svm.extents = [affine_map<()[s0, s1] -> (s0, s1)>, affine_map<()[s0, s1] -> (s0, s1)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = memref.dim %a, %c0 : !block
  %n = memref.dim %a, %c1 : !block
  %rows = arith.divui %m, %c2 : index
  %columns = arith.subi %n, %c2 : index
  svm.scope "gather" {
    %t = svm.block "t"(%rows, %columns) : !block
    %from = memref.subview %a[0, 2] [%rows, %columns] [2, 1] : !block to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %to = memref.subview %b[1, 0] [%rows, %columns] [2, 1] : !block to memref<?x?xf32, strided<[?, 1], offset: ?>>
    svm.move %from to %t : !block to !block
    svm.move %t to %to : !block to !block
  }
  return
}
