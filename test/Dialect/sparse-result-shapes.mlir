// Sizes of results of sparse ops, computed from operands.

// RUN: blockscale-opt %s --resolve-ranked-shaped-type-result-dims | FileCheck %s

// CHECK-DAG: #[[$HALF:.*]] = affine_map<()[s0] -> (s0 floordiv 2)>
// CHECK-DAG: #[[$BYTE:.*]] = affine_map<()[s0] -> (s0 floordiv 16)>
// CHECK-DAG: #[[$ROW_ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 128)>
// CHECK-DAG: #[[$BYTE_ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 16)>

// CHECK-LABEL: func @compress(
// CHECK-SAME:    %[[D:.*]]: tensor<?x?xf4E2M1FN>)
// CHECK-NOT:     blockscale.compress
// CHECK-DAG:     %[[K:.*]] = tensor.dim %[[D]], %c1
// CHECK-DAG:     %[[HALF:.*]] = affine.apply #[[$HALF]]()[%[[K]]]
// CHECK-DAG:     %[[BYTES:.*]] = affine.apply #[[$BYTE]]()[%{{.*}}]
// CHECK:         return %[[HALF]], %[[BYTES]]
func.func @compress(%d: tensor<?x?xf4E2M1FN>) -> (index, index) {
  %c1 = arith.constant 1 : index
  %x, %m = blockscale.compress %d {granularity = #blockscale.granularity<pairs>} : tensor<?x?xf4E2M1FN> to tensor<?x?xf4E2M1FN>, tensor<?x?xi8>
  %k = tensor.dim %x, %c1 : tensor<?x?xf4E2M1FN>
  %b = tensor.dim %m, %c1 : tensor<?x?xi8>
  return %k, %b : index, index
}

// CHECK-LABEL: func @tile(
// CHECK-DAG:     %[[BYTE_ATOMS:.*]] = affine.apply #[[$BYTE_ATOMS]]()
// CHECK-DAG:     %[[ROW_ATOMS:.*]] = affine.apply #[[$ROW_ATOMS]]()
// CHECK:         return %[[BYTE_ATOMS]], %[[ROW_ATOMS]]
func.func @tile(%m: tensor<?x?xi8>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = blockscale.tile_metadata %m : tensor<?x?xi8> to tensor<?x?x128x16xi8>
  %k = tensor.dim %t, %c0 : tensor<?x?x128x16xi8>
  %r = tensor.dim %t, %c1 : tensor<?x?x128x16xi8>
  return %k, %r : index, index
}
