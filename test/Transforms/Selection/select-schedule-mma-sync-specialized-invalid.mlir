// Warp-specialized schedules that the path mma_sync does not have, or that do not fit
// on a chip.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-legalize --blockscale-select-schedule -split-input-file -verify-diagnostics

func.func @rows(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>, %y: tensor<256x256xf8E5M2>,
    %sy: tensor<8x256xf8E8M0FNU>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected M of the tile to be 64, 128 or 256 on the path mma_sync, got #blockscale.warp_specialized_schedule<tile = [192, 64, 128], stages = 2, accumulators = 1, persistent = true>}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [192, 64, 128], stages = 2, accumulators = 1, persistent = true>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @columns(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>, %y: tensor<256x256xf8E5M2>,
    %sy: tensor<8x256xf8E8M0FNU>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected N of the tile to be 64, 128 or 256 on the path mma_sync, got #blockscale.warp_specialized_schedule<tile = [128, 96, 128], stages = 2, accumulators = 1, persistent = true>}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 96, 128], stages = 2, accumulators = 1, persistent = true>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @swap_ab(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>, %y: tensor<256x256xf8E5M2>,
    %sy: tensor<8x256xf8E8M0FNU>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected one accumulator, operands that are not swapped, a cluster of 1x1 blocks and no K of instructions on the path mma_sync, got #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 2, accumulators = 1, persistent = true, swap_ab = true>}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 2, accumulators = 1, persistent = true, swap_ab = true>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @shared_memory(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>, %y: tensor<256x256xf8E5M2>,
    %sy: tensor<8x256xf8E8M0FNU>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a schedule that needs at most 100352 bytes of shared memory on sm_120a, got #blockscale.warp_specialized_schedule<tile = [128, 128, 128], stages = 3, accumulators = 1, persistent = true>, which needs 101376}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 128, 128], stages = 3, accumulators = 1, persistent = true>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @elements(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>, %y: tensor<256x256xf8E5M2>,
    %sy: tensor<8x256xf8E8M0FNU>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected K of the tile to be 128 for #blockscale.instruction<mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>, got #blockscale.warp_specialized_schedule<tile = [128, 64, 256], stages = 1, accumulators = 1, persistent = true>}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 256], stages = 1, accumulators = 1, persistent = true>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @warps(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>, %y: tensor<256x256xf8E5M2>,
    %sy: tensor<8x256xf8E8M0FNU>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a schedule with at most 8 warps of 64 x 64 results, got #blockscale.warp_specialized_schedule<tile = [256, 256, 128], stages = 1, accumulators = 1, persistent = true>, which has 16}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [256, 256, 128], stages = 1, accumulators = 1, persistent = true>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @parts(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>, %y: tensor<256x256xf8E5M2>,
    %sy: tensor<8x256xf8E8M0FNU>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected at most 2 split-K ranges, one for each stage, got #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 2, accumulators = 1, persistent = true, split_k = 3>}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 2, accumulators = 1, persistent = true, split_k = 3>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}
