// A scatter over its own indices.
// size: N=10
// I: inout int32 (N,) = np.arange(N) => I
// J: in int32 (N,) = np.arange(N)
// d: scalar int64 = 3
// error: a scatter writes elements of 'I' that it takes its indices from | two arguments of 'svm.scatter' overlap
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @own(%i: !list {svm.name = "I", svm.access = "readwrite"}, %j: !list {svm.name = "J", svm.access = "read"},
               %d: index {svm.name = "d"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> ()>]} {
  %c4 = arith.constant 4 : index
  %u = memref.subview %i[0] [%c4] [1] : !list to !list
  %v = memref.subview %i[%d] [%c4] [1] : !list to !list
  %w = memref.subview %j[0] [%c4] [1] : !list to !list
  svm.scatter %w to %v[%u] : !list to !list[!list]
  return
}
