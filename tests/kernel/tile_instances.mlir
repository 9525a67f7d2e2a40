// RUN: strata-opt --svm-tile-loops %s | FileCheck %s
// Parallel loops of kernels go in tiles: the innermost in lanes, some iterations of the one around it along with it.

!row = memref<?xf32, strided<[1], offset: ?>>
!ints = memref<?xi32, strided<[1], offset: ?>>

// A matrix product: tiles of six rows and four registers; each value of `a` serves four, each register of `b` six.
// CHECK-LABEL: svm.kernel @product
// CHECK: scf.for {{.*}} step %c6
// CHECK: scf.for {{.*}} step %c64
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK-COUNT-6: memref.load
// CHECK-COUNT-4: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-24: math.fma {{.*}} : vector<16xf32>
// CHECK-COUNT-24: vector.store
// CHECK: vector.maskedstore
// CHECK: svm.return
svm.kernel @product(%a: !row {svm.access = "read"}, %b: !row {svm.access = "read"}, %c: !row {svm.access = "readwrite"},
                    %m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %y = %c0 to %m step %c1 {
    scf.for %x = %c0 to %n step %c1 {
      %ay = arith.muli %y, %k : index
      %sum = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (f32) {
        %ai = arith.addi %ay, %i : index
        %u = memref.load %a[%ai] : !row
        %bi = arith.muli %i, %n : index
        %bx = arith.addi %bi, %x : index
        %v = memref.load %b[%bx] : !row
        %t = math.fma %u, %v, %s : f32
        scf.yield %t : f32
      }
      %cy = arith.muli %y, %n : index
      %cx = arith.addi %cy, %x : index
      memref.store %sum, %c[%cx] : !row
    } {svm.unordered}
  } {svm.unordered}
  svm.return
}

// What guards all of an instance bounds the loop; what does not depend on it stands around it.
// CHECK-LABEL: svm.kernel @guarded
// CHECK: scf.if %{{.*}} {
// CHECK-NOT: scf.if
// CHECK: svm.return
svm.kernel @guarded(%a: !row {svm.access = "readwrite"}, %n: index, %limit: index, %on: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %x = %c0 to %n step %c1 {
    %next = arith.addi %x, %c1 : index
    %inside = arith.cmpi slt, %next, %limit : index
    %both = arith.andi %inside, %on : i1
    scf.if %both {
      %u = memref.load %a[%next] : !row
      %v = arith.addf %u, %u : f32
      memref.store %v, %a[%next] : !row
    }
  } {svm.unordered}
  svm.return
}

// Loops that lanes leave at different times, and elements that lie apart.
// CHECK-LABEL: svm.kernel @jagged
// CHECK: vector.reduction <maxui>
// CHECK: vector.reduction <minui>
// While all lanes are on, each element is loaded by its index, and the lines of a later tile are asked for.
// CHECK: scf.for
// CHECK: memref.prefetch
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK-COUNT-16: vector.load {{.*}} vector<1xf32>
// CHECK: scf.for
// CHECK: vector.maskedload
// CHECK: vector.gather
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: svm.return
svm.kernel @jagged(%values: !row {svm.access = "read"}, %columns: !ints {svm.access = "read"},
                   %lengths: !ints {svm.access = "read"}, %x: !row {svm.access = "read"},
                   %y: !row {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %row = %c0 to %n step %c1 {
    %length = memref.load %lengths[%row] : !ints
    %end = arith.index_cast %length : i32 to index
    %sum = scf.for %k = %c0 to %end step %c1 iter_args(%s = %zero) -> (f32) {
      %kn = arith.muli %k, %n : index
      %at = arith.addi %kn, %row : index
      %u = memref.load %values[%at] : !row
      %j = memref.load %columns[%at] : !ints
      %ji = arith.index_cast %j : i32 to index
      %v = memref.load %x[%ji] : !row
      %p = arith.mulf %u, %v : f32
      %t = arith.addf %s, %p : f32
      scf.yield %t : f32
    }
    memref.store %sum, %y[%row] : !row
  } {svm.unordered}
  svm.return
}

// A choice of each lane: both arms under masks; the loop in one is entered only where a lane takes it.
// CHECK-LABEL: svm.kernel @chosen
// CHECK: vector.reduction <or>
// CHECK: scf.if
// CHECK: vector.maskedload
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: svm.return
svm.kernel @chosen(%a: !row {svm.access = "readwrite"}, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %x = %c0 to %n step %c1 {
    %u = memref.load %a[%x] : !row
    %negative = arith.cmpf olt, %u, %zero : f32
    %r = scf.if %negative -> (f32) {
      %sum = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (f32) {
        %in = arith.muli %i, %n : index
        %at = arith.addi %in, %x : index
        %v = memref.load %a[%at] : !row
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      scf.yield %sum : f32
    } else {
      %v = arith.mulf %u, %u : f32
      scf.yield %v : f32
    }
    memref.store %r, %a[%x] : !row
  } {svm.unordered}
  svm.return
}

// A division that could trap stays with its instance, and so does what all instances store to one element.
// CHECK-LABEL: svm.kernel @traps
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @traps(%a: !ints {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  scf.for %x = %c0 to %n step %c1 {
    %u = memref.load %a[%x] : !ints
    %v = arith.divsi %seven, %u : i32
    memref.store %v, %a[%x] : !ints
  } {svm.unordered}
  svm.return
}
// CHECK-LABEL: svm.kernel @one
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @one(%a: !ints {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %x = %c0 to %n step %c1 {
    %u = memref.load %a[%x] : !ints
    memref.store %u, %a[%c0] : !ints
  } {svm.unordered}
  svm.return
}
