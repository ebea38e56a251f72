// Assertions about dynamic sizes, and none if all sizes are static.

// RUN: blockscale-opt %s --generate-runtime-verification --split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// mma_scaled
//===----------------------------------------------------------------------===//

// CHECK-DAG:   #[[$TO_ELEMENTS:.*]] = affine_map<()[s0] -> (s0 * 32)>
// CHECK-LABEL: func @mma_scaled_all_dynamic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<?x?xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<?x?xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<?x?xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<?x?xf32>)
// CHECK:         cf.assert %{{.*}}, "ERROR: Runtime op verification failed\0A{{.*}}blockscale.mma_scaled{{.*}}expected N to be at least 1{{.*}}Location: loc({{.*}}runtime-verification.mlir
// CHECK:         %[[K:.*]] = tensor.dim %[[X]],
// CHECK:         %[[HAS_K:.*]] = arith.cmpi sgt, %[[K]],
// CHECK:         cf.assert %[[HAS_K]], {{.*}}expected K to be at least 1
// CHECK:         cf.assert {{.*}}expected x_scale to have the M of x
// CHECK:         cf.assert {{.*}}expected y_scale to have the N of y
// CHECK:         cf.assert {{.*}}expected y to have the K of x
// CHECK:         cf.assert {{.*}}expected y_scale to have the K_s of x_scale
// CHECK:         cf.assert {{.*}}expected acc to have the M of x
// CHECK:         %[[N_OF_ACC:.*]] = tensor.dim %[[ACC]],
// CHECK:         %[[N_OF_Y:.*]] = tensor.dim %[[Y]],
// CHECK:         %[[SAME_N:.*]] = arith.cmpi eq, %[[N_OF_ACC]], %[[N_OF_Y]]
// CHECK:         cf.assert %[[SAME_N]], {{.*}}expected acc to have the N of y
// CHECK:         %[[K_S:.*]] = tensor.dim %[[X_SCALE]],
// CHECK:         %[[BLOCKS:.*]] = affine.apply #[[$TO_ELEMENTS]]()[%[[K_S]]]
// CHECK:         %[[WHOLE:.*]] = arith.cmpi eq, %[[BLOCKS]], %[[K]]
// CHECK:         cf.assert %[[WHOLE]], {{.*}}expected K to be K_s times the block size, 32
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.mma_scaled
func.func @mma_scaled_all_dynamic(
    %x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf8E8M0FNU>,
    %y: tensor<?x?xf8E5M2>, %y_scale: tensor<?x?xf8E8M0FNU>,
    %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>,
         tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @mma_scaled_c3_only_m_of_x_scale(
// CHECK:         cf.assert {{.*}}expected x_scale to have the M of x
// CHECK:         blockscale.mma_scaled
func.func @mma_scaled_c3_only_m_of_x_scale(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<?x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// CHECK-DAG:   #[[$TO_ELEMENTS_16:.*]] = affine_map<()[s0] -> (s0 * 16)>
// CHECK-LABEL: func @mma_scaled_c9_block16(
// CHECK:         affine.apply #[[$TO_ELEMENTS_16]]
// CHECK:         cf.assert {{.*}}expected K to be K_s times the block size, 16
// CHECK:         blockscale.mma_scaled
func.func @mma_scaled_c9_block16(
    %x: tensor<16x64xf4E2M1FN>, %x_scale: tensor<16x?xf8E4M3FN>,
    %y: tensor<64x8xf4E2M1FN>, %y_scale: tensor<?x8xf8E4M3FN>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 16}
       : tensor<16x64xf4E2M1FN>, tensor<16x?xf8E4M3FN>,
         tensor<64x8xf4E2M1FN>, tensor<?x8xf8E4M3FN>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// CHECK-LABEL: func @mma_scaled_c5_batches(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x16x64xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<?x16x2xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<?x64x8xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<?x2x8xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<?x16x8xf32>)
// CHECK:         cf.assert {{.*}}expected x_scale to have the batch of x
// CHECK:         cf.assert {{.*}}expected y_scale to have the batch of y
// CHECK:         %[[OF_X:.*]] = tensor.dim %[[X]],
// CHECK:         %[[OF_Y:.*]] = tensor.dim %[[Y]],
// CHECK:         %[[OF_ACC:.*]] = tensor.dim %[[ACC]],
// CHECK-DAG:     %[[X_GIVES:.*]] = arith.cmpi eq, %[[OF_X]], %[[OF_ACC]]
// CHECK-DAG:     %[[Y_GIVES:.*]] = arith.cmpi eq, %[[OF_Y]], %[[OF_ACC]]
// CHECK-DAG:     %[[X_IS_ONE:.*]] = arith.cmpi eq, %[[OF_X]], %c1
// CHECK-DAG:     %[[Y_IS_ONE:.*]] = arith.cmpi eq, %[[OF_Y]], %c1
// CHECK:         %[[X_FITS:.*]] = arith.ori %[[X_GIVES]], %[[X_IS_ONE]]
// CHECK:         cf.assert %[[X_FITS]], {{.*}}expected the batches of x and y to be 1 or that of acc
// CHECK:         %[[Y_FITS:.*]] = arith.ori %[[Y_GIVES]], %[[Y_IS_ONE]]
// CHECK:         cf.assert %[[Y_FITS]], {{.*}}expected the batches of x and y to be 1 or that of acc
// CHECK:         %[[EITHER:.*]] = arith.ori %[[X_GIVES]], %[[Y_GIVES]]
// CHECK:         cf.assert %[[EITHER]], {{.*}}expected acc to have the batch of x and y
// CHECK:         blockscale.mma_scaled
func.func @mma_scaled_c5_batches(
    %x: tensor<?x16x64xf8E4M3FN>, %x_scale: tensor<?x16x2xf8E8M0FNU>,
    %y: tensor<?x64x8xf8E5M2>, %y_scale: tensor<?x2x8xf8E8M0FNU>,
    %acc: tensor<?x16x8xf32>) -> tensor<?x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>,
         tensor<?x64x8xf8E5M2>, tensor<?x2x8xf8E8M0FNU>, tensor<?x16x8xf32>
  return %d : tensor<?x16x8xf32>
}

// -----

// CHECK-LABEL: func @mma_scaled_static(
// CHECK-NEXT:    blockscale.mma_scaled
// CHECK-NEXT:    return
func.func @mma_scaled_static(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// CHECK-LABEL: func @mma_scaled_vector(
// CHECK-NEXT:    blockscale.mma_scaled
// CHECK-NEXT:    return
func.func @mma_scaled_vector(
    %x: vector<16x64xf8E4M3FN>, %x_scale: vector<16x2xf8E8M0FNU>,
    %y: vector<64x8xf8E5M2>, %y_scale: vector<2x8xf8E8M0FNU>,
    %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<16x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>, vector<64x8xf8E5M2>,
         vector<2x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// swizzle_scales and unswizzle_scales
//===----------------------------------------------------------------------===//

// CHECK-DAG:   #[[$ROW_ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 128)>
// CHECK-DAG:   #[[$BLOCK_ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 4)>
// CHECK-LABEL: func @unswizzle_scales_u2_u3_dynamic(
// CHECK-SAME:    %[[SWIZZLED:[a-z0-9]+]]: tensor<?x?x?x32x16xf8E8M0FNU>,
// CHECK-SAME:    %[[BATCH:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[K_S:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[ROWS:.*]] = affine.apply #[[$ROW_ATOMS]]()[%[[M]]]
// CHECK-DAG:     %[[BLOCKS:.*]] = affine.apply #[[$BLOCK_ATOMS]]()[%[[K_S]]]
// CHECK:         arith.cmpi sgt, %[[BATCH]], %c-1
// CHECK:         cf.assert {{.*}}blockscale.unswizzle_scales{{.*}}expected sizes of at least 0, and K_s of at least 1
// CHECK:         %[[BATCHES:.*]] = tensor.dim %[[SWIZZLED]],
// CHECK:         arith.cmpi eq, %[[BATCH]], %[[BATCHES]]
// CHECK:         cf.assert {{.*}}expected sizes that round up to the atoms of the source
// CHECK:         arith.cmpi sgt, %[[M]], %c-1
// CHECK:         cf.assert {{.*}}expected sizes of at least 0, and K_s of at least 1
// CHECK:         arith.cmpi eq, %[[ROWS]], %{{.*}}
// CHECK:         cf.assert {{.*}}expected sizes that round up to the atoms of the source
// CHECK:         arith.cmpi sgt, %[[K_S]], %c0
// CHECK:         cf.assert {{.*}}expected sizes of at least 0, and K_s of at least 1
// CHECK:         arith.cmpi eq, %[[BLOCKS]], %{{.*}}
// CHECK:         cf.assert {{.*}}expected sizes that round up to the atoms of the source
// CHECK-NOT:     cf.assert
// CHECK:         blockscale.unswizzle_scales
func.func @unswizzle_scales_u2_u3_dynamic(%t: tensor<?x?x?x32x16xf8E8M0FNU>,
                                          %b: index, %m: index, %k: index)
    -> tensor<?x?x?xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%b, %m, %k)
       : tensor<?x?x?x32x16xf8E8M0FNU> to tensor<?x?x?xf8E8M0FNU>
  return %s : tensor<?x?x?xf8E8M0FNU>
}

// -----

// CHECK-LABEL: func @unswizzle_scales_u2_dynamic_source(
// CHECK:         %[[ATOMS:.*]] = tensor.dim
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[ATOMS]], %c3
// CHECK:         cf.assert %[[SAME]], {{.*}}expected sizes that round up to the atoms of the source
// CHECK:         blockscale.unswizzle_scales
func.func @unswizzle_scales_u2_dynamic_source(%t: tensor<?x3x32x16xf8E8M0FNU>)
    -> tensor<300x9xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<?x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return %s : tensor<300x9xf8E8M0FNU>
}

// -----

// CHECK-LABEL: func @unswizzle_scales_static(
// CHECK-NEXT:    blockscale.unswizzle_scales
// CHECK-NEXT:    return
func.func @unswizzle_scales_static(%t: tensor<3x3x32x16xf8E8M0FNU>)
    -> tensor<300x9xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t
       : tensor<3x3x32x16xf8E8M0FNU> to tensor<300x9xf8E8M0FNU>
  return %s : tensor<300x9xf8E8M0FNU>
}

// -----

// CHECK-LABEL: func @swizzle_scales_dynamic(
// CHECK-NEXT:    blockscale.swizzle_scales
// CHECK-NEXT:    return
func.func @swizzle_scales_dynamic(%s: tensor<?x?xf8E8M0FNU>)
    -> tensor<?x?x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<?x?xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  return %t : tensor<?x?x32x16xf8E8M0FNU>
}
