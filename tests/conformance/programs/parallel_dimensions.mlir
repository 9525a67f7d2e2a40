// Parallel loops of two and three dimensions: not distributed, distributed in a grid of parts, and with bounds that are not 0.
// size: N=7 M=11 K=3
// A: in float32 (N, M) = np.arange(N * M).reshape(N, M)
// B: out float32 (N, M) = A * 2
// C: inout float32 (N, M, K) = np.arange(N * M * K).reshape(N, M, K) => np.where((np.indices((N, M, K))[0] >= 1) & (np.indices((N, M, K))[1] >= 2), C + np.indices((N, M, K))[0] * 100 + np.indices((N, M, K))[1] * 10 + np.indices((N, M, K))[2], C)
!two = memref<?x?xf32, strided<[?, 1], offset: ?>>
!three = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!one = memref<f32, strided<[], offset: ?>>
svm.kernel @twice(%a: !one {svm.access = "read"}, %b: !one {svm.access = "write"}) {
  %x = memref.load %a[] : !one
  %y = arith.addf %x, %x : f32
  memref.store %y, %b[] : !one
  svm.return
}
svm.kernel @add(%c: !one {svm.access = "readwrite"}, %i: index, %j: index, %k: index) {
  %hundred = arith.constant 100 : index
  %ten = arith.constant 10 : index
  %hundreds = arith.muli %i, %hundred : index
  %tens = arith.muli %j, %ten : index
  %most = arith.addi %hundreds, %tens : index
  %all = arith.addi %most, %k : index
  %word = arith.index_cast %all : index to i64
  %number = arith.sitofp %word : i64 to f32
  %x = memref.load %c[] : !one
  %y = arith.addf %x, %number : f32
  memref.store %y, %c[] : !one
  svm.return
}
func.func @main(%a: !two {svm.name = "A", svm.access = "read"}, %b: !two {svm.name = "B", svm.access = "write"},
                %c: !three {svm.name = "C", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N", "M", "K"],
                svm.extents = [affine_map<()[s0, s1, s2] -> (s0, s1)>, affine_map<()[s0, s1, s2] -> (s0, s1)>,
                               affine_map<()[s0, s1, s2] -> (s0, s1, s2)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %a, %c0 : !two
  %m = memref.dim %a, %c1 : !two
  %k = memref.dim %c, %c2 : !three
  svm.parallel "cells" (%i, %j) = (%c0, %c0) to (%n, %m) {
    svm.scope "twice" disjoint {
      %from = memref.subview %a[%i, %j] [1, 1] [1, 1] : !two to !one
      %to = memref.subview %b[%i, %j] [1, 1] [1, 1] : !two to !one
      %x = svm.block "x"() : !one
      %y = svm.block "y"() : !one
      svm.move %from to %x : !one to !one
      svm.run @twice(%x, %y) : (!one, !one) -> ()
      svm.move %y to %to : !one to !one
    }
  }
  svm.parallel "inner" (%i, %j, %l) = (%c1, %c2, %c0) to (%n, %m, %k) {
    svm.scope "add" disjoint {
      %place = memref.subview %c[%i, %j, %l] [1, 1, 1] [1, 1, 1] : !three to !one
      %x = svm.block "z"() : !one
      svm.move %place to %x : !one to !one
      svm.run @add(%x, %i, %j, %l) : (!one, index, index, index) -> ()
      svm.move %x to %place : !one to !one
    }
  }
  return
}
