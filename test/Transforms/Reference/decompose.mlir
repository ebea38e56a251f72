// The reference semantics of the ops in upstream dialects.

// RUN: blockscale-opt %s --blockscale-decompose --split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// mma_scaled: the loops
//===----------------------------------------------------------------------===//

// Four loop nests: acc to f64; x and y, each times its scales; the products;
// the sum to f32. N is the innermost loop.

// CHECK-DAG:   #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[$X_BLOCK:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 32)>
// CHECK-DAG:   #[[$Y_BLOCK:.*]] = affine_map<(d0, d1) -> (d0 floordiv 32, d1)>
// CHECK-DAG:   #[[$M_K:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG:   #[[$K_N:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG:   #[[$M_N:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func @mma_scaled_loops(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1600x6400xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<1600x200xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<6400x800xf6E3M2FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<200x800xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<1600x800xf32>)
// CHECK:         %[[ACC_F64:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%[[ACC]] : tensor<1600x800xf32>)
// CHECK:           arith.extf %{{.*}} : f32 to f64
// CHECK:         %[[X_F64:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$X_BLOCK]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%[[X]], %[[X_SCALE]] :
// CHECK:         ^bb0(%[[X_ELEMENT:.*]]: f8E4M3FN, %[[X_FACTOR:.*]]: f8E8M0FNU, %{{.*}}: f64):
// CHECK:           arith.bitcast %[[X_ELEMENT]] : f8E4M3FN to i8
// CHECK:           arith.bitcast %[[X_FACTOR]] : f8E8M0FNU to i8
// CHECK:           %[[X_PRODUCT:.*]] = arith.mulf %{{.*}} : f64
// CHECK:           linalg.yield %[[X_PRODUCT]]
// CHECK:         } -> tensor<1600x6400xf64>
// CHECK:         %[[Y_F64:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$Y_BLOCK]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%[[Y]], %[[Y_SCALE]] :
// CHECK:           arith.bitcast %{{.*}} : f6E3M2FN to i6
// CHECK:         } -> tensor<6400x800xf64>
// CHECK:         %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[$M_K]], #[[$K_N]], #[[$M_N]]], iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK-SAME:      ins(%[[X_F64]], %[[Y_F64]] :
// CHECK-SAME:      outs(%[[ACC_F64]] : tensor<1600x800xf64>)
// CHECK:         ^bb0(%[[X_K:.*]]: f64, %[[Y_K:.*]]: f64, %[[PARTIAL:.*]]: f64):
// CHECK-NEXT:      %[[TERM:.*]] = arith.mulf %[[X_K]], %[[Y_K]] : f64
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addf %[[PARTIAL]], %[[TERM]] : f64
// CHECK-NEXT:      linalg.yield %[[NEXT]] : f64
// CHECK:         %[[DESTINATION:.*]] = tensor.empty() : tensor<1600x800xf32>
// CHECK:         %[[RESULT:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%[[SUM]] : tensor<1600x800xf64>) outs(%[[DESTINATION]] : tensor<1600x800xf32>)
// CHECK:           arith.truncf %{{.*}} : f64 to f32
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     blockscale.
// CHECK:         return %[[RESULT]]
func.func @mma_scaled_loops(
    %x: tensor<1600x6400xf8E4M3FN>, %x_scale: tensor<1600x200xf8E8M0FNU>,
    %y: tensor<6400x800xf6E3M2FN>, %y_scale: tensor<200x800xf8E8M0FNU>,
    %acc: tensor<1600x800xf32>) -> tensor<1600x800xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1600x6400xf8E4M3FN>, tensor<1600x200xf8E8M0FNU>,
         tensor<6400x800xf6E3M2FN>, tensor<200x800xf8E8M0FNU>,
         tensor<1600x800xf32>
  return %d : tensor<1600x800xf32>
}

// -----

