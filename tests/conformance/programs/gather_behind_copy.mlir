// Gathers read copies of an array that changes meanwhile: a copy is neither left out nor made but once where that shows.
// size: N=16 K=4
// A: inout float32 (N,) = np.arange(N) => np.array([K] + list(range(1, N)))
// I: in int32 (N,) = [0] * N
// B: out float32 (K,) = np.arange(K)
!block = memref<?xf32, strided<[1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
func.func @behind(%a: !block {svm.name = "A", svm.access = "readwrite"}, %i: !list {svm.name = "I", svm.access = "read"},
                  %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N", "K"],
                svm.extents = [affine_map<()[n, k] -> (n)>, affine_map<()[n, k] -> (n)>, affine_map<()[n, k] -> (k)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : !block
  %k = memref.dim %b, %c0 : !block
  scf.for %t = %c0 to %k step %c1 {
    svm.scope "copy" {
      %x = svm.block "x"(%n) max [16] : !block
      %l = svm.block "l"(%c1) max [1] : !list
      %first = memref.subview %i[0] [%c1] [1] : !list to !list
      svm.move %a to %x : !block to !block
      svm.move %first to %l : !list to !list
      svm.scope "next" {
        // What is written to the array, by a scatter, is of the next iteration.
        %y = svm.block "y"(%c1) max [1] : !block
        %s = arith.addi %t, %c1 : index
        %w = arith.index_cast %s : index to i32
        %v = arith.sitofp %w : i32 to f32
        memref.store %v, %y[%c0] : !block
        svm.scatter %y to %a[%l] : !block to !block[!list]
      }
      %at = memref.subview %b[%t] [%c1] [1] : !block to !block
      svm.gather %x[%l] to %at : !block[!list] to !block
    }
  }
  return
}
