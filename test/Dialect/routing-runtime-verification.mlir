// Assertions about dynamic sizes, and about the number of groups. Whatever ids are is legal.

// RUN: blockscale-opt %s --generate-runtime-verification --split-input-file | FileCheck %s

// CHECK-LABEL: func @route(
// CHECK-SAME:    %[[LOGITS:.*]]: tensor<?x?xbf16>)
// CHECK:         %[[G:.*]] = tensor.dim %[[LOGITS]], %c1
// CHECK:         %[[ENOUGH:.*]] = arith.cmpi sgt, %[[G]], %c3
// CHECK:         cf.assert %[[ENOUGH]], {{.*}}expected at least top_k = 4 groups
// CHECK:         cf.assert {{.*}}expected ids to have the S of logits, 6
// CHECK:         cf.assert {{.*}}expected weights to have the S of logits, 6
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.route
func.func @route(%l: tensor<?x?xbf16>) -> (tensor<6x4xi32>, tensor<6x4xf32>) {
  %i, %w = blockscale.route %l {top_k = 4 : i64, scoring = #blockscale.scoring<logits>}
      : tensor<?x?xbf16> to tensor<6x4xi32>, tensor<6x4xf32>
  return %i, %w : tensor<6x4xi32>, tensor<6x4xf32>
}

// -----

// Results of dynamic size have the size that is right.

// CHECK-LABEL: func @dynamic_results(
// CHECK:         cf.assert {{.*}}expected at least top_k = 4 groups
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.route
func.func @dynamic_results(%l: tensor<?x?xbf16>) -> (tensor<?x?xi32>, tensor<?x4xf32>) {
  %i, %w = blockscale.route %l {top_k = 4 : i64, scoring = #blockscale.scoring<logits>}
      : tensor<?x?xbf16> to tensor<?x?xi32>, tensor<?x4xf32>
  return %i, %w : tensor<?x?xi32>, tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func @static(
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.route
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.sort_routes
func.func @static(%l: tensor<6x8xf32>) -> (tensor<8xi32>, tensor<12xi32>, tensor<6x2xi32>) {
  %g = arith.constant 8 : index
  %i, %w = blockscale.route %l {top_k = 2 : i64, scoring = #blockscale.scoring<softmax>}
      : tensor<6x8xf32> to tensor<6x2xi32>, tensor<6x2xf32>
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<8xi32>, tensor<12xi32>, tensor<6x2xi32>
  return %o, %r, %p : tensor<8xi32>, tensor<12xi32>, tensor<6x2xi32>
}

// -----

// CHECK-LABEL: func @sort(
// CHECK-SAME:    %[[IDS:.*]]: tensor<?x?xi64>, %[[G:.*]]: index)
// CHECK:         %[[IS_GROUP:.*]] = arith.cmpi sgt, %[[G]], %c0
// CHECK:         cf.assert %[[IS_GROUP]], {{.*}}expected at least 1 group
// CHECK:         %[[FITS:.*]] = arith.cmpi sle, %[[G]], %c2048
// CHECK:         cf.assert %[[FITS]], {{.*}}expected at most 2048 groups
// CHECK:         cf.assert {{.*}}expected J to be at least 1
// CHECK:         %[[FEW_ROWS:.*]] = arith.cmpi sle, %{{.*}}, %c2147483647
// CHECK:         cf.assert %[[FEW_ROWS]], {{.*}}expected less than 2^31 slots
// CHECK:         %[[FEW_OF_ROW:.*]] = arith.cmpi sle, %{{.*}}, %c2147483647
// CHECK:         cf.assert %[[FEW_OF_ROW]], {{.*}}expected less than 2^31 slots
// CHECK:         %[[SLOTS:.*]] = arith.muli
// CHECK:         %[[FEW:.*]] = arith.cmpi sle, %[[SLOTS]], %c2147483647
// CHECK:         cf.assert %[[FEW]], {{.*}}expected less than 2^31 slots
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[SLOTS]], %c12
// CHECK:         cf.assert %[[SAME]], {{.*}}expected rows to have S * J elements, 12
// CHECK:         cf.assert {{.*}}expected positions to have the S of ids, 6
// CHECK:         cf.assert {{.*}}expected positions to have the J of ids, 2
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.sort_routes
func.func @sort(%i: tensor<?x?xi64>, %g: index) -> (tensor<?xi32>, tensor<12xi32>, tensor<6x2xi32>) {
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<?x?xi64> to tensor<?xi32>, tensor<12xi32>, tensor<6x2xi32>
  return %o, %r, %p : tensor<?xi32>, tensor<12xi32>, tensor<6x2xi32>
}

// -----

// The verifier has seen the size of offsets, so that only the equality is left.

// CHECK-LABEL: func @groups(
// CHECK-SAME:    %[[IDS:.*]]: tensor<6x2xi32>, %[[G:.*]]: index)
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[G]], %c4
// CHECK:         cf.assert %[[SAME]], {{.*}}expected offsets to have as many elements as there are groups, 4
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.sort_routes
func.func @groups(%i: tensor<6x2xi32>, %g: index) -> (tensor<4xi32>, tensor<12xi32>, tensor<6x2xi32>) {
  %o, %r, %p = blockscale.sort_routes %i, %g : tensor<6x2xi32> to tensor<4xi32>, tensor<12xi32>, tensor<6x2xi32>
  return %o, %r, %p : tensor<4xi32>, tensor<12xi32>, tensor<6x2xi32>
}