// CHECK-DAG:   #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[$X_BLOCK:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 16)>
// CHECK-DAG:   #[[$Y_BLOCK:.*]] = affine_map<(d0, d1) -> (d0 floordiv 16, d1)>
// CHECK-LABEL: func @mma_scaled_block16(
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$X_BLOCK]], #[[$ID]]]
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$Y_BLOCK]], #[[$ID]]]
func.func @mma_scaled_block16(
    %x: tensor<16x64xf4E2M1FN>, %x_scale: tensor<16x4xf8E8M0FNU>,
    %y: tensor<64x8xf4E2M1FN>, %y_scale: tensor<4x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf4E2M1FN>, tensor<16x4xf8E8M0FNU>,
         tensor<64x8xf4E2M1FN>, tensor<4x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// CHECK-DAG:   #[[$X_BLOCK:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 32)>
// CHECK-DAG:   #[[$M_K:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @mma_scaled_dynamic_sizes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<?x?xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<?x?xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<?x?xf8E8M0FNU>,
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: tensor<?x?xf32>)
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[ACC]], %c0
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[ACC]], %c1
// CHECK:         tensor.empty(%[[M]], %[[N]]) : tensor<?x?xf64>
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$X_BLOCK]], #{{.*}}]
// CHECK-SAME:      ins(%[[X]], %[[X_SCALE]] :
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[Y]], %[[Y_SCALE]] :
// CHECK:         linalg.generic {indexing_maps = [#[[$M_K]],
// CHECK:         arith.truncf
// CHECK-NOT:     blockscale.
func.func @mma_scaled_dynamic_sizes(
    %x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf8E8M0FNU>,
    %y: tensor<?x?xf8E5M2>, %y_scale: tensor<?x?xf8E8M0FNU>,
    %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>,
         tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// -----

//===----------------------------------------------------------------------===//
// mma_scaled: batches
//===----------------------------------------------------------------------===//

// The loops are (batch, M, K, N). A batch of 1 is read at 0; nothing is copied.

// CHECK-DAG:   #[[$X_OF_1:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d1, d2)>
// CHECK-DAG:   #[[$Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG:   #[[$SUM:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-LABEL: func @mma_scaled_batch_of_x_is_1(
// CHECK:         linalg.generic {indexing_maps = [#[[$X_OF_1]], #[[$Y]], #[[$SUM]]], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<1x16x64xf64>, tensor<6x64x8xf64>)
func.func @mma_scaled_batch_of_x_is_1(
    %x: tensor<1x16x64xf8E4M3FN>, %x_scale: tensor<1x16x2xf8E8M0FNU>,
    %y: tensor<6x64x8xf8E5M2>, %y_scale: tensor<6x2x8xf8E8M0FNU>,
    %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<1x16x64xf8E4M3FN>, tensor<1x16x2xf8E8M0FNU>,
         tensor<6x64x8xf8E5M2>, tensor<6x2x8xf8E8M0FNU>, tensor<6x16x8xf32>
  return %d : tensor<6x16x8xf32>
}

// -----

// CHECK-DAG:   #[[$X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG:   #[[$Y_OF_1:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d2, d3)>
// CHECK-DAG:   #[[$SUM:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-LABEL: func @mma_scaled_batch_of_y_is_1(
// CHECK:         linalg.generic {indexing_maps = [#[[$X]], #[[$Y_OF_1]], #[[$SUM]]]
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<6x16x64xf64>, tensor<1x64x8xf64>)
func.func @mma_scaled_batch_of_y_is_1(
    %x: tensor<6x16x64xf8E4M3FN>, %x_scale: tensor<6x16x2xf8E8M0FNU>,
    %y: tensor<1x64x8xf8E5M2>, %y_scale: tensor<1x2x8xf8E8M0FNU>,
    %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<6x16x64xf8E4M3FN>, tensor<6x16x2xf8E8M0FNU>,
         tensor<1x64x8xf8E5M2>, tensor<1x2x8xf8E8M0FNU>, tensor<6x16x8xf32>
  return %d : tensor<6x16x8xf32>
}

// -----

// CHECK-DAG:   #[[$X:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
// CHECK-DAG:   #[[$Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-LABEL: func @mma_scaled_x_without_batch(
// CHECK:         linalg.generic {indexing_maps = [#[[$X]], #[[$Y]], #{{.*}}]
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<16x64xf64>, tensor<6x64x8xf64>)
func.func @mma_scaled_x_without_batch(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<6x64x8xf8E5M2>, %y_scale: tensor<6x2x8xf8E8M0FNU>,
    %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<6x64x8xf8E5M2>, tensor<6x2x8xf8E8M0FNU>, tensor<6x16x8xf32>
  return %d : tensor<6x16x8xf32>
}

// -----

