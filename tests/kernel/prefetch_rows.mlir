// RUN: strata-opt --svm-prefetch-rows %s | FileCheck %s
// Short pieces of rows that lie far apart are asked for eight rows ahead; what a cache or the processor itself takes care
// of is not.

!cube = memref<?x?x?xf64, strided<[?, ?, 1], offset: ?>>
!matrix = memref<?x?xf32, strided<[?, 1], offset: ?>>

// Pieces along the first dimension: 512 bytes are 64 doubles, a page 512, a line 8, what a cache may hold 262144. A row
// read several times is asked for once.
// CHECK-LABEL: svm.kernel @columns
// CHECK: scf.for
// CHECK: %[[SHAPE:.*]]:3, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %{{.*}}, %[[C64]]
// CHECK: %[[C512:.*]] = arith.constant 512 : index
// CHECK: %[[FAR:.*]] = arith.cmpi sge, %[[STRIDES]]#0, %[[C512]]
// CHECK: %[[SPAN:.*]] = arith.muli %{{.*}}, %[[STRIDES]]#0
// CHECK: %[[C262144:.*]] = arith.constant 262144 : index
// CHECK: %[[LARGE:.*]] = arith.cmpi sge, %[[SPAN]], %[[C262144]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[FAR]], %[[LARGE]]
// CHECK: %[[PAYS:.*]] = arith.andi %[[SHORT]], %[[BOTH]]
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to
// CHECK-NEXT: scf.if %[[PAYS]]
// CHECK-NEXT: %[[C8:.*]] = arith.constant 8 : index
// CHECK-NEXT: %[[AHEAD:.*]] = arith.addi %[[ROW]], %[[C8]]
// CHECK-NEXT: %[[AT:.*]] = arith.minsi %[[AHEAD]],
// CHECK: scf.for %[[LINE:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT: memref.prefetch %{{.*}}[%[[AT]], %{{.*}}, %[[LINE]]], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: svm.return
svm.kernel @columns(%a: !cube {svm.access = "read"}, %b: !cube {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %l = memref.dim %a, %c0 : !cube
  %m = memref.dim %a, %c1 : !cube
  %n = memref.dim %a, %c2 : !cube
  scf.for %i = %c0 to %m step %c1 {
    scf.for %row = %c0 to %l step %c1 {
      scf.for %twice = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %n step %c1 {
          %x = memref.load %a[%row, %i, %j] : !cube
          %y = memref.load %a[%row, %i, %j] : !cube
          %z = arith.addf %x, %y : f64
          memref.store %z, %b[%i, %j, %row] : !cube
        }
      }
    }
  }
  svm.return
}

// A matrix product reads its second factor again for every row of the first: it stays in a cache.
// CHECK-LABEL: svm.kernel @product
// CHECK-NOT: memref.prefetch %arg1
// CHECK: svm.return
svm.kernel @product(%a: !matrix {svm.access = "read"}, %b: !matrix {svm.access = "read"}, %c: !matrix {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !matrix
  %p = memref.dim %a, %c1 : !matrix
  %n = memref.dim %b, %c1 : !matrix
  scf.for %i = %c0 to %m step %c1 {
    scf.for %k = %c0 to %p step %c1 {
      %x = memref.load %a[%i, %k] : !matrix
      scf.for %j = %c0 to %n step %c1 {
        %y = memref.load %b[%k, %j] : !matrix
        %s = memref.load %c[%i, %j] : !matrix
        %t = math.fma %x, %y, %s : f32
        memref.store %t, %c[%i, %j] : !matrix
      }
    }
  }
  svm.return
}

// Neighbouring windows overlap, and a loop around that is no loop over a dimension may go anywhere.
// CHECK-LABEL: svm.kernel @windows
// CHECK-NOT: memref.prefetch
// CHECK: svm.return
svm.kernel @windows(%a: !matrix {svm.access = "read"}, %c: !matrix {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %u = %c0 to %n step %c1 {
      %row = arith.addi %i, %u : index
      scf.for %j = %c0 to %n step %c1 {
        %x = memref.load %a[%row, %j] : !matrix
        memref.store %x, %c[%i, %j] : !matrix
      }
    }
  }
  svm.return
}
