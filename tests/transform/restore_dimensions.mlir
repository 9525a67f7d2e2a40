// RUN: strata-opt --svm-restore-dimensions %s | FileCheck %s
// Blocks of rows that are reached by the number of an element are reached by row and column, where that stays in the row.

!plane = memref<?x?xf32, strided<[?, 1], offset: ?>>
!flat = memref<?xf32, strided<[1], offset: ?>>

// CHECK-LABEL: svm.kernel @rows
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?xf32
// CHECK-NOT: memref.reinterpret_cast
// CHECK: scf.for %[[Y:[a-z0-9]+]] =
// CHECK: scf.for %[[X:[a-z0-9]+]] =
// CHECK: memref.load %[[A]][%[[Y]], %[[X]]]
// CHECK: memref.store %{{.*}}, %[[A]][%[[Y]], %[[X]]]
// CHECK: svm.return
svm.kernel @rows(%a: !plane {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !plane
  %n = memref.dim %a, %c1 : !plane
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : !plane -> memref<f32>, index, index, index, index, index
  %all = arith.muli %m, %strides#0 : index
  %flat = memref.reinterpret_cast %a to offset: [%offset], sizes: [%all], strides: [1] : !plane to !flat
  scf.for %y = %c0 to %m step %c1 {
    scf.for %x = %c0 to %n step %c1 {
      %row = arith.muli %y, %strides#0 : index
      %at = arith.addi %row, %x : index
      %u = memref.load %flat[%at] : !flat
      %v = arith.negf %u : f32
      memref.store %v, %flat[%at] : !flat
    }
  }
  svm.return
}

// One access may leave its row: all stay.
// CHECK-LABEL: svm.kernel @neighbours
// CHECK: memref.reinterpret_cast
// CHECK-NOT: memref.load {{.*}}, {{.*}}] : memref<?x?xf32
// CHECK: svm.return
svm.kernel @neighbours(%a: !plane {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !plane
  %n = memref.dim %a, %c1 : !plane
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : !plane -> memref<f32>, index, index, index, index, index
  %all = arith.muli %m, %strides#0 : index
  %flat = memref.reinterpret_cast %a to offset: [%offset], sizes: [%all], strides: [1] : !plane to !flat
  scf.for %y = %c0 to %m step %c1 {
    scf.for %x = %c0 to %n step %c1 {
      %row = arith.muli %y, %strides#0 : index
      %at = arith.addi %row, %x : index
      %next = arith.addi %at, %c1 : index
      %u = memref.load %flat[%next] : !flat
      memref.store %u, %flat[%at] : !flat
    }
  }
  svm.return
}

// The block is reached by rows, too: its two forms would not be seen to meet.
// CHECK-LABEL: svm.kernel @both
// CHECK: memref.reinterpret_cast
// CHECK: svm.return
svm.kernel @both(%a: !plane {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !plane
  %n = memref.dim %a, %c1 : !plane
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : !plane -> memref<f32>, index, index, index, index, index
  %all = arith.muli %m, %strides#0 : index
  %flat = memref.reinterpret_cast %a to offset: [%offset], sizes: [%all], strides: [1] : !plane to !flat
  scf.for %y = %c0 to %m step %c1 {
    scf.for %x = %c0 to %n step %c1 {
      %row = arith.muli %y, %strides#0 : index
      %at = arith.addi %row, %x : index
      %u = memref.load %a[%y, %x] : !plane
      memref.store %u, %flat[%at] : !flat
    }
  }
  svm.return
}
