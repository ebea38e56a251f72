func.func @mma(%x: tensor<16x4096xf4E2M1FN>, %xs: tensor<16x128xf8E8M0FNU>, %y: tensor<14336x4096xf4E2M1FN>, %ys: tensor<14336x128xf8E8M0FNU>) -> tensor<16x14336xf32> {
  %acc = arith.constant dense<0.0> : tensor<16x14336xf32>
  %y_empty = tensor.empty() : tensor<4096x14336xf4E2M1FN>
  %ys_empty = tensor.empty() : tensor<128x14336xf8E8M0FNU>
  %yk = linalg.transpose ins(%y : tensor<14336x4096xf4E2M1FN>) outs(%y_empty : tensor<4096x14336xf4E2M1FN>) permutation = [1, 0]
  %ysk = linalg.transpose ins(%ys : tensor<14336x128xf8E8M0FNU>) outs(%ys_empty : tensor<128x14336xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yk, %ysk, %acc : tensor<16x4096xf4E2M1FN>, tensor<16x128xf8E8M0FNU>, tensor<4096x14336xf4E2M1FN>, tensor<128x14336xf8E8M0FNU>, tensor<16x14336xf32>
  return %d : tensor<16x14336xf32>
}
