// Structured kernels that become equations, for extract_test.cpp: each is run as it is, as equations, and as the loops that are
// made of those. Sizes and scalars of type index are chosen at random, 0 among them.

!v = memref<?xf32, strided<[1], offset: ?>>
!m = memref<?x?xf32, strided<[?, 1], offset: ?>>
!iv = memref<?xi32, strided<[1], offset: ?>>
#n = affine_map<()[n] -> (n)>
#nn = affine_map<()[n] -> (n, n)>
#none = affine_map<()[n] -> ()>
#mn = affine_map<()[m, n, p] -> (m, n)>
#mp = affine_map<()[m, n, p] -> (m, p)>
#pn = affine_map<()[m, n, p] -> (p, n)>
#pm = affine_map<()[m, n, p] -> (p, m)>
#np = affine_map<()[m, n, p] -> (n, p)>
module attributes {svm.stage = "logical"} {

// A product that is added to an array, in the order i, k, j.
svm.kernel @product(%c: !m {svm.access = "readwrite", svm.name = "c"}, %a: !m {svm.access = "read", svm.name = "a"},
                    %b: !m {svm.access = "read", svm.name = "b"}) attributes {extents = [#mn, #mp, #pn]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %c, %c0 : !m
  %n = memref.dim %c, %c1 : !m
  %p = memref.dim %a, %c1 : !m
  scf.for %i = %c0 to %m step %c1 {
    scf.for %k = %c0 to %p step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %x = memref.load %a[%i, %k] : !m
        %y = memref.load %b[%k, %j] : !m
        %s = memref.load %c[%i, %j] : !m
        %r = math.fma %x, %y, %s : f32
        memref.store %r, %c[%i, %j] : !m
      }
    }
  }
  svm.return
}

// A sum that a loop carries, of transposed factors.
svm.kernel @transposed_product(%c: !m {svm.access = "write", svm.name = "c"}, %a: !m {svm.access = "read", svm.name = "a"},
                               %b: !m {svm.access = "read", svm.name = "b"}) attributes {extents = [#mn, #pm, #np]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %c, %c0 : !m
  %n = memref.dim %c, %c1 : !m
  %p = memref.dim %a, %c0 : !m
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %sum = affine.for %k = 0 to %p iter_args(%s = %zero) -> f32 {
        %x = affine.load %a[%k, %i] : !m
        %y = affine.load %b[%j, %k] : !m
        %q = arith.mulf %x, %y : f32
        %r = arith.addf %s, %q : f32
        affine.yield %r : f32
      }
      affine.store %sum, %c[%i, %j] : !m
    }
  }
  svm.return
}

// Two nests, one behind the other: the first sets what the second adds to.
svm.kernel @cleared_product(%c: !m {svm.access = "write", svm.name = "c"}, %a: !m {svm.access = "read", svm.name = "a"},
                            %b: !m {svm.access = "read", svm.name = "b"}) attributes {extents = [#mn, #mp, #pn]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %c, %c0 : !m
  %n = memref.dim %c, %c1 : !m
  %p = memref.dim %a, %c1 : !m
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %zero, %c[%i, %j] : !m
    }
  }
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %p step %c1 {
        %x = memref.load %a[%i, %k] : !m
        %y = memref.load %b[%k, %j] : !m
        %s = memref.load %c[%i, %j] : !m
        %r = math.fma %x, %y, %s : f32
        memref.store %r, %c[%i, %j] : !m
      }
    }
  }
  svm.return
}

// Three neighbours; the ends stay as they are.
svm.kernel @stencil(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "readwrite", svm.name = "y"})
    attributes {extents = [#n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %last = arith.subi %n, %c1 : index
  scf.for %i = %c1 to %last step %c1 {
    %before = arith.subi %i, %c1 : index
    %behind = arith.addi %i, %c1 : index
    %a = memref.load %x[%before] : !v
    %b = memref.load %x[%i] : !v
    %c = memref.load %x[%behind] : !v
    %ab = arith.addf %a, %b : f32
    %s = arith.addf %ab, %c : f32
    memref.store %s, %y[%i] : !v
  }
  svm.return
}

// The same into an array without values: what is not written has none.
svm.kernel @stencil_part(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"})
    attributes {extents = [#n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
    %a = affine.load %x[%i - 1] : !v
    %c = affine.load %x[%i + 1] : !v
    %s = arith.subf %a, %c : f32
    affine.store %s, %y[%i] : !v
  }
  svm.return
}

// Steps in time between two arrays, copied back after each.
svm.kernel @jacobi(%x: !v {svm.access = "readwrite", svm.name = "x"}, %y: !v {svm.access = "readwrite", svm.name = "y"}, %t: index {svm.name = "t"})
    attributes {extents = [#n, #n, #none]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %third = arith.constant 0.333 : f32
  scf.for %step = %c0 to %t step %c1 {
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
      %a = affine.load %x[%i - 1] : !v
      %b = affine.load %x[%i] : !v
      %c = affine.load %x[%i + 1] : !v
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      %s = arith.mulf %abc, %third : f32
      affine.store %s, %y[%i] : !v
    }
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
      %b = affine.load %y[%i] : !v
      affine.store %b, %x[%i] : !v
    }
  }
  svm.return
}

// Two half steps, each a stencil: the second uses what the first computes later.
svm.kernel @half_steps(%x: !v {svm.access = "readwrite", svm.name = "x"}, %y: !v {svm.access = "readwrite", svm.name = "y"}, %t: index {svm.name = "t"})
    attributes {extents = [#n, #n, #none]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  scf.for %step = %c0 to %t step %c1 {
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
      %a = affine.load %x[%i - 1] : !v
      %c = affine.load %x[%i + 1] : !v
      %s = arith.addf %a, %c : f32
      affine.store %s, %y[%i] : !v
    }
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
      %a = affine.load %y[%i - 1] : !v
      %c = affine.load %y[%i + 1] : !v
      %s = arith.subf %a, %c : f32
      affine.store %s, %x[%i] : !v
    }
  }
  svm.return
}

