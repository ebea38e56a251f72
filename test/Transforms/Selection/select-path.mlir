// How each chip computes each op, and why.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path | FileCheck %s --check-prefix=MMA
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_121f --blockscale-select-path | FileCheck %s --check-prefix=MMA-SYNC
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120f --blockscale-select-path=native-only | FileCheck %s --check-prefix=MMA-SYNC
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90 --blockscale-select-path 2>&1 | FileCheck %s --check-prefix=CONVERT
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_103a --blockscale-select-path 2>&1 | FileCheck %s --check-prefix=TCGEN05

// The example of the pass' description.

// MMA-LABEL:       func.func @mma(
// MMA-SAME:          %[[X:[a-z0-9]+]]: tensor<16x32xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<16x1xf8E8M0FNU>,
// MMA-SAME:          %[[Y:[a-z0-9]+]]: tensor<32x8xf4E2M1FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<1x8xf8E8M0FNU>,
// MMA-SAME:          %[[C:[a-z0-9]+]]: tensor<16x8xf32>) -> tensor<16x8xf32> {
// MMA-NEXT:          %[[D:.*]] = blockscale.mma_scaled %[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[C]] {blockscale.path = #blockscale.path<mma_sync>} : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
// MMA-NEXT:          return %[[D]]
// MMA-SYNC-LABEL:  func.func @mma(
// MMA-SYNC:          #blockscale.path<mma_sync>
// CONVERT-LABEL: func.func @mma(
// CONVERT:         #blockscale.path<dequant_mma>
// TCGEN05-LABEL: func.func @mma(
// TCGEN05:         #blockscale.path<tcgen05>
func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
               %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
               %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// The type combination that no single instruction of PTX 9.0 computes; in a kernel.
// MMA-SYNC-LABEL:  gpu.func @mxfp4_b16(
// MMA-SYNC:          #blockscale.path<mma_sync>
// CONVERT-LABEL: gpu.func @mxfp4_b16(
// CONVERT:         #blockscale.path<dequant_mma>
// TCGEN05-LABEL: gpu.func @mxfp4_b16(
// TCGEN05:         #blockscale.path<dequant_mma>
gpu.module @kernels {
  gpu.func @mxfp4_b16(
      %x: vector<16x64xf4E2M1FN>, %sx: vector<16x4xf8E8M0FNU>,
      %y: vector<64x8xf4E2M1FN>, %sy: vector<4x8xf8E8M0FNU>,
      %c: vector<16x8xf32>) {
    %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
         : vector<16x64xf4E2M1FN>, vector<16x4xf8E8M0FNU>,
           vector<64x8xf4E2M1FN>, vector<4x8xf8E8M0FNU>, vector<16x8xf32>
    gpu.return
  }
}

// There is nothing to choose.
// MMA-SYNC-LABEL: func.func @none(
// MMA-SYNC-NEXT:    return
func.func @none() {
  return
}
