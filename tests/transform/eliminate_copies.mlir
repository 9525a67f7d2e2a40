// RUN: strata-opt --svm-eliminate-copies --split-input-file %s | FileCheck %s
// A block that mirrors a view in its own memory becomes the view, where nothing can tell; each move that goes leaves a count.

!view = memref<?xi32, strided<[1], offset: ?>>
!row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>
!near = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@ls>>
!matrix = memref<?x?xi32, strided<[?, 1], offset: ?>>
!held = memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.mem<@main>>

module attributes {svm.stage = "placed"} {
svm.kernel @read(%x: !view {svm.access = "read"}) {
  svm.return
}
svm.kernel @update(%x: !view {svm.access = "read"}, %y: !view {svm.access = "readwrite"}) {
  svm.return
}

// In and out again: runs work on the views.
// CHECK-LABEL: func.func @mirrors
// CHECK-SAME: (%[[A:[^:]*]]: {{.*}}, %[[B:[^:]*]]: {{.*}}, %[[N:[^:]*]]: index
// CHECK-NOT: svm.block
// CHECK-NOT: svm.move
// CHECK: svm.count "moves elided"
// CHECK: svm.count "moves elided"
// CHECK: svm.run @update(%[[A]], %[[B]])
// CHECK: svm.count "moves elided"
// CHECK-NOT: svm.move
// CHECK: return
func.func @mirrors(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    %y = svm.block "y"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.move %b to %y : !row to !row
    svm.run @update(%x, %y) on @core : (!row, !row) -> ()
    svm.move %y to %b : !row to !row
  }
  return
}

// Another memory: the copy is what there is to do.
// CHECK-LABEL: func.func @otherMemory
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @otherMemory(%a: !row, %n: index) attributes {svm.control = @spe} {
  svm.scope "t" {
    %x = svm.block "x"(%n) max [16] : !near
    svm.move %a to %x : !row to !near
    svm.run @read(%x) on @spe : (!near) -> ()
  }
  return
}

// Written and not moved out: the block is private, and writes must not reach the array.
// CHECK-LABEL: func.func @writtenAndKept
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @writtenAndKept(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" disjoint {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.run @update(%b, %x) on @core : (!row, !row) -> ()
  }
  return
}

// … also when it is written through a view of it.
// CHECK-LABEL: func.func @writtenThroughView
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @writtenThroughView(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" disjoint {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    %part = memref.subview %x[0] [%n] [1] : !row to !row
    svm.run @update(%b, %part) on @core : (!row, !row) -> ()
  }
  return
}

// The source is written between the block's move in and its last use.
// CHECK-LABEL: func.func @sourceWrittenMeanwhile
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @sourceWrittenMeanwhile(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.run @update(%b, %a) on @core : (!row, !row) -> ()
    svm.run @read(%x) on @core : (!row) -> ()
  }
  return
}

// … where the last use goes through a view that was made before the write.
// CHECK-LABEL: func.func @lastUseThroughView
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @lastUseThroughView(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    %part = memref.subview %x[0] [%n] [1] : !row to !row
    svm.run @update(%b, %a) on @core : (!row, !row) -> ()
    svm.run @read(%part) on @core : (!row) -> ()
  }
  return
}

// Written behind its last use, the source can be read in place.
// CHECK-LABEL: func.func @sourceWrittenLater
// CHECK-NOT: svm.block
// CHECK-NOT: svm.move
// CHECK: return
func.func @sourceWrittenLater(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.run @read(%x) on @core : (!row) -> ()
    svm.run @update(%b, %a) on @core : (!row, !row) -> ()
  }
  return
}

// Two blocks of one array, one of them written: they may overlap. One can be read in place, the other one then not written there.
// CHECK-LABEL: func.func @overlap
// CHECK: %[[Y:.*]] = svm.block "y"
// CHECK-NOT: svm.block
// CHECK: svm.move %{{.*}} to %[[Y]]
// CHECK: svm.run @update(%{{.*}}, %[[Y]])
// CHECK: svm.move %[[Y]] to
// CHECK: return
func.func @overlap(%a: !row, %n: index, %k: index) attributes {svm.control = @core} {
  %v = memref.subview %a[0] [%n] [1] : !row to !row
  %w = memref.subview %a[%k] [%n] [1] : !row to !row
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    %y = svm.block "y"(%n) : !row
    svm.move %v to %x : !row to !row
    svm.move %w to %y : !row to !row
    svm.run @update(%x, %y) on @core : (!row, !row) -> ()
    svm.move %y to %w : !row to !row
  }
  return
}

