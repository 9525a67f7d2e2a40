// RUN: strata-opt --svm-extract-equations %s | FileCheck %s
// RUN: strata-opt --svm-extract-equations --verify-diagnostics %s -o /dev/null
// RUN: strata-opt --svm-extract-equations --svm-lower-equations %s | FileCheck --check-prefix=LOOPS %s
// Loops with affine bounds, conditions and indices become equations; other kernels stay, with a remark.

!v = memref<?xf32, strided<[1], offset: ?>>
!at = memref<?xi32, strided<[1], offset: ?>>
!d = memref<?xf32, strided<[1], offset: ?>, #svm.dist<"l"[4] per 1, (i) -> (i floordiv 5) at (i) -> (i mod 5)>>
module attributes {svm.stage = "logical"} {

// A sum goes on from iteration to iteration; what it begins with is seen through.
// CHECK-LABEL: svm.kernel @sums
// CHECK-SAME: %[[N:[^:]*]]: index {svm.name = "x.0"}
// CHECK: svm.equations ["i"](%[[N]]) ["x.0"]
// CHECK: svm.use "{{.*}}" at #{{.*}} : f32
// CHECK-NOT: scf.for
// LOOPS-LABEL: svm.kernel @sums
// LOOPS: scf.for
svm.kernel @sums(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"})
    attributes {extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : !v
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %a = memref.load %x[%i] : !v
    %r = arith.addf %s, %a : f32
    memref.store %r, %y[%i] : !v
    scf.yield %r : f32
  }
  svm.return
}

// The array that is read and written is read as it was before: the run gets a copy.
// CHECK-LABEL: svm.kernel @doubled
// CHECK-SAME: svm.access = "write", svm.name = "x"
// CHECK-SAME: %[[BEFORE:[^:]*]]: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read", svm.name = "x.before"}
// CHECK: svm.element %[[BEFORE]]
svm.kernel @doubled(%x: !v {svm.access = "readwrite", svm.name = "x"}) attributes {extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : !v
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : !v
    %r = arith.addf %v, %v : f32
    affine.store %r, %x[%i] : !v
  }
  svm.return
}

// A result without indices, and one of which some elements are left alone: those keep what they have.
// CHECK-LABEL: svm.kernel @total
// CHECK-SAME: %{{[^:]*}}: memref<f32, strided<[], offset: ?>> {svm.access = "write", svm.name = "t"}
// CHECK-SAME: {svm.access = "readwrite", svm.name = "y"}
// CHECK-SAME: extents = [#{{.*}}, #{{.*}}, #{{.*}}]
// CHECK: svm.equations
svm.kernel @total(%x: !v {svm.access = "read", svm.name = "x"}, %t: memref<f32, strided<[], offset: ?>> {svm.access = "write", svm.name = "t"},
                  %y: !v {svm.access = "readwrite", svm.name = "y"})
    attributes {extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> ()>, affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : !v
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %a = memref.load %x[%i] : !v
    %r = arith.addf %s, %a : f32
    scf.yield %r : f32
  }
  memref.store %last, %t[] : memref<f32, strided<[], offset: ?>>
  scf.for %i = %c1 to %n step %c1 {
    %a = memref.load %x[%i] : !v
    memref.store %a, %y[%i] : !v
  }
  svm.return
}

// What all runs give is known: a tile's number, from 0 to 3.
// CHECK-LABEL: svm.kernel @piece
// CHECK: svm.equations
svm.kernel @piece(%x: !d {svm.access = "read", svm.name = "x"}, %y: !d {svm.access = "readwrite", svm.name = "y"},
                  %tile: index {svm.name = "tile"}) attributes {extents = [affine_map<() -> (20)>, affine_map<() -> (20)>, affine_map<() -> ()>]} {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %own = arith.minui %tile, %c3 : index
  %first = arith.muli %own, %c5 : index
  %end = arith.addi %first, %c5 : index
  scf.for %i = %first to %end step %c1 {
    %v = memref.load %x[%i] : !d
    memref.store %v, %y[%i] : !d
  }
  svm.return
}
func.func @pieces(%x: !d {svm.access = "read"}, %y: !d {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  svm.parallel "tiles" (%t) = (%c0) to (%c4) {
    %high = arith.divui %t, %c2 : index
    %low = arith.remui %t, %c2 : index
    %twice = arith.muli %high, %c2 : index
    %tile = arith.addi %twice, %low : index
    svm.run @piece(%x, %y, %tile) : (!d, !d, index) -> ()
  }
  return
}

// CHECK-LABEL: svm.kernel @gather
// CHECK-NOT: svm.equations
// CHECK: scf.for
svm.kernel @gather(%x: !v {svm.access = "read"}, %at: !at {svm.access = "read"}, %y: !v {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : !v
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : !at
    %j = arith.index_cast %k : i32 to index
    // expected-remark @+1 {{kernel 'gather' has no equations: an index is not affine}}
    %v = memref.load %x[%j] : !v
    memref.store %v, %y[%i] : !v
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @positive
// CHECK-NOT: svm.equations
svm.kernel @positive(%x: !v {svm.access = "read"}, %y: !v {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : !v
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !v
    %isMore = arith.cmpf ogt, %v, %zero : f32
    // expected-remark @+1 {{kernel 'positive' has no equations: a condition depends on data}}
    scf.if %isMore {
      memref.store %v, %y[%i] : !v
    }
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @halved
// CHECK: scf.while
svm.kernel @halved(%x: !v {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : !v
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  // expected-remark @+1 {{kernel 'halved' has no equations: 'scf.while' is no part of equations}}
  %end = scf.while (%i = %n) : (index) -> index {
    %isMore = arith.cmpi sgt, %i, %c0 : index
    scf.condition(%isMore) %i : index
  } do {
  ^bb0(%i: index):
    %half = arith.divsi %i, %c2 : index
    memref.store %one, %x[%half] : !v
    scf.yield %half : index
  }
  svm.return
}

// The bound is a scalar: sizes for which an index leaves the array are checked where the kernel is run.
// CHECK-LABEL: svm.kernel @first
// CHECK: svm.equations
svm.kernel @first(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"},
                  %count: index {svm.name = "count"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %count step %c1 {
    %v = memref.load %x[%i] : !v
    memref.store %v, %y[%i] : !v
  }
  svm.return
}

// CHECK-LABEL: func.func @main
// CHECK: %[[COPY:.*]] = svm.block "doubled.before"
// CHECK: svm.move %{{.*}} to %[[COPY]]
// CHECK: svm.run @doubled(%{{.*}}, %[[COPY]], %{{.*}})
// CHECK: svm.check %{{.*}}, "equations-sizes"
// CHECK: svm.run @first
func.func @main(%x: !v {svm.access = "readwrite"}, %y: !v {svm.access = "write"}, %count: index) {
  svm.run @doubled(%x) : (!v) -> ()
  svm.run @first(%x, %y, %count) : (!v, !v, index) -> ()
  return
}
}
