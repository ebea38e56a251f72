// Loops that take slices of scales take them of scales that were swizzled in
// front of the loop; swizzles that a loop does not change leave it.

// RUN: blockscale-opt %s --blockscale-swizzle-scale-operands --split-input-file --allow-unregistered-dialect | FileCheck %s

// The canonicalizer leaves it so.
// RUN: blockscale-opt %s --blockscale-swizzle-scale-operands --canonicalize --cse --split-input-file --allow-unregistered-dialect | FileCheck %s

// The example of the pass' description.

// CHECK:       #[[$ATOM:.*]] = affine_map<(d0) -> (d0 floordiv 128)>
// CHECK-LABEL: func.func @tiled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<256x128xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<256x4xf8E8M0FNU>, %[[Y:[a-z0-9]+]]: tensor<128x64xf8E5M2>,
// CHECK:         %[[Y_SCALE_T:.*]] = arith.constant dense<2.000000e+00> : tensor<1x1x32x16xf8E8M0FNU>
// CHECK:         %[[X_SCALE_T:.*]] = blockscale.swizzle_scales %[[X_SCALE]] : tensor<256x4xf8E8M0FNU> to tensor<2x1x32x16xf8E8M0FNU>
// CHECK-NEXT:    scf.for %[[M:.*]] = {{.*}} iter_args
// CHECK:           %[[ROW_ATOM:.*]] = affine.apply #[[$ATOM]](%[[M]])
// CHECK-NEXT:      %[[SLICE:.*]] = tensor.extract_slice %[[X_SCALE_T]][%[[ROW_ATOM]], 0, 0, 0] [1, 1, 32, 16] [1, 1, 1, 1] : tensor<2x1x32x16xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
// CHECK-NEXT:      %[[X_SCALE_M:.*]] = blockscale.unswizzle_scales %[[SLICE]] : tensor<1x1x32x16xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
// CHECK-NEXT:      %[[Y_SCALE_NK:.*]] = blockscale.unswizzle_scales %[[Y_SCALE_T]] : tensor<1x1x32x16xf8E8M0FNU> to tensor<64x4xf8E8M0FNU>
// CHECK:           %[[Y_SCALE:.*]] = linalg.transpose ins(%[[Y_SCALE_NK]] : tensor<64x4xf8E8M0FNU>)
// CHECK-NEXT:      blockscale.mma_scaled %{{.*}}, %[[X_SCALE_M]], %[[Y]], %[[Y_SCALE]],
func.func @tiled(%x: tensor<256x128xf8E4M3FN>,
                 %x_scale: tensor<256x4xf8E8M0FNU>,
                 %y: tensor<128x64xf8E5M2>,
                 %acc: tensor<256x64xf32>) -> tensor<256x64xf32> {
  %y_scale = arith.constant dense<2.0> : tensor<4x64xf8E8M0FNU>
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %d = scf.for %m = %c0 to %c256 step %c128 iter_args(%sum = %acc)
      -> (tensor<256x64xf32>) {
    %x_m = tensor.extract_slice %x[%m, 0] [128, 128] [1, 1]
           : tensor<256x128xf8E4M3FN> to tensor<128x128xf8E4M3FN>
    %x_scale_m = tensor.extract_slice %x_scale[%m, 0] [128, 4] [1, 1]
                 : tensor<256x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
    %sum_m = tensor.extract_slice %sum[%m, 0] [128, 64] [1, 1]
             : tensor<256x64xf32> to tensor<128x64xf32>
    %d_m = blockscale.mma_scaled %x_m, %x_scale_m, %y, %y_scale, %sum_m
           : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
             tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>,
             tensor<128x64xf32>
    %next = tensor.insert_slice %d_m into %sum[%m, 0] [128, 64] [1, 1]
            : tensor<128x64xf32> into tensor<256x64xf32>
    scf.yield %next : tensor<256x64xf32>
  }
  return %d : tensor<256x64xf32>
}

// -----

// y from K_s x N, sliced along N in the outer loop and along K in the inner
// one. It is the transpose that is swizzled, once.

