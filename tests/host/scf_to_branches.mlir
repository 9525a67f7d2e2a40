// RUN: strata-opt --svm-host-scf-to-branches %s | FileCheck %s
// Loops and conditions become branches, whatever they hold and give.

module attributes {svm.stage = "lowering"} {
// CHECK-LABEL: func.func @nested
// CHECK-NOT: scf.
// CHECK: cf.br ^[[HEAD:.*]](%{{.*}}, %{{.*}} : index, i32)
// CHECK: ^[[HEAD]](%[[I:.*]]: index, %[[SUM:.*]]: i32):
// CHECK: cf.cond_br %{{.*}}, ^{{.*}}, ^{{.*}}
// CHECK-NOT: scf.
// CHECK: return
func.func @nested(%n: index, %odd: i1, %x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %result = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %next = scf.if %odd -> i32 {
      %more = arith.addi %sum, %x : i32
      scf.yield %more : i32
    } else {
      scf.yield %sum : i32
    }
    scf.yield %next : i32
  }
  return %result : i32
}

// The condition is tried before the body, and what it hands over is the loop's result.
// CHECK-LABEL: func.func @halves
// CHECK-SAME: (%[[START:.*]]: i32)
// CHECK: cf.br ^[[BEFORE:.*]](%[[START]] : i32)
// CHECK: ^[[BEFORE]](%[[NOW:.*]]: i32):
// CHECK: cf.cond_br %{{.*}}, ^[[AFTER:.*]](%[[NOW]] : i32), ^[[REST:.*]]
// CHECK: ^[[AFTER]](%[[GIVEN:.*]]: i32):
// CHECK: %[[HALF:.*]] = arith.divui %[[GIVEN]]
// CHECK: cf.br ^[[BEFORE]](%[[HALF]] : i32)
// CHECK: ^[[REST]]:
// CHECK: return %[[NOW]] : i32
func.func @halves(%start: i32) -> i32 {
  %two = arith.constant 2 : i32
  %least = arith.constant 100 : i32
  %result = scf.while (%now = %start) : (i32) -> i32 {
    %goes = arith.cmpi ugt, %now, %least : i32
    scf.condition(%goes) %now : i32
  } do {
  ^bb0(%given: i32):
    %half = arith.divui %given, %two : i32
    scf.yield %half : i32
  }
  return %result : i32
}
}
