// Columns, whose elements are apart: one is gathered as elements, and a matrix of every second column is scattered.
// size: M=6 N=8
// A: in float32 (M, N) = np.arange(M * N).reshape(M, N)
// I: in int64 (M,) = [5, 4, 3, 2, 1, 0]
// B: inout float32 (M, N) = np.zeros((M, N)) => np.where(np.arange(N) % 2 == 0, np.repeat(A[::-1, :4], 2, 1), np.where(np.arange(N) == 7, A[::-1, 3:4], 0))
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
!long = memref<?xi64, strided<[1], offset: ?>>
!spaced = memref<?x?xf32, strided<[?, ?], offset: ?>>
func.func @columns(%a: !rows {svm.name = "A", svm.access = "read"}, %i: !long {svm.name = "I", svm.access = "read"},
                   %b: !rows {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["M", "N"],
                svm.extents = [affine_map<()[m, n] -> (m, n)>, affine_map<()[m, n] -> (m)>, affine_map<()[m, n] -> (m, n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = memref.dim %a, %c0 : !rows
  %n = memref.dim %a, %c1 : !rows
  %half = arith.divui %n, %c2 : index
  %left = memref.subview %a[0, 0] [%m, %half] [1, 1] : !rows to !rows
  %even = memref.subview %b[0, 0] [%m, %half] [%c1, %c2] : !rows to !spaced
  svm.scatter %left to %even[%i] : !rows to !spaced[!long]
  %last = memref.subview %b[0, 7] [%m, %c1] [1, 1] : !rows to !rows
  %one = memref.subview %a[0, 3] [%m, %c1] [1, 1] : !rows to !rows
  svm.gather %one[%i] to %last : !rows[!long] to !rows
  return
}
