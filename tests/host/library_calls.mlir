// RUN: strata-opt --svm-host-library-calls %s | FileCheck %s
// What LLVM has no intrinsic for is called in the C library; what it has one for stays.

module attributes {svm.stage = "lowering"} {
// CHECK-DAG: func.func private @tanf(f32) -> f32
// CHECK-DAG: func.func private @atan2(f64, f64) -> f64
// CHECK-LABEL: func.func @functions
// CHECK: call @tanf
// CHECK: call @atan2
// CHECK: math.fma
// CHECK: math.sqrt
func.func @functions(%x: f32, %y: f64) -> (f32, f64, f32, f64) {
  %tangent = math.tan %x : f32
  %angle = math.atan2 %y, %y : f64
  %sum = math.fma %x, %x, %tangent : f32
  %root = math.sqrt %angle : f64
  return %tangent, %angle, %sum, %root : f32, f64, f32, f64
}
}
