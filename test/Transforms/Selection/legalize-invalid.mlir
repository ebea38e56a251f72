// A batch of vectors is unrolled, up to 1024 of them.

// RUN: blockscale-opt %s --blockscale-legalize -split-input-file -verify-diagnostics

func.func @too_many(%x: vector<1025x16x32xf8E4M3FN>,
                    %sx: vector<1025x16x1xf8E8M0FNU>,
                    %y: vector<32x8xf8E5M2>, %sy: vector<1x8xf8E8M0FNU>,
                    %c: vector<1025x16x8xf32>) -> vector<1025x16x8xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op not supported in this version: a batch of more than 1024 vectors, 'vector<1025x16x8xf32>'}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : vector<1025x16x32xf8E4M3FN>, vector<1025x16x1xf8E8M0FNU>,
         vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<1025x16x8xf32>
  return %d : vector<1025x16x8xf32>
}

// -----

func.func @most(%x: vector<1024x1x32xf8E4M3FN>,
                %sx: vector<1024x1x1xf8E8M0FNU>,
                %y: vector<32x1xf8E5M2>, %sy: vector<1x1xf8E8M0FNU>,
                %c: vector<1024x1x1xf32>) -> vector<1024x1x1xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : vector<1024x1x32xf8E4M3FN>, vector<1024x1x1xf8E8M0FNU>,
         vector<32x1xf8E5M2>, vector<1x1xf8E8M0FNU>, vector<1024x1x1xf32>
  return %d : vector<1024x1x1xf32>
}

// -----

// Kernels for tensors have the batch as a dimension of their grid.
func.func @tensors(%x: tensor<1025x16x32xf8E4M3FN>,
                   %sx: tensor<1025x16x1xf8E8M0FNU>,
                   %y: tensor<32x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>,
                   %c: tensor<1025x16x8xf32>) -> tensor<1025x16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<1025x16x32xf8E4M3FN>, tensor<1025x16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<1025x16x8xf32>
  return %d : tensor<1025x16x8xf32>
}
