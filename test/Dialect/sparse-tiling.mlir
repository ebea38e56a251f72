// Tiling of ops on sparse operands with the transform dialect.

// RUN: blockscale-opt %s --transform-interpreter --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG:   #[[$HALF:.*]] = affine_map<(d0) -> (d0 floordiv 2)>
// CHECK-DAG:   #[[$BYTE:.*]] = affine_map<(d0) -> (d0 floordiv 8)>
// CHECK-DAG:   #[[$BLOCK:.*]] = affine_map<(d0) -> (d0 floordiv 64)>
// CHECK-LABEL: func.func @product(
// CHECK:         scf.for %[[M:.*]] = %c0 to %c32 step %c16
// CHECK:           scf.for %[[K:.*]] = %c0 to %c256 step %c128
// CHECK-DAG:         %[[HALF:.*]] = affine.apply #[[$HALF]](%[[K]])
// CHECK-DAG:         tensor.extract_slice %{{.*}}[%[[M]], %[[HALF]]] [16, 64] [1, 1] : tensor<32x128xf8E4M3FN>
// CHECK-DAG:         %[[BYTE:.*]] = affine.apply #[[$BYTE]](%[[K]])
// CHECK-DAG:         tensor.extract_slice %{{.*}}[%[[M]], %[[BYTE]]] [16, 16] [1, 1] : tensor<32x32xi8>
// CHECK-DAG:         %[[BLOCK:.*]] = affine.apply #[[$BLOCK]](%[[K]])
// CHECK-DAG:         tensor.extract_slice %{{.*}}[%[[M]], %[[BLOCK]]] [16, 2] [1, 1] : tensor<32x4xf8E8M0FNU>
// CHECK-DAG:         tensor.extract_slice %{{.*}}[%[[K]], 0] [128, 8] [1, 1] : tensor<256x8xf8E5M2>
// CHECK-DAG:         tensor.extract_slice %{{.*}}[%[[BLOCK]], 0] [2, 8] [1, 1] : tensor<4x8xf8E8M0FNU>
// CHECK:             blockscale.sparse_mma_scaled {{.*}} {block_size = 64 : i64, granularity = #blockscale.granularity<2:4>, legal_metadata}
module attributes {transform.with_named_sequence} {
  func.func @product(%x: tensor<32x128xf8E4M3FN>, %m: tensor<32x32xi8>, %xs: tensor<32x4xf8E8M0FNU>,
                     %y: tensor<256x8xf8E5M2>, %ys: tensor<4x8xf8E8M0FNU>, %acc: tensor<32x8xf32>) -> tensor<32x8xf32> {
    %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>, legal_metadata}
        : tensor<32x128xf8E4M3FN>, tensor<32x32xi8>, tensor<32x4xf8E8M0FNU>, tensor<256x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<32x8xf32>
    return %d : tensor<32x8xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.sparse_mma_scaled"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 0, 128]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @cut(%x: tensor<32x128xf8E4M3FN>, %m: tensor<32x32xi8>, %xs: tensor<32x4xf8E8M0FNU>,
                 %y: tensor<256x8xf8E5M2>, %ys: tensor<4x8xf8E8M0FNU>, %acc: tensor<32x8xf32>) -> tensor<32x8xf32> {
    // expected-error @+3 {{expected the offset and the size of a tile along K to be multiples of the block size, 64}}
    // expected-error @+2 {{tile operation}}
    // expected-error @+1 {{failed to generate tiling loops}}
    %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
        : tensor<32x128xf8E4M3FN>, tensor<32x32xi8>, tensor<32x4xf8E8M0FNU>, tensor<256x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<32x8xf32>
    return %d : tensor<32x8xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.sparse_mma_scaled"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops = transform.structured.tile_using_for %op tile_sizes [0, 0, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @compress(
// CHECK:         scf.for %[[M:.*]] = %c0 to %c96 step %c32
// CHECK:           scf.for %[[K:.*]] = %c0 to %c256 step %c64
// CHECK:             %[[TILE:.*]] = tensor.extract_slice %{{.*}}[%[[M]], %[[K]]] [32, 64] [1, 1]
// CHECK:             %[[X:.*]], %[[META:.*]] = blockscale.compress %[[TILE]] {granularity = #blockscale.granularity<pairs>}
// CHECK-SAME:          : tensor<32x64xf4E2M1FN> to tensor<32x32xf4E2M1FN>, tensor<32x4xi8>
// CHECK-DAG:         %[[HALF:.*]] = affine.apply #{{.*}}(%[[K]])
// CHECK-DAG:         tensor.insert_slice %[[X]] into %{{.*}}[%[[M]], %[[HALF]]] [32, 32] [1, 1]
// CHECK-DAG:         tensor.insert_slice %[[META]] into %{{.*}} [32, 4] [1, 1]
module attributes {transform.with_named_sequence} {
  func.func @compress(%d: tensor<96x256xf4E2M1FN>) -> (tensor<96x128xf4E2M1FN>, tensor<96x16xi8>) {
    %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<pairs>}
        : tensor<96x256xf4E2M1FN> to tensor<96x128xf4E2M1FN>, tensor<96x16xi8>
    return %x, %m : tensor<96x128xf4E2M1FN>, tensor<96x16xi8>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.compress"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %op tile_sizes [32, 64]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Decompression and sparsification of a tile, from its use.
// CHECK-LABEL: func.func @fused(
// CHECK:         scf.for %[[M:.*]] = %c0 to %c96 step %c32
// CHECK:           tensor.extract_slice %{{.*}}[%[[M]], 0] [32, 128] [1, 1] : tensor<96x128xf8E4M3FN>
// CHECK:           tensor.extract_slice %{{.*}}[%[[M]], 0] [32, 32] [1, 1] : tensor<96x32xi8>
// CHECK:           blockscale.decompress %{{.*}} : tensor<32x128xf8E4M3FN>, tensor<32x32xi8> to tensor<32x256xf8E4M3FN>
// CHECK:           blockscale.dequantize
module attributes {transform.with_named_sequence} {
  func.func @fused(%x: tensor<96x128xf8E4M3FN>, %m: tensor<96x32xi8>, %s: tensor<96x8xf8E8M0FNU>) -> tensor<96x256xf32> {
    %d = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>}
        : tensor<96x128xf8E4M3FN>, tensor<96x32xi8> to tensor<96x256xf8E4M3FN>
    %r = blockscale.dequantize %d, %s : tensor<96x256xf8E4M3FN>, tensor<96x8xf8E8M0FNU> to tensor<96x256xf32>
    return %r : tensor<96x256xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.dequantize"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.fuse %op tile_sizes [32, 0] {apply_cleanup}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @cut_chunk(%v: tensor<4x64xf32>) -> tensor<4x64xf32> {
    // expected-error @+3 {{expected the offset and the size of a tile along K to be multiples of the elements of a chunk, 4}}
    // expected-error @+2 {{tile operation}}
    // expected-error @+1 {{failed to generate tiling loops}}
    %s = blockscale.sparsify %v {granularity = #blockscale.granularity<2:4>} : tensor<4x64xf32>
    return %s : tensor<4x64xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.sparsify"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 6] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