// CHECK-DAG:   #[[$X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG:   #[[$Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-LABEL: func @mma_scaled_y_without_batch(
// CHECK:         linalg.generic {indexing_maps = [#[[$X]], #[[$Y]], #{{.*}}]
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<6x16x64xf64>, tensor<64x8xf64>)
func.func @mma_scaled_y_without_batch(
    %x: tensor<6x16x64xf8E4M3FN>, %x_scale: tensor<6x16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<6x16x64xf8E4M3FN>, tensor<6x16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<6x16x8xf32>
  return %d : tensor<6x16x8xf32>
}

// -----

// Whether the batch is 1 or that of acc is known at run time only: index
// min(batch, size - 1) is right for both.

// CHECK-DAG:   #[[$CLAMP:.*]] = affine_map<()[s0, s1] -> (s0, s1 - 1)>
// CHECK-LABEL: func @mma_scaled_batch_of_x_dynamic(
// CHECK:         %[[X:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>)
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[BROADCAST:.*]] = linalg.generic
// CHECK:           %[[BATCH:.*]] = linalg.index 0
// CHECK:           %[[READ:.*]] = affine.min #[[$CLAMP]]()[%[[BATCH]], %[[SIZE]]]
// CHECK:           tensor.extract %[[X]][%[[READ]],
// CHECK:         } -> tensor<6x16x64xf64>
// CHECK:         ins(%[[BROADCAST]], %{{.*}} : tensor<6x16x64xf64>, tensor<64x8xf64>)
func.func @mma_scaled_batch_of_x_dynamic(
    %x: tensor<?x16x64xf8E4M3FN>, %x_scale: tensor<?x16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<?x16x64xf8E4M3FN>, tensor<?x16x2xf8E8M0FNU>,
         tensor<64x8xf8E5M2>, tensor<2x8xf8E8M0FNU>, tensor<6x16x8xf32>
  return %d : tensor<6x16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// mma_scaled: the accumulator
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma_scaled_acc_zero_constant(
// CHECK-NOT:     dense<
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NOT:     arith.extf
// CHECK:         %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f64)
// CHECK-NOT:     arith.extf
// CHECK:         outs(%[[START]] : tensor<16x8xf64>)
// CHECK-NOT:     arith.extf
// CHECK:         return
func.func @mma_scaled_acc_zero_constant(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>)
    -> tensor<16x8xf32> {
  %acc = arith.constant dense<0.0> : tensor<16x8xf32>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// CHECK-LABEL: func @mma_scaled_acc_zero_fill(
// CHECK-NOT:     : f32)
// CHECK:         linalg.fill ins(%{{.*}} : f64)
// CHECK-NOT:     arith.extf
// CHECK:         return
func.func @mma_scaled_acc_zero_fill(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>)
    -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x8xf32>)
         -> tensor<16x8xf32>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// CHECK-LABEL: func @mma_scaled_acc_zero_vector(
// CHECK-NOT:     vector<16x8xf32>, tensor<16x8xf32>
// CHECK:         linalg.fill ins(%{{.*}} : f64)
// CHECK:         vector.transfer_read
// CHECK-SAME:      : tensor<16x8xf32>, vector<16x8xf32>
func.func @mma_scaled_acc_zero_vector(
    %x: vector<16x64xf8E4M3FN>, %x_scale: vector<16x2xf8E8M0FNU>,
    %y: vector<64x8xf8E5M2>, %y_scale: vector<2x8xf8E8M0FNU>)
    -> vector<16x8xf32> {
  %acc = arith.constant dense<0.0> : vector<16x8xf32>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<16x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>, vector<64x8xf8E5M2>,
         vector<2x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

// CHECK-LABEL: func @mma_scaled_acc_one(
// CHECK:         %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<16x8xf32>
// CHECK-NOT:     linalg.fill
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[ONES]] : tensor<16x8xf32>)
// CHECK:           arith.extf
func.func @mma_scaled_acc_one(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y: tensor<64x8xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>)
    -> tensor<16x8xf32> {
  %acc = arith.constant dense<1.0> : tensor<16x8xf32>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// mma_scaled: operands read where they are
//===----------------------------------------------------------------------===//

// y is N x K in memory, and its scales are the swizzled N x K_s ones.

// CHECK-DAG:   #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[$TRANSPOSED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG:   #[[$X_SWIZZLED:.*]] = affine_map<(d0, d1) -> (d0 floordiv 128, (d1 floordiv 32) floordiv 4, d0 mod 32, ((d0 floordiv 32) mod 4) * 4 + (d1 floordiv 32) mod 4)>
// CHECK-DAG:   #[[$Y_SWIZZLED:.*]] = affine_map<(d0, d1) -> (d1 floordiv 128, (d0 floordiv 32) floordiv 4, d1 mod 32, ((d1 floordiv 32) mod 4) * 4 + (d0 floordiv 32) mod 4)>
// CHECK-LABEL: func @mma_scaled_of_swizzled_scales(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<200x160xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<2x2x32x16xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<300x160xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<3x2x32x16xf8E8M0FNU>,
// CHECK-NOT:     linalg.transpose
// CHECK-NOT:     tensor.empty() : tensor<{{.*}}xf8
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$X_SWIZZLED]], #[[$ID]]]
// CHECK-SAME:      ins(%[[X]], %[[X_SCALE]] :
// CHECK-NOT:     linalg.transpose
// CHECK-NOT:     tensor.empty() : tensor<{{.*}}xf8
// CHECK:         linalg.generic {indexing_maps = [#[[$TRANSPOSED]], #[[$Y_SWIZZLED]], #[[$ID]]]
// CHECK-SAME:      ins(%[[Y]], %[[Y_SCALE]] :
// CHECK:         } -> tensor<160x300xf64>
func.func @mma_scaled_of_swizzled_scales(
    %x: tensor<200x160xf8E4M3FN>, %x_swizzled: tensor<2x2x32x16xf8E8M0FNU>,
    %y_nk: tensor<300x160xf8E5M2>, %y_swizzled: tensor<3x2x32x16xf8E8M0FNU>,
    %acc: tensor<200x300xf32>) -> tensor<200x300xf32> {
  %x_scale = blockscale.unswizzle_scales %x_swizzled
             : tensor<2x2x32x16xf8E8M0FNU> to tensor<200x5xf8E8M0FNU>
  %y_scale_nk = blockscale.unswizzle_scales %y_swizzled
                : tensor<3x2x32x16xf8E8M0FNU> to tensor<300x5xf8E8M0FNU>
  %y_empty = tensor.empty() : tensor<160x300xf8E5M2>
  %y = linalg.transpose ins(%y_nk : tensor<300x160xf8E5M2>)
       outs(%y_empty : tensor<160x300xf8E5M2>) permutation = [1, 0]
  %y_scale_empty = tensor.empty() : tensor<5x300xf8E8M0FNU>
  %y_scale = linalg.transpose ins(%y_scale_nk : tensor<300x5xf8E8M0FNU>)
             outs(%y_scale_empty : tensor<5x300xf8E8M0FNU>)
             permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<200x160xf8E4M3FN>, tensor<200x5xf8E8M0FNU>,
         tensor<160x300xf8E5M2>, tensor<5x300xf8E8M0FNU>, tensor<200x300xf32>
  return %d : tensor<200x300xf32>
}

