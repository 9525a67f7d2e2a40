// Each of two instances writes its flag, passes a fence and reads the other's: in no round do both read that nothing was written.
// size: R=300
// F: inout int32 (2 * R + 2,) = np.zeros(2 * R + 2) => np.concatenate([np.ones(2 * R), [R, R]])
// M: out int32 () = 0
!flags = memref<?xi32, strided<[1], offset: ?>>
svm.kernel @side(%f: !flags {svm.access = "readwrite"}, %seen: !flags {svm.access = "readwrite"}, %i: index, %rounds: index) attributes {svm.shared} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  %other = arith.subi %c1, %i : index
  %gates = arith.muli %rounds, %c2 : index
  %mine = arith.addi %gates, %i : index
  %theirs = arith.addi %gates, %other : index
  scf.for %k = %c0 to %rounds step %c1 {
    // Both begin the round together.
    %number = arith.index_cast %k : index to i32
    %next = arith.addi %number, %one : i32
    svm.fence
    memref.store %next, %f[%mine] : !flags
    scf.while : () -> () {
      %there = memref.load %f[%theirs] : !flags
      %behind = arith.cmpi slt, %there, %next : i32
      scf.condition(%behind)
    } do {
      svm.pause
      scf.yield
    }
    svm.fence
    %base = arith.muli %k, %c2 : index
    %own = arith.addi %base, %i : index
    %else = arith.addi %base, %other : index
    memref.store %one, %f[%own] : !flags
    svm.fence
    %value = memref.load %f[%else] : !flags
    memref.store %value, %seen[%own] : !flags
  }
  svm.return
}
func.func @main(%f: !flags {svm.name = "F", svm.access = "readwrite"}, %missed: memref<i32, strided<[], offset: ?>> {svm.name = "M", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["R"], svm.extents = [affine_map<()[r] -> (r * 2 + 2)>, affine_map<()[r] -> ()>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %all = memref.dim %f, %c0 : !flags
  %flags = arith.subi %all, %c2 : index
  %rounds = arith.divui %flags, %c2 : index
  svm.scope {
    %seen = svm.block "seen"(%flags) : !flags
    svm.parallel "sides" (%i) = (%c0) to (%c2) concurrent {
      svm.run @side(%f, %seen, %i, %rounds) : (!flags, !flags, index, index) -> ()
    }
    %count = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (i32) {
      %at = arith.muli %k, %c2 : index
      %next = arith.addi %at, %c1 : index
      %a = memref.load %seen[%at] : !flags
      %b = memref.load %seen[%next] : !flags
      %some = arith.ori %a, %b : i32
      %none = arith.cmpi eq, %some, %zero : i32
      %one = arith.extui %none : i1 to i32
      %more = arith.addi %sum, %one : i32
      scf.yield %more : i32
    }
    memref.store %count, %missed[] : memref<i32, strided<[], offset: ?>>
  }
  return
}
