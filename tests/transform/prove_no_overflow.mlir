// RUN: strata-opt --prove-no-overflow %s | FileCheck %s
// What cannot overflow is marked: by loops, conditions and checks around it, at the point where it stands.

!vector = memref<?xi32, strided<[1], offset: ?>>

// CHECK-LABEL: svm.kernel @k
svm.kernel @k(%a: !vector {svm.access = "read"}, %s: i32, %t: i32, %u: i8) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %most = arith.constant 2147483647 : i32
  %n = memref.dim %a, %c0 : !vector
  // Nothing is known of s.
  // CHECK: arith.addi %{{.*}}, %{{.*}} : i32
  %over = arith.addi %s, %one : i32
  // An extent is far from the end of an index.
  // CHECK: arith.addi %{{.*}}, %{{.*}} overflow<nsw> : index
  %end = arith.addi %n, %c1 : index
  // A product of small numbers.
  %x = arith.extsi %u : i8 to i32
  // CHECK: arith.muli %{{.*}}, %{{.*}} overflow<nsw> : i32
  %square = arith.muli %x, %x : i32
  // CHECK: arith.muli %{{.*}}, %{{.*}} : i32
  %cube = arith.muli %square, %t : i32
  %below = arith.cmpi slt, %s, %most : i32
  scf.if %below {
    // CHECK: scf.if
    // CHECK-NEXT: arith.addi %{{.*}}, %{{.*}} overflow<nsw> : i32
    %next = arith.addi %s, %one : i32
    // CHECK-NEXT: arith.subi %{{.*}}, %{{.*}} : i32
    %before = arith.subi %s, %one : i32
  }
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: scf.for
    // CHECK-NEXT: arith.addi %{{.*}}, %{{.*}} overflow<nsw> : index
    %after = arith.addi %i, %c1 : index
  }
  svm.return
}
