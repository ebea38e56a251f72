// How a kernel divides a matrix multiply.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-legalize --blockscale-select-schedule | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_120a --blockscale-legalize --blockscale-select-schedule=schedule=tile=32x64x256,warps=1x2,stages=2 | FileCheck %s --check-prefix=OPTION

// The example of the pass' description, except for the format of B: tiles are not
// smaller than 32 x 32 x 128.

// CHECK-LABEL: func.func @smallest(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [32, 32, 128], warps = [2, 2], stages = 1>
// OPTION-LABEL: func.func @smallest(
// OPTION:         blockscale.schedule = #blockscale.multistage_schedule<tile = [32, 64, 256], warps = [1, 2], stages = 2>
func.func @smallest(
    %x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
    %y: tensor<32x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>,
    %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// Enough blocks of the largest tile; more steps than stages.

// CHECK-LABEL: func.func @large(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 3>
func.func @large(
    %x: tensor<2048x4096xf8E4M3FN>, %sx: tensor<2048x128xf8E8M0FNU>,
    %y: tensor<4096x2048xf8E5M2>, %sy: tensor<128x2048xf8E8M0FNU>,
    %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x4096xf8E4M3FN>, tensor<2048x128xf8E8M0FNU>, tensor<4096x2048xf8E5M2>, tensor<128x2048xf8E8M0FNU>,
         tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// More blocks than integers can count.

// CHECK-LABEL: func.func @countless_blocks(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 1>
func.func @countless_blocks(
    %x: tensor<549755813888x32xf8E4M3FN>, %sx: tensor<549755813888x1xf8E8M0FNU>,
    %y: tensor<32x549755813888xf8E5M2>, %sy: tensor<1x549755813888xf8E8M0FNU>,
    %c: tensor<549755813888x549755813888xf32>)
    -> tensor<549755813888x549755813888xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<549755813888x32xf8E4M3FN>, tensor<549755813888x1xf8E8M0FNU>,
         tensor<32x549755813888xf8E5M2>, tensor<1x549755813888xf8E8M0FNU>,
         tensor<549755813888x549755813888xf32>
  return %d : tensor<549755813888x549755813888xf32>
}

// 64 blocks of that are too few: one side is halved, M first.

// CHECK-LABEL: func.func @few_blocks(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 128, 128], warps = [2, 2], stages = 4>
func.func @few_blocks(
    %x: tensor<1024x4096xf8E4M3FN>, %sx: tensor<1024x128xf8E8M0FNU>,
    %y: tensor<4096x1024xf8E5M2>, %sy: tensor<128x1024xf8E8M0FNU>,
    %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<1024x4096xf8E4M3FN>, tensor<1024x128xf8E8M0FNU>, tensor<4096x1024xf8E5M2>, tensor<128x1024xf8E8M0FNU>,
         tensor<1024x1024xf32>
  return %d : tensor<1024x1024xf32>
}

// Then the other one, but not below 64.

// CHECK-LABEL: func.func @very_few_blocks(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 64, 128], warps = [2, 2], stages = 2>
func.func @very_few_blocks(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>,
    %y: tensor<256x256xf8E5M2>, %sy: tensor<8x256xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// A dimension that has fewer results.

// CHECK-LABEL: func.func @narrow(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 32, 128], warps = [2, 2], stages = 4>
func.func @narrow(
    %x: tensor<16384x4096xf8E4M3FN>, %sx: tensor<16384x128xf8E8M0FNU>,
    %y: tensor<4096x20xf8E5M2>, %sy: tensor<128x20xf8E8M0FNU>,
    %c: tensor<16384x20xf32>) -> tensor<16384x20xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<16384x4096xf8E4M3FN>, tensor<16384x128xf8E8M0FNU>, tensor<4096x20xf8E5M2>, tensor<128x20xf8E8M0FNU>,
         tensor<16384x20xf32>
  return %d : tensor<16384x20xf32>
}

// A batch counts as blocks.

// CHECK-LABEL: func.func @batch(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 3>
func.func @batch(
    %x: tensor<32x256x4096xf8E4M3FN>, %sx: tensor<32x256x128xf8E8M0FNU>,
    %y: tensor<4096x256xf8E5M2>, %sy: tensor<128x256xf8E8M0FNU>,
    %c: tensor<32x256x256xf32>) -> tensor<32x256x256xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<32x256x4096xf8E4M3FN>, tensor<32x256x128xf8E8M0FNU>, tensor<4096x256xf8E5M2>, tensor<128x256xf8E8M0FNU>,
         tensor<32x256x256xf32>
  return %d : tensor<32x256x256xf32>
}

