// RUN: strata-opt --svm-tile-loops %s | FileCheck %s
// Loops around others go in vector lanes where their iterations are independent and reach memory side by side; what
// does not stays as it is.

!matrix = memref<?x?xf32, strided<[?, 1], offset: ?>>
!row = memref<?xf32, strided<[1], offset: ?>>
!doubles = memref<?xf64, strided<[1], offset: ?>>
!gaps = memref<?xf32, strided<[?], offset: ?>>

// Sums down the columns: four registers at once, then the rest under a mask.
// CHECK-LABEL: svm.kernel @sums
// CHECK-NOT: memref.alloca
// CHECK: %[[END:.*]] = arith.maxsi
// CHECK: %[[COUNT:.*]] = arith.subi %[[END]]
// CHECK: %[[LEFT:.*]] = arith.remui %[[COUNT]], %{{.*}} : index
// CHECK: %[[WHOLE:.*]] = arith.subi %[[COUNT]], %[[LEFT]]
// CHECK: %[[FULL:.*]] = arith.addi %{{.*}}, %[[WHOLE]]
// CHECK: scf.for {{.*}} to %[[FULL]] step
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-4: vector.load {{.*}} vector<16xf32>
// CHECK-COUNT-4: arith.addf {{.*}} : vector<16xf32>
// CHECK-COUNT-4: vector.store {{.*}} vector<16xf32>
// CHECK: scf.for {{.*}} = %[[FULL]] to
// CHECK: %[[MASK:.*]] = arith.cmpi slt, {{.*}} : vector<16xindex>
// CHECK: vector.maskedload {{.*}} %[[MASK]], {{.*}} into vector<16xf32>
// CHECK: vector.maskedstore {{.*}} %[[MASK]]
// CHECK: svm.return
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

// Doubles fill a register eight at a time. A value that depends on the iteration's number is counted in the lanes.
// CHECK-LABEL: svm.kernel @numbers
// CHECK: vector.splat
// CHECK-COUNT-4: arith.sitofp {{.*}} vector<8xi64> to vector<8xf64>
// CHECK: vector.maskedstore {{.*}} vector<8xf64>
// CHECK: svm.return
svm.kernel @numbers(%c: !doubles {svm.access = "readwrite"}, %rounds: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %c, %c0 : !doubles
  scf.for %j = %c0 to %n step %c1 {
    %number = arith.index_cast %j : index to i64
    %value = arith.sitofp %number : i64 to f64
    scf.for %i = %c0 to %rounds step %c1 {
      %x = memref.load %c[%j] : !doubles
      %y = arith.mulf %x, %value : f64
      memref.store %y, %c[%j] : !doubles
    }
  }
  svm.return
}

// The columns are the inner loop: they go outside, and what the other one keeps storing to is carried by it.
// CHECK-LABEL: svm.kernel @innermost
// CHECK: scf.for {{.*}} step %c64
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK-COUNT-4: vector.load
// CHECK-NOT: vector.store
// CHECK: scf.yield
// CHECK-COUNT-4: vector.store
// CHECK: svm.return
svm.kernel @innermost(%a: !matrix {svm.access = "read"}, %c: !row {svm.access = "readwrite"}) {
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

// Each iteration reads what the one before wrote.
// CHECK-LABEL: svm.kernel @dependent
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @dependent(%c: !row {svm.access = "readwrite"}, %rounds: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %c, %c0 : !row
  scf.for %j = %c1 to %n step %c1 {
    %before = arith.subi %j, %c1 : index
    scf.for %i = %c0 to %rounds step %c1 {
      %x = memref.load %c[%before] : !row
      memref.store %x, %c[%j] : !row
    }
  }
  svm.return
}

// The column moves while an iteration takes place, so that iterations of the outer loop meet; those of the inner one do not.
// CHECK-LABEL: svm.kernel @moving
// CHECK: scf.for {{.*}} step %c1
// CHECK: scf.for {{.*}} step %c16
// CHECK: vector.load
// CHECK: svm.return
svm.kernel @moving(%c: !row {svm.access = "readwrite"}, %rounds: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %rounds step %c1 {
      %at = arith.addi %j, %i : index
      %x = memref.load %c[%at] : !row
      %y = arith.addf %x, %one : f32
      memref.store %y, %c[%at] : !row
    }
  }
  svm.return
}

// A variable that outlives the iteration, and one that holds what the iteration before left.
// CHECK-LABEL: svm.kernel @carried
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @carried(%a: !matrix {svm.access = "read"}, %c: !row {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloca() : memref<f32>
  %m = memref.dim %a, %c0 : !matrix
  %n = memref.dim %a, %c1 : !matrix
  memref.store %zero, %sum[] : memref<f32>
  scf.for %j = %c0 to %n step %c1 {
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

// Rows of the matrix are not side by side, nor need the elements of a row be: they are gathered.
// CHECK-LABEL: svm.kernel @strided
// CHECK: vector.gather %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
// CHECK: vector.store
// CHECK: vector.scatter %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
// CHECK: svm.return
svm.kernel @strided(%a: !matrix {svm.access = "read"}, %g: !gaps {svm.access = "write"}, %c: !row {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : !matrix
  %n = memref.dim %a, %c1 : !matrix
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %a[%i, %j] : !matrix
      memref.store %x, %c[%i] : !row
    }
  }
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %a[%j, %i] : !matrix
      memref.store %x, %g[%i] : !gaps
    }
  }
  svm.return
}