// -----

// A permutation that is not its own inverse: y is [N, batch, K] in memory.

// CHECK-DAG:   #[[$NBK:.*]] = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
// CHECK-DAG:   #[[$KBN_OF_BLOCK:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d0, d2)>
// CHECK-LABEL: func @mma_scaled_of_transpose_rank_3(
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<8x6x64xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<2x6x8xf8E8M0FNU>,
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {indexing_maps = [#[[$NBK]], #[[$KBN_OF_BLOCK]], #{{.*}}]
// CHECK-SAME:      ins(%[[Y]], %[[Y_SCALE]] :
// CHECK:         } -> tensor<6x64x8xf64>
func.func @mma_scaled_of_transpose_rank_3(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y_nbk: tensor<8x6x64xf8E5M2>, %y_scale_kbn: tensor<2x6x8xf8E8M0FNU>,
    %acc: tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
  %y_empty = tensor.empty() : tensor<6x64x8xf8E5M2>
  %y = linalg.transpose ins(%y_nbk : tensor<8x6x64xf8E5M2>)
       outs(%y_empty : tensor<6x64x8xf8E5M2>) permutation = [1, 2, 0]
  %y_scale_empty = tensor.empty() : tensor<6x2x8xf8E8M0FNU>
  %y_scale = linalg.transpose ins(%y_scale_kbn : tensor<2x6x8xf8E8M0FNU>)
             outs(%y_scale_empty : tensor<6x2x8xf8E8M0FNU>)
             permutation = [1, 0, 2]
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
         tensor<6x64x8xf8E5M2>, tensor<6x2x8xf8E8M0FNU>, tensor<6x16x8xf32>
  return %d : tensor<6x16x8xf32>
}

// -----

// A transpose that others use too stays for them.

// CHECK-LABEL: func @mma_scaled_of_transpose_with_other_use(
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<8x64xf8E5M2>,
// CHECK:         %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[Y]] :
// CHECK:         ins(%[[Y]], %{{.*}} : tensor<8x64xf8E5M2>, tensor<2x8xf8E8M0FNU>)
// CHECK:         return %{{.*}}, %[[TRANSPOSED]]
func.func @mma_scaled_of_transpose_with_other_use(
    %x: tensor<16x64xf8E4M3FN>, %x_scale: tensor<16x2xf8E8M0FNU>,
    %y_nk: tensor<8x64xf8E5M2>, %y_scale: tensor<2x8xf8E8M0FNU>,
    %acc: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<64x8xf8E5M2>) {
  %y_empty = tensor.empty() : tensor<64x8xf8E5M2>
  %y = linalg.transpose ins(%y_nk : tensor<8x64xf8E5M2>)
       outs(%y_empty : tensor<64x8xf8E5M2>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>,
         tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d, %y : tensor<16x8xf32>, tensor<64x8xf8E5M2>
}

// -----

//===----------------------------------------------------------------------===//
// mma_scaled: vectors
//===----------------------------------------------------------------------===//

// CHECK-DAG:   #[[$TRANSPOSED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func @mma_scaled_vector(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: vector<16x64xf8E4M3FN>, %{{.*}}, %[[Y:[a-z0-9]+]]: vector<8x64xf6E3M2FN>, %{{.*}}, %[[ACC:[a-z0-9]+]]: vector<16x8xf32>)
// CHECK-DAG:     vector.transfer_write %[[ACC]], %{{.*}} {in_bounds = [true, true]}
// CHECK-DAG:     vector.transfer_write %[[X]], %{{.*}} {in_bounds = [true, true]}
// CHECK-DAG:     %[[Y_TENSOR:.*]] = vector.transfer_write %[[Y]], %{{.*}} : vector<8x64xf6E3M2FN>, tensor<8x64xf6E3M2FN>
// CHECK-NOT:     vector.transpose
// CHECK:         linalg.generic {indexing_maps = [#[[$TRANSPOSED]],
// CHECK-SAME:      ins(%[[Y_TENSOR]],
// CHECK:         %[[RESULT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<16x8xf32>)
// CHECK:         %[[VECTOR:.*]] = vector.transfer_read %[[RESULT]]
// CHECK-SAME:      {in_bounds = [true, true]} : tensor<16x8xf32>, vector<16x8xf32>
// CHECK:         return %[[VECTOR]]
func.func @mma_scaled_vector(
    %x: vector<16x64xf8E4M3FN>, %x_scale: vector<16x2xf8E8M0FNU>,
    %y_nk: vector<8x64xf6E3M2FN>, %y_scale: vector<2x8xf8E8M0FNU>,
    %acc: vector<16x8xf32>) -> vector<16x8xf32> {
  %y = vector.transpose %y_nk, [1, 0]
       : vector<8x64xf6E3M2FN> to vector<64x8xf6E3M2FN>
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : vector<16x64xf8E4M3FN>, vector<16x2xf8E8M0FNU>,
         vector<64x8xf6E3M2FN>, vector<2x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// swizzle_scales and unswizzle_scales
//===----------------------------------------------------------------------===//

// The example of the pass' description. The padding is the byte 0x00, which as
// an e8m0 value is 2^-127.

// CHECK-DAG:   #[[$ROW:.*]] = affine_map<()[s0, s1, s2] -> (s0 * 128 + s1 + (s2 floordiv 4) * 32)>
// CHECK-DAG:   #[[$BLOCK:.*]] = affine_map<()[s0, s1] -> (s0 * 4 + s1 mod 4)>
// CHECK-LABEL: func @scales(
// CHECK-SAME:    %[[SCALES:.*]]: tensor<4x2xf8E8M0FNU>)
// CHECK:         %[[ZERO_BYTE:.*]] = arith.constant 5.877470e-39 : f8E8M0FNU
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<1x1x32x16xf8E8M0FNU>
// CHECK:         %[[SWIZZLED:.*]] = linalg.generic
// CHECK-SAME:      outs(%[[EMPTY]] : tensor<1x1x32x16xf8E8M0FNU>)
// CHECK-DAG:       %[[OUTER:.*]] = linalg.index 2
// CHECK-DAG:       %[[INNER:.*]] = linalg.index 3
// CHECK-DAG:       %[[M:.*]] = affine.apply #[[$ROW]]()[%{{.*}}, %[[OUTER]], %[[INNER]]]
// CHECK-DAG:       %[[K:.*]] = affine.apply #[[$BLOCK]]()[%{{.*}}, %[[INNER]]]
// CHECK-DAG:       %[[HAS_M:.*]] = arith.cmpi ult, %[[M]], %c4
// CHECK-DAG:       %[[HAS_K:.*]] = arith.cmpi ult, %[[K]], %c2
// CHECK-DAG:       %[[INSIDE:.*]] = arith.andi %[[HAS_M]], %[[HAS_K]]
// CHECK-DAG:       %[[SAFE_M:.*]] = arith.select %[[HAS_M]], %[[M]], %c0
// CHECK-DAG:       %[[SAFE_K:.*]] = arith.select %[[HAS_K]], %[[K]], %c0
// CHECK:           %[[SCALE:.*]] = tensor.extract %[[SCALES]][%[[SAFE_M]], %[[SAFE_K]]]
// CHECK:           %[[BYTE:.*]] = arith.select %[[INSIDE]], %[[SCALE]], %[[ZERO_BYTE]]
// CHECK:           linalg.yield %[[BYTE]]
// CHECK:         return %[[SWIZZLED]]
func.func @scales(%s: tensor<4x2xf8E8M0FNU>)
    -> tensor<1x1x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s
       : tensor<4x2xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
  return %t : tensor<1x1x32x16xf8E8M0FNU>
}

// -----

// CHECK-DAG:   #[[$ROW_ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 128)>
// CHECK-DAG:   #[[$BLOCK_ATOMS:.*]] = affine_map<()[s0] -> (s0 ceildiv 4)>
// CHECK-LABEL: func @swizzle_scales_dynamic_rank_3(
// CHECK-SAME:    %[[SCALES:.*]]: tensor<?x?x?xf8E4M3FN>)
// CHECK-DAG:     %[[BATCH:.*]] = tensor.dim %[[SCALES]], %c0
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[SCALES]], %c1
// CHECK-DAG:     %[[K_S:.*]] = tensor.dim %[[SCALES]], %c2
// CHECK-DAG:     %[[ROWS:.*]] = affine.apply #[[$ROW_ATOMS]]()[%[[M]]]
// CHECK-DAG:     %[[BLOCKS:.*]] = affine.apply #[[$BLOCK_ATOMS]]()[%[[K_S]]]
// CHECK:         tensor.empty(%[[BATCH]], %[[ROWS]], %[[BLOCKS]]) : tensor<?x?x?x32x16xf8E4M3FN>
// CHECK:         linalg.generic
// CHECK:           %[[B:.*]] = linalg.index 0
// CHECK:           tensor.extract %[[SCALES]][%[[B]],
func.func @swizzle_scales_dynamic_rank_3(%s: tensor<?x?x?xf8E4M3FN>)
    -> tensor<?x?x?x32x16xf8E4M3FN> {
  %t = blockscale.swizzle_scales %s
       : tensor<?x?x?xf8E4M3FN> to tensor<?x?x?x32x16xf8E4M3FN>
  return %t : tensor<?x?x?x32x16xf8E4M3FN>
}

// -----

// The scales of y, N x K_s as the swizzle wants them, from K_s x N ones.

// CHECK-LABEL: func @swizzle_scales_of_transpose(
// CHECK-SAME:    %[[SCALES:.*]]: tensor<9x300xf8E8M0FNU>)
// CHECK-NOT:     linalg.transpose
// CHECK:           %[[SAFE_N:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
// CHECK:           %[[SAFE_K:.*]] = arith.select %{{.*}}, %{{.*}}, %c0
// CHECK:           tensor.extract %[[SCALES]][%[[SAFE_K]], %[[SAFE_N]]]
func.func @swizzle_scales_of_transpose(%s: tensor<9x300xf8E8M0FNU>)
    -> tensor<3x3x32x16xf8E8M0FNU> {
  %empty = tensor.empty() : tensor<300x9xf8E8M0FNU>
  %transposed = linalg.transpose ins(%s : tensor<9x300xf8E8M0FNU>)
                outs(%empty : tensor<300x9xf8E8M0FNU>) permutation = [1, 0]
  %t = blockscale.swizzle_scales %transposed
       : tensor<300x9xf8E8M0FNU> to tensor<3x3x32x16xf8E8M0FNU>
  return %t : tensor<3x3x32x16xf8E8M0FNU>
}

// -----

// CHECK-DAG:   #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[$SWIZZLED:.*]] = affine_map<(d0, d1) -> (d0 floordiv 128, d1 floordiv 4, d0 mod 32, ((d0 floordiv 32) mod 4) * 4 + d1 mod 4)>
// CHECK-LABEL: func @unswizzle_scales_dynamic(
// CHECK-SAME:    %[[SOURCE:[a-z0-9]+]]: tensor<?x?x32x16xf8E8M0FNU>, %[[M:[a-z0-9]+]]: index, %[[K_S:[a-z0-9]+]]: index)
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[M]], %[[K_S]])
// CHECK:         %[[SCALES:.*]] = linalg.generic {indexing_maps = [#[[$SWIZZLED]], #[[$ID]]]
// CHECK-SAME:      ins(%[[SOURCE]] : tensor<?x?x32x16xf8E8M0FNU>) outs(%[[EMPTY]] : tensor<?x?xf8E8M0FNU>)
// CHECK-NEXT:    ^bb0(%[[SCALE:.*]]: f8E8M0FNU, %{{.*}}: f8E8M0FNU):
// CHECK-NEXT:      linalg.yield %[[SCALE]]
// CHECK:         return %[[SCALES]]
func.func @unswizzle_scales_dynamic(%t: tensor<?x?x32x16xf8E8M0FNU>,
                                    %m: index, %k: index)
    -> tensor<?x?xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %s : tensor<?x?xf8E8M0FNU>
}

