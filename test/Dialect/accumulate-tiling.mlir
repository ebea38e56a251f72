// The licence of a tile: its chunks stay inside those of the whole.

// RUN: blockscale-opt %s --transform-interpreter --split-input-file | FileCheck %s

// Tiles of rows have all of K.

// CHECK-LABEL: func @rows(
// CHECK:         scf.for
// CHECK:           blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 128, rebase>, block_size = 32 : i64}
module attributes {transform.with_named_sequence} {
  func.func @rows(
      %x: tensor<16x384xf8E4M3FN>, %xs: tensor<16x12xf8E8M0FNU>,
      %y: tensor<384x8xf8E4M3FN>, %ys: tensor<12x8xf8E8M0FNU>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 128, rebase>}
         : tensor<16x384xf8E4M3FN>, tensor<16x12xf8E8M0FNU>,
           tensor<384x8xf8E4M3FN>, tensor<12x8xf8E8M0FNU>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [4, 0, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func @whole_chunks(
// CHECK:         scf.for
// CHECK:           blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 64>, block_size = 32 : i64}
module attributes {transform.with_named_sequence} {
  func.func @whole_chunks(
      %x: tensor<16x384xf8E4M3FN>, %xs: tensor<16x12xf8E8M0FNU>,
      %y: tensor<384x8xf8E4M3FN>, %ys: tensor<12x8xf8E8M0FNU>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 64>}
         : tensor<16x384xf8E4M3FN>, tensor<16x12xf8E8M0FNU>,
           tensor<384x8xf8E4M3FN>, tensor<12x8xf8E8M0FNU>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 128]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A tile starts inside of a chunk, at a multiple of 64.

// CHECK-LABEL: func @half_chunks(
// CHECK:         scf.for
// CHECK:           blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 64, rebase>, block_size = 32 : i64}
module attributes {transform.with_named_sequence} {
  func.func @half_chunks(
      %x: tensor<16x384xf8E4M3FN>, %xs: tensor<16x12xf8E8M0FNU>,
      %y: tensor<384x8xf8E4M3FN>, %ys: tensor<12x8xf8E8M0FNU>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 128, rebase>}
         : tensor<16x384xf8E4M3FN>, tensor<16x12xf8E8M0FNU>,
           tensor<384x8xf8E4M3FN>, tensor<12x8xf8E8M0FNU>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 192]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func @odd_tiles(
// CHECK:         scf.for
// CHECK:           blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 32>, block_size = 32 : i64}
module attributes {transform.with_named_sequence} {
  func.func @odd_tiles(
      %x: tensor<16x384xf8E4M3FN>, %xs: tensor<16x12xf8E8M0FNU>,
      %y: tensor<384x8xf8E4M3FN>, %ys: tensor<12x8xf8E8M0FNU>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 128>}
         : tensor<16x384xf8E4M3FN>, tensor<16x12xf8E8M0FNU>,
           tensor<384x8xf8E4M3FN>, tensor<12x8xf8E8M0FNU>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 96]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Tiles of 16 elements start where no chunk does: no licence is left.

// CHECK-LABEL: func @small_tiles(
// CHECK:         scf.for
// CHECK:           blockscale.mma_scaled {{.*}} {block_size = 16 : i64}
module attributes {transform.with_named_sequence} {
  func.func @small_tiles(
      %x: tensor<16x64xf4E2M1FN>, %xs: tensor<16x4xf8E4M3FN>,
      %y: tensor<64x8xf4E2M1FN>, %ys: tensor<4x8xf8E4M3FN>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 128>}
         : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E4M3FN>,
           tensor<64x8xf4E2M1FN>, tensor<4x8xf8E4M3FN>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
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

// Coarse scales, of which a tile has whole blocks.

// CHECK-LABEL: func @coarse(
// CHECK:         scf.for
// CHECK:           blockscale.mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 128>, x_scale_block
module attributes {transform.with_named_sequence} {
  func.func @coarse(
      %x: tensor<16x300xf8E4M3FN>, %xs: tensor<16x3xf32>,
      %y: tensor<300x8xf8E4M3FN>, %ys: tensor<3x1xf32>,
      %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
         {accumulate = #blockscale.accumulate<chunk = 128>,
          y_scale_block = #blockscale.scale_block<rows = 128, k = 128>}
         : tensor<16x300xf8E4M3FN>, tensor<16x3xf32>,
           tensor<300x8xf8E4M3FN>, tensor<3x1xf32>, tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 128]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func @grouped(
// CHECK:         scf.for
// CHECK:           blockscale.grouped_mma_scaled {{.*}} {accumulate = #blockscale.accumulate<chunk = 64, rebase>, block_size = 32 : i64}
module attributes {transform.with_named_sequence} {
  func.func @grouped(
      %x: tensor<16x256xf8E4M3FN>, %xs: tensor<16x8xf8E8M0FNU>,
      %y: tensor<2x256x8xf8E4M3FN>, %ys: tensor<2x8x8xf8E8M0FNU>,
      %offsets: tensor<2xi32>, %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %offsets, %acc
         {accumulate = #blockscale.accumulate<chunk = 128, rebase>}
         : tensor<16x256xf8E4M3FN>, tensor<16x8xf8E8M0FNU>,
           tensor<2x256x8xf8E4M3FN>, tensor<2x8x8xf8E8M0FNU>, tensor<2xi32>,
           tensor<16x8xf32>
    return %d : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.grouped_mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 64]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
