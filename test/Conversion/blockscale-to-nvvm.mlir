// mma_sync in the NVVM dialect.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --convert-blockscale-to-nvvm -split-input-file | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_121f --convert-blockscale-to-nvvm -split-input-file | FileCheck %s

// The example of the pass' description.

// CHECK-LABEL: gpu.func @step(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: vector<4xi32>, %[[B:[a-z0-9]+]]: vector<2xi32>, %[[C:[a-z0-9]+]]: vector<4xf32>, %[[SA:[a-z0-9]+]]: i32, %[[SB:[a-z0-9]+]]: i32,
// CHECK-DAG:     %[[A_0:.*]] = vector.extract %[[A]][0]
// CHECK-DAG:     %[[A_1:.*]] = vector.extract %[[A]][1]
// CHECK-DAG:     %[[A_2:.*]] = vector.extract %[[A]][2]
// CHECK-DAG:     %[[A_3:.*]] = vector.extract %[[A]][3]
// CHECK-DAG:     %[[B_0:.*]] = vector.extract %[[B]][0]
// CHECK-DAG:     %[[B_1:.*]] = vector.extract %[[B]][1]
// CHECK-DAG:     %[[C_0:.*]] = vector.extract %[[C]][0]
// CHECK-DAG:     %[[C_1:.*]] = vector.extract %[[C]][1]
// CHECK-DAG:     %[[C_2:.*]] = vector.extract %[[C]][2]
// CHECK-DAG:     %[[C_3:.*]] = vector.extract %[[C]][3]
// CHECK-DAG:     %[[A_BYTE:.*]] = arith.constant 3 : i16
// CHECK-DAG:     %[[A_THREAD:.*]] = arith.constant 1 : i16
// CHECK-DAG:     %[[B_BYTE:.*]] = arith.constant 0 : i16
// CHECK-DAG:     %[[B_THREAD:.*]] = arith.constant 2 : i16
// CHECK:         %[[SUMS:.*]] = nvvm.mma.block_scale A[%[[A_0]], %[[A_1]], %[[A_2]], %[[A_3]]] B[%[[B_0]], %[[B_1]]] C[%[[C_0]], %[[C_1]], %[[C_2]], %[[C_3]]]
// CHECK-SAME:      scaleA[%[[SA]], %[[A_BYTE]], %[[A_THREAD]]] scaleB[%[[SB]], %[[B_BYTE]], %[[B_THREAD]]]
// CHECK-SAME:      blockScaleFormat = #nvvm.block_scale_format<ue8m0>, kind = #nvvm.block_scale_kind<mxf8f6f4>, multiplicandAPtxType = #nvvm.mma_type<e4m3>, multiplicandBPtxType = #nvvm.mma_type<e2m1>, scaleVecSize = #nvvm.scale_vec_size<x1>, shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK-DAG:     %[[D_0:.*]] = llvm.extractvalue %[[SUMS]][0]
// CHECK-DAG:     %[[D_1:.*]] = llvm.extractvalue %[[SUMS]][1]
// CHECK-DAG:     %[[D_2:.*]] = llvm.extractvalue %[[SUMS]][2]
// CHECK-DAG:     %[[D_3:.*]] = llvm.extractvalue %[[SUMS]][3]
// CHECK:         %[[D:.*]] = vector.from_elements %[[D_0]], %[[D_1]], %[[D_2]], %[[D_3]] : vector<4xf32>
// CHECK:         vector.store %[[D]]
gpu.module @kernels {
  gpu.func @step(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                 %sa: i32, %sb: i32, %out: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %d = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1>
         %a, %b, %c, %sa[3, 1], %sb[0, 2]
    vector.store %d, %out[%c0] : memref<4xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

// fp6, the other way round.

// CHECK-LABEL: gpu.func @fp6(
// CHECK:         nvvm.mma.block_scale
// CHECK-SAME:      multiplicandAPtxType = #nvvm.mma_type<e3m2>, multiplicandBPtxType = #nvvm.mma_type<e2m3>
gpu.module @kernels {
  gpu.func @fp6(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                %sa: i32, %sb: i32) {
    %d = blockscale.mma_sync <mma_sync, 16x8x32, mxf8f6f4, e3m2, e2m3, ue8m0, 1>
         %a, %b, %c, %sa[0, 0], %sb[0, 0]
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @mxf4(
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : i16
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3 : i16
// CHECK:         nvvm.mma.block_scale {{.*}} scaleB[%{{.*}}, %[[TWO]], %[[THREE]]]
// CHECK-SAME:      blockScaleFormat = #nvvm.block_scale_format<ue8m0>, kind = #nvvm.block_scale_kind<mxf4>, multiplicandAPtxType = #nvvm.mma_type<e2m1>, multiplicandBPtxType = #nvvm.mma_type<e2m1>, scaleVecSize = #nvvm.scale_vec_size<x2>, shape = #nvvm.shape<m = 16, n = 8, k = 64>
gpu.module @kernels {
  gpu.func @mxf4(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                 %sa: i32, %sb: i32) {
    %d = blockscale.mma_sync <mma_sync, 16x8x64, mxf4, e2m1, e2m1, ue8m0, 2>
         %a, %b, %c, %sa[0, 1], %sb[2, 3]
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @mxf4nvf4(
// CHECK:         nvvm.mma.block_scale
// CHECK-SAME:      blockScaleFormat = #nvvm.block_scale_format<ue4m3>, kind = #nvvm.block_scale_kind<mxf4nvf4>, {{.*}}scaleVecSize = #nvvm.scale_vec_size<x4>, shape = #nvvm.shape<m = 16, n = 8, k = 64>
// CHECK:         nvvm.mma.block_scale
// CHECK-SAME:      blockScaleFormat = #nvvm.block_scale_format<ue8m0>, kind = #nvvm.block_scale_kind<mxf4nvf4>, {{.*}}scaleVecSize = #nvvm.scale_vec_size<x2>
gpu.module @kernels {
  gpu.func @mxf4nvf4(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>,
                     %sa: i32, %sb: i32) {
    %d = blockscale.mma_sync <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
         %a, %b, %c, %sa[0, 0], %sb[0, 0]
    %e = blockscale.mma_sync <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue8m0, 2>
         %a, %b, %d, %sa[0, 0], %sb[0, 0]
    gpu.return
  }
}

// -----

// CHECK-LABEL: func @none(
// CHECK-NEXT:    return
func.func @none() {
  return
}
