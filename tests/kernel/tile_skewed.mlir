// RUN: strata-opt --svm-tile-loops %s | FileCheck %s
// Rows of a tile that begin a loop one after the other, where each reads what the row in front of it reads an iteration later.

!plane = memref<?x?xf32, strided<[?, 1], offset: ?>>

// Four rows: three iterations in which one, two and three of them have begun, all four, then three, two and one that have
// not ended. Each loads of the image what one row would, and a number of the filter for each row. Where the filter has fewer
// rows than three, rows begin together.
// CHECK-LABEL: svm.kernel @filter
// CHECK: scf.for {{.*}} step %c4
// CHECK: scf.for {{.*}} step %c64
// CHECK: %[[ENOUGH:.*]] = arith.cmpi uge, {{.*}}, %c3
// CHECK: scf.if %[[ENOUGH]] -> (vector<16xf32>
// CHECK: scf.for
// CHECK-COUNT-1: memref.load %arg0
// CHECK-COUNT-4: vector.load %arg1
// CHECK-COUNT-4: arith.addf
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-COUNT-2: memref.load %arg0
// CHECK-COUNT-4: vector.load %arg1
// CHECK-COUNT-8: arith.addf
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-COUNT-3: memref.load %arg0
// CHECK-COUNT-4: vector.load %arg1
// CHECK-NOT: vector.load
// CHECK-COUNT-12: arith.addf
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-4: memref.load %arg0
// CHECK-COUNT-4: vector.load %arg1
// CHECK-NOT: vector.load
// CHECK-COUNT-16: arith.addf
// CHECK: scf.yield
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-COUNT-3: memref.load %arg0
// CHECK-COUNT-4: vector.load %arg1
// CHECK-COUNT-12: arith.addf
// CHECK: scf.for
// CHECK-COUNT-2: memref.load %arg0
// CHECK: scf.for
// CHECK-COUNT-1: memref.load %arg0
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-16: vector.load %arg1
// CHECK: svm.return
svm.kernel @filter(%mask: !plane {svm.access = "read"}, %image: !plane {svm.access = "read"}, %out: !plane {svm.access = "write"},
                   %m: index, %n: index, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %u = %c0 to %p step %c1 iter_args(%a = %zero) -> f32 {
        %inner = scf.for %v = %c0 to %q step %c1 iter_args(%b = %a) -> f32 {
          %y = arith.addi %i, %u : index
          %x = arith.addi %j, %v : index
          %s = memref.load %mask[%u, %v] : !plane
          %t = memref.load %image[%y, %x] : !plane
          %w = arith.mulf %s, %t : f32
          %r = arith.addf %b, %w : f32
          scf.yield %r : f32
        }
        scf.yield %inner : f32
      }
      memref.store %sum, %out[%i, %j] : !plane
    }
  }
  svm.return
}

// Rows that are two iterations apart share nothing at one time; nor do rows whose elements are as far apart as twice the
// loop's.
// CHECK-LABEL: svm.kernel @apart
// CHECK-NOT: arith.cmpi uge
// CHECK: svm.return
svm.kernel @apart(%mask: !plane {svm.access = "read"}, %image: !plane {svm.access = "read"}, %out: !plane {svm.access = "write"},
                  %m: index, %n: index, %p: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %u = %c0 to %p step %c1 iter_args(%a = %zero) -> f32 {
        %o = arith.addi %u, %u : index
        %y = arith.addi %i, %o : index
        %s = memref.load %mask[%u, %c0] : !plane
        %t = memref.load %image[%y, %j] : !plane
        %w = arith.mulf %s, %t : f32
        %r = arith.addf %a, %w : f32
        scf.yield %r : f32
      }
      memref.store %sum, %out[%i, %j] : !plane
    }
  }
  svm.return
}

// A length that depends on the loop differs between
// rows as soon as they are apart.
// CHECK-LABEL: svm.kernel @triangle
// CHECK-NOT: arith.cmpi uge
// CHECK: svm.return
svm.kernel @triangle(%mask: !plane {svm.access = "read"}, %image: !plane {svm.access = "read"}, %out: !plane {svm.access = "write"},
                     %m: index, %n: index, %p: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %u = %c0 to %p step %c1 iter_args(%a = %zero) -> f32 {
        %inner = scf.for %v = %c0 to %u step %c1 iter_args(%b = %a) -> f32 {
          %y = arith.addi %i, %u : index
          %x = arith.addi %j, %v : index
          %s = memref.load %mask[%u, %v] : !plane
          %t = memref.load %image[%y, %x] : !plane
          %w = arith.mulf %s, %t : f32
          %r = arith.addf %b, %w : f32
          scf.yield %r : f32
        }
        scf.yield %inner : f32
      }
      memref.store %sum, %out[%i, %j] : !plane
    }
  }
  svm.return
}

// The image in one dimension, as a graph's node has it: `width` times the row plus `width` times the loop's variable.
// CHECK-LABEL: svm.kernel @flat
// CHECK: scf.for {{.*}} step %c4
// CHECK: arith.cmpi uge, {{.*}}, %c3
// CHECK: svm.return
svm.kernel @flat(%mask: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read"}, %image: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read"},
                 %out: !plane {svm.access = "write"}, %m: index, %n: index, %p: index, %width: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %sum = scf.for %u = %c0 to %p step %c1 iter_args(%a = %zero) -> f32 {
        %w0 = arith.index_cast %width : i64 to index
        %i0 = arith.muli %i, %w0 : index
        %w1 = arith.index_cast %width : i64 to index
        %u0 = arith.muli %w1, %u : index
        %x0 = arith.addi %i0, %j : index
        %x = arith.addi %u0, %x0 : index
        %s = memref.load %mask[%u] : memref<?xf32, strided<[1], offset: ?>>
        %t = memref.load %image[%x] : memref<?xf32, strided<[1], offset: ?>>
        %w = arith.mulf %s, %t : f32
        %r = arith.addf %a, %w : f32
        scf.yield %r : f32
      }
      memref.store %sum, %out[%i, %j] : !plane
    }
  }
  svm.return
}
