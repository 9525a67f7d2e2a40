// RUN: strata-opt --svm-tile-loops %s | FileCheck %s
// RUN: strata-opt "--svm-tile-loops=vector=16" %s | FileCheck %s --check-prefix=SHORT
// Elements that lie apart for lanes and side by side for rows: squares of as many rows as lanes are turned in registers.

!row = memref<?xf32, strided<[1], offset: ?>>
!plane = memref<?x?xf32, strided<[?, 1], offset: ?>>

// The last squares end where the loops do. Loops that are shorter than a square go row by row.
// CHECK-LABEL: svm.kernel @transpose
// CHECK: scf.if
// CHECK: scf.for {{.*}} step %c16
// CHECK: arith.minsi
// CHECK: scf.for {{.*}} step %c16
// CHECK: arith.minsi
// CHECK-COUNT-16: vector.load %arg0
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-16: vector.store {{.*}} %arg1
// CHECK: } else {
// CHECK: vector.gather
// CHECK: svm.return
// SHORT-LABEL: svm.kernel @transpose
// SHORT-COUNT-4: vector.load %arg0
// SHORT: vector.shuffle {{.*}} [0, 4, 2, 6]
// SHORT: vector.shuffle {{.*}} [1, 5, 3, 7]
// SHORT: vector.shuffle {{.*}} [0, 4, 2, 6]
// SHORT: vector.shuffle {{.*}} [1, 5, 3, 7]
// SHORT: vector.shuffle {{.*}} [0, 1, 4, 5]
// SHORT: vector.shuffle {{.*}} [2, 3, 6, 7]
// SHORT: vector.shuffle {{.*}} [0, 1, 4, 5]
// SHORT: vector.shuffle {{.*}} [2, 3, 6, 7]
// SHORT-COUNT-4: vector.store {{.*}} %arg1
svm.kernel @transpose(%a: !plane {svm.access = "read"}, %b: !plane {svm.access = "write"}, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%j, %i] : !plane
      memref.store %u, %b[%i, %j] : !plane
    }
  }
  svm.return
}

// Stores that lie apart, of what is computed from both.
// CHECK-LABEL: svm.kernel @stored
// CHECK-COUNT-16: vector.load %arg0
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store {{.*}} %arg1
// CHECK: svm.return
svm.kernel @stored(%a: !plane {svm.access = "read"}, %b: !plane {svm.access = "write"}, %c: !row {svm.access = "read"},
                   %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%i, %j] : !plane
      %v = memref.load %c[%i] : !row
      %w = arith.addf %u, %v : f32
      %at = arith.addi %i, %c1 : index
      memref.store %w, %b[%j, %at] : !plane
    }
  }
  svm.return
}

// What is read is written: nothing may be done twice, and rows that are left go one by one.
// CHECK-LABEL: svm.kernel @added
// CHECK-NOT: arith.minsi
// CHECK: vector.shuffle
// CHECK-NOT: arith.minsi
// CHECK: svm.return
svm.kernel @added(%a: !plane {svm.access = "read"}, %b: !plane {svm.access = "readwrite"}, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%j, %i] : !plane
      %v = memref.load %b[%i, %j] : !plane
      %w = arith.addf %u, %v : f32
      memref.store %w, %b[%i, %j] : !plane
    }
  }
  svm.return
}

// Diagonals are no squares.
// CHECK-LABEL: svm.kernel @diagonals
// CHECK-NOT: vector.shuffle
// CHECK: svm.return
svm.kernel @diagonals(%a: !plane {svm.access = "read"}, %b: !plane {svm.access = "write"}, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %k = arith.addi %i, %j : index
      %u = memref.load %a[%j, %k] : !plane
      memref.store %u, %b[%i, %j] : !plane
    }
  }
  svm.return
}
