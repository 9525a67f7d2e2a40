// RUN: strata-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'svm.stage' is "logical", "placed", "scheduled" or "lowering"}}
module attributes {svm.stage = "cooked"} {}

// -----
// expected-error @+1 {{'svm.machine' is a string}}
module attributes {svm.machine = 3} {}

// -----
// expected-error @+1 {{'svm.mapping' is a dictionary of functions}}
module attributes {svm.mapping = "x"} {}

// -----
// expected-error @+1 {{returns its results through its arguments and has no results}}
svm.kernel @k() -> i32 attributes {blackbox = "x"}

// -----
// expected-error @+1 {{has one body: a region, an 'llvm' function or a 'blackbox' name}}
svm.kernel @k()

// -----
// expected-error @+1 {{has one body: a region, an 'llvm' function or a 'blackbox' name}}
svm.kernel @k() attributes {blackbox = "x"} {
  svm.return
}

// -----
// expected-error @+1 {{has a 'blackbox' name that is empty}}
svm.kernel @k() attributes {blackbox = ""}

// -----
func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error @+1 {{'svm.label' is a string that is not empty, without zero characters and numbers in braces}}
  svm.move %a to %b {svm.label = "a{0}"} : memref<4xf32> to memref<4xf32>
  return
}

// -----
// expected-error @+1 {{'svm.name' is a string that is not empty}}
svm.kernel @k(i32 {svm.name = ""}) attributes {blackbox = "x"}

// -----
// expected-error @+1 {{says of block argument 1 neither "read", "write" nor "readwrite" in 'svm.access'}}
svm.kernel @k(i32, memref<?xf32, strided<[1], offset: ?>>) attributes {blackbox = "x"}

// -----
// expected-error @+1 {{has block argument 0 in a named memory; a kernel works wherever its processor reaches}}
svm.kernel @k(memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>> {svm.access = "read"}) attributes {blackbox = "x"}

// -----
// expected-error @+1 {{has argument 0 of type 'vector<4xf32>'; arguments are blocks, streams and scalars}}
svm.kernel @k(vector<4xf32>) attributes {blackbox = "x"}

// -----
// expected-error @+1 {{states extents for 2 of 1 arguments}}
svm.kernel @k(i32) attributes {blackbox = "x", extents = [affine_map<()[s0] -> ()>, affine_map<()[s0] -> ()>]}

// -----
// expected-error @+1 {{states extents that are not affine maps of symbols, one result a dimension}}
svm.kernel @k(i32) attributes {blackbox = "x", extents = [affine_map<()[s0] -> (s0)>]}

// -----
// expected-error @+1 {{states extents that are not affine maps of symbols, one result a dimension}}
svm.kernel @k(i32) attributes {blackbox = "x", extents = [affine_map<(d0) -> ()>]}

// -----
// expected-error @+1 {{type of entry block argument #0('i64') must match the type of the corresponding argument in function signature('i32')}}
"svm.kernel"() <{sym_name = "k", function_type = (i32) -> ()}> ({
^bb0(%x: i64):
  "svm.return"() : () -> ()
}) : () -> ()

// -----
svm.kernel @k() {
  // expected-error @+1 {{does not belong in a kernel}}
  svm.scope {
  }
  svm.return
}

// -----
func.func @f() {
  // expected-error @+1 {{refers to 'nothing', which is no kernel}}
  svm.run @nothing() : () -> ()
  return
}

// -----
svm.kernel @k(i32) attributes {blackbox = "x"}
func.func @f() {
  // expected-error @+1 {{gives 0 arguments to 'k', which takes 1}}
  svm.run @k() : () -> ()
  return
}

// -----
svm.kernel @k(i32) attributes {blackbox = "x"}
func.func @f(%x: i64) {
  // expected-error @+1 {{gives 'k' a 'i64' as argument 0, which is a 'i32'}}
  svm.run @k(%x) : (i64) -> ()
  return
}

// -----
// expected-error @+1 {{a record's field is an integer, a floating-point number or a record}}
func.func private @f(!svm.record<"r", a: index>)

// -----
svm.kernel @k() {
  // expected-error @+1 {{orders accesses that others see; its kernel says so by 'svm.shared'}}
  svm.fence
  svm.return
}