// CHECK:       #[[$BLOCK_ATOM:.*]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-LABEL: func.func @y_nested(
// CHECK-SAME:    %[[Y_SCALE:[a-z0-9]+]]: tensor<16x256xf8E8M0FNU>
// CHECK:         %[[Y_SCALE_NK:.*]] = linalg.transpose ins(%[[Y_SCALE]] : tensor<16x256xf8E8M0FNU>) outs(%{{.*}} : tensor<256x16xf8E8M0FNU>) permutation = [1, 0]
// CHECK-NEXT:    %[[Y_SCALE_T:.*]] = blockscale.swizzle_scales %[[Y_SCALE_NK]] : tensor<256x16xf8E8M0FNU> to tensor<2x4x32x16xf8E8M0FNU>
// CHECK-NEXT:    scf.for %[[N:[a-z0-9]+]] =
// CHECK:           scf.for %[[K:[a-z0-9]+]] =
// CHECK:             %[[COLUMNS:.*]] = tensor.extract_slice %[[Y_SCALE_T]][%[[N]], 0, 0, 0] [1, 4, 32, 16] [1, 1, 1, 1]
// CHECK:             %[[ATOM:.*]] = affine.apply #[[$BLOCK_ATOM]](%[[K]])
// CHECK:             %[[SLICE:.*]] = tensor.extract_slice %[[COLUMNS]][0, %[[ATOM]], 0, 0] [1, 1, 32, 16] [1, 1, 1, 1]
// CHECK:             %[[SLICE_NK:.*]] = blockscale.unswizzle_scales %[[SLICE]] : tensor<1x1x32x16xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
// CHECK:             %[[SLICE_KN:.*]] = linalg.transpose ins(%[[SLICE_NK]] : tensor<128x4xf8E8M0FNU>) outs(%{{.*}} : tensor<4x128xf8E8M0FNU>)
// CHECK:             blockscale.mma_scaled %{{.*}}, %{{.*}}, %{{.*}}, %[[SLICE_KN]], %{{.*}} :
func.func @y_nested(%y_scale: tensor<16x256xf8E8M0FNU>,
                    %x: tensor<16x128xf8E4M3FN>,
                    %x_scale: tensor<16x4xf8E8M0FNU>,
                    %y: tensor<128x128xf8E5M2>, %acc: tensor<16x128xf32>)
    -> tensor<16x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %d = scf.for %n = %c0 to %c2 step %c1 iter_args(%acc_n = %acc)
      -> (tensor<16x128xf32>) {
    %column = affine.apply affine_map<(n) -> (n * 128)>(%n)
    %columns = tensor.extract_slice %y_scale[0, %column] [16, 128] [1, 1]
               : tensor<16x256xf8E8M0FNU> to tensor<16x128xf8E8M0FNU>
    %e = scf.for %k = %c0 to %c16 step %c4 iter_args(%acc_nk = %acc_n)
        -> (tensor<16x128xf32>) {
      %tile = tensor.extract_slice %columns[%k, 0] [4, 128] [1, 1]
              : tensor<16x128xf8E8M0FNU> to tensor<4x128xf8E8M0FNU>
      %sum = blockscale.mma_scaled %x, %x_scale, %y, %tile, %acc_nk
             : tensor<16x128xf8E4M3FN>, tensor<16x4xf8E8M0FNU>,
               tensor<128x128xf8E5M2>, tensor<4x128xf8E8M0FNU>,
               tensor<16x128xf32>
      scf.yield %sum : tensor<16x128xf32>
    }
    scf.yield %e : tensor<16x128xf32>
  }
  return %d : tensor<16x128xf32>
}

// -----

// A batch that is kept and one that is dropped, from N x K_s, in scf.forall.

