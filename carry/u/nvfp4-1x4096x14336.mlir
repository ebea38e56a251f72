func.func @mma(%x: tensor<1x14336xf4E2M1FN>, %xs: tensor<1x896xf8E4M3FN>, %y: tensor<4096x14336xf4E2M1FN>, %ys: tensor<4096x896xf8E4M3FN>) -> tensor<1x4096xf32> {
  %acc = arith.constant dense<0.0> : tensor<1x4096xf32>
  %y_empty = tensor.empty() : tensor<14336x4096xf4E2M1FN>
  %ys_empty = tensor.empty() : tensor<896x4096xf8E4M3FN>
  %yk = linalg.transpose ins(%y : tensor<4096x14336xf4E2M1FN>) outs(%y_empty : tensor<14336x4096xf4E2M1FN>) permutation = [1, 0]
  %ysk = linalg.transpose ins(%ys : tensor<4096x896xf8E4M3FN>) outs(%ys_empty : tensor<896x4096xf8E4M3FN>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yk, %ysk, %acc : tensor<1x14336xf4E2M1FN>, tensor<1x896xf8E4M3FN>, tensor<14336x4096xf4E2M1FN>, tensor<896x4096xf8E4M3FN>, tensor<1x4096xf32>
  return %d : tensor<1x4096xf32>
}
