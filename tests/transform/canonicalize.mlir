// RUN: strata-opt --canonicalize %s | FileCheck %s --check-prefix=FAULT
// RUN: strata-opt --svm-canonicalize %s | FileCheck %s
// MLIR 19's canonicaliser computes the distance of a loop's bounds in 64 bits with a sign, and drops a loop whose bounds
// are 2^63 apart. When FAULT fails, it gets this right, and Strata need not have a pass of its own.

// FAULT-LABEL: func.func @far
// FAULT-NOT: scf.for
// CHECK-LABEL: func.func @far
// CHECK: scf.for
func.func @far(%b: memref<4xi32>) {
  %lower = arith.constant -9223372036854775801 : index
  %upper = arith.constant 7 : index
  %step = arith.constant 2147483647 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : i32
  scf.for %i = %lower to %upper step %step {
    memref.store %one, %b[%zero] : memref<4xi32>
  }
  return
}

// The sum may overflow: then there is no iteration.
// FAULT-LABEL: func.func @behind_the_end
// FAULT-NOT: scf.for
// CHECK-LABEL: func.func @behind_the_end
// CHECK: scf.for
// CHECK-LABEL: func.func @before_the_end
// CHECK-NOT: scf.for
func.func @behind_the_end(%b: memref<?xi32>, %i: index) {
  %one = arith.constant 1 : index
  %value = arith.constant 1 : i32
  %upper = arith.addi %i, %one : index
  scf.for %k = %i to %upper step %one {
    memref.store %value, %b[%k] : memref<?xi32>
  }
  return
}
func.func @before_the_end(%b: memref<?xi32>, %i: index) {
  %one = arith.constant 1 : index
  %value = arith.constant 1 : i32
  %upper = arith.addi %i, %one overflow<nsw> : index
  scf.for %k = %i to %upper step %one {
    memref.store %value, %b[%k] : memref<?xi32>
  }
  return
}

// CHECK-LABEL: func.func @none
// CHECK-NEXT: return %arg0, %arg0
func.func @none(%x: i32) -> (i32, i32) {
  %three = arith.constant 3 : index
  %two = arith.constant 2 : index
  %one = arith.constant 1 : index
  %a = scf.for %k = %three to %two step %one iter_args(%y = %x) -> i32 {
    %sum = arith.addi %y, %y : i32
    scf.yield %sum : i32
  }
  %b = scf.for %k = %three to %three step %one iter_args(%y = %x) -> i32 {
    %sum = arith.addi %y, %y : i32
    scf.yield %sum : i32
  }
  return %a, %b : i32, i32
}

// CHECK-LABEL: func.func @once
// CHECK: %[[SUM:.*]] = arith.addi %arg0, %arg0 : i32
// CHECK-NEXT: return %[[SUM]], %arg0, %arg1, %c-5
func.func @once(%x: i32, %z: i32) -> (i32, i32, i32, index) {
  %lower = arith.constant -5 : index
  %upper = arith.constant 2 : index
  %step = arith.constant 7 : index
  %a:4 = scf.for %k = %lower to %upper step %step iter_args(%y = %x, %o = %z, %w = %z, %n = %upper) -> (i32, i32, i32, index) {
    %sum = arith.addi %y, %y : i32
    scf.yield %sum, %y, %w, %k : i32, i32, i32, index
  }
  return %a#0, %a#1, %a#2, %a#3 : i32, i32, i32, index
}

// CHECK-LABEL: func.func @same_each_time
// CHECK-NEXT: return %arg1
func.func @same_each_time(%x: i32, %z: i32) -> i32 {
  %lower = arith.constant 0 : index
  %upper = arith.constant 20 : index
  %step = arith.constant 7 : index
  %a = scf.for %k = %lower to %upper step %step iter_args(%y = %x) -> i32 {
    scf.yield %z : i32
  }
  return %a : i32
}
