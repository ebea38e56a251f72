// The tiles of operands that are dequantized in registers for wgmma; small products
// use mma.sync, and with many rows both operands are dequantized first.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @one_row_fp4(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [64, 1, 1024], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>
func.func @one_row_fp4(%x: tensor<1x8192xf4E2M1FN>, %xs: tensor<1x256xf8E8M0FNU>,
    %y: tensor<8192x8192xf4E2M1FN>, %ys: tensor<256x8192xf8E8M0FNU>,
    %acc: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<8192x8192xf4E2M1FN>) outs(%e : tensor<8192x8192xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<1x8192xf4E2M1FN>, tensor<1x256xf8E8M0FNU>, tensor<8192x8192xf4E2M1FN>,
         tensor<256x8192xf8E8M0FNU>, tensor<1x8192xf32>
  return %d : tensor<1x8192xf32>
}

// CHECK-LABEL: func.func @one_row_long(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [128, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, split_k = 2, kernel = gemv>
func.func @one_row_long(%x: tensor<1x28672xf4E2M1FN>, %xs: tensor<1x896xf8E8M0FNU>,
    %y: tensor<8192x28672xf4E2M1FN>, %ys: tensor<896x8192xf8E8M0FNU>,
    %acc: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %e = tensor.empty() : tensor<28672x8192xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<8192x28672xf4E2M1FN>) outs(%e : tensor<28672x8192xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<1x28672xf4E2M1FN>, tensor<1x896xf8E8M0FNU>, tensor<28672x8192xf4E2M1FN>,
         tensor<896x8192xf8E8M0FNU>, tensor<1x8192xf32>
  return %d : tensor<1x8192xf32>
}

// CHECK-LABEL: func.func @one_row_of_one_stage(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [128, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, split_k = 2, kernel = gemv>
func.func @one_row_of_one_stage(%x: tensor<1x22016xf4E2M1FN>, %xs: tensor<1x688xf8E8M0FNU>,
    %y: tensor<8192x22016xf4E2M1FN>, %ys: tensor<688x8192xf8E8M0FNU>,
    %acc: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %e = tensor.empty() : tensor<22016x8192xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<8192x22016xf4E2M1FN>) outs(%e : tensor<22016x8192xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<1x22016xf4E2M1FN>, tensor<1x688xf8E8M0FNU>, tensor<22016x8192xf4E2M1FN>,
         tensor<688x8192xf8E8M0FNU>, tensor<1x8192xf32>
  return %d : tensor<1x8192xf32>
}

// CHECK-LABEL: func.func @one_row_longer(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [128, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, split_k = 4, kernel = gemv>
func.func @one_row_longer(%x: tensor<1x65536xf4E2M1FN>, %xs: tensor<1x2048xf8E8M0FNU>,
    %y: tensor<8192x65536xf4E2M1FN>, %ys: tensor<2048x8192xf8E8M0FNU>,
    %acc: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %e = tensor.empty() : tensor<65536x8192xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<8192x65536xf4E2M1FN>) outs(%e : tensor<65536x8192xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<1x65536xf4E2M1FN>, tensor<1x2048xf8E8M0FNU>, tensor<65536x8192xf4E2M1FN>,
         tensor<2048x8192xf8E8M0FNU>, tensor<1x8192xf32>
  return %d : tensor<1x8192xf32>
}

// CHECK-LABEL: func.func @one_row_mixed(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [64, 8, 1024], stages = 3, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
func.func @one_row_mixed(%x: tensor<1x8192xf8E4M3FN>, %xs: tensor<1x256xf8E8M0FNU>,
    %y: tensor<8192x8192xf4E2M1FN>, %ys: tensor<256x8192xf8E8M0FNU>,
    %acc: tensor<1x8192xf32>) -> tensor<1x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<8192x8192xf4E2M1FN>) outs(%e : tensor<8192x8192xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<1x8192xf8E4M3FN>, tensor<1x256xf8E8M0FNU>, tensor<8192x8192xf4E2M1FN>,
         tensor<256x8192xf8E8M0FNU>, tensor<1x8192xf32>
  return %d : tensor<1x8192xf32>
}

