// RUN: strata-opt --svm-tile-loops %s | FileCheck %s
// Records in tiles: each field is an array and a variable of its own. Lanes reach records side by side as whole registers,
// which are taken apart and put together.

!z = !svm.record<"complex", re: f32, im: f32>
!line = memref<?x!svm.record<"complex", re: f32, im: f32>, strided<[1], offset: ?>>
!every = memref<?x!svm.record<"complex", re: f32, im: f32>, strided<[?], offset: ?>>
!hit = memref<?x!svm.record<"hit", key: i32, weight: f32>, strided<[1], offset: ?>>
!point = memref<?x!svm.record<"point", x: f64, y: f64, z: f64>, strided<[1], offset: ?>>
!wide = memref<?x!svm.record<"wide", a: f32, b: f32, c: f32, d: f32, e: f32>, strided<[1], offset: ?>>
!mixed = memref<?x!svm.record<"mixed", id: i8, pair: !svm.record<"pair", d: f64, f: f32>>, strided<[1], offset: ?>>

// Two registers hold 16 records. The last lanes are under a mask, each for both fields.
// CHECK-LABEL: svm.kernel @turned
// CHECK-DAG: svm.fields %arg0 [0] : {{.*}} -> memref<?xf32, strided<[2], offset: ?>>
// CHECK-DAG: svm.fields %arg0 [1] : {{.*}} -> memref<?xf32, strided<[2], offset: ?>>
// CHECK: %[[BOTH:[a-z0-9_]+]] = vector.load {{.*}} vector<32xf32>
// CHECK: vector.shuffle %[[BOTH]], %[[BOTH]] [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK: vector.shuffle %{{.*}} [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]
// CHECK: %[[MINUS:[a-z0-9_]+]] = arith.negf {{.*}} : vector<16xf32>
// CHECK: vector.shuffle %[[MINUS]], %{{.*}} [0, 16, 1, 17, 2, 18,
// CHECK: vector.store {{.*}} vector<32xf32>
// CHECK-NOT: vector.store
// CHECK: %[[MASK:[a-z0-9_]+]] = vector.shuffle {{.*}} [0, 0, 1, 1, 2, 2, {{.*}}] : vector<16xi1>, vector<16xi1>
// CHECK: vector.maskedload {{.*}} %[[MASK]]
// CHECK: vector.maskedstore {{.*}} vector<32xf32>
// CHECK: svm.return
svm.kernel @turned(%x: !line {svm.access = "read"}, %y: !line {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.alloca() : memref<!z>
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : !line
    %re = svm.field %u[0] : !z -> f32
    %im = svm.field %u[1] : !z -> f32
    %minus = arith.negf %im : f32
    %old = memref.load %t[] : memref<!z>
    %one = svm.with_field %old[0] = %minus : f32 in !z
    memref.store %one, %t[] : memref<!z>
    %half = memref.load %t[] : memref<!z>
    %two = svm.with_field %half[1] = %re : f32 in !z
    memref.store %two, %t[] : memref<!z>
    %v = memref.load %t[] : memref<!z>
    memref.store %v, %y[%i] : !line
  }
  svm.return
}

// One field is written, and the other one neither read nor written: it may be somebody else's.
// CHECK-LABEL: svm.kernel @one_field
// CHECK-NOT: vector.load
// CHECK: vector.maskedstore
// CHECK-NOT: vector.store
// CHECK: svm.return
svm.kernel @one_field(%y: !line {svm.access = "readwrite"}, %value: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %old = memref.load %y[%i] : !line
    %new = svm.with_field %old[1] = %value : f32 in !z
    memref.store %new, %y[%i] : !line
  }
  svm.return
}

// What was loaded is stored again behind another store, which may have reached it.
// CHECK-LABEL: svm.kernel @between
// CHECK: scf.for
// CHECK-COUNT-4: memref.store
// CHECK: svm.return
svm.kernel @between(%y: !line {svm.access = "readwrite"}, %k: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %old = memref.load %y[%i] : !line
    %other = memref.load %y[%k] : !line
    memref.store %other, %y[%c0] : !line
    memref.store %old, %y[%i] : !line
  }
  svm.return
}

// Fields of two types: stored as what they are in memory.
// CHECK-LABEL: svm.kernel @hits
// CHECK: arith.bitcast {{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK: vector.store
// CHECK: svm.return
svm.kernel @hits(%y: !hit {svm.access = "write"}, %key: memref<?xi32, strided<[1], offset: ?>> {svm.access = "read"},
                 %weight: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %key[%i] : memref<?xi32, strided<[1], offset: ?>>
    %w = memref.load %weight[%i] : memref<?xf32, strided<[1], offset: ?>>
    %r = svm.record(%k, %w) : (i32, f32) -> !svm.record<"hit", key: i32, weight: f32>
    memref.store %r, %y[%i] : !hit
  }
  svm.return
}

