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
svm.kernel @f(%b: memref<?x!svm.record<"r", a: i32, b: f32>, strided<[1], offset: ?>> {svm.access = "read"}) {
  // expected-error @+1 {{names no number in the records of a 'memref<?x!svm.record<"r", a: i32, b: f32>, strided<[1], offset: ?>>'}}
  %x = svm.fields %b [2] : memref<?x!svm.record<"r", a: i32, b: f32>, strided<[1], offset: ?>> -> memref<?xf32, strided<[2], offset: ?>>
  svm.return
}

// -----
svm.kernel @f(%b: memref<?x!svm.record<"r", a: !svm.record<"s", c: i32>>, strided<[1], offset: ?>> {svm.access = "read"}) {
  // expected-error @+1 {{names no number in the records}}
  %x = svm.fields %b [0] : memref<?x!svm.record<"r", a: !svm.record<"s", c: i32>>, strided<[1], offset: ?>> -> memref<?xi32, strided<[1], offset: ?>>
  svm.return
}

// -----
svm.kernel @f(%b: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read"}) {
  // expected-error @+1 {{names no number in the records}}
  %x = svm.fields %b [0] : memref<?xf32, strided<[1], offset: ?>> -> memref<?xf32, strided<[1], offset: ?>>
  svm.return
}

// -----
svm.kernel @f(%b: memref<?x!svm.record<"r", a: i32, b: f32>, strided<[1], offset: ?>> {svm.access = "read"}) {
  // expected-error @+1 {{gives a 'memref<?xf32, strided<[1], offset: ?>>'; that field of a 'memref<?x!svm.record<"r", a: i32, b: f32>, strided<[1], offset: ?>>' is a 'memref<?xf32, strided<[2], offset: ?>>'}}
  %x = svm.fields %b [1] : memref<?x!svm.record<"r", a: i32, b: f32>, strided<[1], offset: ?>> -> memref<?xf32, strided<[1], offset: ?>>
  svm.return
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

// -----
func.func @f(%a: memref<?xf32>, %i: memref<?xi32>, %b: memref<?xf64>) {
  // expected-error @+1 {{moves a 'memref<?xf32>' to a 'memref<?xf64>'; rank and element type have to agree}}
  svm.gather %a[%i] to %b : memref<?xf32>[memref<?xi32>] to memref<?xf64>
  return
}

// -----
func.func @f(%a: memref<?xf32>, %i: memref<?xi32>, %b: memref<?x?xf32>) {
  // expected-error @+1 {{rank and element type have to agree}}
  svm.scatter %a to %b[%i] : memref<?xf32> to memref<?x?xf32>[memref<?xi32>]
  return
}

// -----
func.func @f(%a: memref<f32>, %i: memref<?xi32>, %b: memref<f32>) {
  // expected-error @+1 {{moves parts of a 'memref<f32>', which has no dimension to index}}
  svm.gather %a[%i] to %b : memref<f32>[memref<?xi32>] to memref<f32>
  return
}

// -----
func.func @f(%a: memref<?xf32>, %i: memref<?xi16>, %b: memref<?xf32>) {
  // expected-error @+1 {{takes its indices from a 'memref<?xi16>'; they are a block of one dimension of i32, i64 or index}}
  svm.gather %a[%i] to %b : memref<?xf32>[memref<?xi16>] to memref<?xf32>
  return
}

// -----
func.func @f(%a: memref<?xf32>, %i: memref<?x?xi32>, %b: memref<?xf32>) {
  // expected-error @+1 {{they are a block of one dimension}}
  svm.scatter %a to %b[%i] : memref<?xf32> to memref<?xf32>[memref<?x?xi32>]
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{lies in memory 'm' and goes through FIFO 'f'; it does one of the two}}
  %q = svm.stream(%n) in @m through @f : !svm.stream<f32>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has an address, and no memory}}
  %q = svm.stream(%n) through @f at 16 : !svm.stream<f32>
  return
}

// -----
svm.kernel @k(%a: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %i: index, %v: i32) {
  // expected-error @+1 {{is of kind "nand"; there are add, sub, and, or, xor, min, max, umin, umax, exchange, compare_exchange}}
  %0 = svm.atomic "nand" %v to %a[%i] : memref<?xi32, strided<[1], offset: ?>>
  svm.return
}

// -----
svm.kernel @k(%a: memref<?xi16, strided<[1], offset: ?>> {svm.access = "readwrite"}, %i: index, %v: i16) {
  // expected-error @+1 {{changes a 'i16'; elements are integers of 32 or 64 bits}}
  %0 = svm.atomic "add" %v to %a[%i] : memref<?xi16, strided<[1], offset: ?>>
  svm.return
}

// -----
svm.kernel @k(%a: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %v: i32) {
  // expected-error @+1 {{has 0 indices for a block of 1 dimensions}}
  %0 = svm.atomic "add" %v to %a[] : memref<?xi32, strided<[1], offset: ?>>
  svm.return
}

