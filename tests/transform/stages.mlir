// RUN: strata-opt --svm-distribute --verify-diagnostics --split-input-file %s
// RUN: not strata-opt --svm-distribute --split-input-file %s 2>&1 | FileCheck %s
// A pass takes modules of its stages (docs/passes.md) and refuses others; one that names no stage is logical.
// CHECK: error: 'svm-distribute' takes placed programs, and this one is logical (svm.stage)
// CHECK: error: 'svm-distribute' takes placed programs, and this one is scheduled (svm.stage)

// expected-error @below {{'svm-distribute' takes placed programs, and this one is logical (svm.stage)}}
module {
func.func @f() {
  return
}
}

// -----

// expected-error @below {{'svm-distribute' takes placed programs, and this one is scheduled (svm.stage)}}
module attributes {svm.stage = "scheduled"} {
func.func @f() {
  return
}
}

// -----

module attributes {svm.stage = "placed"} {
func.func @f() {
  return
}
}
