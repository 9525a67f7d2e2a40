// RUN: strata-opt --svm-eliminate-copies %s | FileCheck %s --check-prefix=ELIMINATE
// RUN: strata-opt --svm-hoist-copies %s | FileCheck %s --check-prefix=HOIST
// RUN: strata-opt --svm-instrument %s | FileCheck %s --check-prefix=COUNT
// Gathers and scatters are accesses: a copy that only they read is left out or made once, and stays where what it is of is written.

!list = memref<?xi32, strided<[1], offset: ?>, #svm.mem<@main>>
!row = memref<?xf32, strided<[1], offset: ?>, #svm.mem<@main>>
!near = memref<?xf32, strided<[1], offset: ?>, #svm.mem<@ls>>

module attributes {svm.stage = "placed"} {
// Only read, and nobody writes the array meanwhile.
// ELIMINATE-LABEL: func.func @reads
// ELIMINATE-SAME: (%[[A:[^:]*]]: {{[^%]*}}, %[[I:[^:]*]]: {{[^%]*}}, %[[B:[^:]*]]: {{[^%]*}}, %[[N:[^:]*]]: index
// ELIMINATE-NOT: svm.move
// ELIMINATE: svm.gather %[[A]][%[[I]]] to %[[B]]
// COUNT-LABEL: func.func @reads
// COUNT: svm.count "bytes main -> main"
// COUNT: svm.count "moves"
// COUNT: svm.move
// COUNT: %[[EXTENT:.*]] = memref.dim %[[B:.*]], %{{.*}}
// COUNT: %[[BYTES:.*]] = arith.muli %[[EXTENT]], %{{.*}}
// COUNT: svm.count "bytes main -> main" by %[[BYTES]]
// COUNT: svm.count "moves"
// COUNT: svm.gather %{{.*}}[%{{.*}}] to %[[B]]
func.func @reads(%a: !row, %i: !list, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.gather %x[%i] to %b : !row[!list] to !row
  }
  return
}

// The array changes between the copy and the gather: by a scatter to it, and by one to what may be it.
// ELIMINATE-LABEL: func.func @changes
// ELIMINATE: svm.move
// ELIMINATE: svm.scatter
// ELIMINATE: svm.gather
func.func @changes(%a: !row, %i: !list, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.scatter %b to %a[%i] : !row to !row[!list]
    svm.gather %x[%i] to %b : !row[!list] to !row
  }
  return
}

// The block is scattered to: what is written there must not reach the array.
// ELIMINATE-LABEL: func.func @private
// ELIMINATE: svm.move
// ELIMINATE: svm.scatter
func.func @private(%a: !row, %i: !list, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    svm.scatter %b to %x[%i] : !row to !row[!list]
  }
  return
}

// A gather that goes on beside its starter may read the block when the array has changed.
// ELIMINATE-LABEL: func.func @beside
// ELIMINATE: svm.move
// ELIMINATE: svm.gather
func.func @beside(%a: !row, %i: !list, %b: !row, %n: index) attributes {svm.control = @core} {
  svm.scope "t" {
    %x = svm.block "x"(%n) : !row
    svm.move %a to %x : !row to !row
    %t = svm.gather %x[%i] to %b : !row[!list] to !row -> !svm.token
  }
  return
}

// HOIST-LABEL: func.func @invariant
// HOIST: svm.move
// HOIST: scf.for
// HOIST-NOT: svm.move
// HOIST: svm.gather
// HOIST: return
func.func @invariant(%n: index, %a: !row, %i: !list, %b: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    svm.scope "t" {
      %x = svm.block "x"(%n) max [16] : !near
      svm.move %a to %x : !row to !near
      svm.gather %x[%i] to %b : !near[!list] to !row
    }
  }
  return
}

// Each iteration gathers from what the one before has scattered.
// HOIST-LABEL: func.func @variant
// HOIST: scf.for
// HOIST: svm.move
// HOIST: svm.scatter
// HOIST: svm.gather
// HOIST: return
func.func @variant(%n: index, %a: !row, %i: !list, %b: !row) attributes {svm.control = @spe} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    svm.scope "t" {
      %x = svm.block "x"(%n) max [16] : !near
      svm.move %a to %x : !row to !near
      svm.scatter %b to %a[%i] : !row to !row[!list]
      svm.gather %x[%i] to %b : !near[!list] to !row
    }
  }
  return
}
}