// CHECK-LABEL: func.func @batch_forall(
// CHECK-SAME:    %[[X_SCALE:[a-z0-9]+]]: tensor<3x160x2xf8E4M3FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<3x144x2xf8E4M3FN>
// CHECK-DAG:     %[[X_SCALE_T:.*]] = blockscale.swizzle_scales %[[X_SCALE]] : tensor<3x160x2xf8E4M3FN> to tensor<3x2x1x32x16xf8E4M3FN>
// CHECK-DAG:     %[[Y_SCALE_T:.*]] = blockscale.swizzle_scales %[[Y_SCALE]] : tensor<3x144x2xf8E4M3FN> to tensor<3x2x1x32x16xf8E4M3FN>
// CHECK:         scf.forall (%[[B:.*]]) in (3)
// CHECK:           %[[X_SLICE:.*]] = tensor.extract_slice %[[X_SCALE_T]][%[[B]], 1, 0, 0, 0] [1, 1, 1, 32, 16] [1, 1, 1, 1, 1] : tensor<3x2x1x32x16xf8E4M3FN> to tensor<1x1x1x32x16xf8E4M3FN>
// CHECK:           blockscale.unswizzle_scales %[[X_SLICE]] : tensor<1x1x1x32x16xf8E4M3FN> to tensor<1x32x2xf8E4M3FN>
// CHECK:           %[[Y_SLICE:.*]] = tensor.extract_slice %[[Y_SCALE_T]][%[[B]], 1, 0, 0, 0] [1, 1, 1, 32, 16] [1, 1, 1, 1, 1] : tensor<3x2x1x32x16xf8E4M3FN> to tensor<1x1x32x16xf8E4M3FN>
// CHECK:           blockscale.unswizzle_scales %[[Y_SLICE]] : tensor<1x1x32x16xf8E4M3FN> to tensor<16x2xf8E4M3FN>
func.func @batch_forall(%x_scale: tensor<3x160x2xf8E4M3FN>,
                        %y_scale: tensor<3x144x2xf8E4M3FN>,
                        %x: tensor<1x32x32xf4E2M1FN>,
                        %y: tensor<32x16xf4E2M1FN>,
                        %acc: tensor<3x32x16xf32>) -> tensor<3x32x16xf32> {
  %y_scale_init = tensor.empty() : tensor<2x16xf8E4M3FN>
  %d = scf.forall (%b) in (3) shared_outs(%out = %acc) -> (tensor<3x32x16xf32>) {
    %x_tile = tensor.extract_slice %x_scale[%b, 128, 0] [1, 32, 2] [1, 1, 1]
              : tensor<3x160x2xf8E4M3FN> to tensor<1x32x2xf8E4M3FN>
    %y_tile = tensor.extract_slice %y_scale[%b, 128, 0] [1, 16, 2] [1, 1, 1]
              : tensor<3x144x2xf8E4M3FN> to tensor<16x2xf8E4M3FN>
    %y_tile_kn = linalg.transpose ins(%y_tile : tensor<16x2xf8E4M3FN>)
                 outs(%y_scale_init : tensor<2x16xf8E4M3FN>)
                 permutation = [1, 0]
    %out_b = tensor.extract_slice %out[%b, 0, 0] [1, 32, 16] [1, 1, 1]
             : tensor<3x32x16xf32> to tensor<1x32x16xf32>
    %sum = blockscale.mma_scaled %x, %x_tile, %y, %y_tile_kn, %out_b
           : tensor<1x32x32xf4E2M1FN>, tensor<1x32x2xf8E4M3FN>,
             tensor<32x16xf4E2M1FN>, tensor<2x16xf8E4M3FN>,
             tensor<1x32x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%b, 0, 0] [1, 32, 16]
          [1, 1, 1] : tensor<1x32x16xf32> into tensor<3x32x16xf32>
    }
  }
  return %d : tensor<3x32x16xf32>
}

// -----

// Sizes that the loop computes: the last tile is smaller. Rows of the source
// are not known either.

