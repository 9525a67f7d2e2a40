// Gathers from, to and with indices in a virtual memory, whose blocks are dealt to several memories.
// size: N=40 M=3 K=600
// python: f = lambda N, K: (np.arange(K) * 11) % N
// A: in float32 (N, M) = np.arange(N * M).reshape(N, M)
// I: in int32 (K,) = f(N, K)
// B: inout float32 (N, M) = -np.ones((N, M)) => A + 1
!rows = memref<?x?xf32, strided<[?, 1], offset: ?>>
!list = memref<?xi32, strided<[1], offset: ?>>
module attributes {svm.machine = "cluster", svm.mapping = {windows = {
    control = "front", arguments = ["home", "home", "home"],
    blocks = {a = "space", i = "space", b = "space", far = "space", near = "home"}}}} {
  svm.kernel @increase(%x: !rows {svm.access = "readwrite"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %n = memref.dim %x, %c0 : !rows
    %m = memref.dim %x, %c1 : !rows
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %m step %c1 {
        %v = memref.load %x[%i, %j] : !rows
        %w = arith.addf %v, %one : f32
        memref.store %w, %x[%i, %j] : !rows
      }
    }
    svm.return
  }
  func.func @windows(%a: !rows {svm.name = "A", svm.access = "read"}, %i: !list {svm.name = "I", svm.access = "read"},
                     %b: !rows {svm.name = "B", svm.access = "readwrite"})
      attributes {svm.entry, svm.sizes = ["N", "M", "K"],
                  svm.extents = [affine_map<()[n, m, k] -> (n, m)>, affine_map<()[n, m, k] -> (k)>, affine_map<()[n, m, k] -> (n, m)>]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %a, %c0 : !rows
    %m = memref.dim %a, %c1 : !rows
    %k = memref.dim %i, %c0 : !list
    svm.scope "work" {
      %far = svm.block "far"(%k, %m) max [600, 3] : !rows
      %near = svm.block "near"(%k, %m) max [600, 3] : !rows
      %wa = svm.block "a"(%n, %m) max [40, 3] : !rows
      %wi = svm.block "i"(%k) max [600] : !list
      %wb = svm.block "b"(%n, %m) max [40, 3] : !rows
      svm.move %a to %wa : !rows to !rows
      svm.move %i to %wi : !list to !list
      svm.move %b to %wb : !rows to !rows
      %t = svm.gather %wa[%wi] to %far : !rows[!list] to !rows -> !svm.token
      svm.move %far to %near after(%t) : !rows to !rows
      svm.run @increase(%near) : (!rows) -> ()
      svm.scatter %near to %wb[%wi] : !rows to !rows[!list]
      svm.move %wb to %b : !rows to !rows
    }
    return
  }
}
