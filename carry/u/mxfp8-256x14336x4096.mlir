func.func @mma(%x: tensor<256x4096xf8E4M3FN>, %xs: tensor<256x128xf8E8M0FNU>, %y: tensor<14336x4096xf8E4M3FN>, %ys: tensor<14336x128xf8E8M0FNU>) -> tensor<256x14336xf32> {
  %acc = arith.constant dense<0.0> : tensor<256x14336xf32>
  %y_empty = tensor.empty() : tensor<4096x14336xf8E4M3FN>
  %ys_empty = tensor.empty() : tensor<128x14336xf8E8M0FNU>
  %yk = linalg.transpose ins(%y : tensor<14336x4096xf8E4M3FN>) outs(%y_empty : tensor<4096x14336xf8E4M3FN>) permutation = [1, 0]
  %ysk = linalg.transpose ins(%ys : tensor<14336x128xf8E8M0FNU>) outs(%ys_empty : tensor<128x14336xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yk, %ysk, %acc : tensor<256x4096xf8E4M3FN>, tensor<256x128xf8E8M0FNU>, tensor<4096x14336xf8E4M3FN>, tensor<128x14336xf8E8M0FNU>, tensor<256x14336xf32>
  return %d : tensor<256x14336xf32>
}