// CHECK-DAG:   #[[$ATOM:.*]] = affine_map<(d0) -> (d0 floordiv 128)>
// CHECK-DAG:   #[[$ATOMS:.*]] = affine_map<(d0) -> (d0 ceildiv 128)>
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X_SCALE:[a-z0-9]+]]: tensor<?x4xf8E8M0FNU>
// CHECK:         %[[X_SCALE_T:.*]] = blockscale.swizzle_scales %[[X_SCALE]] : tensor<?x4xf8E8M0FNU> to tensor<?x1x32x16xf8E8M0FNU>
// CHECK-NEXT:    scf.for %[[M:.*]] = {{.*}} iter_args
// CHECK:           %[[SIZE:.*]] = affine.min
// CHECK-DAG:       %[[FROM:.*]] = affine.apply #[[$ATOM]](%[[M]])
// CHECK-DAG:       %[[COUNT:.*]] = affine.apply #[[$ATOMS]](%[[SIZE]])
// CHECK:           %[[SLICE:.*]] = tensor.extract_slice %[[X_SCALE_T]][%[[FROM]], 0, 0, 0] [%[[COUNT]], 1, 32, 16] [1, 1, 1, 1] : tensor<?x1x32x16xf8E8M0FNU> to tensor<?x1x32x16xf8E8M0FNU>
// CHECK-NEXT:      %[[TILE:.*]] = blockscale.unswizzle_scales %[[SLICE]] sizes(%[[SIZE]]) : tensor<?x1x32x16xf8E8M0FNU> to tensor<?x4xf8E8M0FNU>
// CHECK-NEXT:      blockscale.mma_scaled %{{.*}}, %[[TILE]],
func.func @dynamic(%x_scale: tensor<?x4xf8E8M0FNU>,
                   %x: tensor<?x128xf8E4M3FN>, %y: tensor<128x8xf8E5M2>,
                   %y_scale: tensor<4x8xf8E8M0FNU>, %acc: tensor<?x8xf32>,
                   %rows: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %d = scf.for %m = %c0 to %rows step %c128 iter_args(%sum = %acc)
      -> (tensor<?x8xf32>) {
    %size = affine.min affine_map<(m)[rows] -> (rows - m, 128)>(%m)[%rows]
    %tile = tensor.extract_slice %x_scale[%m, 0] [%size, 4] [1, 1]
            : tensor<?x4xf8E8M0FNU> to tensor<?x4xf8E8M0FNU>
    %x_m = tensor.extract_slice %x[%m, 0] [%size, 128] [1, 1]
           : tensor<?x128xf8E4M3FN> to tensor<?x128xf8E4M3FN>
    %sum_m = tensor.extract_slice %sum[%m, 0] [%size, 8] [1, 1]
             : tensor<?x8xf32> to tensor<?x8xf32>
    %d_m = blockscale.mma_scaled %x_m, %tile, %y, %y_scale, %sum_m
           : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>,
             tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<?x8xf32>
    %next = tensor.insert_slice %d_m into %sum[%m, 0] [%size, 8] [1, 1]
            : tensor<?x8xf32> into tensor<?x8xf32>
    scf.yield %next : tensor<?x8xf32>
  }
  return %d : tensor<?x8xf32>
}

// -----

// A slice of N x K_s that the loop transposes: what is N is the second size.

