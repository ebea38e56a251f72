// Which of the kernels of the path mma_sync is chosen.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-legalize --blockscale-select-schedule | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target="target=sm_120a emulate-on=sm_90" --blockscale-legalize --blockscale-select-schedule | FileCheck %s

// A chip without bulk copies that emulates instructions has one kernel.
// RUN: blockscale-opt %s --blockscale-attach-target="target=sm_120a emulate-on=sm_80" --blockscale-legalize --blockscale-select-schedule | FileCheck %s --check-prefix=SM80
// SM80-NOT: warp_specialized_schedule

// TMA copies all operands and scales.

// CHECK-LABEL: func.func @fp4(
// CHECK:         blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 128, 256], stages = 2, accumulators = 1, persistent = true>
func.func @fp4(%x: tensor<2048x4096xf4E2M1FN>, %sx: tensor<16x32x32x16xf8E8M0FNU>, %y: tensor<2048x4096xf4E2M1FN>, %sy: tensor<16x32x32x16xf8E8M0FNU>) -> tensor<2048x2048xf32> {
  %acc = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<16x32x32x16xf8E8M0FNU> to tensor<2048x128xf8E8M0FNU>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<16x32x32x16xf8E8M0FNU> to tensor<2048x128xf8E8M0FNU>
  %se = tensor.empty() : tensor<128x2048xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<2048x128xf8E8M0FNU>) outs(%se : tensor<128x2048xf8E8M0FNU>) permutation = [1, 0]
  %e = tensor.empty() : tensor<4096x2048xf4E2M1FN>
  %b = linalg.transpose ins(%y : tensor<2048x4096xf4E2M1FN>) outs(%e : tensor<4096x2048xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %b, %sb, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x4096xf4E2M1FN>, tensor<2048x128xf8E8M0FNU>, tensor<4096x2048xf4E2M1FN>, tensor<128x2048xf8E8M0FNU>, tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}


