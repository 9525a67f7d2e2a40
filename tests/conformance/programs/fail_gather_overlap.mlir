// A gather whose two sides are parts of one array that overlap.
// size: N=10
// A: inout float32 (N,) = np.arange(N) => A
// I: in int32 (N,) = [0] * N
// d: scalar int64 = 4
// error: the two sides of a gather share elements of 'A' | two arguments of 'svm.gather' overlap, and one of them is written
!block = memref<?xf32, strided<[1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @overlap(%a: !block {svm.name = "A", svm.access = "readwrite"}, %i: !list {svm.name = "I", svm.access = "read"},
                   %d: index {svm.name = "d"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> ()>]} {
  %c5 = arith.constant 5 : index
  %u = memref.subview %a[0] [%c5] [1] : !block to !block
  %v = memref.subview %a[%d] [%c5] [1] : !block to !block
  %l = memref.subview %i[0] [%c5] [1] : !list to !list
  svm.gather %u[%l] to %v : !block[!list] to !block
  return
}
