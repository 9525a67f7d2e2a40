// RUN: strata-opt --svm-tile-loops %s | FileCheck %s
// Loops of kernels whose iterations are proved independent go in tiles, as those that are marked so do.

!row = memref<?xf32, strided<[1], offset: ?>>
!plane = memref<?x?xf32, strided<[?, 1], offset: ?>>

// A product that adds to memory, its sum in the middle: that loop goes inside, and carries what it adds to. All rows of a
// panel of columns come before the next columns: for 1 MiB, 4 bytes and 64 columns, 4096 iterations fill it. From 24 rows
// on a panel is copied, tile after tile, and its rows read from the copy.
// CHECK-LABEL: svm.kernel @product
// CHECK: scf.if
// CHECK: %[[MOST:[a-z0-9_]+]] = arith.constant 4096 : index
// CHECK: %[[FIT:[a-z0-9_]+]] = arith.divui %[[MOST]]
// CHECK: %[[TILES:[a-z0-9_]+]] = arith.maxui %[[FIT]]
// CHECK: %[[COLUMNS:[a-z0-9_]+]] = arith.muli %[[TILES]]
// CHECK: arith.cmpi ule, %{{.*}}, %[[COLUMNS]]
// CHECK: %[[FEW:[a-z0-9_]+]] = arith.constant 24 : index
// CHECK: arith.cmpi ult, %{{.*}}, %[[FEW]]
// CHECK: scf.if
// CHECK: scf.for {{.*}} step %c6
// CHECK: scf.for {{.*}} step %c64
// CHECK-COUNT-24: vector.load %arg0
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK-COUNT-6: memref.load
// CHECK-COUNT-4: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-24: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.store
// CHECK: scf.yield
// CHECK-COUNT-24: vector.store
// CHECK: else
// CHECK: scf.for {{.*}} step %[[COLUMNS]] {
// CHECK: %[[COPY:[a-z0-9_]+]] = memref.alloc({{.*}}) : memref<?xf32>
// CHECK: vector.load %arg2
// CHECK: vector.store {{.*}}, %[[COPY]]
// CHECK: vector.maskedload %arg2
// CHECK: vector.store {{.*}}, %[[COPY]]
// CHECK: scf.for {{.*}} step %c6
// CHECK: scf.for {{.*}} step %c64
// CHECK-COUNT-4: vector.load %[[COPY]]
// CHECK-NOT: load %arg2{{\[}}
// CHECK: svm.return
svm.kernel @product(%c: !plane {svm.access = "readwrite"}, %a: !plane {svm.access = "read"}, %b: !plane {svm.access = "read"},
                    %m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %y = %c0 to %m step %c1 {
    scf.for %i = %c0 to %k step %c1 {
      scf.for %x = %c0 to %n step %c1 {
        %u = memref.load %a[%y, %i] : !plane
        %v = memref.load %b[%i, %x] : !plane
        %w = memref.load %c[%y, %x] : !plane
        %t = math.fma %u, %v, %w : f32
        memref.store %t, %c[%y, %x] : !plane
      }
    }
  }
  svm.return
}

// A variable of the source, set before it is read in each iteration, and a choice that changes it.
// CHECK-LABEL: svm.kernel @largest
// CHECK-NOT: memref.alloca
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK: arith.cmpf ogt
// CHECK: arith.select
// CHECK: vector.store
// CHECK: svm.return
svm.kernel @largest(%a: !plane {svm.access = "read"}, %b: !row {svm.access = "write"}, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %most = memref.alloca() : memref<f32>
  scf.for %x = %c0 to %n step %c1 {
    memref.store %zero, %most[] : memref<f32>
    scf.for %y = %c0 to %m step %c1 {
      %u = memref.load %a[%y, %x] : !plane
      %v = memref.load %most[] : memref<f32>
      %larger = arith.cmpf ogt, %u, %v : f32
      scf.if %larger {
        memref.store %u, %most[] : memref<f32>
      }
    }
    %w = memref.load %most[] : memref<f32>
    memref.store %w, %b[%x] : !row
  }
  svm.return
}

