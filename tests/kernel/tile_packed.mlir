// RUN: strata-opt --svm-tile-loops %s | FileCheck %s
// RUN: strata-opt "--svm-tile-loops=vector=16" %s | FileCheck %s --check-prefix=SHORT
// Matrices of a product that are stored by columns: where panels are copied, squares of them are turned in registers on the way.

!plane = memref<?x?xf32, strided<[?, 1], offset: ?>>

// The right one lies apart for lanes, and side by side for the iterations of the loop along: its copy has lanes side by
// side, and the tile reads it as it reads a copy of a plain one. Few rows, lanes or iterations are gathered. Lanes that the
// panel has not are those of its last one, iterations that there are not are zeros.
// CHECK-LABEL: svm.kernel @right
// CHECK: arith.cmpi ult, {{.*}}, %c6
// CHECK: arith.cmpi ult, {{.*}}, %c16
// CHECK: arith.cmpi ult, {{.*}}, %c16
// CHECK: scf.if
// CHECK: vector.gather
// CHECK: } else {
// CHECK: memref.alloc
// CHECK: arith.minsi
// CHECK-COUNT-16: vector.maskedload %arg1
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-16: vector.store {{.*}} %alloc
// CHECK: scf.for {{.*}} step %c6_
// CHECK: scf.for {{.*}} step %c64_
// CHECK-NOT: vector.gather
// CHECK-COUNT-6: memref.load %arg0
// CHECK-COUNT-4: vector.load %alloc
// CHECK: scf.for {{.*}} step %c2_
// CHECK: svm.return
// SHORT-LABEL: svm.kernel @right
// SHORT: } else {
// SHORT-COUNT-4: vector.maskedload %arg1
// SHORT-COUNT-8: vector.shuffle
// SHORT-NOT: vector.shuffle
// SHORT-COUNT-4: vector.store {{.*}} %alloc
svm.kernel @right(%a: !plane {svm.access = "read"}, %b: !plane {svm.access = "read"}, %c: !plane {svm.access = "readwrite"},
                  %m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %l = %c0 to %k step %c1 {
        %u = memref.load %a[%i, %l] : !plane
        %v = memref.load %b[%j, %l] : !plane
        %w = memref.load %c[%i, %j] : !plane
        %x = arith.mulf %u, %v : f32
        %y = arith.addf %w, %x : f32
        memref.store %y, %c[%i, %j] : !plane
      }
    }
  }
  svm.return
}

// The left one lies side by side for rows, and apart for the iterations: it is copied once in front of all panels, with each row's
// elements side by side. Where there is one panel, or where rows are few, it is read as it is.
// CHECK-LABEL: svm.kernel @left
// CHECK: scf.if
// CHECK: memref.load %arg0
// CHECK: } else {
// CHECK: %[[TURNED:.*]] = memref.alloc({{.*}}, {{.*}}) : memref<?x?xf32>
// CHECK-COUNT-16: vector.maskedload %arg0
// CHECK-COUNT-64: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-16: vector.store {{.*}} %[[TURNED]]
// CHECK: scf.for
// CHECK: memref.alloc({{.*}}) : memref<?xf32>
// CHECK-NOT: memref.load %arg0
// CHECK-COUNT-6: memref.load %[[TURNED]]
// CHECK: svm.return
svm.kernel @left(%a: !plane {svm.access = "read"}, %b: !plane {svm.access = "read"}, %c: !plane {svm.access = "readwrite"},
                 %m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %l = %c0 to %k step %c1 {
        %u = memref.load %a[%l, %i] : !plane
        %v = memref.load %b[%l, %j] : !plane
        %w = memref.load %c[%i, %j] : !plane
        %x = arith.mulf %u, %v : f32
        %y = arith.addf %w, %x : f32
        memref.store %y, %c[%i, %j] : !plane
      }
    }
  }
  svm.return
}

// What is also written is not copied: the lanes gather it, a row at a time.
// CHECK-LABEL: svm.kernel @written
// CHECK-NOT: memref.alloc
// CHECK: svm.return
svm.kernel @written(%a: !plane {svm.access = "read"}, %b: !plane {svm.access = "readwrite"}, %c: !plane {svm.access = "readwrite"},
                    %m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %l = %c0 to %k step %c1 {
        %u = memref.load %a[%i, %l] : !plane
        %v = memref.load %b[%j, %l] : !plane
        %w = memref.load %c[%i, %j] : !plane
        %x = arith.mulf %u, %v : f32
        %y = arith.addf %w, %x : f32
        memref.store %y, %c[%i, %j] : !plane
        memref.store %x, %b[%m, %n] : !plane
      }
    }
  }
  svm.return
}
