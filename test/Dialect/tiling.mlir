// Tiling of mma_scaled with the transform dialect. The domain is
// ([batch,] M, N, K); tiles of K have whole blocks of the scales.

// RUN: blockscale-opt %s --transform-interpreter --canonicalize --cse --split-input-file | FileCheck %s

// CHECK-DAG:   #[[$BLOCKS:.*]] = affine_map<(d0) -> (d0 floordiv 32)>
// CHECK-LABEL: func @mma_scaled_m_n_k(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<96x256xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<96x8xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<256x80xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<8x80xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<96x80xf32>)
// CHECK:         scf.for %[[M:.*]] = %c0 to %c96 step %c32 iter_args(%[[ACC_M:.*]] = %[[ACC]])
// CHECK:           scf.for %[[N:.*]] = %c0 to %c80 step %c16 iter_args(%[[ACC_N:.*]] = %[[ACC_M]])
// CHECK:             scf.for %[[K:.*]] = %c0 to %c256 step %c128 iter_args(%[[ACC_K:.*]] = %[[ACC_N]])
// CHECK-DAG:           %[[BLOCK:.*]] = affine.apply #[[$BLOCKS]](%[[K]])
// CHECK-DAG:           %[[X_TILE:.*]] = tensor.extract_slice %[[X]][%[[M]], %[[K]]] [32, 128] [1, 1]
// CHECK-DAG:           %[[X_SCALE_TILE:.*]] = tensor.extract_slice %[[X_SCALE]][%[[M]], %[[BLOCK]]] [32, 4] [1, 1]
// CHECK-DAG:           %[[Y_TILE:.*]] = tensor.extract_slice %[[Y]][%[[K]], %[[N]]] [128, 16] [1, 1]
// CHECK-DAG:           %[[Y_SCALE_TILE:.*]] = tensor.extract_slice %[[Y_SCALE]][%[[BLOCK]], %[[N]]] [4, 16] [1, 1]
// CHECK-DAG:           %[[ACC_TILE:.*]] = tensor.extract_slice %[[ACC_K]][%[[M]], %[[N]]] [32, 16] [1, 1]
// CHECK:               %[[TILE:.*]] = blockscale.mma_scaled %[[X_TILE]], %[[X_SCALE_TILE]], %[[Y_TILE]], %[[Y_SCALE_TILE]], %[[ACC_TILE]]
// CHECK-SAME:            {block_size = 32 : i64, my.note = "kept"}
// CHECK-SAME:            : tensor<32x128xf8E4M3FN>, tensor<32x4xf8E8M0FNU>, tensor<128x16xf8E5M2>, tensor<4x16xf8E8M0FNU>, tensor<32x16xf32>
// CHECK:               tensor.insert_slice %[[TILE]] into %[[ACC_K]][%[[M]], %[[N]]] [32, 16] [1, 1]
module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_m_n_k(
      %x: tensor<96x256xf8E4M3FN>, %x_scale: tensor<96x8xf8E8M0FNU>,
      %y: tensor<256x80xf8E5M2>, %y_scale: tensor<8x80xf8E8M0FNU>,
      %acc: tensor<96x80xf32>) -> tensor<96x80xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {my.note = "kept"}
         : tensor<96x256xf8E4M3FN>, tensor<96x8xf8E8M0FNU>,
           tensor<256x80xf8E5M2>, tensor<8x80xf8E8M0FNU>, tensor<96x80xf32>
    return %d : tensor<96x80xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:3 = transform.structured.tile_using_for %op
        tile_sizes [32, 16, 128]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The last tiles are smaller: 100 = 3 * 32 + 4, 70 = 4 * 16 + 6, and 10 blocks
// are 3 tiles of 3 and 1 of 1.

