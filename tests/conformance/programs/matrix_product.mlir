// Tiles of a matrix product, two parallel loops and a sequential one around a kernel in the affine dialect.
// size: M=20 N=24 K=18
// A: in float32 (M, K) = (np.arange(M * K) % 7).reshape(M, K)
// B: in float32 (K, N) = (np.arange(K * N) % 5).reshape(K, N)
// C: inout float32 (M, N) = np.ones((M, N)) => 1 + A @ B
!block = memref<?x?xf32, strided<[?, 1], offset: ?>>
svm.kernel @multiply(%a: !block {svm.access = "read"}, %b: !block {svm.access = "read"}, %c: !block {svm.access = "readwrite"})
    attributes {extents = [affine_map<()[s0, s1, s2] -> (s0, s2)>, affine_map<()[s0, s1, s2] -> (s2, s1)>,
                           affine_map<()[s0, s1, s2] -> (s0, s1)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %c, %c0 : !block
  %n = memref.dim %c, %c1 : !block
  %k = memref.dim %a, %c1 : !block
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      affine.for %l = 0 to %k {
        %x = affine.load %a[%i, %l] : !block
        %y = affine.load %b[%l, %j] : !block
        %z = affine.load %c[%i, %j] : !block
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %z, %p : f32
        affine.store %s, %c[%i, %j] : !block
      }
    }
  }
  svm.return
}
func.func @product(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "read"},
                   %c: !block {svm.name = "C", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["M", "N", "K"],
                svm.extents = [affine_map<()[s0, s1, s2] -> (s0, s2)>, affine_map<()[s0, s1, s2] -> (s2, s1)>,
                               affine_map<()[s0, s1, s2] -> (s0, s1)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant 8 : index
  %m = memref.dim %c, %c0 : !block
  %n = memref.dim %c, %c1 : !block
  %k = memref.dim %a, %c1 : !block
  %rows = arith.ceildivui %m, %t : index
  %columns = arith.ceildivui %n, %t : index
  svm.parallel "i" (%i) = (%c0) to (%rows) {
    %i0 = arith.muli %i, %t : index
    %iLeft = arith.subi %m, %i0 : index
    %in = arith.minui %iLeft, %t : index
    svm.parallel "j" (%j) = (%c0) to (%columns) {
      %j0 = arith.muli %j, %t : index
      %jLeft = arith.subi %n, %j0 : index
      %jn = arith.minui %jLeft, %t : index
      scf.for %l0 = %c0 to %k step %t {
        %lLeft = arith.subi %k, %l0 : index
        %ln = arith.minui %lLeft, %t : index
        svm.scope "multiply" disjoint {
          %x = svm.block "x"(%in, %ln) max [8, 8] : !block
          %y = svm.block "y"(%ln, %jn) max [8, 8] : !block
          %z = svm.block "z"(%in, %jn) max [8, 8] : !block
          %av = memref.subview %a[%i0, %l0] [%in, %ln] [1, 1] : !block to !block
          %bv = memref.subview %b[%l0, %j0] [%ln, %jn] [1, 1] : !block to !block
          %cv = memref.subview %c[%i0, %j0] [%in, %jn] [1, 1] : !block to !block
          svm.move %av to %x : !block to !block
          svm.move %bv to %y : !block to !block
          svm.move %cv to %z : !block to !block
          svm.run @multiply(%x, %y, %z) : (!block, !block, !block) -> ()
          svm.move %z to %cv : !block to !block
        }
      }
    }
  }
  return
}
