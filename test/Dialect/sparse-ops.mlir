// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt --mlir-print-op-generic %s | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func @sparse_mma_scaled(
// CHECK: blockscale.sparse_mma_scaled %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {granularity = #blockscale.granularity<2:4>}
// CHECK-SAME: : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
func.func @sparse_mma_scaled(%x: tensor<4x64xf8E4M3FN>, %m: tensor<4x16xi8>, %xs: tensor<4x2xf8E8M0FNU>,
                             %y: tensor<128x8xf8E5M2>, %ys: tensor<2x8xf8E8M0FNU>, %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : tensor<4x64xf8E4M3FN>, tensor<4x16xi8>, tensor<4x2xf8E8M0FNU>, tensor<128x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @dynamic_batch(
// CHECK: blockscale.sparse_mma_scaled {{.*}} {block_size = 32 : i64, granularity = #blockscale.granularity<pairs>}
func.func @dynamic_batch(%x: tensor<?x?x?xf4E2M1FN>, %m: tensor<?x?x?xi8>, %xs: tensor<?x?x?xf8E4M3FN>,
                         %y: tensor<?x?xf4E2M1FN>, %ys: tensor<?x?xf8E4M3FN>, %acc: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<pairs>, block_size = 32}
      : tensor<?x?x?xf4E2M1FN>, tensor<?x?x?xi8>, tensor<?x?x?xf8E4M3FN>, tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN>, tensor<?x?x?xf32>
  return %d : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @vectors(
// CHECK: blockscale.sparse_mma_scaled {{.*}} : vector<4x32xf6E3M2FN>, vector<4x8xi8>, vector<4x1xf8E8M0FNU>, vector<64x8xf6E2M3FN>, vector<1x8xf8E8M0FNU>, vector<4x8xf32>
func.func @vectors(%x: vector<4x32xf6E3M2FN>, %m: vector<4x8xi8>, %xs: vector<4x1xf8E8M0FNU>,
                   %y: vector<64x8xf6E2M3FN>, %ys: vector<1x8xf8E8M0FNU>, %acc: vector<4x8xf32>) -> vector<4x8xf32> {
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %acc {granularity = #blockscale.granularity<2:4>}
      : vector<4x32xf6E3M2FN>, vector<4x8xi8>, vector<4x1xf8E8M0FNU>, vector<64x8xf6E2M3FN>, vector<1x8xf8E8M0FNU>, vector<4x8xf32>
  return %d : vector<4x8xf32>
}

// CHECK-LABEL: func.func @compressed(
// CHECK: blockscale.sparsify %{{.*}} {granularity = #blockscale.granularity<pairs>} : tensor<?x?xbf16>
// CHECK: blockscale.compress %{{.*}} {granularity = #blockscale.granularity<2:4>} : tensor<?x64xf4E2M1FN> to tensor<?x32xf4E2M1FN>, tensor<?x8xi8>
// CHECK: blockscale.decompress %{{.*}}, %{{.*}} {granularity = #blockscale.granularity<2:4>} : tensor<?x32xf4E2M1FN>, tensor<?x8xi8> to tensor<?x64xf4E2M1FN>
func.func @compressed(%v: tensor<?x?xbf16>, %d: tensor<?x64xf4E2M1FN>) -> (tensor<?x?xbf16>, tensor<?x64xf4E2M1FN>) {
  %s = blockscale.sparsify %v {granularity = #blockscale.granularity<pairs>} : tensor<?x?xbf16>
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<2:4>}
      : tensor<?x64xf4E2M1FN> to tensor<?x32xf4E2M1FN>, tensor<?x8xi8>
  %r = blockscale.decompress %x, %m {granularity = #blockscale.granularity<2:4>}
      : tensor<?x32xf4E2M1FN>, tensor<?x8xi8> to tensor<?x64xf4E2M1FN>
  return %s, %r : tensor<?x?xbf16>, tensor<?x64xf4E2M1FN>
}

// CHECK-LABEL: func.func @tiled(
// CHECK: blockscale.tile_metadata %{{.*}} : tensor<2x300x36xi8> to tensor<2x3x3x128x16xi8>
// CHECK: blockscale.untile_metadata %{{.*}} sizes(%{{.*}}) : tensor<2x3x3x128x16xi8> to tensor<2x?x36xi8>
// CHECK: blockscale.tile_metadata %{{.*}} : vector<4x8xi8> to vector<1x1x128x16xi8>
func.func @tiled(%m: tensor<2x300x36xi8>, %v: vector<4x8xi8>, %rows: index) -> (tensor<2x?x36xi8>, vector<1x1x128x16xi8>) {
  %t = blockscale.tile_metadata %m : tensor<2x300x36xi8> to tensor<2x3x3x128x16xi8>
  %u = blockscale.untile_metadata %t sizes(%rows) : tensor<2x3x3x128x16xi8> to tensor<2x?x36xi8>
  %w = blockscale.tile_metadata %v : vector<4x8xi8> to vector<1x1x128x16xi8>
  return %u, %w : tensor<2x?x36xi8>, vector<1x1x128x16xi8>
}
