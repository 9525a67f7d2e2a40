// RUN: strata-opt --svm-distribute %s | FileCheck %s
// Parallel iterations become instances that loop over their shares; without processors they become a loop.

!row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>
!view = memref<?xi32, strided<[1], offset: ?>>
svm.kernel @fill(%x: !view {svm.access = "write"}, %i: index) {
  svm.return
}

// A contiguous share each: the first (count mod instances) shares are one longer, and there are no more instances than iterations.
// CHECK-LABEL: func.func @contiguous
// CHECK-SAME: %[[N:.*]]: index
// CHECK: %[[COUNT:.*]] = arith.maxsi
// CHECK: %[[USED:.*]] = arith.minsi %[[COUNT]], %c4
// CHECK: svm.spmd "i" (%[[PART:.*]]) = (%{{.*}}) to (%[[USED]]) on @core ways {{[0-9]+}} instances {
// CHECK: arith.divui %{{.*}}, %[[USED]]
// CHECK: arith.remui %{{.*}}, %[[USED]]
// CHECK: scf.for %[[I:.*]] = %[[FIRST:.*]] to %[[LAST:.*]] step
// CHECK: svm.run @fill(%{{.*}}, %[[I]])
// CHECK: } {svm.parallel}
// CHECK-NOT: svm.spmd
// CHECK: return
func.func @contiguous(%n: index, %a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.spmd "i" (%i) = (%c0) to (%n) on @core ways 4 {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  }
  return
}

// Block-cyclic: chunks of 3 in turn, the last one shorter; no more instances than chunks.
// CHECK-LABEL: func.func @blockCyclic
// CHECK-SAME: %[[N:.*]]: index
// CHECK: %[[CHUNKS:.*]] = arith.divui %{{.*}}, %c3
// CHECK: %[[USED:.*]] = arith.minsi %[[CHUNKS]], %c4
// CHECK: svm.spmd "i" (%[[PART:.*]]) = (%{{.*}}) to (%[[USED]]) on @core ways {{[0-9]+}} instances {
// CHECK: %[[FIRST:.*]] = arith.muli %[[PART]], %[[SIZE:.*]] : index
// CHECK: %[[STEP:.*]] = arith.muli %[[USED]], %[[SIZE]] : index
// CHECK: scf.for %[[CHUNK:.*]] = %{{.*}} to %[[N]] step %[[STEP]] {
// CHECK: %[[END:.*]] = arith.addi %[[CHUNK]], %[[SIZE]] : index
// CHECK: %[[STOP:.*]] = arith.minsi %[[END]], %[[N]] : index
// CHECK: scf.for %[[I:.*]] = %[[CHUNK]] to %[[STOP]] step
// CHECK: svm.run @fill(%{{.*}}, %[[I]])
// CHECK: } {svm.nonempty, svm.parallel}
// CHECK: } {svm.parallel}
// CHECK: return
func.func @blockCyclic(%n: index, %a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.spmd "i" (%i) = (%c0) to (%n) on @core ways 4 chunk 3 {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  }
  return
}

// On one processor: a loop that keeps its label and says that it was parallel.
// CHECK-LABEL: func.func @serial
// CHECK-NOT: svm.spmd
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: svm.run @fill(%{{.*}}, %[[I]])
// CHECK: } {svm.label = "i", svm.parallel}
func.func @serial(%n: index, %a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.spmd "i" (%i) = (%c0) to (%n) {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  }
  return
}

// Concurrent iterations are instances as they are: a share of several could wait for itself. They are no loop that could be
// pipelined.
// CHECK-LABEL: func.func @concurrent
// CHECK-NOT: svm.stages
// CHECK-NOT: scf.for
// CHECK: svm.spmd "i" (%[[I:.*]]) = (%{{.*}}) to (%{{.*}}) on @core
// CHECK-SAME: instances
// CHECK-NOT: scf.for
// CHECK-NOT: svm.stages
// CHECK: return
func.func @concurrent(%n: index, %a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.spmd "i" (%i) = (%c0) to (%n) on @core concurrent {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  } {svm.stages = 2 : i64}
  return
}