// In place: a neighbour of this step and one of the last.
svm.kernel @seidel(%x: !v {svm.access = "readwrite", svm.name = "x"}, %t: index {svm.name = "t"})
    attributes {extents = [#n, #none]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  scf.for %step = %c0 to %t step %c1 {
    affine.for %i = 1 to affine_map<()[n] -> (n - 1)>()[%n] {
      %a = affine.load %x[%i - 1] : !v
      %b = affine.load %x[%i] : !v
      %c = affine.load %x[%i + 1] : !v
      %ab = arith.addf %a, %b : f32
      %s = arith.addf %ab, %c : f32
      affine.store %s, %x[%i] : !v
    }
  }
  svm.return
}

// A sum that goes on through the array, in a variable.
svm.kernel @prefix(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"})
    attributes {extents = [#n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloca() : memref<f32>
  memref.store %zero, %sum[] : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !v
    %s = memref.load %sum[] : memref<f32>
    %r = arith.addf %s, %a : f32
    memref.store %r, %sum[] : memref<f32>
    memref.store %r, %y[%i] : !v
  }
  svm.return
}

// Forward substitution: the inner loop's bound is the outer one's variable.
svm.kernel @trisolve(%l: !m {svm.access = "read", svm.name = "l"}, %x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"})
    attributes {extents = [#nn, #n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.load %x[%i] : !v
    %rest = scf.for %j = %c0 to %i step %c1 iter_args(%s = %b) -> f32 {
      %a = memref.load %l[%i, %j] : !m
      %u = memref.load %y[%j] : !v
      %q = arith.mulf %a, %u : f32
      %r = arith.subf %s, %q : f32
      scf.yield %r : f32
    }
    %d = memref.load %l[%i, %i] : !m
    %v = arith.divf %rest, %d : f32
    memref.store %v, %y[%i] : !v
  }
  svm.return
}

// LU factors in place, without pivots.
svm.kernel @lu(%x: !m {svm.access = "readwrite", svm.name = "x"})
    attributes {extents = [#nn]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !m
  scf.for %k = %c0 to %n step %c1 {
    %next = arith.addi %k, %c1 : index
    scf.for %i = %next to %n step %c1 {
      %a = memref.load %x[%i, %k] : !m
      %d = memref.load %x[%k, %k] : !m
      %q = arith.divf %a, %d : f32
      memref.store %q, %x[%i, %k] : !m
    }
    scf.for %i = %next to %n step %c1 {
      scf.for %j = %next to %n step %c1 {
        %a = memref.load %x[%i, %j] : !m
        %l = memref.load %x[%i, %k] : !m
        %u = memref.load %x[%k, %j] : !m
        %q = arith.mulf %l, %u : f32
        %r = arith.subf %a, %q : f32
        memref.store %r, %x[%i, %j] : !m
      }
    }
  }
  svm.return
}

// Conditions on iterators and sizes; a value that a condition chooses.
svm.kernel @conditions(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"}, %t: index {svm.name = "t"})
    attributes {extents = [#n, #n, #none]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %two = arith.constant 2.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !v
    %isFirst = arith.cmpi eq, %i, %c0 : index
    %isBelow = arith.cmpi slt, %i, %t : index
    %both = arith.ori %isFirst, %isBelow : i1
    %v = scf.if %both -> f32 {
      %b = arith.mulf %a, %two : f32
      scf.yield %b : f32
    } else {
      %before = arith.subi %i, %c1 : index
      %b = memref.load %x[%before] : !v
      %s = arith.subf %a, %b : f32
      scf.yield %s : f32
    }
    %w = arith.select %isBelow, %v, %a : f32
    scf.if %isBelow {
      memref.store %w, %y[%i] : !v
    } else {
      %s = arith.addf %w, %v : f32
      memref.store %s, %y[%i] : !v
    }
  }
  svm.return
}

// A choice between values that depends on data.
svm.kernel @clip(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"}, %limit: f32 {svm.name = "limit"})
    attributes {extents = [#n, #n, #none]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !v
    %isAbove = arith.cmpf ogt, %a, %limit : f32
    %v = arith.select %isAbove, %limit, %a : f32
    memref.store %v, %y[%i] : !v
  }
  svm.return
}

// Statements before, between and behind loops of one block.
svm.kernel @imperfect(%a: !m {svm.access = "read", svm.name = "a"}, %x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"}, %z: !v {svm.access = "write", svm.name = "z"})
    attributes {extents = [#nn, #n, #n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.load %x[%i] : !v
    %start = arith.negf %b : f32
    memref.store %start, %y[%i] : !v
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %a[%i, %j] : !m
      %s = memref.load %y[%i] : !v
      %r = arith.addf %s, %e : f32
      memref.store %r, %y[%i] : !v
    }
    %sum = memref.load %y[%i] : !v
    %half = arith.mulf %sum, %b : f32
    memref.store %half, %y[%i] : !v
    %most = scf.for %j = %c0 to %n step %c1 iter_args(%s = %half) -> f32 {
      %e = memref.load %a[%j, %i] : !m
      %isMore = arith.cmpf ogt, %e, %s : f32
      %r = arith.select %isMore, %e, %s : f32
      scf.yield %r : f32
    }
    memref.store %most, %z[%i] : !v
  }
  svm.return
}

// Two carried values that change places, and a sum of both behind the loop.
svm.kernel @exchange(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"}, %t: index {svm.name = "t"})
    attributes {extents = [#n, #n, #none]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : !v
    %r:2 = scf.for %step = %c0 to %t step %c1 iter_args(%p = %a, %q = %one) -> (f32, f32) {
      %s = arith.addf %p, %q : f32
      scf.yield %q, %s : f32, f32
    }
    %sum = arith.mulf %r#0, %r#1 : f32
    memref.store %sum, %y[%i] : !v
  }
  svm.return
}

// Every second element, from the third on; integers.
svm.kernel @strided(%x: !iv {svm.access = "read", svm.name = "x"}, %y: !iv {svm.access = "readwrite", svm.name = "y"})
    attributes {extents = [#n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !iv
  %c2 = arith.constant 2 : index
  %three = arith.constant 3 : i32
  scf.for %i = %c2 to %n step %c2 {
    %a = memref.load %x[%i] : !iv
    %b = arith.subi %i, %c2 : index
    %c = memref.load %y[%b] : !iv
    %p = arith.muli %a, %three : i32
    %s = arith.addi %p, %c : i32
    memref.store %s, %y[%i] : !iv
  }
  svm.return
}

// A matrix and a vector, and the transposed matrix and the result.
svm.kernel @atax(%a: !m {svm.access = "read", svm.name = "a"}, %x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"})
    attributes {extents = [#nn, #n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %y[%i] : !v
  }
  scf.for %i = %c0 to %n step %c1 {
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
      %e = memref.load %a[%i, %j] : !m
      %b = memref.load %x[%j] : !v
      %r = math.fma %e, %b, %s : f32
      scf.yield %r : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %a[%i, %j] : !m
      %b = memref.load %y[%j] : !v
      %r = math.fma %e, %t, %b : f32
      memref.store %r, %y[%j] : !v
    }
  }
  svm.return
}

// A window of three elements in a variable.
svm.kernel @window(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"})
    attributes {extents = [#n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %w = memref.alloca() : memref<3xf32>
  affine.for %k = 0 to 3 {
    affine.store %zero, %w[%k] : memref<3xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    affine.for %k = 0 to 2 {
      %e = affine.load %w[%k + 1] : memref<3xf32>
      affine.store %e, %w[%k] : memref<3xf32>
    }
    %a = memref.load %x[%i] : !v
    affine.store %a, %w[2] : memref<3xf32>
    %p = affine.load %w[0] : memref<3xf32>
    %q = affine.load %w[1] : memref<3xf32>
    %pq = arith.addf %p, %q : f32
    %s = arith.addf %pq, %a : f32
    memref.store %s, %y[%i] : !v
  }
  svm.return
}

// Blocks of four, the last one cut off.
svm.kernel @blocked(%x: !v {svm.access = "read", svm.name = "x"}, %y: !v {svm.access = "write", svm.name = "y"})
    attributes {extents = [#n, #n]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !v
  %c4 = arith.constant 4 : index
  scf.for %b = %c0 to %n step %c4 {
    %to = arith.addi %b, %c4 : index
    %end = arith.minsi %to, %n : index
    scf.for %i = %b to %end step %c1 {
      %a = memref.load %x[%i] : !v
      %s = arith.addf %a, %a : f32
      memref.store %s, %y[%i] : !v
    }
  }
  svm.return
}
}