// CHECK-LABEL: func.func @nvfp4(
// CHECK:         blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 128, 256], stages = 2, accumulators = 1, persistent = true>
func.func @nvfp4(%x: tensor<2048x4096xf4E2M1FN>, %sx: tensor<16x64x32x16xf8E4M3FN>, %y: tensor<2048x4096xf4E2M1FN>, %sy: tensor<16x64x32x16xf8E4M3FN>) -> tensor<2048x2048xf32> {
  %acc = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<16x64x32x16xf8E4M3FN> to tensor<2048x256xf8E4M3FN>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<16x64x32x16xf8E4M3FN> to tensor<2048x256xf8E4M3FN>
  %se = tensor.empty() : tensor<256x2048xf8E4M3FN>
  %sb = linalg.transpose ins(%y_rows : tensor<2048x256xf8E4M3FN>) outs(%se : tensor<256x2048xf8E4M3FN>) permutation = [1, 0]
  %e = tensor.empty() : tensor<4096x2048xf4E2M1FN>
  %b = linalg.transpose ins(%y : tensor<2048x4096xf4E2M1FN>) outs(%e : tensor<4096x2048xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %b, %sb, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x4096xf4E2M1FN>, tensor<2048x256xf8E4M3FN>, tensor<4096x2048xf4E2M1FN>, tensor<256x2048xf8E4M3FN>, tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// 8-bit operands have two stages, too, because barriers and three stages do not
// fit.

// CHECK-LABEL: func.func @fp8(
// CHECK:         blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 128, 128], stages = 2, accumulators = 1, persistent = true>
func.func @fp8(%x: tensor<2048x4096xf8E4M3FN>, %sx: tensor<16x32x32x16xf8E8M0FNU>, %y: tensor<2048x4096xf8E4M3FN>, %sy: tensor<16x32x32x16xf8E8M0FNU>) -> tensor<2048x2048xf32> {
  %acc = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<16x32x32x16xf8E8M0FNU> to tensor<2048x128xf8E8M0FNU>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<16x32x32x16xf8E8M0FNU> to tensor<2048x128xf8E8M0FNU>
  %se = tensor.empty() : tensor<128x2048xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<2048x128xf8E8M0FNU>) outs(%se : tensor<128x2048xf8E8M0FNU>) permutation = [1, 0]
  %e = tensor.empty() : tensor<4096x2048xf8E4M3FN>
  %b = linalg.transpose ins(%y : tensor<2048x4096xf8E4M3FN>) outs(%e : tensor<4096x2048xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %b, %sb, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x4096xf8E4M3FN>, tensor<2048x128xf8E8M0FNU>, tensor<4096x2048xf8E4M3FN>, tensor<128x2048xf8E8M0FNU>, tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}


// CHECK-LABEL: func.func @two_steps(
// CHECK:         blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 128, 128], stages = 2, accumulators = 1, persistent = true>
func.func @two_steps(%x: tensor<2048x256xf8E4M3FN>, %sx: tensor<16x2x32x16xf8E8M0FNU>, %y: tensor<2048x256xf8E4M3FN>, %sy: tensor<16x2x32x16xf8E8M0FNU>) -> tensor<2048x2048xf32> {
  %acc = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<16x2x32x16xf8E8M0FNU> to tensor<2048x8xf8E8M0FNU>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<16x2x32x16xf8E8M0FNU> to tensor<2048x8xf8E8M0FNU>
  %se = tensor.empty() : tensor<8x2048xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<2048x8xf8E8M0FNU>) outs(%se : tensor<8x2048xf8E8M0FNU>) permutation = [1, 0]
  %e = tensor.empty() : tensor<256x2048xf8E4M3FN>
  %b = linalg.transpose ins(%y : tensor<2048x256xf8E4M3FN>) outs(%e : tensor<256x2048xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %b, %sb, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x256xf8E4M3FN>, tensor<2048x8xf8E8M0FNU>, tensor<256x2048xf8E4M3FN>, tensor<8x2048xf8E8M0FNU>, tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// Nibbles along N; scales that TMA does not support; a 32-bit word of scales that K ends
// in; fewer tiles than SMs.

// CHECK-LABEL: func.func @along_n(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 256], warps = [2, 2], stages = 2>
func.func @along_n(%x: tensor<2048x4096xf4E2M1FN>, %sx: tensor<16x32x32x16xf8E8M0FNU>, %y: tensor<4096x2048xf4E2M1FN>, %sy: tensor<16x32x32x16xf8E8M0FNU>) -> tensor<2048x2048xf32> {
  %acc = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<16x32x32x16xf8E8M0FNU> to tensor<2048x128xf8E8M0FNU>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<16x32x32x16xf8E8M0FNU> to tensor<2048x128xf8E8M0FNU>
  %se = tensor.empty() : tensor<128x2048xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<2048x128xf8E8M0FNU>) outs(%se : tensor<128x2048xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %y, %sb, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x4096xf4E2M1FN>, tensor<2048x128xf8E8M0FNU>, tensor<4096x2048xf4E2M1FN>, tensor<128x2048xf8E8M0FNU>, tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}


// CHECK-LABEL: func.func @rows(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 256], warps = [2, 2], stages = 2>
func.func @rows(%x: tensor<2048x4096xf4E2M1FN>, %sx: tensor<2048x128xf8E8M0FNU>, %y: tensor<2048x4096xf4E2M1FN>, %sy: tensor<16x32x32x16xf8E8M0FNU>) -> tensor<2048x2048xf32> {
  %acc = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<16x32x32x16xf8E8M0FNU> to tensor<2048x128xf8E8M0FNU>
  %se = tensor.empty() : tensor<128x2048xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<2048x128xf8E8M0FNU>) outs(%se : tensor<128x2048xf8E8M0FNU>) permutation = [1, 0]
  %e = tensor.empty() : tensor<4096x2048xf4E2M1FN>
  %b = linalg.transpose ins(%y : tensor<2048x4096xf4E2M1FN>) outs(%e : tensor<4096x2048xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %sx, %b, %sb, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x4096xf4E2M1FN>, tensor<2048x128xf8E8M0FNU>, tensor<4096x2048xf4E2M1FN>, tensor<128x2048xf8E8M0FNU>, tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}


// CHECK-LABEL: func.func @cut(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 256], warps = [2, 2], stages = 2>
func.func @cut(%x: tensor<2048x4192xf4E2M1FN>, %sx: tensor<16x33x32x16xf8E8M0FNU>, %y: tensor<2048x4192xf4E2M1FN>, %sy: tensor<16x33x32x16xf8E8M0FNU>) -> tensor<2048x2048xf32> {
  %acc = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<16x33x32x16xf8E8M0FNU> to tensor<2048x131xf8E8M0FNU>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<16x33x32x16xf8E8M0FNU> to tensor<2048x131xf8E8M0FNU>
  %se = tensor.empty() : tensor<131x2048xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<2048x131xf8E8M0FNU>) outs(%se : tensor<131x2048xf8E8M0FNU>) permutation = [1, 0]
  %e = tensor.empty() : tensor<4192x2048xf4E2M1FN>
  %b = linalg.transpose ins(%y : tensor<2048x4192xf4E2M1FN>) outs(%e : tensor<4192x2048xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %b, %sb, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x4192xf4E2M1FN>, tensor<2048x131xf8E8M0FNU>, tensor<4192x2048xf4E2M1FN>, tensor<131x2048xf8E8M0FNU>, tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}


// CHECK-LABEL: func.func @few(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 256], warps = [2, 2], stages = 4>
func.func @few(%x: tensor<512x4096xf4E2M1FN>, %sx: tensor<4x32x32x16xf8E8M0FNU>, %y: tensor<512x4096xf4E2M1FN>, %sy: tensor<4x32x32x16xf8E8M0FNU>) -> tensor<512x512xf32> {
  %acc = arith.constant dense<0.0> : tensor<512x512xf32>
  %x_rows = blockscale.unswizzle_scales %sx : tensor<4x32x32x16xf8E8M0FNU> to tensor<512x128xf8E8M0FNU>
  %y_rows = blockscale.unswizzle_scales %sy : tensor<4x32x32x16xf8E8M0FNU> to tensor<512x128xf8E8M0FNU>
  %se = tensor.empty() : tensor<128x512xf8E8M0FNU>
  %sb = linalg.transpose ins(%y_rows : tensor<512x128xf8E8M0FNU>) outs(%se : tensor<128x512xf8E8M0FNU>) permutation = [1, 0]
  %e = tensor.empty() : tensor<4096x512xf4E2M1FN>
  %b = linalg.transpose ins(%y : tensor<512x4096xf4E2M1FN>) outs(%e : tensor<4096x512xf4E2M1FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_rows, %b, %sb, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<512x4096xf4E2M1FN>, tensor<512x128xf8E8M0FNU>, tensor<4096x512xf4E2M1FN>, tensor<128x512xf8E8M0FNU>, tensor<512x512xf32>
  return %d : tensor<512x512xf32>
}

