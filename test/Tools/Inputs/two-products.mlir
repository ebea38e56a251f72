// A product with scales and one without.
func.func @main(%x: tensor<256x256xf8E4M3FN>, %xs: tensor<256x8xf8E8M0FNU>, %y: tensor<256x256xf8E4M3FN>,
                %ys: tensor<8x256xf8E8M0FNU>, %acc: tensor<256x256xf32>, %z: tensor<256x256xbf16>)
    -> tensor<256x256xf32> {
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E4M3FN>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  %f = linalg.matmul ins(%z, %z : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%d : tensor<256x256xf32>)
       -> tensor<256x256xf32>
  return %f : tensor<256x256xf32>
}
