// RUN: strata-opt %s | strata-opt | FileCheck %s
// RUN: strata-opt --mlir-print-op-generic %s | strata-opt | FileCheck %s
// Every operation and type of the dialect is printed and read back, from its own form and from the generic one.

// CHECK: module attributes {svm.machine = "cell", svm.machine_hash = "00", svm.mapping = {f = "x"}, svm.program = "p", svm.stage = "logical"}
module attributes {svm.stage = "logical", svm.machine = "cell", svm.machine_hash = "00", svm.program = "p", svm.mapping = {f = "x"}} {

// CHECK: svm.kernel @leaf(%{{.*}}: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read", svm.name = "A"}, %{{.*}}: memref<f32, strided<[], offset: ?>> {svm.access = "readwrite"}, %{{.*}}: i32 {svm.unsigned})
// CHECK-SAME: attributes {extents = [#[[ONE:.*]], #[[NONE:.*]], #[[NONE]]]}
svm.kernel @leaf(%a: memref<?xf32, strided<[1], offset: ?>> {svm.access = "read", svm.name = "A"},
                 %b: memref<f32, strided<[], offset: ?>> {svm.access = "readwrite"}, %n: i32 {svm.unsigned})
    attributes {extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>, affine_map<()[s0] -> ()>]} {
  %c0 = arith.constant 0 : index
  %n0 = memref.dim %a, %c0 : memref<?xf32, strided<[1], offset: ?>>
  // CHECK: svm.index %{{.*}} in %{{.*}} of "A", 0
  svm.index %c0 in %n0 of "A", 0
  %t = arith.constant true
  // CHECK: svm.check %{{.*}}, "a-code", "{0} is wrong" help "change it"(%{{.*}}, %{{.*}} : index, i64)
  %i = arith.index_cast %n0 : index to i64
  svm.check %t, "a-code", "{0} is wrong" help "change it" (%n0, %i : index, i64)
  // CHECK: svm.check %{{.*}}, "bare-2", "{0}, {}, {x} and {"(%{{.*}} : index)
  svm.check %t, "bare-2", "{0}, {}, {x} and {" (%n0 : index)
  // CHECK: svm.check %{{.*}}, "bare", "no more"
  svm.check %t, "bare", "no more"
  // CHECK: svm.count "elements" by %{{.*}} : index
  svm.count "elements" by %n0 : index
  // CHECK: svm.return
  svm.return
}

// CHECK: svm.llvm_source @source "define void @f() { ret void }"
svm.llvm_source @source "define void @f() { ret void }"
// CHECK: svm.kernel @from_c(memref<?xi8, strided<[1], offset: ?>> {svm.access = "readwrite"}) attributes {llvm = @source::@f}
svm.kernel @from_c(memref<?xi8, strided<[1], offset: ?>> {svm.access = "readwrite"}) attributes {llvm = @source::@f}
// CHECK: svm.kernel private @box(memref<?xi8, strided<[1], offset: ?>> {svm.access = "write"}) attributes {blackbox = "FileSource"}
svm.kernel private @box(memref<?xi8, strided<[1], offset: ?>> {svm.access = "write"}) attributes {blackbox = "FileSource"}

// CHECK: svm.kernel @changes
svm.kernel @changes(%a: memref<?xi32, strided<[1], offset: ?>> {svm.access = "readwrite"}, %i: index, %v: i32) {
  // CHECK: svm.barrier
  svm.barrier
  // CHECK: %{{.*}} = svm.atomic "add" %{{.*}} to %{{.*}}[%{{.*}}] : memref<?xi32, strided<[1], offset: ?>>
  %0 = svm.atomic "add" %v to %a[%i] : memref<?xi32, strided<[1], offset: ?>>
  // CHECK: %{{.*}} = svm.atomic "compare_exchange" %{{.*}} to %{{.*}}[%{{.*}}] if %{{.*}} : i32 : memref<?xi32, strided<[1], offset: ?>>
  %1 = svm.atomic "compare_exchange" %v to %a[%i] if %0 : i32 : memref<?xi32, strided<[1], offset: ?>>
  svm.return
}

// CHECK: func.func @finds
func.func @finds(%address: i64, %n: index) -> i1 {
  // CHECK: %{{.*}} = svm.memory_at "frame" %{{.*}}(%{{.*}}) : memref<?xf32, strided<[1], offset: ?>>
  %a = svm.memory_at "frame" %address(%n) : memref<?xf32, strided<[1], offset: ?>>
  // CHECK: %{{.*}} = svm.memory_at %{{.*}}(%{{.*}}) : memref<?xi8, strided<[1], offset: ?>>
  %b = svm.memory_at %address(%n) : memref<?xi8, strided<[1], offset: ?>>
  // CHECK: %{{.*}} = svm.apart %{{.*}}, %{{.*}} : memref<?xf32, strided<[1], offset: ?>>, memref<?xi8, strided<[1], offset: ?>>
  %0 = svm.apart %a, %b : memref<?xf32, strided<[1], offset: ?>>, memref<?xi8, strided<[1], offset: ?>>
  return %0 : i1
}

