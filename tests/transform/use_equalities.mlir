// RUN: strata-opt --use-equalities %s | FileCheck %s

// Behind the check both sizes are one; before it, and in the message, they are not.
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: (%[[N:.*]]: index, %[[M:.*]]: index)
func.func @sizes(%n: index, %m: index) -> (index, index) {
  // CHECK: %[[BEFORE:.*]] = arith.addi %[[M]], %[[M]]
  %before = arith.addi %m, %m : index
  %same = arith.cmpi eq, %n, %m : index
  // CHECK: svm.check {{.*}}(%[[N]], %[[M]] : index, index)
  svm.check %same, "size", "{0} is not {1}" (%n, %m : index, index)
  // CHECK: %[[AFTER:.*]] = arith.addi %[[N]], %[[N]]
  %after = arith.addi %m, %n : index
  return %before, %after : index, index
}

// A constant takes the place of a value. A check in a branch says nothing about what follows the branch.
// CHECK-LABEL: func.func @branch
// CHECK-SAME: (%[[C:.*]]: i1, %[[N:.*]]: index)
func.func @branch(%c: i1, %n: index) -> index {
  %four = arith.constant 4 : index
  scf.if %c {
    %same = arith.cmpi eq, %n, %four : index
    svm.check %same, "size", "wrong"
    // CHECK: svm.count "x" by %c4
    svm.count "x" by %n : index
  }
  // CHECK: return %[[N]]
  return %n : index
}
