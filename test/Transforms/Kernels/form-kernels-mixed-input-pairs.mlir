// Pairs of columns in all kernels that a product of groups with a dequantized y may get: those for few and for many rows,
// and the one that computes anew what bf16 does not hold.

// RUN: blockscale-opt %s --blockscale-attach-target="target=sm_90a" --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @gated(
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x32xf32>
// CHECK-COUNT-5: blockscale.launch @kernels::@gated__grouped_matmul
// CHECK:         %[[R:.*]] = blockscale.launch @kernels::@gated__exact_recomputation {{.*}} updates outs(%{{.*}} : tensor<?x32xf32>)
// CHECK-NEXT:    %[[BLOCKS:.*]] = tensor.expand_shape %[[R]]
// CHECK-NEXT:    return %[[BLOCKS]]

// CHECK:       gpu.func @gated__grouped_matmul(
// CHECK:         blockscale.acc_for_each {{.*}} pairs {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: index, %{{.*}}: index):
// CHECK:       gpu.func @gated__grouped_matmul_0(
// CHECK:         blockscale.acc_for_each {{.*}} pairs {
// CHECK:       gpu.func @gated__grouped_matmul_3(
// CHECK:         blockscale.acc_for_each {{.*}} pairs {
// CHECK:       gpu.func @gated__exact_recomputation(
// CHECK:         blockscale.acc_for_each {{.*}} pairs {
#gate = affine_map<(t, b, c) -> (t, b, 0, c)>
#up = affine_map<(t, b, c) -> (t, b, 1, c)>
#id = affine_map<(t, b, c) -> (t, b, c)>
func.func @gated(%x: tensor<?x128xbf16>, %c: tensor<5x64x128xf4E2M1FN>, %s: tensor<5x64x4xf8E8M0FNU>, %o: tensor<5xi32>, %acc: tensor<?x64xf32>)
    -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : tensor<?x64xf32>
  %w = blockscale.dequantize %c, %s : tensor<5x64x128xf4E2M1FN>, tensor<5x64x4xf8E8M0FNU> to tensor<5x64x128xbf16>
  %i = tensor.empty() : tensor<5x128x64xbf16>
  %y = linalg.transpose ins(%w : tensor<5x64x128xbf16>) outs(%i : tensor<5x128x64xbf16>) permutation = [0, 2, 1]
  %d = blockscale.grouped_matmul %x, %y, %o, %acc
      : tensor<?x128xbf16>, tensor<5x128x64xbf16>, tensor<5xi32>, tensor<?x64xf32>
  %p = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%t, 4, 2, 8] : tensor<?x64xf32> into tensor<?x4x2x8xf32>
  %e = tensor.empty(%t) : tensor<?x4x8xf32>
  %h = linalg.generic {indexing_maps = [#gate, #up, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %p : tensor<?x4x2x8xf32>, tensor<?x4x2x8xf32>) outs(%e : tensor<?x4x8xf32>) {
  ^bb0(%gate: f32, %up: f32, %old: f32):
    %v = arith.mulf %gate, %up : f32
    linalg.yield %v : f32
  } -> tensor<?x4x8xf32>
  return %h : tensor<?x4x8xf32>
}
