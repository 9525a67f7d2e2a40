// Instances that wait for each other: in a loop that halves, in a choice and a while loop that all take alike, with values, local variables and
// results that they keep meanwhile. Named instances wait one by one; the others become loops.
// size: M=160
// python: N = 32; G = 5
// python: x = lambda g, i: (g * 7 + i * 13) % 101
// A: in int32 (M,) = [x(g, i) for g in range(G) for i in range(N)]
// python: halved = lambda t: next(t for s in [None] if not [t.__setitem__(slice(0, s), [t[k] + t[k + s] for k in range(s)]) for s in (16, 8, 4, 2, 1)] is None)
// T: inout int32 (M,) = 0 => [t for g in range(G) for t in halved([x(g, i) for i in range(N)])]
// R: inout int32 (M,) = 0 => [x(g, i) * 3 + 5 * x(g, (i + 1) % N) + 4 * (i + 10) + 3 * i for g in range(G) for i in range(N)]
// U: inout int32 (M,) = 0 => [x(g, i) * 3 + 5 * x(g, (i + 1) % N) + 4 * (i + 10) + 3 * i for g in range(G) for i in range(N)]
!v = memref<?xi32, strided<[1], offset: ?>>
module attributes {svm.stage = "logical"} {
  svm.kernel @halve(%a: !v {svm.access = "read"}, %t: !v {svm.access = "readwrite"}, %base: index, %n: index, %i: index) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %own = arith.addi %base, %i : index
    %x = memref.load %a[%own] : !v
    memref.store %x, %t[%own] : !v
    svm.barrier
    %half = arith.divui %n, %c2 : index
    scf.while (%s = %half) : (index) -> index {
      %more = arith.cmpi sgt, %s, %c0 : index
      scf.condition(%more) %s : index
    } do {
    ^bb0(%s: index):
      %takes = arith.cmpi slt, %i, %s : index
      scf.if %takes {
        %other = arith.addi %own, %s : index
        %p = memref.load %t[%own] : !v
        %q = memref.load %t[%other] : !v
        %sum = arith.addi %p, %q : i32
        memref.store %sum, %t[%own] : !v
      }
      svm.barrier
      %next = arith.divui %s, %c2 : index
      scf.yield %next : index
    }
    svm.return
  }
  // r[i] = 3 x[i] + 5 x[i + 1] + four times a local variable + three rounds of i, where r is what neighbours see of each other.
  svm.kernel @keep(%a: !v {svm.access = "read"}, %r: !v {svm.access = "readwrite"}, %base: index, %n: index, %i: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %three = arith.constant 3 : i32
    %five = arith.constant 5 : i32
    %ten = arith.constant 10 : i32
    %local = memref.alloca() : memref<2x4xi32>
    %own = arith.addi %base, %i : index
    %number = arith.index_cast %i : index to i32
    %x = memref.load %a[%own] : !v
    %tripled = arith.muli %x, %three : i32
    memref.store %x, %r[%own] : !v
    scf.for %k = %c0 to %c4 step %c1 {
      %w = arith.addi %number, %ten : i32
      memref.store %w, %local[%c1, %k] : memref<2x4xi32>
    }
    svm.barrier
    %behind = arith.addi %i, %c1 : index
    %around = arith.remui %behind, %n : index
    %there = arith.addi %base, %around : index
    %neighbour = memref.load %r[%there] : !v
    %isMany = arith.cmpi sgt, %n, %c1 : index
    %chosen, %both = scf.if %isMany -> (i32, index) {
      svm.barrier
      %fifth = arith.muli %neighbour, %five : i32
      %sum = arith.addi %tripled, %fifth : i32
      scf.yield %sum, %n : i32, index
    } else {
      scf.yield %tripled, %c1 : i32, index
    }
    %all, %other = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %chosen, %o = %number) -> (i32, i32) {
      memref.store %s, %r[%own] : !v
      svm.barrier
      %again = memref.load %r[%own] : !v
      %more = arith.addi %again, %o : i32
      svm.barrier
      scf.yield %more, %o : i32, i32
    }
    %total = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %all) -> (i32) {
      %w = memref.load %local[%c1, %k] : memref<2x4xi32>
      %sum = arith.addi %s, %w : i32
      scf.yield %sum : i32
    }
    %isAll = arith.cmpi eq, %both, %n : index
    scf.if %isAll {
      memref.store %total, %r[%own] : !v
    }
    svm.return
  }
  func.func @main(%a: !v {svm.access = "read", svm.name = "A"}, %t: !v {svm.access = "readwrite", svm.name = "T"}, %r: !v {svm.access = "readwrite", svm.name = "R"},
                  %u: !v {svm.access = "readwrite", svm.name = "U"})
      attributes {svm.entry, svm.sizes = ["M"], svm.extents = [affine_map<()[m] -> (m)>, affine_map<()[m] -> (m)>, affine_map<()[m] -> (m)>, affine_map<()[m] -> (m)>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    svm.parallel "groups" (%g) = (%c0) to (%c5) {
      %base = arith.muli %g, %c32 : index
      svm.parallel (%i) = (%c0) to (%c32) concurrent {
        svm.run @halve(%a, %t, %base, %c32, %i) : (!v, !v, index, index, index) -> ()
      }
      svm.parallel (%y, %x) = (%c0, %c0) to (%c4, %c8) concurrent {
        %row = arith.muli %y, %c8 : index
        %i = arith.addi %row, %x : index
        svm.run @keep(%a, %r, %base, %c32, %i) : (!v, !v, index, index, index) -> ()
      }
      svm.parallel "one by one" (%i) = (%c0) to (%c32) concurrent {
        svm.run @keep(%a, %u, %base, %c32, %i) : (!v, !v, index, index, index) -> ()
      }
    }
    return
  }
}
