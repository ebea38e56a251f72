// Dynamic sizes of coarse scales are checked at run time.

// RUN: blockscale-opt %s --generate-runtime-verification --split-input-file | FileCheck %s

// CHECK-LABEL: func @product(
// CHECK:         cf.assert {{.*}}expected N to be at least 1
// CHECK:         cf.assert {{.*}}expected K to be at least 1
// CHECK:         cf.assert {{.*}}expected y to have the K of x
// CHECK:         cf.assert {{.*}}expected x_scale to have one along M for 1 of x
// CHECK:         cf.assert {{.*}}expected x_scale to have one along K for 128 of x
// CHECK:         cf.assert {{.*}}expected y_scale to have one along N for 1 of y
// CHECK:         cf.assert {{.*}}expected y_scale to have one along K for 32 of y
// CHECK:         cf.assert {{.*}}expected K to be a multiple of 32, the block of y_scale
// CHECK:         blockscale.mma_scaled
func.func @product(%x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf32>,
                   %y: tensor<?x?xf4E2M1FN>, %y_scale: tensor<?x?xf8E8M0FNU>,
                   %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
        y_scale_block = #blockscale.scale_block<rows = 1, k = 32>}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf32>, tensor<?x?xf4E2M1FN>,
         tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @dequantize(
// CHECK:         cf.assert {{.*}}expected K to be at least 1
// CHECK:         cf.assert {{.*}}expected scales to have the batch of the elements
// CHECK:         cf.assert {{.*}}expected scales to have one along the rows for 128 of elements
// CHECK:         cf.assert {{.*}}expected scales to have one along K for all of elements
// CHECK:         blockscale.dequantize
func.func @dequantize(%e: tensor<?x?x?xf8E4M3FN>, %s: tensor<?x?x?xf32>)
    -> tensor<?x?x?xf32> {
  %d = blockscale.dequantize %e, %s
       {scale_block = #blockscale.scale_block<rows = 128, k = all>}
       : tensor<?x?x?xf8E4M3FN>, tensor<?x?x?xf32> to tensor<?x?x?xf32>
  return %d : tensor<?x?x?xf32>
}

// -----

// CHECK-LABEL: func @quantize(
// CHECK:         cf.assert {{.*}}expected K to be at least 1
// CHECK-NOT:     multiple
// CHECK:         blockscale.quantize
func.func @quantize(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %e, %s = blockscale.quantize %x
      {scale_block = #blockscale.scale_block<rows = 128, k = 128>}
      : tensor<?x?xf32> to tensor<?x?xf8E4M3FN>, tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

// -----

// Sizes that are known are not checked.

// CHECK-LABEL: func @static(
// CHECK-NOT:     cf.assert
func.func @static(%x: tensor<4x200xf8E4M3FN>, %x_scale: tensor<4x2xf32>,
                  %y: tensor<200x300xf8E4M3FN>, %y_scale: tensor<2x3xf32>,
                  %acc: tensor<4x300xf32>) -> tensor<4x300xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<4x200xf8E4M3FN>, tensor<4x2xf32>, tensor<200x300xf8E4M3FN>,
         tensor<2x3xf32>, tensor<4x300xf32>
  return %d : tensor<4x300xf32>
}
