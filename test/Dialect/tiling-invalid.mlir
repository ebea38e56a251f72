// Tiles along K that may cut a block are refused: they would read the wrong
// scale. (The transform dialect adds errors of its own.)

// RUN: blockscale-opt %s --transform-interpreter --split-input-file -verify-diagnostics

module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_c9_tile_48_block_32(
      %x: tensor<16x96xf8E4M3FN>, %x_scale: tensor<16x3xf8E8M0FNU>,
      %y: tensor<96x8xf8E5M2>, %y_scale: tensor<3x8xf8E8M0FNU>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    // expected-error@+3 {{'blockscale.mma_scaled' op expected the size of a tile along K to be a multiple of the block size, 32, got 48}}
    // expected-error@+2 {{tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<16x96xf8E4M3FN>, tensor<16x3xf8E8M0FNU>,
           tensor<96x8xf8E5M2>, tensor<3x8xf8E8M0FNU>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op
        tile_sizes [0, 0, 48]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The size of the last tile, 64 - 48, is not the one of the others.

module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_c9_tile_48_of_64(
      %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
      %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    // expected-error@+3 {{'blockscale.mma_scaled' op expected the size of a tile along K to be a multiple of the block size, 32, got 48, or what the last tile has left}}
    // expected-error@+2 {{tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
           tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op
        tile_sizes [0, 0, 48]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A tile of 16 would be fine with blocks of 16.

module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_c9_tile_16_block_32(
      %x: tensor<16x64xf4E2M1FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
      %y: tensor<64x8xf4E2M1FN>, %y_scale: tensor<2x8xf8E8M0FNU>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    // expected-error@+3 {{'blockscale.mma_scaled' op expected the size of a tile along K to be a multiple of the block size, 32, got 16}}
    // expected-error@+2 {{tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<16x64xf4E2M1FN>, tensor<16x2xf8E8M0FNU>,
           tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op
        tile_sizes [0, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_c9_dynamic_tile(
      %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
      %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
      %acc: tensor<16x8xf32>, %n: index) -> tensor<16x8xf32> {
    %size = arith.addi %n, %n : index
    // expected-error@+3 {{'blockscale.mma_scaled' op expected the size of a tile along K to be a multiple of the block size, 32, got one that is not known to be}}
    // expected-error@+2 {{tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
           tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %size = transform.structured.match ops{["arith.addi"]} in %module
            : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op
        tile_sizes [0, 0, %size]
        : (!transform.any_op, !transform.any_op)
        -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
