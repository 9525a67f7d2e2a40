// RUN: strata-opt --svm-tile-loops %s | FileCheck %s --check-prefix=USUAL
// RUN: strata-opt --svm-tile-loops="vector=16 vector-latency=2" %s | FileCheck %s --check-prefix=NARROW
// RUN: strata-opt --svm-tile-loops="vector=32 vector-registers=8" %s | FileCheck %s --check-prefix=FEW
// RUN: strata-opt --svm-tile-loops=vector=4 %s | FileCheck %s --check-prefix=SCALAR
// RUN: strata-opt --svm-prefetch-rows="line=128 page=16384 cache=65536 memory-latency=150" %s | FileCheck %s --check-prefix=ROWS
// RUN: not strata-opt --svm-tile-loops=vector=48 %s 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not strata-opt --svm-tile-loops=vector-latency=0 %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not strata-opt --svm-prefetch-rows=line=99999999999 %s 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not strata-opt --svm-prefetch-rows=cache=0 %s 2>&1 | FileCheck %s --check-prefix=CACHE
// Figures of the hardware are options of the passes that go by them; what no hardware has is refused.

// WRONG: error: a figure 'vector' of 48; a power of two from 4 to 256 is possible
// NONE: error: a figure 'vector_latency' of 0; from 1 to 1024 is possible
// LONG: error: a figure 'line' of 99999999999; a power of two from 8 to 1024 is possible
// CACHE: error: a figure 'capacity' of 0; from 8 to

!matrix = memref<?x?xf32, strided<[?, 1], offset: ?>>
!row = memref<?xf32, strided<[1], offset: ?>>

// Two values in the loop: as many registers at once as hide the latency at 64 bytes a cycle, and half of them at most.
// USUAL-COUNT-4: vector.store {{.*}} vector<16xf32>
// USUAL: vector.maskedstore {{.*}} vector<16xf32>
// NARROW-COUNT-2: vector.store {{.*}} vector<4xf32>
// NARROW: vector.maskedstore {{.*}} vector<4xf32>
// FEW-COUNT-2: vector.store {{.*}} vector<8xf32>
// FEW: vector.maskedstore {{.*}} vector<8xf32>
// SCALAR-NOT: vector.
// SCALAR: svm.return
svm.kernel @sums(%a: !matrix {svm.access = "read"}, %c: !row {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloca() : memref<f32>
  %m = memref.dim %a, %c0 : !matrix
  %n = memref.dim %a, %c1 : !matrix
  scf.for %j = %c0 to %n step %c1 {
    memref.store %zero, %sum[] : memref<f32>
    scf.for %i = %c0 to %m step %c1 {
      %x = memref.load %a[%i, %j] : !matrix
      %s = memref.load %sum[] : memref<f32>
      %t = arith.addf %s, %x : f32
      memref.store %t, %sum[] : memref<f32>
    }
    %s = memref.load %sum[] : memref<f32>
    memref.store %s, %c[%j] : !row
  }
  svm.return
}

// Of floats a piece of an eighth of a page has 512, a page 4096, a quarter of the cache 4096, a line 32; two rows are worked on
// while memory answers.
// ROWS-LABEL: svm.kernel @rows
// ROWS: memref.extract_strided_metadata
// ROWS: %[[PIECE:.*]] = arith.constant 512 : index
// ROWS: arith.cmpi sle, %{{.*}}, %[[PIECE]]
// ROWS: %[[PAGE:.*]] = arith.constant 4096 : index
// ROWS: arith.cmpi sge, %{{.*}}, %[[PAGE]]
// ROWS: %[[NEAR:.*]] = arith.constant 4096 : index
// ROWS: arith.cmpi sge, %{{.*}}, %[[NEAR]]
// ROWS: %[[AHEAD:.*]] = arith.constant 2 : index
// ROWS: arith.minsi %{{.*}}, %[[AHEAD]]
// ROWS: %[[LINE:.*]] = arith.constant 32 : index
// ROWS: scf.for %{{.*}} step %[[LINE]]
// ROWS: memref.prefetch
svm.kernel @rows(%a: !matrix {svm.access = "read"}, %c: !row {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !matrix
  %n = memref.dim %a, %c1 : !matrix
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %a[%i, %j] : !matrix
      memref.store %x, %c[%j] : !row
    }
  }
  svm.return
}
