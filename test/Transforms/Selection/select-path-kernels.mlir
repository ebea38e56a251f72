// Diagnostics for kernels with a block-scaled instruction
// that the chip lacks: a remark, and an error with native-only.

// DEFINE: %{chip} =
// DEFINE: %{reason} =
// DEFINE: %{remark} = sed "s/ SEVERITY@/ expected-remark@/; s/{{VECTORS/{{%{reason}; dequantized to bf16 for mma.sync.m16n8k16.f32.bf16.bf16.f32, an instruction computes it on sm_120a, sm_120f, sm_121a, sm_121f/; s/{{LOWER-LEVEL \([a-z_]*\)/{{no mma.sync ... block_scale on %{chip}; computed with the instruction in software/" %s | blockscale-opt --blockscale-attach-target=target=%{chip} --blockscale-select-path -split-input-file -verify-diagnostics
// DEFINE: %{error} = sed "s/ SEVERITY@/ expected-error@/; s/{{VECTORS/{{'blockscale.mma_scaled' op %{reason}/; s/{{LOWER-LEVEL \([a-z_]*\)/{{'blockscale.\1' op no mma.sync ... block_scale on %{chip}/" %s | blockscale-opt --blockscale-attach-target=target=%{chip} --blockscale-select-path=native-only -split-input-file -verify-diagnostics

// REDEFINE: %{chip} = sm_90
// REDEFINE: %{reason} = no block-scaled instruction on sm_90
// RUN: %{remark}
// RUN: %{error}
// REDEFINE: %{chip} = sm_100a
// REDEFINE: %{reason} = tcgen05.mma needs tiles in shared memory (async_tile_mma), not vectors
// RUN: %{remark}
// RUN: %{error}

// Where there is one, nothing is said.
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-select-path=native-only -split-input-file -o /dev/null 2>&1 | count 0

gpu.module @kernels {
  gpu.func @vectors(%x: vector<16x32xf8E4M3FN>, %sx: vector<16x1xf8E8M0FNU>,
                    %y: vector<32x8xf4E2M1FN>, %sy: vector<1x8xf8E8M0FNU>,
                    %c: vector<16x8xf32>) {
    // SEVERITY@+1 {{VECTORS}}
    %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
         : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
           vector<32x8xf4E2M1FN>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @tile_mma(%d: memref<16x8xf32>)
      workgroup(%a : memref<16x128xi8, #gpu.address_space<workgroup>>,
                %sa : memref<16x4xi8, #gpu.address_space<workgroup>>,
                %b : memref<8x128xi8, #gpu.address_space<workgroup>>,
                %sb : memref<8x4xi8, #gpu.address_space<workgroup>>) {
    %acc = blockscale.acc_zero : !blockscale.acc<16x8, #blockscale.warps<1x1>>
    // SEVERITY@+1 {{LOWER-LEVEL tile_mma}}
    %sum = blockscale.tile_mma %a, %sa, %b, %sb, %acc
           types = <e4m3, e2m1, ue8m0, 32>
           instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
           : memref<16x128xi8, #gpu.address_space<workgroup>>,
             memref<16x4xi8, #gpu.address_space<workgroup>>,
             memref<8x128xi8, #gpu.address_space<workgroup>>,
             memref<8x4xi8, #gpu.address_space<workgroup>>,
             !blockscale.acc<16x8, #blockscale.warps<1x1>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @mma_sync(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                     %s: i32) {
    // SEVERITY@+1 {{LOWER-LEVEL mma_sync}}
    %d = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
         %a, %b, %c, %s[0, 0], %s[0, 0]
    gpu.return
  }
}