// CHECK-LABEL: func.func @dynamic_y(
// CHECK-SAME:    %[[Y_SCALE:[a-z0-9]+]]: tensor<?x4xf8E8M0FNU>
// CHECK:         %[[Y_SCALE_T:.*]] = blockscale.swizzle_scales %[[Y_SCALE]] : tensor<?x4xf8E8M0FNU> to tensor<?x1x32x16xf8E8M0FNU>
// CHECK-NEXT:    scf.for
// CHECK:           %[[SIZE:.*]] = affine.min
// CHECK:           %[[SLICE:.*]] = tensor.extract_slice %[[Y_SCALE_T]]
// CHECK-NEXT:      %[[TILE:.*]] = blockscale.unswizzle_scales %[[SLICE]] sizes(%[[SIZE]]) : tensor<?x1x32x16xf8E8M0FNU> to tensor<?x4xf8E8M0FNU>
// CHECK-NEXT:      %[[INIT:.*]] = tensor.empty(%[[SIZE]]) : tensor<4x?xf8E8M0FNU>
// CHECK-NEXT:      %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[TILE]] : tensor<?x4xf8E8M0FNU>) outs(%[[INIT]] : tensor<4x?xf8E8M0FNU>)
// CHECK-NEXT:      blockscale.mma_scaled %{{.*}}, %{{.*}}, %{{.*}}, %[[TRANSPOSED]],
func.func @dynamic_y(%y_scale: tensor<?x4xf8E8M0FNU>,
                     %x: tensor<8x128xf8E4M3FN>, %y: tensor<128x?xf8E5M2>,
                     %x_scale: tensor<8x4xf8E8M0FNU>, %acc: tensor<8x?xf32>,
                     %columns: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %n = %c0 to %columns step %c128 {
    %size = affine.min affine_map<(n)[columns] -> (columns - n, 128)>(%n)[%columns]
    %tile = tensor.extract_slice %y_scale[%n, 0] [%size, 4] [1, 1]
            : tensor<?x4xf8E8M0FNU> to tensor<?x4xf8E8M0FNU>
    %init = tensor.empty(%size) : tensor<4x?xf8E8M0FNU>
    %transposed = linalg.transpose ins(%tile : tensor<?x4xf8E8M0FNU>)
                  outs(%init : tensor<4x?xf8E8M0FNU>) permutation = [1, 0]
    %d = blockscale.mma_scaled %x, %x_scale, %y, %transposed, %acc
         {block_size = 32}
         : tensor<8x128xf8E4M3FN>, tensor<8x4xf8E8M0FNU>,
           tensor<128x?xf8E5M2>, tensor<4x?xf8E8M0FNU>, tensor<8x?xf32>
    "test.use"(%d) : (tensor<8x?xf32>) -> ()
  }
  return
}

// -----

// Two ops share what is swizzled. It is made in the outer loop, as its source
// is.

// CHECK-LABEL: func.func @made_in_outer_loop(
// CHECK:         scf.for
// CHECK-NEXT:      %[[SCALES:.*]] = "test.scales"() : () -> tensor<256x4xf8E8M0FNU>
// CHECK-NEXT:      %[[SCALES_T:.*]] = blockscale.swizzle_scales %[[SCALES]]
// CHECK-NEXT:      scf.for
// CHECK-NOT:         {{ blockscale.swizzle_scales}}
// CHECK:             tensor.extract_slice %[[SCALES_T]]
// CHECK:             blockscale.mma_scaled
// CHECK:             blockscale.mma_scaled
func.func @made_in_outer_loop(%x: tensor<128x128xf8E4M3FN>,
                              %y: tensor<128x8xf8E5M2>,
                              %y_scale: tensor<4x8xf8E8M0FNU>,
                              %acc: tensor<128x8xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c256 step %c128 {
    %scales = "test.scales"() : () -> tensor<256x4xf8E8M0FNU>
    scf.for %m = %c0 to %c256 step %c128 {
      %tile = tensor.extract_slice %scales[%m, 0] [128, 4] [1, 1]
              : tensor<256x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
      %d = blockscale.mma_scaled %x, %tile, %y, %y_scale, %acc
           : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
             tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<128x8xf32>
      %e = blockscale.mma_scaled %x, %tile, %y, %y_scale, %d
           : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
             tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<128x8xf32>
      "test.use"(%e) : (tensor<128x8xf32>) -> ()
    }
  }
  return
}

// -----

// A slice that is taken in front of the loop is whole in it.

// CHECK-LABEL: func.func @sliced_before_loop(
// CHECK-NOT:     swizzle_scales
// CHECK:         return
func.func @sliced_before_loop(%scales: tensor<256x4xf8E8M0FNU>,
                              %x: tensor<128x128xf8E4M3FN>,
                              %y: tensor<128x8xf8E5M2>,
                              %y_scale: tensor<4x8xf8E8M0FNU>,
                              %acc: tensor<128x8xf32>, %to: index)
    -> tensor<128x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tile = tensor.extract_slice %scales[128, 0] [128, 4] [1, 1]
          : tensor<256x4xf8E8M0FNU> to tensor<128x4xf8E8M0FNU>
  %d = scf.for %i = %c0 to %to step %c1 iter_args(%sum = %acc)
      -> (tensor<128x8xf32>) {
    %next = blockscale.mma_scaled %x, %tile, %y, %y_scale, %sum
            : tensor<128x128xf8E4M3FN>, tensor<128x4xf8E8M0FNU>,
              tensor<128x8xf8E5M2>, tensor<4x8xf8E8M0FNU>, tensor<128x8xf32>
    scf.yield %next : tensor<128x8xf32>
  }
  return %d : tensor<128x8xf32>
}

