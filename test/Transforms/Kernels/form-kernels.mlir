// Each mma_scaled on tensors becomes a kernel and its launch.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels -split-input-file | FileCheck %s

// The example of the pass' description, with one stage: what A and B need
// differs. A goes to shared memory in rows along K, B in rows along N; what is
// not in the operands becomes 0. The block waits for the copies of all of its
// threads.

// CHECK-LABEL: func.func @mma(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<16x32xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<16x1xf8E8M0FNU>,
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<32x8xf4E2M1FN>, %[[Y_SCALE:[a-z0-9]+]]: tensor<1x8xf8E8M0FNU>,
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<16x8xf32>)
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<16x8xf32>
// CHECK-NEXT:    %[[D:.*]] = blockscale.launch @kernels::@mma__mma_scaled blocks = [1, 1, 1] threads = [128, 1, 1] ins(%[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[C]] : {{.*}}) outs(%[[EMPTY]] :
// CHECK-NEXT:    return %[[D]]
// CHECK:       gpu.module @kernels
// CHECK-NEXT:    gpu.func @mma__mma_scaled(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: memref<16x32xi8>, %[[X_SCALE:[a-z0-9]+]]: memref<16x1xi8>, %[[Y:[a-z0-9]+]]: memref<32x8xi8>, %[[Y_SCALE:[a-z0-9]+]]: memref<1x8xi8>, %[[C:[a-z0-9]+]]: memref<16x8xf32>, %[[D:[a-z0-9]+]]: memref<16x8xf32>)
// CHECK-SAME:      workgroup(%[[SHARED:[a-z0-9]+]] : memref<16896xi8, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}) kernel
// CHECK-SAME:      known_block_size = array<i32: 128, 1, 1>
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[BLOCK_M:.*]] = gpu.block_id x
// CHECK-DAG:     %[[BLOCK_N:.*]] = gpu.block_id y
// CHECK:         %[[ROW:.*]] = arith.muli %[[BLOCK_M]], %[[C64]]
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.muli %[[BLOCK_N]], %[[C64]]
// CHECK-NEXT:    %[[ACC:.*]] = blockscale.acc_load %[[C]][%[[ROW]], %[[COLUMN]]] : memref<16x8xf32> -> <64x64, #blockscale.warps<2x2>>
// CHECK:         %[[SUM:.*]]:3 = scf.for {{.*}} iter_args(%[[PARTIAL:.*]] = %[[ACC]], %[[STAGE:.*]] = %[[C0]], %{{.*}} = %[[C0]])
// CHECK:           %[[A:.*]] = memref.view %[[SHARED]][%[[STAGE]]][] : {{.*}} to memref<64x128xi8,
// CHECK:           %[[IS_ROW:.*]] = arith.cmpi ult, %[[X_ROW:.*]], %[[C16]]
// CHECK-NEXT:      %[[IS_COLUMN:.*]] = arith.cmpi ult, %[[X_COLUMN:.*]], %[[C32]]
// CHECK-NEXT:      %[[INSIDE:.*]] = arith.andi %[[IS_ROW]], %[[IS_COLUMN]]
// CHECK-NEXT:      %[[BYTES:.*]] = arith.select %[[INSIDE]], %[[C16]], %[[C0]]
// CHECK-NEXT:      %[[FROM_ROW:.*]] = arith.select %[[INSIDE]], %[[X_ROW]], %[[C0]]
// CHECK-NEXT:      %[[FROM_COLUMN:.*]] = arith.select %[[INSIDE]], %[[X_COLUMN]], %[[C0]]
// CHECK-NEXT:      nvgpu.device_async_copy %[[X]][%[[FROM_ROW]], %[[FROM_COLUMN]]], %[[A]][{{.*}}], 16, %[[BYTES]] {bypassL1}
// CHECK:           %[[B:.*]] = memref.view %[[SHARED]][%{{.*}}][] : {{.*}} to memref<128x64xi8,
// CHECK:           nvgpu.device_async_copy %[[Y]][{{.*}}], %[[B]][{{.*}}], 8, %{{[a-z0-9]+}} :
// CHECK:           memref.load %[[X_SCALE]]
// CHECK:           memref.load %[[Y_SCALE]]
// CHECK:           %[[TOKEN:.*]] = nvgpu.device_async_create_group
// CHECK-NEXT:      nvgpu.device_async_wait %[[TOKEN]] {numGroups = 0 : i32}
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:       nvgpu
// CHECK:           %[[NEXT:.*]] = blockscale.tile_mma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[PARTIAL]] types = <e4m3, e2m1, ue8m0, 32> instruction = <mma_sync, 16x8x32, mxf8f6f4, e4m3, e2m1, ue8m0, 1> {a_layout = #blockscale.tile_layout<k, slots, swizzled>, a_scale_layout = #blockscale.scale_tile_layout<lanes>, b_layout = #blockscale.tile_layout<mn, bytes, swizzled>, b_scale_layout = #blockscale.scale_tile_layout<lanes>}
// CHECK-NEXT:      scf.yield %[[NEXT]],
// CHECK:         blockscale.acc_store %[[SUM]]#0, %[[D]][%[[ROW]], %[[COLUMN]]] :
// CHECK-NEXT:    gpu.return
func.func @mma(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
               %y: tensor<32x8xf4E2M1FN>, %sy: tensor<1x8xf8E8M0FNU>,
               %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf4E2M1FN>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

// Views are part of the kernel's addresses, and so is a zero accumulator.
// Sizes: 100 x 90 is 2 x 2 tiles, K = 160 two steps.

// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<100x80xi8>, %[[X_SCALE:[a-z0-9]+]]: tensor<1x2x32x16xf8E8M0FNU>, %[[Y:[a-z0-9]+]]: tensor<90x160xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<90x5xf8E8M0FNU>)
// CHECK-NOT:     {{blockscale.un|linalg}}
// CHECK:         blockscale.launch {{.*}} blocks = [2, 2, 1] threads = [128, 1, 1] ins(%[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]] :
// CHECK:       gpu.func @views__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<100x80xi8>, %[[X_SCALE:[a-z0-9]+]]: memref<1x2x32x16xi8>, %[[Y:[a-z0-9]+]]: memref<90x160xi8>, %[[Y_SCALE:[a-z0-9]+]]: memref<90x5xi8>, %[[D:[a-z0-9]+]]: memref<100x90xf32>)
// CHECK-DAG:     %[[STEPS:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 0 : index
// CHECK:         %[[ZERO:.*]] = blockscale.acc_zero
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to %[[STEPS]] step %{{.*}} iter_args(%{{.*}} = %[[ZERO]],
// CHECK:           %[[BYTE:.*]] = arith.divui %{{.*}}, %[[STEPS]]
// CHECK-NEXT:      nvgpu.device_async_copy %[[X]][%{{.*}}, %[[BYTE]]], %{{.*}}, 8,
// CHECK:           nvgpu.device_async_copy %[[Y]][{{.*}}], %{{.*}}, 16,
// CHECK:           memref.load %[[X_SCALE]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK:           memref.load %[[Y_SCALE]]
// CHECK:           blockscale.tile_mma {{.*}} types = <e2m1, e5m2, ue8m0, 32> instruction = <mma_sync, 16x8x32, mxf8f6f4, e2m1, e5m2, ue8m0, 1> {a_layout = #blockscale.tile_layout<k, padded, swizzled>, a_scale_layout = #blockscale.scale_tile_layout<lanes>, b_layout = #blockscale.tile_layout<k, slots, swizzled>, b_scale_layout = #blockscale.scale_tile_layout<lanes>}
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      scf.yield
func.func @views(%bytes: tensor<100x80xi8>,
                 %swizzled: tensor<1x2x32x16xf8E8M0FNU>,
                 %yt: tensor<90x160xf8E5M2>, %syt: tensor<90x5xf8E8M0FNU>)
    -> tensor<100x90xf32> {
  %zero = arith.constant dense<0.0> : tensor<100x90xf32>
  %x = blockscale.unpack %bytes
       : tensor<100x80xi8> to tensor<100x160xf4E2M1FN>
  %sx = blockscale.unswizzle_scales %swizzled
        : tensor<1x2x32x16xf8E8M0FNU> to tensor<100x5xf8E8M0FNU>
  %y_init = tensor.empty() : tensor<160x90xf8E5M2>
  %y = linalg.transpose ins(%yt : tensor<90x160xf8E5M2>)
       outs(%y_init : tensor<160x90xf8E5M2>) permutation = [1, 0]
  %sy_init = tensor.empty() : tensor<5x90xf8E8M0FNU>
  %sy = linalg.transpose ins(%syt : tensor<90x5xf8E8M0FNU>)
        outs(%sy_init : tensor<5x90xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %zero
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<100x160xf4E2M1FN>, tensor<100x5xf8E8M0FNU>,
         tensor<160x90xf8E5M2>, tensor<5x90xf8E8M0FNU>, tensor<100x90xf32>
  return %d : tensor<100x90xf32>
}

// -----

// fp4 that is packed in memory and in the instruction: 128 elements are 64 bytes.
// Of 8 rows of scales, 6 are no words.

// CHECK-LABEL: func.func @packed(
// CHECK:       gpu.func @packed__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<8x48xi8>, %[[X_SCALE:[a-z0-9]+]]: memref<8x6xi8>,
// CHECK:         %[[A:.*]] = memref.view %{{.*}} to memref<64x64xi8,
// CHECK:         nvgpu.device_async_copy %[[X]][{{.*}}], %[[A]][{{.*}}], 16,
// CHECK-COUNT-4: memref.load %[[X_SCALE]]
// CHECK:         blockscale.tile_mma {{.*}} types = <e2m1, e2m1, ue4m3, 16> instruction = <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4> {a_layout = #blockscale.tile_layout<k, slots, swizzled>
// CHECK-SAME:      memref<64x64xi8, #gpu.address_space<workgroup>>, memref<2x32x8xi8,
func.func @packed(%bytes: tensor<8x48xi8>, %sx: tensor<8x6xf8E4M3FN>,
                  %y: tensor<96x8xf4E2M1FN>, %sy: tensor<6x8xf8E4M3FN>,
                  %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = blockscale.unpack %bytes : tensor<8x48xi8> to tensor<8x96xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<8x96xf4E2M1FN>, tensor<8x6xf8E4M3FN>, tensor<96x8xf4E2M1FN>,
         tensor<6x8xf8E4M3FN>, tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A batch is the z dimension of the grid; y has none.

// CHECK-LABEL: func.func @batch(
// CHECK:         blockscale.launch {{.*}} blocks = [1, 2, 3] threads = [128, 1, 1]
// CHECK:       gpu.func @batch__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<3x16x32xi8>, %{{.*}}: memref<3x16x1xi8>, %[[Y:[a-z0-9]+]]: memref<32x72xi8>,
// CHECK-DAG:     %[[BATCH:.*]] = gpu.block_id z
// CHECK:         blockscale.acc_load %{{.*}}[%[[BATCH]], %{{.*}}, %{{.*}}]
// CHECK:         nvgpu.device_async_copy %[[X]][%[[BATCH]], %{{.*}}, %{{.*}}],
// CHECK:         nvgpu.device_async_copy %[[Y]][%{{[a-z0-9]+}}, %{{[a-z0-9]+}}],
// CHECK:         blockscale.acc_store %{{.*}}[%[[BATCH]], %{{.*}}, %{{.*}}]
func.func @batch(%x: tensor<3x16x32xf8E4M3FN>, %sx: tensor<3x16x1xf8E8M0FNU>,
                 %y: tensor<32x72xf8E5M2>, %sy: tensor<1x72xf8E8M0FNU>,
                 %c: tensor<3x16x72xf32>) -> tensor<3x16x72xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<3x16x32xf8E4M3FN>, tensor<3x16x1xf8E8M0FNU>,
         tensor<32x72xf8E5M2>, tensor<1x72xf8E8M0FNU>, tensor<3x16x72xf32>
  return %d : tensor<3x16x72xf32>
}

// -----

// Plain arithmetic: one thread per result, one rounding.

// CHECK-LABEL: func.func @plain(
// CHECK:         blockscale.launch @kernels::@plain__mma_scaled blocks = [3, 1, 1] threads = [32, 8, 1]
// CHECK:       gpu.func @plain__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<20x64xi8>, %[[X_SCALE:[a-z0-9]+]]: memref<20x2xi8>, %[[Y:[a-z0-9]+]]: memref<64x15xi8>, %[[Y_SCALE:[a-z0-9]+]]: memref<2x15xi8>, %[[C:[a-z0-9]+]]: memref<20x15xf32>, %[[D:[a-z0-9]+]]: memref<20x15xf32>) kernel
// CHECK-SAME:    known_block_size = array<i32: 32, 8, 1>
// CHECK-DAG:     %[[M:.*]] = arith.constant 20 : index
// CHECK-DAG:     %[[N:.*]] = arith.constant 15 : index
// CHECK:         %[[IS_ROW:.*]] = arith.cmpi ult, %{{.*}}, %[[M]]
// CHECK:         %[[IS_COLUMN:.*]] = arith.cmpi ult, %{{.*}}, %[[N]]
// CHECK:         %[[INSIDE:.*]] = arith.andi %[[IS_ROW]], %[[IS_COLUMN]]
// CHECK:         scf.if %[[INSIDE]]
// CHECK:           %[[INITIAL:.*]] = memref.load %[[C]]
// CHECK:           %[[WIDE:.*]] = arith.extf %[[INITIAL]] : f32 to f64
// CHECK:           %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[WIDE]]) -> (f64)
// CHECK:             memref.load %[[X_SCALE]]
// CHECK:             memref.load %[[Y_SCALE]]
// CHECK:             scf.for
// CHECK:               memref.load %[[X]]
// CHECK:               memref.load %[[Y]]
// CHECK:           %[[RESULT:.*]] = arith.truncf %[[SUM]] : f64 to f32
// CHECK-NEXT:      memref.store %[[RESULT]], %[[D]]
func.func @plain(%x: tensor<20x64xf8E4M3FN>, %sx: tensor<20x2xf8E8M0FNU>,
                 %y: tensor<64x15xf4E2M1FN>, %sy: tensor<2x15xf8E8M0FNU>,
                 %c: tensor<20x15xf32>) -> tensor<20x15xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<decompose>}
       : tensor<20x64xf8E4M3FN>, tensor<20x2xf8E8M0FNU>,
         tensor<64x15xf4E2M1FN>, tensor<2x15xf8E8M0FNU>, tensor<20x15xf32>
  return %d : tensor<20x15xf32>
}

// -----

// Kernels of one function have names of their own.

// CHECK-LABEL: func.func @two(
// CHECK:         blockscale.launch @kernels::@[[FIRST:[a-z0-9_]+]]
// CHECK:         blockscale.launch @kernels::@[[SECOND:[a-z0-9_]+]]
// CHECK-DAG:     gpu.func @two__mma_scaled(
// CHECK-DAG:     gpu.func @two__mma_scaled_0(
func.func @two(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
               %y: tensor<32x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>,
               %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  %1 = blockscale.mma_scaled %x, %sx, %y, %sy, %0
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>,
         tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>, tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}
