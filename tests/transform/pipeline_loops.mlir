// RUN: strata-opt --svm-pipeline-loops %s 2>/dev/null | FileCheck %s
// RUN: strata-opt --svm-pipeline-loops %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// Transfers of a loop with stages are started ahead of the iteration and go on behind it.

!view = memref<?xi32, strided<[1], offset: ?>>
!row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>
!near = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@ls>>

module attributes {svm.stage = "placed"} {
svm.kernel @copy(%x: !view {svm.access = "read"}, %y: !view {svm.access = "write"}) {
  svm.return
}
svm.kernel @update(%x: !view {svm.access = "readwrite"}) {
  svm.return
}

// Two buffers of each block; the first iteration's transfer before the loop, the next one's before what an iteration does.
// REMARK: remark: loop 'i' is pipelined: 2 buffers of 'x', 'y'
// CHECK-LABEL: func.func @both
// CHECK: scf.if
// CHECK: svm.scope
// CHECK: %[[X0:.*]] = svm.block "x"(%{{.*}}) max [16] {svm.buffer = 0 : i64, svm.buffers = 2 : i64}
// CHECK: %[[X1:.*]] = svm.block "x"(%{{.*}}) max [16] {svm.buffer = 1 : i64, svm.buffers = 2 : i64}
// CHECK: %[[Y0:.*]] = svm.block "y"
// CHECK: %[[Y1:.*]] = svm.block "y"
// CHECK: svm.check
// CHECK: %[[FIRST:.*]] = svm.move {{.*}} -> !svm.token
// CHECK: scf.for {{.*}} iter_args(%[[NOW:[^ ]*]] = %[[X0]], %[[NEXT:[^ ]*]] = %[[X1]], %[[Z0:[^ ]*]] = %[[Y0]], %[[Z1:[^ ]*]] = %[[Y1]], %[[T:[^ ]*]] = %[[FIRST]], %[[O0:[^ ]*]] = %{{.*}}, %[[O1:[^ ]*]] = %{{.*}})
// CHECK: svm.check
// CHECK: memref.subview %[[NEXT]]
// CHECK: %[[STARTED:.*]] = svm.move {{.*}} -> !svm.token
// CHECK: svm.wait %[[T]]
// CHECK: svm.wait %[[O0]]
// CHECK-NOT: svm.check %{{.*}}, "range"
// CHECK: svm.run @copy
// CHECK: %[[SENT:.*]] = svm.move {{.*}} -> !svm.token
// CHECK: scf.yield %[[NEXT]], %[[NOW]], %[[Z1]], %[[Z0]], %[[STARTED]], %[[O1]], %[[SENT]]
// CHECK: svm.wait
// CHECK: return
func.func @both(%n: index, %m: index, %a: !row, %b: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.muli %i, %m : index
    %fine = arith.cmpi sge, %at, %c0 : index
    svm.check %fine, "range", "the block is outside"
    %v = memref.subview %a[%at] [%m] [1] : !row to !row
    %w = memref.subview %b[%at] [%m] [1] : !row to !row
    svm.scope "t" disjoint {
      %x = svm.block "x"(%m) max [16] : !near
      %y = svm.block "y"(%m) max [16] : !near
      svm.move %v to %x : !row to !near
      svm.run @copy(%x, %y) on @spe : (!near, !near) -> ()
      svm.move %y to %w : !near to !row
    }
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}

// A block that is filled and emptied: the next transfer in comes after the last one out of the same buffer.
// REMARK: remark: loop 'i' is pipelined: 3 buffers of 'x'
// CHECK-LABEL: func.func @inPlace
// CHECK: scf.for {{.*}} iter_args(%[[B0:[^ ]*]] = %{{[^,]*}}, %[[B1:[^ ]*]] = %{{[^,]*}}, %[[B2:[^ ]*]] = %{{[^,]*}}, %[[T0:[^ ]*]] = %{{[^,]*}}, %[[T1:[^ ]*]] = %{{[^,]*}}, %[[O:[^ ]*]] = %{{[^)]*}})
// CHECK: %[[STARTED:.*]] = svm.move {{.*}} after(%[[O]])
// CHECK: svm.wait %[[T0]]
// CHECK: svm.run @update
// CHECK: %[[SENT:.*]] = svm.move
// CHECK: scf.yield %[[B1]], %[[B2]], %[[B0]], %[[T1]], %[[STARTED]], %[[SENT]]
func.func @inPlace(%n: index, %m: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.muli %i, %m : index
    %v = memref.subview %a[%at] [%m] [1] : !row to !row
    svm.scope "t" disjoint {
      %x = svm.block "x"(%m) max [16] : !near
      svm.move %v to %x : !row to !near
      svm.run @update(%x) on @spe : (!near) -> ()
      svm.move %x to %v : !near to !row
    }
  } {svm.parallel, svm.label = "i", svm.stages = 3 : i64}
  return
}

