// RUN: strata-opt --svm-hoist-copies %s | FileCheck %s
// Copies whose other side does not change with the loop are made once, before it (and after it), where no iteration can tell.

!view = memref<?xi32, strided<[1], offset: ?>>
!row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>
!near = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@ls>>

module attributes {svm.stage = "placed"} {
svm.kernel @read(%x: !view {svm.access = "read"}) {
  svm.return
}
svm.kernel @update(%x: !view {svm.access = "read"}, %y: !view {svm.access = "readwrite"}) {
  svm.return
}

// Under a guard: a loop without iterations makes no copy.
// CHECK-LABEL: func.func @invariant
// CHECK-SAME: %[[N:[^:]*]]: index
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %{{.*}}, %[[N]] : index
// CHECK: scf.if %[[RUNS]] {
// CHECK: %[[X:.*]] = svm.block "x"
// CHECK: svm.move %{{.*}} to %[[X]]
// CHECK: scf.for
// CHECK: svm.count "moves hoisted"
// CHECK-NOT: svm.move
// CHECK: svm.run @read(%[[X]])
// CHECK: return
func.func @invariant(%n: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.scope "t" {
      %x = svm.block "x"(%n) max [16] : !near
      svm.move %a to %x : !row to !near
      svm.run @read(%x) on @spe : (!near) -> ()
    }
  }
  return
}

// Out of two loops.
// CHECK-LABEL: func.func @nest
// CHECK: scf.if
// CHECK: svm.block "x"
// CHECK: svm.move
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: svm.move
// CHECK: svm.run @read
// CHECK: return
func.func @nest(%n: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      svm.scope "t" {
        %x = svm.block "x"(%n) max [16] : !near
        svm.move %a to %x : !row to !near
        svm.run @read(%x) on @spe : (!near) -> ()
      }
    }
  }
  return
}

// Accumulated into, and touched by nobody else: in before the loop and out behind it. What changes with the loop stays.
// CHECK-LABEL: func.func @accumulated
// CHECK: scf.if
// CHECK: %[[Y:.*]] = svm.block "y"
// CHECK: svm.move %{{.*}} to %[[Y]]
// CHECK: scf.for
// CHECK: %[[X:.*]] = svm.block "x"
// CHECK: svm.move %{{.*}} to %[[X]]
// CHECK: svm.run @update(%[[X]], %[[Y]])
// CHECK-NOT: svm.move
// CHECK: }
// CHECK: svm.move %[[Y]] to
// CHECK: return
func.func @accumulated(%n: index, %a: !row, %c: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %a[%i] [%c1] [1] : !row to !row
    svm.scope "t" {
      %x = svm.block "x"(%c1) max [1] : !near
      %y = svm.block "y"(%n) max [16] : !near
      svm.move %v to %x : !row to !near
      svm.move %c to %y : !row to !near
      svm.run @update(%x, %y) on @spe : (!near, !near) -> ()
      svm.move %y to %c : !near to !row
    }
  }
  return
}

// Another scope of a sequential loop writes the source: each iteration needs it anew. The same holds for what is written.
// CHECK-LABEL: func.func @sourceWritten
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: svm.move
// CHECK: svm.move
// CHECK: svm.move
// CHECK: svm.move
// CHECK: return
func.func @sourceWritten(%n: index, %a: !row, %c: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %c[%i] [%c1] [1] : !row to !row
    svm.scope "t" {
      %x = svm.block "x"(%n) max [16] : !near
      svm.move %a to %x : !row to !near
      svm.run @read(%x) on @spe : (!near) -> ()
    }
    svm.scope "s" {
      %y = svm.block "y"(%n) max [16] : !near
      %z = svm.block "z"(%c1) max [1] : !near
      svm.move %a to %y : !row to !near
      svm.move %v to %z : !row to !near
      svm.run @update(%z, %y) on @spe : (!near, !near) -> ()
      svm.move %y to %a : !near to !row
    }
  }
  return
}

// Filled anew in every iteration and written meanwhile.
// CHECK-LABEL: func.func @startsAnew
// CHECK: scf.for
// CHECK: svm.block "y"
// CHECK: svm.move
// CHECK: return
func.func @startsAnew(%n: index, %a: !row, %x: !near) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.scope "t" disjoint {
      %y = svm.block "y"(%n) max [16] : !near
      svm.move %a to %y : !row to !near
      svm.run @update(%x, %y) on @spe : (!near, !near) -> ()
    }
  }
  return
}

// … also when a move writes it, further inside.
// CHECK-LABEL: func.func @startsAnewByMove
// CHECK: scf.for
// CHECK: svm.block "y"
// CHECK: svm.move
// CHECK: svm.move
// CHECK: return
func.func @startsAnewByMove(%n: index, %a: !row, %b: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %some = arith.cmpi eq, %i, %c1 : index
    svm.scope "t" {
      %y = svm.block "y"(%n) max [16] : !near
      svm.move %a to %y : !row to !near
      scf.if %some {
        svm.move %b to %y : !row to !near
      }
      svm.run @read(%y) on @spe : (!near) -> ()
    }
  }
  return
}

