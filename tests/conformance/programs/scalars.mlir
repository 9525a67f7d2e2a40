// Scalars in and out, signed and unsigned, and arithmetic that tells them apart.
// a: scalar int32 = -100
// b: scalar uint8 = 200
// x: inout int64 () = 5 => 5 + -100 // 7 + 200 // 7
// y: inout float64 () = 0.5 => 0.5 * -100 + 200
!long = memref<i64, strided<[], offset: ?>>
!real = memref<f64, strided<[], offset: ?>>
func.func @scalars(%a: i32 {svm.name = "a", svm.access = "read"}, %b: i8 {svm.name = "b", svm.access = "read", svm.unsigned},
                   %x: !long {svm.name = "x", svm.access = "readwrite"}, %y: !real {svm.name = "y", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = [],
                svm.extents = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]} {
  %seven32 = arith.constant 7 : i32
  %seven8 = arith.constant 7 : i8
  %q = arith.floordivsi %a, %seven32 : i32
  %r = arith.divui %b, %seven8 : i8
  %q64 = arith.extsi %q : i32 to i64
  %r64 = arith.extui %r : i8 to i64
  %old = memref.load %x[] : !long
  %s = arith.addi %old, %q64 : i64
  %t = arith.addi %s, %r64 : i64
  memref.store %t, %x[] : !long
  %af = arith.sitofp %a : i32 to f64
  %bf = arith.uitofp %b : i8 to f64
  %yo = memref.load %y[] : !real
  %p = arith.mulf %yo, %af : f64
  %z = arith.addf %p, %bf : f64
  memref.store %z, %y[] : !real
  return
}
