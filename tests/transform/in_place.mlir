// RUN: strata-opt --svm-in-place=joined=space=memory --split-input-file %s | FileCheck %s
// A block that mirrors a part of a distributed one is that part where it lies; its moves stay, for where it lies elsewhere.

!view = memref<?xi32, strided<[1], offset: ?>>
!all = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@space>>
!own = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@memory>>
!near = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@store>>

module attributes {svm.stage = "placed"} {
svm.kernel @read(%x: !view {svm.access = "read"}) {
  svm.return
}
svm.kernel @update(%x: !view {svm.access = "read"}, %y: !view {svm.access = "readwrite"}) {
  svm.return
}

// CHECK-LABEL: func.func @mirrors
// CHECK-SAME: (%[[A:[^:]*]]: {{.*}}, %[[B:[^:]*]]: {{.*}}, %[[N:[^:]*]]: index
// CHECK: %[[X:.*]] = svm.block "x"
// CHECK: %[[HERE:.*]], %[[APART_HERE:.*]] = svm.in_place %[[X]] for %[[A]]
// CHECK: %[[Y:.*]] = svm.block "y"
// CHECK: %[[THERE:.*]], %[[APART_THERE:.*]] = svm.in_place %[[Y]] for %[[B]]
// CHECK: scf.if %[[APART_HERE]] {
// CHECK-NEXT: svm.move %[[A]] to %[[HERE]]
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %[[APART_THERE]] {
// CHECK-NEXT: svm.move %[[B]] to %[[THERE]]
// CHECK-NEXT: }
// CHECK-NEXT: svm.run @update(%[[HERE]], %[[THERE]])
// CHECK-NEXT: scf.if %[[APART_THERE]] {
// CHECK-NEXT: svm.move %[[THERE]] to %[[B]]
func.func @mirrors(%a: !all, %b: !all, %n: index) attributes {svm.control = @rank} {
  svm.scope "t" {
    %x = svm.block "x"(%n) max [16] : !own
    %y = svm.block "y"(%n) max [16] : !own
    svm.move %a to %x : !all to !own
    svm.move %b to %y : !all to !own
    svm.run @update(%x, %y) on @rank : (!own, !own) -> ()
    svm.move %y to %b : !own to !all
  }
  return
}

// The part is made behind the block.
// CHECK-LABEL: func.func @madeBehind
// CHECK: %[[X:.*]] = svm.block "x"
// CHECK: %[[PART:.*]] = memref.subview
// CHECK: %[[HERE:.*]], %[[APART_HERE:.*]] = svm.in_place %[[X]] for %[[PART]]
// CHECK: svm.run @read(%[[HERE]])
func.func @madeBehind(%a: !all, %n: index) attributes {svm.control = @rank} {
  svm.scope "t" {
    %x = svm.block "x"(%n) max [16] : !own
    %part = memref.subview %a[%n] [%n] [1] : !all to !all
    svm.move %part to %x : !all to !own
    svm.run @read(%x) on @rank : (!own) -> ()
  }
  return
}

// Two parts of one array, of which one is written: reading one behind the write of the other gives what was there before.
// CHECK-LABEL: func.func @ofOneArray
// CHECK: %[[X:.*]] = svm.block "x"
// CHECK: %[[Y:.*]] = svm.block "y"
// CHECK: %[[HERE:.*]], %[[APART_HERE:.*]] = svm.in_place %[[X]]
// CHECK-NOT: svm.in_place
// CHECK: svm.run @update(%[[HERE]], %[[Y]])
func.func @ofOneArray(%a: !all, %n: index) attributes {svm.control = @rank} {
  svm.scope "t" {
    %x = svm.block "x"(%n) max [16] : !own
    %y = svm.block "y"(%n) max [16] : !own
    %one = memref.subview %a[%n] [%n] [1] : !all to !all
    svm.move %one to %x : !all to !own
    svm.run @update(%x, %y) on @rank : (!own, !own) -> ()
    svm.move %y to %a : !own to !all
  }
  return
}

// What the first reads in its place is written by the second behind the copy only.
// CHECK-LABEL: func.func @writtenMeanwhile
// CHECK: %[[X:.*]] = svm.block "x"
// CHECK: %[[HERE:.*]], %[[APART_HERE:.*]] = svm.in_place %[[X]]
// CHECK: %[[Y:.*]] = svm.block "y"
// CHECK-NOT: svm.in_place
// CHECK: svm.run @update(%{{.*}}, %[[Y]])
// CHECK: svm.run @read(%[[HERE]])
func.func @writtenMeanwhile(%a: !all, %n: index) attributes {svm.control = @rank} {
  svm.scope "t" {
    %z = svm.block "z"(%n) max [16] : !own
    %x = svm.block "x"(%n) max [16] : !own
    svm.move %a to %x : !all to !own
    %y = svm.block "y"(%n) max [16] : !own
    svm.run @update(%z, %y) on @rank : (!own, !own) -> ()
    svm.run @read(%x) on @rank : (!own) -> ()
    svm.move %y to %a : !own to !all
  }
  return
}

// Another memory, one that is private, one that is asked for, and one that goes on beside.
// CHECK-LABEL: func.func @copies
// CHECK-NOT: svm.in_place
// CHECK: return
func.func @copies(%a: !all, %b: !all, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) max [16] : !near
    svm.move %a to %x : !all to !near
    svm.run @read(%x) on @core : (!near) -> ()
  }
  svm.scope "u" {
    %x = svm.block "x"(%n) max [16] : !own
    %y = svm.block "y"(%n) max [16] : !own
    svm.move %a to %x {svm.keep} : !all to !own
    svm.move %b to %y : !all to !own
    svm.run @update(%x, %y) on @core : (!own, !own) -> ()
  }
  svm.scope "v" {
    %x = svm.block "x"(%n) max [16] : !own
    %t = svm.move %a to %x : !all to !own -> !svm.token
    svm.wait %t
    svm.run @read(%x) on @core : (!own) -> ()
  }
  return
}
}
