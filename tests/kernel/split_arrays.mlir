// RUN: strata-opt --svm-split-arrays %s | FileCheck %s
// Small arrays of an iteration's own become a variable for each element, where loops with constant bounds number them.

!row = memref<?xf32, strided<[1], offset: ?>>

// Bounds that depend on the loop around, and a counter that loops carry.
// CHECK-LABEL: svm.kernel @sorted
// CHECK: scf.for
// CHECK-COUNT-3: memref.alloca() : memref<f32>
// CHECK-NOT: memref<3xf32>
// CHECK-NOT: scf.for
// CHECK-COUNT-3: scf.if
// CHECK-NOT: scf.if
// CHECK: svm.return
svm.kernel @sorted(%a: !row {svm.access = "read"}, %b: !row {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %x = %c0 to %n step %c1 {
    %own = memref.alloca() : memref<3xf32>
    %count = scf.for %k = %c0 to %c3 step %c1 iter_args(%next = %zero) -> (i32) {
      %at = arith.addi %x, %k : index
      %u = memref.load %a[%at] : !row
      %number = arith.index_cast %next : i32 to index
      memref.store %u, %own[%number] : memref<3xf32>
      %more = arith.addi %next, %one : i32
      scf.yield %more : i32
    }
    scf.for %i = %c0 to %c2 step %c1 {
      %from = arith.addi %i, %c1 : index
      scf.for %j = %from to %c3 step %c1 {
        %u = memref.load %own[%i] : memref<3xf32>
        %v = memref.load %own[%j] : memref<3xf32>
        %less = arith.cmpf olt, %v, %u : f32
        scf.if %less {
          memref.store %v, %own[%i] : memref<3xf32>
          memref.store %u, %own[%j] : memref<3xf32>
        }
      }
    }
    %last = arith.index_cast %count : i32 to index
    %middle = arith.subi %last, %c2 : index
    %w = memref.load %own[%middle] : memref<3xf32>
    memref.store %w, %b[%x] : !row
  }
  svm.return
}

// A loop within a choice.
// CHECK-LABEL: svm.kernel @chosen
// CHECK-NOT: memref<2xf32>
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: svm.return
svm.kernel @chosen(%a: !row {svm.access = "read"}, %b: !row {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %x = %c0 to %n step %c1 {
    %own = memref.alloca() : memref<2xf32>
    %u = memref.load %a[%x] : !row
    %v = arith.negf %u : f32
    memref.store %u, %own[%c0] : memref<2xf32>
    memref.store %v, %own[%c1] : memref<2xf32>
    %isLess = arith.cmpf olt, %u, %v : f32
    scf.if %isLess {
      scf.for %k = %c0 to %c2 step %c1 {
        %w = memref.load %own[%k] : memref<2xf32>
        memref.store %w, %b[%x] : !row
      }
    }
  }
  svm.return
}

// A number of eight bits wraps, and is then another than its sum: the array stays.
// CHECK-LABEL: svm.kernel @wraps
// CHECK: memref.alloca() : memref<32xf32>
// CHECK: svm.return
svm.kernel @wraps(%a: !row {svm.access = "read"}, %b: !row {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %hundred = arith.constant 100 : i8
  %ten = arith.constant 10 : i8
  %wide = arith.constant 100 : i32
  %zero = arith.constant 0 : i32
  scf.for %x = %c0 to %n step %c1 {
    %own = memref.alloca() : memref<32xf32>
    %u = memref.load %a[%x] : !row
    %end = scf.for %k = %c0 to %c4 step %c1 iter_args(%short = %hundred) -> (i8) {
      %long = arith.extsi %short : i8 to i32
      %less = arith.subi %long, %wide : i32
      %most = arith.maxsi %less, %zero : i32
      %at = arith.index_cast %most : i32 to index
      memref.store %u, %own[%at] : memref<32xf32>
      %next = arith.addi %short, %ten : i8
      scf.yield %next : i8
    }
    %v = memref.load %own[%c0] : memref<32xf32>
    memref.store %v, %b[%x] : !row
  }
  svm.return
}

// What data number, sizes bound or lies beyond the end stays an array; so does one whose loop has no other around it.
// CHECK-LABEL: svm.kernel @stay
// CHECK: memref.alloca() : memref<4xf32>
// CHECK: scf.for
// CHECK: memref.alloca() : memref<5xf32>
// CHECK: memref.alloca() : memref<6xf32>
// CHECK: memref.alloca() : memref<33xf32>
// CHECK: scf.for
// CHECK-NOT: memref<7xf32>
// CHECK: svm.return
svm.kernel @stay(%a: !row {svm.access = "read"}, %b: !row {svm.access = "write"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %one = arith.constant 1.0 : f32
  %alone = memref.alloca() : memref<4xf32>
  scf.for %k = %c0 to %c4 step %c1 {
    memref.store %one, %alone[%k] : memref<4xf32>
  }
  scf.for %x = %c0 to %n step %c1 {
    %sized = memref.alloca() : memref<5xf32>
    %short = memref.alloca() : memref<6xf32>
    %long = memref.alloca() : memref<33xf32>
    %plain = memref.alloca() : memref<7xf32>
    scf.for %k = %c0 to %m step %c1 {
      memref.store %one, %sized[%k] : memref<5xf32>
    }
    memref.store %one, %short[%c6] : memref<6xf32>
    memref.store %one, %long[%c6] : memref<33xf32>
    memref.store %one, %plain[%c6] : memref<7xf32>
    %u = memref.load %plain[%c2] : memref<7xf32>
    memref.store %u, %b[%x] : !row
  }
  svm.return
}
