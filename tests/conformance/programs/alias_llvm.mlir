// LLVM code whose arguments may alias copies a part of an array to one that overlaps it, element by element.
// size: N=100
// only: machines
// B: inout float32 (N,) = np.arange(N) + 3 => np.full(N, 3)
!block = memref<?xf32, strided<[1], offset: ?>>
svm.llvm_source @c "define void @next(ptr %x, i64 %n, i64 %s, ptr %y, i64 %m, i64 %t) { entry: br label %loop loop: %i = phi i64 [ 0, %entry ], [ %j, %body ] %more = icmp slt i64 %i, %n br i1 %more, label %body, label %end body: %p = getelementptr float, ptr %x, i64 %i %q = getelementptr float, ptr %y, i64 %i %v = load float, ptr %p store float %v, ptr %q %j = add i64 %i, 1 br label %loop end: ret void }"
svm.kernel @next(!block {svm.access = "read"}, !block {svm.access = "write"}) attributes {llvm = @c::@next, may_alias}
func.func @main(%b: !block {svm.name = "B", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %b, %c0 : !block
  %k = arith.subi %n, %c1 : index
  %e = memref.subview %b[0] [%k] [1] : !block to !block
  %f = memref.subview %b[1] [%k] [1] : !block to !block
  svm.run @next(%e, %f) : (!block, !block) -> ()
  return
}
