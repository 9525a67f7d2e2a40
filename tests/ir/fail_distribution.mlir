// RUN: strata-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a distribution has a memory whose name is empty}}
func.func private @f(memref<?xi32, #svm.dist<""[4] per 1, (i) -> (i) at (i) -> (0)>>)

// -----
// expected-error @+1 {{a distribution over 0 instances, 1 a processor; there is one at least, and no negative number a processor}}
func.func private @f(memref<?xi32, #svm.dist<"l"[0] per 1, (i) -> (i) at (i) -> (0)>>)

// -----
// expected-error @+1 {{a distribution over 4 instances, -1 a processor}}
func.func private @f(memref<?xi32, #svm.dist<"l"[4] per -1, (i) -> (i) at (i) -> (0)>>)

// -----
// expected-error @+1 {{a distribution over 4 instances, of which 3 belong to each processor: the last has fewer}}
func.func private @f(memref<?xi32, #svm.dist<"l"[4] per 3, (i) -> (i) at (i) -> (0)>>)

// -----
// expected-error @+1 {{a distribution's maps take the indices of an element, both as many, and no symbols}}
func.func private @f(memref<?xi32, #svm.dist<"l"[4] per 1, (i)[n] -> (i) at (i) -> (0)>>)

// -----
// expected-error @+1 {{a distribution's maps take the indices of an element, both as many, and no symbols}}
func.func private @f(memref<?xi32, #svm.dist<"l"[4] per 1, (i) -> (i) at (i, j) -> (0)>>)

// -----
// expected-error @+1 {{a distribution maps an index to one instance at most, and to one offset}}
func.func private @f(memref<?xi32, #svm.dist<"l"[4] per 1, (i) -> (i, i) at (i) -> (0)>>)

// -----
// expected-error @+1 {{a distribution divides by something that is not a positive constant}}
func.func private @f(memref<?xi32, #svm.dist<"l"[4] per 1, (i) -> (i mod 0) at (i) -> (0)>>)

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has 2 dimensions, and its distribution maps 1 indices}}
  %b = svm.block(%n, %n) : memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.dist<"l"[4] per 1, (i) -> (i) at (i) -> (0)>>
  return
}

// -----
!block = memref<?xi32, strided<[1], offset: ?>, #svm.dist<"l"[4] per 1, (i) -> (i) at (i) -> (0)>>
!other = memref<?xi32, strided<[1], offset: ?>, #svm.dist<"l"[2] per 1, (i) -> (i) at (i) -> (0)>>
svm.kernel @k(!block {svm.access = "read"}) attributes {blackbox = "x"}
func.func @f(%n: index) {
  %b = svm.block(%n) : !other
  // expected-error @+1 {{gives 'k' a}}
  svm.run @k(%b) : (!other) -> ()
  return
}

// -----
// expected-error @+1 {{has 'svm.instance' on argument 0; it is a unit attribute of one argument, of type index}}
svm.kernel @k(i32 {svm.instance}) attributes {blackbox = "x"}

// -----
// expected-error @+1 {{has 'svm.instance' on argument 1; it is a unit attribute of one argument, of type index}}
svm.kernel @k(index {svm.instance}, index {svm.instance}) attributes {blackbox = "x"}

// -----
// expected-error @+1 {{carries 'svm.shared' with 1 : i64; 'svm.shared' is a mark without a value}}
svm.kernel @k(index) attributes {blackbox = "x", svm.shared = 1}

// -----
func.func @f(%n: index, %i: i64) {
  // expected-error @+1 {{has a format of 2 values and gives 1}}
  svm.print %n, "%d %d" (%i : i64)
  return
}

// -----
func.func @f(%n: index, %i: i64) {
  // expected-error @+1 {{gives a 'i64' as value 0, which its format writes as an f64}}
  svm.print %n, "%g" (%i : i64)
  return
}

// -----
func.func @f(%n: index, %x: f64) {
  // expected-error @+1 {{gives a 'f64' as value 0, which its format writes as an i64}}
  svm.print %n, "%c" (%x : f64)
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a format that does not read: its conversions are %d %i %u %x %c, %f %e %g and %%}}
  svm.print %n, "%s"
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a format that does not read: it ends within a conversion}}
  svm.print %n, "100%"
  return
}

// -----
func.func @f(%n: index, %i: i64) {
  // expected-error @+1 {{has a format that does not read: a width or precision is of more than three digits}}
  svm.print %n, "%1000d" (%i : i64)
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{has a format that does not read: a per cent sign is written %%}}
  svm.print %n, "%5%"
  return
}

// -----
svm.kernel @k(%t: index {svm.instance}) {
  // expected-error @+1 {{waits for what others write; its kernel says so by 'svm.shared'}}
  svm.pause
  svm.return
}