// Iterations that follow each other, blocks without a bound, and what an iteration computes itself: they run as they are.
// REMARK: remark: loop 'i' is not pipelined: its iterations follow each other
// CHECK-LABEL: func.func @sequential
// CHECK-NOT: svm.token
// CHECK: return
func.func @sequential(%n: index, %m: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %a[%i] [%m] [1] : !row to !row
    svm.scope "t" disjoint {
      %x = svm.block "x"(%m) max [16] : !near
      svm.move %v to %x : !row to !near
      svm.run @update(%x) on @spe : (!near) -> ()
    }
  } {svm.label = "i", svm.stages = 2 : i64}
  return
}

// REMARK: remark: loop 'i' is not pipelined: 'x' has no static bound
// CHECK-LABEL: func.func @unbounded
// CHECK-NOT: svm.token
// CHECK: return
func.func @unbounded(%n: index, %m: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %a[%i] [%m] [1] : !row to !row
    svm.scope "t" disjoint {
      %x = svm.block "x"(%m) : !near
      svm.move %v to %x : !row to !near
      svm.run @update(%x) on @spe : (!near) -> ()
    }
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}

// REMARK: remark: loop 'i' is not pipelined: an iteration has no transfers of its own
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: svm.token
// CHECK: return
func.func @nothing(%n: index, %x: !near) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.run @update(%x) on @spe : (!near) -> ()
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}

// Iterations that reduce share what they write: a copy of it cannot be made ahead of the iteration before.
// REMARK: remark: loop 'i' is not pipelined: what fills 'x' is written by the iterations themselves
// CHECK-LABEL: func.func @accumulates
// CHECK-NOT: svm.token
// CHECK: return
func.func @accumulates(%n: index, %m: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.scope "t" disjoint {
      %x = svm.block "x"(%m) max [16] : !near
      svm.move %a to %x : !row to !near
      svm.run @update(%x) on @spe : (!near) -> ()
      svm.move %x to %a : !near to !row
    }
  } {svm.parallel, svm.reduces, svm.label = "i", svm.stages = 2 : i64}
  return
}

// What an earlier part of the iteration writes cannot be read ahead; what does not depend on it can.
// REMARK: remark: loop 'i' is pipelined: 2 buffers of 'x'; not of all: where 'x' is emptied to is used by the iterations themselves
// CHECK-LABEL: func.func @chained
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK: scf.for
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK: svm.run @update
// CHECK: svm.block "y"
// CHECK: svm.move
// CHECK: return
func.func @chained(%n: index, %m: index, %a: !row, %b: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %a[%i] [%m] [1] : !row to !row
    %w = memref.subview %b[%i] [%m] [1] : !row to !row
    svm.scope "s" {
      %x = svm.block "x"(%m) max [16] : !near
      svm.move %v to %x : !row to !near
      svm.run @update(%x) on @spe : (!near) -> ()
      svm.move %x to %w : !near to !row
    }
    svm.scope "t" {
      %y = svm.block "y"(%m) max [16] : !near
      svm.move %w to %y : !row to !near
      svm.run @update(%y) on @spe : (!near) -> ()
    }
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}

// Under a condition, transfers ahead are of no elements where it does not hold, and the checks in front of them are not made.
// CHECK-LABEL: func.func @conditional
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: svm.check
// CHECK: arith.select
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK: scf.if
// CHECK: svm.run @update
// CHECK: return
func.func @conditional(%n: index, %m: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %a[%i] [%m] [1] : !row to !row
    %some = arith.cmpi ne, %i, %c7 : index
    scf.if %some {
      %fine = arith.cmpi slt, %i, %m : index
      svm.check %fine, "range", "the block is outside"
      svm.scope "t" disjoint {
        %x = svm.block "x"(%m) max [16] : !near
        svm.move %v to %x : !row to !near
        svm.run @update(%x) on @spe : (!near) -> ()
      }
    }
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}

