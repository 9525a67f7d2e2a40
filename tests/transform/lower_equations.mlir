// RUN: strata-opt --svm-lower-equations --canonicalize %s | FileCheck %s
// Equations become loops. A value that the next iteration uses has one cell; one that the next row uses, a block of a row that
// comes with the run.

!vector = memref<?xi64, strided<[1], offset: ?>>

// CHECK-LABEL: svm.kernel @sums
// CHECK: memref.alloca() : memref<1xi64>
// CHECK: scf.for
// CHECK: memref.load
// CHECK: arith.addi
svm.kernel @sums(%x: !vector {svm.access = "read"}, %y: !vector {svm.access = "write"}, %n: index) {
  svm.equations ["i"] (%n) ["N"] in [affine_set<(i)[N] : (N - 1 >= 0)>] {
    svm.equation "s" in [affine_set<(i)[N] : (i == 0)>] {
      %v = svm.element %x at affine_map<(i)[N] -> (i)> : !vector -> i64
      svm.define %v : i64
    }
    svm.equation "s" in [affine_set<(i)[N] : (i - 1 >= 0, N - 1 - i >= 0)>] {
      %before = svm.use "s" at affine_map<(i)[N] -> (i - 1)> : i64
      %v = svm.element %x at affine_map<(i)[N] -> (i)> : !vector -> i64
      %sum = arith.addi %before, %v : i64
      svm.define %sum : i64
    }
    svm.equation of %y at affine_map<(i)[N] -> (i)> : !vector in [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>] {
      %s = svm.use "s" at affine_map<(i)[N] -> (i)> : i64
      svm.define %s : i64
    }
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @steps
// CHECK-SAME: svm.name = "u"
svm.kernel @steps(%x: !vector {svm.access = "read"}, %y: !vector {svm.access = "write"}, %n: index, %t: index) {
  svm.equations ["t", "i"] (%n, %t) ["N", "T"] in [affine_set<(t, i)[N, T] : (N - 1 >= 0, T - 1 >= 0)>] {
    svm.equation "u" in [affine_set<(t, i)[N, T] : (t == 0, i >= 0, N - 1 - i >= 0)>] {
      %v = svm.element %x at affine_map<(t, i)[N, T] -> (i)> : !vector -> i64
      svm.define %v : i64
    }
    svm.equation "u" in [affine_set<(t, i)[N, T] : (t - 1 >= 0, T - t >= 0, i >= 0, N - 1 - i >= 0)>] {
      %before = svm.use "u" at affine_map<(t, i)[N, T] -> (t - 1, i)> : i64
      %twice = arith.addi %before, %before : i64
      svm.define %twice : i64
    }
    svm.equation of %y at affine_map<(t, i)[N, T] -> (i)> : !vector in [affine_set<(t, i)[N, T] : (T - t == 0, i >= 0, N - 1 - i >= 0)>] {
      %u = svm.use "u" at affine_map<(t, i)[N, T] -> (t, i)> : i64
      svm.define %u : i64
    }
  }
  svm.return
}

// CHECK-LABEL: func.func @main
// CHECK: svm.block "steps.u"
// CHECK: svm.run @steps
func.func @main(%x: !vector {svm.access = "read"}, %y: !vector {svm.access = "write"}, %t: index) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : !vector
  svm.run @sums(%x, %y, %n) : (!vector, !vector, index) -> ()
  svm.run @steps(%x, %y, %n, %t) : (!vector, !vector, index, index) -> ()
  return
}
