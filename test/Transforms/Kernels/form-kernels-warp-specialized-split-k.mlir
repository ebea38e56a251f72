// Two kernels of the path tcgen05 for one product: five steps along K in two
// parts, and what adds them.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels --canonicalize | FileCheck %s

// The result of the first one has the sums of both parts; the second one takes
// them, the accumulator and what comes behind the product, and nothing else.

// CHECK-LABEL: func.func @split_k(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<40x200xf32>, %[[BIAS:[a-z0-9]+]]: tensor<200xf32>)
// CHECK:         %[[PARTS:.*]] = blockscale.launch @kernels::@split_k__mma_scaled blocks = [%{{.*}}, 1, 1] threads = [{{.*}}, 1, 1]
// CHECK-SAME:      -> tensor<2x40x200xf32>
// CHECK:         %[[SUM:.*]] = blockscale.launch @kernels::@split_k__split_k_reduction blocks = [80, 1, 1] threads = [128, 1, 1] ins(%[[PARTS]], %[[C]], %[[BIAS]] :
// CHECK-SAME:      -> tensor<40x200xf16>
// CHECK:         return %[[SUM]]

// Tiles of one part come behind those of the other: four tiles each. The first
// part has a step more.

// CHECK-LABEL: gpu.func @split_k__mma_scaled(
// CHECK:         scf.for %[[NUMBER:.*]] = %block_id_x to %c8 step
// CHECK:           %[[PART:.*]] = arith.divui %[[NUMBER]], %c4
// CHECK:           blockscale.acc_store %{{.*}}, %{{.*}}[%[[PART]], %{{.*}}, %{{.*}}]
// CHECK:         scf.for %[[NUMBER:.*]] = %block_id_x to %c8 step
// CHECK:           %[[PART:.*]] = arith.divui %[[NUMBER]], %c4
// CHECK:           %[[BEFORE:.*]] = arith.minui %[[PART]], %c1
// CHECK:           %[[IS_LONGER:.*]] = arith.cmpi ult, %[[PART]], %c1
// CHECK:           %[[WHOLE:.*]] = arith.muli %[[PART]], %c2
// CHECK:           arith.addi %[[WHOLE]], %[[BEFORE]]
// CHECK:           arith.select %[[IS_LONGER]], %c3, %c2

// CHECK-LABEL: gpu.func @split_k__split_k_reduction(
// CHECK-SAME:    %[[PARTS:.*]]: memref<2x40x200xf32>, %[[C:.*]]: memref<40x200xf32>, %[[BIAS:.*]]: memref<200xf32>, %[[D:.*]]: memref<40x200xf16>)
// CHECK-SAME:    blockscale.purpose = "split_k_reduction"
// CHECK:         scf.if
// CHECK:           %[[FIRST:.*]] = memref.load %[[PARTS]][%c0, %[[ROW:.*]], %[[COLUMN:.*]]]
// CHECK:           %[[SECOND:.*]] = memref.load %[[PARTS]][%c1, %[[ROW]], %[[COLUMN]]]
// CHECK:           %[[SUM:.*]] = arith.addf %[[FIRST]], %[[SECOND]] : f32
// CHECK:           %[[ACC:.*]] = memref.load %[[C]][%[[ROW]], %[[COLUMN]]]
// CHECK:           arith.addf %[[SUM]], %[[ACC]] : f32
// CHECK:           memref.load %[[BIAS]][%[[COLUMN]]]
// CHECK:           arith.truncf
// CHECK:           memref.store %{{.*}}, %[[D]][%[[ROW]], %[[COLUMN]]]
#instruction = #blockscale.instruction<tcgen05, 128x256x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>
#schedule = #blockscale.warp_specialized_schedule<tile = [128, 64, 128], stages = 2, accumulators = 2, persistent = true, split_k = 2>
func.func @split_k(%x: tensor<40x640xf8E4M3FN>, %xs: tensor<40x20xf8E8M0FNU>,
                  %y: tensor<640x200xf8E5M2>, %ys: tensor<20x200xf8E8M0FNU>,
                  %c: tensor<40x200xf32>, %bias: tensor<200xf32>)
    -> tensor<40x200xf16> {
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %c
      {blockscale.path = #blockscale.path<tcgen05>,
       blockscale.instruction = #instruction, blockscale.schedule = #schedule}
      : tensor<40x640xf8E4M3FN>, tensor<40x20xf8E8M0FNU>,
        tensor<640x200xf8E5M2>, tensor<20x200xf8E8M0FNU>,
        tensor<40x200xf32>
  %empty = tensor.empty() : tensor<40x200xf16>
  %r = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                         affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
      ins(%d, %bias : tensor<40x200xf32>, tensor<200xf32>)
      outs(%empty : tensor<40x200xf16>) {
    ^bb0(%sum: f32, %add: f32, %old: f16):
      %biased = arith.addf %sum, %add : f32
      %small = arith.truncf %biased : f32 to f16
      linalg.yield %small : f16
  } -> tensor<40x200xf16>
  return %r : tensor<40x200xf16>
}
