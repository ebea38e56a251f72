// Coarse scales that blockscale-select-path has not rewritten are refused by
// every pass behind it.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-legalize
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-select-schedule
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --blockscale-form-kernels

module attributes {blockscale.target = #blockscale.target<sm_100a>} {
  func.func @blocks(%x: tensor<256x256xf8E4M3FN>, %x_scale: tensor<256x2xf32>,
                    %y: tensor<256x576xf8E4M3FN>, %y_scale: tensor<2x5xf32>,
                    %acc: tensor<256x576xf32>) -> tensor<256x576xf32> {
    // expected-error-re@+1 {{'blockscale.mma_scaled' op not supported in this version: coarse scales in kernels, expected blockscale-select-path first, got blocks of <rows = 1, k = 128> with f32 scales for x and <rows = 128, k = 128> with f32 scales for y, with tensor}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
         : tensor<256x256xf8E4M3FN>, tensor<256x2xf32>,
           tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<256x576xf32>
    return %d : tensor<256x576xf32>
  }
}

// -----

// In a kernel.

module attributes {blockscale.target = #blockscale.target<sm_120a>} {
  gpu.module @kernels {
    gpu.func @vectors(%x: vector<16x64xf8E4M3FN>, %x_scale: vector<16x1xf32>,
                      %y: vector<64x8xf8E4M3FN>, %y_scale: vector<1x1xf32>,
                      %acc: vector<16x8xf32>, %out: memref<16x8xf32>) kernel {
      %c0 = arith.constant 0 : index
      // expected-error-re@+1 {{'blockscale.mma_scaled' op not supported in this version: coarse scales in kernels, expected tensors, got blocks of <rows = 1, k = all> with f32 scales for x and <rows = all, k = all> with f32 scales for y, with vector}}
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           {x_scale_block = #blockscale.scale_block<rows = 1, k = all>,
            y_scale_block = #blockscale.scale_block<rows = all, k = all>}
           : vector<16x64xf8E4M3FN>, vector<16x1xf32>, vector<64x8xf8E4M3FN>,
             vector<1x1xf32>, vector<16x8xf32>
      vector.store %d, %out[%c0, %c0] : memref<16x8xf32>, vector<16x8xf32>
      gpu.return
    }
  }
}
