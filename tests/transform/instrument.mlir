// RUN: strata-opt --svm-instrument %s | FileCheck %s
// RUN: strata-opt --svm-instrument --svm-erase-counts %s | FileCheck %s --check-prefix=ERASED
// RUN: strata-opt --svm-trace %s | FileCheck %s --check-prefix=TRACE
// Every move, gather and scatter counts itself and its bytes by memory, every run itself; or all of them stand in spans of a trace; or nothing counts.

!view = memref<?x?xi16, strided<[?, 1], offset: ?>>
!far = memref<?x?xi16, strided<[?, 1], offset: ?>, #svm.mem<@main>>
!near = memref<?x?xi16, strided<[?, 1], offset: ?>, #svm.mem<@ls>>
!rows = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>

module attributes {svm.stage = "placed"} {
svm.kernel @read(%x: !view {svm.access = "read"}) {
  svm.return
}

// ERASED-LABEL: func.func @counted
// ERASED-NOT: svm.count
// ERASED: svm.move
// ERASED-NOT: svm.count
// ERASED: svm.run
// ERASED-NOT: svm.count
// ERASED: return

// CHECK-LABEL: func.func @counted
// CHECK-SAME: %[[A:[^:]*]]:
// CHECK: %[[M:.*]] = memref.dim %[[A]], %c0
// CHECK: %[[N:.*]] = memref.dim %[[A]], %c1
// CHECK: %[[ROWS:.*]] = arith.muli %[[M]], %c2
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %[[N]]
// CHECK: svm.count "bytes main -> ls" by %[[BYTES]] : index
// CHECK: svm.count "moves" by %c1
// CHECK: svm.move
// CHECK: svm.count "runs read" by %c1
// CHECK: svm.run

// Moves have rows of their own. What gives a token ends elsewhere, and has no span; the wait for it has one.
// TRACE-LABEL: func.func @counted
// TRACE-NOT: svm.span
// TRACE: svm.move {{.*}} {svm.traced = "x"}
// TRACE: svm.span "read" {
// TRACE-NEXT: svm.run
// TRACE-NOT: svm.span
// TRACE: svm.run
// TRACE: svm.span "wait for what goes on beside" {
// TRACE-NEXT: svm.wait
// TRACE: svm.waits
// TRACE: return
func.func @counted(%a: !far, %m: index, %n: index) attributes {svm.control = @spe} {
  svm.scope "t" {
    %x = svm.block "x"(%m, %n) max [4, 4] : !near
    svm.move %a to %x : !far to !near
    svm.run @read(%x) on @spe : (!near) -> ()
    %done = svm.run @read(%x) on @spe : (!near) -> !svm.token
    svm.wait %done
  }
  return
}

// A gather and a scatter count as moves, by what comes together or is dealt out; the row numbers count as nothing.
// ERASED-LABEL: func.func @gathered
// ERASED-NOT: svm.count
// ERASED: svm.gather
// ERASED-NOT: svm.count
// ERASED: svm.scatter
// ERASED-NOT: svm.count
// ERASED: return

// CHECK-LABEL: func.func @gathered
// CHECK: %[[X:.*]] = svm.block "x"
// CHECK: %[[K:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[N:.*]] = memref.dim %[[X]], %c1
// CHECK: %[[ROWS:.*]] = arith.muli %[[K]], %c2
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %[[N]]
// CHECK: svm.count "bytes main -> ls" by %[[BYTES]] : index
// CHECK: svm.count "moves" by %c1
// CHECK-NOT: svm.count
// CHECK: svm.gather
// CHECK: %[[K:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[N:.*]] = memref.dim %[[X]], %c1
// CHECK: %[[ROWS:.*]] = arith.muli %[[K]], %c2
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %[[N]]
// CHECK: svm.count "bytes ls -> main" by %[[BYTES]] : index
// CHECK: svm.count "moves" by %c1
// CHECK-NOT: svm.count
// CHECK: svm.scatter
// CHECK-NOT: svm.count
// CHECK: return

// TRACE-LABEL: func.func @gathered
// TRACE-NOT: svm.span
// TRACE: svm.gather {{.*}} {svm.traced = "x"}
// TRACE-NOT: svm.span
// TRACE: svm.scatter {{.*}} {svm.traced = "x"}
// TRACE-NOT: svm.span
// TRACE: return
func.func @gathered(%a: !far, %i: !rows, %k: index, %n: index) attributes {svm.control = @spe} {
  svm.scope "t" {
    %x = svm.block "x"(%k, %n) max [4, 4] : !near
    svm.gather %a[%i] to %x : !far[!rows] to !near
    svm.scatter %x to %a[%i] : !near to !far[!rows]
  }
  return
}
}
