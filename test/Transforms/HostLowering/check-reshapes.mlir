// RUN: blockscale-opt %s --pass-pipeline='builtin.module(func.func(blockscale-check-reshapes))' | FileCheck %s

// CHECK:       #[[$PRODUCT:.*]] = affine_map<()[s0, s1] -> (s0 * s1)>
// CHECK-LABEL: func @quotient(
// CHECK-SAME:      %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[PRODUCT:.*]] = affine.apply #[[$PRODUCT]]()[%[[N]], %[[M]]]
// CHECK:         %[[FITS:.*]] = arith.cmpi eq, %[[PRODUCT]], %[[SIZE]]
// CHECK:         cf.assert %[[FITS]], "{{.*}}tensor.expand_shape{{.*}}expected sizes that multiply to that of dimension 0 of the source
// CHECK:         tensor.expand_shape
func.func @quotient(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// One dynamic size, of the second group.
// CHECK-LABEL: func @second_group(
// CHECK-COUNT-1: cf.assert
// CHECK-NOT:     cf.assert
func.func @second_group(%x: tensor<8x?xf32>, %n: index) -> tensor<2x4x?x3xf32> {
  %r = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [2, 4, %n, 3] : tensor<8x?xf32> into tensor<2x4x?x3xf32>
  return %r : tensor<2x4x?x3xf32>
}

// The verifier has compared static sizes.
// CHECK-LABEL: func @static(
// CHECK-NOT:     cf.assert
func.func @static(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
