// Tiling with coarse scales. A tile along any dimension starts at a block, or is
// a part of one; the block stays what it is.

// RUN: blockscale-opt %s --transform-interpreter --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// Tiles of M are parts of a block of 128 rows; tiles of N have whole blocks, and
// the last one has a partial one; tiles along K have half a block.

// CHECK-DAG:   #[[$PART:.*]] = affine_map<(d0) -> (d0 floordiv 128)>
// CHECK-DAG:   #[[$REST:.*]] = affine_map<(d0) -> (-d0 + 576, 256)>
// CHECK-DAG:   #[[$CEIL:.*]] = affine_map<(d0) -> (d0 ceildiv 128)>
// CHECK-LABEL: func @tiles(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<256x320xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<2x3xf32>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<320x576xf8E4M3FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<1x5xf32>,
// CHECK:         scf.for %[[M:.*]] = %c0 to %c256 step %c64
// CHECK:           scf.for %[[N:.*]] = %c0 to %c576 step %c256
// CHECK:             scf.for %[[K:.*]] = %c0 to %c320 step %c64
// CHECK:               %[[SIZE_N:.*]] = affine.min #[[$REST]](%[[N]])
// CHECK-DAG:           %[[BLOCK_M:.*]] = affine.apply #[[$PART]](%[[M]])
// CHECK-DAG:           %[[BLOCK_K:.*]] = affine.apply #[[$PART]](%[[K]])
// CHECK-DAG:           %[[BLOCK_N:.*]] = affine.apply #[[$PART]](%[[N]])
// CHECK-DAG:           %[[SCALES_N:.*]] = affine.apply #[[$CEIL]](%[[SIZE_N]])
// CHECK-DAG:           tensor.extract_slice %[[X_SCALE]][%[[BLOCK_M]], %[[BLOCK_K]]] [1, 1] [1, 1]
// CHECK-DAG:           tensor.extract_slice %[[Y_SCALE]][0, %[[BLOCK_N]]] [1, %[[SCALES_N]]] [1, 1]
// CHECK:               blockscale.mma_scaled
// CHECK-SAME:            {my.note = "kept", x_scale_block = #blockscale.scale_block<rows = 128, k = 128>, y_scale_block = #blockscale.scale_block<rows = 128, k = all>}
// CHECK-SAME:            : tensor<64x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x?xf8E4M3FN>, tensor<1x?xf32>, tensor<64x?xf32>
module attributes {transform.with_named_sequence} {
  func.func @tiles(
      %x: tensor<256x320xf8E4M3FN>, %x_scale: tensor<2x3xf32>,
      %y: tensor<320x576xf8E4M3FN>, %y_scale: tensor<1x5xf32>,
      %acc: tensor<256x576xf32>) -> tensor<256x576xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {my.note = "kept"}
         : tensor<256x320xf8E4M3FN>, tensor<2x3xf32>,
           tensor<320x576xf8E4M3FN>, tensor<1x5xf32>, tensor<256x576xf32>
    return %d : tensor<256x576xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:3 = transform.structured.tile_using_for %op
        tile_sizes [64, 256, 64]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A tile of 96 rows may have rows of two blocks.

module attributes {transform.with_named_sequence} {
  func.func @cut_rows(
      %x: tensor<256x256xf8E4M3FN>, %x_scale: tensor<2x2xf32>,
      %y: tensor<256x576xf8E4M3FN>, %y_scale: tensor<2x5xf32>,
      %acc: tensor<256x576xf32>) -> tensor<256x576xf32> {
    // expected-error@+3 {{'blockscale.mma_scaled' op expected tiles along M to start at a multiple of 128, which share a scale of x, or to be parts of such a block}}
    // expected-error@+2 {{tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<256x256xf8E4M3FN>, tensor<2x2xf32>,
           tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<256x576xf32>
    return %d : tensor<256x576xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [96]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @cut_columns(
      %x: tensor<256x256xf8E4M3FN>, %x_scale: tensor<2x2xf32>,
      %y: tensor<256x576xf8E4M3FN>, %y_scale: tensor<2x5xf32>,
      %acc: tensor<256x576xf32>) -> tensor<256x576xf32> {
    // expected-error@+3 {{'blockscale.mma_scaled' op expected tiles along N to start at a multiple of 128, which share a scale of y, or to be parts of such a block}}
    // expected-error@+2 {{tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<256x256xf8E4M3FN>, tensor<2x2xf32>,
           tensor<256x576xf8E4M3FN>, tensor<2x5xf32>, tensor<256x576xf32>
    return %d : tensor<256x576xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 192]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The other operand has blocks of 32, which are whole.

module attributes {transform.with_named_sequence} {
  func.func @cut_whole(
      %x: tensor<64x256xf8E4M3FN>, %x_scale: tensor<64x2xf32>,
      %y: tensor<256x576xf4E2M1FN>, %y_scale: tensor<8x576xf8E8M0FNU>,
      %acc: tensor<64x576xf32>) -> tensor<64x576xf32> {
    // expected-error@+3 {{'blockscale.mma_scaled' op expected the size of a tile along K to be a multiple of the block size, 32, got 16}}
    // expected-error@+2 {{tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {x_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
         : tensor<64x256xf8E4M3FN>, tensor<64x2xf32>,
           tensor<256x576xf4E2M1FN>, tensor<8x576xf8E8M0FNU>,
           tensor<64x576xf32>
    return %d : tensor<64x576xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @quantize(%x: tensor<256x256xf32>) -> tensor<256x256xf8E4M3FN> {
    // expected-error@+3 {{'blockscale.quantize' op expected scales with 'block_size' to tile, got coarse scales}}
    // expected-error@+2 {{tile operation}}
    // expected-error@+1 {{failed to generate tiling loops}}
    %e, %s = blockscale.quantize %x
        {scale_block = #blockscale.scale_block<rows = 128, k = 128>}
        : tensor<256x256xf32> to tensor<256x256xf8E4M3FN>, tensor<2x2xf32>
    return %e : tensor<256x256xf8E4M3FN>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.quantize"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [128]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// All tiles share the scale of a single block, wherever they start.

// CHECK-LABEL: func @inside_one_block(
// CHECK-SAME:    %{{.*}}: tensor<96x320xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<1x3xf32>
// CHECK:         scf.for %{{.*}} = %c0 to %c96 step %c48
// CHECK:           blockscale.mma_scaled %{{.*}}, %[[X_SCALE]],
// CHECK-SAME:        : tensor<48x320xf8E4M3FN>, tensor<1x3xf32>
module attributes {transform.with_named_sequence} {
  func.func @inside_one_block(
      %x: tensor<96x320xf8E4M3FN>, %x_scale: tensor<1x3xf32>,
      %y: tensor<320x16xf8E4M3FN>, %y_scale: tensor<3x16xf32>,
      %acc: tensor<96x16xf32>) -> tensor<96x16xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {x_scale_block = #blockscale.scale_block<rows = 128, k = 128>,
          y_scale_block = #blockscale.scale_block<rows = 1, k = 128>}
         : tensor<96x320xf8E4M3FN>, tensor<1x3xf32>, tensor<320x16xf8E4M3FN>,
           tensor<3x16xf32>, tensor<96x16xf32>
    return %d : tensor<96x16xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [48]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
