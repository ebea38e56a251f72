// Sizes of results, computed from operands.

// RUN: blockscale-opt %s --resolve-ranked-shaped-type-result-dims | FileCheck %s

// CHECK-DAG: #[[$ROW_ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 128)>
// CHECK-DAG: #[[$BLOCK_ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 4)>

// CHECK-LABEL: func @mma_scaled_of_acc(
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<?x?x8xf32>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[N:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[BATCH:.*]] = tensor.dim %[[ACC]], %[[C0]]
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[ACC]], %[[C1]]
// CHECK-NOT:     blockscale.mma_scaled
// CHECK:         return %[[BATCH]], %[[M]], %[[N]]
func.func @mma_scaled_of_acc(
    %x: tensor<?x?x?xf8E4M3FN>, %x_scale: tensor<?x?x?xf8E8M0FNU>,
    %y: tensor<?x?xf8E5M2>, %y_scale: tensor<?x?xf8E8M0FNU>,
    %acc: tensor<?x?x8xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32}
       : tensor<?x?x?xf8E4M3FN>, tensor<?x?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>,
         tensor<?x?xf8E8M0FNU>, tensor<?x?x8xf32>
  %batch = tensor.dim %d, %c0 : tensor<?x?x8xf32>
  %m = tensor.dim %d, %c1 : tensor<?x?x8xf32>
  %n = tensor.dim %d, %c2 : tensor<?x?x8xf32>
  return %batch, %m, %n : index, index, index
}

// CHECK-LABEL: func @swizzle_scales_atoms(
// CHECK-SAME:    %[[SCALES:.*]]: tensor<?x?x?xf8E8M0FNU>)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[BATCH:.*]] = tensor.dim %[[SCALES]], %[[C0]]
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[SCALES]], %[[C1]]
// CHECK-DAG:     %[[ROW_ATOMS:.*]] = affine.apply #[[$ROW_ATOMS]]()[%[[M]]]
// CHECK-DAG:     %[[K_S:.*]] = tensor.dim %[[SCALES]], %[[C2]]
// CHECK-DAG:     %[[BLOCK_ATOMS:.*]] = affine.apply #[[$BLOCK_ATOMS]]()[%[[K_S]]]
// CHECK-NOT:     blockscale.swizzle_scales
// CHECK:         return %[[BATCH]], %[[ROW_ATOMS]], %[[BLOCK_ATOMS]]
func.func @swizzle_scales_atoms(%s: tensor<?x?x?xf8E8M0FNU>)
    -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %t = blockscale.swizzle_scales %s
       : tensor<?x?x?xf8E8M0FNU> to tensor<?x?x?x32x16xf8E8M0FNU>
  %batch = tensor.dim %t, %c0 : tensor<?x?x?x32x16xf8E8M0FNU>
  %rows = tensor.dim %t, %c1 : tensor<?x?x?x32x16xf8E8M0FNU>
  %blocks = tensor.dim %t, %c2 : tensor<?x?x?x32x16xf8E8M0FNU>
  return %batch, %rows, %blocks : index, index, index
}

// CHECK-LABEL: func @unswizzle_scales_sizes(
// CHECK-SAME:    %[[BATCH:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[K_S:.*]] = arith.constant 9 : index
// CHECK-NOT:     blockscale.unswizzle_scales
// CHECK:         return %[[BATCH]], %[[M]], %[[K_S]]
func.func @unswizzle_scales_sizes(%t: tensor<?x?x3x32x16xf8E8M0FNU>,
                                  %b: index, %m: index)
    -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = blockscale.unswizzle_scales %t sizes(%b, %m)
       : tensor<?x?x3x32x16xf8E8M0FNU> to tensor<?x?x9xf8E8M0FNU>
  %batch = tensor.dim %s, %c0 : tensor<?x?x9xf8E8M0FNU>
  %rows = tensor.dim %s, %c1 : tensor<?x?x9xf8E8M0FNU>
  %blocks = tensor.dim %s, %c2 : tensor<?x?x9xf8E8M0FNU>
  return %batch, %rows, %blocks : index, index, index
}
