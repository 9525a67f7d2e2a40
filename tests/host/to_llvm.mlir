// RUN: strata-opt --svm-host-to-llvm %s | FileCheck %s
// Everything becomes the LLVM dialect; records are structs, whose fields are numbered.

!pair = !svm.record<"pair", re: f32, im: f32>

module attributes {svm.stage = "lowering"} {
// CHECK-LABEL: llvm.func @swapped
// CHECK-SAME: (%[[P:.*]]: !llvm.struct<(f32, f32)>)
// CHECK: %[[RE:.*]] = llvm.extractvalue %[[P]][0]
// CHECK: %[[IM:.*]] = llvm.extractvalue %[[P]][1]
// CHECK: %[[NONE:.*]] = llvm.mlir.undef
// CHECK: %[[FIRST:.*]] = llvm.insertvalue %[[IM]], %[[NONE]][0]
// CHECK: %[[BOTH:.*]] = llvm.insertvalue %[[RE]], %[[FIRST]][1]
// CHECK: %[[SUM:.*]] = llvm.fadd %[[RE]], %[[IM]]
// CHECK: %[[OTHER:.*]] = llvm.insertvalue %[[SUM]], %[[BOTH]][0]
// CHECK: llvm.return %[[OTHER]]
func.func @swapped(%p: !pair) -> !pair {
  %re = svm.field %p[0] : !pair -> f32
  %im = svm.field %p[1] : !pair -> f32
  %both = svm.record(%im, %re) : (f32, f32) -> !pair
  %sum = arith.addf %re, %im : f32
  %other = svm.with_field %both[0] = %sum : f32 in !pair
  return %other : !pair
}

// A field of records, as numbers: strides, and where the first one is, in numbers.
// CHECK-LABEL: llvm.func @imaginary
// CHECK-SAME: %[[PLACE:[a-z0-9]+]]: i64)
// CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : index)
// CHECK: llvm.mul %{{.*}}, %[[TWO]]
// CHECK: llvm.add
// CHECK: llvm.mul %{{.*}}, %[[TWO]]
// CHECK: llvm.load {{.*}} -> f32
func.func @imaginary(%x: memref<?x!pair, strided<[1], offset: ?>>, %place: index) -> f32 {
  %im = svm.fields %x [1] : memref<?x!pair, strided<[1], offset: ?>> -> memref<?xf32, strided<[2], offset: ?>>
  %value = memref.load %im[%place] : memref<?xf32, strided<[2], offset: ?>>
  return %value : f32
}
}
