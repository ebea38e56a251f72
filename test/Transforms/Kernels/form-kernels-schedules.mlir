// Loops along K, shared memory and the order of blocks, as schedules say.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels -split-input-file | FileCheck %s

// Three stages: two steps are copied before the loop, and each step of the loop
// starts the copies of the step after the next one, in a group of their own, to
// the stage that was multiplied before. A thread waits until at most one group
// is left. The stage after the last is the first.

// CHECK-LABEL: gpu.func @three_stages__mma_scaled(
// CHECK-SAME:    workgroup(%[[SHARED:[a-z0-9]+]] : memref<25344xi8,
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[AHEAD:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[STEPS:.*]] = arith.constant 5 : index
// CHECK-DAG:     %[[STAGE:.*]] = arith.constant 8448 : index
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 16896 : index
// CHECK-DAG:     %[[END:.*]] = arith.constant 25344 : index
// CHECK:         memref.view %[[SHARED]][%[[C0]]]
// CHECK:         nvgpu.device_async_create_group
// CHECK:         memref.view %[[SHARED]][%[[STAGE]]]
// CHECK:         %[[GROUP:.*]] = nvgpu.device_async_create_group
// CHECK-NOT:     nvgpu
// CHECK:         scf.for %[[STEP:.*]] = %[[C0]] to %[[STEPS]] step %[[C1]] iter_args(%{{.*}} = %{{.*}}, %[[MULTIPLIED:.*]] = %[[C0]], %[[FILLED:.*]] = %[[LAST]])
// CHECK-NEXT:      nvgpu.device_async_wait %[[GROUP]] {numGroups = 1 : i32}
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[STEP]], %[[AHEAD]]
// CHECK-NEXT:      %[[IS_STEP:.*]] = arith.cmpi ult, %[[NEXT]], %[[STEPS]]
// CHECK-NEXT:      scf.if %[[IS_STEP]] {
// CHECK:             %[[A:.*]] = memref.view %[[SHARED]][%[[FILLED]]]
// CHECK:             nvgpu.device_async_copy %{{.*}}, %[[A]]
// CHECK:           }
// CHECK:           nvgpu.device_async_create_group
// CHECK:           %[[A:.*]] = memref.view %[[SHARED]][%[[MULTIPLIED]]]
// CHECK:           %[[SUM:.*]] = blockscale.tile_mma %[[A]],
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[AFTER:.*]] = arith.addi %[[MULTIPLIED]], %[[STAGE]]
// CHECK-NEXT:      %[[IS_END:.*]] = arith.cmpi eq, %[[AFTER]], %[[END]]
// CHECK-NEXT:      %[[CURRENT:.*]] = arith.select %[[IS_END]], %[[C0]], %[[AFTER]]
// CHECK-NEXT:      scf.yield %[[SUM]], %[[CURRENT]], %[[MULTIPLIED]]
func.func @three_stages(
    %x: tensor<32x640xf8E4M3FN>, %sx: tensor<32x20xf8E8M0FNU>,
    %y: tensor<640x32xf8E5M2>, %sy: tensor<20x32xf8E8M0FNU>,
    %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [32, 32, 128], warps = [2, 2], stages = 3>}
       : tensor<32x640xf8E4M3FN>, tensor<32x20xf8E8M0FNU>,
         tensor<640x32xf8E5M2>, tensor<20x32xf8E8M0FNU>, tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// -----

// One stage: all threads are done with it before it is filled again.

// CHECK-LABEL: gpu.func @one_stage__mma_scaled(
// CHECK-NOT:     nvgpu
// CHECK:         scf.for
// CHECK:           nvgpu.device_async_copy
// CHECK:           %[[GROUP:.*]] = nvgpu.device_async_create_group
// CHECK-NEXT:      nvgpu.device_async_wait %[[GROUP]] {numGroups = 0 : i32}
// CHECK-NEXT:      gpu.barrier
// CHECK:           blockscale.tile_mma
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      scf.yield
func.func @one_stage(
    %x: tensor<32x640xf8E4M3FN>, %sx: tensor<32x20xf8E8M0FNU>,
    %y: tensor<640x32xf8E5M2>, %sy: tensor<20x32xf8E8M0FNU>,
    %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [32, 32, 128], warps = [2, 2], stages = 1>}
       : tensor<32x640xf8E4M3FN>, tensor<32x20xf8E8M0FNU>,
         tensor<640x32xf8E5M2>, tensor<20x32xf8E8M0FNU>, tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// -----

// More than 48 KiB of shared memory are asked for by the launch.

// CHECK-LABEL: func.func @dynamic_shared(
// CHECK:         blockscale.launch {{.*}} threads = [128, 1, 1] shared = 67584 ins(
// CHECK:       gpu.func @dynamic_shared__mma_scaled(
// CHECK-NOT:     workgroup(
// CHECK:         %[[SHARED:.*]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK:         memref.view %[[SHARED]]
func.func @dynamic_shared(
    %x: tensor<128x256xf8E4M3FN>, %sx: tensor<128x8xf8E8M0FNU>,
    %y: tensor<256x128xf8E5M2>, %sy: tensor<8x128xf8E8M0FNU>,
    %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [128, 128, 128], warps = [2, 2], stages = 2>}
       : tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>,
         tensor<256x128xf8E5M2>, tensor<8x128xf8E8M0FNU>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// -----

