// Sizes of the results of routing ops, computed from operands.

// RUN: blockscale-opt %s --resolve-ranked-shaped-type-result-dims --cse | FileCheck %s

// CHECK-DAG: #[[$SLOTS:.*]] = affine_map<()[s0] -> (s0 * 4)>

// CHECK-LABEL: func @route(
// CHECK-SAME:    %[[LOGITS:.*]]: tensor<?x?xbf16>)
// CHECK-DAG:     %[[S:.*]] = tensor.dim %[[LOGITS]], %c0
// CHECK-DAG:     %[[J:.*]] = arith.constant 4 : index
// CHECK-NOT:     blockscale.route
// CHECK:         return %[[S]], %[[J]], %[[S]]
func.func @route(%l: tensor<?x?xbf16>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i, %w = blockscale.route %l {top_k = 4 : i64, scoring = #blockscale.scoring<softmax>}
      : tensor<?x?xbf16> to tensor<?x?xi32>, tensor<?x4xf32>
  %s = tensor.dim %i, %c0 : tensor<?x?xi32>
  %j = tensor.dim %i, %c1 : tensor<?x?xi32>
  %t = tensor.dim %w, %c0 : tensor<?x4xf32>
  return %s, %j, %t : index, index, index
}

// CHECK-LABEL: func @sort(
// CHECK-SAME:    %[[IDS:.*]]: tensor<?x4xi32>, %[[G:.*]]: index)
// CHECK-DAG:     %[[S:.*]] = tensor.dim %[[IDS]], %c0
// CHECK-DAG:     %[[T:.*]] = affine.apply #[[$SLOTS]]()[%[[S]]]
// CHECK-NOT:     blockscale.sort_routes
// CHECK:         return %[[G]], %[[T]], %[[S]]
func.func @sort(%i: tensor<?x4xi32>, %g: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<?x4xi32> to tensor<?xi32>, tensor<?xi32>, tensor<?x4xi32>
  %n = tensor.dim %o, %c0 : tensor<?xi32>
  %t = tensor.dim %r, %c0 : tensor<?xi32>
  %s = tensor.dim %p, %c0 : tensor<?x4xi32>
  return %n, %t, %s : index, index, index
}

// No affine map multiplies two sizes.

// CHECK-LABEL: func @sort_of_any_slots(
// CHECK-SAME:    %[[IDS:.*]]: tensor<?x?xi32>, %[[G:.*]]: index)
// CHECK-DAG:     %[[S:.*]] = tensor.dim %[[IDS]], %c0
// CHECK-DAG:     %[[J:.*]] = tensor.dim %[[IDS]], %c1
// CHECK:         %[[T:.*]] = arith.muli %[[S]], %[[J]]
// CHECK-NOT:     blockscale.sort_routes
// CHECK:         return %[[T]]
func.func @sort_of_any_slots(%i: tensor<?x?xi32>, %g: index) -> index {
  %c0 = arith.constant 0 : index
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<?x?xi32> to tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>
  %t = tensor.dim %r, %c0 : tensor<?xi32>
  return %t : index
}
