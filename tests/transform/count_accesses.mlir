// RUN: strata-opt --svm-count-accesses %s | FileCheck %s
// A kernel that knows its processor adds up what it reads and writes of distributed arrays, by whose memory it is.

#cut = #svm.dist<"l"[8] per 2, (i) -> (i floordiv 4) at (i) -> (i mod 4)>
!near = memref<?xi32, strided<[1], offset: ?>, #cut>
!shared = memref<?xf64, strided<[1], offset: ?>, #svm.dist<"g"[1] per 0, (i) -> (0) at (i) -> (i)>>
!copies = memref<?xi8, strided<[1], offset: ?>, #svm.dist<"l"[8] per 2, (i) -> () at (i) -> (i)>>
!plain = memref<?xi32, strided<[1], offset: ?>>

// CHECK-LABEL: svm.kernel @tile
// CHECK-DAG: %[[TILE:.*]]: index {svm.instance}
// CHECK-COUNT-5: memref.alloca() : memref<i64>
// CHECK: scf.for
// The owner of element i is processor i / 8.
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK: arith.select
// CHECK: memref.load %{{.*}} : memref<?xi32, {{.*}}#svm.dist
// CHECK: }
// CHECK-DAG: svm.count "read local l"
// CHECK-DAG: svm.count "read remote l"
// CHECK-DAG: svm.count "write global g"
// CHECK-DAG: svm.count "write local l"
// CHECK-DAG: svm.count "write remote l"
// CHECK-NOT: svm.count
// CHECK: svm.return
svm.kernel @tile(%a: !near {svm.access = "readwrite"}, %g: !shared {svm.access = "write"},
                 %c: !copies {svm.access = "write"}, %p: !plain {svm.access = "write"}, %tile: index {svm.instance}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : !near
  %x = arith.constant 1.0 : f64
  %b = arith.constant 1 : i8
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : !near
    memref.store %v, %a[%i] : !near
    memref.store %v, %p[%i] : !plain
    memref.store %x, %g[%i] : !shared
    memref.store %b, %c[%i] : !copies
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @start
// CHECK-NOT: svm.count
// CHECK: svm.return
svm.kernel @start(%a: !near {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  memref.store %zero, %a[%c0] : !near
  svm.return
}