// CHECK-LABEL: func.func @few_rows_fp8(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [64, 16, 512], stages = 4, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
func.func @few_rows_fp8(%x: tensor<16x8192xf8E4M3FN>, %xs: tensor<16x256xf8E8M0FNU>,
    %y: tensor<8192x8192xf8E4M3FN>, %ys: tensor<256x8192xf8E8M0FNU>,
    %acc: tensor<16x8192xf32>) -> tensor<16x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf8E4M3FN>
  %yt = linalg.transpose ins(%y : tensor<8192x8192xf8E4M3FN>) outs(%e : tensor<8192x8192xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<16x8192xf8E4M3FN>, tensor<16x256xf8E8M0FNU>, tensor<8192x8192xf8E4M3FN>,
         tensor<256x8192xf8E8M0FNU>, tensor<16x8192xf32>
  return %d : tensor<16x8192xf32>
}

// CHECK-LABEL: func.func @few_steps(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [64, 8, 512], stages = 3, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
func.func @few_steps(%x: tensor<5x512xf4E2M1FN>, %xs: tensor<5x16xf8E8M0FNU>,
    %y: tensor<1024x512xf4E2M1FN>, %ys: tensor<16x1024xf8E8M0FNU>,
    %acc: tensor<5x1024xf32>) -> tensor<5x1024xf32> {
  %e = tensor.empty() : tensor<512x1024xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<1024x512xf4E2M1FN>) outs(%e : tensor<512x1024xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<5x512xf4E2M1FN>, tensor<5x16xf8E8M0FNU>, tensor<512x1024xf4E2M1FN>,
         tensor<16x1024xf8E8M0FNU>, tensor<5x1024xf32>
  return %d : tensor<5x1024xf32>
}

// CHECK-LABEL: func.func @parts_of_k(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [64, 16, 1024], stages = 3, accumulators = 1, persistent = false, swap_ab = true, split_k = 2, kernel = mixed_input>
func.func @parts_of_k(%x: tensor<16x14336xf4E2M1FN>, %xs: tensor<16x448xf8E8M0FNU>,
    %y: tensor<4096x14336xf4E2M1FN>, %ys: tensor<448x4096xf8E8M0FNU>,
    %acc: tensor<16x4096xf32>) -> tensor<16x4096xf32> {
  %e = tensor.empty() : tensor<14336x4096xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<4096x14336xf4E2M1FN>) outs(%e : tensor<14336x4096xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<16x14336xf4E2M1FN>, tensor<16x448xf8E8M0FNU>, tensor<14336x4096xf4E2M1FN>,
         tensor<448x4096xf8E8M0FNU>, tensor<16x4096xf32>
  return %d : tensor<16x4096xf32>
}

// CHECK-LABEL: func.func @rows_256(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [128, 128, 128], stages = 4, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
func.func @rows_256(%x: tensor<256x8192xf4E2M1FN>, %xs: tensor<256x256xf8E8M0FNU>,
    %y: tensor<8192x8192xf4E2M1FN>, %ys: tensor<256x8192xf8E8M0FNU>,
    %acc: tensor<256x8192xf32>) -> tensor<256x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<8192x8192xf4E2M1FN>) outs(%e : tensor<8192x8192xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<256x8192xf4E2M1FN>, tensor<256x256xf8E8M0FNU>, tensor<8192x8192xf4E2M1FN>,
         tensor<256x8192xf8E8M0FNU>, tensor<256x8192xf32>
  return %d : tensor<256x8192xf32>
}

// CHECK-LABEL: func.func @rows_512(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
func.func @rows_512(%x: tensor<512x8192xf8E4M3FN>, %xs: tensor<512x256xf8E8M0FNU>,
    %y: tensor<8192x8192xf8E4M3FN>, %ys: tensor<256x8192xf8E8M0FNU>,
    %acc: tensor<512x8192xf32>) -> tensor<512x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf8E4M3FN>
  %yt = linalg.transpose ins(%y : tensor<8192x8192xf8E4M3FN>) outs(%e : tensor<8192x8192xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<512x8192xf8E4M3FN>, tensor<512x256xf8E8M0FNU>, tensor<8192x8192xf8E4M3FN>,
         tensor<256x8192xf8E8M0FNU>, tensor<512x8192xf32>
  return %d : tensor<512x8192xf32>
}

