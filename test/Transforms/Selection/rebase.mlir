// Scales of blocks become scales of rows, by the licence to rebase.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-select-path | FileCheck %s

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  // Both operands; y is read where it is, as N x K, and its scales are reshaped.
  // CHECK-LABEL: func @both(
  // CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x320xf8E4M3FN>, %[[XS:[a-z0-9]+]]: tensor<?x10xf8E8M0FNU>,
  // CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<64x320xf4E2M1FN>, %[[WS:[a-z0-9]+]]: tensor<64x10xf8E8M0FNU>,
  // CHECK-DAG:     %[[XR:.*]], %[[XF:.*]] = blockscale.rebase %[[X]], %[[XS]] {block_size = 32 : i64}
  // CHECK-DAG:     %[[WR:.*]], %[[WF:.*]] = blockscale.rebase %[[W]], %[[WS]] {block_size = 32 : i64} : {{.*}} to tensor<64x320xf8E4M3FN>, tensor<64x1xf32>
  // CHECK-DAG:     %[[Y:.*]] = linalg.transpose ins(%[[WR]] : tensor<64x320xf8E4M3FN>)
  // CHECK-DAG:     %[[FLAT:.*]] = tensor.collapse_shape %[[WF]]
  // CHECK-DAG:     %[[YF:.*]] = tensor.expand_shape %[[FLAT]] {{.*}} into tensor<1x64xf32>
  // CHECK:         blockscale.promoted_matmul %[[XR]], %[[Y]], %{{.*}} interval = 128
  // CHECK-SAME:      x_factors(%[[XF]] : tensor<?x1xf32>) <rows = 1, k = all>
  // CHECK-SAME:      y_factors(%[[YF]] : tensor<1x64xf32>) <rows = 1, k = all>
  // CHECK-SAME:      {blockscale.path = #blockscale.path<wgmma>} : tensor<?x320xf8E4M3FN>, tensor<320x64xf8E4M3FN>
  func.func @both(%x: tensor<?x320xf8E4M3FN>, %xs: tensor<?x10xf8E8M0FNU>,
                  %w: tensor<64x320xf4E2M1FN>, %ws: tensor<64x10xf8E8M0FNU>,
                  %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %ey = tensor.empty() : tensor<320x64xf4E2M1FN>
    %y = linalg.transpose ins(%w : tensor<64x320xf4E2M1FN>)
                          outs(%ey : tensor<320x64xf4E2M1FN>) permutation = [1, 0]
    %es = tensor.empty() : tensor<10x64xf8E8M0FNU>
    %ys = linalg.transpose ins(%ws : tensor<64x10xf8E8M0FNU>)
                           outs(%es : tensor<10x64xf8E8M0FNU>) permutation = [1, 0]
    // expected-remark@+2 {{the scales of x and y become one for each row of x and each column of y, and the elements 'f8E4M3FN' and 'f8E4M3FN', by the licence to rebase}}
    // expected-remark@+1 {{coarse scales are factors of whole sums, which are products of fp8 elements}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 128, rebase>}
         : tensor<?x320xf8E4M3FN>, tensor<?x10xf8E8M0FNU>,
           tensor<320x64xf4E2M1FN>, tensor<10x64xf8E8M0FNU>, tensor<?x64xf32>
    return %d : tensor<?x64xf32>
  }

  // Only y; the scales of x stay what they are.
  // CHECK-LABEL: func @weights(
  // CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x320xf8E5M2>, %[[XS:[a-z0-9]+]]: tensor<4x3xf32>,
  // CHECK:         %{{.*}}, %[[WF:.*]] = blockscale.rebase %{{.*}} {block_size = 64 : i64} : tensor<64x320xf6E3M2FN>
  // CHECK:         blockscale.promoted_matmul %[[X]], %{{.*}} interval = 128
  // CHECK-SAME:      x_factors(%[[XS]] : tensor<4x3xf32>) <rows = 1, k = 128>
  // CHECK-SAME:      y_factors(%{{.*}} : tensor<1x64xf32>) <rows = 1, k = all>
  func.func @weights(%x: tensor<4x320xf8E5M2>, %xs: tensor<4x3xf32>,
                     %y: tensor<320x64xf6E3M2FN>, %ys: tensor<5x64xf8E8M0FNU>,
                     %acc: tensor<4x64xf32>) -> tensor<4x64xf32> {
    // expected-remark@+2 {{the scales of y become one for each column of y, and the elements 'f8E5M2' and 'f8E4M3FN', by the licence to rebase}}
    // expected-remark@+1 {{coarse scales are factors of the sums of 128 elements along K, which are products of fp8 elements}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
          y_scale_block = #blockscale.scale_block<rows = 1, k = 64>,
          accumulate = #blockscale.accumulate<chunk = 128, rebase>}
         : tensor<4x320xf8E5M2>, tensor<4x3xf32>, tensor<320x64xf6E3M2FN>,
           tensor<5x64xf8E8M0FNU>, tensor<4x64xf32>
    return %d : tensor<4x64xf32>
  }

  // Without the licence, and with a path of its own, an op stays as it is.
  // CHECK-LABEL: func @stays(
  // CHECK-NOT:     blockscale.rebase
  func.func @stays(%x: tensor<4x64xf8E4M3FN>, %xs: tensor<4x2xf8E8M0FNU>,
                   %y: tensor<64x8xf8E4M3FN>, %ys: tensor<2x8xf8E8M0FNU>,
                   %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-remark@+1 {{no block-scaled instruction on sm_90a; dequantized to bf16}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 128>}
         : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>,
           tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
    %e = blockscale.mma_scaled %x, %xs, %y, %ys, %d
         {accumulate = #blockscale.accumulate<chunk = 128, rebase>,
          blockscale.path = #blockscale.path<decompose>}
         : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>,
           tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
    return %e : tensor<4x8xf32>
  }
}

// -----

// Elsewhere the licence changes nothing.
module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  // CHECK-LABEL: func @native(
  // CHECK-NOT:     blockscale.rebase
  // CHECK:         blockscale.mma_scaled
  func.func @native(%x: tensor<4x64xf8E4M3FN>, %xs: tensor<4x2xf8E8M0FNU>,
                    %y: tensor<64x8xf8E4M3FN>, %ys: tensor<2x8xf8E8M0FNU>,
                    %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 128, rebase>}
         : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>,
           tensor<64x8xf8E4M3FN>, tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
    return %d : tensor<4x8xf32>
  }
}
