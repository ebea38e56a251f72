// RUN: blockscale-opt %s --blockscale-raise --verify-diagnostics | FileCheck %s

// A product of a decompressed operand is sparse where the other operand has neither NaN nor infinity.

// CHECK-LABEL: func.func @x(
// CHECK-SAME:    %[[K:.*]]: tensor<8x64xf4E2M1FN>, %[[E:.*]]: tensor<8x8xi8>, %[[XS:.*]]: tensor<8x4xf8E8M0FNU>, %[[Y:.*]]: tensor<128x16xf4E2M1FN>, %[[YS:.*]]: tensor<4x16xf8E8M0FNU>, %[[ACC:.*]]: tensor<8x16xf32>)
// CHECK-NEXT:    %[[D:.*]] = blockscale.sparse_mma_scaled %[[K]], %[[E]], %[[XS]], %[[Y]], %[[YS]], %[[ACC]] {{.*}}granularity = #blockscale.granularity<pairs>}
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
// CHECK-SAME:    %[[X:.*]]: tensor<?x128xf4E2M1FN>, %[[XS:.*]]: tensor<?x4xf8E8M0FNU>, %[[W:.*]]: tensor<16x64xf4E2M1FN>, %[[E:.*]]: tensor<16x8xi8>, %[[WS:.*]]: tensor<16x4xf8E8M0FNU>, %[[ACC:.*]]: tensor<?x16xf32>)
// CHECK-DAG:     %[[XT:.*]] = linalg.transpose ins(%[[X]] : tensor<?x128xf4E2M1FN>) {{.*}} permutation = [1, 0]
// CHECK-DAG:     %[[XST:.*]] = linalg.transpose ins(%[[XS]] : tensor<?x4xf8E8M0FNU>) {{.*}} permutation = [1, 0]
// CHECK-DAG:     %[[ACCT:.*]] = linalg.transpose ins(%[[ACC]] : tensor<?x16xf32>) {{.*}} permutation = [1, 0]
// CHECK:         %[[D:.*]] = blockscale.sparse_mma_scaled %[[W]], %[[E]], %[[WS]], %[[XT]], %[[XST]], %[[ACCT]] {{.*}}granularity = #blockscale.granularity<pairs>
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[D]] : tensor<16x?xf32>)
// CHECK:         return %[[T]]
func.func @y(%x: tensor<?x128xf4E2M1FN>, %xs: tensor<?x4xf8E8M0FNU>, %k: tensor<16x64xf4E2M1FN>, %e: tensor<16x8xi8>,
             %ws: tensor<16x4xf8E8M0FNU>, %acc: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %w = blockscale.decompress %k, %e {granularity = #blockscale.granularity<pairs>}
       : tensor<16x64xf4E2M1FN>, tensor<16x8xi8> to tensor<16x128xf4E2M1FN>
  %empty = tensor.empty() : tensor<128x16xf4E2M1FN>
  %y = linalg.transpose ins(%w : tensor<16x128xf4E2M1FN>) outs(%empty : tensor<128x16xf4E2M1FN>) permutation = [1, 0]
  %empty_scales = tensor.empty() : tensor<4x16xf8E8M0FNU>
  %ys = linalg.transpose ins(%ws : tensor<16x4xf8E8M0FNU>) outs(%empty_scales : tensor<4x16xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc {block_size = 32 : i64}
       : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>, tensor<128x16xf4E2M1FN>, tensor<4x16xf8E8M0FNU>, tensor<?x16xf32>
  return %d : tensor<?x16xf32>
}

// NaN of y times a zero that was not kept is NaN.
// CHECK-LABEL: func.func @nan(
// CHECK:         blockscale.mma_scaled
func.func @nan(%k: tensor<8x64xf8E4M3FN>, %e: tensor<8x16xi8>, %xs: tensor<8x4xf8E8M0FNU>, %y: tensor<128x16xf8E4M3FN>,
               %ys: tensor<4x16xf8E8M0FNU>, %acc: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %x = blockscale.decompress %k, %e {granularity = #blockscale.granularity<2:4>}
       : tensor<8x64xf8E4M3FN>, tensor<8x16xi8> to tensor<8x128xf8E4M3FN>
  // expected-remark @+1 {{not raised to blockscale.sparse_mma_scaled: expected the other operand to have neither NaN nor infinity}}
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<8x128xf8E4M3FN>, tensor<8x4xf8E8M0FNU>, tensor<128x16xf8E4M3FN>, tensor<4x16xf8E8M0FNU>, tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// A batch; attributes of the product go on.
// CHECK-LABEL: func.func @batch(
// CHECK:         blockscale.sparse_mma_scaled {{.*}}blockscale.path = #blockscale.path<mma_sync>
func.func @batch(%k: tensor<2x8x64xf4E2M1FN>, %e: tensor<2x8x8xi8>, %xs: tensor<2x8x4xf8E8M0FNU>, %y: tensor<128x16xf4E2M1FN>,
                 %ys: tensor<4x16xf8E8M0FNU>, %acc: tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
  %x = blockscale.decompress %k, %e {granularity = #blockscale.granularity<pairs>}
       : tensor<2x8x64xf4E2M1FN>, tensor<2x8x8xi8> to tensor<2x8x128xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2x8x128xf4E2M1FN>, tensor<2x8x4xf8E8M0FNU>, tensor<128x16xf4E2M1FN>, tensor<4x16xf8E8M0FNU>, tensor<2x8x16xf32>
  return %d : tensor<2x8x16xf32>
}

// K is static by the type of the result only.
// CHECK-LABEL: func.func @dynamic_kept(
// CHECK:         blockscale.sparse_mma_scaled {{.*}}block_size = 32 : i64
func.func @dynamic_kept(%k: tensor<8x?xf4E2M1FN>, %e: tensor<8x?xi8>, %xs: tensor<8x4xf8E8M0FNU>, %y: tensor<?x16xf4E2M1FN>,
                        %ys: tensor<4x16xf8E8M0FNU>, %acc: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %x = blockscale.decompress %k, %e {granularity = #blockscale.granularity<pairs>}
       : tensor<8x?xf4E2M1FN>, tensor<8x?xi8> to tensor<8x128xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<8x128xf4E2M1FN>, tensor<8x4xf8E8M0FNU>, tensor<?x16xf4E2M1FN>, tensor<4x16xf8E8M0FNU>, tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// No instruction has blocks of 32 with elements.
// CHECK-LABEL: func.func @no_instruction(
// CHECK:         blockscale.mma_scaled
func.func @no_instruction(%k: tensor<8x64xf8E4M3FN>, %e: tensor<8x16xi8>, %xs: tensor<8x4xf8E8M0FNU>, %y: tensor<128x16xf6E2M3FN>,
                          %ys: tensor<4x16xf8E8M0FNU>, %acc: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %x = blockscale.decompress %k, %e {granularity = #blockscale.granularity<2:4>}
       : tensor<8x64xf8E4M3FN>, tensor<8x16xi8> to tensor<8x128xf8E4M3FN>
  // expected-remark @+1 {{expected types, blocks and a granularity that a sparse instruction of some chip has}}
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<8x128xf8E4M3FN>, tensor<8x4xf8E8M0FNU>, tensor<128x16xf6E2M3FN>, tensor<4x16xf8E8M0FNU>, tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}
