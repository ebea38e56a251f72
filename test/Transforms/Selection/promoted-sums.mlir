// Coarse scales that are factors of sums: of elements in bf16, or of fp8 with a
// licence where the chip has such tensor cores.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-select-path | FileCheck %s

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  // CHECK-LABEL: func @bf16(
  // CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x320xf8E4M3FN>, %[[XS:[a-z0-9]+]]: tensor<?x3xf32>,
  // CHECK-SAME:    %{{.*}}: tensor<320x576xf8E4M3FN>, %[[YS:[a-z0-9]+]]: tensor<3x5xf32>, %[[ACC:[a-z0-9]+]]:
  // CHECK-DAG:     %[[XV:.*]] = blockscale.dequantize %[[X]], %{{.*}} {block_size = 32 : i64} : {{.*}} to tensor<?x320xbf16>
  // CHECK-DAG:     %[[YV:.*]] = blockscale.dequantize %{{.*}} to tensor<576x320xbf16>
  // CHECK:         %[[YT:.*]] = linalg.transpose ins(%[[YV]]
  // CHECK:         %[[D:.*]] = blockscale.promoted_matmul %[[X:.*]], %[[YT]], %[[ACC]] interval = 128
  // CHECK-SAME:      x_factors(%[[XS]] : tensor<?x3xf32>) <rows = 1, k = 128>
  // CHECK-SAME:      y_factors(%[[YS]] : tensor<3x5xf32>) <rows = 128, k = 128>
  // CHECK-SAME:      {blockscale.path = #blockscale.path<wgmma>}
  // CHECK:         return %[[D]]
  func.func @bf16(%x: tensor<?x320xf8E4M3FN>, %xs: tensor<?x3xf32>,
                  %y: tensor<320x576xf8E4M3FN>, %ys: tensor<3x5xf32>,
                  %acc: tensor<?x576xf32>) -> tensor<?x576xf32> {
    // expected-remark@+1 {{coarse scales are factors of the sums of 128 elements along K, which are products of bf16 elements}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
         : tensor<?x320xf8E4M3FN>, tensor<?x3xf32>, tensor<320x576xf8E4M3FN>,
           tensor<3x5xf32>, tensor<?x576xf32>
    return %d : tensor<?x576xf32>
  }

  // Blocks of 32 have no kernel of wgmma. K = 200 is no whole block of a
  // dequantize.
  // CHECK-LABEL: func @fine(
  // CHECK:         arith.extf %{{.*}} : f8E4M3FN to bf16
  // CHECK:         arith.extf %{{.*}} : f8E4M3FN to bf16
  // CHECK:         blockscale.promoted_matmul {{.*}} interval = 32
  // CHECK-SAME:      {blockscale.path = #blockscale.path<dequant_mma>}
  func.func @fine(%x: tensor<4x200xf8E4M3FN>, %xs: tensor<4x2xf32>,
                  %y: tensor<200x64xf8E4M3FN>, %ys: tensor<7x64xf32>,
                  %acc: tensor<4x64xf32>) -> tensor<4x64xf32> {
    // expected-remark@+1 {{coarse scales are factors of the sums of 32 elements along K, which are products of bf16 elements}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
          y_scale_block = #blockscale.scale_block<rows = 1, k = 32>}
         : tensor<4x200xf8E4M3FN>, tensor<4x2xf32>, tensor<200x64xf8E4M3FN>,
           tensor<7x64xf32>, tensor<4x64xf32>
    return %d : tensor<4x64xf32>
  }

  // CHECK-LABEL: func @licensed(
  // CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x320xf8E4M3FN>, %{{.*}}, %[[Y:[a-z0-9]+]]: tensor<320x64xf8E5M2>,
  // CHECK:         blockscale.promoted_matmul %[[X]], %[[Y]], %{{.*}} interval = 128
  // CHECK-SAME:      {blockscale.path = #blockscale.path<wgmma>}
  func.func @licensed(%x: tensor<4x320xf8E4M3FN>, %xs: tensor<4x3xf32>,
                      %y: tensor<320x64xf8E5M2>, %ys: tensor<3x64xf32>,
                      %acc: tensor<4x64xf32>) -> tensor<4x64xf32> {
    // expected-remark@+1 {{coarse scales are factors of the sums of 128 elements along K, which are products of fp8 elements}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
          y_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
          accumulate = #blockscale.accumulate<chunk = 128>}
         : tensor<4x320xf8E4M3FN>, tensor<4x3xf32>, tensor<320x64xf8E5M2>,
           tensor<3x64xf32>, tensor<4x64xf32>
    return %d : tensor<4x64xf32>
  }

  // Scales of whole rows are factors of whole sums.
  // CHECK-LABEL: func @rows(
  // CHECK:         blockscale.promoted_matmul %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9_]+}} interval = 128
  // CHECK-SAME:      x_factors({{.*}}) <rows = 1, k = all> y_factors({{.*}}) <rows = 1, k = all>
  // CHECK-NOT:     linalg.generic
  // CHECK:         return
  func.func @rows(%x: tensor<4x?xf8E4M3FN>, %xs: tensor<4x1xf32>,
                  %y: tensor<?x64xf8E4M3FN>, %ys: tensor<1x64xf32>,
                  %acc: tensor<4x64xf32>) -> tensor<4x64xf32> {
    // expected-remark@+1 {{coarse scales are factors of whole sums, which are products of fp8 elements}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = all>,
          y_scale_block = #blockscale.scale_block<rows = 1, k = all>,
          accumulate = #blockscale.accumulate<chunk = 128>}
         : tensor<4x?xf8E4M3FN>, tensor<4x1xf32>, tensor<?x64xf8E4M3FN>,
           tensor<1x64xf32>, tensor<4x64xf32>
    return %d : tensor<4x64xf32>
  }

  // A licence for shorter chunks is none for these instructions.
  // CHECK-LABEL: func @short(
  // CHECK:         blockscale.promoted_matmul {{.*}} : tensor<4x320xbf16>, tensor<320x64xbf16>,
  func.func @short(%x: tensor<4x320xf8E4M3FN>, %xs: tensor<4x3xf32>,
                   %y: tensor<320x64xf8E4M3FN>, %ys: tensor<3x64xf32>,
                   %acc: tensor<4x64xf32>) -> tensor<4x64xf32> {
    // expected-remark@+1 {{which are products of bf16 elements}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
          y_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
          accumulate = #blockscale.accumulate<chunk = 64>}
         : tensor<4x320xf8E4M3FN>, tensor<4x3xf32>, tensor<320x64xf8E4M3FN>,
           tensor<3x64xf32>, tensor<4x64xf32>
    return %d : tensor<4x64xf32>
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_100a>} {
  // CHECK-LABEL: func @elsewhere(
  // CHECK:         blockscale.promoted_matmul {{.*}} : tensor<4x320xbf16>, tensor<320x64xbf16>,
  func.func @elsewhere(%x: tensor<4x320xf8E4M3FN>, %xs: tensor<4x3xf32>,
                       %y: tensor<320x64xf8E4M3FN>, %ys: tensor<3x64xf32>,
                       %acc: tensor<4x64xf32>) -> tensor<4x64xf32> {
    // expected-remark@+1 {{which are products of bf16 elements}}
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
          y_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
          accumulate = #blockscale.accumulate<chunk = 128>}
         : tensor<4x320xf8E4M3FN>, tensor<4x3xf32>, tensor<320x64xf8E4M3FN>,
           tensor<3x64xf32>, tensor<4x64xf32>
    return %d : tensor<4x64xf32>
  }
}