// CHECK: func.func @whereItLies
func.func @whereItLies(%part: memref<?xf32, strided<[1], offset: ?>, #svm.mem<@space>>, %n: index) {
  %block = svm.block "b"(%n) max [8] at 0 : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@memory>>
  // CHECK: %{{.*}}, %{{.*}} = svm.in_place %{{.*}} for %{{.*}} : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@memory>> for memref<?xf32, strided<[1], offset: ?>, #svm.mem<@space>>
  %here, %apart = svm.in_place %block for %part : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@memory>> for memref<?xf32, strided<[1], offset: ?>, #svm.mem<@space>>
  return
}

// CHECK: svm.kernel @streams(%{{.*}}: !svm.stream<f32>, %{{.*}}: !svm.stream<f32>)
svm.kernel @streams(%in: !svm.stream<f32>, %out: !svm.stream<f32>) {
  %c1 = arith.constant 1 : index
  // CHECK: %{{.*}}, %{{.*}} = svm.pop %{{.*}} : {{(!svm.stream)?}}<f32> -> f32
  %x, %more = svm.pop %in : !svm.stream<f32> -> f32
  // CHECK: %{{.*}}, %{{.*}} = svm.peek %{{.*}}[%{{.*}}] : {{(!svm.stream)?}}<f32> -> f32
  %y, %also = svm.peek %in[%c1] : !svm.stream<f32> -> f32
  // CHECK: svm.push %{{.*}} to %{{.*}}, %{{.*}} : f32 to {{(!svm.stream)?}}<f32>, {{(!svm.stream)?}}<f32>
  svm.push %x to %out, %out : f32 to !svm.stream<f32>, !svm.stream<f32>
  // CHECK: svm.end %{{.*}} : {{(!svm.stream)?}}<f32>
  svm.end %out : !svm.stream<f32>
  svm.return
}

// CHECK: func.func @records(%{{.*}}: !svm.record<"complex", re: f32, im: f32>)
func.func @records(%z: !svm.record<"complex", re: f32, im: f32>)
    -> !svm.record<"outer", inner: !svm.record<"complex", re: f32, im: f32>, n: i8> {
  // CHECK: svm.field %{{.*}}[1] : {{(!svm.record)?}}<"complex", re: f32, im: f32> -> f32
  %im = svm.field %z[1] : !svm.record<"complex", re: f32, im: f32> -> f32
  // CHECK: svm.with_field %{{.*}}[0] = %{{.*}} : f32 in {{(!svm.record)?}}<"complex", re: f32, im: f32>
  %w = svm.with_field %z[0] = %im : f32 in !svm.record<"complex", re: f32, im: f32>
  %n = arith.constant 3 : i8
  // CHECK: svm.record(%{{.*}}, %{{.*}}) : ({{(!svm.record)?}}<"complex", re: f32, im: f32>, i8) -> {{(!svm.record)?}}<"outer", inner: {{(!svm.record)?}}<"complex", re: f32, im: f32>, n: i8>
  %r = svm.record(%w, %n) : (!svm.record<"complex", re: f32, im: f32>, i8)
      -> !svm.record<"outer", inner: !svm.record<"complex", re: f32, im: f32>, n: i8>
  return %r : !svm.record<"outer", inner: !svm.record<"complex", re: f32, im: f32>, n: i8>
}

// CHECK: svm.kernel @fields
svm.kernel @fields(%z: memref<?x?x!svm.record<"complex", re: f32, im: f32>, strided<[?, 1], offset: ?>> {svm.access = "read"},
                   %o: memref<4x!svm.record<"outer", n: i8, inner: !svm.record<"pair", a: i16, b: f64>>> {svm.access = "read"}) {
  // CHECK: svm.fields %{{.*}} [1] : memref<?x?x!svm.record<"complex", re: f32, im: f32>, strided<[?, 1], offset: ?>> -> memref<?x?xf32, strided<[?, 2], offset: ?>>
  %im = svm.fields %z [1] : memref<?x?x!svm.record<"complex", re: f32, im: f32>, strided<[?, 1], offset: ?>> -> memref<?x?xf32, strided<[?, 2], offset: ?>>
  // CHECK: svm.fields %{{.*}} [1, 0] : {{.*}} -> memref<4xi16, strided<[12], offset: 4>>
  %a = svm.fields %o [1, 0] : memref<4x!svm.record<"outer", n: i8, inner: !svm.record<"pair", a: i16, b: f64>>> -> memref<4xi16, strided<[12], offset: 4>>
  // CHECK: svm.fields %{{.*}} [1, 1] : {{.*}} -> memref<4xf64, strided<[3], offset: 2>>
  %b = svm.fields %o [1, 1] : memref<4x!svm.record<"outer", n: i8, inner: !svm.record<"pair", a: i16, b: f64>>> -> memref<4xf64, strided<[3], offset: 2>>
  svm.return
}

