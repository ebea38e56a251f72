// Kernels of the path wgmma whose blocks share tiles.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize -split-input-file | FileCheck %s

// Two blocks along M share columns of y: each loads 64 of 128, in one of two
// copies, for both. Whole clusters are launched.

// CHECK-LABEL: func.func @rows(
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         %[[ALL:.*]] = blockscale.sm_count
// CHECK-NEXT:    %[[MOST:.*]] = arith.divui %[[ALL]], %[[TWO]]
// CHECK-NEXT:    %[[SOME:.*]] = arith.maxui %[[MOST]], %[[ONE]]
// CHECK-NEXT:    %[[CLUSTERS:.*]] = arith.minui %[[SOME]], %[[TWO]]
// CHECK-NEXT:    %[[BLOCKS:.*]] = arith.muli %[[CLUSTERS]], %[[TWO]]
// CHECK:         blockscale.launch @kernels::@rows__matmul blocks = [%[[BLOCKS]], 1, 1] threads = [384, 1, 1] shared = 65536 cluster = [2, 1, 1]
// CHECK-SAME:      box = [128, 64],
// CHECK-SAME:      box = [64, 64],
// CHECK-LABEL: gpu.func @rows__matmul(
// CHECK-SAME:    workgroup(%[[BARRIERS:[a-z0-9]+]] : memref<4xi64, {{.*}}>) kernel attributes {{.*}}known_cluster_size = array<i32: 2, 1, 1>
// CHECK-DAG:     %[[RANKS:.*]] = arith.constant 3 : i16
// CHECK-DAG:     %[[ROW:.*]] = arith.remui %block_id_x, %c2
// CHECK:         blockscale.barrier_init %[[BARRIERS]][%c0], 1 :
// CHECK-NEXT:    blockscale.barrier_init %[[BARRIERS]][%c2], 16 :
// CHECK:         nvvm.fence.mbarrier.init
// CHECK-NOT:     gpu.barrier
// CHECK:         blockscale.cluster_barrier
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK:         blockscale.warpgroup_wait
// CHECK:         scf.if
// CHECK-NEXT:      blockscale.barrier_arrive %[[BARRIERS]][%c2] of %[[FIRST:.*]] :
// CHECK-NEXT:      blockscale.barrier_arrive %[[BARRIERS]][%c2] of %[[SECOND:.*]] :
// CHECK:         acc_store {{.*}} in_bounds
// CHECK:         blockscale.barrier_arrive %[[BARRIERS]][%c0] expect 32768 :
// CHECK:         blockscale.tensor_load %{{.*}}[%{{.*}}, %c0_i32] to %{{.*}}[%c0], %[[BARRIERS]][%c0] hint
// CHECK:         %[[PART:.*]] = arith.muli %[[ROW]], %c64
// CHECK:         %[[BYTES:.*]] = arith.muli %[[ROW]], %c8192
// CHECK-NEXT:    %[[TO:.*]] = arith.addi %[[BYTES]], %c16384
// CHECK:         blockscale.tensor_load %{{.*}}[%c0_i32, %{{.*}}] to %{{.*}}[%[[TO]]], %[[BARRIERS]][%c0] blocks %[[RANKS]] :
// CHECK:         blockscale.cluster_barrier
// CHECK-NEXT:    gpu.return
func.func @rows(%x: tensor<512x128xbf16>, %y: tensor<128x128xbf16>, %acc: tensor<512x128xf32>) -> tensor<512x128xf32> {
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [128, 128, 64], stages = 2, accumulators = 1, persistent = true, cluster = 2x1>}
       ins(%x, %y : tensor<512x128xbf16>, tensor<128x128xbf16>) outs(%acc : tensor<512x128xf32>) -> tensor<512x128xf32>
  return %0 : tensor<512x128xf32>
}

// -----

// Four blocks share rows of x and columns of y in pairs, and wait for three of
// them. Half of the rows of x are a copy, and half of the rows of K of y, of which
// the tile has no two copies. The last clusters have tiles outside of the result.

// CHECK-LABEL: func.func @both(
// CHECK:         blockscale.launch @kernels::@both__matmul blocks = [16, 1, 1] threads = [256, 1, 1] cluster = [4, 1, 1]
// CHECK-SAME:      box = [32, 64],
// CHECK-SAME:      box = [32, 32],
// CHECK-LABEL: gpu.func @both__matmul(
// CHECK-DAG:     %[[ROW:.*]] = arith.constant 5 : i32
// CHECK-DAG:     %[[COLUMN:.*]] = arith.constant 3 : i32
// CHECK:         %[[SHIFTED:.*]] = arith.shli %[[ROW]],
// CHECK-NEXT:    %[[OF_ROW:.*]] = arith.trunci %[[SHIFTED]] : i32 to i16
// CHECK:         %[[SHIFTED:.*]] = arith.shli %[[COLUMN]],
// CHECK-NEXT:    %[[OF_COLUMN:.*]] = arith.trunci %[[SHIFTED]] : i32 to i16
// CHECK:         blockscale.barrier_init %{{.*}}[%c3], 12 :
// CHECK-COUNT-3: blockscale.barrier_arrive %{{.*}} of
// CHECK-NOT:     barrier_arrive
// CHECK:         acc_store {{.*}} in_bounds
// CHECK:         blockscale.acc_for_each
// CHECK-NEXT:    ^bb0(%[[SUM:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index):
// CHECK-NEXT:      %[[FIRST:.*]] = memref.load %{{.*}}[%[[M]], %[[N]]]
// CHECK-NEXT:      %[[ADDED:.*]] = arith.addf %[[SUM]], %[[FIRST]]
// CHECK-NEXT:      memref.store %[[ADDED]], %{{.*}}[%[[M]], %[[N]]]
// CHECK:         blockscale.barrier_arrive %{{.*}} expect 12288 :
// CHECK:         blockscale.tensor_load %{{.*}} blocks %[[OF_ROW]] :
// CHECK:         blockscale.tensor_load %{{.*}} blocks %[[OF_COLUMN]] :
func.func @both(%x: tensor<200x64xf16>, %y: tensor<64x72xf16>, %acc: tensor<200x72xf32>) -> tensor<200x72xf32> {
  %0 = linalg.matmul {blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 32, 64], stages = 3, accumulators = 1, persistent = false, cluster = 2x2>}
       ins(%x, %y : tensor<200x64xf16>, tensor<64x72xf16>) outs(%acc : tensor<200x72xf32>) -> tensor<200x72xf32>
  return %0 : tensor<200x72xf32>
}
