// The second program of cuTile's documentation of mma_scaled: scales that are
// stored in the 32x4x4 layout, and y stored as N x K. All elements are 1 and
// all scales 2, so each result is 128 * (1 * 2) * (1 * 2) = 512.
//
// mma_scaled_swizzled.py writes the arguments.

func.func @main(%x: tensor<128x128xf8E4M3FN>,
                %x_scale: tensor<1x1x32x16xf8E8M0FNU>,
                %y_nk: tensor<128x128xf8E4M3FN>,
                %y_scale: tensor<1x1x32x16xf8E8M0FNU>)
    -> tensor<128x128xf32> {
  // Read where they are: neither the layout nor the transpose costs a copy.
  %x_s = blockscale.unswizzle_scales %x_scale
         : tensor<1x1x32x16xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
  %y_s_nk = blockscale.unswizzle_scales %y_scale
            : tensor<1x1x32x16xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
  %y_empty = tensor.empty() : tensor<128x128xf8E4M3FN>
  %y = linalg.transpose ins(%y_nk : tensor<128x128xf8E4M3FN>)
       outs(%y_empty : tensor<128x128xf8E4M3FN>) permutation = [1, 0]
  %y_s_empty = tensor.empty() : tensor<4x128xf8E8M0FNU>
  %y_s = linalg.transpose ins(%y_s_nk : tensor<128x4xf8E8M0FNU>)
         outs(%y_s_empty : tensor<4x128xf8E8M0FNU>) permutation = [1, 0]
  %acc = arith.constant dense<0.0> : tensor<128x128xf32>
  %z = blockscale.mma_scaled %x, %x_s, %y, %y_s, %acc
       : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
         tensor<128x128xf8E4M3FN>, tensor<4x128xf8E8M0FNU>,
         tensor<128x128xf32>
  return %z : tensor<128x128xf32>
}
