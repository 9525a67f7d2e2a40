// RUN: strata-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: index) {
  // expected-error @+1 {{has 1 extents for 2 dimensions}}
  %b = svm.block(%n) : memref<?x?xf32, strided<[?, 1], offset: ?>>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has static extents in its type; they are operands}}
  %b = svm.block(%n) : memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has 'max' for another number of dimensions}}
  %b = svm.block(%n) max [4, 4] : memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{makes a 'memref<?xf32>'; a block has the view type 'memref<?xf32, strided<[1], offset: ?>>'}}
  %b = svm.block(%n) : memref<?xf32>
  return
}

// -----
func.func @f(%a: memref<?xf32>, %b: memref<?xf64>) {
  // expected-error @+1 {{moves a 'memref<?xf32>' to a 'memref<?xf64>'; rank and element type have to agree}}
  svm.move %a to %b : memref<?xf32> to memref<?xf64>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a region whose arguments are not the iteration's indices and one private copy a reduction}}
  "svm.parallel"(%n, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%i: i32):
  }) : (index, index) -> ()
  return
}

// -----
func.func @f(%n: index, %s: memref<f32>) {
  // expected-error @+1 {{has 1 reductions and 0 combiners}}
  "svm.parallel"(%n, %n, %s) <{operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  ^bb0(%i: index, %t: memref<f32>):
  }) : (index, index, memref<f32>) -> ()
  return
}

// -----
func.func @f(%n: index, %s: memref<f32>) {
  // expected-error @+1 {{has a private copy of another type than its reduction}}
  "svm.parallel"(%n, %n, %s) <{combiners = [#svm.combiner<@c, "c">], operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  ^bb0(%i: index, %t: memref<f64>):
  }) : (index, index, memref<f32>) -> ()
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{is distributed in 0 parts; it takes one at least}}
  svm.parallel (%i) = (%n) to (%n) parts 0 {
  }
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has chunks of a negative number of iterations}}
  svm.parallel (%i) = (%n) to (%n) chunk -1 {
  }
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has 2 dimensions and says of 1 how they are distributed}}
  svm.parallel (%i, %j) = (%n, %n) to (%n, %n) on @pe parts 2 {
  }
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has 2 indices, 1 lower and 2 upper bounds; each dimension has one of each}}
  svm.parallel (%i, %j) = (%n) to (%n, %n) {
  }
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{is distributed in 0 parts; it takes one at least}}
  svm.instances (%p) = (%n) to (%n) on @pe parts 0 {
  }
  return
}

// -----
func.func @f(%x: f32) {
  // expected-error @+1 {{has fields of other types than its record}}
  %r = svm.record(%x) : (f32) -> !svm.record<"r", a: i32>
  return
}

// -----
func.func @f(%r: !svm.record<"r", a: i32>) {
  // expected-error @+1 {{names field 1 of a record with 1}}
  %x = svm.field %r[1] : !svm.record<"r", a: i32> -> i32
  return
}

// -----
func.func @f(%r: !svm.record<"r", a: i32>) {
  // expected-error @+1 {{has a 'i64' for a field of type 'i32'}}
  %x = svm.field %r[0] : !svm.record<"r", a: i32> -> i64
  return
}

// -----
func.func @f(%r: !svm.record<"r", a: i32>, %x: f32) {
  // expected-error @+1 {{has a 'f32' for a field of type 'i32'}}
  %w = svm.with_field %r[0] = %x : f32 in !svm.record<"r", a: i32>
  return
}

// -----
func.func @f(%x: f32) {
  // expected-error @+1 {{pushes to no stream}}
  "svm.push"(%x) : (f32) -> ()
  return
}

// -----
func.func @f(%x: f32, %s: !svm.stream<f64>) {
  // expected-error @+1 {{pushes a 'f32' to a '!svm.stream<f64>'}}
  svm.push %x to %s : f32 to !svm.stream<f64>
  return
}

// -----
func.func @f(%s: !svm.stream<f64>) {
  // expected-error @+1 {{pops a 'f32' from a '!svm.stream<f64>'}}
  %x, %more = svm.pop %s : !svm.stream<f64> -> f32
  return
}

// -----
func.func @f(%s: !svm.stream<f64>, %i: index) {
  // expected-error @+1 {{peeks a 'f32' in a '!svm.stream<f64>'}}
  %x, %more = svm.peek %s[%i] : !svm.stream<f64> -> f32
  return
}
