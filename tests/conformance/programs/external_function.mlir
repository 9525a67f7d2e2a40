// A kernel that calls C functions: integers, floats and truth values go in and out as C says.
// size: N=10
// only: machines
// A: in float32 (N,) = np.arange(N) / 2
// B: out float32 (N,) = np.where(A > 2, 3 * A + np.arange(N), -A)
!block = memref<?xf32, strided<[1], offset: ?>>
svm.llvm_source @c "define float @scaled(float %x, i32 %i) { %k = sitofp i32 %i to float %t = fmul float %x, 3.0 %r = fadd float %t, %k ret float %r } define zeroext i1 @large(float %x) { %r = fcmp ogt float %x, 2.0 ret i1 %r } define float @pick(i1 zeroext %c, float %a, float %b) { %r = select i1 %c, float %a, float %b ret float %r } define void @nothing() { ret void }"
func.func private @scaled(f32, i32) -> f32
func.func private @large(f32) -> i1
func.func private @pick(i1, f32, f32) -> f32
func.func private @nothing()
svm.kernel @apply(%a: !block {svm.access = "read", svm.name = "A"}, %b: !block {svm.access = "write", svm.name = "B"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : !block
    %k = arith.index_cast %i : index to i32
    func.call @nothing() : () -> ()
    %s = func.call @scaled(%x, %k) : (f32, i32) -> f32
    %l = func.call @large(%x) : (f32) -> i1
    %m = arith.negf %x : f32
    %r = func.call @pick(%l, %s, %m) : (i1, f32, f32) -> f32
    memref.store %r, %b[%i] : !block
  }
  svm.return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "read"}, %b: !block {svm.name = "B", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (n)>]} {
  svm.run @apply(%a, %b) : (!block, !block) -> ()
  return
}
