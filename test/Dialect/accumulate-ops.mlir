// The licence of a product's sums: text forms, and that rewrites keep it.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --canonicalize | FileCheck %s --check-prefix=CANON

// CHECK-LABEL: func @chunk(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      {accumulate = #blockscale.accumulate<chunk = 128>}
// CHECK-SAME:      : tensor<16x128xf8E4M3FN>
func.func @chunk(%x: tensor<16x128xf8E4M3FN>, %x_scale: tensor<16x4xf8E8M0FNU>,
                 %y: tensor<128x8xf8E5M2>, %y_scale: tensor<4x8xf8E8M0FNU>,
                 %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {accumulate = #blockscale.accumulate<chunk = 128>}
       : tensor<16x128xf8E4M3FN>, tensor<16x4xf8E8M0FNU>,
         tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// No fp8 tensor core computes it: the licence is legal, and nobody uses it.

// CHECK-LABEL: func @narrow(
// CHECK:         {accumulate = #blockscale.accumulate<chunk = 32, rebase>}
// CHECK-SAME:      : vector<16x64xf4E2M1FN>
func.func @narrow(%x: vector<16x64xf4E2M1FN>, %x_scale: vector<16x4xf8E4M3FN>,
                  %y: vector<64x8xf4E2M1FN>, %y_scale: vector<4x8xf8E4M3FN>,
                  %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {accumulate = #blockscale.accumulate<chunk = 32, rebase>}
       : vector<16x64xf4E2M1FN>, vector<16x4xf8E4M3FN>,
         vector<64x8xf4E2M1FN>, vector<4x8xf8E4M3FN>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// Blocks become a block_size.

// CHECK-LABEL: func @coarse(
// CHECK:         {accumulate = #blockscale.accumulate<chunk = 64, rebase>, x_scale_block
// CANON-LABEL: func @coarse(
// CANON:         {accumulate = #blockscale.accumulate<chunk = 64, rebase>, block_size = 32 : i64}
func.func @coarse(%x: tensor<16x128xf8E4M3FN>, %x_scale: tensor<16x4xf8E8M0FNU>,
                  %y: tensor<128x8xf8E4M3FN>, %y_scale: tensor<4x8xf8E8M0FNU>,
                  %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 32>,
        y_scale_block = #blockscale.scale_block<rows = 1, k = 32>,
        accumulate = #blockscale.accumulate<chunk = 64, rebase>}
       : tensor<16x128xf8E4M3FN>, tensor<16x4xf8E8M0FNU>,
         tensor<128x8xf8E4M3FN>, tensor<4x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func @grouped(
// CHECK:         blockscale.grouped_mma_scaled
// CHECK-SAME:      {accumulate = #blockscale.accumulate<chunk = 128, rebase>, legal_groups}
func.func @grouped(%x: tensor<8x64xf8E4M3FN>, %xs: tensor<8x2xf8E8M0FNU>,
                   %y: tensor<2x64x8xf8E4M3FN>, %ys: tensor<2x2x8xf8E8M0FNU>,
                   %offsets: tensor<2xi32>, %acc: tensor<8x8xf32>)
    -> tensor<8x8xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %offsets, %acc
       {accumulate = #blockscale.accumulate<chunk = 128, rebase>, legal_groups}
       : tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>,
         tensor<2x64x8xf8E4M3FN>, tensor<2x2x8xf8E8M0FNU>, tensor<2xi32>,
         tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