// Another processor works on what this one has moved into its store: the tokens stay here, and it is started when its
// block is there.
// REMARK: remark: loop 'i' is pipelined: 2 buffers of 'x'
// CHECK-LABEL: func.func @pushed
// CHECK: %[[X0:.*]] = svm.block "x"
// CHECK: %[[X1:.*]] = svm.block "x"
// CHECK: %[[FIRST:.*]] = svm.move {{.*}} -> !svm.token
// CHECK: scf.for {{.*}} iter_args(%[[NOW:[^ ]*]] = %[[X0]], %[[NEXT:[^ ]*]] = %[[X1]], %[[T:[^ ]*]] = %[[FIRST]]
// CHECK: memref.subview %[[NEXT]]
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK: svm.wait %[[T]]
// CHECK: svm.on @spe {
// CHECK-NOT: svm.move
// CHECK: svm.run @update
// CHECK: }
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK: scf.yield
func.func @pushed(%n: index, %m: index, %a: !row) attributes {svm.control = @ppe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.muli %i, %m : index
    %v = memref.subview %a[%at] [%m] [1] : !row to !row
    svm.on @spe {
      svm.scope "t" disjoint {
        %x = svm.block "x"(%m) max [16] : !near
        svm.move %v to %x : !row to !near
        svm.run @update(%x) on @spe : (!near) -> ()
        svm.move %x to %v : !near to !row
      }
    }
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}

// What the other processor reads before is not known to this one.
// REMARK: remark: loop 'i' is not pipelined: where 'x' is filled from is not known before the iteration
func.func @chosenThere(%n: index, %m: index, %a: !row) attributes {svm.control = @ppe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = memref.alloca() : memref<index>
  scf.for %i = %c0 to %n step %c1 {
    svm.on @spe {
      %at = memref.load %k[] : memref<index>
      %v = memref.subview %a[%at] [%m] [1] : !row to !row
      svm.scope "t" disjoint {
        %x = svm.block "x"(%m) max [16] : !near
        svm.move %v to %x : !row to !near
        svm.run @copy(%x, %x) on @spe : (!near, !near) -> ()
      }
    }
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}

// Two processors at once are not one that is started for each iteration.
// REMARK: remark: loop 'i' is not pipelined: its transfers are made by loops of other processors, which it starts anew
func.func @severalStarted(%n: index, %m: index, %a: !row) attributes {svm.control = @ppe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.instances (%p) = (%c0) to (%c2) on @spe {
      %at = arith.addi %i, %p : index
      %v = memref.subview %a[%at] [%m] [1] : !row to !row
      svm.scope "t" disjoint {
        %x = svm.block "x"(%m) max [16] : !near
        svm.move %v to %x : !row to !near
        svm.run @copy(%x, %x) on @spe : (!near, !near) -> ()
      }
    }
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}

// What a branch guards is computed for an iteration to come only where that iteration takes the branch: a load and a
// remainder, of the transfer in and of the one out.
// REMARK: remark: loop 'i' is pipelined: 2 buffers of 'x'
// CHECK-LABEL: func.func @guarded
// CHECK: svm.scope
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %arg2
// CHECK: scf.if %[[FIRST]] -> (index) {
// CHECK-NEXT: memref.load
// CHECK: } else {
// CHECK: scf.if %[[FIRST]] -> (index) {
// CHECK-NEXT: arith.remui
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK: scf.for
// CHECK: %[[NEXT:.*]] = arith.cmpi slt, %{{.*}}, %arg2
// CHECK: scf.if %[[NEXT]] -> (index) {
// CHECK-NEXT: memref.load
// CHECK: scf.if %[[NEXT]] -> (index) {
// CHECK-NEXT: arith.remui
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %{{.*}}, %arg2
// CHECK-NEXT: scf.if %[[SOME]] {
// CHECK: svm.run @update
// CHECK: scf.if %[[SOME]] -> (index) {
// CHECK-NEXT: memref.load
// CHECK: scf.if %[[SOME]] -> (index) {
// CHECK-NEXT: arith.remui
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK-NEXT: scf.yield
func.func @guarded(%n: index, %m: index, %k: index, %a: !row, %f: memref<?xindex, strided<[1], offset: ?>>)
    attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %some = arith.cmpi slt, %i, %k : index
    scf.if %some {
      %j = memref.load %f[%i] : memref<?xindex, strided<[1], offset: ?>>
      %at = arith.remui %j, %k : index
      %v = memref.subview %a[%at] [%m] [1] : !row to !row
      svm.scope "t" disjoint {
        %x = svm.block "x"(%m) max [16] : !near
        svm.move %v to %x : !row to !near
        svm.run @update(%x) on @spe : (!near) -> ()
        svm.move %x to %v : !near to !row
      }
    }
  } {svm.parallel, svm.label = "i", svm.stages = 2 : i64}
  return
}
}