// The same in a scope that says that they do not overlap.
// CHECK-LABEL: func.func @disjoint
// CHECK-NOT: svm.block
// CHECK-NOT: svm.move
// CHECK: return
func.func @disjoint(%a: !row, %n: index, %k: index) attributes {svm.control = @core} {
  %v = memref.subview %a[0] [%n] [1] : !row to !row
  %w = memref.subview %a[%k] [%n] [1] : !row to !row
  svm.scope "t" disjoint {
    %x = svm.block "x"(%n) : !row
    %y = svm.block "y"(%n) : !row
    svm.move %v to %x : !row to !row
    svm.move %w to %y : !row to !row
    svm.run @update(%x, %y) on @core : (!row, !row) -> ()
    svm.move %y to %w : !row to !row
  }
  return
}

// Out to another view than it came from: a copy.
// CHECK-LABEL: func.func @elsewhere
// CHECK: svm.block
// CHECK: svm.move
// CHECK: svm.move
// CHECK: return
func.func @elsewhere(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" disjoint {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.run @update(%b, %x) on @core : (!row, !row) -> ()
    svm.move %x to %b : !row to !row
  }
  return
}

// Used again behind its move out: those writes must not reach the array.
// CHECK-LABEL: func.func @usedBehindMoveOut
// CHECK: svm.block
// CHECK: svm.move
// CHECK: svm.move
// CHECK: return
func.func @usedBehindMoveOut(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" disjoint {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    %part = memref.subview %x[0] [%n] [1] : !row to !row
    svm.run @update(%b, %x) on @core : (!row, !row) -> ()
    svm.move %x to %a : !row to !row
    svm.run @update(%b, %part) on @core : (!row, !row) -> ()
  }
  return
}

// The user asks for the copy.
// CHECK-LABEL: func.func @forced
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @forced(%a: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" disjoint {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x {svm.keep} : !row to !row
    svm.run @read(%x) on @core : (!row) -> ()
  }
  return
}

// Asking how a block lies is no use of what it holds.
// CHECK-LABEL: func.func @layout
// CHECK-NOT: svm.block
// CHECK-NOT: svm.move
// CHECK: memref.extract_strided_metadata %arg0
// CHECK: svm.run
func.func @layout(%a: !row, %n: index) attributes {svm.control = @core} {
  %eight = arith.constant 8 : index
  svm.scope "t" disjoint {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    %base, %offset, %size, %stride = memref.extract_strided_metadata %x : !row -> memref<i32, #svm.mem<@main>>, index, index, index
    %fits = arith.cmpi sle, %size, %eight : index
    svm.check %fits, "too-large", "{0}" (%size : index)
    svm.run @read(%x) on @core : (!row) -> ()
  }
  return
}

// Moves and runs that go on beside their starter are left alone.
// CHECK-LABEL: func.func @tokens
// CHECK: svm.block "x"
// CHECK: svm.block "y"
// CHECK: svm.move
// CHECK: svm.move
// CHECK: return
func.func @tokens(%a: !row, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" disjoint {
    %x = svm.block "x"(%n) : !row
    %y = svm.block "y"(%n) : !row
    %moved = svm.move %a to %x : !row to !row -> !svm.token
    svm.wait %moved
    svm.move %b to %y : !row to !row
    svm.run @read(%x) on @core : (!row) -> ()
    %done = svm.run @read(%y) on @core : (!row) -> !svm.token
    svm.wait %done
  }
  return
}

// The last thing in its scope is the move in: nothing reads the block, and it goes.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: svm.block
// CHECK-NOT: svm.move
// CHECK: return
func.func @unused(%a: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
  }
  return
}

// A whole array of two dimensions, given to a parallel loop within the scope, in and out.
// CHECK-LABEL: func.func @wholeArrays
// CHECK-SAME: (%[[A:[^:]*]]: {{.*}}, %[[B:[^:]*]]: {{.*}})
// CHECK-NOT: svm.block
// CHECK-NOT: svm.move
// CHECK: svm.instances
// CHECK: svm.run @whole(%[[A]], %[[B]], %{{.*}})
// CHECK-NOT: svm.move
// CHECK: return
svm.kernel @whole(%a: !matrix {svm.access = "read"}, %b: !matrix {svm.access = "readwrite"}, %t: index) attributes {svm.shared} {
  svm.return
}
func.func @wholeArrays(%a: !held, %b: !held) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !held
  %n = memref.dim %a, %c1 : !held
  svm.scope "program" {
    %x = svm.block "A"(%m, %n) : !held
    %y = svm.block "B"(%m, %n) : !held
    svm.move %a to %x : !held to !held
    svm.move %b to %y : !held to !held
    svm.instances "tiles" (%i) = (%c0) to (%m) on @core concurrent {
      svm.run @whole(%x, %y, %i) on @core : (!held, !held, index) -> ()
    }
    svm.move %y to %b : !held to !held
  }
  return
}
}