// Less is the kernel's own. Blocks have all warps along x.

// CHECK-LABEL: func.func @static_shared(
// CHECK:         blockscale.launch {{.*}} threads = [256, 1, 1] ins(
// CHECK:       gpu.func @static_shared__mma_scaled(
// CHECK-SAME:    workgroup(%{{.*}} : memref<33792xi8,
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>
func.func @static_shared(
    %x: tensor<128x256xf8E4M3FN>, %sx: tensor<128x8xf8E8M0FNU>,
    %y: tensor<256x128xf8E5M2>, %sy: tensor<8x128xf8E8M0FNU>,
    %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [128, 128, 128], warps = [4, 2], stages = 1>}
       : tensor<128x256xf8E4M3FN>, tensor<128x8xf8E8M0FNU>,
         tensor<256x128xf8E5M2>, tensor<8x128xf8E8M0FNU>, tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// -----

// Blocks are numbered by groups of 8 tiles along M: number n = 16 y + x is in
// group n div (8 * 3) and has there tile n mod 8 along M, and the tile that is
// left along N.

// CHECK-LABEL: func.func @order(
// CHECK:         blocks = [16, 3, 1]
// CHECK:       gpu.func @order__mma_scaled(
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[X:.*]] = gpu.block_id x
// CHECK-DAG:     %[[Y:.*]] = gpu.block_id y
// CHECK:         arith.muli %[[Y]], %[[C16]]
// CHECK:         arith.divui %{{.*}}, %[[C24]]
// CHECK:         %[[IN_GROUP:.*]] = arith.remui %{{.*}}, %[[C24]]
// CHECK:         %[[TILE:.*]] = arith.remui %[[IN_GROUP]], %[[C8]]
// CHECK:         %[[BLOCK_M:.*]] = arith.addi %{{.*}}
// CHECK:         %[[BLOCK_N:.*]] = arith.divui %[[IN_GROUP]], %[[C8]]
// CHECK:         %[[ROW:.*]] = arith.muli %[[BLOCK_M]], %[[C64]]
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.muli %[[BLOCK_N]], %[[C64]]
// CHECK-NEXT:    blockscale.acc_load %{{.*}}[%[[ROW]], %[[COLUMN]]]
func.func @order(
    %x: tensor<1024x128xf8E4M3FN>, %sx: tensor<1024x4xf8E8M0FNU>,
    %y: tensor<128x192xf8E5M2>, %sy: tensor<4x192xf8E8M0FNU>,
    %c: tensor<1024x192xf32>) -> tensor<1024x192xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<1024x128xf8E4M3FN>, tensor<1024x4xf8E8M0FNU>,
         tensor<128x192xf8E5M2>, tensor<4x192xf8E8M0FNU>, tensor<1024x192xf32>
  return %d : tensor<1024x192xf32>
}

// -----

// The last group of 10 tiles has 2.

// CHECK-LABEL: gpu.func @last_group__mma_scaled(
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C10:.*]] = arith.constant 10 : index
// CHECK:         %[[IN_GROUP:.*]] = arith.remui
// CHECK:         %[[LEFT:.*]] = arith.subi %[[C10]], %[[FIRST:.*]] :
// CHECK-NEXT:    %[[ROWS:.*]] = arith.minui %[[LEFT]], %[[C8]]
// CHECK-NEXT:    %[[TILE:.*]] = arith.remui %[[IN_GROUP]], %[[ROWS]]
// CHECK-NEXT:    %[[BLOCK_M:.*]] = arith.addi %[[FIRST]], %[[TILE]]
// CHECK-NEXT:    %[[BLOCK_N:.*]] = arith.divui %[[IN_GROUP]], %[[ROWS]]
func.func @last_group(
    %x: tensor<640x128xf8E4M3FN>, %sx: tensor<640x4xf8E8M0FNU>,
    %y: tensor<128x192xf8E5M2>, %sy: tensor<4x192xf8E8M0FNU>,
    %c: tensor<640x192xf32>) -> tensor<640x192xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<640x128xf8E4M3FN>, tensor<640x4xf8E8M0FNU>,
         tensor<128x192xf8E5M2>, tensor<4x192xf8E8M0FNU>, tensor<640x192xf32>
  return %d : tensor<640x192xf32>
}

// -----

// Few tiles along M are in the grid's own order.

// CHECK-LABEL: gpu.func @few_rows__mma_scaled(
// CHECK-DAG:     %[[X:.*]] = gpu.block_id x
// CHECK-DAG:     %[[Y:.*]] = gpu.block_id y
// CHECK:         %[[ROW:.*]] = arith.muli %[[X]], %c64
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.muli %[[Y]], %c64
// CHECK-NEXT:    blockscale.acc_load %{{.*}}[%[[ROW]], %[[COLUMN]]]
func.func @few_rows(
    %x: tensor<512x128xf8E4M3FN>, %sx: tensor<512x4xf8E8M0FNU>,
    %y: tensor<128x1024xf8E5M2>, %sy: tensor<4x1024xf8E8M0FNU>,
    %c: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<512x128xf8E4M3FN>, tensor<512x4xf8E8M0FNU>,
         tensor<128x1024xf8E5M2>, tensor<4x1024xf8E8M0FNU>, tensor<512x1024xf32>
  return %d : tensor<512x1024xf32>
}
