// Control that keeps a scalar in memory and decides by it, with a loop of unknown length around kernel calls.
// size: N=33
// A: inout float32 (N,) = np.arange(N) + 1 => (np.arange(N) + 1) / 64
// k: inout int32 () = 6 => 0
!block = memref<?xf32, strided<[1], offset: ?>>
!count = memref<i32, strided<[], offset: ?>>
svm.kernel @halve(%x: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %n = memref.dim %x, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    %w = arith.mulf %v, %half : f32
    memref.store %w, %x[%i] : !block
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"}, %k: !count {svm.name = "k", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = memref.dim %a, %c0 : !block
  scf.while : () -> () {
    %left = memref.load %k[] : !count
    %go = arith.cmpi sgt, %left, %zero : i32
    scf.condition(%go)
  } do {
    %left = memref.load %k[] : !count
    %less = arith.subi %left, %one : i32
    memref.store %less, %k[] : !count
    svm.scope "halve" {
      %x = svm.block "x"(%n) max [64] : !block
      svm.move %a to %x : !block to !block
      svm.run @halve(%x) : (!block) -> ()
      svm.move %x to %a : !block to !block
    }
    scf.yield
  }
  return
}
