// RUN: strata-opt --svm-keep-loops --canonicalize --svm-common-subexpressions %s | FileCheck %s
// A loop that may go on for ever is kept, although it does nothing; one that ends is not touched.

!vector = memref<?xi32, strided<[1], offset: ?>>

// CHECK-LABEL: svm.kernel @waits_for_itself
// CHECK: scf.while
// CHECK: svm.stay
svm.kernel @waits_for_itself(%a: !vector {svm.access = "read"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    %v = memref.load %a[%c0] : !vector
    %go = arith.cmpi eq, %v, %zero : i32
    scf.condition(%go)
  } do {
    scf.yield
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @counts_in_a_variable
// CHECK: scf.while
// CHECK: svm.stay
svm.kernel @counts_in_a_variable(%go: i1) {
  %zero = arith.constant 0 : i32
  %k = memref.alloca() : memref<i32>
  scf.while : () -> () {
    scf.condition(%go)
  } do {
    memref.store %zero, %k[] : memref<i32>
    scf.yield
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @stores
// CHECK: scf.while
// CHECK-NOT: svm.stay
// CHECK-LABEL: svm.kernel @ends
// CHECK-NOT: svm.stay
svm.kernel @stores(%a: !vector {svm.access = "readwrite"}, %go: i1) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    scf.condition(%go)
  } do {
    memref.store %zero, %a[%c0] : !vector
    scf.yield
  }
  svm.return
}
svm.kernel @ends(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
  }
  svm.return
}