func.func private @combine(memref<f32, strided<[], offset: ?>>, memref<f32, strided<[], offset: ?>>)

// CHECK: func.func @control
func.func @control(%a: memref<?xf32, strided<[1], offset: ?>> {svm.name = "A", svm.access = "readwrite"},
                   %s: memref<f32, strided<[], offset: ?>> {svm.name = "s", svm.access = "readwrite"})
    attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[s0] -> (s0)>, affine_map<()[s0] -> ()>]} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 7 : i32
  // CHECK: svm.stream "frames"(%{{.*}}) in @fifo : {{(!svm.stream)?}}<i16>
  %q = svm.stream "frames"(%c8) in @fifo : !svm.stream<i16>
  // CHECK: svm.stream "through"(%{{.*}}) through @fifo : {{(!svm.stream)?}}<i16>
  %q1 = svm.stream "through"(%c8) through @fifo : !svm.stream<i16>
  // CHECK: svm.stream(%{{.*}}) in @ls at 64 : {{(!svm.stream)?}}<i16>
  %q2 = svm.stream(%c8) in @ls at 64 : !svm.stream<i16>
  // CHECK: svm.stream(%{{.*}}) : {{(!svm.stream)?}}<{{(!svm.record)?}}<"pair", a: i32, b: f64>>
  %p = svm.stream(%c8) : !svm.stream<!svm.record<"pair", a: i32, b: f64>>
  // CHECK: svm.scope "call" disjoint {
  svm.scope "call" disjoint {
    // CHECK: svm.block "A"(%{{.*}}) max [64] at 128 : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>>
    %b = svm.block "A"(%c8) max [64] at 128 : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>>
    // CHECK: svm.block() : memref<f32, strided<[], offset: ?>>
    %e = svm.block() : memref<f32, strided<[], offset: ?>>
    // CHECK: %[[MOVED:.*]] = svm.move %{{.*}} to %{{.*}} : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>> -> !svm.token
    %moved = svm.move %a to %b : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>> -> !svm.token
    // CHECK: %[[RAN:.*]] = svm.run @leaf(%{{.*}}, %{{.*}}, %{{.*}}) after(%[[MOVED]]) on @pe : (memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>>, memref<f32, strided<[], offset: ?>>, i32) -> !svm.token
    %ran = svm.run @leaf(%b, %e, %n) after(%moved) on @pe : (memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>>, memref<f32, strided<[], offset: ?>>, i32) -> !svm.token
    // CHECK: svm.move %{{.*}} to %{{.*}} after(%[[RAN]]) : memref<f32, strided<[], offset: ?>> to memref<f32, strided<[], offset: ?>> -> !svm.token
    %back = svm.move %e to %s after(%ran) : memref<f32, strided<[], offset: ?>> to memref<f32, strided<[], offset: ?>> -> !svm.token
    // CHECK: svm.wait %{{.*}}, %{{.*}}
    svm.wait %ran, %back
    // CHECK: %[[LIST:.*]] = svm.block "list"
    %list = svm.block "list"(%c8) : memref<?xindex, strided<[1], offset: ?>>
    // CHECK: %[[PARTS:.*]] = svm.gather %{{.*}}[%[[LIST]]] to %{{.*}} : memref<?xf32, strided<[1], offset: ?>>[memref<?xindex, strided<[1], offset: ?>>] to memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>> -> !svm.token
    %parts = svm.gather %a[%list] to %b : memref<?xf32, strided<[1], offset: ?>>[memref<?xindex, strided<[1], offset: ?>>] to memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>> -> !svm.token
    // CHECK: svm.scatter %{{.*}} to %{{.*}}[%[[LIST]]] after(%[[PARTS]]) {svm.keep} : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>> to memref<?xf32, strided<[1], offset: ?>>[memref<?xindex, strided<[1], offset: ?>>]
    svm.scatter %b to %a[%list] after(%parts) {svm.keep} : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>> to memref<?xf32, strided<[1], offset: ?>>[memref<?xindex, strided<[1], offset: ?>>]
    // CHECK: svm.run @leaf(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<?xf32, strided<[1], offset: ?>>, memref<f32, strided<[], offset: ?>>, i32) -> ()
    svm.run @leaf(%a, %s, %n) : (memref<?xf32, strided<[1], offset: ?>>, memref<f32, strided<[], offset: ?>>, i32) -> ()
  }
  // CHECK: svm.forget %{{.*}} : memref<f32, strided<[], offset: ?>>
  svm.forget %s : memref<f32, strided<[], offset: ?>>
  // CHECK: svm.scope {
  svm.scope {
  }
  // CHECK: svm.span "node/leaf" of %{{.*}} {
  svm.span "node/leaf" of %c8 {
  }
  // CHECK: svm.span "all" {
  svm.span "all" {
  }
  // CHECK: svm.parallel "i" (%{{.*}}) = (%{{.*}}) to (%{{.*}}) reduce(%{{.*}} = %{{.*}} : memref<f32, strided<[], offset: ?>> with #svm.combiner<@combine, "sum">) on @pe parts 8 chunk 2 {
  svm.parallel "i" (%i) = (%c0) to (%c8) reduce(%t = %s : memref<f32, strided<[], offset: ?>> with #svm.combiner<@combine, "sum">) on @pe parts 8 chunk 2 {
    %v = memref.load %t[] : memref<f32, strided<[], offset: ?>>
  }
  // CHECK: reduce(%{{.*}} = %{{.*}} : memref<f32, strided<[], offset: ?>> with #svm.combiner<@combine, "sum", on "pe", in "ls">) {
  svm.parallel (%i) = (%c0) to (%c8) reduce(%t = %s : memref<f32, strided<[], offset: ?>> with #svm.combiner<@combine, "sum", on "pe", in "ls">) {
  }
  // CHECK: svm.parallel (%{{.*}}, %{{.*}}) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) on @pe parts [4, 2] chunk [1, 0] concurrent {
  svm.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) on @pe parts [4, 2] chunk [1, 0] concurrent {
  }
  // CHECK: svm.instances "i" (%{{.*}}) = (%{{.*}}) to (%{{.*}}) on @pe parts 4 concurrent {
  svm.instances "i" (%instance) = (%c0) to (%c8) on @pe parts 4 concurrent {
  }
  // CHECK: svm.on @pe {
  svm.on @pe {
  }
  return
}

