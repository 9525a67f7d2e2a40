// What a region starts has ended when the region has, also where nobody waits for it: in scopes, branches, loops and functions.
// size: N=20000
// A: out int64 (N,) = np.arange(N) * 3 + 1
// B: out int64 (N,) = np.arange(N) * 3 + 1
// C: out int64 (N,) = np.arange(N) * 3 + 1
// D: out int64 (N,) = np.arange(N) * 3 + 1
// E: out int64 (N,) = np.arange(N) * 3
!block = memref<?xi64, strided<[1], offset: ?>>
svm.kernel @fill(%x: !block {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %three = arith.constant 3 : i64
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = arith.index_cast %i : index to i64
    %w = arith.muli %v, %three : i64
    memref.store %w, %x[%i] : !block
  }
  svm.return
}
svm.kernel @more(%x: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %l = arith.subi %n, %i : index
    %j = arith.subi %l, %c1 : index
    %v = memref.load %x[%j] : !block
    %w = arith.addi %v, %one : i64
    memref.store %w, %x[%j] : !block
  }
  svm.return
}
func.func @start(%x: !block) {
  %t = svm.run @fill(%x) : (!block) -> !svm.token
  return
}
func.func @regions(%a: !block {svm.name = "A", svm.access = "write"}, %b: !block {svm.name = "B", svm.access = "write"},
                   %c: !block {svm.name = "C", svm.access = "write"}, %d: !block {svm.name = "D", svm.access = "write"},
                   %e: !block {svm.name = "E", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"],
                svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>,
                               affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  svm.scope "scope" {
    %t = svm.run @fill(%a) : (!block) -> !svm.token
  }
  svm.run @more(%a) : (!block) -> ()
  scf.if %true {
    %t = svm.run @fill(%b) : (!block) -> !svm.token
  }
  svm.run @more(%b) : (!block) -> ()
  scf.for %i = %c0 to %c1 step %c1 {
    %t = svm.run @fill(%c) : (!block) -> !svm.token
  }
  svm.run @more(%c) : (!block) -> ()
  func.call @start(%d) : (!block) -> ()
  svm.run @more(%d) : (!block) -> ()
  svm.scope "copy" {
    %n = memref.dim %e, %c0 : !block
    %x = svm.block "x"(%n) max [20000] : !block
    svm.run @fill(%x) : (!block) -> ()
    %t = svm.move %x to %e : !block to !block -> !svm.token
  }
  return
}
