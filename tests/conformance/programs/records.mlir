// Complex numbers as records: squares of them, and their fields one by one.
// size: N=17
// Z: in [('re','f4'),('im','f4')] (N,) = rec(re=np.arange(N), im=np.arange(N) - 4)
// W: out [('re','f4'),('im','f4')] (N,) = rec(re=Z['re'] ** 2 - Z['im'] ** 2, im=2 * Z['re'] * Z['im'])
!complex = !svm.record<"complex", re: f32, im: f32>
!block = memref<?x!complex, strided<[1], offset: ?>>
svm.kernel @square(%z: !block {svm.access = "read"}, %w: !block {svm.access = "write"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %z, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %z[%i] : !block
    %re = svm.field %v[0] : !complex -> f32
    %im = svm.field %v[1] : !complex -> f32
    %rr = arith.mulf %re, %re : f32
    %ii = arith.mulf %im, %im : f32
    %ri = arith.mulf %re, %im : f32
    %x = arith.subf %rr, %ii : f32
    %y = arith.addf %ri, %ri : f32
    %half = svm.record(%x, %x) : (f32, f32) -> !complex
    %r = svm.with_field %half[1] = %y : f32 in !complex
    memref.store %r, %w[%i] : !block
  }
  svm.return
}
func.func @squares(%z: !block {svm.name = "Z", svm.access = "read"}, %w: !block {svm.name = "W", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %z, %c0 : !block
  svm.scope "square" {
    %x = svm.block "x"(%n) max [64] : !block
    %y = svm.block "y"(%n) max [64] : !block
    svm.move %z to %x : !block to !block
    svm.run @square(%x, %y) : (!block, !block) -> ()
    svm.move %y to %w : !block to !block
  }
  return
}