// CHECK-DAG:   #[[$REST_M:.*]] = affine_map<(d0) -> (-d0 + 100, 32)>
// CHECK-DAG:   #[[$REST_N:.*]] = affine_map<(d0) -> (-d0 + 70, 16)>
// CHECK-DAG:   #[[$REST_K:.*]] = affine_map<(d0) -> (-d0 + 320, 96)>
// CHECK-DAG:   #[[$BLOCKS:.*]] = affine_map<(d0) -> (d0 floordiv 32)>
// CHECK-LABEL: func @mma_scaled_sizes_that_do_not_divide(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<100x320xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<100x10xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<320x70xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<10x70xf8E8M0FNU>,
// CHECK:         scf.for %[[M:.*]] = %c0 to %c100 step %c32
// CHECK:           scf.for %[[N:.*]] = %c0 to %c70 step %c16
// CHECK:             scf.for %[[K:.*]] = %c0 to %c320 step %c96 iter_args(%[[ACC_K:.*]] = %{{.*}})
// CHECK-DAG:           %[[M_SIZE:.*]] = affine.min #[[$REST_M]](%[[M]])
// CHECK-DAG:           %[[N_SIZE:.*]] = affine.min #[[$REST_N]](%[[N]])
// CHECK-DAG:           %[[K_SIZE:.*]] = affine.min #[[$REST_K]](%[[K]])
// CHECK-DAG:           %[[BLOCK:.*]] = affine.apply #[[$BLOCKS]](%[[K]])
// CHECK-DAG:           %[[NUM_BLOCKS:.*]] = affine.apply #[[$BLOCKS]](%[[K_SIZE]])
// CHECK-DAG:           tensor.extract_slice %[[X]][%[[M]], %[[K]]] [%[[M_SIZE]], %[[K_SIZE]]]
// CHECK-DAG:           tensor.extract_slice %[[X_SCALE]][%[[M]], %[[BLOCK]]] [%[[M_SIZE]], %[[NUM_BLOCKS]]]
// CHECK-DAG:           tensor.extract_slice %[[Y]][%[[K]], %[[N]]] [%[[K_SIZE]], %[[N_SIZE]]]
// CHECK-DAG:           tensor.extract_slice %[[Y_SCALE]][%[[BLOCK]], %[[N]]] [%[[NUM_BLOCKS]], %[[N_SIZE]]]
// CHECK-DAG:           tensor.extract_slice %[[ACC_K]][%[[M]], %[[N]]] [%[[M_SIZE]], %[[N_SIZE]]]
// CHECK:               blockscale.mma_scaled
// CHECK-SAME:            {block_size = 32 : i64}
module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_sizes_that_do_not_divide(
      %x: tensor<100x320xf8E4M3FN>, %x_scale: tensor<100x10xf8E8M0FNU>,
      %y: tensor<320x70xf8E5M2>, %y_scale: tensor<10x70xf8E8M0FNU>,
      %acc: tensor<100x70xf32>) -> tensor<100x70xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<100x320xf8E4M3FN>, tensor<100x10xf8E8M0FNU>,
           tensor<320x70xf8E5M2>, tensor<10x70xf8E8M0FNU>, tensor<100x70xf32>
    return %d : tensor<100x70xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:3 = transform.structured.tile_using_for %op
        tile_sizes [32, 16, 96]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-DAG:   #[[$REST_K:.*]] = affine_map<(d0)[s0] -> (-d0 + s0, 48)>
