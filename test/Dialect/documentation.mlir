// The examples in the descriptions of the ops.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-compile %s --target=cpu -o %t.ll

// CHECK-LABEL: func @mxfp8(
// CHECK:         blockscale.mma_scaled
func.func @mxfp8(%x: tensor<128x256xf8E4M3FN>,
                 %x_scale: tensor<128x8xf8E8M0FNU>,
                 %y: tensor<256x64xf8E5M2>,
                 %y_scale: tensor<8x64xf8E8M0FNU>,
                 %acc: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>,
         tensor<256x64xf8E5M2>, tensor<8x64xf8E8M0FNU>,
         tensor<128x64xf32>
  return %d : tensor<128x64xf32>
}

// CHECK-LABEL: func @nvfp4(
// CHECK:         blockscale.mma_scaled
func.func @nvfp4(%x: tensor<4x16x?xf4E2M1FN>,
                 %x_scale: tensor<4x16x?xf8E4M3FN>,
                 %y: tensor<?x8xf4E2M1FN>,
                 %y_scale: tensor<?x8xf8E4M3FN>,
                 %acc: tensor<4x16x8xf32>) -> tensor<4x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {block_size = 16}
       : tensor<4x16x?xf4E2M1FN>, tensor<4x16x?xf8E4M3FN>,
         tensor<?x8xf4E2M1FN>, tensor<?x8xf8E4M3FN>,
         tensor<4x16x8xf32>
  return %d : tensor<4x16x8xf32>
}

// CHECK-LABEL: func @swizzle(
// CHECK:         blockscale.swizzle_scales
func.func @swizzle(%s: tensor<300x9xf8E8M0FNU>)
    -> tensor<3x3x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return %t : tensor<3x3x32x16xf8E8M0FNU>
}

// CHECK-LABEL: func @unswizzle(
// CHECK:         blockscale.unswizzle_scales
func.func @unswizzle(%t: tensor<?x?x32x16xf8E8M0FNU>, %m: index, %k: index)
    -> tensor<?x?xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %s : tensor<?x?xf8E8M0FNU>
}
