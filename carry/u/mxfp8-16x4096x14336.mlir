func.func @mma(%x: tensor<16x14336xf8E4M3FN>, %xs: tensor<16x448xf8E8M0FNU>, %y: tensor<4096x14336xf8E4M3FN>, %ys: tensor<4096x448xf8E8M0FNU>) -> tensor<16x4096xf32> {
  %acc = arith.constant dense<0.0> : tensor<16x4096xf32>
  %y_empty = tensor.empty() : tensor<14336x4096xf8E4M3FN>
  %ys_empty = tensor.empty() : tensor<448x4096xf8E8M0FNU>
  %yk = linalg.transpose ins(%y : tensor<4096x14336xf8E4M3FN>) outs(%y_empty : tensor<14336x4096xf8E4M3FN>) permutation = [1, 0]
  %ysk = linalg.transpose ins(%ys : tensor<4096x448xf8E8M0FNU>) outs(%ys_empty : tensor<448x4096xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yk, %ysk, %acc : tensor<16x14336xf8E4M3FN>, tensor<16x448xf8E8M0FNU>, tensor<14336x4096xf8E4M3FN>, tensor<448x4096xf8E8M0FNU>, tensor<16x4096xf32>
  return %d : tensor<16x4096xf32>
}