// Packed fp4 has 256 elements in a row of 128 bytes; where K ends before, fewer.

// CHECK-LABEL: func.func @fp4(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 256], warps = [2, 2], stages = 2>
func.func @fp4(
    %x: tensor<2048x4096xf4E2M1FN>, %sx: tensor<2048x128xf8E8M0FNU>,
    %y: tensor<4096x2048xf4E2M1FN>, %sy: tensor<128x2048xf8E8M0FNU>,
    %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x4096xf4E2M1FN>, tensor<2048x128xf8E8M0FNU>, tensor<4096x2048xf4E2M1FN>, tensor<128x2048xf8E8M0FNU>,
         tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// CHECK-LABEL: func.func @fp4_short(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 1>
func.func @fp4_short(
    %x: tensor<2048x128xf4E2M1FN>, %sx: tensor<2048x4xf8E8M0FNU>,
    %y: tensor<128x2048xf4E2M1FN>, %sy: tensor<4x2048xf8E8M0FNU>,
    %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<2048x128xf4E2M1FN>, tensor<2048x4xf8E8M0FNU>, tensor<128x2048xf4E2M1FN>, tensor<4x2048xf8E8M0FNU>,
         tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// Dynamic sizes count as large ones.

// CHECK-LABEL: func.func @dynamic(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [128, 128, 128], warps = [2, 2], stages = 3>
func.func @dynamic(
    %x: tensor<?x?xf8E4M3FN>, %sx: tensor<?x?xf8E8M0FNU>,
    %y: tensor<?x?xf8E5M2>, %sy: tensor<?x?xf8E8M0FNU>,
    %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {block_size = 32 : i64, blockscale.path = #blockscale.path<mma_sync>}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>, tensor<?x?xf8E8M0FNU>,
         tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// The op's own schedule comes before its function's, the option before both.

// CHECK-LABEL: func.func @own(
// CHECK:         blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 32, 128], warps = [2, 1], stages = 2>
// OPTION-LABEL: func.func @own(
// OPTION:         blockscale.schedule = #blockscale.multistage_schedule<tile = [32, 64, 256], warps = [1, 2], stages = 2>
func.func @own(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>,
    %y: tensor<256x256xf8E5M2>, %sy: tensor<8x256xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32>
    attributes {blockscale.schedule = #blockscale.multistage_schedule<tile = [32, 32, 128], warps = [1, 1], stages = 1>} {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<tile = [64, 32, 128], warps = [2, 1], stages = 2>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// CHECK-LABEL: func.func @of_function(
// CHECK:         blockscale.mma_scaled {{.*}} blockscale.schedule = #blockscale.multistage_schedule<tile = [32, 32, 128], warps = [1, 1], stages = 1>
func.func @of_function(
    %x: tensor<256x256xf8E4M3FN>, %sx: tensor<256x8xf8E8M0FNU>,
    %y: tensor<256x256xf8E5M2>, %sy: tensor<8x256xf8E8M0FNU>,
    %c: tensor<256x256xf32>) -> tensor<256x256xf32>
    attributes {blockscale.schedule = #blockscale.multistage_schedule<tile = [32, 32, 128], warps = [1, 1], stages = 1>} {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : tensor<256x256xf8E4M3FN>, tensor<256x8xf8E8M0FNU>, tensor<256x256xf8E5M2>, tensor<8x256xf8E8M0FNU>,
         tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// Only kernels of that path have one.

// CHECK-LABEL: func.func @decompose(
// CHECK-NOT:     blockscale.schedule
// OPTION-LABEL: func.func @decompose(
// OPTION-NOT:     blockscale.schedule
func.func @decompose(
    %x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>,
    %y: tensor<32x8xf8E5M2>, %sy: tensor<1x8xf8E8M0FNU>,
    %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<decompose>}
       : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x8xf8E5M2>, tensor<1x8xf8E8M0FNU>,
         tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @vectors(
// CHECK-NOT:     blockscale.schedule
func.func @vectors(%x: vector<16x32xf8E4M3FN>, %sx: vector<16x1xf8E8M0FNU>,
                   %y: vector<32x8xf8E5M2>, %sy: vector<1x8xf8E8M0FNU>,
                   %c: vector<16x8xf32>) -> vector<16x8xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>}
       : vector<16x32xf8E4M3FN>, vector<16x1xf8E8M0FNU>,
         vector<32x8xf8E5M2>, vector<1x8xf8E8M0FNU>, vector<16x8xf32>
  return %d : vector<16x8xf32>
}
