// RUN: strata-opt --svm-split-barriers %s | FileCheck %s
// RUN: strata-opt --svm-split-barriers --verify-diagnostics %s -o /dev/null
// Instances that wait for each other become loops; those that might not come to a barrier alike, or that a mapping can name, stay.

!v = memref<?xi32, strided<[1], offset: ?>>
module attributes {svm.stage = "logical"} {

// The number of an instance is used on both sides of the barrier, and computed in both loops; its element is kept.
// CHECK-LABEL: svm.kernel @turn.split
// CHECK-SAME: %[[A:[^:]*]]: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %[[N:[^:]*]]: index, %[[LOW:[^:]*]]: index, %[[HIGH:[^:]*]]: index, %[[KEPT:[^:]*]]: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}
// CHECK: scf.for %[[I:.*]] = %[[LOW]] to %[[HIGH]]
// CHECK: %[[X:.*]] = memref.load %[[A]][%[[I]]]
// CHECK: memref.store %[[X]], %[[KEPT]]
// CHECK: } {svm.unordered}
// CHECK: scf.for %[[J:.*]] = %[[LOW]] to %[[HIGH]]
// CHECK: %[[Y:.*]] = memref.load %[[KEPT]]
// CHECK: memref.store %[[Y]], %[[A]]
// CHECK: } {svm.unordered}
svm.kernel @turn(%a: !v {svm.access = "readwrite"}, %n: index, %i: index) {
  %c1 = arith.constant 1 : index
  %x = memref.load %a[%i] : !v
  svm.barrier
  %last = arith.subi %n, %c1 : index
  %to = arith.subi %last, %i : index
  memref.store %x, %a[%to] : !v
  svm.return
}

// What takes a few operations of the number is computed again; what is read is kept, conditions as bytes.
// CHECK-LABEL: svm.kernel @guarded.split
// CHECK-SAME: %[[A:[^:]*]]: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %[[N:[^:]*]]: index, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[KEPT:[^:]*]]: memref<?xi8, strided<[1], offset: ?>> {svm.access = "readwrite"}) {
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: arith.cmpi slt, %[[I]], %[[N]]
// CHECK: %[[BYTE:.*]] = arith.extui
// CHECK: memref.store %[[BYTE]], %[[KEPT]]
// CHECK: } {svm.unordered}
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK: arith.cmpi slt, %[[J]], %[[N]]
// CHECK: %[[OLD:.*]] = memref.load %[[KEPT]]
// CHECK: arith.trunci %[[OLD]]
// CHECK: } {svm.unordered}
svm.kernel @guarded(%a: !v {svm.access = "readwrite"}, %n: index, %i: index) {
  %c0 = arith.constant 0 : i32
  %is = arith.cmpi slt, %i, %n : index
  %x = memref.load %a[%i] : !v
  %positive = arith.cmpi sgt, %x, %c0 : i32
  scf.if %is {
    memref.store %c0, %a[%i] : !v
  }
  svm.barrier
  %both = arith.andi %is, %positive : i1
  scf.if %both {
    memref.store %c0, %a[%i] : !v
  }
  svm.return
}

// A loop that all go around alike stands around the loops over instances.
// CHECK-LABEL: svm.kernel @rounds.split
// CHECK: scf.for
// CHECK-NOT: svm.unordered
// CHECK: scf.for
// CHECK: } {svm.unordered}
// CHECK: scf.for
// CHECK: } {svm.unordered}
// CHECK-NEXT: }
svm.kernel @rounds(%a: !v {svm.access = "readwrite"}, %n: index, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %x = memref.load %a[%k] : !v
    svm.barrier
    memref.store %x, %a[%i] : !v
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @some
// CHECK: svm.barrier
svm.kernel @some(%a: !v {svm.access = "readwrite"}, %n: index, %i: index) {
  %comes = arith.cmpi slt, %i, %n : index
  // expected-remark @+1 {{instances wait for each other one by one: instances might come to a barrier or not}}
  scf.if %comes {
    svm.barrier
  }
  svm.return
}

// CHECK-LABEL: func.func @main
// CHECK: scf.if
// CHECK: %[[BLOCK:.*]] = svm.block
// CHECK: svm.run @turn.split(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[BLOCK]])
// CHECK: svm.run @rounds.split
// CHECK: svm.run @guarded.split
// CHECK: svm.parallel (%[[I:.*]]) = {{.*}} concurrent
// CHECK: svm.run @some
// CHECK: svm.parallel "named"
// CHECK: svm.run @turn(
func.func @main(%a: !v {svm.access = "readwrite"}, %n: index) attributes {svm.entry} {
  %c0 = arith.constant 0 : index
  svm.parallel (%i) = (%c0) to (%n) concurrent {
    svm.run @turn(%a, %n, %i) : (!v, index, index) -> ()
  }
  svm.parallel (%i) = (%c0) to (%n) concurrent {
    svm.run @rounds(%a, %n, %i) : (!v, index, index) -> ()
  }
  svm.parallel (%i) = (%c0) to (%n) concurrent {
    svm.run @guarded(%a, %n, %i) : (!v, index, index) -> ()
  }
  svm.parallel (%i) = (%c0) to (%n) concurrent {
    svm.run @some(%a, %n, %i) : (!v, index, index) -> ()
  }
  svm.parallel "named" (%i) = (%c0) to (%n) concurrent {
    svm.run @turn(%a, %n, %i) : (!v, index, index) -> ()
  }
  return
}
}
