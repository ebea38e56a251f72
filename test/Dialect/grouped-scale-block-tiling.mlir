// Tiles of grouped products with coarse scales.

// RUN: blockscale-opt %s --split-input-file --verify-diagnostics --transform-interpreter --canonicalize --cse | FileCheck %s

// A tile of rows has their scales, one of columns those of its blocks, and one along K, too.

// CHECK-LABEL: func.func @tiled(
// CHECK:         scf.for %[[T:.*]] = %c0 to %c32 step %c16
// CHECK:           scf.for %[[N:.*]] = %c0 to %c256 step %c64
// CHECK:             scf.for %[[K:.*]] = %c0 to %c512 step %c128
// CHECK-DAG:           %[[KS:.*]] = affine.apply #{{.*}}(%[[K]])
// CHECK-DAG:           %[[NS:.*]] = affine.apply #{{.*}}(%[[N]])
// CHECK-DAG:           tensor.extract_slice %{{.*}}[%[[T]], %{{.*}}] [16, 1] [1, 1] : tensor<32x4xf32>
// CHECK-DAG:           tensor.extract_slice %{{.*}}[0, %{{.*}}, %{{.*}}] [3, 1, 1] [1, 1, 1] : tensor<3x4x2xf32>
// CHECK:               blockscale.grouped_mma_scaled
// CHECK-SAME:            x_scale_block = #blockscale.scale_block<rows = 1, k = 128>, y_scale_block = #blockscale.scale_block<rows = 128, k = 128>
module attributes {transform.with_named_sequence} {
  func.func @tiled(%o: tensor<3xi32>, %x: tensor<32x512xf8E4M3FN>, %xs: tensor<32x4xf32>,
                   %y: tensor<3x512x256xf8E5M2>, %ys: tensor<3x4x2xf32>, %acc: tensor<32x256xf32>) -> tensor<32x256xf32> {
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc
        : tensor<32x512xf8E4M3FN>, tensor<32x4xf32>, tensor<3x512x256xf8E5M2>, tensor<3x4x2xf32>, tensor<3xi32>, tensor<32x256xf32>
    return %d : tensor<32x256xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_mma_scaled"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops:3 = transform.structured.tile_using_for %op tile_sizes [16, 64, 128]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// With `rows`, each tile has the scales of all rows of x; and one scale of all of them stays one.

// CHECK-LABEL: func.func @gathered(
// CHECK:         scf.for %[[T:.*]] = %c0 to %c32 step %c16
// CHECK-DAG:       tensor.extract_slice %[[R:.*]][%[[T]]] [16] [1] : tensor<32xi32>
// CHECK:           blockscale.grouped_mma_scaled %{{.*}}, %{{.*}}, {{.*}} : tensor<9x192xf8E4M3FN>, tensor<9x2xf32>
// CHECK:         scf.for
// CHECK:           blockscale.grouped_mma_scaled %{{.*}} : tensor<16x192xf8E4M3FN>, tensor<1x1xf32>
module attributes {transform.with_named_sequence} {
  func.func @gathered(%o: tensor<3xi32>, %x: tensor<9x192xf8E4M3FN>, %xs: tensor<9x2xf32>, %r: tensor<32xi32>,
                      %other: tensor<32x192xf8E4M3FN>, %one: tensor<1x1xf32>,
                      %y: tensor<3x192x8xf8E5M2>, %ys: tensor<3x2x8xf32>, %acc: tensor<32x8xf32>) -> tensor<32x8xf32> {
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc rows(%r : tensor<32xi32>)
        : tensor<9x192xf8E4M3FN>, tensor<9x2xf32>, tensor<3x192x8xf8E5M2>, tensor<3x2x8xf32>, tensor<3xi32>, tensor<32x8xf32>
    %e = blockscale.grouped_mma_scaled %other, %one, %y, %ys, %o, %d
        : tensor<32x192xf8E4M3FN>, tensor<1x1xf32>, tensor<3x192x8xf8E5M2>, tensor<3x2x8xf32>, tensor<3xi32>, tensor<32x8xf32>
    return %e : tensor<32x8xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_mma_scaled"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops = transform.structured.tile_using_for %op tile_sizes [16, 0, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @cut(%o: tensor<3xi32>, %x: tensor<32x512xf8E4M3FN>, %xs: tensor<32x4xf32>,
                 %y: tensor<3x512x256xf8E5M2>, %ys: tensor<3x4x2xf32>, %acc: tensor<32x256xf32>) -> tensor<32x256xf32> {
    // expected-error@+3 {{expected tiles along N to start at a multiple of 128, which share a scale of y, or to be parts of such a block}}
    // expected-error@+2 {{faild to tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc
        : tensor<32x512xf8E4M3FN>, tensor<32x4xf32>, tensor<3x512x256xf8E5M2>, tensor<3x4x2xf32>, tensor<3xi32>, tensor<32x256xf32>
    return %d : tensor<32x256xf32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_mma_scaled"]} in %module : (!transform.any_op) -> !transform.any_op
    %tile, %loops = transform.structured.tile_using_for %op tile_sizes [0, 96, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
