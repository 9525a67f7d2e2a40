// As many indices as the gather has parts to fill, but one.
// size: N=10
// A: in float32 (N,) = np.arange(N)
// I: in int32 (N,) = np.arange(N)
// B: inout float32 (N,) = np.arange(N) => B
// d: scalar int64 = 9
// error: a gather takes 9 indices of 'I' for 10 elements of 'B' in dimension 0 | a block of extents (9) is moved to one of extents (10)
!block = memref<?xf32, strided<[1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @few(%a: !block {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
               %b: !block {svm.name = "B", svm.access = "readwrite"}, %d: index {svm.name = "d"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> ()>]} {
  %l = memref.subview %i[0] [%d] [1] : !list to !list
  svm.gather %a[%l] to %b : !block[!list] to !block
  return
}
