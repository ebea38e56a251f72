// Schedules of the path wgmma that a chip cannot run.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule -split-input-file -verify-diagnostics

func.func @sums_of_three(%x: tensor<192x64xbf16>, %y: tensor<64x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected a schedule with at most 96 accumulator values in each thread, got #blockscale.warp_specialized_schedule<tile = [192, 256, 64], stages = 2, accumulators = 1, persistent = true>, which has 128}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [192, 256, 64], stages = 2, accumulators = 1, persistent = true>}
       ins(%x, %y : tensor<192x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @sums_of_parts(%x: tensor<192x64xbf16>, %y: tensor<64x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected a schedule with at most 128 accumulator values in each thread, got #blockscale.warp_specialized_schedule<tile = [256, 136, 64], stages = 2, accumulators = 1, persistent = true>, which has 136}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [256, 136, 64], stages = 2, accumulators = 1, persistent = true>}
       ins(%x, %y : tensor<192x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @accumulators(%x: tensor<192x64xbf16>, %y: tensor<64x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected one accumulator on the path wgmma, got #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 2, persistent = true>}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 2, persistent = true>}
       ins(%x, %y : tensor<192x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @swap_ab(%x: tensor<192x64xbf16>, %y: tensor<64x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected a product with scales, or one with a y that a dequantize makes, for the kernel mixed_input, got #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 1, persistent = true, swap_ab = true, kernel = mixed_input>}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 1, persistent = true, swap_ab = true, kernel = mixed_input>}
       ins(%x, %y : tensor<192x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @swizzle_rows(%x: tensor<192x64xbf16>, %y: tensor<64x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected K of the tile to be 64 for #blockscale.instruction<wgmma, 64x8x16, unscaled, bf16, bf16, none, 0>, got #blockscale.warp_specialized_schedule<tile = [64, 64, 128], stages = 2, accumulators = 1, persistent = true>}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 128], stages = 2, accumulators = 1, persistent = true>}
       ins(%x, %y : tensor<192x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @shared(%x: tensor<192x64xbf16>, %y: tensor<64x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected a schedule that needs at most 231424 bytes of shared memory on sm_90a, got #blockscale.warp_specialized_schedule<tile = [128, 256, 64], stages = 5, accumulators = 1, persistent = true>, which needs 245760}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 256, 64], stages = 5, accumulators = 1, persistent = true>}
       ins(%x, %y : tensor<192x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @parts(%x: tensor<192x65xbf16>, %y: tensor<65x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected at most 2 split-K ranges, one for each stage, got #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 1, persistent = true, split_k = 3>}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 64], stages = 2, accumulators = 1, persistent = true, split_k = 3>}
       ins(%x, %y : tensor<192x65xbf16>, tensor<65x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @warps(%x: tensor<192x64xbf16>, %y: tensor<64x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected the attribute 'blockscale.schedule' to be a schedule of the path wgmma, got #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 2>}}
  %0 = linalg.matmul {blockscale.path = #blockscale.path<wgmma>,
                      blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 2>}
       ins(%x, %y : tensor<192x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @rows_of_clusters(%x: tensor<192x64xbf16>, %y: tensor<64x256xbf16>, %acc: tensor<192x256xf32>) -> tensor<192x256xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected N of the tile to be a multiple of 16 for a cluster of 2 blocks along M, got #blockscale.warp_specialized_schedule<tile = [64, 24, 64], stages = 2, accumulators = 1, persistent = true, cluster = 2x1>}}
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 24, 64], stages = 2, accumulators = 1, persistent = true, cluster = 2x1>}
       ins(%x, %y : tensor<192x64xbf16>, tensor<64x256xbf16>) outs(%acc : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %0 : tensor<192x256xf32>
}

// -----

func.func @quantized_of_three_groups(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected M of the tile to be 64, 128 or 256, one accumulator, blocks that are not persistent, and no cluster, for the kernel mixed_input, got #blockscale.warp_specialized_schedule<tile = [192, 16, 256], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [192, 16, 256], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @quantized_persistent(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected M of the tile to be 64, 128 or 256, one accumulator, blocks that are not persistent, and no cluster, for the kernel mixed_input, got #blockscale.warp_specialized_schedule<tile = [64, 16, 256], stages = 2, accumulators = 1, persistent = true, swap_ab = true, kernel = mixed_input>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, 256], stages = 2, accumulators = 1, persistent = true, swap_ab = true, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @quantized_cluster(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected M of the tile to be 64, 128 or 256, one accumulator, blocks that are not persistent, and no cluster, for the kernel mixed_input, got #blockscale.warp_specialized_schedule<tile = [64, 16, 256], stages = 2, accumulators = 1, persistent = false, swap_ab = true, cluster = 2x1, kernel = mixed_input>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, 256], stages = 2, accumulators = 1, persistent = false, swap_ab = true, cluster = 2x1, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @quantized_along_n(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<512x64xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected a y that is an argument, and contiguous along K, for the kernel mixed_input, got #blockscale.warp_specialized_schedule<tile = [64, 16, 256], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}}
  %0 = blockscale.mma_scaled %x, %xs, %y, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, 256], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @mixed_chunks(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected K of the tile to be 4 K slices of a multiple of 64, got #blockscale.warp_specialized_schedule<tile = [64, 16, 128], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, 128], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @quantized_whole_parts(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected at most 1 split-K ranges, one for each stage, got #blockscale.warp_specialized_schedule<tile = [64, 16, 1024], stages = 2, accumulators = 1, persistent = false, swap_ab = true, split_k = 2, kernel = mixed_input>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, 1024], stages = 2, accumulators = 1, persistent = false, swap_ab = true, split_k = 2, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @quantized_stages(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected at most 8 stages for the kernel mixed_input, got #blockscale.warp_specialized_schedule<tile = [64, 16, 256], stages = 9, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, 256], stages = 9, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @quantized_sums(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected a schedule with at most 32 accumulator values in each thread, got #blockscale.warp_specialized_schedule<tile = [256, 128, 64], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>, which has 64}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [256, 128, 64], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @quantized_shared(%x: tensor<16x512xf8E4M3FN>, %xs: tensor<16x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected a schedule whose stages have 52224 to 231424 bytes of shared memory on sm_90a, got #blockscale.warp_specialized_schedule<tile = [64, 64, 1024], stages = 4, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>, with 786432}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 64, 1024], stages = 4, accumulators = 1, persistent = false, swap_ab = true, kernel = mixed_input>}
       : tensor<16x512xf8E4M3FN>, tensor<16x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

func.func @row_of_two(%x: tensor<2x512xf4E2M1FN>, %xs: tensor<2x16xf8E8M0FNU>, %y: tensor<64x512xf4E2M1FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %e = tensor.empty() : tensor<512x64xf4E2M1FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf4E2M1FN>) outs(%e : tensor<512x64xf4E2M1FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected one row of x, for the kernel gemv, got #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}
       : tensor<2x512xf4E2M1FN>, tensor<2x16xf8E8M0FNU>, tensor<512x64xf4E2M1FN>, tensor<16x64xf8E8M0FNU>, tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}

// -----

func.func @row_of_fp8(%x: tensor<1x512xf8E4M3FN>, %xs: tensor<1x16xf8E8M0FNU>, %y: tensor<64x512xf4E2M1FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %e = tensor.empty() : tensor<512x64xf4E2M1FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf4E2M1FN>) outs(%e : tensor<512x64xf4E2M1FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected operands of e2m1, for the kernel gemv, got #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}
       : tensor<1x512xf8E4M3FN>, tensor<1x16xf8E8M0FNU>, tensor<512x64xf4E2M1FN>, tensor<16x64xf8E8M0FNU>, tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// -----

func.func @row_and_fp8(%x: tensor<1x512xf4E2M1FN>, %xs: tensor<1x16xf8E8M0FNU>, %y: tensor<64x512xf8E4M3FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %e = tensor.empty() : tensor<512x64xf8E4M3FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf8E4M3FN>) outs(%e : tensor<512x64xf8E4M3FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected operands of e2m1, for the kernel gemv, got #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}
       : tensor<1x512xf4E2M1FN>, tensor<1x16xf8E8M0FNU>, tensor<512x64xf8E4M3FN>, tensor<16x64xf8E8M0FNU>, tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// -----

func.func @row_too_long(%x: tensor<1x32768xf4E2M1FN>, %xs: tensor<1x1024xf8E8M0FNU>, %y: tensor<64x32768xf4E2M1FN>, %ys: tensor<1024x64xf8E8M0FNU>, %acc: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %e = tensor.empty() : tensor<32768x64xf4E2M1FN>
  %t = linalg.transpose ins(%y : tensor<64x32768xf4E2M1FN>) outs(%e : tensor<32768x64xf4E2M1FN>) permutation = [1, 0]
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected a schedule whose stages have 6528 to 231424 bytes of shared memory on sm_90a, got #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>, with 299008}}
  %0 = blockscale.mma_scaled %x, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}
       : tensor<1x32768xf4E2M1FN>, tensor<1x1024xf8E8M0FNU>, tensor<32768x64xf4E2M1FN>, tensor<1024x64xf8E8M0FNU>, tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}

// -----

func.func @row_of_two_halves(%a: tensor<1x256xf4E2M1FN>, %b: tensor<1x256xf4E2M1FN>, %xs: tensor<1x16xf8E8M0FNU>, %y: tensor<64x512xf4E2M1FN>, %ys: tensor<16x64xf8E8M0FNU>, %acc: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %e = tensor.empty() : tensor<512x64xf4E2M1FN>
  %t = linalg.transpose ins(%y : tensor<64x512xf4E2M1FN>) outs(%e : tensor<512x64xf4E2M1FN>) permutation = [1, 0]
  %row = tensor.concat dim(1) %a, %b : (tensor<1x256xf4E2M1FN>, tensor<1x256xf4E2M1FN>) -> tensor<1x512xf4E2M1FN>
  // expected-remark@+2 {{dequantized to bf16}}
  // expected-error@+1 {{expected an x that is an argument, and contiguous along K, for the kernel gemv, got #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}}
  %0 = blockscale.mma_scaled %row, %xs, %t, %ys, %acc {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 1, 512], stages = 2, accumulators = 1, persistent = false, swap_ab = true, kernel = gemv>}
       : tensor<1x512xf4E2M1FN>, tensor<1x16xf8E8M0FNU>, tensor<512x64xf4E2M1FN>, tensor<16x64xf8E8M0FNU>, tensor<1x64xf32>
  return %0 : tensor<1x64xf32>
}
