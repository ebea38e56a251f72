// RUN: blockscale-opt %s --blockscale-raise | FileCheck %s

// A product of a decompressed operand is sparse where the other operand has neither NaN nor infinity.

// CHECK-LABEL: func.func @x(
// CHECK-SAME:    %[[K:.*]]: tensor<8x64xf4E2M1FN>, %[[E:.*]]: tensor<8x8xi8>, %[[XS:.*]]: tensor<8x4xf8E8M0FNU>, %[[Y:.*]]: tensor<128x16xf4E2M1FN>, %[[YS:.*]]: tensor<4x16xf8E8M0FNU>, %[[ACC:.*]]: tensor<8x16xf32>)
// CHECK-NEXT:    %[[D:.*]] = blockscale.sparse_mma_scaled %[[K]], %[[E]], %[[XS]], %[[Y]], %[[YS]], %[[ACC]] {granularity = #blockscale.granularity<pairs>}
// CHECK-NEXT:    return %[[D]]
func.func @x(%k: tensor<8x64xf4E2M1FN>, %e: tensor<8x8xi8>, %xs: tensor<8x4xf8E8M0FNU>, %y: tensor<128x16xf4E2M1FN>,
             %ys: tensor<4x16xf8E8M0FNU>, %acc: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %x = blockscale.decompress %k, %e {granularity = #blockscale.granularity<pairs>}
       : tensor<8x64xf4E2M1FN>, tensor<8x8xi8> to tensor<8x128xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<8x128xf4E2M1FN>, tensor<8x4xf8E8M0FNU>, tensor<128x16xf4E2M1FN>, tensor<4x16xf8E8M0FNU>, tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// Sparse weights, N x K: the transposed product.
// CHECK-LABEL: func.func @y(
// CHECK-SAME:    %[[X:.*]]: tensor<?x128xf6E2M3FN>, %[[XS:.*]]: tensor<?x4xf8E8M0FNU>, %[[W:.*]]: tensor<16x64xf8E4M3FN>, %[[E:.*]]: tensor<16x16xi8>, %[[WS:.*]]: tensor<16x4xf8E8M0FNU>, %[[ACC:.*]]: tensor<?x16xf32>)
// CHECK-DAG:     %[[XT:.*]] = linalg.transpose ins(%[[X]] : tensor<?x128xf6E2M3FN>) {{.*}} permutation = [1, 0]
// CHECK-DAG:     %[[XST:.*]] = linalg.transpose ins(%[[XS]] : tensor<?x4xf8E8M0FNU>) {{.*}} permutation = [1, 0]
// CHECK-DAG:     %[[ACCT:.*]] = linalg.transpose ins(%[[ACC]] : tensor<?x16xf32>) {{.*}} permutation = [1, 0]
// CHECK:         %[[D:.*]] = blockscale.sparse_mma_scaled %[[W]], %[[E]], %[[WS]], %[[XT]], %[[XST]], %[[ACCT]] {{.*}}granularity = #blockscale.granularity<2:4>
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[D]] : tensor<16x?xf32>)
// CHECK:         return %[[T]]
func.func @y(%x: tensor<?x128xf6E2M3FN>, %xs: tensor<?x4xf8E8M0FNU>, %k: tensor<16x64xf8E4M3FN>, %e: tensor<16x16xi8>,
             %ws: tensor<16x4xf8E8M0FNU>, %acc: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %w = blockscale.decompress %k, %e {granularity = #blockscale.granularity<2:4>}
       : tensor<16x64xf8E4M3FN>, tensor<16x16xi8> to tensor<16x128xf8E4M3FN>
  %empty = tensor.empty() : tensor<128x16xf8E4M3FN>
  %y = linalg.transpose ins(%w : tensor<16x128xf8E4M3FN>) outs(%empty : tensor<128x16xf8E4M3FN>) permutation = [1, 0]
  %empty_scales = tensor.empty() : tensor<4x16xf8E8M0FNU>
  %ys = linalg.transpose ins(%ws : tensor<16x4xf8E8M0FNU>) outs(%empty_scales : tensor<4x16xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc {block_size = 32 : i64}
       : tensor<?x128xf6E2M3FN>, tensor<?x4xf8E8M0FNU>, tensor<128x16xf8E4M3FN>, tensor<4x16xf8E8M0FNU>, tensor<?x16xf32>
  return %d : tensor<?x16xf32>
}

// NaN of y times a zero that was not kept is NaN.
// CHECK-LABEL: func.func @nan(
// CHECK:         blockscale.mma_scaled
func.func @nan(%k: tensor<8x64xf8E4M3FN>, %e: tensor<8x16xi8>, %xs: tensor<8x4xf8E8M0FNU>, %y: tensor<128x16xf8E4M3FN>,
               %ys: tensor<4x16xf8E8M0FNU>, %acc: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %x = blockscale.decompress %k, %e {granularity = #blockscale.granularity<2:4>}
       : tensor<8x64xf8E4M3FN>, tensor<8x16xi8> to tensor<8x128xf8E4M3FN>
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<8x128xf8E4M3FN>, tensor<8x4xf8E8M0FNU>, tensor<128x16xf8E4M3FN>, tensor<4x16xf8E8M0FNU>, tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// What the program quantizes has neither.
// CHECK-LABEL: func.func @quantized(
// CHECK:         blockscale.sparse_mma_scaled
func.func @quantized(%k: tensor<2x8x64xf8E4M3FN>, %e: tensor<2x8x16xi8>, %xs: tensor<2x8x4xf8E8M0FNU>, %v: tensor<16x128xf32>,
                     %acc: tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
  %x = blockscale.decompress %k, %e {granularity = #blockscale.granularity<2:4>}
       : tensor<2x8x64xf8E4M3FN>, tensor<2x8x16xi8> to tensor<2x8x128xf8E4M3FN>
  %q, %qs = blockscale.quantize %v {block_size = 32 : i64} : tensor<16x128xf32> to tensor<16x128xf8E4M3FN>, tensor<16x4xf8E8M0FNU>
  %empty = tensor.empty() : tensor<128x16xf8E4M3FN>
  %y = linalg.transpose ins(%q : tensor<16x128xf8E4M3FN>) outs(%empty : tensor<128x16xf8E4M3FN>) permutation = [1, 0]
  %empty_scales = tensor.empty() : tensor<4x16xf8E8M0FNU>
  %ys = linalg.transpose ins(%qs : tensor<16x4xf8E8M0FNU>) outs(%empty_scales : tensor<4x16xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<2x8x128xf8E4M3FN>, tensor<2x8x4xf8E8M0FNU>, tensor<128x16xf8E4M3FN>, tensor<4x16xf8E8M0FNU>, tensor<2x8x16xf32>
  return %d : tensor<2x8x16xf32>
}
