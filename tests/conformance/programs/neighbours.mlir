// Parts of one array that lie side by side, that pass each other by with a step of two, or that are empty: kernels, functions and moves
// take them, also written.
// size: N=20
// A: inout float32 (N,) = np.arange(N) => np.where(np.arange(N) < 10, A, A - 10)
// B: inout float32 (N, 6) = np.arange(6 * N).reshape(N, 6) => np.concatenate([B[:, :3], B[:, :3]], 1)
// C: inout float32 (N, 2) = np.arange(2 * N).reshape(N, 2) => np.repeat(C[0::2], 2, 0)
// d: scalar int64 = N
!block = memref<?xf32, strided<[1], offset: ?>>
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
svm.kernel @shift(%x: !block {svm.access = "read", svm.name = "from"}, %y: !block {svm.access = "write", svm.name = "to"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    memref.store %v, %y[%i] : !block
  }
  svm.return
}
svm.kernel @copy(%x: !rows {svm.access = "read"}, %y: !rows {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !rows
  %m = memref.dim %x, %c1 : !rows
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %x[%i, %j] : !rows
      memref.store %v, %y[%i, %j] : !rows
    }
  }
  svm.return
}
func.func @give(%x: !block, %y: !block) {
  svm.run @shift(%x, %y) : (!block, !block) -> ()
  return
}
func.func @look(%x: !block, %y: !block) {
  return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"}, %b: !rows {svm.name = "B", svm.access = "readwrite"},
                %c: !rows {svm.name = "C", svm.access = "readwrite"}, %d: index {svm.name = "d"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n, 6)>, affine_map<()[n] -> (n, 2)>, affine_map<()[n] -> ()>]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %a, %c0 : !block
  %half = arith.divui %n, %c2 : index
  %left = memref.subview %a[0] [%half] [1] : !block to !block
  %right = memref.subview %a[%half] [%half] [1] : !block to !block
  svm.run @shift(%left, %right) : (!block, !block) -> ()
  %no = arith.subi %n, %d : index
  %none = memref.subview %a[%d] [%no] [1] : !block to !block
  %nothing = memref.subview %left[3] [%no] [1] : !block to !block
  svm.move %none to %nothing : !block to !block
  func.call @give(%none, %nothing) : (!block, !block) -> ()
  %all = memref.subview %a[0] [%n] [1] : !block to !block
  func.call @look(%left, %all) : (!block, !block) -> ()
  %west = memref.subview %b[0, 0] [%n, %c3] [1, 1] : !rows to !rows
  %east = memref.subview %b[0, 3] [%n, %c3] [1, 1] : !rows to !rows
  svm.move %west to %east : !rows to !rows
  %even = memref.subview %c[0, 0] [%half, %c2] [2, 1] : !rows to !rows
  %odd = memref.subview %c[1, 0] [%half, %c2] [2, 1] : !rows to !rows
  svm.run @copy(%even, %odd) : (!rows, !rows) -> ()
  return
}