// What concurrent instances do to each other, and arrays over the memories of many.
// CHECK-LABEL: svm.kernel @tile
// CHECK-SAME: (%{{.*}}: memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.dist<"l"[4] per 1, (d0, d1) -> (d0 floordiv 6) at (d0, d1) -> (d0 mod 6 + d1)>> {svm.access = "read"}, %{{.*}}: index {svm.instance}) attributes {svm.shared}
svm.kernel @tile(%a: memref<?x?xi32, strided<[?, 1], offset: ?>, #svm.dist<"l"[4] per 1, (i, j) -> (i floordiv 6) at (i, j) -> (i mod 6 + j)>> {svm.access = "read"},
                 %t: index {svm.instance}) attributes {svm.shared} {
  // CHECK: svm.pause
  svm.pause
  // CHECK: svm.poll changed %{{.*}}
  %changed = arith.constant true
  svm.poll changed %changed
  // CHECK: svm.poll of %{{.*}} changed %{{.*}} state(%{{.*}} : index)
  svm.poll of %t changed %changed state(%t : index)
  // CHECK: svm.fence
  svm.fence
  %i = arith.constant 1 : i64
  %x = arith.constant 1.0 : f64
  // CHECK: svm.print %{{.*}}, "%5d of %% %-8.3f\0A"(%{{.*}}, %{{.*}} : i64, f64)
  svm.print %t, "%5d of %% %-8.3f\0A" (%i, %x : i64, f64)
  // CHECK: svm.print %{{.*}}, "end"
  svm.print %t, "end"
  svm.return
}
// Every instance has all of it; the memory belongs to no processor.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: #svm.dist<"g"[2] per 0, () -> () at () -> (0)>
func.func @copies(%a: memref<i32, strided<[], offset: ?>, #svm.dist<"g"[2] per 0, () -> () at () -> (0)>>) {
  return
}

// A kernel is a scope of its own for automatic memory and for affine symbols.
// CHECK: svm.kernel @scoped
svm.kernel @scoped(%a: memref<?xf32, strided<[1], offset: ?>> {svm.access = "write"}, %n: index) {
  %x = memref.alloca() : memref<f32>
  affine.for %i = 0 to %n {
    %v = affine.load %x[] : memref<f32>
    affine.store %v, %a[%i] : memref<?xf32, strided<[1], offset: ?>>
  }
  svm.return
}
}
