// Coarse scales of grouped products: the text forms, what becomes of blocks that have a block_size, and checks of dynamic
// sizes.

// RUN: blockscale-opt %s --split-input-file | blockscale-opt --split-input-file | FileCheck %s
// RUN: blockscale-opt %s --split-input-file --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: blockscale-opt %s --split-input-file --generate-runtime-verification | FileCheck %s --check-prefix=CHECKED

// The example of the op.

// CHECK-LABEL: func.func @block128_experts(
// CHECK:         blockscale.grouped_mma_scaled %{{[^{]*}} {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>} : tensor<?x320xf8E4M3FN>, tensor<?x3xf32>
// CANON-LABEL: func.func @block128_experts(
// CANON:         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
func.func @block128_experts(%x: tensor<?x320xf8E4M3FN>,
                            %xs: tensor<?x3xf32>,
                            %y: tensor<4x320x576xf8E4M3FN>,
                            %ys: tensor<4x3x5xf32>,
                            %offsets: tensor<4xi32>,
                            %acc: tensor<?x576xf32>) -> tensor<?x576xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %offsets, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
       : tensor<?x320xf8E4M3FN>, tensor<?x3xf32>,
         tensor<4x320x576xf8E4M3FN>, tensor<4x3x5xf32>,
         tensor<4xi32>, tensor<?x576xf32>
  return %d : tensor<?x576xf32>
}

// -----

// Both blocks follow from the sizes: 128 rows of x are none that could have a scale.

// CHECK-LABEL: func.func @inferred(
// CHECK:         blockscale.grouped_mma_scaled %{{[^{]*}} : tensor<300x192xf8E4M3FN>, tensor<1x2xf32>
func.func @inferred(%x: tensor<300x192xf8E4M3FN>, %xs: tensor<1x2xf32>, %y: tensor<2x192x576xf4E2M1FN>,
                    %ys: tensor<2x6x576xf8E8M0FNU>, %o: tensor<2xi32>, %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc
       : tensor<300x192xf8E4M3FN>, tensor<1x2xf32>, tensor<2x192x576xf4E2M1FN>, tensor<2x6x576xf8E8M0FNU>,
         tensor<2xi32>, tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// -----

// Blocks that instructions have become a block_size.

// CHECK-LABEL: func.func @fine(
// CHECK:         x_scale_block = #blockscale.scale_block<rows = 1, k = 32>
// CANON-LABEL: func.func @fine(
// CANON:         blockscale.grouped_mma_scaled %{{[^{]*}} {block_size = 32 : i64} : tensor<6x64xf8E4M3FN>
func.func @fine(%x: tensor<6x64xf8E4M3FN>, %xs: tensor<6x2xf8E8M0FNU>, %y: tensor<3x64x8xf8E5M2>, %ys: tensor<3x2x8xf8E8M0FNU>,
                %o: tensor<3xi32>, %acc: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 32>, y_scale_block = #blockscale.scale_block<rows = 1, k = 32>}
       : tensor<6x64xf8E4M3FN>, tensor<6x2xf8E8M0FNU>, tensor<3x64x8xf8E5M2>, tensor<3x2x8xf8E8M0FNU>, tensor<3xi32>, tensor<6x8xf32>
  return %d : tensor<6x8xf32>
}

// -----

// CHECKED-LABEL: func.func @checked(
// CHECKED-NOT:     expected x_scale to have the R of x
// CHECKED:         cf.assert {{.*}}expected y_scale to have the G of y
// CHECKED-NOT:     expected y_scale to have the N of y
// CHECKED:         cf.assert {{.*}}expected x_scale to have one along R for 1 of x
// CHECKED:         cf.assert {{.*}}expected x_scale to have one along K for 128 of x
// CHECKED:         cf.assert {{.*}}expected y_scale to have one along N for 128 of y
// CHECKED:         cf.assert {{.*}}expected y_scale to have one along K for 128 of y
// CHECKED:         blockscale.grouped_mma_scaled
func.func @checked(%x: tensor<?x?xf8E4M3FN>, %xs: tensor<?x?xf32>, %y: tensor<?x?x?xf8E5M2>, %ys: tensor<?x?x?xf32>,
                   %o: tensor<?xi32>, %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf32>, tensor<?x?x?xf8E5M2>, tensor<?x?x?xf32>, tensor<?xi32>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}
