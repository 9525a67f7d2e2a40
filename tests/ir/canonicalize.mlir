// RUN: strata-opt --canonicalize %s | FileCheck %s
// A check that holds is gone; one that is not known to hold stays, and so do the operations that wait or count.

// CHECK-LABEL: func.func @checks
func.func @checks(%c: i1, %n: index) {
  %t = arith.constant true
  // CHECK-NOT: "always"
  svm.check %t, "always", "never seen"
  // CHECK: svm.check %{{.*}}, "perhaps"
  svm.check %c, "perhaps", "seen"
  // CHECK: svm.index
  svm.index %n in %n of "A", 0
  // CHECK: svm.count
  svm.count "n" by %n : index
  return
}
