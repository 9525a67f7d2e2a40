// Records with padding and a record inside: what is not written to stays as it was.
// size: N=5
// R: inout np.dtype([('tag','i1'),('value',[('a','i2'),('b','f8')],),('n','i4')], align=True) (N,) = rec(tag=np.arange(N), n=np.arange(N) * 1000) => rec(tag=np.arange(N), n=np.arange(N) * 2000)
!inner = !svm.record<"inner", a: i16, b: f64>
!outer = !svm.record<"outer", tag: i8, value: !inner, n: i32>
!block = memref<?x!outer, strided<[1], offset: ?>>
svm.kernel @double(%r: !block {svm.access = "readwrite"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %r, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %r[%i] : !block
    %k = svm.field %v[2] : !outer -> i32
    %k2 = arith.addi %k, %k : i32
    %inner = svm.field %v[1] : !outer -> !inner
    %w = svm.with_field %v[2] = %k2 : i32 in !outer
    %u = svm.with_field %w[1] = %inner : !inner in !outer
    memref.store %u, %r[%i] : !block
  }
  svm.return
}
func.func @doubles(%r: !block {svm.name = "R", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %r, %c0 : !block
  svm.scope "double" {
    %x = svm.block "x"(%n) max [64] : !block
    svm.move %r to %x : !block to !block
    svm.run @double(%x) : (!block) -> ()
    svm.move %x to %r : !block to !block
  }
  return
}
