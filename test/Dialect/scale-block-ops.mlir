// Coarse scales: the text forms, and what becomes of blocks that have a
// block_size.

// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --canonicalize | FileCheck %s --check-prefix=CANON

// CHECK-LABEL: func @blocks(
// CHECK:         blockscale.mma_scaled
// CHECK-SAME:      {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
// CHECK-SAME:      : tensor<?x?xf8E4M3FN>, tensor<?x?xf32>, tensor<?x?xf8E4M3FN>, tensor<?x?xf32>, tensor<?x?xf32>
// CANON-LABEL: func @blocks(
// CANON:         x_scale_block = {{.*}}, y_scale_block =
func.func @blocks(%x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf32>,
                  %y: tensor<?x?xf8E4M3FN>, %y_scale: tensor<?x?xf32>,
                  %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>,
        y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf32>, tensor<?x?xf8E4M3FN>,
         tensor<?x?xf32>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// One scale for a row of x, and for all of y.

// CHECK-LABEL: func @row_and_tensor(
// CHECK:         x_scale_block = #blockscale.scale_block<rows = 1, k = all>, y_scale_block = #blockscale.scale_block<rows = all, k = all>
func.func @row_and_tensor(%x: vector<4x16xf8E5M2>, %x_scale: vector<4x1xf32>,
                          %y: vector<16x8xf8E4M3FN>,
                          %y_scale: vector<1x1xf8E8M0FNU>,
                          %acc: vector<4x8xf32>) -> vector<4x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = all>,
        y_scale_block = #blockscale.scale_block<rows = all, k = all>}
       : vector<4x16xf8E5M2>, vector<4x1xf32>, vector<16x8xf8E4M3FN>,
         vector<1x1xf8E8M0FNU>, vector<4x8xf32>
  return %d : vector<4x8xf32>
}

// The blocks follow from the sizes.

// CHECK-LABEL: func @inferred(
// CHECK:         blockscale.mma_scaled %{{[^{]*}} : tensor<300x192xf8E4M3FN>
func.func @inferred(%x: tensor<300x192xf8E4M3FN>, %x_scale: tensor<300x2xf32>,
                    %y: tensor<192x576xf4E2M1FN>,
                    %y_scale: tensor<6x576xf8E8M0FNU>,
                    %acc: tensor<300x576xf32>) -> tensor<300x576xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<300x192xf8E4M3FN>, tensor<300x2xf32>,
         tensor<192x576xf4E2M1FN>, tensor<6x576xf8E8M0FNU>,
         tensor<300x576xf32>
  return %d : tensor<300x576xf32>
}

// Blocks that instructions have become a block_size.

// CHECK-LABEL: func @fine(
// CHECK:         x_scale_block = #blockscale.scale_block<rows = 1, k = 32>
// CANON-LABEL: func @fine(
// CANON:         blockscale.mma_scaled {{.*}} {block_size = 32 : i64} :
func.func @fine(%x: tensor<4x?xf8E4M3FN>, %x_scale: tensor<4x?xf8E8M0FNU>,
                %y: tensor<?x8xf4E2M1FN>, %y_scale: tensor<?x8xf8E8M0FNU>,
                %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 32>,
        y_scale_block = #blockscale.scale_block<rows = 1, k = 32>}
       : tensor<4x?xf8E4M3FN>, tensor<4x?xf8E8M0FNU>, tensor<?x8xf4E2M1FN>,
         tensor<?x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// Two different ones do not.

// CANON-LABEL: func @mixed_fine(
// CANON:         x_scale_block = #blockscale.scale_block<rows = 1, k = 16>
// CANON-NOT:     block_size
func.func @mixed_fine(%x: tensor<4x64xf4E2M1FN>, %x_scale: tensor<4x4xf8E8M0FNU>,
                      %y: tensor<64x8xf4E2M1FN>, %y_scale: tensor<2x8xf8E8M0FNU>,
                      %acc: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       {x_scale_block = #blockscale.scale_block<rows = 1, k = 16>}
       : tensor<4x64xf4E2M1FN>, tensor<4x4xf8E8M0FNU>, tensor<64x8xf4E2M1FN>,
         tensor<2x8xf8E8M0FNU>, tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// CHECK-LABEL: func @quantize(
// CHECK:         blockscale.quantize %{{.*}} {rule = #blockscale.scale_rule<rceil>, scale_block = #blockscale.scale_block<rows = 128, k = all>}
// CHECK-SAME:      : tensor<2x?x320xbf16> to tensor<2x?x320xf8E4M3FN>, tensor<2x?x1xf32>, tensor<f32>
// CHECK:         blockscale.dequantize %{{.*}}, %{{.*}} {scale_block = #blockscale.scale_block<rows = 128, k = all>}
func.func @quantize(%x: tensor<2x?x320xbf16>) -> tensor<2x?x320xf16> {
  %e, %s, %amax = blockscale.quantize %x
      {rule = #blockscale.scale_rule<rceil>,
       scale_block = #blockscale.scale_block<rows = 128, k = all>}
      : tensor<2x?x320xbf16>
      to tensor<2x?x320xf8E4M3FN>, tensor<2x?x1xf32>, tensor<f32>
  %d = blockscale.dequantize %e, %s
      {scale_block = #blockscale.scale_block<rows = 128, k = all>}
      : tensor<2x?x320xf8E4M3FN>, tensor<2x?x1xf32> to tensor<2x?x320xf16>
  return %d : tensor<2x?x320xf16>
}