// -----

// The user's own swizzles, with the transposes that they are of.

// CHECK-LABEL: func.func @hoist_for(
// CHECK-SAME:    %[[SCALES:[a-z0-9]+]]: tensor<9x300xf8E8M0FNU>
// CHECK:         %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[SCALES]]
// CHECK-NEXT:    %[[SCALES_T:.*]] = blockscale.swizzle_scales %[[TRANSPOSED]]
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-NEXT:        "test.use"(%[[SCALES_T]])
func.func @hoist_for(%scales: tensor<9x300xf8E8M0FNU>, %from: index, %to: index) {
  scf.for %i = %from to %to step %to {
    scf.for %j = %from to %to step %to {
      %init = tensor.empty() : tensor<300x9xf8E8M0FNU>
      %transposed = linalg.transpose ins(%scales : tensor<9x300xf8E8M0FNU>)
                    outs(%init : tensor<300x9xf8E8M0FNU>) permutation = [1, 0]
      %t = blockscale.swizzle_scales %transposed
           : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
      "test.use"(%t) : (tensor<3x3x32x16xf8E8M0FNU>) -> ()
    }
  }
  return
}

// CHECK-LABEL: func.func @hoist_while(
// CHECK:         %[[SCALES_T:.*]] = blockscale.swizzle_scales
// CHECK:         %[[OTHER_T:.*]] = blockscale.swizzle_scales
// CHECK:         scf.while
// CHECK:           "test.condition"(%[[SCALES_T]])
// CHECK:         do
// CHECK:           "test.use"(%[[OTHER_T]])
func.func @hoist_while(%scales: tensor<300x9xf8E8M0FNU>,
                       %other: tensor<1x?xf8E4M3FN>) {
  scf.while : () -> () {
    %t = blockscale.swizzle_scales %scales
         : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
    %again = "test.condition"(%t) : (tensor<3x3x32x16xf8E8M0FNU>) -> i1
    scf.condition(%again)
  } do {
    %t = blockscale.swizzle_scales %other
         : tensor<1x?xf8E4M3FN> to tensor<1x?x32x16xf8E4M3FN>
    "test.use"(%t) : (tensor<1x?x32x16xf8E4M3FN>) -> ()
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func @hoist_forall_and_parallel(
// CHECK:         %[[SCALES_T:.*]] = blockscale.swizzle_scales
// CHECK:         scf.forall
// CHECK:           scf.parallel
// CHECK:             "test.use"(%[[SCALES_T]])
func.func @hoist_forall_and_parallel(%scales: tensor<300x9xf8E8M0FNU>,
                                     %from: index, %to: index) {
  scf.forall (%i) in (7) {
    scf.parallel (%j) = (%from) to (%to) step (%to) {
      %t = blockscale.swizzle_scales %scales
           : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
      "test.use"(%t) : (tensor<3x3x32x16xf8E8M0FNU>) -> ()
    }
  }
  return
}

// What changes with the loop stays, and so does what is no swizzle.
// CHECK-LABEL: func.func @hoist_nothing(
// CHECK:         scf.for
// CHECK-NEXT:      tensor.empty
// CHECK-NEXT:      %[[SCALES:.*]] = "test.scales"
// CHECK-NEXT:      blockscale.swizzle_scales %[[SCALES]]
func.func @hoist_nothing(%from: index, %to: index) {
  scf.for %i = %from to %to step %to {
    %empty = tensor.empty() : tensor<300x9xf8E8M0FNU>
    %scales = "test.scales"(%i, %empty)
              : (index, tensor<300x9xf8E8M0FNU>) -> tensor<300x9xf8E8M0FNU>
    %t = blockscale.swizzle_scales %scales
         : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
    "test.use"(%t) : (tensor<3x3x32x16xf8E8M0FNU>) -> ()
  }
  return
}
