// RUN: strata-opt --svm-move-invariants %s | FileCheck %s
// What does not depend on a loop leaves it, out of all the loops that it can; what could trap, or reads, stays where it is.

!matrix = memref<?x?xi32, strided<[?, 1], offset: ?>>

// CHECK-LABEL: svm.kernel @rows
// CHECK-SAME: %[[X:[^:]*]]: index, %[[Y:[^:]*]]: index
// CHECK: arith.muli %[[X]], %[[Y]]
// CHECK: scf.for %[[I:.*]] =
// CHECK: arith.addi %[[I]], %[[X]]
// CHECK: scf.for
// CHECK: arith.divui %[[X]], %[[Y]]
// CHECK: memref.store
svm.kernel @rows(%a: !matrix {svm.access = "write"}, %x: index, %y: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !matrix
  %n = memref.dim %a, %c1 : !matrix
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %everywhere = arith.muli %x, %y : index
      %row = arith.addi %i, %x : index
      %traps = arith.divui %x, %y : index
      %sum = arith.addi %everywhere, %row : index
      %all = arith.addi %sum, %traps : index
      %value = arith.index_cast %all : index to i32
      memref.store %value, %a[%i, %j] : !matrix
    }
  }
  svm.return
}