// Written behind its move out: the last iteration's writes are not for the array, nor for the next iteration.
// CHECK-LABEL: func.func @writtenBehindMoveOut
// CHECK: scf.for
// CHECK: svm.block "y"
// CHECK: svm.move
// CHECK: svm.run
// CHECK: svm.move
// CHECK: svm.run
// CHECK: return
func.func @writtenBehindMoveOut(%n: index, %a: !row, %x: !near) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.scope "t" disjoint {
      %y = svm.block "y"(%n) max [16] : !near
      svm.move %a to %y : !row to !near
      svm.run @update(%x, %y) on @spe : (!near, !near) -> ()
      svm.move %y to %a : !near to !row
      svm.run @update(%x, %y) on @spe : (!near, !near) -> ()
    }
  }
  return
}

// An accumulated block of an array that the loop reads elsewhere.
// CHECK-LABEL: func.func @readElsewhere
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: svm.move
// CHECK: svm.move
// CHECK: svm.move
// CHECK: return
func.func @readElsewhere(%n: index, %c: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %c[%i] [%c1] [1] : !row to !row
    svm.scope "t" {
      %x = svm.block "x"(%c1) max [1] : !near
      %y = svm.block "y"(%n) max [16] : !near
      svm.move %v to %x : !row to !near
      svm.move %c to %y : !row to !near
      svm.run @update(%x, %y) on @spe : (!near, !near) -> ()
      svm.move %y to %c : !near to !row
    }
  }
  return
}

// In a loop that was parallel, a disjoint scope's source is written by no iteration.
// CHECK-LABEL: func.func @parallel
// CHECK: scf.if
// CHECK: svm.block "x"
// CHECK: svm.move
// CHECK: scf.for
// CHECK: svm.block "y"
// CHECK: svm.run
// CHECK: return
func.func @parallel(%n: index, %a: !row, %k: index) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.subview %a[0] [%n] [1] : !row to !row
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.addi %n, %i : index
    %w = memref.subview %a[%at] [%c1] [1] : !row to !row
    svm.scope "t" disjoint {
      %x = svm.block "x"(%n) max [16] : !near
      %y = svm.block "y"(%c1) max [1] : !near
      svm.move %v to %x : !row to !near
      svm.move %w to %y : !row to !near
      svm.run @update(%x, %y) on @spe : (!near, !near) -> ()
      svm.move %y to %w : !near to !row
    }
  } {svm.parallel}
  return
}

// What goes on beside its starter stays where it is.
// CHECK-LABEL: func.func @tokens
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: svm.move {{.*}} -> !svm.token
// CHECK: return
func.func @tokens(%n: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.scope "t" {
      %x = svm.block "x"(%n) max [16] : !near
      %moved = svm.move %a to %x : !row to !near -> !svm.token
      svm.wait %moved
      svm.run @read(%x) on @spe : (!near) -> ()
    }
  }
  return
}

// A check that does not change with the loop goes with the copies, and in front of them.
// CHECK-LABEL: func.func @checked
// CHECK: scf.if
// CHECK: svm.check
// CHECK: svm.move
// CHECK: scf.for
// CHECK-NOT: svm.check
// CHECK: return
func.func @checked(%n: index, %a: !row, %fine: i1) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    svm.check %fine, "range", "the block is outside"
    svm.scope "t" {
      %x = svm.block "x"(%n) max [16] : !near
      svm.move %a to %x : !row to !near
      svm.run @read(%x) on @spe : (!near) -> ()
    }
  }
  return
}

// A loop over chunks around a loop over the iterations of each, which is never empty: the copy is made once before both.
// CHECK-LABEL: func.func @chunks
// CHECK: scf.if
// CHECK: svm.move
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: svm.move
// CHECK: return
func.func @chunks(%n: index, %a: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c2 {
    %after = arith.addi %i, %c2 : index
    %end = arith.minsi %after, %n : index
    scf.for %j = %i to %end step %c1 {
      svm.scope "t" disjoint {
        %x = svm.block "x"(%n) max [16] : !near
        svm.move %a to %x : !row to !near
        svm.run @read(%x) on @spe : (!near) -> ()
      }
    } {svm.parallel, svm.nonempty}
  } {svm.parallel}
  return
}

// Iterations that order themselves with what runs beside them each make their copy.
svm.kernel @tell(%x: !view {svm.access = "readwrite"}) attributes {svm.shared} {
  svm.fence
  svm.return
}
// CHECK-LABEL: func.func @ordered
// CHECK: scf.for
// CHECK: svm.move
// CHECK: return
func.func @ordered(%n: index, %a: !row, %flags: !near) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  svm.instances (%i) = (%c0) to (%c2) on @spe concurrent {
    scf.for %k = %c0 to %n step %c1 {
      svm.scope "t" {
        %x = svm.block "x"(%n) max [16] : !near
        svm.move %a to %x : !row to !near
        svm.run @read(%x) on @spe : (!near) -> ()
        svm.run @tell(%flags) on @spe : (!near) -> ()
      }
    }
  }
  return
}

// With the order around the loop, once is enough.
// CHECK-LABEL: func.func @orderedAround
// CHECK: svm.move
// CHECK: scf.for
// CHECK-NOT: svm.move
// CHECK: return
func.func @orderedAround(%n: index, %a: !row, %flags: !near) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  svm.instances (%i) = (%c0) to (%c2) on @spe concurrent {
    svm.run @tell(%flags) on @spe : (!near) -> ()
    scf.for %k = %c0 to %n step %c1 {
      svm.scope "t" {
        %x = svm.block "x"(%n) max [16] : !near
        svm.move %a to %x : !row to !near
        svm.run @read(%x) on @spe : (!near) -> ()
      }
    }
  }
  return
}
}
