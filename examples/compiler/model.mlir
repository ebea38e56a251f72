// A layer in the dialect of tinyc: relu(x times the transpose of w, plus bias), in MXFP8 and MXFP4. Each 32 elements of a
// row of x, and of w, have a scale.
func.func @layer(%x: tensor<?x128xf8E4M3FN>, %x_scale: tensor<?x4xf8E8M0FNU>,
                 %w: tensor<24x128xf4E2M1FN>, %w_scale: tensor<24x4xf8E8M0FNU>,
                 %bias: tensor<24xf32>) -> tensor<?x24xf32> {
  %0 = "tiny.linear"(%x, %x_scale, %w, %w_scale, %bias)
      : (tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>, tensor<24x128xf4E2M1FN>,
         tensor<24x4xf8E8M0FNU>, tensor<24xf32>) -> tensor<?x24xf32>
  %1 = "tiny.relu"(%0) : (tensor<?x24xf32>) -> tensor<?x24xf32>
  return %1 : tensor<?x24xf32>
}