// CHECK-DAG:   #[[$BLOCKS:.*]] = affine_map<(d0) -> (d0 floordiv 16)>
// CHECK-LABEL: func @mma_scaled_dynamic_sizes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xf4E2M1FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<?x?xf8E4M3FN>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<?x?xf4E2M1FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<?x?xf8E4M3FN>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<?x?xf32>)
// CHECK-DAG:     %[[SIZE_M:.*]] = tensor.dim %[[ACC]], %c0
// CHECK-DAG:     %[[SIZE_N:.*]] = tensor.dim %[[ACC]], %c1
// CHECK-DAG:     %[[SIZE_K:.*]] = tensor.dim %[[X]], %c1
// CHECK:         scf.for %[[M:.*]] = %c0 to %[[SIZE_M]] step %c32
// CHECK:           scf.for %[[N:.*]] = %c0 to %[[SIZE_N]] step %c24
// CHECK:             scf.for %[[K:.*]] = %c0 to %[[SIZE_K]] step %c48
// CHECK-DAG:           %[[K_SIZE:.*]] = affine.min #[[$REST_K]](%[[K]])[%[[SIZE_K]]]
// CHECK-DAG:           %[[BLOCK:.*]] = affine.apply #[[$BLOCKS]](%[[K]])
// CHECK-DAG:           %[[NUM_BLOCKS:.*]] = affine.apply #[[$BLOCKS]](%[[K_SIZE]])
// CHECK-DAG:           tensor.extract_slice %[[X_SCALE]][%[[M]], %[[BLOCK]]] [%{{.*}}, %[[NUM_BLOCKS]]]
// CHECK-DAG:           tensor.extract_slice %[[Y_SCALE]][%[[BLOCK]], %[[N]]] [%[[NUM_BLOCKS]], %{{.*}}]
// CHECK:               blockscale.mma_scaled
// CHECK-SAME:            {block_size = 16 : i64}
module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_dynamic_sizes(
      %x: tensor<?x?xf4E2M1FN>, %x_scale: tensor<?x?xf8E4M3FN>,
      %y: tensor<?x?xf4E2M1FN>, %y_scale: tensor<?x?xf8E4M3FN>,
      %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         {block_size = 16}
         : tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN>, tensor<?x?xf4E2M1FN>,
           tensor<?x?xf8E4M3FN>, tensor<?x?xf32>
    return %d : tensor<?x?xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:3 = transform.structured.tile_using_for %op
        tile_sizes [32, 24, 48]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A batch of 1, or none, is read by the tiles of every batch.

// CHECK-LABEL: func @mma_scaled_batch_of_x_is_1(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x16x64xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<1x16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<6x64x8xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<6x2x8xf8E8M0FNU>,
// CHECK:         scf.for %[[BATCH:.*]] = %c0 to %c6 step %c2
// CHECK:           scf.for %[[M:.*]] = %c0 to %c16 step %c8
// CHECK:             scf.for %[[N:.*]] = %c0 to %c8 step %c4
// CHECK:               scf.for %[[K:.*]] = %c0 to %c64 step %c32 iter_args(%[[ACC_K:.*]] = %{{.*}})
// CHECK-DAG:             tensor.extract_slice %[[X]][0, %[[M]], %[[K]]] [1, 8, 32]
// CHECK-DAG:             tensor.extract_slice %[[X_SCALE]][0, %[[M]], %{{.*}}] [1, 8, 1]
// CHECK-DAG:             tensor.extract_slice %[[Y]][%[[BATCH]], %[[K]], %[[N]]] [2, 32, 4]
// CHECK-DAG:             tensor.extract_slice %[[Y_SCALE]][%[[BATCH]], %{{.*}}, %[[N]]] [2, 1, 4]
// CHECK-DAG:             tensor.extract_slice %[[ACC_K]][%[[BATCH]], %[[M]], %[[N]]] [2, 8, 4]
// CHECK:                 blockscale.mma_scaled

// CHECK-LABEL: func @mma_scaled_y_without_batch(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<6x16x64xf8E4M3FN>, %{{.*}}, %[[Y:[a-z0-9]+]]: tensor<64x8xf8E5M2>,
// CHECK:         scf.for %[[BATCH:.*]] = %c0 to %c6 step %c2
// CHECK:               scf.for %[[K:.*]] = %c0 to %c64 step %c32
// CHECK-DAG:             tensor.extract_slice %[[X]][%[[BATCH]], %{{.*}}, %[[K]]] [2, 8, 32]
// CHECK-DAG:             tensor.extract_slice %[[Y]][%[[K]], %{{.*}}] [32, 4]
// CHECK:                 blockscale.mma_scaled
// CHECK-SAME:              : tensor<2x8x32xf8E4M3FN>, tensor<2x8x1xf8E8M0FNU>, tensor<32x4xf8E5M2>, tensor<1x4xf8E8M0FNU>, tensor<2x8x4xf32>

// Whether the batch is 1 or 6 is known at run time only.
// CHECK-LABEL: func @mma_scaled_batch_of_x_dynamic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x16x64xf8E4M3FN>,
// CHECK:         scf.for %[[BATCH:.*]] = %c0 to %c6 step %c2
// CHECK:           %[[X_BATCH:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:       %[[OFFSET:.*]] = affine.min #{{.*}}(%[[BATCH]])[%[[X_BATCH]]]
// CHECK-DAG:       %[[SIZE:.*]] = affine.min #{{.*}}()[%[[X_BATCH]]]
// CHECK:           tensor.extract_slice %[[X]][%[[OFFSET]], %{{.*}}, %{{.*}}] [%[[SIZE]], 8, 32]
// CHECK:           blockscale.mma_scaled
module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_batch_of_x_is_1(
      %x: tensor<1x16x64xf8E4M3FN>, %x_scale: tensor<1x16x2xf8E8M0FNU>,
      %y: tensor<6x64x8xf8E5M2>, %y_scale: tensor<6x2x8xf8E8M0FNU>,
      %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>,
           tensor<6x64x8xf8E5M2>, tensor<6x2x8xf8E8M0FNU>, tensor<6x16x8xf32>
    return %d : tensor<6x16x8xf32>
  }
  func.func @mma_scaled_y_without_batch(
      %x: tensor<6x16x64xf8E4M3FN>, %x_scale: tensor<6x16x2xf8E8M0FNU>,
      %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
      %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<6x16x64xf8E4M3FN>, tensor<6x16x2xf8E8M0FNU>,
           tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<6x16x8xf32>
    return %d : tensor<6x16x8xf32>
  }
  func.func @mma_scaled_batch_of_x_dynamic(
      %x: tensor<?x16x64xf8E4M3FN>, %x_scale: tensor<?x16x2xf8E8M0FNU>,
      %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
      %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>,
           tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<6x16x8xf32>
    return %d : tensor<6x16x8xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:4 = transform.structured.tile_using_for %op
        tile_sizes [2, 8, 4, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op, !transform.any_op,
                                  !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func @mma_scaled_forall(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<96x256xf8E4M3FN>, %{{.*}}, %[[Y:[a-z0-9]+]]: tensor<256x64xf8E5M2>, %{{.*}}, %[[ACC:[a-z0-9]+]]: tensor<96x64xf32>)
// CHECK:         scf.forall (%[[I:.*]], %[[J:.*]]) in (3, 4) shared_outs(%[[OUT:.*]] = %[[ACC]])
// CHECK-DAG:       %[[M:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK-DAG:       %[[N:.*]] = affine.apply #{{.*}}(%[[J]])
// CHECK-DAG:       tensor.extract_slice %[[X]][%[[M]], 0] [32, 256]
// CHECK-DAG:       tensor.extract_slice %[[Y]][0, %[[N]]] [256, 16]
// CHECK:           %[[TILE:.*]] = blockscale.mma_scaled
// CHECK:           tensor.parallel_insert_slice %[[TILE]] into %[[OUT]][%[[M]], %[[N]]] [32, 16]
module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_forall(
      %x: tensor<96x256xf8E4M3FN>, %x_scale: tensor<96x8xf8E8M0FNU>,
      %y: tensor<256x64xf8E5M2>, %y_scale: tensor<8x64xf8E8M0FNU>,
      %acc: tensor<96x64xf32>) -> tensor<96x64xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<96x256xf8E4M3FN>, tensor<96x8xf8E8M0FNU>,
           tensor<256x64xf8E5M2>, tensor<8x64xf8E8M0FNU>, tensor<96x64xf32>
    return %d : tensor<96x64xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %op
        tile_sizes [32, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The tile of the consumer needs a tile of mma_scaled over all of K.

// CHECK-LABEL: func @mma_scaled_fused_into_consumer(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<96x256xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<96x8xf8E8M0FNU>, %[[Y:[a-z0-9]+]]: tensor<256x64xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<8x64xf8E8M0FNU>,
// CHECK:         scf.for %[[M:.*]] = %c0 to %c96 step %c32
// CHECK:           scf.for %[[N:.*]] = %c0 to %c64 step %c16
// CHECK-DAG:         %[[X_TILE:.*]] = tensor.extract_slice %[[X]][%[[M]], 0] [32, 256]
// CHECK-DAG:         %[[X_SCALE_TILE:.*]] = tensor.extract_slice %[[X_SCALE]][%[[M]], 0] [32, 8]
// CHECK-DAG:         %[[Y_TILE:.*]] = tensor.extract_slice %[[Y]][0, %[[N]]] [256, 16]
// CHECK-DAG:         %[[Y_SCALE_TILE:.*]] = tensor.extract_slice %[[Y_SCALE]][0, %[[N]]] [8, 16]
// CHECK:             %[[TILE:.*]] = blockscale.mma_scaled %[[X_TILE]], %[[X_SCALE_TILE]], %[[Y_TILE]], %[[Y_SCALE_TILE]],
// CHECK:             linalg.exp ins(%[[TILE]] : tensor<32x16xf32>)
module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_fused_into_consumer(
      %x: tensor<96x256xf8E4M3FN>, %x_scale: tensor<96x8xf8E8M0FNU>,
      %y: tensor<256x64xf8E5M2>, %y_scale: tensor<8x64xf8E8M0FNU>,
      %acc: tensor<96x64xf32>, %out: tensor<96x64xf32>) -> tensor<96x64xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<96x256xf8E4M3FN>, tensor<96x8xf8E8M0FNU>,
           tensor<256x64xf8E5M2>, tensor<8x64xf8E8M0FNU>, tensor<96x64xf32>
    %e = linalg.exp ins(%d : tensor<96x64xf32>) outs(%out : tensor<96x64xf32>)
         -> tensor<96x64xf32>
    return %e : tensor<96x64xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.exp"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.fuse %op tile_sizes [32, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op)
    transform.yield
  }
}

// -----

// The tiles of the first level have sizes that do not divide; the second level
// must still know that they are whole blocks.

// CHECK-LABEL: func @mma_scaled_two_levels(
// CHECK:         scf.for %{{.*}} = %c0 to %c96 step %c40
// CHECK:           scf.for %[[K:.*]] = %c0 to %c256 step %c96
// CHECK:             %[[M_SIZE:.*]] = affine.min #{{.*}}(%{{.*}})
// CHECK:             %[[K_SIZE:.*]] = affine.min #{{.*}}(%[[K]])
// CHECK:             scf.for %{{.*}} = %c0 to %[[M_SIZE]] step %c8
// CHECK:               scf.for %{{.*}} = %c0 to %[[K_SIZE]] step %c64
// CHECK:                 blockscale.mma_scaled
// CHECK-SAME:              {block_size = 32 : i64}
// CHECK-SAME:              : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x64xf8E8M0FNU>, tensor<?x64xf32>
module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_two_levels(
      %x: tensor<96x256xf8E4M3FN>, %x_scale: tensor<96x8xf8E8M0FNU>,
      %y: tensor<256x64xf8E5M2>, %y_scale: tensor<8x64xf8E8M0FNU>,
      %acc: tensor<96x64xf32>) -> tensor<96x64xf32> {
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<96x256xf8E4M3FN>, tensor<96x8xf8E8M0FNU>,
           tensor<256x64xf8E5M2>, tensor<8x64xf8E8M0FNU>, tensor<96x64xf32>
    return %d : tensor<96x64xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %outer, %outer_loops:2 = transform.structured.tile_using_for %op
        tile_sizes [40, 0, 96]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op)
    %inner, %inner_loops:2 = transform.structured.tile_using_for %outer
        tile_sizes [8, 0, 64]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op,
                                  !transform.any_op)
    transform.yield
  }
}

