// An op with a path keeps it, if the chip has that path.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path 2>&1 | FileCheck %s
// RUN: not blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path=native-only 2>&1 | FileCheck %s --check-prefix=NATIVE
// RUN: sed s/path\<decompose/path\<mma_sync/ %s | not blockscale-opt --blockscale-attach-target=target=sm_90 --blockscale-select-path 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed s/path\<decompose/path\<dequant_mma/ %s | blockscale-opt --blockscale-attach-target=target=sm_100a --blockscale-select-path 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: sed s/#blockscale.path.decompose./1/ %s | not blockscale-opt --blockscale-attach-target=target=sm_120a --blockscale-select-path 2>&1 | FileCheck %s --check-prefix=KIND

// CHECK-NOT: remark
// CHECK: blockscale.mma_scaled {{.*}} {blockscale.path = #blockscale.path<decompose>}
// NATIVE: error: 'blockscale.mma_scaled' op no block-scaled instruction on sm_120a with the path decompose
// OTHER: error: 'blockscale.mma_scaled' op expected a path for tensors on sm_90, got mma_sync
// KEPT-NOT: remark
// KEPT: #blockscale.path<dequant_mma>
// KIND: error: 'blockscale.mma_scaled' op expected the attribute 'blockscale.path' to be a #blockscale.path, got 1 : i64
func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
               %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
               %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<decompose>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