// What others write while the kernel runs stays as it is. A way that differs between iterations goes under a mask; a division
// that could trap does not.
// CHECK-LABEL: svm.kernel @shared
// CHECK-NOT: vector
// CHECK-LABEL: svm.kernel @ways
// CHECK-SAME: a division that may fail has no form for lanes
// CHECK: vector.maskedstore
// CHECK: arith.divsi {{.*}} : i32
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @shared(%c: !row {svm.access = "readwrite"}, %rounds: index) attributes {svm.shared} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %c, %c0 : !row
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %rounds step %c1 {
      %x = memref.load %c[%j] : !row
      memref.store %x, %c[%j] : !row
    }
  }
  svm.return
}
svm.kernel @ways(%c: !row {svm.access = "readwrite"}, %k: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %rounds: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %c, %c0 : !row
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %rounds step %c1 {
      %x = memref.load %c[%j] : !row
      %positive = arith.cmpf ogt, %x, %zero : f32
      scf.if %positive {
        memref.store %zero, %c[%j] : !row
      }
    }
  }
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %rounds step %c1 {
      %x = memref.load %k[%j] : memref<?xi32, strided<[1], offset: ?>>
      %y = arith.divsi %seven, %x : i32
      memref.store %y, %k[%j] : memref<?xi32, strided<[1], offset: ?>>
    }
  }
  svm.return
}

// Blocks that may share elements, of which the loop writes some; where it reaches one block alone there is none to share
// them with.
// CHECK-LABEL: svm.kernel @mayAlias
// CHECK-NOT: vector
// CHECK-LABEL: svm.kernel @mayAliasNone
// CHECK: vector.load
// CHECK: svm.return
svm.kernel @mayAlias(%a: !row {svm.access = "read"}, %c: !row {svm.access = "readwrite"}, %rounds: index) attributes {may_alias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %c, %c0 : !row
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %rounds step %c1 {
      %x = memref.load %a[%j] : !row
      %y = memref.load %c[%j] : !row
      %s = arith.addf %x, %y : f32
      memref.store %s, %c[%j] : !row
    }
  }
  svm.return
}
svm.kernel @mayAliasNone(%c: !row {svm.access = "readwrite"}, %rounds: index) attributes {may_alias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %c, %c0 : !row
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %rounds step %c1 {
      %y = memref.load %c[%j] : !row
      %s = arith.addf %y, %y : f32
      memref.store %s, %c[%j] : !row
    }
  }
  svm.return
}

// A block in another shape is the argument itself, where nothing else reaches that.
// CHECK-LABEL: svm.kernel @shaped(
// CHECK-COUNT-4: vector.load {{.*}} vector<16xf32>
// CHECK: svm.return
svm.kernel @shaped(%a: !matrix {svm.access = "read"}, %c: !row {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloca() : memref<f32>
  %buffer, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : !matrix -> memref<f32>, index, index, index, index, index
  %v = memref.reinterpret_cast %a to offset: [%offset], sizes: [%n], strides: [1] : !matrix to !row
  scf.for %j = %c0 to %sizes#1 step %c1 {
    memref.store %zero, %sum[] : memref<f32>
    scf.for %i = %c0 to %sizes#0 step %c1 {
      %row = arith.muli %i, %strides#0 : index
      %at = arith.addi %row, %j : index
      %x = memref.load %v[%at] : !row
      %s = memref.load %sum[] : memref<f32>
      %t = arith.addf %s, %x : f32
      memref.store %t, %sum[] : memref<f32>
    }
    %s = memref.load %sum[] : memref<f32>
    memref.store %s, %c[%j] : !row
  }
  svm.return
}

// CHECK-LABEL: svm.kernel @shaped_and_not(
// CHECK-NOT: vector.
// CHECK: svm.return
svm.kernel @shaped_and_not(%a: !matrix {svm.access = "read"}, %c: !row {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloca() : memref<f32>
  %buffer, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : !matrix -> memref<f32>, index, index, index, index, index
  %v = memref.reinterpret_cast %a to offset: [%offset], sizes: [%n], strides: [1] : !matrix to !row
  scf.for %j = %c0 to %sizes#1 step %c1 {
    memref.store %zero, %sum[] : memref<f32>
    scf.for %i = %c0 to %sizes#0 step %c1 {
      %row = arith.muli %i, %strides#0 : index
      %at = arith.addi %row, %j : index
      %x = memref.load %v[%at] : !row
      %s = memref.load %sum[] : memref<f32>
      %t = arith.addf %s, %x : f32
      memref.store %t, %sum[] : memref<f32>
    }
    %s = memref.load %sum[] : memref<f32>
    memref.store %s, %c[%j] : !row
  }
  %first = memref.load %a[%c0, %c0] : !matrix
  memref.store %first, %c[%c0] : !row
  svm.return
}

// Functions of the C library that the runtime has for lanes; not of two numbers.
// CHECK-LABEL: svm.kernel @functions
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: math.tanh {{.*}} : vector<16xf32>
svm.kernel @functions(%x: !row {svm.access = "read"}, %y: !row {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !row
    %b = math.exp %a : f32
    %c = math.tanh %b : f32
    memref.store %c, %y[%i] : !row
  } {svm.unordered}
  svm.return
}

// CHECK-LABEL: svm.kernel @powers
// CHECK-SAME: 'pow' has no form for lanes
svm.kernel @powers(%x: !row {svm.access = "read"}, %y: !row {svm.access = "write"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !row
    %b = math.powf %a, %a : f32
    memref.store %b, %y[%i] : !row
  } {svm.unordered}
  svm.return
}
