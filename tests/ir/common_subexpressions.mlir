// RUN: strata-opt --svm-common-subexpressions %s | FileCheck %s

// Also what is known around a region; not what one branch computes in the other, or behind both.
// CHECK-LABEL: func.func @regions
func.func @regions(%c: i1, %n: index) -> (index, index, index) {
  // CHECK: %[[SUM:.*]] = arith.addi
  %sum = arith.addi %n, %n : index
  // CHECK: scf.if
  %result = scf.if %c -> index {
    // CHECK-NEXT: %[[SQUARE:.*]] = arith.muli
    // CHECK-NEXT: arith.subi %[[SQUARE]], %[[SUM]]
    %same = arith.addi %n, %n : index
    %square = arith.muli %n, %n : index
    %difference = arith.subi %square, %same : index
    scf.yield %difference : index
  } else {
    // CHECK: arith.muli
    %square = arith.muli %n, %n : index
    scf.yield %square : index
  }
  // CHECK: arith.muli
  %square = arith.muli %n, %n : index
  return %result, %square, %sum : index, index, index
}

// Loads with a store, a call, or a loop that stores between them are not the same; with loads and loops that only load
// between them they are.
// CHECK-LABEL: func.func @loads
func.func @loads(%a: memref<?xi32>, %i: index, %n: index) -> (i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  // CHECK: %[[FIRST:.*]] = memref.load
  %first = memref.load %a[%i] : memref<?xi32>
  // CHECK: scf.for
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> i32 {
    %x = memref.load %a[%k] : memref<?xi32>
    %t = arith.addi %s, %x : i32
    scf.yield %t : i32
  }
  // CHECK: }
  // CHECK-NEXT: memref.store %[[FIRST]]
  %second = memref.load %a[%i] : memref<?xi32>
  memref.store %second, %a[%c0] : memref<?xi32>
  // CHECK: %[[THIRD:.*]] = memref.load
  %third = memref.load %a[%i] : memref<?xi32>
  // CHECK: scf.for
  scf.for %k = %c0 to %n step %c1 {
    memref.store %zero, %a[%k] : memref<?xi32>
  }
  // CHECK: %[[FOURTH:.*]] = memref.load
  %fourth = memref.load %a[%i] : memref<?xi32>
  // CHECK: call
  func.call @unknown() : () -> ()
  // CHECK: %[[FIFTH:.*]] = memref.load
  %fifth = memref.load %a[%i] : memref<?xi32>
  // CHECK: return %[[FIRST]], %[[THIRD]], %[[FOURTH]], %[[FIFTH]]
  return %first, %third, %fourth, %fifth, %sum : i32, i32, i32, i32, i32
}
func.func private @unknown()

// A load in a region is one of its own: the loop may come there again after a store.
// CHECK-LABEL: func.func @inside
func.func @inside(%a: memref<?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: memref.load
  %first = memref.load %a[%c0] : memref<?xi32>
  // CHECK: scf.for
  scf.for %k = %c0 to %n step %c1 {
    // CHECK-NEXT: %[[NEXT:.*]] = memref.load
    // CHECK-NEXT: arith.addi %[[NEXT]]
    %next = memref.load %a[%c0] : memref<?xi32>
    %sum = arith.addi %next, %first : i32
    memref.store %sum, %a[%k] : memref<?xi32>
  }
  return
}

// Equal operations with regions are one, and what is not used is gone.
// CHECK-LABEL: func.func @equal
func.func @equal(%c: i1, %n: index) -> (index, index) {
  // CHECK-NEXT: %[[ONE:.*]] = scf.if
  %one = scf.if %c -> index {
    %x = arith.addi %n, %n : index
    scf.yield %x : index
  } else {
    scf.yield %n : index
  }
  // CHECK-NOT: scf.if
  // CHECK: return %[[ONE]], %[[ONE]]
  %two = scf.if %c -> index {
    %x = arith.addi %n, %n : index
    scf.yield %x : index
  } else {
    scf.yield %n : index
  }
  %unused = arith.muli %n, %n : index
  return %one, %two : index, index
}

// Each function has a table of its own, and blocks that branches join know only what they compute themselves.
// CHECK-LABEL: func.func @blocks
func.func @blocks(%c: i1, %n: index) -> index {
  // CHECK: cf.cond_br
  cf.cond_br %c, ^left, ^right
^left:
  // CHECK: arith.addi
  %left = arith.addi %n, %n : index
  cf.br ^join(%left : index)
^right:
  // CHECK: arith.addi
  %right = arith.addi %n, %n : index
  cf.br ^join(%right : index)
^join(%x: index):
  // CHECK: %[[SUM:.*]] = arith.addi
  // CHECK: arith.muli %[[SUM]], %[[SUM]]
  %one = arith.addi %n, %n : index
  %two = arith.addi %n, %n : index
  %square = arith.muli %one, %two : index
  %result = arith.addi %square, %x : index
  return %result : index
}
