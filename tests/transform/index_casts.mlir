// RUN: strata-opt --canonicalize %s | FileCheck %s --check-prefix=FAULT
// RUN: strata-opt --svm-plain-arithmetic --canonicalize %s | FileCheck %s
// MLIR 19's canonicaliser takes a cast of an index to 32 bits and back for nothing, although it cuts. The pass that
// stands before it in the pipeline writes the cut in two steps. When FAULT fails, MLIR keeps the cut, and the pass need
// not touch casts any more.

// FAULT-LABEL: func.func @signed
// FAULT-NEXT: return %arg0 : index
// CHECK-LABEL: func.func @signed
// CHECK: %[[WHOLE:.*]] = arith.index_cast %arg0 : index to i64
// CHECK: %[[CUT:.*]] = arith.trunci %[[WHOLE]] : i64 to i32
// CHECK: %[[BACK:.*]] = arith.index_cast %[[CUT]] : i32 to index
// CHECK: return %[[BACK]]
func.func @signed(%x: index) -> index {
  %narrow = arith.index_cast %x : index to i32
  %back = arith.index_cast %narrow : i32 to index
  return %back : index
}

// FAULT-LABEL: func.func @unsigned
// FAULT-NEXT: return %arg0 : index
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.trunci %{{.*}} : i64 to i8
// CHECK: arith.index_castui %{{.*}} : i8 to index
func.func @unsigned(%x: index) -> index {
  %narrow = arith.index_castui %x : index to i8
  %back = arith.index_castui %narrow : i8 to index
  return %back : index
}

// CHECK-LABEL: func.func @whole
// CHECK-NEXT: return %arg0 : index
func.func @whole(%x: index) -> index {
  %same = arith.index_cast %x : index to i64
  %back = arith.index_cast %same : i64 to index
  return %back : index
}