// -----

// A tile size that is computed, but a multiple of the block size for certain.

// CHECK-DAG:   #[[$TILE:.*]] = affine_map<()[s0] -> (s0 * 32)>
// CHECK-LABEL: func @mma_scaled_c9_dynamic_tile_of_whole_blocks(
// CHECK:         %[[TILE:.*]] = affine.apply #[[$TILE]]()
// CHECK:         scf.for %{{.*}} = %c0 to %c256 step %[[TILE]]
// CHECK:           blockscale.mma_scaled
module attributes {transform.with_named_sequence} {
  func.func @mma_scaled_c9_dynamic_tile_of_whole_blocks(
      %x: tensor<96x256xf8E4M3FN>, %x_scale: tensor<96x8xf8E8M0FNU>,
      %y: tensor<256x64xf8E5M2>, %y_scale: tensor<8x64xf8E8M0FNU>,
      %acc: tensor<96x64xf32>, %blocks: index) -> tensor<96x64xf32> {
    %tile = affine.apply affine_map<()[s0] -> (s0 * 32)>()[%blocks]
    %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
         : tensor<96x256xf8E4M3FN>, tensor<96x8xf8E8M0FNU>,
           tensor<256x64xf8E5M2>, tensor<8x64xf8E8M0FNU>, tensor<96x64xf32>
    return %d : tensor<96x64xf32>
  }
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
          : (!transform.any_op) -> !transform.any_op
    %size = transform.structured.match ops{["affine.apply"]} in %module
            : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_for %op
        tile_sizes [0, 0, %size]
        : (!transform.any_op, !transform.any_op)
        -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
