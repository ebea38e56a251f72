// Ops that no kernel computes.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels -split-input-file -verify-diagnostics

func.func @no_path(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                   %y: tensor<32x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>,
                   %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected the attribute 'blockscale.path' of blockscale-select-path}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @vectors(%x: vector<16x32xf8E4M3FN>, %sx: vector<16x1xf8E8M0FNU>,
                   %y: vector<32x8xf8E5M2>, %sy: vector<1x8xf8E8M0FNU>,
                   %c: vector<16x8xf32>) -> vector<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op not supported in this version: vectors outside of a gpu.func on a GPU target}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
         vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

func.func @no_schedule(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
                       %y: tensor<32x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>,
                       %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op expected the attribute 'blockscale.schedule' of blockscale-select-schedule}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// 65535 blocks are the limit along y.
func.func @grid(%x: tensor<1x32xf8E4M3FN>, %sx: tensor<1x1xf8E8M0FNU>,
                %y: tensor<32x4194241xf8E5M2>, %sy: tensor<1x4194241xf8E8M0FNU>,
                %c: tensor<1x4194241xf32>) -> tensor<1x4194241xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op not supported in this version: a grid of more than 65535 blocks along one dimension, got 65536}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>,
         tensor<32x4194241xf8E5M2>, tensor<1x4194241xf8E8M0FNU>,
         tensor<1x4194241xf32>
  return %d : tensor<1x4194241xf32>
}

// -----

// In a kernel, vectors are the business of blockscale-to-fragments.
gpu.module @kernels {
  gpu.func @vectors(%x: vector<16x32xf8E4M3FN>, %sx: vector<16x1xf8E8M0FNU>,
                    %y: vector<32x8xf8E5M2>, %sy: vector<1x8xf8E8M0FNU>,
                    %c: vector<16x8xf32>) {
    %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
         {blockscale.path = #blockscale.path<mma_sync>}
         : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
           vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    gpu.return
  }
}
