// Vectors in kernels of users have no coarse scales.

// RUN: blockscale-opt %s --verify-diagnostics --blockscale-select-path

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
