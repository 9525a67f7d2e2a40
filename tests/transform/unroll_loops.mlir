// RUN: strata-opt --svm-unroll-loops %s | FileCheck %s
// Copies of a loop's body, and a loop for what remains; or a copy for each iteration and no loop.

!view = memref<?xi32, strided<[1], offset: ?>>
!near = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@ls>>

module attributes {svm.stage = "placed"} {
svm.kernel @touch(%x: !view {svm.access = "readwrite"}, %i: index) {
  svm.return
}

// CHECK-LABEL: func.func @threeTimes
// CHECK-SAME: %[[N:[^:]*]]: index
// CHECK: %[[SPAN:.*]] = arith.maxsi
// CHECK: %[[ROUNDS:.*]] = arith.divui
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[MIDDLE:.*]] step %{{.*}} {
// CHECK: svm.run @touch(%{{.*}}, %[[FIRST:.*]])
// CHECK: svm.run @touch
// CHECK: svm.run @touch
// CHECK-NOT: svm.run
// CHECK: }
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %[[N]]
// CHECK: svm.run @touch
// CHECK-NOT: svm.run
// CHECK: return
func.func @threeTimes(%n: index, %x: !near) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.run @touch(%x, %i) on @spe : (!near, index) -> ()
  } {svm.unroll = 3 : i64}
  return
}

// What an iteration makes ends with it.
// CHECK-LABEL: func.func @scopes
// CHECK: scf.for
// CHECK: svm.scope {
// CHECK: svm.block
// CHECK: svm.scope {
// CHECK: svm.block
// CHECK: scf.for
// CHECK: return
func.func @scopes(%n: index) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = svm.block "x"(%n) max [4] : !near
    svm.run @touch(%x, %i) on @spe : (!near, index) -> ()
  } {svm.unroll = 2 : i64}
  return
}

// CHECK-LABEL: func.func @flat
// CHECK-NOT: scf.for
// CHECK-COUNT-3: svm.run @touch
// CHECK-NOT: svm.run
// CHECK: return
func.func @flat(%x: !near) attributes {svm.control = @spe} {
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c2 to %c7 step %c2 {
    svm.run @touch(%x, %i) on @spe : (!near, index) -> ()
  } {svm.flatten = loc(unknown)}
  return
}

// No iteration, no copy.
// CHECK-LABEL: func.func @none
// CHECK-NOT: svm.run
// CHECK: return
func.func @none(%x: !near) attributes {svm.control = @spe} {
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c7 to %c2 step %c2 {
    svm.run @touch(%x, %i) on @spe : (!near, index) -> ()
  } {svm.flatten = loc(unknown)}
  return
}
}
