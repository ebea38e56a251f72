// Coarse scales of grouped products: factors of sums of elements in bf16, or of fp8 with a licence where the chip has
// such tensor cores; and powers of two, for blocks of instructions.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-select-path | FileCheck %s

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  // CHECK-LABEL: func.func @bf16(
  // CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<9x320xf8E4M3FN>, %[[XS:[a-z0-9]+]]: tensor<9x3xf32>,
  // CHECK-SAME:    %{{.*}}: tensor<4x320x576xf8E4M3FN>, %[[YS:[a-z0-9]+]]: tensor<4x3x5xf32>, %[[O:[a-z0-9]+]]: tensor<4xi32>,
  // CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<?x576xf32>, %[[R:[a-z0-9]+]]: tensor<?xi32>, %[[S:[a-z0-9]+]]: tensor<4xf32>,
  // CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<4x576xf32>
  // CHECK-DAG:     cf.assert {{.*}}expected offsets to ascend from 0 to at most T
  // CHECK-DAG:     cf.assert {{.*}}expected rows from -1 to R - 1
  // CHECK-DAG:     %[[XV:.*]] = blockscale.dequantize %[[X]], %{{.*}} to tensor<9x320xbf16>
  // CHECK-DAG:     %[[YV:.*]] = blockscale.dequantize %{{.*}} to tensor<4x576x320xbf16>
  // CHECK:         %[[YT:.*]] = linalg.transpose ins(%[[YV]]
  // CHECK:         %[[D:.*]] = blockscale.promoted_matmul %[[XV]], %[[YT]], %[[ACC]] interval = 128
  // CHECK-SAME:      x_factors(%[[XS]] : tensor<9x3xf32>) <rows = 1, k = 128>
  // CHECK-SAME:      y_factors(%[[YS]] : tensor<4x3x5xf32>) <rows = 128, k = 128>
  // CHECK-SAME:      offsets(%[[O]] : tensor<4xi32>) rows(%[[R]] : tensor<?xi32>) group_scale(%[[S]] : tensor<4xf32>) bias(%[[B]] : tensor<4x576xf32>)
  // CHECK-SAME:      {blockscale.path = #blockscale.path<wgmma>}
  // CHECK:         return %[[D]]
  func.func @bf16(%x: tensor<9x320xf8E4M3FN>, %xs: tensor<9x3xf32>, %y: tensor<4x320x576xf8E4M3FN>, %ys: tensor<4x3x5xf32>,
                  %o: tensor<4xi32>, %acc: tensor<?x576xf32>, %r: tensor<?xi32>, %s: tensor<4xf32>,
                  %b: tensor<4x576xf32>) -> tensor<?x576xf32> {
    // expected-remark@+1 {{coarse scales are factors of the sums of 128 elements along K, which are products of bf16 elements}}
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc rows(%r : tensor<?xi32>)
         group_scale(%s : tensor<4xf32>) bias(%b : tensor<4x576xf32>)
         : tensor<9x320xf8E4M3FN>, tensor<9x3xf32>, tensor<4x320x576xf8E4M3FN>, tensor<4x3x5xf32>, tensor<4xi32>, tensor<?x576xf32>
    return %d : tensor<?x576xf32>
  }

  // Scales of whole rows are factors of whole sums: those of y are of a group.
  // CHECK-LABEL: func.func @licensed_rows(
  // CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<6x320xf8E4M3FN>, %{{.*}}, %[[Y:[a-z0-9]+]]: tensor<4x320x64xf8E5M2>,
  // CHECK-NOT:     cf.assert
  // CHECK:         blockscale.promoted_matmul %[[X]], %[[Y]], %{{.*}} interval = 128
  // CHECK-SAME:      x_factors(%{{.*}}) <rows = 1, k = all> y_factors(%{{.*}}) <rows = 1, k = all> offsets(
  // CHECK-SAME:      {blockscale.path = #blockscale.path<wgmma>}
  func.func @licensed_rows(%x: tensor<6x320xf8E4M3FN>, %xs: tensor<6x1xf32>, %y: tensor<4x320x64xf8E5M2>,
                           %ys: tensor<4x1x64xf32>, %o: tensor<4xi32>, %acc: tensor<6x64xf32>) -> tensor<6x64xf32> {
    // expected-remark@+1 {{coarse scales are factors of whole sums, which are products of fp8 elements}}
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc
         {legal_groups, accumulate = #blockscale.accumulate<chunk = 128>}
         : tensor<6x320xf8E4M3FN>, tensor<6x1xf32>, tensor<4x320x64xf8E5M2>, tensor<4x1x64xf32>, tensor<4xi32>, tensor<6x64xf32>
    return %d : tensor<6x64xf32>
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_100a>} {
  // CHECK-LABEL: func.func @powers(
  // CHECK:         %[[XS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6x10xf8E8M0FNU>)
  // CHECK:         %[[YS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x10x64xf8E8M0FNU>)
  // CHECK:         blockscale.grouped_mma_scaled %{{.*}}, %[[XS]], %{{.*}}, %[[YS]], %{{.*}}, %{{.*}} bias(
  // CHECK-SAME:      block_size = 32 : i64
  // CHECK-SAME:      blockscale.path = #blockscale.path<tcgen05>
  func.func @powers(%x: tensor<6x320xf8E4M3FN>, %xs: tensor<6x3xf8E8M0FNU>, %y: tensor<4x320x64xf8E5M2>,
                    %ys: tensor<4x3x1xf8E8M0FNU>, %o: tensor<4xi32>, %acc: tensor<6x64xf32>,
                    %b: tensor<4x64xf32>) -> tensor<6x64xf32> {
    // expected-remark@+1 {{coarse scales that are powers of two are repeated for blocks of 32 elements}}
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc bias(%b : tensor<4x64xf32>)
         {y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
         : tensor<6x320xf8E4M3FN>, tensor<6x3xf8E8M0FNU>, tensor<4x320x64xf8E5M2>, tensor<4x3x1xf8E8M0FNU>, tensor<4xi32>, tensor<6x64xf32>
    return %d : tensor<6x64xf32>
  }

  // CHECK-LABEL: func.func @others(
  // CHECK:         blockscale.promoted_matmul {{.*}} interval = 64
  // CHECK-SAME:      {blockscale.path = #blockscale.path<dequant_mma>}
  func.func @others(%x: tensor<6x320xf8E4M3FN>, %xs: tensor<6x5xf32>, %y: tensor<4x320x64xf8E5M2>,
                    %ys: tensor<4x3x64xf8E8M0FNU>, %o: tensor<4xi32>, %acc: tensor<6x64xf32>) -> tensor<6x64xf32> {
    // expected-remark@+1 {{coarse scales are factors of the sums of 64 elements along K, which are products of bf16 elements}}
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc
         : tensor<6x320xf8E4M3FN>, tensor<6x5xf32>, tensor<4x320x64xf8E5M2>, tensor<4x3x64xf8E8M0FNU>, tensor<4xi32>, tensor<6x64xf32>
    return %d : tensor<6x64xf32>
  }
}
