// RUN: strata-opt --svm-expand-reductions %s 2>/dev/null | FileCheck %s
// RUN: strata-opt --svm-expand-reductions %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// Reductions become private copies, the loop without reductions, and the tree that combines the copies.

!one = memref<i32, strided<[], offset: ?>, #svm.mem<@main>>
!kernelOne = memref<i32, strided<[], offset: ?>>
!row = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>
!near = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@ls>>
!kernelRow = memref<?xi32, strided<[1], offset: ?>>

module attributes {svm.stage = "placed"} {
svm.kernel @add(%x: !kernelOne {svm.access = "read"}, %y: !kernelOne {svm.access = "readwrite"}) {
  %a = memref.load %x[] : !kernelOne
  %b = memref.load %y[] : !kernelOne
  %r = arith.addi %b, %a : i32
  memref.store %r, %y[] : !kernelOne
  svm.return
}
// Keeps the first value that is not zero: no combiner that has an identity of its own.
svm.kernel @first(%x: !kernelOne {svm.access = "read"}, %y: !kernelOne {svm.access = "readwrite"}) {
  %zero = arith.constant 0 : i32
  %a = memref.load %x[] : !kernelOne
  %b = memref.load %y[] : !kernelOne
  %none = arith.cmpi eq, %b, %zero : i32
  %r = arith.select %none, %a, %b : i32
  memref.store %r, %y[] : !kernelOne
  svm.return
}

// An elementwise combiner: copies start at its identity, and the incoming value is counted once, at the end.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: %[[N:.*]]: index, %[[TARGET:[^:]*]]:
// CHECK: %[[PARTS:.*]] = svm.block "c parts"(%[[USED:.*]]) : memref<?xi32
// CHECK: svm.instances "i" (%[[PART:.*]]) = (%{{.*}}) to (%[[USED]]) on @core parts {{[0-9]+}} {
// CHECK: %[[COPY:.*]] = svm.block "c private"()
// CHECK: memref.store %c0_i32{{.*}}, %[[COPY]][]
// CHECK: scf.for
// CHECK: svm.run @add(%{{.*}}, %[[COPY]])
// CHECK: svm.move %[[COPY]] to
// CHECK: scf.if
// Pairs at distance 1 and 2 of four copies.
// CHECK: scf.for {{.*}} step %c2
// CHECK: svm.scope "c" disjoint
// CHECK: svm.run @add
// CHECK: scf.for {{.*}} step %c4
// CHECK: svm.run @add
// CHECK-NOT: scf.for
// CHECK: svm.move %[[TARGET]] to %[[INTO:.*]] :
// CHECK: svm.run @add(%{{.*}}, %[[INTO]]) on @core
// CHECK: svm.move %[[INTO]] to %[[TARGET]] :
// CHECK: return
func.func @elementwise(%n: index, %target: !one, %x: !one) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.parallel "i" (%i) = (%c0) to (%n) reduce(%p = %target : !one with #svm.combiner<@add, "c", on "core", in "main">) on @core parts 4 {
    svm.run @add(%x, %p) on @core : (!one, !one) -> ()
  }
  return
}

// Any other: copies start at the incoming value, in as many parts as a trial allows, and the last one replaces it.
// CHECK-LABEL: func.func @trial
// CHECK-SAME: %[[N:.*]]: index, %[[TARGET:[^:]*]]:
// CHECK: %[[FLAG:.*]] = memref.alloca() : memref<i1>
// CHECK: svm.run @first
// CHECK: arith.cmpi eq
// CHECK: memref.store %{{.*}}, %[[FLAG]][]
// CHECK: %[[SAME:.*]] = memref.load %[[FLAG]][]
// CHECK: %[[USED:.*]] = arith.select %[[SAME]], %{{.*}}, %{{.*}} : index
// CHECK: svm.block "c parts"(%[[USED]])
// CHECK: svm.instances "i" {{.*}} to (%[[USED]]) on @core parts {{[0-9]+}} {
// CHECK: %[[COPY:.*]] = svm.block "c private"()
// CHECK: svm.move %[[TARGET]] to %[[COPY]] :
// CHECK: scf.for {{.*}} step %c2
// CHECK-NOT: scf.for
// CHECK: svm.move %{{.*}} to %[[TARGET]] :
// CHECK: return
// REMARK: remark: {{.*}}the combiner 'first' is not known to be elementwise
func.func @trial(%n: index, %target: !one, %x: !one) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.parallel "i" (%i) = (%c0) to (%n) reduce(%p = %target : !one with #svm.combiner<@first, "c", on "core", in "main">) on @core parts 2 {
    svm.run @first(%x, %p) on @core : (!one, !one) -> ()
  }
  return
}

// On one processor there are no copies: the iterations work on the target.
// CHECK-LABEL: func.func @onePart
// CHECK-SAME: %[[N:.*]]: index, %[[TARGET:[^:]*]]:
// CHECK-NOT: svm.block
// CHECK: svm.parallel "i" (%{{.*}}) = (%{{.*}}) to (%[[N]]) on @core parts 1
// CHECK: svm.run @first(%{{.*}}, %[[TARGET]])
// CHECK-NOT: svm.move
// CHECK: return
func.func @onePart(%n: index, %target: !one, %x: !one) attributes {svm.control = @core} {
  %c0 = arith.constant 0 : index
  svm.parallel "i" (%i) = (%c0) to (%n) reduce(%p = %target : !one with #svm.combiner<@first, "c", on "core", in "main">) on @core parts 1 {
    svm.run @first(%x, %p) on @core : (!one, !one) -> ()
  }
  return
}

// A combiner elsewhere: its processor runs it on operands in its own memory. Bounds come from the blocks that copies are moved to,
// in inner loops too.
svm.kernel @join(%x: !kernelRow {svm.access = "read"}, %y: !kernelRow {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : !kernelRow
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !kernelRow
    %b = memref.load %y[%i] : !kernelRow
    %r = arith.maxsi %b, %a : i32
    memref.store %r, %y[%i] : !kernelRow
  }
  svm.return
}
// CHECK-LABEL: func.func @elsewhere
// CHECK: svm.block "c parts"({{.*}}) max [8, 32] : {{.*}}@main
// CHECK: svm.instances "i" {{.*}} on @spe parts {{[0-9]+}}
// CHECK: svm.block "c private"({{.*}}) max [32] : {{.*}}@ls
// CHECK: scf.if
// CHECK: svm.on @spe {
// CHECK: svm.block({{.*}}) max [32] : {{.*}}@ls
// CHECK: svm.block({{.*}}) max [32] : {{.*}}@ls
// CHECK: svm.run @join({{.*}}) on @spe
// CHECK: return
func.func @elsewhere(%n: index, %target: !row) attributes {svm.control = @ppe} {
  %c0 = arith.constant 0 : index
  %e = memref.dim %target, %c0 : !row
  svm.parallel "i" (%i) = (%c0) to (%n) reduce(%p = %target : !row with #svm.combiner<@join, "c", on "spe", in "ls">) on @spe in @ls parts 8 {
    svm.parallel "j" (%j) = (%c0) to (%n) reduce(%q = %p : !row with #svm.combiner<@join, "c", on "spe", in "ls">) {
      svm.scope "step" {
        %x = svm.block(%e) max [32] : !near
        %y = svm.block(%e) max [32] : !near
        svm.move %q to %y : !row to !near
        svm.run @join(%x, %y) on @spe : (!near, !near) -> ()
        svm.move %y to %q : !near to !row
      }
    }
  }
  return
}
}
