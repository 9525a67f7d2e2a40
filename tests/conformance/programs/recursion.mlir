// A function that halves its block until it is small, and then calls the kernel.
// size: N=77
// A: in float32 (N,) = np.arange(N) % 9
// s: inout float32 () = 0 => A.sum()
!block = memref<?xf32, strided<[1], offset: ?>>
!one = memref<f32, strided<[], offset: ?>>
svm.kernel @sum(%x: !block {svm.access = "read"}, %s: !one {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : !block
  %start = memref.load %s[] : !one
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %start) -> f32 {
    %v = memref.load %x[%i] : !block
    %u = arith.addf %t, %v : f32
    scf.yield %u : f32
  }
  memref.store %end, %s[] : !one
  svm.return
}
func.func private @halve(%a: !block, %s: !one) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %a, %c0 : !block
  %small = arith.cmpi ule, %n, %c4 : index
  scf.if %small {
    svm.scope "leaf" {
      %x = svm.block "x"(%n) max [4] : !block
      %t = svm.block "t"() : !one
      svm.move %a to %x : !block to !block
      svm.move %s to %t : !one to !one
      svm.run @sum(%x, %t) : (!block, !one) -> ()
      svm.move %t to %s : !one to !one
    }
  } else {
    %h = arith.divui %n, %c2 : index
    %rest = arith.subi %n, %h : index
    %left = memref.subview %a[0] [%h] [1] : !block to !block
    %right = memref.subview %a[%h] [%rest] [1] : !block to !block
    func.call @halve(%left, %s) : (!block, !one) -> ()
    func.call @halve(%right, %s) : (!block, !one) -> ()
  }
  return
}
func.func @total(%a: !block {svm.name = "A", svm.access = "read"}, %s: !one {svm.name = "s", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  func.call @halve(%a, %s) : (!block, !one) -> ()
  return
}
