// A scale for the whole tensor that is an element of one is read by the loops
// that need it: on a GPU the host cannot.

// RUN: blockscale-opt %s --blockscale-decompose | FileCheck %s

// CHECK-DAG:   #[[ELEMENT:.*]] = affine_map<(d0, d1) -> (1)>

// CHECK-LABEL: func.func @element(
// CHECK-SAME:    %[[C:.*]]: tensor<4x64xf4E2M1FN>, %[[S:.*]]: tensor<4x4xf8E4M3FN>, %[[G:.*]]: tensor<2xf32>)
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[ELEMENT]], #{{.*}}]
// CHECK-SAME:      ins(%[[C]], %[[S]], %[[G]] : {{.*}}
// CHECK-NEXT:    ^bb0(%{{.*}}: f4E2M1FN, %{{.*}}: f8E4M3FN, %[[IN:.*]]: f32, %{{.*}}: bf16):
// CHECK:           %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[IN]] : f32
// CHECK:           arith.truncf %[[SCALED]] : f32 to bf16
func.func @element(%c: tensor<4x64xf4E2M1FN>, %s: tensor<4x4xf8E4M3FN>, %gs: tensor<2xf32>) -> tensor<4x64xbf16> {
  %i = arith.constant 1 : index
  %g = tensor.extract %gs[%i] : tensor<2xf32>
  %w = blockscale.dequantize %c, %s tensor_scale(%g) : tensor<4x64xf4E2M1FN>, tensor<4x4xf8E4M3FN>, f32 to tensor<4x64xbf16>
  return %w : tensor<4x64xbf16>
}

// CHECK-LABEL: func.func @scalar(
// CHECK-SAME:    %[[G:[^:]*]]: f32)
// CHECK:         arith.mulf %{{.*}}, %[[G]] : f32
func.func @scalar(%c: tensor<4x64xf4E2M1FN>, %s: tensor<4x4xf8E4M3FN>, %g: f32) -> tensor<4x64xf32> {
  %w = blockscale.dequantize %c, %s tensor_scale(%g) : tensor<4x64xf4E2M1FN>, tensor<4x4xf8E4M3FN>, f32 to tensor<4x64xf32>
  return %w : tensor<4x64xf32>
}