// -----

// CHECK-LABEL: func @swizzles_vector(
// CHECK:         vector.transfer_write %{{.*}} : vector<2x3x9xf8E8M0FNU>, tensor<2x3x9xf8E8M0FNU>
// CHECK:         linalg.generic
// CHECK:         vector.transfer_read %{{.*}} : tensor<2x1x3x32x16xf8E8M0FNU>, vector<2x1x3x32x16xf8E8M0FNU>
// CHECK:         vector.transfer_write %{{.*}} : vector<2x1x3x32x16xf8E8M0FNU>, tensor<2x1x3x32x16xf8E8M0FNU>
// CHECK:         linalg.generic
// CHECK:         vector.transfer_read %{{.*}} : tensor<2x5x9xf8E8M0FNU>, vector<2x5x9xf8E8M0FNU>
// CHECK-NOT:     blockscale.
func.func @swizzles_vector(%s: vector<2x3x9xf8E8M0FNU>,
                           %t: vector<2x1x3x32x16xf8E8M0FNU>)
    -> (vector<2x1x3x32x16xf8E8M0FNU>, vector<2x5x9xf8E8M0FNU>) {
  %0 = blockscale.swizzle_scales %s
       : vector<2x3x9xf8E8M0FNU> to vector<2x1x3x32x16xf8E8M0FNU>
  %1 = blockscale.unswizzle_scales %t
       : vector<2x1x3x32x16xf8E8M0FNU> to vector<2x5x9xf8E8M0FNU>
  return %0, %1 : vector<2x1x3x32x16xf8E8M0FNU>, vector<2x5x9xf8E8M0FNU>
}

// -----

//===----------------------------------------------------------------------===//
// Nothing to do
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @no_op_of_ours(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x16xf8E4M3FN>, %[[EMPTY:[a-z0-9]+]]: tensor<16x8xf8E4M3FN>)
// CHECK-NEXT:    %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[X]] : tensor<8x16xf8E4M3FN>) outs(%[[EMPTY]] : tensor<16x8xf8E4M3FN>) permutation = [1, 0]
// CHECK-NEXT:    return %[[TRANSPOSED]]
func.func @no_op_of_ours(%x: tensor<8x16xf8E4M3FN>,
                         %empty: tensor<16x8xf8E4M3FN>)
    -> tensor<16x8xf8E4M3FN> {
  %t = linalg.transpose ins(%x : tensor<8x16xf8E4M3FN>)
       outs(%empty : tensor<16x8xf8E4M3FN>) permutation = [1, 0]
  return %t : tensor<16x8xf8E4M3FN>
}
