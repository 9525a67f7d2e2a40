// A kernel with a loop of unknown length and a branch: the number of Collatz steps of each element.
// size: N=60
// A: in int64 (N,) = np.arange(N) + 1
// S: out int64 (N,) = [collatz(a) for a in A]
// python: collatz = lambda a: 0 if a == 1 else 1 + collatz(a // 2 if a % 2 == 0 else 3 * a + 1)
!block = memref<?xi64, strided<[1], offset: ?>>
svm.kernel @steps(%a: !block {svm.access = "read"}, %s: !block {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %n = memref.dim %a, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %start = memref.load %a[%i] : !block
    %end, %count = scf.while (%x = %start, %k = %zero) : (i64, i64) -> (i64, i64) {
      %go = arith.cmpi sgt, %x, %one : i64
      scf.condition(%go) %x, %k : i64, i64
    } do {
    ^bb0(%x: i64, %k: i64):
      %bit = arith.andi %x, %one : i64
      %odd = arith.trunci %bit : i64 to i1
      %y = scf.if %odd -> i64 {
        %t = arith.muli %x, %three : i64
        %u = arith.addi %t, %one : i64
        scf.yield %u : i64
      } else {
        %h = arith.shrui %x, %one : i64
        scf.yield %h : i64
      }
      %k1 = arith.addi %k, %one : i64
      scf.yield %y, %k1 : i64, i64
    }
    memref.store %count, %s[%i] : !block
  }
  svm.return
}
func.func @collatz(%a: !block {svm.name = "A", svm.access = "read"}, %s: !block {svm.name = "S", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : !block
  svm.scope "steps" {
    %x = svm.block "x"(%n) max [64] : !block
    %y = svm.block "y"(%n) max [64] : !block
    svm.move %a to %x : !block to !block
    svm.run @steps(%x, %y) : (!block, !block) -> ()
    svm.move %y to %s : !block to !block
  }
  return
}
