// One instance works on a copy of A, the other looks at A meanwhile: it sees nothing of the work before the copy is moved back.
// size: N=33
// A: inout float32 (N,) = np.arange(N) => A + 10
// F: inout int32 (2,) = np.zeros(2) => np.ones(2)
// B: out float32 (N,) = A
!block = memref<?xf32, strided<[1], offset: ?>>
!flags = memref<?xi32, strided<[1], offset: ?>>
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
                %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (2)>, affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %a, %c0 : !block
  svm.parallel "sides" (%i) = (%c0) to (%c2) concurrent {
    %works = arith.cmpi eq, %i, %c0 : index
    scf.if %works {
      svm.scope "work" {
        %x = svm.block "x"(%n) max [64] : !block
        svm.move %a to %x : !block to !block
        svm.run @increase(%x) : (!block) -> ()
        svm.run @raise(%f, %c0) : (!flags, index) -> ()
        svm.run @until(%f, %c1) : (!flags, index) -> ()
        svm.move %x to %a : !block to !block
      }
    } else {
      svm.run @until(%f, %c0) : (!flags, index) -> ()
      svm.move %a to %b : !block to !block
      svm.run @raise(%f, %c1) : (!flags, index) -> ()
    }
  }
  return
}
