// A scale that is the same everywhere is no parameter of the kernel.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels | FileCheck %s

// The code of 2.0 in e8m0 is 128.

// CHECK-LABEL: func.func @mixed(
// CHECK:         blockscale.launch {{.*}} ins(%arg0, %arg1, %arg2, %arg3 :
// CHECK:       gpu.func @mixed__mma_scaled(
// CHECK-NOT:     memref<128x8xi8>
// CHECK:         %[[TWO:.*]] = arith.constant -128 : i8
// CHECK:         blockscale.tile_mma %{{.*}}, %[[TWO]], {{.*}} : memref<64x128xi8, #gpu.address_space<workgroup>>, i8,
func.func @mixed(
    %x_bytes: tensor<128x128xi8>,
    %y: tensor<256x128xf8E5M2>,
    %sy: tensor<8x128xf8E8M0FNU>,
    %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %x = blockscale.unpack %x_bytes
       : tensor<128x128xi8> to tensor<128x256xf4E2M1FN>
  %sx = arith.constant dense<2.0> : tensor<128x8xf8E8M0FNU>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2],
                                                stages = 1>}
       : tensor<128x256xf4E2M1FN>, tensor<128x8xf8E8M0FNU>,
         tensor<256x128xf8E5M2>, tensor<8x128xf8E8M0FNU>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
