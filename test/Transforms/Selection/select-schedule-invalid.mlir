// Schedules that a chip cannot run, and text that is not a schedule.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-legalize --blockscale-select-schedule -split-input-file -verify-diagnostics

// DEFINE: %{target} =
// DEFINE: %{option} =
// DEFINE: %{fail} = not blockscale-opt %s %{target} --blockscale-legalize --blockscale-select-schedule="%{option}" -split-input-file 2>&1 | FileCheck %s --check-prefix
// REDEFINE: %{target} = --blockscale-attach-target=target=sm_121
// RUN: %{fail}=LETTER
// LETTER: error: unknown target 'sm_121': block-scaled instructions need the letter, expected sm_121a or sm_121f
// REDEFINE: %{target} =
// RUN: %{fail}=EMPTY
// EMPTY: error: expected a module with the attribute 'blockscale.target' of blockscale-attach-target
// REDEFINE: %{target} = --blockscale-attach-target=target=cpu
// RUN: %{fail}=CPU
// CPU: error: expected a GPU, got cpu{{$}}

// All of the text is read.
// REDEFINE: %{target} = --blockscale-attach-target=target=sm_120a
// REDEFINE: %{option} = schedule=tile=64x64x128,warps=2x2
// RUN: %{fail}=TEXT -DTEXT=tile=64x64x128,warps=2x2
// REDEFINE: %{option} = schedule=tile=64x64x128,warps=2x2,stages=2,
// RUN: %{fail}=TEXT -DTEXT=tile=64x64x128,warps=2x2,stages=2,
// REDEFINE: %{option} = schedule=tile=64x64,warps=2x2,stages=2
// RUN: %{fail}=TEXT -DTEXT=tile=64x64,warps=2x2,stages=2
// REDEFINE: %{option} = schedule=tile=64x64x-128,warps=2x2,stages=2
// RUN: %{fail}=TEXT -DTEXT=tile=64x64x-128,warps=2x2,stages=2
// REDEFINE: %{option} = schedule=warps=2x2,tile=64x64x128,stages=2
// RUN: %{fail}=TEXT -DTEXT=warps=2x2,tile=64x64x128,stages=2
// REDEFINE: %{option} = schedule=tile=64x64x128,warps=2x2,stages=99999999999999999999
// RUN: %{fail}=TEXT -DTEXT=tile=64x64x128,warps=2x2,stages=99999999999999999999
// TEXT: error: expected a schedule of the form tile=MxNxK,warps=MxN,stages=S[,split_k=N] or tile=MxNxK,stages=S,accumulators=A,persistent=P[,raster_group=G][,swap_ab=E][,split_k=N][,cluster=MxN][,two_cta=P][,k=K][,kernel=KERNEL][,blocks_per_sm=B], got '[[TEXT]]'{{$}}

// An illegal attribute is an illegal option, too.
// REDEFINE: %{option} = schedule=tile=64x64x128,warps=2x2,stages=2,split_k=65
// RUN: %{fail}=SPLITS
// SPLITS: error: expected 1 to 64 split-K ranges, got 65
// REDEFINE: %{option} = schedule=tile=64x64x16,warps=2x2,stages=2
// RUN: %{fail}=ATTRIBUTE
// ATTRIBUTE: error: expected K of the tile to be a power of two from 32 to 1024, got 16

func.func @shared_memory(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>,
    %y: tensor<256x256xf8E5M2>, %sy: tensor<8x256xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a schedule that needs at most 101376 bytes of shared memory on sm_120a, got #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 4>, which needs 135168}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 4>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @k(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>,
    %y: tensor<256x256xf8E5M2>, %sy: tensor<8x256xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected K of the tile to be at least 128 for operands with scales, got #blockscale.multistage_schedule<tile = [128, 128, 64], warps = [2, 2], stages = 2>}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 64], warps = [2, 2], stages = 2>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @registers(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>,
    %y: tensor<256x256xf8E5M2>, %sy: tensor<8x256xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a schedule that needs at most 255 registers in each of 128 lanes, got #blockscale.multistage_schedule<tile = [256, 128, 128], warps = [2, 2], stages = 1>, which needs about 336}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [256, 128, 128], warps = [2, 2], stages = 1>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

// Lanes of large blocks have fewer.
func.func @registers_of_block(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>,
    %y: tensor<256x256xf8E5M2>, %sy: tensor<8x256xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected a schedule that needs at most 64 registers in each of 1024 lanes, got #blockscale.multistage_schedule<tile = [256, 128, 128], warps = [8, 4], stages = 1>, which needs about 80}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [256, 128, 128], warps = [8, 4], stages = 1>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

func.func @parts(
    %x: tensor<64x288xf8E4M3FN>, %sx: tensor<64x9xf8E8M0FNU>,
    %y: tensor<288x64xf8E5M2>, %sy: tensor<9x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected at most 3 split-K ranges, one for each stage, got #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 1, split_k = 4>}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 1, split_k = 4>}
       : tensor<64x288xf8E4M3FN>, tensor<64x9xf8E8M0FNU>, tensor<288x64xf8E5M2>, tensor<9x64xf8E8M0FNU>,
         tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

func.func @kind(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>,
    %y: tensor<256x256xf8E5M2>, %sy: tensor<8x256xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected the attribute 'blockscale.schedule' to be a schedule of the path mma_sync, got 3 : i64}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>, blockscale.schedule = 3}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// -----

// expected-error@+1 {{'func.func' op expected the attribute 'blockscale.schedule' to be a schedule of the path mma_sync, got "fast"}}
func.func @kind_of_function(
    %x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
    %y: tensor<32x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>,
    %c: tensor<16x8xf32>) -> tensor<16x8xf32>
    attributes {blockscale.schedule = "fast"} {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
