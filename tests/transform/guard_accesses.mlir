// RUN: strata-opt --guard-accesses %s | FileCheck %s
// What is undefined where an index, a divisor or a shift is out of range stands behind a check; what cannot be is left alone.

!vector = memref<?xi32, strided<[1], offset: ?>>

// CHECK-LABEL: svm.kernel @pick
// CHECK-SAME: %[[A:[^:]*]]: memref<?xi32{{[^%]*}}%[[B:[^:]*]]: memref<?xi32{{[^%]*}}%[[I:[^:]*]]: index
// CHECK: %[[N:.*]] = memref.dim %[[A]]
// CHECK: svm.index %[[I]] in %[[N]] of "argument 0", 0
// CHECK: %[[X:.*]] = memref.load %[[A]][%[[I]]]
// CHECK: %[[SOME:.*]] = arith.cmpi ne, %[[X]]
// CHECK: svm.check %[[SOME]], "division-by-zero"
// CHECK: svm.check %{{.*}}, "division-overflow"
// CHECK: arith.divsi %[[X]], %[[X]]
// CHECK: svm.index %{{.*}} of "argument 1", 0
// CHECK: memref.store
svm.kernel @pick(%a: !vector {svm.access = "read"}, %b: !vector {svm.access = "write"}, %i: index) {
  %c0 = arith.constant 0 : index
  %x = memref.load %a[%i] : !vector
  %y = arith.divsi %x, %x : i32
  memref.store %y, %b[%c0] : !vector
  svm.return
}

// Sums wrap, and a variable of the kernel's own has one element.
// CHECK-LABEL: svm.kernel @sum
// CHECK-NOT: svm.check
// CHECK-NOT: svm.index
// CHECK: svm.return
svm.kernel @sum(%x: i32) {
  %k = memref.alloca() : memref<i32>
  %s = arith.addi %x, %x : i32
  memref.store %s, %k[] : memref<i32>
  svm.return
}