// An iteration reads what its neighbour writes: nothing changes.
// CHECK-LABEL: svm.kernel @neighbours
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @neighbours(%a: !plane {svm.access = "readwrite"}, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %x = %c0 to %n step %c1 {
    scf.for %y = %c0 to %m step %c1 {
      %next = arith.addi %x, %c1 : index
      %u = memref.load %a[%y, %next] : !plane
      memref.store %u, %a[%y, %x] : !plane
    }
  }
  svm.return
}

// A variable that goes from one iteration to the next makes them depend on each other.
// CHECK-LABEL: svm.kernel @running
// CHECK-SAME: an iteration begins with what the one before it has computed
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @running(%a: !plane {svm.access = "read"}, %b: !row {svm.access = "write"}, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = memref.alloca() : memref<f32>
  scf.for %x = %c0 to %n step %c1 {
    scf.for %y = %c0 to %m step %c1 {
      %u = memref.load %a[%y, %x] : !plane
      %v = memref.load %sum[] : memref<f32>
      %w = arith.addf %u, %v : f32
      memref.store %w, %sum[] : memref<f32>
    }
    %s = memref.load %sum[] : memref<f32>
    memref.store %s, %b[%x] : !row
  }
  svm.return
}

// Arguments that may overlap: nothing is known.
// CHECK-LABEL: svm.kernel @overlapping
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @overlapping(%a: !plane {svm.access = "read"}, %b: !row {svm.access = "readwrite"}, %m: index, %n: index)
    attributes {may_alias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %x = %c0 to %n step %c1 {
    scf.for %y = %c0 to %m step %c1 {
      %u = memref.load %a[%y, %x] : !plane
      %v = memref.load %b[%x] : !row
      %w = arith.addf %u, %v : f32
      memref.store %w, %b[%x] : !row
    }
  }
  svm.return
}

// Every fourth row, each with a sum over all others: the loop is counted by ones, and what lies apart is gathered.
// CHECK-LABEL: svm.kernel @steps
// CHECK: arith.divui
// CHECK: scf.for {{.*}} step %c64
// CHECK: vector.gather
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK: vector.scatter
// CHECK: svm.return
svm.kernel @steps(%a: !plane {svm.access = "read"}, %b: !plane {svm.access = "write"}, %first: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  scf.for %x = %first to %m step %c4 {
    %s = scf.for %y = %c0 to %m step %c1 iter_args(%t = %zero) -> (f32) {
      %u = memref.load %a[%x, %c0] : !plane
      %v = memref.load %a[%y, %c1] : !plane
      %w = math.fma %u, %v, %t : f32
      scf.yield %w : f32
    }
    memref.store %s, %b[%x, %c0] : !plane
  }
  svm.return
}

// A condition that the loop does not change goes in front of it, with what it gives and what stands behind it.
// CHECK-LABEL: svm.kernel @unswitched
// CHECK: scf.if %arg3 {
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: arith.subf {{.*}} : vector<16xf32>
// CHECK: svm.return
svm.kernel @unswitched(%a: !row {svm.access = "read"}, %b: !row {svm.access = "write"}, %n: index, %adds: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %x = %c0 to %n step %c1 {
    %u = memref.load %a[%x] : !row
    %v = scf.if %adds -> (f32) {
      %w = arith.addf %u, %one : f32
      scf.yield %w : f32
    } else {
      %w = arith.subf %u, %one : f32
      scf.yield %w : f32
    }
    memref.store %v, %b[%x] : !row
  }
  svm.return
}