// Three numbers: four are put together, and the fourth is left out.
// CHECK-LABEL: svm.kernel @points
// CHECK: vector.load {{.*}} vector<24xf64>
// CHECK: vector.shuffle {{.*}} [0, 3, 6, 9, 12, 15, 18, 21]
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 4, 5, 6, 8, 9, 10,
// CHECK: vector.store {{.*}} vector<24xf64>
// CHECK: svm.return
svm.kernel @points(%x: !point {svm.access = "read"}, %y: !point {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : !point
    %a = svm.field %u[0] : !svm.record<"point", x: f64, y: f64, z: f64> -> f64
    %b = svm.field %u[1] : !svm.record<"point", x: f64, y: f64, z: f64> -> f64
    %c = svm.field %u[2] : !svm.record<"point", x: f64, y: f64, z: f64> -> f64
    %aa = arith.mulf %a, %a : f64
    %bb = math.fma %b, %b, %aa : f64
    %cc = math.fma %c, %c, %bb : f64
    %length = math.sqrt %cc : f64
    %d = arith.divf %a, %length : f64
    %e = arith.divf %b, %length : f64
    %f = arith.divf %c, %length : f64
    %v = svm.record(%d, %e, %f) : (f64, f64, f64) -> !svm.record<"point", x: f64, y: f64, z: f64>
    memref.store %v, %y[%i] : !point
  }
  svm.return
}

// Five numbers, or records apart: lanes gather and scatter, where that pays.
// CHECK-LABEL: svm.kernel @wide
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @wide(%x: !wide {svm.access = "read"}, %y: !wide {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : !wide
    memref.store %u, %y[%i] : !wide
  }
  svm.return
}
// CHECK-LABEL: svm.kernel @apart
// CHECK: vector.gather
// CHECK: vector.store {{.*}} vector<32xf32>
// CHECK: svm.return
svm.kernel @apart(%x: !every {svm.access = "read"}, %y: !line {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : !every
    %re = svm.field %u[0] : !z -> f32
    %im = svm.field %u[1] : !z -> f32
    %a = arith.mulf %re, %re : f32
    %b = arith.mulf %im, %im : f32
    %c = arith.addf %a, %b : f32
    %d = math.sqrt %c : f32
    %e = arith.divf %re, %d : f32
    %f = arith.divf %im, %d : f32
    %g = arith.mulf %e, %f : f32
    %h = math.sqrt %g : f32
    %v = svm.record(%h, %e) : (f32, f32) -> !z
    memref.store %v, %y[%i] : !line
  }
  svm.return
}

// A record in a record, with bytes between its fields: 24 bytes are 3 numbers of 8, and more of the others.
// CHECK-LABEL: svm.kernel @nested
// CHECK: svm.fields %arg0 [1, 0] : {{.*}} -> memref<?xf64, strided<[3], offset: ?>>
// CHECK: vector.load {{.*}} vector<24xf64>
// CHECK: vector.shuffle {{.*}} [1, 4, 7, 10, 13, 16, 19, 22]
// CHECK: svm.return
svm.kernel @nested(%x: !mixed {svm.access = "read"}, %y: memref<?xf64, strided<[1], offset: ?>> {svm.access = "write"},
                   %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : !mixed
    %pair = svm.field %u[1] : !svm.record<"mixed", id: i8, pair: !svm.record<"pair", d: f64, f: f32>>
        -> !svm.record<"pair", d: f64, f: f32>
    %d = svm.field %pair[0] : !svm.record<"pair", d: f64, f: f32> -> f64
    memref.store %d, %y[%i] : memref<?xf64, strided<[1], offset: ?>>
  }
  svm.return
}

// Records that are chosen from each other: each choice is made once for a field, however often what it chose is used.
// CHECK-LABEL: svm.kernel @chosen
// CHECK-COUNT-3: arith.select {{.*}} : f32
// CHECK-NOT: arith.select
// CHECK: svm.return
svm.kernel @chosen(%x: !line {svm.access = "readwrite"}, %k: index, %c: i1, %value: f32) {
  %r0 = memref.load %x[%k] : !line
  %w0 = svm.with_field %r0[0] = %value : f32 in !z
  %r1 = arith.select %c, %r0, %w0 : !z
  %w1 = svm.with_field %r1[0] = %value : f32 in !z
  %r2 = arith.select %c, %r1, %w1 : !z
  %w2 = svm.with_field %r2[0] = %value : f32 in !z
  %r3 = arith.select %c, %r2, %w2 : !z
  %re = svm.field %r3[0] : !z -> f32
  %im = arith.negf %re : f32
  %last = svm.with_field %r3[1] = %im : f32 in !z
  memref.store %last, %x[%k] : !line
  svm.return
}
