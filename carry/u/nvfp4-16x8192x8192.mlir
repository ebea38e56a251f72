func.func @mma(%x: tensor<16x8192xf4E2M1FN>, %xs: tensor<16x512xf8E4M3FN>, %y: tensor<8192x8192xf4E2M1FN>, %ys: tensor<8192x512xf8E4M3FN>) -> tensor<16x8192xf32> {
  %acc = arith.constant dense<0.0> : tensor<16x8192xf32>
  %y_empty = tensor.empty() : tensor<8192x8192xf4E2M1FN>
  %ys_empty = tensor.empty() : tensor<512x8192xf8E4M3FN>
  %yk = linalg.transpose ins(%y : tensor<8192x8192xf4E2M1FN>) outs(%y_empty : tensor<8192x8192xf4E2M1FN>) permutation = [1, 0]
  %ysk = linalg.transpose ins(%ys : tensor<8192x512xf8E4M3FN>) outs(%ys_empty : tensor<512x8192xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yk, %ysk, %acc : tensor<16x8192xf4E2M1FN>, tensor<16x512xf8E4M3FN>, tensor<8192x8192xf4E2M1FN>, tensor<512x8192xf8E4M3FN>, tensor<16x8192xf32>
  return %d : tensor<16x8192xf32>
}
