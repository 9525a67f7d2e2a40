// RUN: strata-opt --svm-distribute %s | FileCheck %s
// Parallel iterations become instances that loop over their shares; without processors they become a loop.

!row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>
!view = memref<?xi32, strided<[1], offset: ?>>

module attributes {svm.stage = "placed"} {
svm.kernel @fill(%x: !view {svm.access = "write"}, %i: index) {
  svm.return
}

// A contiguous share each: the first (count mod instances) shares are one longer, and there are no more instances than iterations.
// CHECK-LABEL: func.func @contiguous
// CHECK-SAME: %[[N:.*]]: index
// CHECK: %[[COUNT:.*]] = arith.maxsi
// CHECK: %[[USED:.*]] = arith.minsi %[[COUNT]], %c4
// CHECK: svm.instances "i" (%[[PART:.*]]) = (%{{.*}}) to (%[[USED]]) on @core parts {{[0-9]+}} {
// CHECK: arith.divui %{{.*}}, %[[USED]]
// CHECK: arith.remui %{{.*}}, %[[USED]]
// CHECK: scf.for %[[I:.*]] = %[[FIRST:.*]] to %[[LAST:.*]] step
// CHECK: svm.run @fill(%{{.*}}, %[[I]])
// CHECK: } {svm.parallel}
// CHECK-NOT: svm.parallel
// CHECK: return
func.func @contiguous(%n: index, %a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.parallel "i" (%i) = (%c0) to (%n) on @core parts 4 {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  }
  return
}

// Block-cyclic: chunks of 3 in turn, the last one shorter; no more instances than chunks.
// CHECK-LABEL: func.func @blockCyclic
// CHECK-SAME: %[[N:.*]]: index
// CHECK: %[[CHUNKS:.*]] = arith.divui %{{.*}}, %c3
// CHECK: %[[USED:.*]] = arith.minsi %[[CHUNKS]], %c4
// CHECK: svm.instances "i" (%[[PART:.*]]) = (%{{.*}}) to (%[[USED]]) on @core parts {{[0-9]+}} {
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
  svm.parallel "i" (%i) = (%c0) to (%n) on @core parts 4 chunk 3 {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  }
  return
}

// On one processor: a loop that keeps its label and says that it was parallel.
// CHECK-LABEL: func.func @serial
// CHECK-NOT: svm.parallel
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: svm.run @fill(%{{.*}}, %[[I]])
// CHECK: } {svm.label = "i", svm.parallel}
func.func @serial(%n: index, %a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.parallel "i" (%i) = (%c0) to (%n) {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  }
  return
}

// Concurrent iterations are instances as they are: a share of several could wait for itself. They are no loop that could be
// pipelined.
// No more of them are started than there may be.
// CHECK-LABEL: func.func @concurrent
// CHECK-NOT: svm.stages
// CHECK-NOT: scf.for
// CHECK: %[[MOST:.*]] = arith.constant 2147483648 : index
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %{{.*}}, %[[MOST]] : index
// CHECK: svm.check %[[FITS]], "too-many-instances"
// CHECK: svm.instances "i" (%[[I:.*]]) = (%{{.*}}) to (%{{.*}}) on @core
// CHECK-SAME: concurrent
// CHECK-NOT: scf.for
// CHECK-NOT: svm.stages
// CHECK: return
func.func @concurrent(%n: index, %a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.parallel "i" (%i) = (%c0) to (%n) on @core concurrent {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  } {svm.stages = 2 : i64}
  return
}

// What constants say to be few is not checked.
// CHECK-LABEL: func.func @few
// CHECK-NOT: svm.check
// CHECK: svm.instances
// CHECK-NOT: svm.check
// CHECK: return
func.func @few(%a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %most = arith.constant 268435456 : index
  svm.parallel "i" (%i, %j) = (%c0, %c0) to (%c8, %most) on @core concurrent {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  }
  return
}

// One more than constants may say.
// CHECK-LABEL: func.func @many
// CHECK: svm.check %{{.*}}, "too-many-instances"
// CHECK: svm.instances
func.func @many(%a: !row) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  %more = arith.constant 2147483649 : index
  svm.parallel "i" (%i) = (%c0) to (%more) on @core concurrent {
    svm.run @fill(%a, %i) on @core : (!row, index) -> ()
  }
  return
}

// Two dimensions: a grid of parts, numbered row by row; each part has its share of rows, and of columns.
// CHECK-LABEL: func.func @grid
// CHECK: %[[ALL:.*]] = arith.muli %[[ROWS:.*]], %[[COLUMNS:.*]] : index
// CHECK: svm.instances "cells" (%[[PART:.*]]) = (%{{.*}}) to (%[[ALL]]) on @core parts 6 {
// CHECK-DAG: arith.remui %[[PART]], %[[COLUMNS]] : index
// CHECK-DAG: arith.divui %[[PART]], %[[COLUMNS]] : index
// CHECK: scf.for %[[I:.*]] = {{.*}} {
// CHECK: scf.for %[[J:.*]] = {{.*}} {
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @grid(%n: index, %m: index, %x: i32, %a: memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.mem<@main>>) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.parallel "cells" (%i, %j) = (%c0, %c0) to (%n, %m) on @core parts [3, 2] chunk [0, 0] {
    memref.store %x, %a[%i, %j] : memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.mem<@main>>
  }
  return
}

// Nobody is named to take part: a nest of loops.
// CHECK-LABEL: func.func @nest
// CHECK: scf.for
// CHECK: scf.for
// CHECK: } {svm.parallel}
// CHECK: } {svm.parallel}
func.func @nest(%n: index, %m: index, %x: i32, %a: memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.mem<@main>>) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.parallel (%i, %j) = (%c0, %c0) to (%n, %m) {
    memref.store %x, %a[%i, %j] : memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.mem<@main>>
  }
  return
}
}
