// More tiles than a grid may have, and than an integer can count.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels -verify-diagnostics

func.func @countless(
    %x: tensor<1125899906842624x128xf8E4M3FN>,
    %sx: tensor<1125899906842624x4xf8E8M0FNU>,
    %y: tensor<128x1125899906842624xf8E5M2>,
    %sy: tensor<4x1125899906842624xf8E8M0FNU>,
    %c: tensor<1125899906842624x1125899906842624xf32>)
    -> tensor<1125899906842624x1125899906842624xf32> {
  // expected-error@+1 {{'blockscale.mma_scaled' op not supported in this version: more than 2147483647 tiles, got 9223372036854775807}}
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<1125899906842624x128xf8E4M3FN>,
         tensor<1125899906842624x4xf8E8M0FNU>,
         tensor<128x1125899906842624xf8E5M2>,
         tensor<4x1125899906842624xf8E8M0FNU>,
         tensor<1125899906842624x1125899906842624xf32>
  return %d : tensor<1125899906842624x1125899906842624xf32>
}
