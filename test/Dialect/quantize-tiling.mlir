// Tiling of quantize and dequantize with the transform dialect.

// RUN: blockscale-opt %s --transform-interpreter --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @quantize(
// CHECK:         scf.for %[[M:.*]] = %c0 to %c96 step %c32
// CHECK:           scf.for %[[K:.*]] = %c0 to %c256 step %c128
// CHECK:             %[[TILE:.*]] = tensor.extract_slice %{{.*}}[%[[M]], %[[K]]] [32, 128] [1, 1]
// CHECK:             %[[ELEMENTS:.*]], %[[SCALES:.*]] = blockscale.quantize %[[TILE]] {block_size = 32 : i64}
// CHECK-SAME:          : tensor<32x128xf32> to tensor<32x128xf8E5M2>, tensor<32x4xf8E8M0FNU>
// CHECK-DAG:         %[[BLOCK:.*]] = affine.apply #{{.*}}(%[[K]])
// CHECK-DAG:         tensor.insert_slice %[[ELEMENTS]] into %{{.*}}[%[[M]], %[[K]]] [32, 128] [1, 1]
// CHECK-DAG:         tensor.insert_slice %[[SCALES]] into %{{.*}}[%[[M]], %[[BLOCK]]] [32, 4] [1, 1]
module attributes {transform.with_named_sequence} {
  func.func @quantize(%x: tensor<96x256xf32>)
      -> (tensor<96x256xf8E5M2>, tensor<96x8xf8E8M0FNU>) {
    %c, %s = blockscale.quantize %x {block_size = 32 : i64}
        : tensor<96x256xf32> to tensor<96x256xf8E5M2>, tensor<96x8xf8E8M0FNU>
    return %c, %s : tensor<96x256xf8E5M2>, tensor<96x8xf8E8M0FNU>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.quantize"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %op
        tile_sizes [32, 128]
        : (!transform.any_op)
          -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @dequantize(
// CHECK:         scf.for %[[M:.*]] = %c0 to %c96 step %c32
// CHECK:           blockscale.dequantize %{{.*}}, %{{.*}} {block_size = 32 : i64}
// CHECK-SAME:        : tensor<32x256xf8E5M2>, tensor<32x8xf8E8M0FNU> to tensor<32x256xf16>
module attributes {transform.with_named_sequence} {
  func.func @dequantize(%c: tensor<96x256xf8E5M2>, %s: tensor<96x8xf8E8M0FNU>)
      -> tensor<96x256xf16> {
    %y = blockscale.dequantize %c, %s
        : tensor<96x256xf8E5M2>, tensor<96x8xf8E8M0FNU> to tensor<96x256xf16>
    return %y : tensor<96x256xf16>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.dequantize"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [32, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @cut(%x: tensor<96x256xf32>)
      -> (tensor<96x256xf8E5M2>, tensor<96x8xf8E8M0FNU>) {
    // expected-error @+3 {{expected tiles of whole blocks along the last dimension, of a multiple of 32 elements}}
    // expected-error @+2 {{tile operation}}
    // expected-error @+1 {{failed to generate tiling loops}}
    %c, %s = blockscale.quantize %x {block_size = 32 : i64}
        : tensor<96x256xf32> to tensor<96x256xf8E5M2>, tensor<96x8xf8E8M0FNU>
    return %c, %s : tensor<96x256xf8E5M2>, tensor<96x8xf8E8M0FNU>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.quantize"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.tile_using_for %op
        tile_sizes [32, 16]
        : (!transform.any_op)
          -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