// CHECK-LABEL: func.func @cube_1024(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [64, 128, 256], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
func.func @cube_1024(%x: tensor<1024x1024xf8E4M3FN>, %xs: tensor<1024x32xf8E8M0FNU>,
    %y: tensor<1024x1024xf8E4M3FN>, %ys: tensor<32x1024xf8E8M0FNU>,
    %acc: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %e = tensor.empty() : tensor<1024x1024xf8E4M3FN>
  %yt = linalg.transpose ins(%y : tensor<1024x1024xf8E4M3FN>) outs(%e : tensor<1024x1024xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<1024x1024xf8E4M3FN>, tensor<1024x32xf8E8M0FNU>, tensor<1024x1024xf8E4M3FN>,
         tensor<32x1024xf8E8M0FNU>, tensor<1024x1024xf32>
  return %d : tensor<1024x1024xf32>
}

// CHECK-LABEL: func.func @cube_2048(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [128, 256, 128], stages = 3, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
func.func @cube_2048(%x: tensor<2048x2048xf4E2M1FN>, %xs: tensor<2048x64xf8E8M0FNU>,
    %y: tensor<2048x2048xf4E2M1FN>, %ys: tensor<64x2048xf8E8M0FNU>,
    %acc: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %e = tensor.empty() : tensor<2048x2048xf4E2M1FN>
  %yt = linalg.transpose ins(%y : tensor<2048x2048xf4E2M1FN>) outs(%e : tensor<2048x2048xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<2048x2048xf4E2M1FN>, tensor<2048x64xf8E8M0FNU>, tensor<2048x2048xf4E2M1FN>,
         tensor<64x2048xf8E8M0FNU>, tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// CHECK-LABEL: func.func @odd_k(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [64, 192, 256], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>
func.func @odd_k(%x: tensor<300x4160xf8E4M3FN>, %xs: tensor<300x130xf8E8M0FNU>,
    %y: tensor<4096x4160xf8E4M3FN>, %ys: tensor<130x4096xf8E8M0FNU>,
    %acc: tensor<300x4096xf32>) -> tensor<300x4096xf32> {
  %e = tensor.empty() : tensor<4160x4096xf8E4M3FN>
  %yt = linalg.transpose ins(%y : tensor<4096x4160xf8E4M3FN>) outs(%e : tensor<4160x4096xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<300x4160xf8E4M3FN>, tensor<300x130xf8E8M0FNU>, tensor<4160x4096xf8E4M3FN>,
         tensor<130x4096xf8E8M0FNU>, tensor<300x4096xf32>
  return %d : tensor<300x4096xf32>
}

// CHECK-LABEL: func.func @small(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 3>
func.func @small(%x: tensor<300x1024xf8E4M3FN>, %xs: tensor<300x32xf8E8M0FNU>,
    %y: tensor<1024x1024xf8E4M3FN>, %ys: tensor<32x1024xf8E8M0FNU>,
    %acc: tensor<300x1024xf32>) -> tensor<300x1024xf32> {
  %e = tensor.empty() : tensor<1024x1024xf8E4M3FN>
  %yt = linalg.transpose ins(%y : tensor<1024x1024xf8E4M3FN>) outs(%e : tensor<1024x1024xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<300x1024xf8E4M3FN>, tensor<300x32xf8E8M0FNU>, tensor<1024x1024xf8E4M3FN>,
         tensor<32x1024xf8E8M0FNU>, tensor<300x1024xf32>
  return %d : tensor<300x1024xf32>
}

// CHECK-LABEL: func.func @large(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      #blockscale.warp_specialized_schedule<tile = [128, 256, 64], stages = 4, accumulators = 1, persistent = true>
func.func @large(%x: tensor<8192x4096xf8E4M3FN>, %xs: tensor<8192x128xf8E8M0FNU>,
    %y: tensor<4096x4096xf8E4M3FN>, %ys: tensor<128x4096xf8E8M0FNU>,
    %acc: tensor<8192x4096xf32>) -> tensor<8192x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf8E4M3FN>
  %yt = linalg.transpose ins(%y : tensor<4096x4096xf8E4M3FN>) outs(%e : tensor<4096x4096xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %ys, %acc
       : tensor<8192x4096xf8E4M3FN>, tensor<8192x128xf8E8M0FNU>, tensor<4096x4096xf8E4M3FN>,
         tensor<128x4096xf8E8M0FNU>, tensor<8192x4096xf32>
  return %d : tensor<8192x4096xf32>
}
