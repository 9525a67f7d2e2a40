// RUN: strata-opt --svm-plain-arithmetic %s | FileCheck %s
// Nothing in a program is believed that nobody has proved: promises go, permissions stay.

// CHECK-LABEL: func.func @promises
func.func @promises(%a: i32, %b: index, %x: f32) -> (i32, index, f32, f32) {
  // CHECK-NEXT: arith.addi %arg0, %arg0 : i32
  // CHECK-NEXT: arith.muli %arg1, %arg1 : index
  // CHECK-NEXT: arith.addf %arg2, %arg2 fastmath<contract> : f32
  // CHECK-NEXT: arith.mulf %arg2, %arg2 : f32
  %s = arith.addi %a, %a overflow<nsw, nuw> : i32
  %p = arith.muli %b, %b overflow<nsw> : index
  %f = arith.addf %x, %x fastmath<nnan, contract> : f32
  %g = arith.mulf %x, %x fastmath<ninf> : f32
  return %s, %p, %f, %g : i32, index, f32, f32
}
