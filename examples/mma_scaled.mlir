// The first program of cuTile's documentation of mma_scaled: a 2 x 64 matrix
// of ones times a 64 x 2 matrix of ones, every scale 2. Each of the four
// results is 64 * (1 * 2) * (1 * 2) = 256.

func.func @main() -> tensor<2x2xf32> {
  %x = arith.constant dense<1.0> : tensor<2x64xf8E4M3FN>
  %x_scale = arith.constant dense<2.0> : tensor<2x2xf8E8M0FNU>
  %y = arith.constant dense<1.0> : tensor<64x2xf8E4M3FN>
  %y_scale = arith.constant dense<2.0> : tensor<2x2xf8E8M0FNU>
  %acc = arith.constant dense<0.0> : tensor<2x2xf32>
  %z = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>,
         tensor<64x2xf8E4M3FN>, tensor<2x2xf8E8M0FNU>, tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}