// -----
// Where instances run beside each other, a copy from before they order each other holds what was there then.
!view = memref<?xi32, strided<[1], offset: ?>>
!row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>

module attributes {svm.stage = "placed"} {
svm.kernel @read(%x: !view {svm.access = "read"}) {
  svm.return
}
svm.kernel @update(%x: !view {svm.access = "read"}, %y: !view {svm.access = "readwrite"}) {
  svm.return
}
svm.kernel @tell(%x: !view {svm.access = "readwrite"}) attributes {svm.shared} {
  svm.fence
  svm.return
}
func.func @tellInTurn(%flags: !row {svm.access = "readwrite"}) attributes {svm.control = @core} {
  svm.run @tell(%flags) on @core : (!row) -> ()
  return
}
// CHECK-LABEL: func.func @orderedMeanwhile
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @orderedMeanwhile(%a: !row, %flags: !row, %n: index, %c0: index, %c2: index) attributes {svm.control = @core} {
  svm.instances (%i) = (%c0) to (%c2) on @core concurrent {
    svm.scope "t" disjoint {
      %x = svm.block "x"(%n) : !row
      svm.move %a to %x : !row to !row
      func.call @tellInTurn(%flags) : (!row) -> ()
      svm.run @read(%x) on @core : (!row) -> ()
    }
  }
  return
}

// What is moved out behind a fence is not seen by others before it.
// CHECK-LABEL: func.func @orderedBeforeMoveOut
// CHECK: svm.block
// CHECK: svm.move
// CHECK: svm.move
// CHECK: return
func.func @orderedBeforeMoveOut(%a: !row, %b: !row, %n: index, %c0: index, %c2: index) attributes {svm.control = @core} {
  svm.instances (%i) = (%c0) to (%c2) on @core concurrent {
    svm.scope "t" {
      %x = svm.block "x"(%n) : !row
      svm.move %a to %x : !row to !row
      svm.run @update(%b, %x) on @core : (!row, !row) -> ()
      svm.fence
      svm.move %x to %a : !row to !row
    }
  }
  return
}

// … also in a function that a concurrent loop calls.
// CHECK-LABEL: func.func @calledFromConcurrent
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @calledFromConcurrent(%a: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.fence
    svm.run @read(%x) on @core : (!row) -> ()
  }
  return
}
func.func @callsConcurrently(%a: !row, %n: index, %c0: index, %c2: index) attributes {svm.control = @core} {
  svm.instances (%i) = (%c0) to (%c2) on @core concurrent {
    func.call @calledFromConcurrent(%a, %n) : (!row, index) -> ()
  }
  return
}

// The order comes behind the last use, or nobody runs beside: no copy.
// CHECK-LABEL: func.func @orderedLater
// CHECK-NOT: svm.block
// CHECK-NOT: svm.move
// CHECK: return
func.func @orderedLater(%a: !row, %flags: !row, %n: index, %c0: index, %c2: index) attributes {svm.control = @core} {
  svm.instances (%i) = (%c0) to (%c2) on @core concurrent {
    svm.scope "t" {
      %x = svm.block "x"(%n) : !row
      svm.move %a to %x : !row to !row
      svm.run @read(%x) on @core : (!row) -> ()
      svm.fence
    }
  }
  return
}
// CHECK-LABEL: func.func @alone
// CHECK-NOT: svm.block
// CHECK-NOT: svm.move
// CHECK: return
func.func @alone(%a: !row, %flags: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.fence
    svm.run @read(%x) on @core : (!row) -> ()
  }
  return
}
}

// -----
// A run that goes on beside its starter writes the source, and is waited for between the copy and its use.
!view = memref<?xi32, strided<[1], offset: ?>>
!row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>

module attributes {svm.stage = "placed"} {
svm.kernel @read(%x: !view {svm.access = "read"}) {
  svm.return
}
svm.kernel @fill(%x: !view {svm.access = "readwrite"}) {
  svm.return
}
// CHECK-LABEL: func.func @waitedForMeanwhile
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @waitedForMeanwhile(%a: !row, %q: !svm.stream<i32>, %n: index) attributes {svm.control = @core} {
  %filled = svm.run @fill(%a) on @core : (!row) -> !svm.token
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.wait %filled
    svm.run @read(%x) on @core : (!row) -> ()
  }
  return
}
// CHECK-LABEL: func.func @toldByStreamMeanwhile
// CHECK: svm.block
// CHECK: svm.move
// CHECK: return
func.func @toldByStreamMeanwhile(%a: !row, %q: !svm.stream<i32>, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    %v, %more = svm.pop %q : !svm.stream<i32> -> i32
    svm.run @read(%x) on @core : (!row) -> ()
  }
  return
}
}