// -----
svm.kernel @k(%a: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %i: index, %v: i32) {
  // expected-error @+1 {{names what is expected where its kind is compare_exchange, and nowhere else}}
  %0 = svm.atomic "compare_exchange" %v to %a[%i] : memref<?xi32, strided<[1], offset: ?>>
  svm.return
}

// -----
svm.kernel @k(%a: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %i: index, %v: i32, %w: i64) {
  // expected-error @+1 {{expects a 'i64' in a block of 'i32'}}
  %0 = svm.atomic "compare_exchange" %v to %a[%i] if %w : i64 : memref<?xi32, strided<[1], offset: ?>>
  svm.return
}

// -----
func.func @f(%address: i64, %n: index) {
  // expected-error @+1 {{gives a 'memref<?x?xf32, strided<[?, 1], offset: ?>>'; memory at an address is a view of one dimension}}
  %0 = svm.memory_at %address(%n) : memref<?x?xf32, strided<[?, 1], offset: ?>>
  return
}

// -----
func.func @f(%address: i64, %n: index) {
  // expected-error @+1 {{has elements of type 'index'; they are integers or floating-point}}
  %0 = svm.memory_at %address(%n) : memref<?xindex, strided<[1], offset: ?>>
  return
}

// -----
func.func @f(%c: i1) {
  // expected-error @+1 {{has the code ""; a code is in kebab case: "value-too-large"}}
  svm.check %c, "", "no"
  return
}

// -----
func.func @f(%c: i1) {
  // expected-error @+1 {{has the code "Too_Large"; a code is in kebab case}}
  svm.check %c, "Too_Large", "no"
  return
}

// -----
func.func @f(%c: i1) {
  // expected-error @+1 {{has the code "too--large"; a code is in kebab case}}
  svm.check %c, "too--large", "no"
  return
}

// -----
func.func @f(%c: i1) {
  // expected-error @+1 {{has a message or help that is empty; say what is wrong}}
  svm.check %c, "a-rule", ""
  return
}

// -----
func.func @f(%c: i1) {
  // expected-error @+1 {{has a message or help that is empty; say what is wrong, and leave out a help that says nothing}}
  svm.check %c, "a-rule", "no" help ""
  return
}

// -----
func.func @f(%c: i1) {
  // expected-error @+1 {{has a message or help that has a zero character}}
  svm.check %c, "a-rule", "no\00more"
  return
}

// -----
func.func @f(%c: i1, %n: i64) {
  // expected-error @+1 {{has {3} in its message and gives 1 values; {0} is the first}}
  svm.check %c, "a-rule", "n is {0} and {3}" (%n : i64)
  return
}

// -----
func.func @f(%c: i1) {
  // expected-error @+1 {{has {0} in its message and gives 0 values}}
  svm.check %c, "a-rule", "n is {000}"
  return
}

// -----
func.func @f(%c: i1) {
  // expected-error @+1 {{has {4294967295} in its message and gives 0 values}}
  svm.check %c, "a-rule", "n is {18446744073709551616}"
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{is of dimension -4; the first is 0}}
  svm.index %n in %n of "x", -4
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has an array that is empty}}
  svm.index %n in %n of "", 0
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has an array that has a number in braces, where messages put a value}}
  svm.index %n in %n of "x{1}", 0
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a counter that is empty}}
  svm.count "" by %n : index
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a name that is empty}}
  svm.span "" of %n {
  }
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{has a label that is empty}}
  svm.scope "" {
  }
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a label that is empty}}
  svm.parallel "" (%i) = (%n) to (%n) {
  }
  return
}

// -----
func.func @f(%n: index, %s: memref<f32>) {
  // expected-error @+1 {{has a combiner with a label that is empty}}
  svm.parallel (%i) = (%n) to (%n) reduce(%t = %s : memref<f32> with #svm.combiner<@c, "">) {
  }
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a label that is empty}}
  svm.instances "" (%p) = (%n) to (%n) on @pe {
  }
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a label that has a zero character}}
  %b = svm.block "a\00"(%n) : memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{is at address -8; addresses are not negative}}
  %b = svm.block(%n) at -8 : memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----
func.func @f(%address: i64, %n: index) {
  // expected-error @+1 {{has a label that is empty}}
  %0 = svm.memory_at "" %address(%n) : memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a label that is empty}}
  %q = svm.stream ""(%n) : !svm.stream<f32>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{is at address -8; addresses are not negative}}
  %q = svm.stream(%n) in @m at -8 : !svm.stream<f32>
  return
}

// -----

func.func @othersPlace(%part: memref<?xi32, strided<[1], offset: ?>, #svm.mem<@space>>, %n: index) {
  %block = svm.block "b"(%n) : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@memory>>
  // expected-error @+1 {{has a 'memref<?xf32, strided<[1], offset: ?>, #svm.mem<@memory>>' stand for a 'memref<?xi32, strided<[1], offset: ?>, #svm.mem<@space>>'; rank and element type have to agree}}
  %here, %apart = svm.in_place %block for %part : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@memory>> for memref<?xi32, strided<[1], offset: ?>, #svm.mem<@space>>
  return
}