// A check that all iterations share is made in front of the loop; one that differs keeps the loop as it is.
// CHECK-LABEL: svm.kernel @checked
// CHECK: scf.if
// CHECK-NOT: svm.check
// CHECK: vector.store
// CHECK: } else {
// CHECK: svm.check
// CHECK-LABEL: svm.kernel @checked_each
// CHECK-SAME: a check differs between iterations
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @checked(%a: !row {svm.access = "read"}, %b: !row {svm.access = "write"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %x = %c0 to %n step %c1 {
    %fits = arith.cmpi slt, %m, %n : index
    svm.check %fits, "too-large", "m is as large as n"
    %u = memref.load %a[%x] : !row
    memref.store %u, %b[%x] : !row
  }
  svm.return
}
svm.kernel @checked_each(%a: !row {svm.access = "read"}, %b: !row {svm.access = "write"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %x = %c0 to %n step %c1 {
    %fits = arith.cmpi slt, %x, %m : index
    svm.check %fits, "too-large", "x is as large as m"
    %u = memref.load %a[%x] : !row
    memref.store %u, %b[%x] : !row
  }
  svm.return
}

// A variable that two loops use, each by itself, is no value that goes from one to the other; one that is read behind a loop
// that may not be entered is what it was before.
// CHECK-LABEL: svm.kernel @webs
// CHECK-NOT: memref.alloca
// CHECK: vector.store
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args({{.*}} = %cst
// CHECK: memref.store %[[LAST]], %arg1
// CHECK: svm.return
svm.kernel @webs(%a: !row {svm.access = "read"}, %b: !row {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %v = memref.alloca() : memref<f32>
  scf.for %x = %c0 to %n step %c1 {
    %u = memref.load %a[%x] : !row
    memref.store %u, %v[] : memref<f32>
    %w = memref.load %v[] : memref<f32>
    memref.store %w, %b[%x] : !row
  }
  memref.store %one, %v[] : memref<f32>
  scf.for %x = %c0 to %n step %c1 {
    %u = memref.load %a[%x] : !row
    memref.store %u, %v[] : memref<f32>
  }
  %last = memref.load %v[] : memref<f32>
  memref.store %last, %b[%c0] : !row
  svm.return
}

// What a choice leads to is not read in every iteration, and is not copied.
// CHECK-LABEL: svm.kernel @chosen
// CHECK: scf.for {{.*}} step %c6
// CHECK-NOT: memref.alloc
// CHECK: svm.return
svm.kernel @chosen(%c: !plane {svm.access = "readwrite"}, %a: !plane {svm.access = "read"}, %b: !plane {svm.access = "read"},
                   %on: !row {svm.access = "read"}, %m: index, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %y = %c0 to %m step %c1 {
    scf.for %x = %c0 to %n step %c1 {
      %sum = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (f32) {
        %u = memref.load %a[%y, %i] : !plane
        %f = memref.load %on[%i] : !row
        %is = arith.cmpf ogt, %f, %zero : f32
        %t = scf.if %is -> (f32) {
          %v = memref.load %b[%i, %x] : !plane
          %p = math.fma %u, %v, %s : f32
          scf.yield %p : f32
        } else {
          scf.yield %s : f32
        }
        scf.yield %t : f32
      }
      memref.store %sum, %c[%y, %x] : !plane
    }
  }
  svm.return
}

// Iterations that the program says are unordered, of arguments that may overlap: what is written may be what is read.
// CHECK-LABEL: svm.kernel @unorderedOverlap
// CHECK: scf.for {{.*}} step %c6
// CHECK-NOT: memref.alloc
// CHECK: svm.return
svm.kernel @unorderedOverlap(%c: !plane {svm.access = "readwrite"}, %a: !plane {svm.access = "read"}, %b: !plane {svm.access = "read"},
                        %m: index, %n: index, %k: index) attributes {may_alias} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %y = %c0 to %m step %c1 {
    scf.for %x = %c0 to %n step %c1 {
      %sum = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (f32) {
        %u = memref.load %a[%y, %i] : !plane
        %v = memref.load %b[%i, %x] : !plane
        %p = math.fma %u, %v, %s : f32
        scf.yield %p : f32
      }
      memref.store %sum, %c[%y, %x] : !plane
    } {svm.unordered}
  } {svm.unordered}
  svm.return
}

// Elements in front of those that a loop writes, as in an elimination: other iterations do not come to them.
// CHECK-LABEL: svm.kernel @behind
// CHECK: vector.store
// CHECK: svm.return
svm.kernel @behind(%a: !row {svm.access = "readwrite"}, %k: index, %n: index) {
  %c1 = arith.constant 1 : index
  %first = arith.addi %k, %c1 : index
  scf.for %i = %first to %n step %c1 {
    %u = memref.load %a[%k] : !row
    %v = memref.load %a[%i] : !row
    %w = arith.subf %v, %u : f32
    memref.store %w, %a[%i] : !row
  }
  svm.return
}

// The first iteration writes the element that all others read.
// CHECK-LABEL: svm.kernel @at
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @at(%a: !row {svm.access = "readwrite"}, %k: index, %n: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %k to %n step %c1 {
    %u = memref.load %a[%k] : !row
    %v = memref.load %a[%i] : !row
    %w = arith.subf %v, %u : f32
    memref.store %w, %a[%i] : !row
  }
  svm.return
}

// As far apart as the loop is long. Indices are checked in front of the loop, which stays for where one is out of range.
// CHECK-LABEL: svm.kernel @halves
// CHECK: scf.if
// CHECK-NOT: svm.index
// CHECK: vector.store
// CHECK: else
// CHECK: scf.for
// CHECK: svm.index
// CHECK: svm.return
svm.kernel @halves(%a: !row {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %a, %c0 : !row
  scf.for %i = %c0 to %n step %c1 {
    %far = arith.addi %i, %n : index
    svm.index %far in %size of "a", 0
    %u = memref.load %a[%i] : !row
    %v = memref.load %a[%far] : !row
    %w = arith.addf %u, %v : f32
    %x = arith.subf %u, %v : f32
    memref.store %w, %a[%i] : !row
    memref.store %x, %a[%far] : !row
  }
  svm.return
}

// One less: the last iteration reads what the first one has written.
// CHECK-LABEL: svm.kernel @one_less
// CHECK-NOT: vector
// CHECK: svm.return
svm.kernel @one_less(%a: !row {svm.access = "readwrite"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %less = arith.subi %n, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    %far = arith.addi %i, %less : index
    %u = memref.load %a[%i] : !row
    memref.store %u, %a[%far] : !row
  }
  svm.return
}

// A variable that is set around a loop of another kind is read in front of the loop.
// CHECK-LABEL: svm.kernel @stretches
// CHECK: vector.store
// CHECK: svm.return
svm.kernel @stretches(%a: !row {svm.access = "readwrite"}, %n: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %base = memref.alloca() : memref<index>
  memref.store %c0, %base[] : memref<index>
  scf.while : () -> () {
    %now = memref.load %base[] : memref<index>
    %goes = arith.cmpi slt, %now, %end : index
    scf.condition(%goes)
  } do {
    scf.for %i = %c0 to %n step %c1 {
      %from = memref.load %base[] : memref<index>
      %at = arith.addi %from, %i : index
      %u = memref.load %a[%at] : !row
      %w = arith.addf %u, %u : f32
      %again = memref.load %base[] : memref<index>
      %to = arith.addi %again, %i : index
      memref.store %w, %a[%to] : !row
    }
    %now = memref.load %base[] : memref<index>
    %next = arith.addi %now, %n : index
    memref.store %next, %base[] : memref<index>
    scf.yield
  }
  svm.return
}

// The loop's end is what the variable of the loop around has, read in front of it and in it.
// CHECK-LABEL: svm.kernel @growing
// CHECK: vector.store
// CHECK: svm.return
svm.kernel @growing(%a: !row {svm.access = "readwrite"}, %n: index) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %half = memref.alloca() : memref<index>
  memref.store %c1, %half[] : memref<index>
  scf.while : () -> () {
    %now = memref.load %half[] : memref<index>
    %goes = arith.cmpi slt, %now, %n : index
    scf.condition(%goes)
  } do {
    %end = memref.load %half[] : memref<index>
    scf.for %i = %c0 to %end step %c1 {
      %far = memref.load %half[] : memref<index>
      %at = arith.addi %far, %i : index
      %u = memref.load %a[%at] : !row
      memref.store %u, %a[%i] : !row
    }
    %now = memref.load %half[] : memref<index>
    %next = arith.addi %now, %now : index
    memref.store %next, %half[] : memref<index>
    scf.yield
  }
  svm.return
}

// A variable that belongs to an iteration of a loop of another kind: each sets it before it reads it.
// CHECK-LABEL: svm.kernel @own
// CHECK: scf.while
// CHECK-NOT: memref.store {{.*}} memref<f32>
// CHECK: vector.store
// CHECK: svm.return
svm.kernel @own(%a: !row {svm.access = "readwrite"}, %more: memref<i1> {svm.access = "read"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %t = memref.alloca() : memref<f32>
  scf.while : () -> () {
    %goes = memref.load %more[] : memref<i1>
    scf.condition(%goes)
  } do {
    scf.for %i = %c0 to %n step %c1 {
      %u = memref.load %a[%i] : !row
      memref.store %u, %t[] : memref<f32>
      %v = memref.load %t[] : memref<f32>
      %w = arith.addf %v, %one : f32
      memref.store %w, %a[%i] : !row
    }
    scf.yield
  }
  svm.return
}

// One that such a loop hands on stays a variable.
// CHECK-LABEL: svm.kernel @handed_on
// CHECK: scf.while
// CHECK: memref.store {{.*}} memref<f32>
// CHECK: svm.return
svm.kernel @handed_on(%a: !row {svm.access = "readwrite"}, %more: memref<i1> {svm.access = "read"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %t = memref.alloca() : memref<f32>
  memref.store %one, %t[] : memref<f32>
  scf.while : () -> () {
    %goes = memref.load %more[] : memref<i1>
    scf.condition(%goes)
  } do {
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %t[] : memref<f32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %t[] : memref<f32>
      memref.store %w, %a[%i] : !row
    }
    scf.yield
  }
  svm.return
}

// An index that grows by what is divided in each iteration alike. In front of the loop it is divided by 1 where the divisor is
// none, and the checks of both are made; not where the loop is short.
// CHECK-LABEL: svm.kernel @strided
// CHECK: %[[DIVISOR:[a-z0-9_]+]] = arith.select %{{.*}}, %c1{{[a-z0-9_]*}}, %arg3
// CHECK: %[[BY:[a-z0-9_]+]] = arith.divsi %arg2, %[[DIVISOR]]
// CHECK: %[[IS_LONG:[a-z0-9_]+]] = arith.andi
// CHECK: %[[HOLDS:[a-z0-9_]+]] = scf.if %[[IS_LONG]] -> (i1) {
// CHECK: arith.cmpi sgt, %[[BY]], %c0
// CHECK: } else {
// CHECK: scf.yield %false
// CHECK: scf.if %[[HOLDS]] {
// CHECK-NOT: svm.
// CHECK: vector.gather
// CHECK: } else {
// CHECK: svm.check
// CHECK: svm.index
// CHECK: svm.return
svm.kernel @strided(%a: !row {svm.access = "write"}, %b: !row {svm.access = "read"}, %n: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %b, %c0 : !row
  scf.for %i = %c0 to %parts step %c1 {
    %is = arith.cmpi ne, %parts, %c0 : index
    svm.check %is, "division-by-zero", "the divisor is zero"
    %by = arith.divsi %n, %parts : index
    %at = arith.muli %i, %by : index
    svm.index %at in %size of "b", 0
    %u = memref.load %b[%at] : !row
    %v = math.sqrt %u : f32
    %w = arith.divf %v, %u : f32
    %x = math.sqrt %w : f32
    %y = arith.divf %x, %v : f32
    memref.store %y, %a[%i] : !row
  }
  svm.return
}
