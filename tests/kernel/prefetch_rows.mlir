// RUN: strata-opt --svm-prefetch-rows %s | FileCheck %s
// Short pieces of rows that lie far apart are asked for eight rows ahead; what a cache or the processor itself takes care
// of is not.

!cube = memref<?x?x?xf64, strided<[?, ?, 1], offset: ?>>
!matrix = memref<?x?xf32, strided<[?, 1], offset: ?>>

// Pieces along the first dimension: 512 bytes are 64 doubles, a page 512, what a cache may hold 65536, a line 8. After the
// last rows come the first ones of the loop around them; a row read several times is asked for once.
// CHECK-LABEL: svm.kernel @columns
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[M:.*]] step
// CHECK: %[[SHAPE:.*]]:3, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %{{.*}}, %[[C64]]
// CHECK: %[[C512:.*]] = arith.constant 512 : index
// CHECK: %[[FAR:.*]] = arith.cmpi sge, %[[STRIDES]]#0, %[[C512]]
// CHECK: %[[SPAN:.*]] = arith.muli %{{.*}}#0, %[[STRIDES]]#0
// CHECK: %[[C65536:.*]] = arith.constant 65536 : index
// CHECK: %[[LARGE:.*]] = arith.cmpi sge, %[[SPAN]], %[[C65536]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[FAR]], %[[LARGE]]
// CHECK: %[[PAYS:.*]] = arith.andi %[[SHORT]], %[[BOTH]]
// CHECK: %[[COUNT:.*]] = arith.subi
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[DISTANCE:.*]] = arith.minsi %[[COUNT]], %[[C8]]
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to
// CHECK: scf.for %[[TWICE:.*]] = %[[C0:.*]] to
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TWICE]], %[[C0]]
// CHECK: %[[NOW:.*]] = arith.andi %[[PAYS]], %[[FIRST]]
// CHECK: scf.if %[[NOW]]
// CHECK: %[[AHEAD:.*]] = arith.addi %[[ROW]], %[[DISTANCE]]
// CHECK: %[[OVER:.*]] = arith.cmpi sgt, %[[AHEAD]],
// CHECK: %[[NEXT:.*]] = arith.minsi
// CHECK: %[[OUTER:.*]] = arith.select %[[OVER]], %[[NEXT]], %[[I]]
// CHECK: %[[AGAIN:.*]] = arith.subi %[[AHEAD]], %[[COUNT]]
// CHECK: %[[AT:.*]] = arith.select %[[OVER]], %[[AGAIN]], %[[AHEAD]]
// CHECK: scf.for %[[LINE:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT: memref.prefetch %{{.*}}[%[[AT]], %[[OUTER]], %[[LINE]]], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: svm.return
svm.kernel @columns(%a: !cube {svm.access = "read"}, %b: !cube {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %l = memref.dim %a, %c0 : !cube
  %m = memref.dim %a, %c1 : !cube
  %n = memref.dim %a, %c2 : !cube
  scf.for %i = %c0 to %m step %c1 {
    scf.for %row = %c0 to %l step %c1 {
      scf.for %twice = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %n step %c1 {
          %x = memref.load %a[%row, %i, %j] : !cube
          %y = memref.load %a[%row, %i, %j] : !cube
          %z = arith.addf %x, %y : f64
          memref.store %z, %b[%i, %j, %row] : !cube
        }
      }
    }
  }
  svm.return
}

// Rows that are a sum: an interleaved transform reads every few rows. What the index is made of is computed again, a
// variable of the kernel included. Without a loop around them, rows end with the last.
// CHECK-LABEL: svm.kernel @interleaved
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to
// CHECK: scf.for %[[L:.*]] = %{{.*}} to
// CHECK: scf.if
// CHECK: %[[AHEAD:.*]] = arith.addi %[[FIRST]],
// CHECK: %[[AT:.*]] = arith.minsi %[[AHEAD]],
// CHECK: %[[POWER:.*]] = memref.load %{{.*}}[] : memref<index>
// CHECK: %[[STEP:.*]] = arith.muli %[[L]], %[[POWER]]
// CHECK: %[[ROW:.*]] = arith.addi %[[AT]], %[[STEP]]
// CHECK: memref.prefetch %{{.*}}[%[[ROW]], %{{.*}}], read
// CHECK: svm.return
svm.kernel @interleaved(%a: !matrix {svm.access = "read"}, %b: !matrix {svm.access = "write"}, %odd: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = memref.dim %a, %c0 : !matrix
  %n = memref.dim %a, %c1 : !matrix
  %variable = memref.alloca() : memref<index>
  %count = arith.divsi %l, %odd : index
  memref.store %count, %variable[] : memref<index>
  scf.for %first = %c0 to %count step %c1 {
    scf.for %k = %c0 to %odd step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %power = memref.load %variable[] : memref<index>
        %step = arith.muli %k, %power : index
        %row = arith.addi %first, %step : index
        %x = memref.load %a[%row, %j] : !matrix
        memref.store %x, %b[%row, %j] : !matrix
      }
    }
  }
  svm.return
}

// A row that is looked up could be anywhere, one that goes up by more than one is no neighbour, and of a diagonal each row
// has one element.
// CHECK-LABEL: svm.kernel @far
// CHECK-NOT: memref.prefetch
// CHECK: svm.return
svm.kernel @far(%a: !matrix {svm.access = "read"}, %at: memref<?xindex, strided<[1], offset: ?>> {svm.access = "read"}, %b: !matrix {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %l = memref.dim %b, %c0 : !matrix
  %n = memref.dim %a, %c1 : !matrix
  scf.for %i = %c0 to %l step %c1 {
    %found = memref.load %at[%i] : memref<?xindex, strided<[1], offset: ?>>
    %second = arith.muli %i, %c2 : index
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %a[%found, %j] : !matrix
      %y = memref.load %a[%second, %j] : !matrix
      %row = arith.addi %i, %j : index
      %d = memref.load %a[%row, %j] : !matrix
      %z = arith.addf %x, %y : f32
      %w = arith.addf %z, %d : f32
      memref.store %w, %b[%i, %j] : !matrix
    }
  }
  svm.return
}

// A matrix product reads its second factor again for every row of the first: it stays in a cache.
// CHECK-LABEL: svm.kernel @product
// CHECK-NOT: memref.prefetch %arg1
// CHECK: svm.return
svm.kernel @product(%a: !matrix {svm.access = "read"}, %b: !matrix {svm.access = "read"}, %c: !matrix {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !matrix
  %p = memref.dim %a, %c1 : !matrix
  %n = memref.dim %b, %c1 : !matrix
  scf.for %i = %c0 to %m step %c1 {
    scf.for %k = %c0 to %p step %c1 {
      %x = memref.load %a[%i, %k] : !matrix
      scf.for %j = %c0 to %n step %c1 {
        %y = memref.load %b[%k, %j] : !matrix
        %s = memref.load %c[%i, %j] : !matrix
        %t = math.fma %x, %y, %s : f32
        memref.store %t, %c[%i, %j] : !matrix
      }
    }
  }
  svm.return
}

// Neighbouring windows overlap: what one reads, those before it have read.
// CHECK-LABEL: svm.kernel @windows
// CHECK-NOT: memref.prefetch
// CHECK: svm.return
svm.kernel @windows(%a: !matrix {svm.access = "read"}, %c: !matrix {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %u = %c0 to %n step %c1 {
      %row = arith.addi %i, %u : index
      scf.for %j = %c0 to %n step %c1 {
        %x = memref.load %a[%row, %j] : !matrix
        memref.store %x, %c[%i, %j] : !matrix
      }
    }
  }
  svm.return
}
