// Coarse scales that are products of every path after an exact rewrite.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-select-path | FileCheck %s

// Powers of two are repeated: 128 x 128 for 4 blocks of 32, one for a row.

// CHECK-DAG:   #[[$BLOCKS:.*]] = affine_map<(d0, d1) -> (d0 floordiv 4, d1 floordiv 128)>
// CHECK-DAG:   #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func @powers(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x256xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<4x1xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<256x300xf8E4M3FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<2x3xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<4x300xf32>)
// CHECK:         %[[XS:.*]] = linalg.generic {indexing_maps = [#[[$ROW]], {{.*}} ins(%[[X_SCALE]] : {{.*}} outs(%{{.*}} : tensor<4x8xf8E8M0FNU>)
// CHECK:         %[[YS:.*]] = linalg.generic {indexing_maps = [#[[$BLOCKS]], {{.*}} ins(%[[Y_SCALE]] : {{.*}} outs(%{{.*}} : tensor<8x300xf8E8M0FNU>)
// CHECK:         %[[D:.*]] = blockscale.mma_scaled %[[X]], %[[XS]], %[[Y]], %[[YS]], %[[ACC]] {block_size = 32 : i64, blockscale.path = #blockscale.path<tcgen05>}
// CHECK:         return %[[D]]
module attributes {blockscale.target = #blockscale.target<sm_100a>} {
  func.func @powers(%x: tensor<4x256xf8E4M3FN>, %x_scale: tensor<4x1xf8E8M0FNU>,
                    %y: tensor<256x300xf8E4M3FN>,
                    %y_scale: tensor<2x3xf8E8M0FNU>,
                    %acc: tensor<4x300xf32>) -> tensor<4x300xf32> {
    // expected-remark@+1 {{coarse scales that are powers of two are repeated for blocks of 32 elements}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = all>}
         : tensor<4x256xf8E4M3FN>, tensor<4x1xf8E8M0FNU>,
           tensor<256x300xf8E4M3FN>, tensor<2x3xf8E8M0FNU>, tensor<4x300xf32>
    return %d : tensor<4x300xf32>
  }
}

// -----

// Scales of whole rows are factors of the result, in f64.

// CHECK-LABEL: func @rows(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x256xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<?x1xf32>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<256x300xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<1x300xf32>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<?x300xf32>)
// CHECK-DAG:     %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<?x300xf32>
// CHECK-DAG:     %[[X_ONES:.*]] = linalg.fill {{.*}} -> tensor<?x8xf8E8M0FNU>
// CHECK-DAG:     %[[Y_ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<8x300xf8E8M0FNU>
// CHECK:         %[[P:.*]] = blockscale.mma_scaled %[[X]], %[[X_ONES]], %[[Y]], %[[Y_ONES]], %[[ZEROS]]
// CHECK:         linalg.generic {{.*}} ins(%[[P]], %[[X_SCALE]], %[[Y_SCALE]], %[[ACC]] :
// CHECK:           %[[SCALE:.*]] = arith.mulf %{{.*}}, %{{.*}} : f64
// CHECK:           %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]] : f64
// CHECK:           %[[SUM:.*]] = arith.addf %{{.*}}, %[[SCALED]] : f64
// CHECK:           arith.truncf %[[SUM]] : f64 to f32
module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  func.func @rows(%x: tensor<?x256xf8E4M3FN>, %x_scale: tensor<?x1xf32>,
                  %y: tensor<256x300xf8E5M2>, %y_scale: tensor<1x300xf32>,
                  %acc: tensor<?x300xf32>) -> tensor<?x300xf32> {
    // expected-remark@+1 {{coarse scales of whole rows are factors of the result of a product with scales of 1 for blocks of 32 elements}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = all>,
          y_scale_block = #blockscale.scale_block<rows = 1, k = all>}
         : tensor<?x256xf8E4M3FN>, tensor<?x1xf32>, tensor<256x300xf8E5M2>,
           tensor<1x300xf32>, tensor<?x300xf32>
    return %d : tensor<?x300xf32>
  }
}

// -----

// A block_size in other words needs no new scales.

// CHECK-LABEL: func @fine(
// CHECK-NOT:     linalg.generic
// CHECK:         blockscale.mma_scaled {{.*}} {block_size = 32 : i64, blockscale.path = #blockscale.path<mma_sync>}
module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  func.func @fine(%x: tensor<4x64xf8E4M3FN>, %x_scale: tensor<4x2xf8E8M0FNU>,
                  %y: tensor<64x8xf8E4M3FN>, %y_scale: tensor<2x8xf8E8M0FNU>,
                  %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 32>}
         : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>,
           tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
    return %d : tensor<4x8xf32>
  }
}
