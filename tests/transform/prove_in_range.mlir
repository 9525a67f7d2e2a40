// RUN: strata-opt --prove-in-range %s | FileCheck %s
// Index checks that hold for all sizes go; what depends on data, or is off by one, stays.

!image = memref<?x?xf32, strided<[?, 1], offset: ?>>
!vector = memref<?xi32, strided<[1], offset: ?>>

// CHECK-LABEL: svm.kernel @convolution
// CHECK-NOT: svm.index
// CHECK: svm.return
svm.kernel @convolution(%a: !image {svm.access = "read"}, %f: !image {svm.access = "read"}, %b: !image {svm.access = "write"})
    attributes {extents = [affine_map<()[m, n, u, v] -> (m + u - 1, n + v - 1)>, affine_map<()[m, n, u, v] -> (u, v)>,
                           affine_map<()[m, n, u, v] -> (m, n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a0 = memref.dim %a, %c0 : !image
  %a1 = memref.dim %a, %c1 : !image
  %m = memref.dim %b, %c0 : !image
  %n = memref.dim %b, %c1 : !image
  %u = memref.dim %f, %c0 : !image
  %v = memref.dim %f, %c1 : !image
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      svm.index %i in %m of "b", 0
      svm.index %j in %n of "b", 1
      scf.for %p = %c0 to %u step %c1 {
        scf.for %q = %c0 to %v step %c1 {
          %y = arith.addi %i, %p : index
          %x = arith.addi %j, %q : index
          svm.index %y in %a0 of "a", 0
          svm.index %x in %a1 of "a", 1
          svm.index %p in %u of "f", 0
          svm.index %q in %v of "f", 1
        }
      }
    }
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @histogram
// CHECK-NOT: of "values"
// CHECK: svm.index {{.*}} of "bins", 0
// CHECK-NOT: svm.index
// CHECK: svm.return
svm.kernel @histogram(%values: !vector {svm.access = "read"}, %bins: !vector {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %values, %c0 : !vector
  %k = memref.dim %bins, %c0 : !vector
  scf.for %i = %c0 to %n step %c1 {
    svm.index %i in %n of "values", 0
    %value = memref.load %values[%i] : !vector
    %bin = arith.index_cast %value : i32 to index
    svm.index %bin in %k of "bins", 0
    %old = memref.load %bins[%bin] : !vector
    %new = arith.addi %old, %one : i32
    svm.index %bin in %k of "bins", 0
    memref.store %new, %bins[%bin] : !vector
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @stencil
// CHECK: svm.index {{.*}} of "unguarded", 0
// CHECK: scf.if
// CHECK-NOT: svm.index
// CHECK: svm.return
svm.kernel @stencil(%a: !vector {svm.access = "read"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : !vector
  %last = arith.subi %n, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    %before = arith.subi %i, %c1 : index
    %after = arith.addi %i, %c1 : index
    svm.index %after in %n of "unguarded", 0
    %inner = arith.cmpi slt, %i, %last : index
    %outer = arith.cmpi sgt, %i, %c0 : index
    %both = arith.andi %inner, %outer : i1
    scf.if %both {
      svm.index %before in %n of "guarded", 0
      svm.index %after in %n of "guarded", 0
    }
  }
  svm.return
}
