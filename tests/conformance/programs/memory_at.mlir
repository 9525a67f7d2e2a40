// Memory that LLVM code tells the address of: blocks there share elements with the array that it is a part of, and a kernel
// that takes its arguments to be apart runs where svm.apart says so alone.
// size: N=100
// only: machines
// A: inout float32 (N,) = np.arange(N) => np.where(np.arange(N) < 30, np.arange(N), np.where(np.arange(N) < 60, np.arange(N) - 30, np.arange(N) - 60))
// R: out int32 (6,) = [1, 0, 0, 1, 1, 0]
!block = memref<?xf32, strided<[1], offset: ?>>
!words = memref<?xi64, strided<[1], offset: ?>>
!bits = memref<?xi32, strided<[1], offset: ?>>
svm.llvm_source @c "define void @where(ptr %x, i64 %n, i64 %s, ptr %y, i64 %m, i64 %t) { %a = ptrtoint ptr %x to i64 store i64 %a, ptr %y ret void }"
svm.kernel @where(!block {svm.access = "readwrite"}, !words {svm.access = "write"}) attributes {llvm = @c::@where}
svm.kernel @copy(%x: !block {svm.access = "read", svm.name = "from"}, %y: !block {svm.access = "write", svm.name = "to"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : !block
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : !block
    memref.store %v, %y[%i] : !block
  }
  svm.return
}
func.func @copy_where_apart(%x: !block {svm.access = "read"}, %y: !block {svm.access = "readwrite"}, %r: !bits {svm.access = "write"}, %at: index) {
  %is = svm.apart %x, %y : !block, !block
  scf.if %is {
    svm.run @copy(%x, %y) : (!block, !block) -> ()
  }
  %bit = arith.extui %is : i1 to i32
  memref.store %bit, %r[%at] : !bits
  return
}
func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"}, %r: !bits {svm.name = "R", svm.access = "write"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> (6)>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c30 = arith.constant 30 : index
  %c40 = arith.constant 40 : index
  %bytes30 = arith.constant 120 : i64
  %bytes31 = arith.constant 124 : i64
  %bytes60 = arith.constant 240 : i64
  %words = svm.block "where"(%c1) : !words
  %whole = svm.block "whole"(%c30) : !block
  svm.run @where(%a, %words) : (!block, !words) -> ()
  %first = memref.load %words[%c0] : !words
  %second = arith.addi %first, %bytes30 : i64
  %third = arith.addi %first, %bytes60 : i64
  %close = arith.addi %first, %bytes31 : i64
  %x = svm.memory_at "x" %first(%c30) : !block
  %y = svm.memory_at "y" %second(%c30) : !block
  %z = svm.memory_at "z" %third(%c40) : !block
  %w = svm.memory_at "w" %close(%c30) : !block
  %none = svm.memory_at "none" %second(%c0) : !block
  %v = memref.subview %a[0] [%c30] [1] : !block to !block
  func.call @copy_where_apart(%x, %y, %r, %c0) : (!block, !block, !bits, index) -> ()
  func.call @copy_where_apart(%y, %w, %r, %c1) : (!block, !block, !bits, index) -> ()
  func.call @copy_where_apart(%v, %x, %r, %c2) : (!block, !block, !bits, index) -> ()
  func.call @copy_where_apart(%x, %none, %r, %c3) : (!block, !block, !bits, index) -> ()
  // Elements of another type, and of a block of the program's own.
  %integers = svm.memory_at "integers" %third(%c30) : !bits
  %apart = svm.apart %x, %integers : !block, !bits
  %shared = svm.apart %z, %integers : !block, !bits
  %bit = arith.extui %apart : i1 to i32
  memref.store %bit, %r[%c4] : !bits
  %other = arith.extui %shared : i1 to i32
  memref.store %other, %r[%c5] : !bits
  // An array of forty is taken to one of thirty, and back by its address.
  svm.run @copy(%z, %whole) : (!block, !block) -> ()
  %i = arith.subi %c40, %c30 : index
  scf.for %k = %c0 to %c40 step %c1 {
    %at = arith.addi %k, %c30 : index
    %p = arith.addi %at, %c30 : index
    %q = memref.load %a[%p] : !block
    %sixty = arith.constant 60.0 : f32
    %less = arith.subf %q, %sixty : f32
    memref.store %less, %z[%k] : !block
  }
  return
}
