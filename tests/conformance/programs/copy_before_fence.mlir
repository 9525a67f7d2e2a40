// Two instances take turns: one copies A and says so, the other increases A and says so, and only then the first writes its copy to a row
// of B. Each copy holds A as it was before the increase, whatever elides or hoists it.
// size: N=40 R=3
// A: inout float32 (N,) = np.arange(N) => A + 10 * R
// F: inout int32 (2 * R,) = np.zeros(2 * R) => np.ones(2 * R)
// B: out float32 (R, N) = A + 10 * np.arange(R)[:, None]
!block = memref<?xf32, strided<[1], offset: ?>>
!flags = memref<?xi32, strided<[1], offset: ?>>
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
svm.kernel @raise(%f: !flags {svm.access = "readwrite"}, %at: index) attributes {svm.shared} {
  %one = arith.constant 1 : i32
  svm.fence
  memref.store %one, %f[%at] : !flags
  svm.return
}
svm.kernel @until(%f: !flags {svm.access = "readwrite"}, %at: index) attributes {svm.shared} {
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    %v = memref.load %f[%at] : !flags
    %low = arith.cmpi eq, %v, %zero : i32
    scf.condition(%low)
  } do {
    svm.pause
    scf.yield
  }
  svm.fence
  svm.return
}
svm.kernel @increase(%x: !block {svm.access = "readwrite"}) attributes {svm.shared} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant 10.0 : f32
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    %w = arith.addf %v, %step : f32
    memref.store %w, %x[%i] : !block
  }
  svm.return
}
svm.kernel @copy(%x: !block {svm.access = "read"}, %y: !block {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    memref.store %v, %y[%i] : !block
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"}, %f: !flags {svm.name = "F", svm.access = "readwrite"},
                %b: !rows {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N", "R"],
                svm.extents = [affine_map<()[n, r] -> (n)>, affine_map<()[n, r] -> (r * 2)>, affine_map<()[n, r] -> (r, n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %a, %c0 : !block
  %rounds = memref.dim %b, %c0 : !rows
  svm.parallel "sides" (%i) = (%c0) to (%c2) concurrent {
    %copies = arith.cmpi eq, %i, %c0 : index
    scf.for %k = %c0 to %rounds step %c1 {
      %first = arith.muli %k, %c2 : index
      %second = arith.addi %first, %c1 : index
      scf.if %copies {
        svm.scope "take" {
          %x = svm.block "x"(%n) max [64] : !block
          svm.move %a to %x : !block to !block
          svm.run @raise(%f, %first) : (!flags, index) -> ()
          svm.run @until(%f, %second) : (!flags, index) -> ()
          %row = memref.subview %b[%k, 0] [1, %n] [1, 1] : !rows to !block
          svm.run @copy(%x, %row) : (!block, !block) -> ()
        }
      } else {
        svm.run @until(%f, %first) : (!flags, index) -> ()
        svm.run @increase(%a) : (!block) -> ()
        svm.run @raise(%f, %second) : (!flags, index) -> ()
      }
    }
  }
  return
}
