// Instructions of the path dequant_mma, which every GPU has: if a program requests
// them there is no remark, but they are not block-scaled instructions.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_80 --blockscale-select-path 2>&1 | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_103f --blockscale-select-path 2>&1 | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path 2>&1 | FileCheck %s
// RUN: not blockscale-opt %s --blockscale-attach-target=target=sm_80 --blockscale-select-path=native-only 2>&1 | FileCheck %s --check-prefix=NATIVE -DCHIP=sm_80
// RUN: not blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path=native-only 2>&1 | FileCheck %s --check-prefix=NATIVE -DCHIP=sm_120a
// RUN: sed /blockscale.path/d %s | not blockscale-opt --blockscale-attach-target=target=sm_120a --blockscale-select-path=native-only 2>&1 | FileCheck %s --check-prefix=TILE

// CHECK-NOT:   remark
// CHECK-LABEL: func.func @mma(
// CHECK:         blockscale.mma_scaled {{.*}} {blockscale.path = #blockscale.path<dequant_mma>}
// NATIVE: error: 'blockscale.mma_scaled' op no block-scaled instruction on [[CHIP]] with the path dequant_mma
func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
               %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
               %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<dequant_mma>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: gpu.func @tile_mma(
// CHECK:         instruction = <dequant_mma, 16x8x32, bf16, e4m3, e2m1, ue8m0, 1>
// TILE: error: 'blockscale.tile_mma' op expected a block-scaled instruction, got #blockscale.instruction<dequant_mma, 16x8x32, bf16, e4m3, e2m1, ue8m0, 1>
gpu.module @kernels {
  gpu.func @tile_mma(%d: memref<16x8xf32>)
      workgroup(%a : memref<16x128xi8, #gpu.address_space<workgroup>>,
                %sa : memref<16x4xi8, #gpu.address_space<workgroup>>,
                %b : memref<8x128xi8, #gpu.address_space<workgroup>>,
                %sb : memref<8x4xi8, #gpu.address_space<workgroup>>) {
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e2m1, ue8m0, 32>
           instruction = <dequant_mma, 16x8x32, bf16, e4m3, e2m1, ue8m0, 1>
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<8x128xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }
}
