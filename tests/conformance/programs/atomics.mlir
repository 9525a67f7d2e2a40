// Every kind of change in one step, by instances that run at once.
// size: N=1000
// python: v = lambda i: i * 7919 % 1009 - 500
// python: import functools
// C: inout int32 (11,) = [0, 0, -1, 0, 0, 99, -99, 2**31 - 1, 0, 7, 0] => [N, -sum(v(i) for i in range(N)), functools.reduce(lambda a, b: a & b, [~(1 << (i % 31)) for i in range(20)], -1), functools.reduce(lambda a, b: a | b, [1 << (i % 20) for i in range(N)]), functools.reduce(lambda a, b: a ^ b, [v(i) for i in range(N)]), min(v(i) for i in range(N)), max(v(i) for i in range(N)), 3, 2**32 - 1 - 2**32, 7, N]
// S: inout int64 (N,) = 0 => 1
!counts = memref<?xi32, strided<[1], offset: ?>>
!seen = memref<?xi64, strided<[1], offset: ?>>
module attributes {svm.stage = "logical"} {
  svm.kernel @change(%c: !counts {svm.access = "readwrite"}, %s: !seen {svm.access = "readwrite"}, %i: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %one = arith.constant 1 : i32
    %wide = arith.constant 1 : i64
    %all = arith.constant -1 : i32
    %three = arith.constant 3 : i32
    %seven = arith.constant 7 : i32
    %twenty = arith.constant 20 : i32
    %factor = arith.constant 7919 : i32
    %modulus = arith.constant 1009 : i32
    %less = arith.constant 500 : i32
    %n = arith.index_cast %i : index to i32
    %p = arith.muli %n, %factor : i32
    %m = arith.remui %p, %modulus : i32
    %v = arith.subi %m, %less : i32
    %bit = arith.remui %n, %twenty : i32
    %set = arith.shli %one, %bit : i32
    %clear = arith.xori %set, %all : i32
    %before = svm.atomic "add" %one to %c[%c0] : !counts
    %at = arith.index_cast %before : i32 to index
    %old = svm.atomic "exchange" %wide to %s[%at] : !seen
    %1 = svm.atomic "sub" %v to %c[%c1] : !counts
    %2 = svm.atomic "and" %clear to %c[%c2] : !counts
    %3 = svm.atomic "or" %set to %c[%c3] : !counts
    %4 = svm.atomic "xor" %v to %c[%c4] : !counts
    %5 = svm.atomic "min" %v to %c[%c5] : !counts
    %6 = svm.atomic "max" %v to %c[%c6] : !counts
    %least = arith.maxsi %n, %three : i32
    %7 = svm.atomic "umin" %least to %c[%c7] : !counts
    %most = arith.maxsi %all, %v : i32
    %isFirst = arith.cmpi eq, %n, %one : i32
    %large = arith.select %isFirst, %all, %one : i32
    %8 = svm.atomic "umax" %large to %c[%c8] : !counts
    %9 = svm.atomic "compare_exchange" %three to %c[%c9] if %one : i32 : !counts
    // A counter that is raised by comparing until nobody has come in between.
    scf.while : () -> () {
      %now = memref.load %c[%c10] : !counts
      %next = arith.addi %now, %one : i32
      %there = svm.atomic "compare_exchange" %next to %c[%c10] if %now : i32 : !counts
      %again = arith.cmpi ne, %there, %now : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    svm.return
  }
  func.func @main(%c: !counts {svm.access = "readwrite", svm.name = "C"}, %s: !seen {svm.access = "readwrite", svm.name = "S"})
      attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (11)>, affine_map<()[n] -> (n)>]} {
    %c0 = arith.constant 0 : index
    %n = memref.dim %s, %c0 : !seen
    svm.parallel "all" (%i) = (%c0) to (%n) {
      svm.run @change(%c, %s, %i) : (!counts, !seen, index) -> ()
    }
    return
  }
}
