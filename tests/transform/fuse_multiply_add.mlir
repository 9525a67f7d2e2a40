// RUN: strata-opt --fuse-multiply-add %s | FileCheck %s
// Products in sums of the same expression are fused as Clang fuses them; no contract flag is left.

// CHECK-LABEL: func.func @two_products
// CHECK-SAME: (%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f32)
// CHECK: %[[RIGHT:.*]] = arith.mulf %[[C]], %[[D]] : f32
// CHECK: %[[SUM:.*]] = math.fma %[[A]], %[[B]], %[[RIGHT]] : f32
// CHECK: return %[[SUM]]
func.func @two_products(%a: f32, %b: f32, %c: f32, %d: f32) -> f32 {
  %left = arith.mulf %a, %b fastmath<contract> : f32
  %right = arith.mulf %c, %d fastmath<contract> : f32
  %sum = arith.addf %left, %right fastmath<contract> : f32
  return %sum : f32
}

// CHECK-LABEL: func.func @accumulate_difference
// CHECK-SAME: (%[[A:.*]]: f64, %[[B:.*]]: f64, %[[C:.*]]: f64)
// CHECK: %[[N:.*]] = arith.negf %[[A]] : f64
// CHECK: %[[R:.*]] = math.fma %[[N]], %[[B]], %[[C]] : f64
// CHECK: return %[[R]]
func.func @accumulate_difference(%a: f64, %b: f64, %c: f64) -> f64 {
  %product = arith.mulf %a, %b fastmath<contract> : f64
  %result = arith.subf %c, %product fastmath<contract> : f64
  return %result : f64
}

// A product of another expression carries no flag.
// CHECK-LABEL: func.func @two_statements
// CHECK-NOT: math.fma
// CHECK-NOT: contract
// CHECK: return
func.func @two_statements(%a: f32, %b: f32, %c: f32) -> f32 {
  %product = arith.mulf %a, %b : f32
  %sum = arith.addf %product, %c fastmath<contract> : f32
  return %sum : f32
}
