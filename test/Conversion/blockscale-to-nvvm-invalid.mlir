// A chip without the instruction.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --convert-blockscale-to-nvvm -split-input-file -verify-diagnostics
// RUN: sed s/sm_90a/sm_100a/ %s | blockscale-opt --blockscale-attach-target=target=sm_100a --convert-blockscale-to-nvvm -split-input-file -verify-diagnostics

// RUN: not blockscale-opt %s --blockscale-attach-target=target=sm_121 --convert-blockscale-to-nvvm -split-input-file 2>&1 | FileCheck %s --check-prefix=LETTER
// LETTER: error: unknown target 'sm_121': block-scaled instructions need the letter, expected sm_121a or sm_121f
// RUN: not blockscale-opt %s --convert-blockscale-to-nvvm -split-input-file 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: expected a module with the attribute 'blockscale.target' of blockscale-attach-target

gpu.module @kernels {
  gpu.func @step(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                 %sa: i32, %sb: i32) {
    // expected-error@+1 {{'blockscale.mma_sync' op expected a chip with mma.sync.kind::mxf8f6f4.block_scale.scale_vec::1X, got sm_90a}}
    %d = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
         %a, %b, %c, %sa[3, 1], %sb[0, 2]
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @mxf4(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                 %sa: i32, %sb: i32) {
    // expected-error@+1 {{'blockscale.mma_sync' op expected a chip with mma.sync.kind::mxf4.block_scale.scale_vec::2X, got sm_90a}}
    %d = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
         %a, %b, %c, %sa[0, 0], %sb[0, 0]
    gpu.return
  }
}
