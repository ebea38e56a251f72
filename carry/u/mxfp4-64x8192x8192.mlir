func.func @mma(%x: tensor<64x8192xf4E2M1FN>, %xs: tensor<64x256xf8E8M0FNU>, %y: tensor<8192x8192xf4E2M1FN>, %ys: tensor<8192x256xf8E8M0FNU>) -> tensor<64x8192xf32> {
  %acc = arith.constant dense<0.0> : tensor<64x8192xf32>
  %y_empty = tensor.empty() : tensor<8192x8192xf4E2M1FN>
  %ys_empty = tensor.empty() : tensor<256x8192xf8E8M0FNU>
  %yk = linalg.transpose ins(%y : tensor<8192x8192xf4E2M1FN>) outs(%y_empty : tensor<8192x8192xf4E2M1FN>) permutation = [1, 0]
  %ysk = linalg.transpose ins(%ys : tensor<8192x256xf8E8M0FNU>) outs(%ys_empty : tensor<256x8192xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yk, %ysk, %acc : tensor<64x8192xf4E2M1FN>, tensor<64x256xf8E8M0FNU>, tensor<8192x8192xf4E2M1FN>, tensor<256x8192xf8E8M0FNU>, tensor<64x8192xf32>
  return %d : tensor<64x8192xf32>
}
